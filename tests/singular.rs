//! Which parents can be inverted, and what a node keeps when its parent changes: worlds as matrices.

use glam::{Affine3A, DAffine3, DMat3, Mat3, Quat, Vec3};
use posetree::{Decomposed, Hierarchy, Keep, NodeId, ReparentError, Transform, WorldError, glam};
use proptest::prelude::*;
use values::{rotations, vectors};

#[path = "common/values.rs"]
mod values;

const EPS: f64 = f32::EPSILON as f64;

/// Uneven, mirrored or not; a chain of three has a ratio of 1 : 125 at most.
fn scales() -> impl Strategy<Value = Vec3> {
    prop::array::uniform3(prop_oneof![3 => 0.4_f32..2.0, 1 => -2.0_f32..-0.4]).prop_map(Vec3::from_array)
}

fn transforms() -> impl Strategy<Value = Transform> {
    (vectors(10.0), rotations(), scales()).prop_map(|(p, r, s)| Transform::new(p, r, s))
}

/// A local value: a transform, or a matrix that shears.
#[derive(Clone, Copy, Debug)]
enum Local {
    Trs(Transform),
    Sheared(Decomposed),
}

fn locals() -> impl Strategy<Value = Local> {
    let shear = prop::array::uniform3(-0.5_f32..0.5).prop_map(Vec3::from_array);
    prop_oneof![
        transforms().prop_map(Local::Trs),
        (transforms(), shear).prop_map(|(transform, shear)| Local::Sheared(Decomposed { transform, shear })),
    ]
}

fn add(h: &mut Hierarchy, parent: Option<NodeId>, local: Local) -> NodeId {
    match local {
        Local::Trs(local) => h.insert_child_at(parent, 0, local).unwrap(),
        Local::Sheared(parts) => {
            let id = h.insert_child_at(parent, 0, parts.transform).unwrap();
            h.set_local_matrix(id, parts.recompose()).unwrap();
            id
        }
    }
}

fn add_chain(h: &mut Hierarchy, parent: Option<NodeId>, locals: &[Local]) -> Option<NodeId> {
    locals.iter().fold(parent, |parent, &local| Some(add(h, parent, local)))
}

fn wide(m: Affine3A) -> DAffine3 {
    let [x, y, z] = [m.matrix3.x_axis, m.matrix3.y_axis, m.matrix3.z_axis].map(|column| column.as_dvec3());
    DAffine3 { matrix3: DMat3::from_cols(x, y, z), translation: m.translation.as_dvec3() }
}

/// The product of the local matrices from below `top` down to `id`, in float64.
fn chain(h: &Hierarchy, id: Option<NodeId>, top: Option<NodeId>) -> DAffine3 {
    let (mut product, mut at) = (DAffine3::IDENTITY, id);
    while at != top {
        let id = at.unwrap();
        product = wide(h.local_matrix(id).unwrap()) * product;
        at = h.parent(id).unwrap();
    }
    product
}

/// The law of a solution, element by element: `|P L - W| ≤ share ε |P||L|`. Two for what is stored as a matrix.
fn obeys(p: &DAffine3, l: &DAffine3, w: &DAffine3, share: f64) -> bool {
    let absolute = |m: &DAffine3| DAffine3 { matrix3: m.matrix3.abs(), translation: m.translation.abs() };
    let (reached, size) = (*p * *l, absolute(p) * absolute(l));
    let pairs = reached.to_cols_array().into_iter().zip(w.to_cols_array()).zip(size.to_cols_array());
    pairs.into_iter().all(|((got, want), size)| (got - want).abs() <= share * EPS * size)
}

fn is_singular<T>(result: Result<T, ReparentError>, parent: NodeId) -> bool {
    matches!(result, Err(ReparentError::SingularParent(e)) if e.parent == parent && e.residual > 0.0)
}

fn turned(angle: f32) -> Transform {
    Transform::from_rotation(Quat::from_euler(glam::EulerRot::XYZ, angle, 1.0 - angle, 0.4))
}

fn thing() -> Transform {
    Transform::new(Vec3::new(0.3, -0.8, 0.5), turned(0.7).rotation, Vec3::new(1.0, 2.0, 0.5))
}

/// Moves `id` under `parent` with its world kept, by the law, and back.
fn moves(h: &mut Hierarchy, id: NodeId, parent: NodeId) {
    let top = h.common_ancestor(id, parent).unwrap();
    let wanted = chain(h, Some(id), top);
    h.reparent(id, parent, Keep::World).unwrap();
    let local = wide(h.local_matrix(id).unwrap());
    assert!(obeys(&chain(h, Some(parent), top), &local, &wanted, 2.0));
    h.assert_well_formed();
}

#[test]
fn a_turned_parent_with_a_tiny_own_scale_holds_any_pose() {
    for tiny in [Vec3::new(1.0, 1.0, 1e-8), Vec3::splat(1e-8), Vec3::new(1e-8, 1e4, 1.0)] {
        let mut h = Hierarchy::new();
        let parent = h.add_root(turned(0.3).with_scale(tiny).with_position(Vec3::ONE)).unwrap();
        let id = h.add_root(thing()).unwrap();
        moves(&mut h, id, parent);
        let deeper = h.add_root(turned(0.9)).unwrap();
        h.reparent(parent, deeper, Keep::Local).unwrap();
        let other = h.add_root(thing()).unwrap();
        moves(&mut h, other, parent);
    }
}

/// The scale squeezes the child's turned axes, so that a local value is large where it is squeezed and its
/// rounding is seen in the other axes: no float32 matrix holds the pose.
#[test]
fn a_turned_child_of_a_tiny_scale_holds_none() {
    let mut h = Hierarchy::new();
    let squeezed = h.add_root(Transform::from_scale(Vec3::new(1.0, 1.0, 1e-8))).unwrap();
    let parent = h.add_child(squeezed, turned(0.3)).unwrap();
    let id = h.add_root(thing()).unwrap();
    for keep in [Keep::World, Keep::WorldTrs] {
        assert!(is_singular(h.reparent(id, parent, keep), parent));
    }
    let child = h.add_child(parent, Transform::IDENTITY).unwrap();
    let set = h.set_world_transform(child, thing());
    assert!(matches!(set, Err(WorldError::SingularParent(e)) if e.parent == parent && e.residual > 1.0 / 1024.0));
    assert!(matches!(h.world_inverse(parent), Err(WorldError::SingularParent(e)) if e.parent == parent));

    // Uniform, it squeezes nothing in particular.
    h.set_scale(squeezed, Vec3::splat(1e-8)).unwrap();
    moves(&mut h, id, parent);
}

#[test]
fn an_exact_zero_anywhere_below_the_common_ancestor_is_refused() {
    for (depth, zero) in [(0, 0), (0, 2), (4, 1), (9, 0)] {
        let mut h = Hierarchy::new();
        let root = h.add_root(turned(0.2)).unwrap();
        let mut at = root;
        for level in 0..10 {
            let mut scale = Vec3::new(1.0, 2.0, 0.7);
            if level == depth {
                scale[zero] = 0.0;
            }
            at = h.add_child(at, turned(0.1 * level as f32).with_scale(scale)).unwrap();
        }
        let id = h.add_child(root, thing()).unwrap();
        for keep in [Keep::World, Keep::WorldTrs] {
            let error = h.reparent(id, at, keep).unwrap_err();
            let ReparentError::SingularParent(error) = error else { panic!("{error}") };
            assert_eq!((error.parent, error.residual), (at, f32::INFINITY));
        }
        assert_eq!((h.parent(id).unwrap(), h.local(id).unwrap()), (Some(root), thing()));
    }
}

#[test]
fn a_rank_deficient_matrix_is_flat() {
    let (x, y) = (Vec3::new(1.0, 2.0, 3.0), Vec3::new(-1.0, 0.5, 2.0));
    for columns in [[x, y, x + y], [x, 2.0 * x, y], [x, Vec3::ZERO, y], [Vec3::ZERO; 3]] {
        let mut h = Hierarchy::new();
        let parent = h.add_root(Transform::IDENTITY).unwrap();
        let [x, y, z] = columns;
        h.set_local_matrix(parent, Affine3A::from_mat3(Mat3::from_cols(x, y, z))).unwrap();
        let below = h.add_child(parent, turned(0.3)).unwrap();
        let id = h.add_root(thing()).unwrap();
        assert!(is_singular(h.reparent(id, parent, Keep::World), parent));
        assert!(is_singular(h.reparent(id, below, Keep::World), below));
        assert_eq!(h.parent(id).unwrap(), None);
    }
}

#[test]
fn a_flat_ancestor_above_both_does_not_matter() {
    let mut h = Hierarchy::new();
    let flat = h.add_root(Transform::from_scale(Vec3::new(1.0, 0.0, 1.0))).unwrap();
    let group = h.add_child(flat, turned(0.3)).unwrap();
    let parent = h.add_child(group, turned(0.6).with_scale(Vec3::new(1.0, 3.0, 0.5))).unwrap();
    let id = h.add_child(group, thing()).unwrap();
    let before = h.world(id).unwrap();
    moves(&mut h, id, parent);
    // Elements of at most three here, each of three products of as many roundings.
    assert!(h.world(id).unwrap().abs_diff_eq(before, 27.0 * f32::EPSILON));
    moves(&mut h, id, group);
}

#[test]
fn a_node_leaves_a_flat_parent() {
    let mut h = Hierarchy::new();
    let root = h.add_root(turned(0.1)).unwrap();
    let flat = h.add_child(root, turned(0.3).with_scale(Vec3::new(1.0, 0.0, 2.0))).unwrap();
    let [a, b, c] = [0.2, 0.5, 0.8].map(|angle| h.add_child(flat, turned(angle)).unwrap());
    let wanted = [a, b, c].map(|id| chain(&h, Some(id), None));
    h.detach(a, Keep::World).unwrap();
    h.reparent(b, root, Keep::World).unwrap();
    h.remove_and_promote(flat, Keep::World).unwrap();
    for (id, wanted) in [a, b, c].into_iter().zip(wanted) {
        let parent = h.parent(id).unwrap();
        assert!(obeys(&chain(&h, parent, None), &wide(h.local_matrix(id).unwrap()), &wanted, 2.0));
    }
    h.assert_well_formed();
}

#[test]
fn siblings_far_from_the_origin_are_exact_to_each_other() {
    let mut h = Hierarchy::new();
    let far = h.add_root(turned(0.3).with_position(Vec3::new(1e6, -1e6, 1e6))).unwrap();
    let (a, b) = (Transform::from_position(Vec3::new(1.0, 2.0, 3.0)), turned(0.8).with_position(Vec3::Y));
    let [id, parent] = [a, b].map(|local| h.add_child(far, local).unwrap());
    h.reparent(id, parent, Keep::World).unwrap();
    let exact = wide(b.to_affine()).inverse() * wide(a.to_affine());
    assert!(wide(h.local_matrix(id).unwrap()).abs_diff_eq(exact, 1e-6));
}

/// The world position can be no better than what float32 holds at the parent: 0.06 here.
#[test]
fn a_node_at_the_origin_moves_under_a_far_parent() {
    let mut h = Hierarchy::new();
    let parent = h.add_root(turned(0.3).with_position(Vec3::new(1e6, -1e6, 1e6))).unwrap();
    let id = h.add_root(turned(0.9)).unwrap();
    let other = h.add_child(parent, Transform::IDENTITY).unwrap();
    moves(&mut h, id, parent);
    assert!(h.world_position(id).unwrap().length() <= 4.0 * f32::EPSILON * 1e6 * 3.0_f32.sqrt());
    h.set_world_position(other, Vec3::ZERO).unwrap();
    assert!(h.world_position(other).unwrap().length() <= 4.0 * f32::EPSILON * 1e6 * 3.0_f32.sqrt());
}

#[test]
fn typed_signs_survive_the_way_out_and_back() {
    for scale in [Vec3::new(-2.0, 1.0, 1.0), Vec3::new(-1.0, -1.0, 1.0), Vec3::new(1.0, 1.0, -3.0), -Vec3::ONE] {
        let mut h = Hierarchy::new();
        let home = h.add_root(turned(0.4).with_scale(Vec3::new(1.0, 2.0, 0.5))).unwrap();
        let away = h.add_root(turned(1.3).with_scale(Vec3::new(0.7, 1.0, 3.0))).unwrap();
        let id = h.add_child(home, turned(0.2).with_scale(scale)).unwrap();
        for parent in [Some(away), None, Some(home), Some(away), Some(home)] {
            h.reparent(id, parent, Keep::World).unwrap();
            assert_eq!(h.scale(id).unwrap().signum(), scale.signum(), "under {parent:?}");
            assert_eq!(h.world_scale(id).unwrap().signum(), scale.signum(), "under {parent:?}");
        }
        // Scales of both parents are within 1 : 4.3, and five moves each leave 2 ε of that squared.
        assert!(h.scale(id).unwrap().abs_diff_eq(scale, 5.0 * 2.0 * f32::EPSILON * 4.3 * 4.3 * 3.0));
    }
}

proptest! {
    #[test]
    fn a_needle_of_one_to_ten_thousand_works_under_any_rotation(
        above in rotations(), own in rotations(), long in 0..3_usize, thin in any::<bool>(),
        p in vectors(10.0), thing in transforms(),
    ) {
        let mut scale = Vec3::ONE;
        scale[long] = if thin { 1e-4 } else { 1e4 };
        let mut h = Hierarchy::new();
        let root = h.add_root(Transform::from_rotation(above)).unwrap();
        let needle = h.add_child(root, Transform::new(p, own, scale)).unwrap();
        let id = h.add_root(thing).unwrap();
        moves(&mut h, id, needle);
    }

    /// `|P L' - W| ≤ 2 ε |P||L'|`, element by element, with P and W from the lowest common ancestor down. It holds
    /// however far away that is, and whatever is above it.
    #[test]
    fn keep_world_obeys_the_law(
        far in prop_oneof![Just(0.0_f32), Just(1e6)],
        old in prop::collection::vec(locals(), 0..3),
        new in prop::collection::vec(locals(), 0..4),
        own in locals(),
    ) {
        let mut h = Hierarchy::new();
        let flat = Transform::new(Vec3::splat(far), turned(0.3).rotation, Vec3::new(1.0, 0.0, 1.0));
        let top = Some(h.add_root(flat).unwrap());
        let old = add_chain(&mut h, top, &old);
        let new = add_chain(&mut h, top, &new);
        let id = add(&mut h, old, own);
        let wanted = chain(&h, Some(id), top);
        let before = h.local_matrix(id).unwrap();
        match h.reparent(id, new, Keep::World) {
            Ok(parent) => prop_assert_eq!(parent, old),
            // Rounding can be seen in a pose close to the origin.
            Err(ReparentError::SingularParent(_)) => {
                prop_assert_eq!(h.local_matrix(id).unwrap(), before);
                return Err(TestCaseError::reject("refused"));
            }
            Err(error) => panic!("{error}"),
        }
        prop_assert!(obeys(&chain(&h, new, top), &wide(h.local_matrix(id).unwrap()), &wanted, 2.0));
        h.assert_well_formed();
    }

    /// Held as position, rotation and scale, a column of the local matrix is off by at most the 16 ε that count as
    /// no shear, and the matrix they make by one more; or it is refused.
    #[test]
    fn keep_world_trs_keeps_the_world_or_refuses(
        new in transforms(), even in 0.2_f32..5.0, own in transforms(), uniform in any::<bool>(),
    ) {
        let mut h = Hierarchy::new();
        let new = if uniform { new.with_scale(Vec3::splat(even)) } else { new };
        let parent = h.add_root(new).unwrap();
        let id = h.add_root(own).unwrap();
        match h.reparent(id, parent, Keep::WorldTrs) {
            Ok(_) => {
                prop_assert_eq!(h.local_matrix(id).unwrap(), h.local(id).unwrap().to_affine());
                let (p, l) = (chain(&h, Some(parent), None), wide(h.local_matrix(id).unwrap()));
                let off = p.inverse() * wide(own.to_affine());
                for i in 0..3 {
                    let (got, want) = (l.matrix3.col(i), off.matrix3.col(i));
                    prop_assert!((got - want).abs().max_element() <= 18.0 * EPS * want.abs().max_element());
                }
                prop_assert!((l.translation - off.translation).abs().max_element() <= EPS * off.translation.length());
            }
            Err(ReparentError::NotTrs(error)) => {
                prop_assert!(!uniform && error.node == id && error.residual > 16.0 * f32::EPSILON);
                prop_assert_eq!((h.local(id).unwrap(), h.parent(id).unwrap()), (own, None));
            }
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn uniform_parents_leave_a_transform_a_transform(
        parents in prop::collection::vec((vectors(10.0), rotations(), 0.2_f32..5.0), 2..6), own in transforms(),
    ) {
        let mut h = Hierarchy::new();
        let uniform = |&(p, r, s): &(Vec3, Quat, f32)| Transform::new(p, r, Vec3::splat(s));
        let parents: Vec<_> = parents.iter().map(|parent| h.add_root(uniform(parent)).unwrap()).collect();
        let id = h.add_child(parents[0], own).unwrap();
        for &parent in parents.iter().cycle().skip(1).take(20) {
            match h.reparent(id, parent, Keep::World) {
                Ok(_) => prop_assert!(h.is_trs(id).unwrap() && h.local(id).is_ok()),
                Err(error) => panic!("{error}"),
            }
        }
    }

    #[test]
    fn keep_local_keeps_the_bits(new in locals(), own in locals()) {
        let mut h = Hierarchy::new();
        let parent = add(&mut h, None, new);
        let id = add(&mut h, None, own);
        let bits = |h: &Hierarchy| format!("{:?} {:?}", h.local_matrix(id).unwrap(), h.local(id));
        let before = bits(&h);
        for parent in [Some(parent), None, Some(parent)] {
            h.reparent(id, parent, Keep::Local).unwrap();
            prop_assert_eq!(bits(&h), before.clone());
        }
    }
}
