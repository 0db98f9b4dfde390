//! Previous poses, and poses between two updates.

#[path = "common/bits.rs"]
mod bits;

use bits::bits_of;
use glam::{Affine3A, DQuat, DVec3, Quat, Vec3};
use posetree::{ComponentHierarchy, Hierarchy, NodeId, NonFinite, NotTracked, StaleNode, Transform, WorldError, glam};
use proptest::prelude::*;

/// Scales within a factor of eight, mirrored or not, and turns of less than half a circle: halfway round
/// there is no shorter way.
fn transform() -> impl Strategy<Value = Transform> {
    let vector = |r: core::ops::Range<f32>| [r.clone(), r.clone(), r].prop_map(Vec3::from_array);
    let sign = || prop_oneof![Just(1.0_f32), Just(-1.0)];
    let place = || prop_oneof![8 => -10.0..10.0_f32, 1 => Just(0.0), 1 => Just(-0.0)];
    (
        [place(), place(), place()].prop_map(Vec3::from_array),
        vector(-1.0..1.0),
        0.0..1.5_f32,
        vector(0.5..4.0),
        [sign(), sign(), sign()],
    )
        .prop_map(|(position, axis, angle, scale, signs)| {
            let rotation = Quat::from_axis_angle(axis.try_normalize().unwrap_or(Vec3::X), angle);
            Transform::new(position, rotation, scale * Vec3::from_array(signs))
        })
}

/// A child under a root, each moved from its first local value to its second.
fn moved(from: [Transform; 2], to: [Transform; 2]) -> (Hierarchy, [NodeId; 2]) {
    let mut h = Hierarchy::new();
    h.track_previous(true);
    let root = h.add_root(from[0]).unwrap();
    let child = h.add_child(root, from[1]).unwrap();
    h.update();
    h.set_local(root, to[0]).unwrap();
    h.set_local(child, to[1]).unwrap();
    h.update();
    (h, [root, child])
}

/// A zero that changes its sign and nothing else.
#[test]
fn both_ends_keep_the_signs_of_zeros() {
    let from = Transform::from_position(Vec3::new(0.0, 1.0, 2.0));
    let to = Transform::from_position(Vec3::new(-0.0, 1.0, 2.0));
    let (h, [root, _]) = moved([from, Transform::IDENTITY], [to, Transform::IDENTITY]);
    let x = |t| h.world_interpolated(root, t).unwrap().translation.x.to_bits();
    assert_eq!([x(0.0), x(0.5), x(1.0)], [0.0_f32, -0.0, -0.0].map(f32::to_bits));
}

/// With the scale's signs alike, because the sign of a world is read with those of the node's scale now.
fn alike(a: Transform, b: Transform) -> Transform {
    b.with_scale(b.scale.abs() * a.scale.signum())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_ends_and_what_rests_keep_their_bits(a in [transform(), transform()], b in [transform(), transform()], t in -1.0..2.0_f32) {
        let (mut h, ids) = moved(a, b);
        for id in ids {
            prop_assert_eq!(bits_of(h.world_interpolated(id, 0.0)), bits_of(h.world_previous(id)));
            prop_assert_eq!(bits_of(h.world_interpolated(id, 1.0).unwrap()), bits_of(h.world(id).unwrap()));
        }
        h.update();
        for id in ids {
            prop_assert_eq!(bits_of(h.world_previous(id).unwrap()), bits_of(h.world(id).unwrap()));
            prop_assert_eq!(bits_of(h.world_interpolated(id, t).unwrap()), bits_of(h.world(id).unwrap()));
        }
    }

    /// `interpolated(t) = lerp(previous, world, t)` of positions, rotations and scales.
    ///
    /// Of a column, in units of the largest scale and of `u = ε / 2`: an end is a matrix of three
    /// rounded products and sums an element, √3 * 3u as a vector; taken apart, 4u; its parts go
    /// between, 2u for the scale and 4u for the rounded quaternion; and become a matrix again, √3 * 3u:
    /// less than 10 ε. Both ends count with their weights, which between them add up to one.
    #[test]
    fn a_root_goes_from_one_transform_to_another(a in transform(), b in transform(), t in 0.0..1.0_f32) {
        let b = alike(a, b);
        let (h, [root, _]) = moved([a, Transform::IDENTITY], [b, Transform::IDENTITY]);
        let got = h.world_interpolated(root, t).unwrap();
        let wide = |q: Quat| DQuat::from_xyzw(q.x.into(), q.y.into(), q.z.into(), q.w.into()).normalize();
        let rotation = wide(a.rotation).slerp(wide(b.rotation), t.into());
        let scale = a.scale.as_dvec3().lerp(b.scale.as_dvec3(), t.into());
        let size = f64::from(a.scale.abs().max_element().max(b.scale.abs().max_element()));
        for (axis, column) in [(DVec3::X, got.matrix3.x_axis), (DVec3::Y, got.matrix3.y_axis), (DVec3::Z, got.matrix3.z_axis)] {
            let off = (Vec3::from(column).as_dvec3() - rotation * (scale * axis)).length();
            prop_assert!(off <= 10.0 * f64::from(f32::EPSILON) * size, "off by {off:e} at size {size}");
        }
        let position = a.position.as_dvec3().lerp(b.position.as_dvec3(), t.into());
        // Two products and a sum.
        let size = a.position.abs().max(b.position.abs()).max_element();
        prop_assert!((Vec3::from(got.translation).as_dvec3() - position).abs().max_element() <= f64::from(2.0 * f32::EPSILON * size));
    }

    /// The linear part is taken apart and put together again: 2 ε of each column, says `decompose`, twice
    /// over, because a shear that goes from itself to itself is rounded too.
    #[test]
    fn a_sheared_world_that_only_moves_keeps_its_shape(a in [transform(), transform()], to in transform(), t in 0.0..1.0_f32) {
        let (h, [_, child]) = moved(a, [a[0].with_position(to.position), a[1]]);
        let (got, world) = (h.world_interpolated(child, t).unwrap(), h.world(child).unwrap());
        for (got, want) in [(got.matrix3.x_axis, world.matrix3.x_axis), (got.matrix3.y_axis, world.matrix3.y_axis), (got.matrix3.z_axis, world.matrix3.z_axis)] {
            prop_assert!((got - want).length() <= 4.0 * f32::EPSILON * want.length());
        }
    }

    #[test]
    fn components_go_as_transforms_do(a in transform(), b in transform(), t in -0.5..1.5_f32) {
        let mut h = ComponentHierarchy::new();
        h.track_previous(true);
        let root = h.add_root(a).unwrap();
        h.update();
        h.set_local(root, b).unwrap();
        h.update();
        let (a, b) = (h.world_previous(root).unwrap(), h.world(root).unwrap());
        prop_assert_eq!(h.world_interpolated(root, t).unwrap(), a.lerp(b, t));
    }

    /// As many roundings as above, and those of the arc: 20 ε.
    #[test]
    fn what_grows_from_nothing_does_not_turn(b in transform(), axes in [any::<bool>(), any::<bool>(), any::<bool>()], t in 0.0..1.0_f32) {
        let zeros = Vec3::from_array(axes.map(|there| if there { 1.0 } else { 0.0 }));
        for grows in [true, false] {
            let flat = b.with_scale(b.scale * zeros);
            let (from, to, t) = if grows { (flat, b, t) } else { (b, flat, 1.0 - t) };
            // Of a zero scale the sign is not known: a flat node is told by its own scale now.
            let b = if grows { b } else { b.with_scale(b.scale.abs()) };
            let (from, to) = (from.with_scale(from.scale.abs() * b.scale.signum()), to.with_scale(to.scale.abs() * b.scale.signum()));
            let (h, [root, _]) = moved([from, Transform::IDENTITY], [to, Transform::IDENTITY]);
            let want = from.with_scale(from.scale.lerp(to.scale, t)).to_affine();
            let got = h.world_interpolated(root, t).unwrap();
            let off = (got.matrix3 - want.matrix3).to_cols_array().into_iter().fold(0.0, |a: f32, b| a.max(b.abs()));
            prop_assert!(off <= 20.0 * f32::EPSILON * b.scale.abs().max_element(), "off by {:e}: {:?}, wanted {:?}", off, got, want);
        }
    }
}

/// `interpolated(t) -> previous` as `t -> 0`, and so for the world and one: a line that turns, however little or far,
/// does not jump as it begins to grow.
#[test]
fn nothing_jumps_where_a_line_begins_to_grow() {
    let axis = Vec3::new(0.6, 0.0, 0.8);
    for off in [1e-6, 1e-5, 1e-4, 4e-4, 1e-3, 1.0] {
        for angle in [off, core::f32::consts::PI - off] {
            let (line, body) =
                (Transform::from_scale(Vec3::X), Transform::from_rotation(Quat::from_axis_angle(axis, angle)));
            for (from, to, t) in [(line, body, 1e-7), (body, line, 1.0 - f32::EPSILON / 2.0)] {
                let (h, [root, _]) = moved([from, Transform::IDENTITY], [to, Transform::IDENTITY]);
                let got = h.world_interpolated(root, t).unwrap();
                // A turn of at most π over a ten millionth of the way, and the roundings of a quaternion and its
                // matrix.
                assert!((Vec3::from(got.matrix3.x_axis) - Vec3::X).length() < 1e-6, "{angle} at {t}: {got}");
            }
        }
    }
}

#[test]
fn a_mirrored_node_stays_mirrored_on_the_way() {
    let from = Transform::from_scale(Vec3::new(1.0, -1.0, 1.0));
    let to = from.with_rotation(Quat::from_rotation_z(3.0));
    let (h, [root, _]) = moved([from, Transform::IDENTITY], [to, Transform::IDENTITY]);
    for t in [0.1, 0.5, 0.9] {
        let world = h.world_interpolated(root, t).unwrap();
        let want = Affine3A::from_scale_rotation_translation(from.scale, Quat::from_rotation_z(3.0 * t), Vec3::ZERO);
        assert!(world.abs_diff_eq(want, 1e-6), "{world:?}, wanted {want:?}");
    }
}

#[test]
fn reads_are_right_between_updates_too() {
    let mut h = Hierarchy::new();
    h.track_previous(true);
    let ball = h.add_root(Transform::from_position(Vec3::X)).unwrap();
    let at = |x: f32| Ok(Affine3A::from_translation(x * Vec3::X));
    // New: no past yet.
    assert_eq!(h.world_previous(ball), at(1.0));
    h.set_position(ball, 2.0 * Vec3::X).unwrap();
    assert_eq!(h.world_previous(ball), at(2.0));
    h.update();
    h.set_position(ball, 3.0 * Vec3::X).unwrap();
    h.update();
    // From the last two updates to what was set since.
    h.set_position(ball, 6.0 * Vec3::X).unwrap();
    assert_eq!(h.world_previous(ball), at(2.0));
    assert_eq!(h.world_interpolated(ball, 0.5), at(4.0));
    h.forget_previous(ball).unwrap();
    assert_eq!(h.world_previous(ball), at(6.0));
    h.update();
    assert_eq!(h.world_previous(ball), at(6.0));
    h.set_position(ball, 7.0 * Vec3::X).unwrap();
    h.update();
    assert_eq!(h.world_previous(ball), at(6.0));
    // Too late for the update, and yet in time for the picture.
    h.forget_previous(ball).unwrap();
    assert_eq!(h.world_previous(ball), at(7.0));
    // To switch on what is on changes nothing; off and on, the past is gone.
    h.set_position(ball, 8.0 * Vec3::X).unwrap();
    h.update();
    h.track_previous(true);
    assert_eq!(h.world_previous(ball), at(7.0));
    h.track_previous(false);
    h.track_previous(true);
    assert_eq!(h.world_previous(ball), at(8.0));
}

#[test]
fn refusals_come_in_order() {
    let mut h = Hierarchy::new();
    let node = h.add_root(Transform::IDENTITY).unwrap();
    let gone = h.add_root(Transform::IDENTITY).unwrap();
    h.remove_subtree(gone).unwrap();
    let stale = StaleNode { node: gone };
    assert_eq!(h.world_interpolated(gone, f32::NAN), Err(stale.into()));
    assert_eq!(h.world_interpolated(node, f32::NAN), Err(WorldError::from(NonFinite)));
    assert_eq!(h.world_interpolated(node, 0.5), Err(WorldError::from(NotTracked)));
    assert_eq!(h.world_previous(gone), Err(stale.into()));
    assert_eq!(h.world_previous(node), Err(WorldError::from(NotTracked)));
    assert_eq!(h.forget_previous(gone), Err(stale));
    assert_eq!(h.forget_previous(node), Ok(()));
}
