//! Below a flat node everything is flat, also where rounding gives the world a third side again.

use crate::config;
use crate::stage::{Components, Kind, Local, Matrices, Stage, chain, rotation, vector};
use posetree::glam::{Affine3A, Mat3, Quat, Vec3};
use posetree::{Error, Hierarchy, Space, Transform};
use proptest::prelude::*;

/// Scaled to a plane, a line or a point.
fn flat_scale() -> impl Strategy<Value = Local> {
    (vector(3.0), rotation(), 1..8u8).prop_map(|(position, rotation, zeros)| {
        let side = |bit: u8, size: f32| if zeros >> bit & 1 == 1 { 0.0 } else { size };
        Local::Trs(Transform::new(position, rotation, Vec3::new(side(0, 1.0), side(1, -2.0), side(2, 0.5))))
    })
}

/// Two columns along one line, exactly; the third anywhere.
fn flat_matrix() -> impl Strategy<Value = Local> {
    (vector(3.0), vector(3.0), vector(3.0), 0..3usize).prop_map(|(line, other, position, place)| {
        let mut columns = [line, 2.0 * line, 2.0 * line];
        columns[place] = other;
        let [x, y, z] = columns;
        Local::Sheared(Affine3A::from_mat3_translation(Mat3::from_cols(x, y, z), position))
    })
}

/// Some nodes, a flat one, and turns below it that may cancel each other.
fn flat_chain<A: Kind>() -> BoxedStrategy<Vec<Local>> {
    let flat = if A::reads_shear() { prop_oneof![flat_scale(), flat_matrix()].boxed() } else { flat_scale().boxed() };
    let below = prop_oneof![
        rotation().prop_map(|turn| vec![turn, turn.inverse()]),
        (rotation(), rotation()).prop_map(|(a, b)| vec![a, b, (a * b).normalize().inverse()]),
        prop::collection::vec(rotation(), 0..3),
    ];
    (chain::<A>(), flat, below)
        .prop_map(|(mut locals, flat, below)| {
            locals.push(flat);
            locals.extend(below.into_iter().map(|turn: Quat| Local::Trs(Transform::from_rotation(turn))));
            locals
        })
        .boxed()
}

fn refuses_what_needs_an_inverse<A: Kind>(stage: &Stage<A>, v: Vec3) -> Result<(), TestCaseError> {
    let (h, id) = (&stage.h, stage.id);
    let is_singular = |what: &str, refused: Option<Error>| {
        let singular = matches!(refused, Some(Error::SingularParent(it)) if it.residual > 0.0);
        prop_assert!(singular, "{}: {:?}", what, refused);
        Ok(())
    };
    prop_assert!(!h.is_mirrored(id).unwrap(), "a flat world mirrors");
    is_singular("inverse", h.world_inverse(id).err().map(Into::into))?;
    is_singular("normal", h.local_to_world_normal(id, v).err().map(Into::into))?;
    is_singular("normal back", h.world_to_local_normal(id, v).err().map(Into::into))?;
    // What lies in the flat world has many places in the node, what does not has none.
    let image = h.local_to_world_point(id, v).unwrap();
    for point in [image, v] {
        is_singular("point", h.world_to_local_point(id, point).err().map(Into::into))?;
        is_singular("vector", h.world_to_local_vector(id, point).err().map(Into::into))?;
        if point != Vec3::ZERO {
            is_singular("direction", h.world_to_local_direction(id, point).err().map(Into::into))?;
        }
    }
    let mut stage = stage.clone();
    let root = stage.h.add_root(Transform::IDENTITY).unwrap();
    is_singular("between", stage.h.transform_between(root, id).err().map(Into::into))?;
    prop_assert!(stage.h.transform_between(id, root).is_ok());

    // A child of it can be put nowhere in the world.
    let child = stage.h.add_child(id, Transform::from_position(v)).unwrap();
    stage.chain.push(child);
    let before = stage.bits();
    let h = &mut stage.h;
    is_singular("set position", h.set_world_position(child, v).err().map(Into::into))?;
    is_singular("set scale", h.set_world_scale(child, Vec3::ONE).err().map(Into::into))?;
    is_singular("set world", h.set_world_transform(child, Transform::IDENTITY).err().map(Into::into))?;
    is_singular("set matrix", h.set_world(child, Affine3A::IDENTITY).err().map(Into::into))?;
    is_singular("translate", h.translate(child, v, Space::World).err().map(Into::into))?;
    is_singular("hinge", h.rotate_around(child, v, Quat::from_rotation_x(0.3), Space::World).err().map(Into::into))?;
    if A::reads_shear() {
        is_singular("set rotation", h.set_world_rotation(child, Quat::IDENTITY).err().map(Into::into))?;
        is_singular("rotate", h.rotate(child, Quat::from_rotation_x(0.3), Space::World).err().map(Into::into))?;
        // Or degenerate: from far away the target is on the node.
        prop_assert!(h.look_at(child, image + 1e4 * Vec3::X, Vec3::Y).is_err());
    }
    prop_assert_eq!(stage.bits(), before, "a refusal changed something");
    // Leaving it needs no inverse.
    stage.h.detach(child, posetree::Keep::World).unwrap();
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_world_below_a_flat_node_is_flat(
        m in flat_chain::<posetree::Matrices>(), c in flat_chain::<posetree::Components>(), v in vector(3.0),
    ) {
        prop_assume!(v.length() > 0.1);
        refuses_what_needs_an_inverse(&Matrices::new(&m), v)?;
        refuses_what_needs_an_inverse(&Components::new(&c), v)?;
    }
}

/// Turned and turned back, the flat side's column is nothing but rounding, and that has a direction.
#[test]
fn a_plane_that_is_turned_back_stays_a_plane() {
    let mut h = Hierarchy::new();
    let flat = Transform::new(Vec3::X, Quat::from_rotation_x(3.4), Vec3::new(1.0, 0.0, 1.0));
    let flat = h.add_root(flat).unwrap();
    let turn = Quat::from_xyzw(0.3, -0.5, 0.7, 0.2).normalize();
    let turned = h.add_child(flat, Transform::from_rotation(turn)).unwrap();
    let back = h.add_child(turned, Transform::from_rotation(turn.inverse())).unwrap();
    let noise = h.world_matrix(back).unwrap().matrix3.y_axis.length();
    assert!(noise > 0.0 && noise < 1e-6, "the case that is meant: {noise}");
    assert!(!h.is_mirrored(back).unwrap());
    assert!(h.world_inverse(back).is_err());
    assert!(h.local_to_world_normal(back, Vec3::Y).is_err());
    let image = h.local_to_world_point(back, Vec3::ONE).unwrap();
    assert!(h.world_to_local_point(back, image).is_err());
}
