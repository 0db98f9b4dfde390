//! Laws at their edges, in all eight kinds of hierarchy: the ends of the range, needles, and nodes that do not
//! inherit the position. What is turned is turned about Z, which the plane has too.

#[path = "common/bits.rs"]
mod bits;

use bits::bits_of;
use posetree::glam::{self, DMat3, DQuat, DVec2, DVec3, Quat, Vec2, Vec3};
use posetree::{
    Components, Components2, DComponents, DComponents2, DHierarchy, DMatrices, DMatrices2, DTransform, DTransform2,
    Error, Geometry, HierarchyOf, Inherit, Keep, Matrices, Matrices2, NodeId, Space, Transform, Transform2, WorldError,
};
use proptest::prelude::*;

const NO_POSITION: Inherit = Inherit { position: false, ..Inherit::ALL };

trait Kind: Geometry {
    const EPS: f64;
    /// A number whose square leaves the range at either end.
    const LARGE: f64;
    const MATRICES: bool;
    fn scalar(x: f64) -> Self::Scalar;
    fn turn(angle: f64) -> Self::Rotation;
    fn vector(v: DVec3) -> Self::Vector;
    fn wide(v: Self::Vector) -> DVec3;
    fn trs(p: DVec3, angle: f64, s: DVec3) -> Self::Transform;
}

macro_rules! kind {
    ($($Kind:ident: $matrices:literal, $f:ident, $large:literal, $Transform:ident, $turn:expr, $vector:expr, $wide:expr;)+) => {$(
        impl Kind for $Kind {
            const EPS: f64 = $f::EPSILON as f64;
            const LARGE: f64 = $large;
            const MATRICES: bool = $matrices;

            fn scalar(x: f64) -> Self::Scalar {
                x as $f
            }

            fn turn(angle: f64) -> Self::Rotation {
                $turn(angle)
            }

            fn vector(v: DVec3) -> Self::Vector {
                $vector(v)
            }

            fn wide(v: Self::Vector) -> DVec3 {
                $wide(v)
            }

            fn trs(p: DVec3, angle: f64, s: DVec3) -> Self::Transform {
                $Transform::new(Self::vector(p), Self::turn(angle), Self::vector(s))
            }
        }
    )+};
}
kind! {
    Matrices: true, f32, 1e25, Transform, |a| DQuat::from_rotation_z(a).as_quat(), |v: DVec3| v.as_vec3(), |v: Vec3| v.as_dvec3();
    Components: false, f32, 1e25, Transform, |a| DQuat::from_rotation_z(a).as_quat(), |v: DVec3| v.as_vec3(), |v: Vec3| v.as_dvec3();
    DMatrices: true, f64, 1e200, DTransform, DQuat::from_rotation_z, |v| v, |v| v;
    DComponents: false, f64, 1e200, DTransform, DQuat::from_rotation_z, |v| v, |v| v;
    Matrices2: true, f32, 1e25, Transform2, |a| a as f32, |v: DVec3| v.truncate().as_vec2(), |v: Vec2| v.as_dvec2().extend(0.0);
    Components2: false, f32, 1e25, Transform2, |a| a as f32, |v: DVec3| v.truncate().as_vec2(), |v: Vec2| v.as_dvec2().extend(0.0);
    DMatrices2: true, f64, 1e200, DTransform2, |a| a, |v: DVec3| v.truncate(), |v: DVec2| v.extend(0.0);
    DComponents2: false, f64, 1e200, DTransform2, |a| a, |v: DVec3| v.truncate(), |v: DVec2| v.extend(0.0);
}

macro_rules! each {
    ($($name:ident),+) => {$(
        #[test]
        fn $name() {
            super::$name::<super::Matrices>();
            super::$name::<super::Components>();
            super::$name::<super::DMatrices>();
            super::$name::<super::DComponents>();
            super::$name::<super::Matrices2>();
            super::$name::<super::Components2>();
            super::$name::<super::DMatrices2>();
            super::$name::<super::DComponents2>();
        }
    )+};
}
mod each {
    each!(
        a_scale_that_underflows_is_refused,
        chains_and_families_are_products_to_the_bit,
        rows_between_two_steps_are_those_of_their_nodes,
        squares_that_leave_the_range_do_no_harm,
        directions_are_the_images_of_the_axes,
        products_on_the_way_may_leave_the_range_only_where_worlds_do,
        own_axes_are_those_of_the_world_without_a_parents_position,
        what_overflows_with_nothing_inherited_is_not_finite,
        every_local_door_reaches_what_hangs_under_component_poses
    );
}

fn grow<A: Kind>(locals: &[(DVec3, f64, DVec3)]) -> (HierarchyOf<A>, Vec<NodeId>) {
    let (mut h, mut ids) = (HierarchyOf::<A>::new(), Vec::new());
    for &(p, angle, s) in locals {
        let local = A::trs(p, angle, s);
        ids.push(match ids.last() {
            Some(&parent) => h.add_child(parent, local).unwrap(),
            None => h.add_root(local).unwrap(),
        });
    }
    (h, ids)
}

fn close(got: DVec3, want: DVec3, bound: f64) {
    let off = (got - want).abs().max_element();
    assert!(off <= bound * want.abs().max_element().max(f64::MIN_POSITIVE), "{got} is not {want}");
}

/// `write_interpolated(t)[row] = world_interpolated(id, t)`, of what moved, rests, is new and is gone.
fn rows_between_two_steps_are_those_of_their_nodes<A: Kind>() {
    let at = |n: f64| A::trs(DVec3::new(n, 1.0 - n, -0.0), 0.3 * n, DVec3::new(1.0 + n, -0.5, 2.0));
    let (mut h, mut ids) = (HierarchyOf::<A>::new(), Vec::new());
    h.track_previous(true);
    for n in 0..40 {
        let parent = (n > 2).then(|| ids[n / 3]);
        ids.push(h.extend(parent, &[None], &[at(0.01 * n as f64)]).unwrap()[0]);
    }
    h.update();
    h.set_local(ids[4], at(0.5)).unwrap();
    h.set_local(ids[39], at(-0.25)).unwrap();
    h.remove_subtree(ids[7]).unwrap();
    ids.push(h.add_child(ids[4], at(0.7)).unwrap());
    let worlds = h.update();
    let none = worlds.rows()[0];
    for t in [0.0, 0.25, 1.0, -1.5] {
        let mut out = vec![none; worlds.rows().len()];
        worlds.write_interpolated(A::scalar(t), &mut out).unwrap();
        for (row, out) in out.iter().enumerate() {
            let Some(id) = worlds.id_of_row(row) else {
                assert_eq!(bits_of(out), bits_of(worlds.rows()[row]), "a row of no node");
                continue;
            };
            let alone = worlds.hierarchy().world_interpolated(id, A::scalar(t)).unwrap();
            assert_eq!(bits_of(A::world(out)), bits_of(alone), "row {row} at {t}");
        }
    }
    let mut out = vec![none; worlds.rows().len() + 1];
    let before = bits_of(&out);
    assert!(matches!(worlds.write_interpolated(A::scalar(0.5), &mut out), Err(WorldError::LengthMismatch(_))));
    assert!(matches!(worlds.write_interpolated(A::scalar(f64::NAN), &mut out), Err(WorldError::NonFinite(_))));
    assert_eq!(bits_of(&out), before);
    h.track_previous(false);
    assert!(matches!(h.update().write_interpolated(A::scalar(0.5), &mut out), Err(WorldError::NotTracked(_))));
}

/// The loops that hold the world above in registers, in whatever vectors there are, against the product of one
/// row: which is what the checker of all invariants compares with.
fn chains_and_families_are_products_to_the_bit<A: Kind>() {
    let mut parents = vec![None];
    for (len, is_chain) in [(200, true), (150, false), (64, true), (1, false), (130, true), (300, false)] {
        let mut above = parents.len() - 1;
        for _ in 0..len {
            parents.push(Some(above));
            above = if is_chain { parents.len() - 1 } else { above };
        }
    }
    let local = |at: usize| {
        let number = |by: f64| (at as f64 * by).sin();
        let scale = DVec3::new(1.0 + 0.1 * number(3.7), 1.0 - 0.1 * number(1.9), -0.9);
        A::trs(DVec3::new(number(1.3), number(2.1), -0.0), 3.0 * number(0.7), scale)
    };
    let locals: Vec<_> = (0..parents.len()).map(local).collect();
    let mut h = HierarchyOf::<A>::new();
    let ids = h.extend(None, &parents, &locals).unwrap();
    h.update();
    h.assert_well_formed();
    for (dirty, every) in [(0, 1_000), (70, 3), (1, 2), (130, 64)] {
        for at in (dirty..ids.len()).step_by(every) {
            h.set_local(ids[at], local(at + every)).unwrap();
        }
        let lazily: Vec<_> = ids.iter().map(|&id| h.world(id).unwrap()).collect();
        h.update();
        h.assert_well_formed();
        let at_once: Vec<_> = ids.iter().map(|&id| h.world(id).unwrap()).collect();
        assert_eq!(bits_of(&lazily), bits_of(&at_once), "after {dirty} and every {every}");
    }
}

/// Updates keep what component poses are accumulated from: whoever changes a node far above, by whichever door, it is
/// read lazily, which looks at the nodes themselves, and after an update with the same bits.
fn every_local_door_reaches_what_hangs_under_component_poses<A: Kind>() {
    let locals = (0..8).map(|n| (DVec3::new(n as f64, 1.0, 0.0), 0.3 * n as f64, DVec3::new(1.25, 0.75, 1.0)));
    let (mut h, ids) = grow::<A>(&locals.collect::<Vec<_>>());
    h.set_inherit(ids[3], NO_POSITION, Keep::Local).unwrap();
    h.set_inherit(ids[6], Inherit { scale: false, ..Inherit::ALL }, Keep::Local).unwrap();
    let (top, v, turn) = (ids[1], |x: f64| A::vector(DVec3::new(x, 0.5, 1.0)), A::turn(-0.7));
    type Door<'a, A> = &'a dyn Fn(&mut HierarchyOf<A>);
    let doors: [Door<'_, A>; 13] = [
        &|h| h.set_local(top, A::trs(DVec3::NEG_X, 0.2, DVec3::splat(1.5))).unwrap(),
        &|h| h.set_locals(&[(ids[0], A::trs(DVec3::Y, 0.1, DVec3::ONE)), (ids[5], h.local(top).unwrap())]).unwrap(),
        &|h| h.set_position(top, v(3.0)).unwrap(),
        &|h| h.set_rotation(top, turn).unwrap(),
        &|h| h.set_scale(top, v(2.0)).unwrap(),
        &|h| h.set_local_matrix(top, h.local_matrix(ids[2]).unwrap()).unwrap(),
        &|h| h.translate(top, v(0.25), Space::World).unwrap(),
        &|h| h.rotate(top, turn, Space::Local).unwrap(),
        &|h| h.set_position_in(top, v(-4.0), Space::World).unwrap(),
        &|h| h.set_world_position(top, v(5.0)).unwrap(),
        &|h| h.set_world_rotation(top, turn).unwrap(),
        &|h| h.set_world_scale(ids[0], v(0.5)).unwrap(),
        &|h| h.drop_shear(top).map(|_| ()).unwrap(),
    ];
    for (at, door) in doors.iter().enumerate() {
        for _ in 0..8 {
            // So often that what is worth keeping is kept.
            h.set_local(ids[0], h.local(ids[0]).unwrap()).unwrap();
            h.update();
        }
        door(&mut h);
        let lazy: Vec<_> = ids.iter().map(|&id| h.world(id).unwrap()).collect();
        h.update();
        h.assert_well_formed();
        let updated: Vec<_> = ids.iter().map(|&id| h.world(id).unwrap()).collect();
        assert_eq!(bits_of(&lazy), bits_of(&updated), "door {at}");
    }
}

fn a_scale_that_underflows_is_refused<A: Kind>() {
    let (mut h, ids) = grow::<A>(&[(DVec3::ZERO, 0.3, DVec3::splat(A::LARGE)), (DVec3::ONE, 0.5, DVec3::ONE)]);
    let (parent, id) = (ids[0], ids[1]);
    let before = (h.world(id), h.scale(id));
    let refused = h.set_world_scale(id, A::vector(DVec3::splat(1.0 / A::LARGE))).map_err(Error::from);
    assert!(matches!(refused, Err(Error::SingularParent(refusal)) if refusal.parent == parent));
    assert_eq!((h.world(id), h.scale(id)), before);
    // Zero is what it says, and what can be held is held.
    for scale in [0.0, 1.0] {
        h.set_world_scale(id, A::vector(DVec3::splat(scale))).unwrap();
        close(A::wide(h.world_scale(id).unwrap()), A::wide(A::vector(DVec3::splat(scale))), 16.0 * A::EPS);
    }
}

fn squares_that_leave_the_range_do_no_harm<A: Kind>() {
    for size in [A::LARGE, 1.0 / A::LARGE] {
        let mirrored = DVec3::new(-size, size, size);
        let (mut h, ids) = grow::<A>(&[(DVec3::ONE, 0.3, mirrored), (DVec3::ONE, 0.5, DVec3::ONE)]);
        let id = ids[1];
        assert_eq!(h.is_mirrored(id), Ok(true), "{size:e}");
        let length = A::wide(h.local_to_world_normal(id, A::vector(DVec3::X)).unwrap()).length();
        assert!((length - 1.0).abs() <= 4.0 * A::EPS);
        // A rotation times one factor: own scale keeps its bits, and a mirror turns the other way.
        let right = A::wide(h.world_right(id).unwrap());
        h.rotate(id, A::turn(0.7), Space::World).unwrap();
        assert!(h.is_trs(id).unwrap());
        assert_eq!(bits_of(h.scale(id).unwrap()), bits_of(A::vector(DVec3::ONE)));
        if A::MATRICES {
            close(A::wide(h.world_right(id).unwrap()), DQuat::from_rotation_z(0.7) * right, 32.0 * A::EPS);
        }
        h.set_world_scale(id, A::vector(DVec3::ONE)).unwrap();
        close(A::wide(h.world_scale(id).unwrap()).abs(), A::wide(A::vector(DVec3::ONE)), 16.0 * A::EPS);
    }
}

/// A child that is mirrored on any of its axes, below a turned node.
///
/// With u = ε/2: of a turn about Z two numbers are rounded, which turns a column by 2 u and stretches it by as much,
/// and elements of its matrix round by 4 u more: 8 u a level. The product adds 5 u, of quaternions 6 u, and the wanted
/// direction, in double precision, is rounded as a level is: less than 32 u.
fn directions_are_the_images_of_the_axes<A: Kind>() {
    let is_plane = A::wide(A::vector(DVec3::Z)) == DVec3::ZERO;
    for signs in 0..8_u8 {
        let sign = |axis: u8| if signs >> axis & 1 == 1 { -1.0 } else { 1.0 };
        let [x, y, z] = [0, 1, 2].map(sign);
        let (h, ids) =
            grow::<A>(&[(DVec3::ONE, 0.3, DVec3::splat(1.5)), (DVec3::X, 0.5, DVec3::new(2.0 * x, 3.0 * y, 0.5 * z))]);
        let turn = DQuat::from_rotation_z(0.8);
        let (right, up, back) =
            (turn * DVec3::X * x, turn * DVec3::Y * y, if is_plane { turn * DVec3::NEG_X * x } else { DVec3::Z * z });
        for (name, got, want) in [
            ("right", h.world_right(ids[1]), right),
            ("left", h.world_left(ids[1]), -right),
            ("up", h.world_up(ids[1]), up),
            ("down", h.world_down(ids[1]), -up),
            ("back", h.world_back(ids[1]), back),
            ("forward", h.world_forward(ids[1]), -back),
        ] {
            let off = (A::wide(got.unwrap()) - want).abs().max_element();
            assert!(off <= 16.0 * A::EPS, "{name} is off by {off:e} where signs are {x}, {y}, {z}");
        }
    }
}

fn products_on_the_way_may_leave_the_range_only_where_worlds_do<A: Kind>() {
    for (size, next) in [(A::LARGE, 1.0 / A::LARGE), (1.0 / A::LARGE, A::LARGE)] {
        let [first, second] = [size, next].map(|s| (DVec3::ZERO, 0.0, DVec3::splat(s)));
        let (mut h, ids) = grow::<A>(&[first, second, second, (DVec3::ZERO, 0.25, DVec3::ONE)]);
        let id = ids[3];
        let before = A::wide(h.world_scale(id).unwrap());
        close(before, A::wide(A::vector(DVec3::splat(next))), 16.0 * A::EPS);
        h.detach(id, Keep::World).unwrap();
        close(A::wide(h.world_scale(id).unwrap()), before, 16.0 * A::EPS);
        assert!(h.is_trs(id).unwrap());
    }
}

fn own_axes_are_those_of_the_world_without_a_parents_position<A: Kind>() {
    let scale = DVec3::splat(2.0);
    let own = (DVec3::new(1.0, 2.0, 0.0), 0.4, DVec3::new(1.5, 0.5, 1.0));
    let (mut h, ids) = grow::<A>(&[(DVec3::new(5.0, -3.0, 0.0), 1.1, scale), own]);
    let id = ids[1];
    h.set_inherit(id, NO_POSITION, Keep::Local).unwrap();
    let v = A::vector(DVec3::new(0.75, -2.0, 0.0));

    // Along the own axes, in units of what it inherits.
    let mut moved = h.clone();
    moved.translate(id, A::vector(DVec3::X), Space::Local).unwrap();
    let want = A::wide(h.world_position(id).unwrap()) + 2.0 * A::wide(h.world_right(id).unwrap());
    close(A::wide(moved.world_position(id).unwrap()), want, 8.0 * A::EPS);

    // To the point that has these coordinates.
    let mut placed = h.clone();
    let want = A::wide(h.local_to_world_point(id, v).unwrap());
    placed.set_position_in(id, v, Space::Local).unwrap();
    close(A::wide(placed.world_position(id).unwrap()), want, 8.0 * A::EPS);

    // About a hinge, which stays; the axis is the parent's Z, and so the world's.
    let mut turned = h.clone();
    turned.rotate_around(id, v, A::turn(0.9), Space::Local).unwrap();
    close(A::wide(turned.local_to_world_point(id, v).unwrap()), want, 32.0 * A::EPS);
    assert_ne!(turned.world_position(id), h.world_position(id));
    let mut turned = h.clone();
    turned.rotate(id, A::turn(0.9), Space::Local).unwrap();
    assert_eq!(turned.position(id), h.position(id));

    // The parent is where its position is given, which is the world.
    let mut moved = h.clone();
    moved.translate(id, v, Space::Parent).unwrap();
    let want = A::wide(h.world_position(id).unwrap()) + A::wide(v);
    close(A::wide(moved.world_position(id).unwrap()), want, 8.0 * A::EPS);
}

fn what_overflows_with_nothing_inherited_is_not_finite<A: Kind>() {
    let large = (DVec3::ZERO, 0.0, DVec3::splat(A::LARGE));
    let (mut h, ids) = grow::<A>(&[large, large]);
    if A::MATRICES && A::EPS == f64::EPSILON {
        return; // The wanted world itself is infinite.
    }
    let refused = h.set_inherit(ids[1], Inherit::NONE, Keep::World).map_err(Error::from);
    assert!(matches!(refused, Err(Error::NonFinite(_))), "{refused:?}");
    assert_eq!(h.inherit(ids[1]), Ok(Inherit::ALL));
}

/// A chain of needles, each as thin as the exponents say.
fn needles() -> impl Strategy<Value = Vec<(f64, [f64; 3], [f64; 3])>> {
    prop::collection::vec(
        (-3.0..3.0f64, [-1.0..1.0f64, -1.0..1.0, -1.0..1.0], [-3.0..3.0f64, -1.5..1.5, -3.0..3.0]),
        2..4,
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// What world setters accept reads back, to within what makes a parent singular (2⁻¹⁰) for the answer and as
    /// much again for the rounding of reading: sides thinner than that are refused, also where rounding
    /// of the ones before decides.
    #[test]
    fn what_is_accepted_below_needles_reads_back(chain in needles(), own in [-3.0..3.0f64, -1.5..1.5, -3.0..3.0], v in [-3.0..3.0f64, -1.5..1.5, -3.0..3.0]) {
        let turn = |[x, y, z]: [f64; 3]| DQuat::from_euler(glam::EulerRot::XYZ, x, y, z);
        let (wanted, scale) = (turn(v), DVec3::from_array(v).abs() + 0.1);
        macro_rules! reads_back {
            ($Matrices:ident, $Transform:ident, $thin:literal, $turn:expr, $vector:expr, $wide:expr, $apart:expr) => {{
                let (mut h, mut parent) = (HierarchyOf::<$Matrices>::new(), None);
                for (size, exponents, angles) in &chain {
                    let scale = exponents.map(|exponent| 10f64.powf($thin * exponent + 0.1 * size));
                    let local = $Transform::from_rotation($turn(turn(*angles))).with_scale($vector(DVec3::from_array(scale)));
                    parent = Some(match parent {
                        Some(parent) => h.add_child(parent, local).unwrap(),
                        None => h.add_root(local).unwrap(),
                    });
                }
                let id = h.add_child(parent.unwrap(), $Transform::from_rotation($turn(turn(own)))).unwrap();
                let mut scaled = h.clone();
                if scaled.set_world_scale(id, $vector(scale)).is_ok() {
                    let (got, want) = ($wide(scaled.world_scale(id).unwrap()).abs(), $wide($vector(scale)));
                    prop_assert!((got - want).abs().cmple(2.0 / 1024.0 * want).all(), "{} is not {}", got, want);
                }
                if h.set_world_rotation(id, $turn(wanted)).is_ok() {
                    let off = $apart(h.world_rotation(id).unwrap(), $turn(wanted));
                    prop_assert!(off <= 4.0 / 1024.0, "off by {}", off);
                }
            }};
        }
        let apart = |a: DMat3, b: DMat3| (a - b).to_cols_array().into_iter().fold(0.0f64, |worst, off| worst.max(off.abs()));
        let single = |a: Quat, b: Quat| apart(DMat3::from_quat(a.as_dquat()), DMat3::from_quat(b.as_dquat()));
        let double = |a, b| apart(DMat3::from_quat(a), DMat3::from_quat(b));
        let plane = |a: f64, b: f64| (DVec2::from_angle(a) - DVec2::from_angle(b)).length();
        let angle = |q: DQuat| q.to_euler(glam::EulerRot::ZYX).0;
        reads_back!(Matrices, Transform, 2.0, |q: DQuat| q.as_quat(), |v: DVec3| v.as_vec3(), |v: Vec3| v.as_dvec3(), single);
        reads_back!(DMatrices, DTransform, 5.0, |q: DQuat| q, |v: DVec3| v, |v: DVec3| v, double);
        reads_back!(Matrices2, Transform2, 2.0, |q| angle(q) as f32, |v: DVec3| v.truncate().as_vec2(), |v: Vec2| v.as_dvec2(), |a: f32, b: f32| plane(a.into(), b.into()));
        reads_back!(DMatrices2, DTransform2, 5.0, angle, |v: DVec3| v.truncate(), |v: DVec2| v, plane);
    }
}

/// Both thin sides are far above rounding, and the determinant is far below it.
#[test]
fn two_thin_sides_have_a_handedness() {
    let thin = 0.5f64.powi(41);
    for step in 0..200 {
        for hand in [1.0, -1.0] {
            let [x, y, z] = [0.37, 0.71, 0.13].map(|turn| turn * f64::from(step));
            let turn = DMat3::from_quat(DQuat::from_euler(glam::EulerRot::XYZ, x, y, z));
            let upper =
                DMat3::from_cols(DVec3::X, DVec3::new(1.0, thin, 0.0), DVec3::new(1.0, 0.3 * thin, hand * thin));
            let mut h = DHierarchy::new();
            let id = h.add_root(DTransform::IDENTITY).unwrap();
            h.set_local_matrix(id, glam::DAffine3::from_mat3(turn * upper)).unwrap();
            assert_eq!(h.is_mirrored(id).unwrap(), hand < 0.0);
        }
    }
}

/// Of a scale that has a reciprocal, at both ends of the range.
#[test]
fn normals_of_every_invertible_transform() {
    macro_rules! normals {
        ($($Transform:ident, $Vector:ident, $f:ident;)+) => {$(
            for size in [1.0 / $f::MAX, $f::MIN_POSITIVE, 1.0, $f::MAX / 2.0] {
                let scale = posetree::$Transform::from_scale(glam::$Vector::splat(size * 1.01));
                let diagonal = glam::$Vector::splat(1.95);
                for normal in [scale.transform_normal(diagonal), scale.inverse_transform_normal(diagonal)] {
                    let off = normal.unwrap() - diagonal.normalize();
                    assert!(off.abs().max_element() <= 8.0 * $f::EPSILON, "{size:e}: off by {off}");
                }
            }
        )+};
    }
    normals! {
        Transform, Vec3, f32;
        DTransform, DVec3, f64;
        Transform2, Vec2, f32;
        DTransform2, DVec2, f64;
    }
}
