//! Hierarchies in double precision: their laws against products that carry twice the digits, large worlds, the
//! ends of the range, and the same doors as in single precision.
//!
//! ε is float64's spacing at one, u = ε/2 one rounding. A chain of `n` levels is a product whose elements are four
//! terms, so that each level rounds by `4 u` of the product of the sizes: `2 n ε |L_1|…|L_n|`.

#[path = "common/bits.rs"]
mod bits;
#[path = "double/extended.rs"]
mod extended;

use bits::bits_of;
use extended::Extended;
use posetree::glam::{Affine3A, DAffine3, DMat3, DQuat, DVec3, EulerRot, Mat3, Quat, Vec3};
use posetree::{
    ComponentHierarchy, DComponentHierarchy, DHierarchy, DTransform, Hierarchy, Keep, NodeId, ReparentError, Space,
    Transform, WorldError,
};
use proptest::prelude::*;

const EPS: f64 = f64::EPSILON;

/// What the law of a solution allows apart from the chains, in ε: see `Precision::LAW` in the crate.
const LAW: f64 = 8.0;

fn vector(size: f64) -> impl Strategy<Value = DVec3> {
    prop::array::uniform3(-size..size).prop_map(DVec3::from_array)
}

fn rotation() -> impl Strategy<Value = DQuat> {
    (-3.0..3.0, -1.5..1.5, -3.0..3.0).prop_map(|(x, y, z)| DQuat::from_euler(EulerRot::XYZ, x, y, z))
}

/// Uneven, half of them mirrored.
fn scale() -> impl Strategy<Value = DVec3> {
    (prop::array::uniform3(0.3..3.0), any::<bool>(), any::<bool>()).prop_map(|(s, is_uniform, is_mirrored)| {
        let s = if is_uniform { DVec3::splat(s[0]) } else { DVec3::from_array(s) };
        if is_mirrored { s * DVec3::new(-1.0, 1.0, 1.0) } else { s }
    })
}

fn transform() -> impl Strategy<Value = DTransform> {
    let position = prop_oneof![3 => vector(3.0), 1 => vector(1e9)];
    (position, rotation(), scale()).prop_map(|(p, r, s)| DTransform::new(p, r, s))
}

fn chain() -> impl Strategy<Value = Vec<DTransform>> {
    prop::collection::vec(transform(), 1..5)
}

fn grow(h: &mut DHierarchy, locals: &[DTransform]) -> NodeId {
    let root = h.add_root(locals[0]).unwrap();
    locals[1..].iter().fold(root, |parent, &local| h.add_child(parent, local).unwrap())
}

/// The local matrices from the root down to a node.
fn locals(h: &DHierarchy, id: NodeId) -> Vec<DAffine3> {
    let mut ids: Vec<NodeId> = h.ancestors(id).unwrap().collect();
    ids.reverse();
    ids.push(id);
    ids.iter().map(|&id| h.local_matrix(id).unwrap()).collect()
}

fn absolute(m: &DAffine3) -> DAffine3 {
    DAffine3 { matrix3: m.matrix3.abs(), translation: m.translation.abs() }
}

/// The product of the sizes of a chain.
fn sizes(chain: &[DAffine3]) -> DAffine3 {
    chain.iter().fold(DAffine3::IDENTITY, |size, local| size * absolute(local))
}

/// `|a - b| <= bound`, element by element, in units of ε.
fn near(a: &Extended, b: &Extended, bound: &[(f64, DAffine3)]) -> Result<(), TestCaseError> {
    let off = a.minus(b).to_cols_array();
    for (i, off) in off.into_iter().enumerate() {
        let allowed: f64 = bound.iter().map(|(factor, size)| factor * EPS * size.to_cols_array()[i]).sum();
        prop_assert!(off.abs() <= allowed, "element {i} is off by {off:e}, allowed {allowed:e}");
    }
    Ok(())
}

/// The distance of two quaternions, q and -q being one rotation: half the angle.
fn apart(a: DQuat, b: DQuat) -> f64 {
    (a - b).length().min((a + b).length())
}

/// By how much the inverse of a linear part can magnify an error.
fn condition(m: DMat3) -> f64 {
    let norm = |m: DMat3| m.to_cols_array().iter().map(|x| x * x).sum::<f64>().sqrt();
    norm(m) * norm(m.inverse())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// A world is the product of the locals, to `2 n ε` of the product of their sizes.
    #[test]
    fn a_world_is_the_product_of_the_locals(chain in chain()) {
        let mut h = DHierarchy::new();
        let id = grow(&mut h, &chain);
        let lazy = h.world(id).unwrap();
        h.update();
        prop_assert_eq!(h.world(id).unwrap(), lazy);
        let locals = locals(&h, id);
        near(&Extended::from(&lazy), &Extended::product(&locals), &[(2.02 * locals.len() as f64, sizes(&locals))])?;
        h.assert_well_formed();
    }

    /// `|P L' - W| <= LAW |P||L'| + 2 n ε (|P||L'| + |Q||L|)`: the law of float32, and the rounding of both chains,
    /// which float64 has no digits to hide.
    #[test]
    fn a_reparented_node_keeps_every_element_of_its_world(old in chain(), new in chain(), local in transform(), up in vector(1.0)) {
        let mut h = DHierarchy::new();
        let (old, new) = (grow(&mut h, &old), grow(&mut h, &new));
        let id = h.add_child(old, local).unwrap();
        let sheared = h.add_child(old, local).unwrap();
        // Far enough from singular.
        let linear = DMat3::from_cols(DVec3::X * 2.0 + up, DVec3::Y * 2.0 - up, DVec3::Z * 2.0);
        h.set_local_matrix(sheared, DAffine3::from_mat3_translation(linear, up)).unwrap();
        for id in [id, sheared] {
            let before = locals(&h, id);
            h.reparent(id, new, Keep::World).unwrap();
            let after = locals(&h, id);
            let n = 2.02 * before.len().max(after.len()) as f64;
            let bound = [(LAW + n, sizes(&after)), (n, sizes(&before))];
            near(&Extended::product(&after), &Extended::product(&before), &bound)?;
            h.assert_well_formed();
        }
    }

    /// Under rotations and uniform scales a node stays position, rotation and scale, and its scale does not drift.
    #[test]
    fn a_rigid_move_keeps_position_rotation_and_scale(turns in prop::collection::vec((rotation(), vector(9.0)), 2..6), local in transform()) {
        let mut h = DHierarchy::new();
        let mut hands = Vec::new();
        for (r, p) in turns {
            let hand = DTransform::new(p, r, DVec3::splat(1.5));
            hands.push(match hands.last() {
                Some(&parent) => h.add_child(parent, hand).unwrap(),
                None => h.add_root(hand).unwrap(),
            });
        }
        let id = h.add_root(local).unwrap();
        let count = hands.len();
        for i in 0..20 {
            h.reparent(id, hands[i * 7 % count], Keep::WorldTrs).unwrap();
        }
        h.reparent(id, None, Keep::WorldTrs).unwrap();
        // Each of the moves rounds by the chains and the law.
        let allowed = 21.0 * (LAW + 4.0 * 5.0) * EPS;
        let off = (h.scale(id).unwrap() - local.scale).abs();
        prop_assert!(off.cmple(allowed * local.scale.abs()).all(), "{off} of {}", local.scale);
        prop_assert!(apart(h.rotation(id).unwrap(), local.rotation) <= allowed);
    }

    /// What is written is read: chains up to `2·5 ε` on the way in and out, solving, and a parent's condition.
    #[test]
    fn world_setters_are_read_back(parents in chain(), local in transform(), pose in transform(), v in vector(3.0), up in vector(1.0)) {
        let mut h = DHierarchy::new();
        let parent = grow(&mut h, &parents);
        let id = h.add_child(parent, local).unwrap();
        let world = h.world(parent).unwrap();
        let small = 64.0 * EPS * condition(world.matrix3);
        let far = world.translation.length() + pose.position.length() + 10.0;

        h.set_world_position(id, pose.position).unwrap();
        prop_assert!(h.world_position(id).unwrap().abs_diff_eq(pose.position, small * far));
        h.set_world_rotation(id, pose.rotation).unwrap();
        prop_assert!(apart(h.world_rotation(id).unwrap(), pose.rotation) <= small);
        prop_assert_eq!(h.scale(id).unwrap(), local.scale);
        h.set_world_scale(id, v).unwrap();
        let off = (h.world_scale(id).unwrap().abs() - v.abs()).abs();
        prop_assert!(off.cmple(small * v.abs()).all(), "{off} of {v}");
        h.set_world_transform(id, pose).unwrap();
        let off = h.world(id).unwrap().matrix3 - pose.to_affine().matrix3;
        prop_assert!(off.to_cols_array().iter().all(|off| off.abs() <= 9.0 * small), "{off} {small:e}");

        let point = h.local_to_world_point(id, v).unwrap();
        prop_assert!(h.world_to_local_point(id, point).unwrap().abs_diff_eq(v, 16.0 * small * far));
        let inverse = h.world_inverse(id).unwrap();
        prop_assert!((inverse.matrix3 * h.world(id).unwrap().matrix3).abs_diff_eq(DMat3::IDENTITY, 64.0 * small));

        h.translate(id, v, Space::World).unwrap();
        prop_assert!(h.world_position(id).unwrap().abs_diff_eq(pose.position + v, 2.0 * small * far));
        let before = h.world(id).unwrap().matrix3;
        h.rotate(id, pose.rotation, Space::World).unwrap();
        let turned = h.world(id).unwrap().matrix3 - DMat3::from_quat(pose.rotation) * before;
        prop_assert!(turned.to_cols_array().iter().all(|off| off.abs() <= 9.0 * small), "{turned} {small:e}");

        let (eye, target) = (h.world_position(id).unwrap(), pose.position + 5.0 * v + DVec3::splat(20.0));
        let ray = (target - eye).normalize();
        prop_assume!(ray.cross(up).length() > 0.1);
        h.look_at(id, target, up).unwrap();
        // The ray starts at a rounded eye.
        prop_assert!(h.world_forward(id).unwrap().abs_diff_eq(ray, small * (1.0 + far / (target - eye).length())));
        h.assert_well_formed();
    }

    /// Components: what is kept is kept part by part.
    #[test]
    fn components_keep_every_part(old in chain(), new in chain(), local in transform()) {
        let mut h = DComponentHierarchy::new();
        let mut grow = |locals: &[DTransform]| {
            let root = h.add_root(locals[0]).unwrap();
            locals[1..].iter().fold(root, |parent, &local| h.add_child(parent, local).unwrap())
        };
        let (old, new) = (grow(&old), grow(&new));
        let id = h.add_child(old, local).unwrap();
        let (before, parent) = (h.world(id).unwrap(), h.world(new).unwrap());
        h.reparent(id, new, Keep::World).unwrap();
        let after = h.world(id).unwrap();
        // A level turns and scales an offset with some 16 u, and five of them twice; scales multiply up to 81.
        let far = before.position.length() + parent.position.length() + 1e9 * 81.0;
        prop_assert!(after.position.abs_diff_eq(before.position, 80.0 * EPS * far));
        prop_assert!(apart(after.rotation, before.rotation) <= 80.0 * EPS);
        prop_assert!((after.scale - before.scale).abs().cmple(10.0 * EPS * before.scale.abs()).all());
        h.assert_well_formed();
    }

    /// Every door gives what it gives in single precision, to that precision, and refuses what it refuses.
    #[test]
    fn the_doors_agree_with_single_precision(
        parents in prop::collection::vec((vector(3.0), rotation(), scale()), 1..4), local in (vector(3.0), rotation(), scale()),
        v in vector(3.0), up in vector(1.0), q in rotation(), door in 0..16u8, flat in prop::bool::weighted(0.2),
    ) {
        prop_assume!(up.length() > 0.2 && v.length() > 0.2);
        let single = |(p, r, s): &(DVec3, DQuat, DVec3)| Transform::new(p.as_vec3(), r.as_quat(), s.as_vec3());
        let (mut a, mut b) = (Hierarchy::new(), DHierarchy::new());
        let mut ids: Option<(NodeId, NodeId)> = None;
        for (i, local) in parents.iter().chain([&local]).enumerate() {
            let mut local = single(local);
            if flat && i == 0 {
                local.scale.y = 0.0;
            }
            let double = DTransform::from(local).normalized();
            ids = Some(match ids {
                Some((x, y)) => (a.add_child(x, local).unwrap(), b.add_child(y, double).unwrap()),
                None => (a.add_root(local).unwrap(), b.add_root(double).unwrap()),
            });
        }
        let (x, y) = ids.unwrap();
        let parent = b.world(b.parent(y).unwrap().unwrap()).unwrap().matrix3;
        let (v32, up32, q32) = (v.as_vec3(), up.as_vec3(), q.as_quat());
        let (v, up, q) = (v32.as_dvec3(), up32.as_dvec3(), q32.as_dquat().normalize());
        let m32 = Affine3A::from_mat3_translation(Mat3::from_quat(q32) * Mat3::from_diagonal(up32), v32);
        let m = DAffine3::from_cols_array(&m32.to_cols_array().map(f64::from));
        macro_rules! both {
            ($op:ident($($single:expr),*), ($($double:expr),*)) => {
                (a.$op(x, $($single),*).map(drop).map_err(posetree::Error::from), b.$op(y, $($double),*).map(drop).map_err(posetree::Error::from))
            };
        }
        let (left, right) = match door {
            0 => both!(reparent(None, Keep::World), (None, Keep::World)),
            1 => both!(reparent(None, Keep::Local), (None, Keep::Local)),
            2 => both!(set_world_position(v32), (v)),
            3 => both!(set_world_rotation(q32), (q)),
            4 => both!(set_world_scale(up32), (up)),
            5 => both!(set_world(m32), (m)),
            6 => both!(look_at(10.0 * v32, up32), (10.0 * v, up)),
            7 => both!(rotate(q32, Space::World), (q, Space::World)),
            8 => both!(rotate(q32, Space::Local), (q, Space::Local)),
            9 => both!(rotate_around(v32, q32, Space::World), (v, q, Space::World)),
            10 => both!(rotate_around(v32, q32, Space::Local), (v, q, Space::Local)),
            11 => both!(translate(v32, Space::World), (v, Space::World)),
            12 => both!(translate(v32, Space::Local), (v, Space::Local)),
            13 => both!(set_position_in(v32, Space::Local), (v, Space::Local)),
            14 => both!(set_local_matrix(m32), (m)),
            _ => both!(set_scale(v32), (v)),
        };
        prop_assert_eq!(left.map_err(|error| core::mem::discriminant(&error)), right.map_err(|error| core::mem::discriminant(&error)));
        if left.is_ok() {
            let (single, double) = (a.local_matrix(x).unwrap(), b.local_matrix(y).unwrap());
            let single = DAffine3::from_cols_array(&single.to_cols_array().map(f64::from));
            // Through a few products and the inverse of the parent.
            let stretch = if flat { 1.0 } else { condition(parent) };
            let small = 64.0 * f64::from(f32::EPSILON) * stretch;
            let size = double.to_cols_array().into_iter().fold(1.0, |size: f64, x| size.max(x.abs()));
            prop_assert!(single.abs_diff_eq(double, small * size), "door {}: {} {}", door, single, double);
        }
    }
}

#[test]
fn a_billion_units_out_a_millimetre_is_kept() {
    let far = DVec3::new(1e9, -1e9, 1e9);
    let mut h = DHierarchy::new();
    let ship = h.add_root(DTransform::new(far, DQuat::from_rotation_y(0.7), DVec3::ONE)).unwrap();
    let hatch = h.add_child(ship, DTransform::from_position(DVec3::new(0.0, 0.001, 0.0))).unwrap();
    // A number of float64 is 2⁻²³ of a unit wide at 1e9: a ten thousandth of a millimetre.
    assert!((h.world_position(hatch).unwrap() - far).abs_diff_eq(DVec3::new(0.0, 0.001, 0.0), 2e-7));

    h.set_world_position(hatch, far + DVec3::new(0.001, 0.002, 0.003)).unwrap();
    assert!((h.world_position(hatch).unwrap() - far).abs_diff_eq(DVec3::new(0.001, 0.002, 0.003), 4e-7));
    let before = h.world_position(hatch).unwrap();
    for _ in 0..100 {
        h.reparent(hatch, None, Keep::World).unwrap();
        h.reparent(hatch, ship, Keep::World).unwrap();
    }
    assert!(
        h.world_position(hatch).unwrap().abs_diff_eq(before, 1e-3),
        "{}",
        h.world_position(hatch).unwrap() - before
    );

    // In single precision the same hatch is lost in the hull.
    let mut h = Hierarchy::new();
    let ship = h.add_root(Transform::from_position(far.as_vec3())).unwrap();
    let hatch = h.add_child(ship, Transform::from_position(Vec3::new(0.0, 0.001, 0.0))).unwrap();
    assert_eq!(h.world_position(hatch), h.world_position(ship));
}

#[test]
fn the_ends_of_the_range_are_reached() {
    for size in [1e-150, 1e-100, 1e100, 1e150] {
        let mut h = DHierarchy::new();
        let parent = DTransform::new(DVec3::ONE, DQuat::from_rotation_x(0.3), DVec3::splat(size));
        let parent = h.add_root(parent.with_scale(DVec3::new(-size, size, size))).unwrap();
        let id = h.add_child(parent, DTransform::from_rotation(DQuat::from_rotation_y(0.5))).unwrap();
        assert!(h.is_mirrored(id).unwrap(), "{size:e}");
        assert!(h.world_forward(id).unwrap().is_normalized());
        assert!(h.local_to_world_normal(id, DVec3::ONE).unwrap().is_normalized());
        assert!(h.world_inverse(id).unwrap().is_finite());
        // Turned in the world under a conformal parent: no shear, and the scale keeps its bits.
        let before = h.world(id).unwrap().matrix3;
        let turn = DQuat::from_rotation_z(1.0);
        h.rotate(id, turn, Space::World).unwrap();
        assert_eq!(bits_of(h.scale(id).unwrap()), bits_of(DVec3::ONE));
        let turned = (h.world(id).unwrap().matrix3 - DMat3::from_quat(turn) * before) * size.recip();
        assert!(turned.to_cols_array().iter().all(|off| off.abs() < 1e-14), "{size:e} {turned}");
        h.reparent(id, None, Keep::World).unwrap();
        h.reparent(id, parent, Keep::World).unwrap();
        assert!(h.scale(id).unwrap().abs().abs_diff_eq(DVec3::ONE, 1e-14));
    }
    // What overflows is refused, and nothing has changed.
    let mut h = DHierarchy::new();
    let large = h.add_root(DTransform::from_uniform_scale(1e200)).unwrap();
    let id = h.add_root(DTransform::from_uniform_scale(1e-200)).unwrap();
    assert!(h.reparent(id, large, Keep::World).is_err());
    assert_eq!(h.parent(id).unwrap(), None);
}

#[test]
fn flat_parents_are_refused_and_thin_ones_are_not() {
    let mut h = DHierarchy::new();
    let turn = DQuat::from_rotation_z(0.4);
    let flat = h.add_root(DTransform::from_scale(DVec3::new(1.0, 0.0, 1.0)).with_rotation(turn)).unwrap();
    let hidden = h.add_child(flat, DTransform::from_rotation(turn)).unwrap();
    let thin = h.add_root(DTransform::from_scale(DVec3::new(1.0, 1e-12, 1.0)).with_rotation(turn)).unwrap();
    let id = h.add_root(DTransform::from_rotation(DQuat::from_rotation_x(0.2))).unwrap();
    assert!(matches!(h.reparent(id, hidden, Keep::World), Err(ReparentError::SingularParent(_))));
    assert!(matches!(h.world_inverse(hidden), Err(WorldError::SingularParent(_))));
    let before = h.world(id).unwrap();
    h.reparent(id, thin, Keep::World).unwrap();
    assert!(h.world(id).unwrap().abs_diff_eq(before, 1e-14));
    // What rounds under it is no shear, although it is a thousand times what a rotation rounds by.
    let pose = DTransform::new(DVec3::ONE, turn, DVec3::new(2.0, 3.0, 5.0));
    for thickness in [1e-3, 1e-6, 1e-9] {
        h.set_scale(thin, DVec3::new(1.0, thickness, 1.0)).unwrap();
        h.reparent(id, None, Keep::Local).unwrap();
        h.set_local(id, pose).unwrap();
        h.reparent(id, thin, Keep::WorldTrs).unwrap();
        assert!(h.world(id).unwrap().abs_diff_eq(pose.to_affine(), 1e-14), "{thickness:e}");
    }
    h.reparent(id, None, Keep::Local).unwrap();
    // An exactly dependent column, as a matrix of which no scale was typed.
    let linear = DMat3::from_cols(DVec3::new(0.1, 0.2, 0.3), DVec3::new(0.7, 0.5, 0.3), DVec3::new(0.4, 0.8, 1.2));
    let matrix = h.add_root(DTransform::IDENTITY).unwrap();
    h.set_local_matrix(matrix, DAffine3::from_mat3(linear)).unwrap();
    assert!(matches!(h.reparent(id, matrix, Keep::World), Err(ReparentError::SingularParent(_))));
}

#[test]
fn skinning_matrices_are_as_wide_as_the_world() {
    let far = DVec3::splat(1e9);
    let mut h = DHierarchy::new();
    let hip = h.add_root(DTransform::from_position(far)).unwrap();
    let inverse_bind = h.world_inverse(hip).unwrap();
    h.set_position(hip, far + 0.001 * DVec3::Y).unwrap();
    let mut out = [posetree::glam::DMat4::ZERO];
    h.write_joint_matrices(&[hip], &[inverse_bind], &mut out).unwrap();
    assert!(out[0].w_axis.truncate().abs_diff_eq(0.001 * DVec3::Y, 2e-7));
}

/// What a single hierarchy and its twin take the same: the types differ and nothing else.
#[test]
fn components_have_a_twin_too() {
    let (mut a, mut b) = (ComponentHierarchy::new(), DComponentHierarchy::new());
    let wide = Transform::new(Vec3::ONE, Quat::from_rotation_y(0.25), Vec3::new(2.0, 1.0, 1.0));
    let (x, y) = (a.add_root(wide).unwrap(), b.add_root(wide.as_dtransform().normalized()).unwrap());
    let (x, y) = (a.add_child(x, wide).unwrap(), b.add_child(y, wide.as_dtransform().normalized()).unwrap());
    let (single, double) = (a.world(x).unwrap(), b.world(y).unwrap());
    assert!(single.position.as_dvec3().abs_diff_eq(double.position, 1e-6));
    assert_eq!(single.scale.as_dvec3(), double.scale);
    assert!(apart(single.rotation.as_dquat(), double.rotation) < 1e-6);
}
