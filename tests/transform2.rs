//! `Transform2` and `DTransform2`: their algebra by laws and counterexamples, their conversions, their verbs.
//!
//! ε is the spacing at one of the precision under test, u = ε/2 one rounding.

use posetree::{DTransform2, Transform2, TransformError, glam};
use proptest::prelude::*;

macro_rules! suite {
    ($name:ident, $f:ident, $T:ident, $Vec:ident, $Affine:ident, $Mat:ident, huge $huge:literal) => {
        mod $name {
            use super::*;
            use core::$f::consts::{FRAC_PI_2, FRAC_PI_4, PI, TAU};
            use glam::{$Affine, $Mat, $Vec};

            type Transform = $T;
            type Vector = $Vec;
            const EPS: $f = $f::EPSILON;

            /// What one transform of a point may be off by, in units of the vector's length: one rounding for the
            /// scale, two for a sine good to one last digit, two for products and sum, one for adding the
            /// position, 3 ε; and 4 ε for an angle that is a sum of up to three, 3π, rounded.
            const STEP: $f = 8.0 * EPS;

            /// What a sum of angles of up to 3π may be off by.
            const TURN: $f = 4.0 * EPS;

            fn vectors(size: $f) -> impl Strategy<Value = Vector> {
                prop::array::uniform2(-size..size).prop_map(Vector::from_array)
            }

            fn factor() -> impl Strategy<Value = $f> {
                prop_oneof![0.1..10.0 as $f, -10.0..-0.1 as $f]
            }

            /// Any transform that is not flat.
            fn transforms() -> impl Strategy<Value = Transform> {
                (vectors(100.0), -PI..PI, [factor(), factor()]).prop_map(|(p, r, s)| Transform::new(p, r, s.into()))
            }

            fn uniform() -> impl Strategy<Value = Transform> {
                (vectors(100.0), -PI..PI, factor()).prop_map(|(p, r, s)| Transform::new(p, r, Vector::splat(s)))
            }

            /// Equal but for `steps` roundings of positions of the given size.
            fn close(a: Transform, b: Transform, steps: $f, size: $f) -> bool {
                (a.position - b.position).length() <= steps * STEP * size
                    && (a.rotation - b.rotation).abs() <= steps * TURN
                    && (a.scale - b.scale).abs().cmple(steps * EPS * b.scale.abs()).all()
            }

            /// Unevenly scaled, and turned so that the scale acts on other axes.
            fn squashed() -> Transform {
                Transform::new(Vector::Y, FRAC_PI_4, Vector::new(4.0, 1.0))
            }

            proptest! {
                #[test]
                fn identity_on_both_sides(t in transforms(), turns in -1e6..1e6 as $f) {
                    for t in [t, t.with_rotation(turns)] {
                        prop_assert_eq!(Transform::IDENTITY.combine(t), t);
                        prop_assert_eq!(t.combine(Transform::IDENTITY), t);
                    }
                }

                #[test]
                fn associative_for_uniform_scale(a in uniform(), b in uniform(), c in uniform()) {
                    let size = a.position.length()
                        + a.scale.x.abs() * (b.position.length() + b.scale.x.abs() * c.position.length());
                    // Two combinations on either side.
                    prop_assert!(close(a.combine(b).combine(c), a.combine(b.combine(c)), 4.0, size));
                }

                #[test]
                fn left_inverse_always(t in transforms()) {
                    let inverse = t.local_inverse().unwrap();
                    prop_assert!(close(inverse.combine(t), Transform::IDENTITY, 2.0, inverse.position.length()));
                }

                #[test]
                fn right_inverse_for_uniform_scale(t in uniform()) {
                    let inverse = t.local_inverse().unwrap();
                    prop_assert!(close(t.combine(inverse), Transform::IDENTITY, 2.0, t.position.length()));
                }

                #[test]
                fn relative_to_solves_combine(world in transforms(), parent in transforms()) {
                    let local = world.relative_to(parent).unwrap();
                    let size = world.position.length() + parent.position.length();
                    prop_assert!(close(parent.combine(local), world, 2.0, size));
                }

                #[test]
                fn combine_is_the_matrix_product_for_uniform_parents(a in uniform(), b in transforms()) {
                    let (whole, product) = (a.combine(b).to_affine(), a.to_affine() * b.to_affine());
                    // Both sides evaluate two rotations; columns are at most 100 long, |s_a s_b|.
                    prop_assert!(whole.matrix2.abs_diff_eq(product.matrix2, 4.0 * STEP * 100.0));
                    // √2 times 1000 for the child's position, and 100 for the parent's.
                    prop_assert!(whole.translation.abs_diff_eq(product.translation, 4.0 * STEP * 1600.0));
                }

                #[test]
                fn inverse_twins_undo(t in transforms(), v in vectors(100.0)) {
                    prop_assume!(v.length() > 0.0);
                    let size = v.length() + t.position.length();
                    // Away from the origin, dividing by a scale of 0.1 makes ten times as much of the sum's rounding.
                    let back = t.inverse_transform_point(t.transform_point(v)).unwrap();
                    prop_assert!(back.abs_diff_eq(v, 2.0 * STEP * 10.0 * (10.0 * size)));
                    let back = t.inverse_transform_vector(t.transform_vector(v)).unwrap();
                    prop_assert!(back.abs_diff_eq(v, 2.0 * STEP * 100.0 * size));
                    let back = t.inverse_transform_direction(t.transform_direction(v));
                    prop_assert!(back.abs_diff_eq(v, 2.0 * STEP * size));
                    let n = v.normalize();
                    let back = t.inverse_transform_normal(t.transform_normal(v).unwrap()).unwrap();
                    // Rounded once in between, which the scales stretch by up to 100.
                    prop_assert!(back.abs_diff_eq(n, 100.0 * STEP));
                }

                #[test]
                fn points_and_vectors_are_the_matrix(t in transforms(), v in vectors(100.0)) {
                    let m = t.to_affine();
                    let size = t.position.length() + 10.0 * v.length();
                    prop_assert!(t.transform_point(v).abs_diff_eq(m.transform_point2(v), 2.0 * STEP * size));
                    prop_assert!(t.transform_vector(v).abs_diff_eq(m.transform_vector2(v), 2.0 * STEP * size));
                }

                /// `n'` is at right angles to the transformed outline, and points to the side that `n` points to.
                #[test]
                fn normals_stay_normal_and_on_their_side(t in transforms(), n in vectors(100.0)) {
                    prop_assume!(n.length() > 0.0);
                    let image = t.transform_normal(n).unwrap();
                    prop_assert!((image.length() - 1.0).abs() <= 2.0 * EPS);
                    prop_assert!(image.dot(t.transform_vector(n.normalize().perp())).abs() <= 4.0 * STEP * 10.0);
                    prop_assert!(image.dot(t.transform_vector(n)) > 0.0);
                }

                #[test]
                fn looking_at_hits_the_target(
                    from in transforms(), to in vectors(100.0), e in prop::sample::select(vec![-30, 0, 30]),
                ) {
                    let unit = (10.0 as $f).powi(e);
                    let from = from.with_position(from.position * unit);
                    let to = to * unit;
                    prop_assume!(to != from.position);
                    let ray = glam::DVec2::from(to) - glam::DVec2::from(from.position);
                    let t = from.looking_at(to).unwrap();
                    prop_assert_eq!((t.position, t.scale), (from.position, from.scale));
                    prop_assert!(-PI < t.rotation && t.rotation <= PI);
                    let along = glam::DVec2::from(t.forward());
                    prop_assert!(along.abs_diff_eq(ray / ray.length(), f64::from(STEP)));
                    prop_assert_eq!(t.up(), t.forward().perp());
                    let same = from.looking_to(to - from.position).unwrap();
                    // The difference is rounded.
                    prop_assert!(same.forward().abs_diff_eq(t.forward(), STEP));
                }
            }

            #[test]
            fn associative_fails_in_general() {
                let (a, b) = (Transform::from_scale(Vector::new(2.0, 1.0)), squashed());
                let c = Transform::from_position(Vector::X);
                let apart = a.combine(b).combine(c).position - a.combine(b.combine(c)).position;
                assert!(apart.length() > 0.5, "{apart}");
            }

            #[test]
            fn right_inverse_fails_in_general() {
                let t = squashed();
                let not_identity = t.combine(t.local_inverse().unwrap());
                assert!(not_identity.position.length() > 0.5, "{not_identity:?}");
            }

            #[test]
            fn the_published_way_into_a_parents_space_is_wrong() {
                let (parent, world) = (squashed(), Transform::from_position(Vector::new(3.0, 1.0)));
                let published = parent.local_inverse().unwrap().combine(world);
                let ours = world.relative_to(parent).unwrap();
                assert!(parent.combine(ours).position.abs_diff_eq(world.position, 6.0 * STEP));
                assert!(parent.combine(published).position.distance(world.position) > 1.0);
            }

            #[test]
            fn what_has_no_inverse_is_an_error() {
                let any = Transform::from_position(Vector::ONE);
                // The reciprocal of a number below an eighth of the smallest normal one is infinite.
                for flat in [0.0, -0.0, $f::MIN_POSITIVE / 16.0, $f::from_bits(1)] {
                    for axis in [Vector::X, Vector::Y] {
                        let t = Transform::from_scale(Vector::ONE - axis + axis * flat);
                        let singular = TransformError::Singular;
                        assert_eq!(t.local_inverse(), Err(singular));
                        assert_eq!(any.relative_to(t), Err(singular));
                        assert!(t.relative_to(any).is_ok(), "only the parent is inverted");
                        assert_eq!(t.inverse_transform_point(Vector::X), Err(singular));
                        assert_eq!(t.inverse_transform_vector(Vector::X), Err(singular));
                        assert_eq!(t.transform_normal(Vector::X), Err(singular));
                        assert_eq!(t.inverse_transform_normal(Vector::X), Err(singular));
                    }
                }
                assert!(Transform::from_uniform_scale($f::MIN_POSITIVE).local_inverse().is_ok());
            }

            #[test]
            fn what_is_not_finite_is_an_error() {
                let tiny = Transform::new(Vector::splat($huge), 0.0, Vector::splat(1.0 / $huge));
                assert_eq!(tiny.local_inverse(), Err(TransformError::NonFinite));
                assert_eq!(Transform::IDENTITY.relative_to(tiny), Err(TransformError::NonFinite));
                assert_eq!(tiny.inverse_transform_point(Vector::ZERO), Err(TransformError::NonFinite));
                for nan in [Transform::from_uniform_scale($f::NAN), Transform::from_rotation($f::INFINITY)] {
                    assert_eq!(nan.local_inverse(), Err(TransformError::NonFinite));
                    assert!(nan.transform_normal(Vector::X).is_err());
                    assert_eq!(Transform::IDENTITY.relative_to(nan), Err(TransformError::NonFinite));
                    assert_eq!(nan.relative_to(Transform::IDENTITY), Err(TransformError::NonFinite));
                    assert_eq!(nan.looking_to(Vector::X), Err(TransformError::Degenerate));
                }
            }

            #[test]
            fn normals_of_extreme_scales_and_of_mirrors() {
                let needle = Transform::from_scale(Vector::new($huge, 1.0 / $huge));
                for (n, image) in
                    [(Vector::X, Vector::X), (Vector::Y / $huge, Vector::Y), (Vector::ONE * $huge, Vector::Y)]
                {
                    assert!(needle.transform_normal(n).unwrap().abs_diff_eq(image, EPS));
                }
                assert!(needle.inverse_transform_normal(Vector::ONE).unwrap().abs_diff_eq(Vector::X, EPS));
                let mirror = Transform::from_scale(Vector::new(-1.0, 2.0));
                assert_eq!(mirror.transform_normal(Vector::X), Ok(Vector::NEG_X));
                assert_eq!(mirror.transform_normal(Vector::Y), Ok(Vector::Y));
                for bad in [Vector::ZERO, Vector::NAN, Vector::INFINITY] {
                    assert_eq!(mirror.transform_normal(bad), Err(TransformError::Degenerate));
                    assert_eq!(mirror.inverse_transform_normal(bad), Err(TransformError::Degenerate));
                }
            }

            #[test]
            fn looking_at_refuses_what_determines_nothing() {
                let t = Transform::from_position(Vector::ONE);
                for (t, target) in [
                    (t, Vector::ONE),
                    (t, Vector::NAN),
                    (t, Vector::INFINITY),
                    (t.with_position(Vector::NAN), Vector::ZERO),
                    (t.with_scale(Vector::NAN), Vector::ZERO),
                ] {
                    assert_eq!(t.looking_at(target), Err(TransformError::Degenerate));
                }
                assert!(t.looking_to(Vector::ZERO).is_err());
                // As near and as far apart as numbers go.
                let smallest = Vector::new(0.0, $f::from_bits(2));
                assert_eq!(Transform::IDENTITY.looking_at(smallest).unwrap().rotation, FRAC_PI_2);
                let far = Transform::from_position(Vector::X * $f::MAX).looking_at(Vector::NEG_X * $f::MAX);
                assert_eq!(far.unwrap().rotation, PI, "in (-π, π], also with a difference of -0.0 in Y");
                assert_eq!(t.looking_to(Vector::new(-1.0, -0.0)).unwrap().rotation, PI);
            }

            #[test]
            fn axes_are_right_handed_with_y_up_and_forward_right() {
                let t = Transform::from_rotation(FRAC_PI_2).with_scale(Vector::new(-2.0, 0.0));
                for (axis, wanted) in [
                    (t.forward(), Vector::Y),
                    (t.back(), Vector::NEG_Y),
                    (t.right(), Vector::Y),
                    (t.left(), Vector::NEG_Y),
                    (t.up(), Vector::NEG_X),
                    (t.down(), Vector::X),
                ] {
                    assert!(axis.abs_diff_eq(wanted, STEP), "{axis} is not {wanted}");
                }
                assert_eq!((Transform::IDENTITY.right(), Transform::IDENTITY.up()), (Vector::X, Vector::Y));
            }

            #[test]
            fn matrices_are_glams() {
                let (p, s) = (Vector::new(1.0, 2.0), Vector::new(4.0, -5.0));
                for r in [0.3, 1e6, PI] {
                    let t = Transform::new(p, r, s);
                    assert_eq!(t.to_affine(), $Affine::from_scale_angle_translation(s, r, p));
                    assert_eq!($Affine::from(t), t.to_affine());
                    assert_eq!(t.to_mat3(), $Mat::from(t.to_affine()));
                    assert_eq!($Mat::from(t), t.to_mat3());
                    assert_eq!(Transform::from_position(p).with_rotation(r).with_scale(s), t);
                    assert_eq!(Transform::from_rotation(r).with_position(p).with_scale(s), t);
                }
                assert_eq!(Transform::default(), Transform::IDENTITY);
                assert_eq!(Transform::from_uniform_scale(2.0), Transform::from_scale(Vector::splat(2.0)));
            }

            #[test]
            fn lerp_takes_the_shortest_arc() {
                let a = Transform::new(Vector::ZERO, 2.5, Vector::ONE);
                // From 2.5 through π to 3.5, whichever way that is written.
                for end in [3.5, 3.5 - TAU, 3.5 + TAU] {
                    let b = Transform::new(Vector::splat(8.0), end, Vector::new(3.0, 0.0));
                    let half = a.lerp(b, 0.5);
                    assert_eq!((half.position, half.scale), (Vector::splat(4.0), Vector::new(2.0, 0.5)));
                    assert!((half.rotation - 3.0).abs() <= 8.0 * EPS, "{}", half.rotation);
                    assert!((a.lerp(b, 0.9).rotation - (3.4 - TAU)).abs() <= 8.0 * EPS);
                    assert_eq!(a.lerp(b, 0.0), a);
                    let last = a.lerp(b, 1.0);
                    assert!((last.rotation - (3.5 - TAU)).abs() <= 8.0 * EPS);
                    assert_eq!((last.position, last.scale), (b.position, b.scale));
                }
                assert_eq!(a.lerp(a, 0.3).rotation, a.rotation, "no arc at all");
                let half_turn = Transform::IDENTITY.lerp(Transform::from_rotation(PI), 0.5);
                assert_eq!(half_turn.rotation, FRAC_PI_2, "counterclockwise");
            }

            #[test]
            fn ten_thousand_turns_stay_in_range_and_exact() {
                let scale = Vector::new(0.1, -3.3);
                let mut t = Transform::new(Vector::ONE, 0.0, scale);
                let mut turns = 0.0;
                for _ in 0..10_000 {
                    t.rotate(2.5);
                    t.rotate_around(t.position, 2.5);
                    turns += 5.0;
                    assert!(-PI < t.rotation && t.rotation <= PI);
                }
                // Each turn rounds an angle of up to π, by u = ε/2 of 4 at most; 2.5 and its sum are exact. In f64
                // what 2π is off by, half a last digit of it, adds as much again for each whole turn.
                let off = (glam::DVec2::from_angle(turns) - glam::DVec2::from(t.forward())).length();
                assert!(off <= 20_000.0 * 4.0 * f64::from(EPS), "{off:e}");
                assert_eq!((t.scale, t.position), (scale, Vector::ONE));
            }

            #[test]
            fn turning_wraps_and_setting_does_not() {
                let mut t = Transform::from_rotation(7.0);
                assert_eq!(t.with_scale(Vector::ONE).rotation, 7.0);
                assert!((t.normalized().rotation - (7.0 - TAU)).abs() <= 4.0 * EPS);
                t.rotate(0.0);
                assert_eq!(t.rotation, Transform::from_rotation(7.0).normalized().rotation);
                for kept in [PI, -3.0, 0.0, 1e-30, FRAC_PI_4] {
                    let mut t = Transform::from_rotation(kept);
                    t.rotate(0.0);
                    assert_eq!(
                        (t.rotation.to_bits(), t.normalized().rotation.to_bits()),
                        (kept.to_bits(), kept.to_bits())
                    );
                }
                assert_eq!(Transform::from_rotation(-PI).normalized().rotation.signum(), 1.0);
                let nan = Transform::from_rotation($f::INFINITY);
                assert_eq!(nan.normalized(), nan);
                // Sine and cosine are those of the number that is stored.
                let far = Transform::from_rotation(1e6);
                assert_eq!(far.right(), Vector::new((1e6 as $f).cos(), (1e6 as $f).sin()));
            }

            #[test]
            fn frames_of_rotate_and_translate() {
                let start = Transform::new(Vector::X, FRAC_PI_2, Vector::splat(2.0));
                let after = |edit: &dyn Fn(&mut Transform)| {
                    let mut t = start;
                    edit(&mut t);
                    t
                };
                assert!((after(&|t| t.rotate(1.0)).rotation - (FRAC_PI_2 + 1.0)).abs() <= TURN);
                let around = after(&|t| t.rotate_around(Vector::new(1.0, 1.0), FRAC_PI_2));
                assert!(around.position.abs_diff_eq(Vector::new(2.0, 1.0), STEP));
                assert!((around.rotation - PI).abs() <= TURN);
                assert_eq!(after(&|t| t.translate(Vector::X)).position, Vector::X * 2.0);
                // Local X is parent Y here. The scale of two is not applied.
                let moved = after(&|t| t.translate_local(Vector::X)).position;
                assert!(moved.abs_diff_eq(Vector::new(1.0, 1.0), STEP));
            }

            #[test]
            fn checks() {
                let mirrored = |x, y| Transform::from_scale(Vector::new(x, y)).is_mirrored();
                assert!(mirrored(-1.0, 1.0) && mirrored(1.0, -1.0));
                assert!(!mirrored(1.0, 1.0) && !mirrored(-1.0, -1.0) && !mirrored(-0.0, 1.0));
                let t = Transform::IDENTITY;
                assert!(t.is_finite());
                assert!(!t.with_position(Vector::X * $f::INFINITY).is_finite());
                assert!(!t.with_rotation($f::NAN).is_finite());
                assert!(!t.with_scale(Vector::NAN).is_finite());
            }
        }
    };
}

suite!(single, f32, Transform2, Vec2, Affine2, Mat3, huge 1e30);
suite!(double, f64, DTransform2, DVec2, DAffine2, DMat3, huge 1e300);

#[test]
fn precisions_convert() {
    let t = Transform2::new(glam::Vec2::new(0.1, -3.0), 0.7, glam::Vec2::new(1e-30, 1e30));
    assert_eq!(t.as_dtransform2().as_transform2(), t);
    assert_eq!(DTransform2::from(t), t.as_dtransform2());
    assert_eq!(t.as_dtransform2().rotation, f64::from(0.7_f32));
    assert_eq!(DTransform2::from_rotation(0.1).as_transform2().rotation, 0.1_f32);
}
