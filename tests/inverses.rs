//! Kept inverses are those that are taken anew, to the bit, whatever happened in between.

#[path = "common/bits.rs"]
mod bits;

use bits::bits_of;
use posetree::{
    ComponentHierarchy, DHierarchy, DTransform, Hierarchy, Hierarchy2, HierarchyOf, Keep, Transform, Transform2,
    WorldError, WorldInverses, glam::*,
};
use proptest::prelude::*;

/// What is done, and numbers from which nodes and values are picked.
type Step = (u8, usize, usize, i8);

macro_rules! kept_inverses {
    ($($name:ident: $Hierarchy:ident, $local:expr;)+) => {
        proptest! {
            #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]
            $(#[test]
            fn $name(steps in prop::collection::vec(any::<Step>(), 1..120)) {
                let mut h = $Hierarchy::new();
                let mut cache = WorldInverses::new();
                let mut ids = vec![h.add_root($local(1))?];
                let mut taken = Vec::new();
                for (kind, a, b, value) in steps {
                    let (id, other) = (ids[a % ids.len()], ids[b % ids.len()]);
                    // Refusals are as good as any other step.
                    match kind % 8 {
                        0 | 1 => ids.extend(h.add_child(id, $local(value)).ok()),
                        2 | 3 => _ = h.set_local(id, $local(value)),
                        4 => _ = h.reparent(id, other, Keep::Local),
                        5 => _ = h.remove_and_promote(id, Keep::Local),
                        6 => taken.extend(h.take_subtree(id).ok()),
                        _ => _ = taken.pop().map(|subtree| h.restore_under(subtree, None)),
                    }
                    if value % 3 == 0 {
                        h.optimize();
                    }
                    ask(&mut h, &mut cache, &[id, other, ids[ids.len() - 1]])?;
                }
                ask(&mut h, &mut cache, &ids)?;
            })+
        }
    };
}

fn ask<A: posetree::Geometry>(
    h: &mut HierarchyOf<A>,
    cache: &mut WorldInverses<A>,
    ids: &[posetree::NodeId],
) -> Result<(), TestCaseError> {
    let worlds = h.update();
    for &id in ids {
        prop_assert_eq!(bits_of(cache.get(worlds, id)), bits_of(worlds.hierarchy().world_inverse(id)));
    }
    Ok(())
}

fn local(value: i8) -> Transform {
    let value = f32::from(value);
    Transform::new(Vec3::splat(value), Quat::from_rotation_y(value), Vec3::new(value / 64.0, 1.0, 2.0))
}

kept_inverses! {
    of_matrices: Hierarchy, local;
    of_components: ComponentHierarchy, local;
    of_double_matrices: DHierarchy, |value| DTransform::from(local(value));
    of_the_plane: Hierarchy2, |value: i8| {
        let value = f32::from(value);
        Transform2::new(Vec2::splat(value), value, Vec2::new(value / 64.0, 1.0))
    };
}

/// A node in the slot of a removed one is not taken for it, and a flat one is an error each time.
#[test]
fn errors_are_those_of_world_inverse() -> Result<(), posetree::Error> {
    let mut h = Hierarchy::new();
    let mut cache = WorldInverses::default();
    let old = h.add_root(Transform::IDENTITY)?;
    assert!(cache.get(h.update(), old).is_ok());
    h.remove_subtree(old)?;
    assert!(matches!(cache.get(h.update(), old), Err(WorldError::StaleNode(_))));
    let new = h.add_root(Transform::from_scale(Vec3::new(1.0, 0.0, 1.0)))?;
    for _ in 0..2 {
        assert!(matches!(cache.get(h.update(), new), Err(WorldError::SingularParent(_))));
    }
    h.set_scale(new, Vec3::ONE)?;
    assert_eq!(cache.get(h.update(), new)?, Affine3A::IDENTITY);
    Ok(())
}
