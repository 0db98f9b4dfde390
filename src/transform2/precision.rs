//! The seam between the two precisions of two dimensions: the types of each, and the way to float64 and back.
//!
//! As [`transform::precision`](crate::transform::precision) for three.

use crate::transform::precision::Widen;
use core::fmt::Debug;
use glam::{Affine2, DAffine2, DVec2, Vec2};

/// A floating point type with the types of glam that are made of it.
pub(crate) trait Precision2: Widen<Wide = f64> {
    type Vector: Widen<Wide = DVec2> + Debug;
    type Affine: Widen<Wide = DAffine2> + Debug;

    /// The distance from one to the next number: two roundings.
    const EPSILON: f64;
    /// The largest number.
    const MAX: f64;
    /// The smallest normal number: below it rounding is not relative to a number's size.
    const SMALLEST: f64;

    /// The law of a solution `x` of `P x = W`: `|P x - W| ≤ LAW |P||x|`, element by element.
    ///
    /// Solved in float64 and rounded to float32, `x` is off by `u = ε/2` of itself, and the law asks for
    /// `4 u = 2 ε`. In float64 itself a solution is off by `5 u` of itself (see `solve` in `space2`), the
    /// difference of the translations by one more, and looking whether the law holds costs three more and the
    /// sum of the translations a last one: `10 u = 5 ε`, of which the law leaves `8 ε`.
    const LAW: f64;

    /// A residual up to this is rounding, not shear: a matrix is then position, rotation and scale.
    ///
    /// It has to accept the matrix of every finite transform, also where it is compared with that of its own
    /// factors. In units of `u = ε/2` and of a column's largest element:
    /// - The four products `c s_x, s s_x, -s s_y, c s_y` are rounded by one each: a shear of `4 |c s|`, at most 2.
    /// - The angle of the first column is rounded by 2 (in f64 computed, by 5), its sine and cosine by 2.
    /// - The scale is rounded by 1 (in f64 computed, by 4), and so is the product.
    ///
    /// Together 8, in f64 14. Here are 32, as in three dimensions, for sines that are good to a few last digits.
    const TRS_TOLERANCE: f64 = 16.0 * Self::EPSILON;

    /// How far a parent's linear part may be from a rotation times one factor and still count as one: its
    /// columns carry the rounding of every level above, each like that of one transform's matrix.
    const CONFORMAL: f64 = 2.0 * Self::TRS_TOLERANCE;

    /// How far a solved position may be off, beyond what still does its job, in units of the distances of the
    /// parent's origin and of the wanted position: subtracting two positions and turning the difference leaves
    /// at most `√2 u` of each, u = ε/2, and adding it back the same; 4 ε = 8 u. In float64 the parent's product
    /// and solving do as much again.
    const POSITION_MISFIT: f64 = 2.0 * Self::LAW;

    /// An angle as it is stored: in (-π, π], π as this precision has it, and with its bits if it is that
    /// already. What is not finite becomes NaN.
    fn angle(angle: f64) -> Self;
}

macro_rules! precision {
    ($Float:ident: $Vector:ident, $Affine:ident, law $law:literal) => {
        impl Precision2 for $Float {
            type Vector = $Vector;
            type Affine = $Affine;

            const EPSILON: f64 = $Float::EPSILON as f64;
            const MAX: f64 = $Float::MAX as f64;
            const SMALLEST: f64 = $Float::MIN_POSITIVE as f64;
            const LAW: f64 = $law * <Self as Precision2>::EPSILON;

            #[inline]
            fn angle(angle: f64) -> Self {
                const PI: $Float = core::$Float::consts::PI;
                let near = Self::narrow(angle);
                if -PI < near && near <= PI {
                    return near;
                }
                let back = Self::narrow(turned_back(angle));
                if back <= -PI { PI } else { back }
            }
        }
    };
}
precision!(f32: Vec2, Affine2, law 2.0);
precision!(f64: DVec2, DAffine2, law 8.0);

/// The sum of two angles, less whole turns of one that is so large that what is added to it would lose digits.
pub(crate) fn sum_of_angles(a: f64, b: f64) -> f64 {
    near_zero(a) + near_zero(b)
}

/// An angle of the same direction within a turn and a half; with its bits if it is one already.
pub(crate) fn near_zero(angle: f64) -> f64 {
    if angle.abs() <= 3.0 * core::f64::consts::PI { angle } else { turned_back(angle) }
}

/// An angle beyond half a turn, less whole turns.
fn turned_back(angle: f64) -> f64 {
    use core::f64::consts::{PI, TAU};
    // The sum of two angles needs one turn, whose subtraction is exact but for what 2π itself is off by; of
    // larger ones the sine and cosine know how many.
    if angle.abs() <= 3.0 * PI { angle - TAU.copysign(angle) } else { DVec2::from_angle(angle).to_angle() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same direction, in range, and as it was if it was in range.
    fn check<P: Precision2 + Into<f64>>(angle: P, pi: P) -> Result<(), TestCaseError> {
        let (given, wrapped, pi): (f64, f64, f64) = (angle.into(), P::angle(angle.into()).into(), pi.into());
        prop_assert!(-pi < wrapped && wrapped <= pi, "{wrapped}");
        if -pi < given && given <= pi {
            prop_assert_eq!(given.to_bits(), wrapped.to_bits());
        }
        let off = (DVec2::from_angle(given) - DVec2::from_angle(wrapped)).length();
        // An angle of up to π is rounded by ε, float64's 2π is off by 1.1 ε, and one ε is this test's own.
        prop_assert!(off <= 3.5 * P::EPSILON, "{given} became {wrapped}, off by {off:e}");
        Ok(())
    }

    proptest! {
        #[test]
        fn wrapping_keeps_the_direction(turns in -10_000.0f64..10_000.0, e in -20..30) {
            let pi = core::f64::consts::PI;
            for angle in [turns, turns.round() * pi, turns / 2000.0, turns * 2f64.powi(e), (turns / 2000.0).round() * pi] {
                check(angle, pi)?;
                check(angle as f32, core::f32::consts::PI)?;
            }
        }
    }

    #[test]
    fn wrapping_at_the_ends_of_the_range() {
        use core::f64::consts::PI;
        assert_eq!((f64::angle(PI), f64::angle(-PI), f64::angle(3.0 * PI)), (PI, PI, PI));
        let pi = core::f32::consts::PI;
        assert_eq!(f32::angle(f64::from(pi)), pi);
        assert_eq!(f32::angle(-PI), pi);
        assert_eq!(f32::angle(f64::from(-0.0f32)).to_bits(), (-0.0f32).to_bits());
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(f32::angle(bad).is_nan() && f64::angle(bad).is_nan());
        }
    }
}
