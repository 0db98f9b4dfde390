//! Solutions in the plane under parents so thin that rounding decides whether there is one.

use super::space2::{misfit, solve, solve_affine};
use super::{Accumulate, Chain, DMatrices2, MISFIT, Matrices2, Own, Shear};
use crate::transform2::precision::Precision2;
use crate::{DTransform2, Transform2};
use glam::{DAffine2, DMat2, DVec2};
use proptest::prelude::*;

/// Turned, with a scale of 10^±`power` along one axis.
fn thin(power: i32) -> impl Strategy<Value = DTransform2> {
    let power = prop_oneof![Just(-power), Just(power), -power..power];
    ([-5.0..5.0, -5.0..5.0], -3.0..3.0, any::<bool>(), power).prop_map(|(position, angle, along, power)| {
        let mut scale = DVec2::new(1.0, -1.25);
        scale[usize::from(along)] *= 10f64.powi(power);
        DTransform2::new(position.into(), angle, scale)
    })
}

/// What is stored does its job, as a matrix or as position, rotation and scale, and obeys the law as a matrix.
macro_rules! a_solution_fits {
    ($Matrices:ident, $f:ident, $narrow:expr, $parents:expr, $wanted:expr, $held:expr, $shear:expr) => {
        let wide = |t: &DTransform2| $Matrices::widen(&$Matrices::local_of(&$narrow(*t)));
        let wide_parent = $parents.iter().fold(DAffine2::IDENTITY, |parent, local| parent * wide(local));
        let parent = Chain::<$Matrices> { wide: wide_parent, flat: false, conformal: false };
        let wanted = wide($wanted);
        if let Ok(own) = $Matrices::solve(&parent, &wanted, &Own::trs($narrow(*$held)), $shear) {
            let local = $Matrices::widen(&own.local());
            let misfit = misfit::<$f>(&parent.wide, &local, &wanted);
            prop_assert!(misfit <= MISFIT, "misses by {misfit:e}, shear {:?}, {:?}", $shear, own.matrix);
            if $shear == Shear::Allowed {
                let reached = parent.wide * local;
                for i in 0..2 {
                    let off = (reached.matrix2.col(i) - wanted.matrix2.col(i)).abs();
                    let size = parent.wide.matrix2.abs() * local.matrix2.col(i).abs();
                    prop_assert!(off.cmple(<$f as Precision2>::LAW * size).all(), "{} {}", off, size);
                }
            }
        }
        // A value that was there before rounding took its parent apart is found again: the parent itself is.
        let again = solve_affine::<$f>(false, &parent.wide, &parent.wide).unwrap().0;
        let bound = 8.0 * f64::EPSILON;
        prop_assert!(again.matrix2.abs_diff_eq(DMat2::IDENTITY, bound) && again.translation == DVec2::ZERO);
    };
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_solution_fits(
        parents in prop::collection::vec(thin(12), 1..4), wanted in thin(12), held in thin(12), flat in any::<[bool; 2]>(), refuse in any::<bool>(),
    ) {
        let mut wanted = wanted;
        (0..2).filter(|&i| flat[i]).for_each(|i| wanted.scale[i] = 0.0);
        let shear = if refuse { Shear::Refused } else { Shear::Allowed };
        a_solution_fits!(Matrices2, f32, |t: DTransform2| -> Transform2 { t.as_transform2() }, parents, &wanted, &held, shear);
        a_solution_fits!(DMatrices2, f64, |t: DTransform2| t, parents, &wanted, &held, shear);
    }

    /// Each element to within `5 u` of itself, `u = 2⁻⁵³`, under matrices of whole numbers that may be one off
    /// from singular, and in units of any size.
    #[test]
    fn solutions_are_exact_but_for_rounding(
        [a, b, c, x, y] in prop::array::uniform5(-(1i64 << 24)..1i64 << 24), off in -2i64..=2, near in any::<bool>(),
        units in prop::array::uniform3(-300i32..300),
    ) {
        let d = if near && a != 0 { b * c / a + off } else { a ^ c };
        prop_assume!(d.abs() < 1 << 26 && i128::from(a) * i128::from(d) != i128::from(b) * i128::from(c));
        let unit = units.map(|e| 2f64.powi(e));
        let vector = |x: i64, y: i64, unit: f64| DVec2::new(x as f64, y as f64) * unit;
        // m = [[a, b], [c, d]], each column in its own unit.
        let m = DMat2::from_cols(vector(a, c, unit[0]), vector(b, d, unit[1]));
        let got = solve(m, vector(a * x + b * y, c * x + d * y, unit[2]));
        let exact = vector(x, y, 1.0) * unit[2] / DVec2::new(unit[0], unit[1]);
        prop_assert!((got - exact).abs().cmple(2.5 * f64::EPSILON * exact.abs()).all(), "{} is not {}", got, exact);
    }
}

#[test]
fn a_singular_matrix_has_no_solution() {
    for m in [
        DMat2::from_cols_array(&[1.0, 2.0, 3.0, 6.0]),
        DMat2::from_cols_array(&[0.0, 0.0, 0.1, 0.7]),
        DMat2::from_cols_array(&[0.1, 0.7, 0.0, 0.0]),
        DMat2::ZERO,
    ] {
        assert!(!solve(m, DVec2::new(1.0, 0.5)).is_finite());
        assert!(solve_affine::<f64>(false, &DAffine2::from_mat2(m), &DAffine2::IDENTITY).is_err());
    }
}
