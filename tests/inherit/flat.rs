//! Flat and mirrored parents, far origins, and what is refused.

use super::*;
use posetree::glam::{Affine3A, Mat3, Mat3A};
use posetree::{
    ComponentHierarchy, Hierarchy, HierarchyOf, NodeId, ReparentError, SingularParent, Space, StaleNode, WorldError,
};

const NO_SCALE: Inherit = Inherit { scale: false, ..Inherit::ALL };
const NO_ROTATION: Inherit = Inherit { rotation: false, ..Inherit::ALL };
const NO_POSITION: Inherit = Inherit { position: false, ..Inherit::ALL };

/// A flat root, a turned node below it, and one below that.
fn under_flat<A: Kind>() -> (HierarchyOf<A>, [NodeId; 3]) {
    let mut h = HierarchyOf::<A>::new();
    let flat = h.add_root(Transform::from_scale(Vec3::new(1.0, 0.0, 1.0)).with_position(Vec3::X)).unwrap();
    let turned = h.add_child(flat, Transform::from_rotation(Quat::from_rotation_x(0.7))).unwrap();
    let node = h.add_child(turned, Transform::from_position(Vec3::ONE)).unwrap();
    (h, [flat, turned, node])
}

fn a_flat_ancestor_is_no_obstacle_where_scale_is_off_in<A: Kind>() {
    let (mut h, [_, turned, node]) = under_flat::<A>();
    let below = h.add_child(node, Transform::from_scale(Vec3::new(1.0, -2.0, 1.0))).unwrap();
    let flat = Err(WorldError::from(SingularParent { parent: turned, residual: f32::INFINITY }));
    // With rotation off the zero is still there, on an axis of its own.
    for inherit in [NO_ROTATION, NO_SCALE] {
        h.set_inherit(node, inherit, Keep::Local).unwrap();
        let sound = !inherit.scale;
        assert_eq!(h.is_mirrored(below), Ok(sound));
        for id in [node, below] {
            assert_eq!(h.world_inverse(id).is_ok(), sound);
            assert_eq!(h.world_to_local_point(id, Vec3::ONE).is_ok(), sound);
            assert_eq!(h.local_to_world_normal(id, Vec3::ONE).is_ok(), sound);
            assert_eq!(h.transform_between(turned, id).is_ok(), sound);
        }
        assert!(h.transform_between(node, turned).is_err());
        let mut edited = h.clone();
        if A::reads_shear() {
            assert_eq!(edited.set_world_rotation(node, Quat::IDENTITY), if sound { Ok(()) } else { flat });
        }
        assert_eq!(edited.set_world_position(node, Vec3::ONE).is_ok(), sound);
        assert_eq!(edited.set_world_scale(node, Vec3::ONE).is_ok(), sound);
        assert_eq!(edited.set_world(node, Affine3A::IDENTITY).is_ok(), sound);
        assert_eq!(edited.translate(node, Vec3::ONE, Space::World).is_ok(), sound);
        assert_eq!(edited.set_world_position(below, Vec3::ONE).is_ok(), sound);
        let guest = edited.add_root(Transform::from_position(Vec3::ONE)).unwrap();
        assert_eq!(edited.reparent(guest, node, Keep::World).is_ok(), sound);
        // Where it hangs already it needs no inverse.
        assert_eq!(edited.reparent(below, node, Keep::WorldTrs), Ok(Some(node)));
    }
}

#[test]
fn a_flat_ancestor_is_no_obstacle_where_scale_is_off() {
    a_flat_ancestor_is_no_obstacle_where_scale_is_off_in::<Matrices>();
    a_flat_ancestor_is_no_obstacle_where_scale_is_off_in::<Components>();
}

fn a_position_in_the_world_needs_no_inverse_in<A: Kind>() {
    let (mut h, [_, turned, node]) = under_flat::<A>();
    h.set_inherit(node, NO_POSITION, Keep::Local).unwrap();
    assert_eq!(h.world_position(node), Ok(Vec3::ONE));
    let odd = Vec3::new(0.1, 1e-20, 12_345.678);
    h.set_world_position(node, odd).unwrap();
    assert_eq!((h.world_position(node), h.position(node)), (Ok(odd), Ok(odd)));
    h.translate(node, Vec3::X, Space::World).unwrap();
    assert_eq!(h.position(node), Ok(odd + Vec3::X));
    h.translate(node, -Vec3::X, Space::Parent).unwrap();
    h.set_position_in(node, odd, Space::World).unwrap();
    assert_eq!(h.world_position(node), Ok(odd));
    // The rest is not.
    let refused = h.set_world(node, Affine3A::IDENTITY);
    assert!(matches!(refused, Err(WorldError::SingularParent(SingularParent { parent, .. })) if parent == turned));
    assert_eq!(h.world_position(node), Ok(odd));
}

#[test]
fn a_position_in_the_world_needs_no_inverse() {
    a_position_in_the_world_needs_no_inverse_in::<Matrices>();
    a_position_in_the_world_needs_no_inverse_in::<Components>();
}

#[test]
fn spaces_are_what_is_inherited() {
    let quarter = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
    let mut h = Hierarchy::new();
    let root = h.add_root(Transform::new(Vec3::Z, quarter, Vec3::splat(4.0))).unwrap();
    let moved = |inherit: Inherit, space: Space| {
        let mut h = h.clone();
        let node = h.add_child(root, Transform::IDENTITY).unwrap();
        h.set_inherit(node, inherit, Keep::Local).unwrap();
        let before = h.world_position(node).unwrap();
        h.translate(node, Vec3::X, space).unwrap();
        h.world_position(node).unwrap() - before
    };
    let close = |got: Vec3, want: Vec3| assert!(got.abs_diff_eq(want, 1e-6), "{got}, {want}");
    close(moved(Inherit::ALL, Space::Parent), 4.0 * Vec3::Y);
    close(moved(NO_SCALE, Space::Parent), Vec3::Y);
    close(moved(NO_ROTATION, Space::Parent), 4.0 * Vec3::X);
    close(moved(NO_POSITION, Space::Parent), Vec3::X);
    for inherit in [Inherit::ALL, NO_SCALE, NO_ROTATION, NO_POSITION, Inherit::NONE] {
        close(moved(inherit, Space::World), Vec3::X);
    }
}

#[test]
fn signs_of_scale_are_inherited_as_typed() {
    let mut h = Hierarchy::new();
    let root = h.add_root(Transform::from_scale(Vec3::new(1.0, -1.0, 1.0))).unwrap();
    let [a, b] = [(); 2].map(|()| h.add_child(root, Transform::from_position(Vec3::Y)).unwrap());
    h.set_inherit(a, NO_SCALE, Keep::Local).unwrap();
    h.set_inherit(b, NO_ROTATION, Keep::Local).unwrap();
    assert_eq!((h.is_mirrored(a), h.is_mirrored(b)), (Ok(false), Ok(true)));
    assert_eq!((h.world_position(a), h.world_position(b)), (Ok(Vec3::Y), Ok(-Vec3::Y)));
    assert_eq!(h.world_matrix(b).unwrap().matrix3, Mat3A::from_diagonal(Vec3::new(1.0, -1.0, 1.0)));
}

/// The nodes above are far away, and rounding their worlds to float32 would move what is solved for.
#[test]
fn far_from_the_origin_nothing_is_lost() {
    fn far<A: Kind>() {
        let mut h = HierarchyOf::<A>::new();
        let far = h.add_root(Transform::from_position(Vec3::splat(1e7))).unwrap();
        let [a, b] = [0.25, -0.25].map(|x| h.add_child(far, Transform::from_position(x * Vec3::X)).unwrap());
        let cup = h.add_child(a, Transform::from_position(0.125 * Vec3::X)).unwrap();
        h.set_inherit(cup, NO_SCALE, Keep::World).unwrap();
        assert_eq!(h.position(cup), Ok(0.125 * Vec3::X));
        h.reparent(cup, b, Keep::World).unwrap();
        assert_eq!(h.position(cup), Ok(0.625 * Vec3::X));
        assert_eq!(h.transform_between(cup, a), Ok(Affine3A::from_translation(0.125 * Vec3::X)));
        h.set_inherit(cup, Inherit::ALL, Keep::World).unwrap();
        assert_eq!(h.position(cup), Ok(0.625 * Vec3::X));
        // What lies above the common ancestor does not matter.
        let top = h.add_root(Transform::from_scale(Vec3::ZERO)).unwrap();
        h.set_inherit(far, Inherit::NONE, Keep::Local).unwrap();
        h.reparent(far, top, Keep::Local).unwrap();
        assert_eq!(h.transform_between(a, b), Ok(Affine3A::from_translation(0.5 * Vec3::X)));
        assert_eq!(h.transform_between(cup, a), Ok(Affine3A::from_translation(0.125 * Vec3::X)));
    }
    far::<Matrices>();
    far::<Components>();
}

/// What is below a node hangs under its world; what does not inherit all of it, under its component pose,
/// which shear has not come into.
#[test]
fn shear_above_is_left_out() {
    let mut h = Hierarchy::new();
    let wide = h.add_root(Transform::from_scale(Vec3::new(4.0, 1.0, 1.0))).unwrap();
    let turn = Quat::from_rotation_z(0.7);
    let turned = h.add_child(wide, Transform::from_rotation(turn)).unwrap();
    let node = h.add_child(turned, Transform::IDENTITY).unwrap();
    assert!(h.world_decomposed(node).unwrap().shear.x.abs() > 1.0);
    h.set_inherit(node, NO_POSITION, Keep::Local).unwrap();
    let expected = Transform::from_rotation(turn).with_scale(Vec3::new(4.0, 1.0, 1.0));
    assert!(h.world(node).unwrap().abs_diff_eq(expected.to_affine(), 1e-6));
    // A matrix is taken for its factors.
    let sheared = Mat3::from_cols(Vec3::X, Vec3::new(0.5, 2.0, 0.0), Vec3::Z);
    h.set_local_matrix(turned, Affine3A::from_mat3(sheared)).unwrap();
    let expected = Transform::from_scale(Vec3::new(4.0, 2.0, 1.0));
    assert!(h.world(node).unwrap().abs_diff_eq(expected.to_affine(), 1e-6));
    h.set_inherit(node, Inherit::ALL, Keep::World).unwrap();
    assert!(h.world(node).unwrap().abs_diff_eq(expected.to_affine(), 1e-6));
    assert_eq!(h.is_trs(node), Ok(false)); // it has to undo the shear
}

#[test]
fn refusals_of_set_inherit() {
    let mut h = Hierarchy::new();
    let wide = h.add_root(Transform::from_scale(Vec3::new(4.0, 1.0, 1.0))).unwrap();
    let turned = h.add_child(wide, Transform::from_rotation(Quat::from_rotation_z(0.7))).unwrap();
    let gone = h.add_root(Transform::IDENTITY).unwrap();
    h.remove_subtree(gone).unwrap();
    let stale = StaleNode { node: gone };
    assert_eq!(h.inherit(gone), Err(stale));
    for keep in [Keep::Local, Keep::World, Keep::WorldTrs] {
        assert_eq!(h.set_inherit(gone, Inherit::NONE, keep), Err(stale.into()));
    }
    let before = (h.world(turned), h.local(turned));
    let refused = h.set_inherit(turned, NO_SCALE, Keep::WorldTrs);
    assert!(matches!(refused, Err(ReparentError::NotTrs(refusal)) if refusal.node == turned));
    h.set_scale(wide, Vec3::new(4.0, 0.0, 1.0)).unwrap();
    let refused = h.set_inherit(turned, NO_ROTATION, Keep::World);
    assert!(matches!(refused, Err(ReparentError::SingularParent(refusal)) if refusal.parent == wide));
    h.set_scale(wide, Vec3::new(4.0, 1.0, 1.0)).unwrap();
    assert_eq!((h.world(turned), h.local(turned), h.inherit(turned)), (before.0, before.1, Ok(Inherit::ALL)));
    // With nothing inherited nothing is in the way, and every element stays.
    h.set_inherit(turned, Inherit::NONE, Keep::World).unwrap();
    assert_eq!(h.world(turned), before.0);

    let mut c = ComponentHierarchy::new();
    let flat = c.add_root(Transform::from_scale(Vec3::ZERO)).unwrap();
    let node = c.add_child(flat, Transform::from_position(Vec3::ONE)).unwrap();
    assert!(matches!(c.set_inherit(node, NO_ROTATION, Keep::World), Err(ReparentError::SingularParent(_))));
    c.set_inherit(node, NO_SCALE, Keep::World).unwrap();
    assert_eq!(c.local(node), Ok(Transform::from_scale(Vec3::ZERO)));
}
