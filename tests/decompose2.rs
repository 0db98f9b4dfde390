//! Affine matrices of the plane taken apart: recomposition, signs, rank, and what counts as shear.

use glam::{DMat2, DVec2};
use posetree::{TransformError, glam};
use proptest::prelude::*;

macro_rules! suite {
    (
        $name:ident, $f:ident, $T:ident, $D:ident, $Vec:ident, $Affine:ident, $decompose:ident, $with_hint:ident,
        bound $bound:literal, exponents $exponents:literal, own $own:literal
    ) => {
        mod $name {
            use super::*;
            use core::$f::consts::PI;
            use glam::{$Affine, $Vec};
            use posetree::{$D, $T, $decompose as decompose, $with_hint as decompose_with_hint};

            const EPS: $f = $f::EPSILON;
            type Vector = $Vec;

            fn wide(v: Vector) -> DVec2 {
                v.into()
            }

            fn linear(x: Vector, y: Vector) -> $Affine {
                $Affine::from_cols(x, y, Vector::new(7.0, -8.0))
            }

            /// `R * U` in f64, by the definitions in the documentation and not by the crate's own `recompose`.
            fn product(d: &$D) -> DMat2 {
                let (s, r) = (wide(d.transform.scale), f64::from(d.transform.rotation));
                DMat2::from_angle(r) * DMat2::from_cols(DVec2::new(s.x, 0.0), DVec2::new(d.shear.into(), s.y))
            }

            /// Everything `decompose2` promises of a finite matrix with columns no longer than the largest number.
            fn check(m: &$Affine, hint: Vector) -> $D {
                let d = decompose_with_hint(m, hint);
                let t = d.transform;
                assert!(t.is_finite() && d.shear.is_finite(), "{m:?} gave {d:?}");
                assert!(-PI < t.rotation && t.rotation <= PI, "{m:?} gave {d:?}");
                assert_eq!(t.position, m.translation);
                for x in [t.scale.x, t.scale.y, d.shear, t.rotation] {
                    assert!(x != 0.0 || x.is_sign_positive(), "-0.0 in {d:?}");
                }
                // The bound of the module page, its second order, and subnormal steps.
                let again = d.recompose();
                for (back, of) in [(again.matrix2.x_axis, m.matrix2.x_axis), (again.matrix2.y_axis, m.matrix2.y_axis)] {
                    // In units near one, so that no square over- or underflows.
                    let unit = wide(of).abs().max_element().max(f64::from($f::MIN_POSITIVE));
                    let error = ((wide(back) - wide(of)) / unit).length();
                    let allowed = $bound * 1.00001 * f64::from(EPS) * (wide(of) / unit).length();
                    assert!(error <= allowed + 4.0 * f64::from(EPS) * f64::from($f::MIN_POSITIVE) / unit,
                        "{error:e} > {allowed:e}: {m:?} gave {d:?}");
                }
                let size = f64::from($f::MAX.sqrt());
                let within = m.matrix2.to_cols_array().into_iter().all(|x| f64::from(x).abs() < size);
                let apart = product(&d) - DMat2::from_cols(wide(again.matrix2.x_axis), wide(again.matrix2.y_axis));
                for i in 0..2 {
                    let column = if i == 0 { m.matrix2.x_axis } else { m.matrix2.y_axis };
                    let allowed = ($bound * f64::from(EPS)) * wide(column).length() + 8.0 * f64::from($f::from_bits(1));
                    assert!(!within || apart.col(i).length() <= allowed, "{apart} {d:?}");
                }
                assert_eq!(again.translation, m.translation);
                let share = d.residual();
                assert!(share >= 0.0 && (d.shear != 0.0 || share == 0.0));
                assert!(d.shear_ratio().is_none_or(|h| h.is_finite()));
                d
            }

            /// Zero, or of either sign and of many sizes.
            fn factor() -> impl Strategy<Value = $f> {
                let size = (prop::bool::ANY, -$exponents..$exponents as $f).prop_map(|(negative, e)| {
                    let size = (10.0 as $f).powf(e);
                    if negative { -size } else { size }
                });
                prop_oneof![1 => Just(0.0), 4 => size]
            }

            /// Every finite number of at most half the largest, so that no column is longer than that.
            fn element() -> impl Strategy<Value = $f> {
                use prop::num::$f::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
                prop_oneof![
                    NORMAL | SUBNORMAL | ZERO | POSITIVE | NEGATIVE,
                    -1.0..1.0 as $f,
                    (-3_i8..=3).prop_map($f::from),
                ]
                .prop_map(|x| x.clamp(-$f::MAX / 2.0, $f::MAX / 2.0))
            }

            fn vector() -> impl Strategy<Value = Vector> {
                [element(), element()].prop_map(Vector::from_array)
            }

            #[test]
            fn identity_is_exact() {
                let d = check(&$Affine::from_translation(Vector::ONE), Vector::ONE);
                assert_eq!((d.transform, d.shear), ($T::from_position(Vector::ONE), 0.0));
                assert_eq!(d.recompose(), $Affine::from_translation(Vector::ONE));
            }

            #[test]
            fn typed_signs_come_back_with_every_pattern_of_signs_and_zeros() {
                for rotation in [0.0, 2.5, -0.3, PI / 2.0] {
                    for (signs, zeros) in (0_u32..16).map(|i| (i % 4, i / 4)) {
                        let pick = |axis: u32, size: $f| match (zeros >> axis & 1, signs >> axis & 1) {
                            (1, _) => 0.0,
                            (_, 0) => size,
                            _ => -size,
                        };
                        let scale = Vector::new(pick(0, 2.0), pick(1, 3.0));
                        let typed = $T::new(Vector::ONE, rotation, scale);
                        let d = check(&typed.to_affine(), scale);
                        // A column's length: its sine and cosine, products and sum, and the result: 4 EPS is ample.
                        assert!((d.transform.scale - scale).abs().cmple(4.0 * EPS * scale.abs()).all());
                        // One axis alone fixes a rotation of the plane.
                        if zeros.count_ones() <= 1 {
                            let off = (d.transform.rotation - rotation).abs();
                            assert!(off <= 4.0 * EPS || (off - 2.0 * PI).abs() <= 4.0 * EPS, "{typed:?} {d:?}");
                        }
                        assert!(d.residual() <= 16.0 * EPS, "position, rotation, scale only: {d:?}");
                        check(&typed.to_affine(), Vector::ONE);
                    }
                }
            }

            #[test]
            fn lost_rank_gives_zero_and_never_an_invented_scale() {
                let a = Vector::new(1.0, -3.0);
                let scale = |x, y| check(&linear(x, y), Vector::ONE).transform.scale;
                let zeros = |s: Vector| s.to_array().map(|s| s == 0.0);
                assert_eq!(zeros(scale(a, 2.0 * a)), [false, true]);
                assert_eq!(zeros(scale(a, -a)), [false, true]);
                assert_eq!(zeros(scale(Vector::ZERO, a)), [true, false]);
                assert_eq!(zeros(scale(a, Vector::ZERO)), [false, true]);
                assert_eq!(zeros(scale(Vector::ZERO, Vector::ZERO)), [true, true]);
                assert_eq!(check(&linear(Vector::ZERO, Vector::ZERO), Vector::ONE).transform.rotation, 0.0);
                assert_eq!(check(&linear(Vector::ZERO, Vector::Y), Vector::ONE).transform.rotation, 0.0);
                // A last digit apart is a side as long as that digit says, and no zero.
                let next = Vector::new(2.0, $f::from_bits((-6.0 as $f).to_bits() - 1));
                let d = check(&linear(a, next), Vector::ONE);
                let side = f64::from(next.y + 6.0) / 10f64.sqrt();
                assert!((f64::from(d.transform.scale.y) / side - 1.0).abs() <= 4.0 * f64::from(EPS), "{d:?}");
            }

            #[test]
            fn the_shear_is_undivided_and_its_ratio_is_divided_by_the_column() {
                let d = check(&linear(Vector::X * 2.0, Vector::new(3.0, 5.0)), Vector::ONE);
                assert_eq!((d.transform.scale, d.shear), (Vector::new(2.0, 5.0), 3.0));
                assert_eq!((d.shear_ratio(), d.residual()), (Some(0.6), 0.6));
                let flat = check(&linear(Vector::X, Vector::X), Vector::ONE);
                assert_eq!((flat.shear, flat.shear_ratio()), (1.0, None));
                let turned = check(&linear(Vector::Y, Vector::new(-1.0, 0.5)), Vector::ONE);
                assert_eq!((turned.transform.rotation, turned.shear), (PI / 2.0, 0.5));
            }

            #[test]
            fn hints() {
                let plain = $Affine::from_scale(Vector::new(2.0, 3.0));
                let mirror = $Affine::from_scale(Vector::new(2.0, -3.0));
                let signs = |m: &$Affine, x: $f, y: $f| {
                    check(m, Vector::new(x, y)).transform.scale.to_array().map(|s| s.signum() as i32)
                };
                assert_eq!(signs(&plain, 1.0, 1.0), [1, 1]);
                assert_eq!(signs(&plain, -9.0, -1e-30), [-1, -1]);
                assert_eq!(signs(&plain, 1.0, -1.0), [-1, -1], "X gives way");
                assert_eq!(signs(&plain, -1.0, 1.0), [1, 1], "X gives way");
                assert_eq!(signs(&plain, -1.0, 0.0), [-1, -1], "the zero gives way");
                assert_eq!(signs(&plain, -0.0, -1.0), [-1, -1], "a zero has no sign, and gives way");
                assert_eq!(signs(&mirror, 1.0, 1.0), [-1, 1]);
                assert_eq!(signs(&mirror, 1.0, -1.0), [1, -1]);
                assert_eq!(signs(&mirror, -1.0, -1.0), [1, -1], "X gives way");
                assert_eq!(signs(&mirror, 1.0, 0.0), [1, -1], "the zero gives way");
                // Singular: every hint fits.
                for (flat, wanted) in [(Vector::new(2.0, 0.0), [-1, 1]), (Vector::new(0.0, 2.0), [1, -1])] {
                    assert_eq!(signs(&$Affine::from_scale(flat), -1.0, -1.0), wanted);
                }
            }

            #[test]
            fn try_from_refuses_what_it_cannot_hold() {
                let not_trs = |m: $Affine| match $T::try_from(m) {
                    Err(TransformError::NotTrs { residual }) => residual,
                    other => panic!("{other:?}"),
                };
                let lean = |by: $f| linear(Vector::X, Vector::new(by, 1.0));
                assert_eq!(not_trs(lean(0.5)), 0.5);
                assert_eq!(not_trs(lean(17.0 * EPS)), (17.0 * EPS) as f32);
                assert!($T::try_from(lean(15.0 * EPS)).is_ok());
                // Leaning is measured against the leaning column, whatever the other is.
                assert!(not_trs(linear(Vector::X * 1e20, Vector::new(1e-5, 1e-3))) > 0.009);
                for bad in [$f::NAN, $f::INFINITY] {
                    let m = linear(Vector::X, Vector::new(1.0, bad));
                    assert_eq!($T::try_from(m), Err(TransformError::NonFinite));
                    let m = $Affine::from_translation(Vector::new(bad, 0.0));
                    assert_eq!($T::try_from(m), Err(TransformError::NonFinite));
                }
                // Finite elements, but the length of the column is no number.
                let long = linear(Vector::splat($f::MAX), Vector::ZERO);
                assert_eq!($T::try_from(long), Err(TransformError::NonFinite));
                let d = decompose(&long);
                assert!(d.transform.scale.x == $f::MAX && d.recompose().is_finite());
            }

            proptest! {
                #[test]
                fn every_finite_matrix(x in vector(), y in vector(), hint in vector()) {
                    let m = linear(x, y);
                    let d = check(&m, hint);
                    let unit = |v: Vector| (wide(v) / wide(v).abs().max_element()).normalize_or_zero();
                    let determinant = unit(x).perp_dot(unit(y));
                    if determinant.abs() > 1e-12 && d.transform.scale.cmpne(Vector::ZERO).all() {
                        prop_assert_eq!(d.transform.is_mirrored(), determinant < 0.0);
                        prop_assert!(decompose(&m).transform.scale.y > 0.0);
                        let kept = (d.transform.scale * hint).cmplt(Vector::ZERO);
                        prop_assert!(!kept.y || hint.x == 0.0 && !kept.x, "only X gives way, or a zero");
                    }
                }

                #[test]
                fn nearly_singular_and_rank_deficient(a in vector(), b in vector(), k in element(), e in -60_i32..0) {
                    // Kept away from the largest number, where the combination would overflow.
                    let (a, b, k) = (a.clamp(-Vector::splat(1e12), Vector::splat(1e12)), b.clamp_length_max(1e12), k.clamp(-1e12, 1e12));
                    check(&linear(a, k * a), Vector::ONE);
                    check(&linear(a, a + b * (2.0 as $f).powi(e)), Vector::NEG_ONE);
                }

                /// The matrix of a valid transform is accepted, and what is read back makes the same matrix.
                #[test]
                fn to_affine_is_accepted(rotation in prop_oneof![-PI..PI, -1e6..1e6 as $f], scale in [factor(), factor()]) {
                    let m = $T::new(Vector::X, rotation, scale.into()).to_affine();
                    let t = $T::try_from(m).unwrap();
                    let back = t.to_affine().matrix2;
                    // Shear alone, as the derivation of the tolerance has it: the first column is taken as it is.
                    prop_assert!(decompose(&m).residual() <= $own * EPS, "{}", decompose(&m).residual() / EPS);
                    for (was, is) in [(m.matrix2.x_axis, back.x_axis), (m.matrix2.y_axis, back.y_axis)] {
                        let share = (was - is).abs().max_element() / was.abs().max_element().max($f::MIN_POSITIVE);
                        // 4 EPS, in f64 7, by that derivation, where sine and cosine are good to one last digit.
                        prop_assert!(share <= 7.0 * EPS, "{} {} {}", was, is, share / EPS);
                    }
                }

                /// A sheared matrix comes back with the factors that made it.
                #[test]
                fn the_factors_of_a_product_are_unique(
                    rotation in -PI..PI, scale in [0.5..2.0 as $f, 0.5..2.0 as $f], shear in -2.0..2.0 as $f,
                ) {
                    let made = $D { transform: $T::new(Vector::X, rotation, scale.into()), shear };
                    let d = check(&made.recompose(), Vector::ONE);
                    // The input is off by the bound of its columns, at most 2.9 long. An error in the first turns the
                    // axes by itself over the scale (at least 0.5), and reaches the second through its length: 6, 18.
                    let bound = 2.0 * 18.0 * $bound * EPS;
                    prop_assert!(d.transform.scale.abs_diff_eq(made.transform.scale, bound));
                    prop_assert!((d.shear - made.shear).abs() <= bound);
                    let off = DVec2::from_angle(d.transform.rotation.into()) - DVec2::from_angle(rotation.into());
                    prop_assert!(off.length() <= f64::from(bound));
                }
            }
        }
    };
}

suite!(
    single, f32, Transform2, Decomposed2, Vec2, Affine2, decompose2, decompose2_with_hint,
    bound 2.0, exponents 30.0, own 1.01
);
suite!(
    double, f64, DTransform2, DDecomposed2, DVec2, DAffine2, ddecompose2, ddecompose2_with_hint,
    bound 8.0, exponents 200.0, own 4.0
);
