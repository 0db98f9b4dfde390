//! Component poses do not associate: `combine(a, combine(b, c))` is another pose than
//! `combine(combine(a, b), c)` where a scale is not uniform. Every door that works out a local value
//! must therefore accumulate as reading does, from the root down.

use posetree::glam::{Quat, Vec3};
use posetree::{ComponentHierarchy, Keep, NodeId, Transform};
use proptest::prelude::*;

fn transform() -> impl Strategy<Value = Transform> {
    let axis = prop::array::uniform3(-1.0f32..1.0).prop_filter("an axis", |a| Vec3::from_array(*a).length() > 0.1);
    let scale = prop::array::uniform3((0.3f32..3.0, any::<bool>()).prop_map(|(s, flip)| if flip { -s } else { s }));
    (prop::array::uniform3(-5.0f32..5.0), axis, -3.0f32..3.0, scale).prop_map(|(position, axis, angle, scale)| {
        let rotation = Quat::from_axis_angle(Vec3::from_array(axis).normalize(), angle);
        Transform::new(position.into(), rotation, scale.into())
    })
}

fn chain() -> impl Strategy<Value = Vec<Transform>> {
    prop::collection::vec(transform(), 1..6)
}

fn grow(h: &mut ComponentHierarchy, parent: Option<NodeId>, locals: &[Transform]) -> Option<NodeId> {
    locals.iter().fold(parent, |parent, local| Some(h.insert_child_at(parent, 0, *local).unwrap()))
}

/// Same pose, to what float32 leaves after about ten levels of scales up to three.
fn assert_same(got: Transform, wanted: Transform) {
    let size = wanted.scale.abs().max_element().max(wanted.position.abs().max_element()).max(100.0);
    assert!(got.position.abs_diff_eq(wanted.position, 1e-4 * size), "{got:?} is not {wanted:?}");
    assert!(got.rotation.dot(wanted.rotation).abs() > 1.0 - 1e-5, "{got:?} is not {wanted:?}");
    assert!(((got.scale - wanted.scale) / wanted.scale).abs().max_element() < 1e-5, "{got:?} is not {wanted:?}");
}

proptest! {
    #[test]
    fn keeping_the_world_keeps_it_under_any_chain(
        above in chain(), old in chain(), new in chain(), own in transform(), keep in prop::sample::select(vec![Keep::World, Keep::WorldTrs]),
    ) {
        let mut h = ComponentHierarchy::new();
        let common = grow(&mut h, None, &above);
        let old = grow(&mut h, common, &old);
        let new = grow(&mut h, common, &new);
        let node = grow(&mut h, old, &[own]).unwrap();
        let wanted = h.world(node).unwrap();
        for parent in [new, common, old, None] {
            h.reparent(node, parent, keep).unwrap();
            assert_same(h.world(node).unwrap(), wanted);
        }
    }

    #[test]
    fn what_lies_between_two_nodes_is_between_their_worlds(above in chain(), from in chain(), to in chain()) {
        let mut h = ComponentHierarchy::new();
        let common = grow(&mut h, None, &above);
        let (from, to) = (grow(&mut h, common, &from).unwrap(), grow(&mut h, common, &to).unwrap());
        let wanted = h.world_matrix(to).unwrap().inverse() * h.world_matrix(from).unwrap();
        let got = h.transform_between(from, to).unwrap();
        let size = wanted.matrix3.abs().to_cols_array().into_iter().fold(10.0, f32::max);
        prop_assert!(got.matrix3.abs_diff_eq(wanted.matrix3, 1e-4 * size), "{got:?} is not {wanted:?}");
    }

    #[test]
    fn promoting_keeps_the_world_of_every_child(above in chain(), own in transform(), children in chain()) {
        let mut h = ComponentHierarchy::new();
        let parent = grow(&mut h, None, &above).unwrap();
        let node = h.add_child(parent, own).unwrap();
        let children: Vec<_> = children.iter().map(|local| h.add_child(node, *local).unwrap()).collect();
        let wanted: Vec<_> = children.iter().map(|&child| h.world(child).unwrap()).collect();
        h.remove_and_promote(node, Keep::World).unwrap();
        for (child, wanted) in children.into_iter().zip(wanted) {
            assert_same(h.world(child).unwrap(), wanted);
        }
    }

    #[test]
    fn a_world_that_was_set_reads_back(above in chain(), own in transform(), wanted in transform()) {
        let mut h = ComponentHierarchy::new();
        let parent = grow(&mut h, None, &above).unwrap();
        let node = h.add_child(parent, own).unwrap();
        h.set_world_position(node, wanted.position).unwrap();
        assert_same(h.world(node).unwrap().with_rotation(wanted.rotation).with_scale(wanted.scale), wanted);
        h.set_world_transform(node, wanted).unwrap();
        assert_same(h.world(node).unwrap(), wanted);
        let there = Transform { position: -wanted.position, ..wanted };
        h.set_world(node, there.to_affine()).unwrap();
        prop_assert!(h.world_matrix(node).unwrap().abs_diff_eq(there.to_affine(), 1e-2));
    }
}
