//! Which parents can be inverted where positions, rotations and scales accumulate one by one.

use glam::{Affine3A, DQuat, DVec3, Quat, Vec3};
use posetree::{ComponentHierarchy, Keep, NodeId, ReparentError, Transform, WorldError, glam};
use proptest::prelude::*;
use values::{rotations, vectors};

#[path = "common/values.rs"]
mod values;

const EPS: f64 = f32::EPSILON as f64;

fn transforms() -> impl Strategy<Value = Transform> {
    let scale = prop_oneof![3 => 0.2_f32..5.0, 1 => -5.0_f32..-0.2];
    (vectors(10.0), rotations(), prop::array::uniform3(scale)).prop_map(|(p, r, s)| Transform::new(p, r, s.into()))
}

fn turned(angle: f32) -> Transform {
    Transform::from_rotation(Quat::from_euler(glam::EulerRot::XYZ, angle, 1.0 - angle, 0.4))
}

/// Position, rotation and scale in float64.
#[derive(Clone, Copy, Debug)]
struct Pose(DVec3, DQuat, DVec3);

impl Pose {
    fn of(t: Transform) -> Self {
        Self(t.position.as_dvec3(), t.rotation.as_dquat().normalize(), t.scale.as_dvec3())
    }

    /// The definition: `(p_a + r_a(s_a * p_b), r_a r_b, s_a * s_b)`.
    fn combine(self, b: Self) -> Self {
        Self(self.0 + self.1 * (self.2 * b.0), self.1 * b.1, self.2 * b.2)
    }
}

/// The world pose in float64, by the definition: from the root down. The order matters, for `combine` is not
/// associative.
fn world(h: &ComponentHierarchy, id: Option<NodeId>) -> Pose {
    let Some(id) = id else { return Pose::of(Transform::IDENTITY) };
    let mut path: Vec<_> = h.ancestors(id).unwrap().collect();
    path.insert(0, id);
    let locals = path.iter().rev().map(|&id| Pose::of(h.local(id).unwrap()));
    locals.fold(Pose::of(Transform::IDENTITY), Pose::combine)
}

/// With the local value rounded once, u = ε/2 each: a scale is off by u of itself, a rotation by 2 u (half angles,
/// four components), and a position by u of each component, which the parent's scale weighs: `u |s_p * p|`, once
/// more turned, in length.
fn solves(parent: Pose, local: Transform, wanted: Pose) -> bool {
    let local = Pose::of(local);
    let reached = parent.combine(local);
    let size = (parent.2 * local.0).length();
    (reached.0 - wanted.0).length() <= EPS * size
        && 1.0 - reached.1.dot(wanted.1).abs() <= EPS * EPS
        && (reached.2 - wanted.2).abs().cmple(EPS * wanted.2.abs()).all()
}

fn moves(h: &mut ComponentHierarchy, id: NodeId, parent: NodeId) {
    let wanted = world(h, Some(id));
    h.reparent(id, parent, Keep::World).unwrap();
    assert!(solves(world(h, Some(parent)), h.local(id).unwrap(), wanted));
    assert!(h.is_trs(id).unwrap());
    h.assert_well_formed();
}

#[test]
fn any_scale_that_is_not_zero_can_be_inverted() {
    for tiny in [Vec3::new(1.0, 1.0, 1e-8), Vec3::splat(1e-8), Vec3::new(1e-4, 1.0, 1e4), Vec3::splat(1e-18)] {
        let mut h = ComponentHierarchy::new();
        let squeezed = h.add_root(Transform::from_scale(tiny)).unwrap();
        // Scales act along the child's own axes, so that turning makes nothing worse.
        let parent = h.add_child(squeezed, turned(0.3)).unwrap();
        let id = h.add_root(turned(0.8).with_position(Vec3::new(1.0, 2.0, 3.0))).unwrap();
        moves(&mut h, id, parent);
    }
}

#[test]
fn an_exact_zero_anywhere_below_the_common_ancestor_is_refused() {
    for (depth, zero) in [(0, 0), (4, 1), (9, 2)] {
        let mut h = ComponentHierarchy::new();
        let root = h.add_root(turned(0.2)).unwrap();
        let mut at = root;
        for level in 0..10 {
            let mut scale = Vec3::new(1.0, -2.0, 0.7);
            if level == depth {
                scale[zero] = 0.0;
            }
            at = h.add_child(at, turned(0.1 * level as f32).with_scale(scale)).unwrap();
        }
        let id = h.add_child(root, turned(0.9)).unwrap();
        for keep in [Keep::World, Keep::WorldTrs] {
            let error = h.reparent(id, at, keep).unwrap_err();
            let ReparentError::SingularParent(error) = error else { panic!("{error}") };
            assert_eq!((error.parent, error.residual), (at, f32::INFINITY));
        }
        let child = h.add_child(at, Transform::IDENTITY).unwrap();
        for set in [
            h.set_world_position(child, Vec3::ONE),
            h.set_world_transform(child, Transform::IDENTITY),
            h.set_world(child, Affine3A::IDENTITY),
        ] {
            assert!(matches!(set, Err(WorldError::SingularParent(e)) if e.parent == at));
        }
        assert_eq!(h.local(id).unwrap(), turned(0.9));
    }
}

/// Nor does the product of scales that are not zero: a local value that overflows is refused, none is infinite.
#[test]
fn a_local_value_that_overflows_is_refused() {
    let mut h = ComponentHierarchy::new();
    let parent = h.add_root(Transform::from_scale(Vec3::new(1.0, 1e-30, 1.0))).unwrap();
    let id = h.add_root(Transform::from_scale(Vec3::splat(1e10))).unwrap();
    let error = h.reparent(id, parent, Keep::World).unwrap_err();
    assert!(matches!(error, ReparentError::SingularParent(e) if e.parent == parent));
    assert_eq!(h.parent(id).unwrap(), None);
}

/// Where poses are matrices, what is above both has no part in it. Here the scale above acts along the axes of
/// whatever is below, so that no local value need exist under a flat one.
#[test]
fn a_flat_ancestor_above_both_is_refused() {
    let mut h = ComponentHierarchy::new();
    let flat = h.add_root(Transform::from_scale(Vec3::new(1.0, 0.0, 1.0))).unwrap();
    let group = h.add_child(flat, turned(0.3)).unwrap();
    let parent = h.add_child(group, turned(0.6).with_scale(Vec3::new(1.0, 3.0, 0.5))).unwrap();
    let id = h.add_child(group, turned(0.1).with_position(Vec3::ONE)).unwrap();
    let error = h.reparent(id, parent, Keep::World).unwrap_err();
    assert!(matches!(error, ReparentError::SingularParent(e) if e.parent == parent));
    assert!(h.remove_and_promote(group, Keep::World).is_err());
    // Nothing is inverted where nothing changes, and where no pose is kept.
    h.reparent(id, group, Keep::World).unwrap();
    h.reparent(id, group, Keep::WorldTrs).unwrap();
    h.reparent(id, parent, Keep::Local).unwrap();
    h.detach(id, Keep::World).unwrap();
}

/// An uneven scale above two nodes changes how they relate: the move is solved from the root down.
#[test]
fn an_uneven_ancestor_above_both_counts() {
    let mut h = ComponentHierarchy::new();
    let wide = h.add_root(Transform::from_scale(Vec3::new(4.0, 1.0, 1.0))).unwrap();
    let parent = h.add_child(wide, turned(0.6)).unwrap();
    let old = h.add_child(wide, turned(1.1)).unwrap();
    let id = h.add_child(old, turned(0.1).with_position(Vec3::ONE)).unwrap();
    let before = h.world(id).unwrap();
    moves(&mut h, id, parent);
    let off = (h.world_position(id).unwrap() - before.position).length();
    assert!(off <= 4.0 * 8.0 * f32::EPSILON * 7.0, "{off:e}");
    moves(&mut h, id, wide);
    moves(&mut h, id, old);
}

#[test]
fn a_node_leaves_a_flat_parent() {
    let mut h = ComponentHierarchy::new();
    let root = h.add_root(turned(0.1)).unwrap();
    let flat = h.add_child(root, turned(0.3).with_scale(Vec3::new(1.0, 0.0, 2.0))).unwrap();
    let [a, b, c] = [0.2, 0.5, 0.8].map(|angle| h.add_child(flat, turned(angle)).unwrap());
    let wanted = [a, b, c].map(|id| world(&h, Some(id)));
    h.detach(a, Keep::World).unwrap();
    h.reparent(b, root, Keep::World).unwrap();
    h.remove_and_promote(flat, Keep::World).unwrap();
    for (id, wanted) in [a, b, c].into_iter().zip(wanted) {
        let parent = h.parent(id).unwrap();
        assert!(solves(world(&h, parent), h.local(id).unwrap(), wanted));
        assert_eq!(h.scale(id).unwrap(), Vec3::new(1.0, 0.0, 2.0));
    }
}

#[test]
fn siblings_far_from_the_origin_are_exact_to_each_other() {
    let mut h = ComponentHierarchy::new();
    let far = h.add_root(turned(0.3).with_position(Vec3::new(1e6, -1e6, 1e6))).unwrap();
    let id = h.add_child(far, Transform::from_position(Vec3::new(1.0, 2.0, 3.0))).unwrap();
    let parent = h.add_child(far, Transform::from_position(Vec3::new(1.5, 2.5, -3.0))).unwrap();
    h.reparent(id, parent, Keep::World).unwrap();
    assert_eq!(h.position(id).unwrap(), Vec3::new(-0.5, -0.5, 6.0));
    let other = h.add_root(turned(0.9)).unwrap();
    moves(&mut h, other, parent);
}

proptest! {
    #[test]
    fn keep_world_solves_for_every_parent(
        old in prop::collection::vec(transforms(), 0..3),
        new in prop::collection::vec(transforms(), 0..4),
        own in transforms(),
        top in transforms(),
        trs in any::<bool>(),
    ) {
        let mut h = ComponentHierarchy::new();
        let top = h.add_root(top).unwrap();
        let add = |h: &mut ComponentHierarchy, chain: &[Transform]| {
            chain.iter().fold(top, |parent, &local| h.add_child(parent, local).unwrap())
        };
        let (old, new) = (add(&mut h, &old), add(&mut h, &new));
        let id = h.add_child(old, own).unwrap();
        let wanted = world(&h, Some(id));
        h.reparent(id, new, if trs { Keep::WorldTrs } else { Keep::World }).unwrap();
        prop_assert!(new == old || solves(world(&h, Some(new)), h.local(id).unwrap(), wanted));
        // Signs multiply: own ones come back where they came from.
        h.reparent(id, old, Keep::World).unwrap();
        prop_assert_eq!(h.scale(id).unwrap().signum(), own.scale.signum());
        let wanted = world(&h, Some(id));
        h.detach(id, Keep::World).unwrap();
        prop_assert!(solves(world(&h, None), h.local(id).unwrap(), wanted));
        h.assert_well_formed();
    }

    /// One level down, what is stored is `relative_to` in float64: the parent's own float32 rounding apart.
    #[test]
    fn keep_world_is_relative_to(parent in transforms(), own in transforms()) {
        let mut h = ComponentHierarchy::new();
        let (parent_id, id) = (h.add_root(parent).unwrap(), h.add_root(own).unwrap());
        h.reparent(id, parent_id, Keep::World).unwrap();
        let (found, wanted) = (h.local(id).unwrap(), own.relative_to(parent).unwrap());
        // A transform of a vector is 8 ε of its length, and 1 : 25 is what unequal scales make of that.
        let size = (own.position - parent.position).length() / parent.scale.abs().min_element();
        prop_assert!((found.position - wanted.position).length() <= 8.0 * f32::EPSILON * size);
        prop_assert!((found.scale - wanted.scale).abs().cmple(f32::EPSILON * wanted.scale.abs()).all());
        let aligned = if found.rotation.dot(wanted.rotation) < 0.0 { -wanted.rotation } else { wanted.rotation };
        prop_assert!((found.rotation - aligned).length() <= 8.0 * f32::EPSILON);
    }
}
