//! Experiments on whole scenes. Each prints its figures: `cargo test --test experiments -- --nocapture`.

#[path = "common/bits.rs"]
mod bits;

use bits::bits_of;
use glam::{Affine3A, DAffine3, DMat3, DVec3, EulerRot, Mat4, Quat, Vec3};
use posetree::{ComponentHierarchy, Hierarchy, Keep, NodeId, ReparentError, Transform, glam};

fn turn(x: f32, y: f32, z: f32) -> Quat {
    Quat::from_euler(EulerRot::XYZ, x, y, z)
}

fn wide(m: Affine3A) -> DAffine3 {
    let [x, y, z] = [m.matrix3.x_axis, m.matrix3.y_axis, m.matrix3.z_axis].map(|column| column.as_dvec3());
    DAffine3 { matrix3: DMat3::from_cols(x, y, z), translation: m.translation.as_dvec3() }
}

/// The world matrix as a product in float64, from the local values.
fn reference(h: &Hierarchy, id: NodeId) -> DAffine3 {
    let above = h.ancestors(id).unwrap();
    above.fold(wide(h.local_matrix(id).unwrap()), |below, id| wide(h.local_matrix(id).unwrap()) * below)
}

fn elements(h: &Hierarchy, id: NodeId) -> [f32; 16] {
    Mat4::from(h.world_matrix(id).unwrap()).to_cols_array()
}

fn largest_difference(a: &[f32; 16], b: &[f32; 16]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

/// Elements are about one here, and one move errs by a few ε of them; a hundred that all err the same way would
/// come to about 1e-4. Errors of either sign stay near `√100` times one, about 1e-6; the limit leaves that tenfold.
#[test]
fn a_hundred_reparents_keep_the_world() {
    let mut h = Hierarchy::new();
    let root =
        h.add_root(Transform::new(Vec3::new(0.5, -0.2, 0.3), turn(0.3, -0.5, 0.8), Vec3::new(1.3, 0.8, 1.1))).unwrap();
    let places = [
        Transform::new(Vec3::new(0.4, 0.7, -0.2), turn(-0.9, 0.2, 0.4), Vec3::new(0.7, 1.5, 0.9)),
        Transform::new(Vec3::new(-0.6, 0.1, 0.5), turn(0.5, 1.1, -0.7), Vec3::new(1.4, 0.6, 1.2)),
    ];
    let [a, b] = places.map(|local| h.add_child(root, local).unwrap());
    let id = h.add_child(a, Transform::new(Vec3::new(0.3, 0.2, 0.1), turn(0.1, 0.6, 0.2), Vec3::ONE)).unwrap();

    let probe = Vec3::new(0.4, -0.3, 0.6);
    let wanted = reference(&h, id).transform_point3(probe.as_dvec3());
    let before = elements(&h, id);
    let (mut probe_error, mut element_error) = (0.0_f64, 0.0_f32);
    for step in 0..100 {
        h.reparent(id, if step % 2 == 0 { b } else { a }, Keep::World).unwrap();
        let found = h.world_matrix(id).unwrap().transform_point3(probe);
        probe_error = probe_error.max((found.as_dvec3() - wanted).length());
        element_error = element_error.max(largest_difference(&elements(&h, id), &before));
        h.assert_well_formed();
    }
    println!("100 reparents: probe off by {probe_error:.2e}, worst of 16 elements by {element_error:.2e}");
    assert_eq!(h.parent(id).unwrap(), Some(a));
    assert!(probe_error < 1e-5 && element_error < 1e-5);
}

#[test]
fn a_flat_new_parent_is_refused_and_nothing_moves() {
    for flat in [Vec3::new(1.0, 0.0, 1.0), Vec3::new(0.0, 2.0, 0.0), Vec3::ZERO] {
        let mut h = Hierarchy::new();
        let hand = h.add_root(Transform::new(Vec3::X, turn(0.3, 0.4, 0.5), Vec3::new(1.0, 2.0, 3.0))).unwrap();
        let cup = h.add_child(hand, Transform::new(Vec3::Y, turn(0.9, -0.4, 0.1), Vec3::splat(0.7))).unwrap();
        let parent = h.add_root(Transform::from_rotation(turn(0.1, 0.2, 0.3)).with_scale(flat)).unwrap();
        let state = |h: &Hierarchy| bits_of((h.parent(cup), h.local_matrix(cup), h.local(cup), h.world_matrix(cup)));
        let before = state(&h);
        for keep in [Keep::World, Keep::WorldTrs] {
            let error = h.reparent(cup, parent, keep).unwrap_err();
            println!("scale {flat}: {error}");
            assert!(matches!(error, ReparentError::SingularParent(e) if e.parent == parent));
            assert_eq!(state(&h), before);
        }
        // Keeping the local value needs no inverse.
        h.reparent(cup, parent, Keep::Local).unwrap();
    }
}

/// A point goes out by the world matrix `W` and back by its inverse. With u = ε/2, |t| ≤ |p| and singular values of
/// `W` from 1/ratio to 1:
/// - out: four roundings of each of three products and of t, in norm `4 u (√3 |p| + |t|) ≤ 10.9 u |p|`, which the
///   way back multiplies by at most the ratio;
/// - back: the inverse rounds by u and its use by 4 u more. Its norm over elements is at most `√3 ratio`, the world
///   point at most `|p| + |t|` long, and its translation at most `ratio |t|`: `5 u ratio (2 √3 + 1) |p|`, that is
///   `22.3 u ratio |p|`.
///
/// Together `33.3 u`, or 17 ε, times the ratio.
const ROUND_TRIP: f64 = 17.0;

#[test]
fn a_point_goes_to_the_world_and_back() {
    println!("y-scale    worst |back - p|    allowed    error / (ratio ε |p|)");
    for y in [1.0_f32, 1e-1, 1e-2, 1e-3, 1e-4] {
        let (mut worst, mut share, mut allowed) = (0.0_f64, 0.0_f64, 0.0_f64);
        for step in 0..200 {
            let angle = 0.37 * step as f32;
            let mut h = Hierarchy::new();
            let turned = Transform::new(Vec3::new(0.3, -0.2, 0.5), turn(angle, 0.7 * angle, 1.0), Vec3::ONE);
            let parent = h.add_root(turned.with_scale(Vec3::new(1.0, y, 1.0))).unwrap();
            let id =
                h.add_child(parent, Transform::new(0.3 * Vec3::Y, turn(1.3 * angle, -angle, 0.4), Vec3::ONE)).unwrap();
            let p = Vec3::new(angle.sin(), 1.0, angle.cos());
            let world = h.world_matrix(id).unwrap();
            assert!(world.translation.length() <= p.length());
            let back = h.world_inverse(id).unwrap().transform_point3(world.transform_point3(p));
            let error = f64::from((back - p).length());
            let unit = f64::from(f32::EPSILON) / f64::from(y) * f64::from(p.length());
            assert!(error <= ROUND_TRIP * unit, "scale {y}: {error:e}");
            (worst, share, allowed) = (worst.max(error), share.max(error / unit), ROUND_TRIP * unit);
        }
        println!("{y:<7}    {worst:<16.2e}    {allowed:.2e}   {share:.2}");
    }
}

/// Every move below itself is refused, whatever is to be kept.
#[test]
fn a_cycle_is_refused() {
    fn ids<E: core::fmt::Debug>(mut add: impl FnMut(Option<NodeId>) -> Result<NodeId, E>) -> [NodeId; 3] {
        let node = add(None).unwrap();
        let child = add(Some(node)).unwrap();
        [node, child, add(Some(child)).unwrap()]
    }
    let mut h = Hierarchy::new();
    let mut c = ComponentHierarchy::new();
    let local = Transform::from_position(Vec3::X);
    let nodes = ids(|parent| h.insert_child_at(parent, 0, local));
    assert_eq!(ids(|parent| c.insert_child_at(parent, 0, local)), nodes);
    let (before, before_c) = (format!("{h:?}"), format!("{c:?}"));
    for (below, word) in nodes.into_iter().zip(["itself", "its child", "its grandchild"]) {
        for keep in [Keep::Local, Keep::World, Keep::WorldTrs] {
            let error = h.reparent(nodes[0], below, keep).unwrap_err();
            println!("under {word}, {keep:?}: {error}");
            assert!(matches!(error, ReparentError::Cycle(e) if (e.node, e.parent) == (nodes[0], below)));
            assert_eq!(c.reparent(nodes[0], below, keep), Err(error));
        }
    }
    assert_eq!((format!("{h:?}"), format!("{c:?}")), (before, before_c));
}

#[test]
fn removing_a_subtree_leaves_its_siblings_alone() {
    let mut h = Hierarchy::new();
    let root = h.add_root(Transform::from_rotation(turn(0.1, 0.2, 0.3))).unwrap();
    let local = |i: usize| Transform::new(Vec3::X * i as f32, turn(0.2, i as f32, 0.0), Vec3::new(1.0, 2.0, 0.5));
    let limbs: Vec<_> = (0..5).map(|i| h.add_child(root, local(i)).unwrap()).collect();
    let tips: Vec<_> = limbs.iter().map(|&limb| h.add_child(limb, local(7)).unwrap()).collect();
    let world = |h: &Hierarchy, i: usize| [limbs[i], tips[i]].map(|id| elements(h, id).map(f32::to_bits));
    let before: Vec<_> = (0..5).map(|i| world(&h, i)).collect();
    let removed = h.remove_subtree(limbs[2]).unwrap();
    println!("removed {removed} of 11 nodes; {} are left", h.len());
    assert_eq!((removed, h.len()), (2, 9));
    assert!(!h.contains(limbs[2]) && !h.contains(tips[2]));
    assert!(h.children(root).unwrap().eq([limbs[0], limbs[1], limbs[3], limbs[4]]));
    for _ in 0..2 {
        for i in [0, 1, 3, 4] {
            assert_eq!(world(&h, i), before[i]);
            assert_eq!(h.parent(tips[i]).unwrap(), Some(limbs[i]));
        }
        h.update();
        h.assert_well_formed();
    }
}

#[test]
fn moving_a_torso_moves_hand_and_fingers() {
    let mut h = Hierarchy::new();
    let torso = h.add_root(Transform::from_position(Vec3::new(0.0, 1.0, 0.0))).unwrap();
    let arm = h.add_child(torso, Transform::new(Vec3::X, turn(0.0, 0.0, 0.5), Vec3::ONE)).unwrap();
    let hand = h.add_child(arm, Transform::new(Vec3::X, turn(0.4, 0.0, 0.0), Vec3::ONE)).unwrap();
    let fingers =
        [-0.1, 0.0, 0.1].map(|z| h.add_child(hand, Transform::from_position(Vec3::new(0.2, 0.0, z))).unwrap());
    let head = h.add_root(Transform::IDENTITY).unwrap();
    h.update();
    let parts = [hand, fingers[0], fingers[1], fingers[2]];
    let before = parts.map(|id| h.world_matrix(id).unwrap());
    let step = Vec3::new(0.25, 0.5, -2.0);
    h.set_position(torso, Vec3::Y + step).unwrap();
    let mut worst = 0.0_f32;
    for (id, before) in parts.into_iter().zip(before) {
        let after = h.world_matrix(id).unwrap();
        assert_eq!(after.matrix3, before.matrix3);
        worst = worst.max((after.translation - before.translation - glam::Vec3A::from(step)).length());
    }
    println!("torso moved by {step}: hand and fingers by the same to within {worst:.1e}");
    // Two positions of about 3, rounded three times each on the way down.
    assert!(worst <= 6.0 * 3.0 * f32::EPSILON);

    // A turn about the torso's own origin turns the arm's reach with it, and changes no length.
    let reach = |h: &Hierarchy, id| h.world_position(id).unwrap() - h.world_position(torso).unwrap();
    let before = parts.map(|id| reach(&h, id));
    let turned = turn(0.0, 1.2, 0.0);
    h.set_rotation(torso, turned).unwrap();
    for (id, before) in parts.into_iter().zip(before) {
        let off = (reach(&h, id) - turned * before).length();
        assert!(off <= 16.0 * 3.0 * f32::EPSILON, "{off:e}");
    }
    assert_eq!(h.world_position(head).unwrap(), Vec3::ZERO);
    let view: Vec<DVec3> = parts.iter().map(|&id| reference(&h, id).translation).collect();
    let worlds = h.update();
    for (id, wanted) in parts.into_iter().zip(view) {
        let row = worlds[id];
        let found = DVec3::new(row[0][3].into(), row[1][3].into(), row[2][3].into());
        assert!((found - wanted).length() <= 16.0 * 3.0 * f64::from(f32::EPSILON));
    }
}
