//! An affine matrix of two dimensions taken apart as `T * R * U`, and what that loses as `T * R * S`.
//!
//! # What is computed
//!
//! The linear part `M` of every affine matrix, singular ones too, is `R * U`: `R` a rotation and `U` upper triangular.
//! With the columns `x` and `y` of `M`, the first axis is `q = x / |x|`, and
//!
//! ```text
//! U = | |x|  q·y |
//!     |  0   q×y |     q·y = x·y / |x|,   q×y = x×y / |x| = det M / |x|
//! ```
//!
//! Where `x` is zero, `y` tells the second axis, and the first is a quarter turn behind it. Where both are, the
//! rotation is the identity. Turning `R` by half a turn changes both signs of `U`'s diagonal, so that the sign of the
//! determinant decides about their product and a hint about the rest.
//!
//! # Why rounding does no harm
//!
//! Columns are measured in units of a power of two, so no square over- or underflows and no digit changes. The sums of
//! two products, `x·y` and `x×y`, are taken with the rounding error of each product, so that each comes out to within
//! `2 u` of itself, `u = f64::EPSILON / 2`, however much cancels. A determinant that is zero comes out as zero, and one
//! that is not as not: no scale is invented and none is lost.
//!
//! Putting the factors into f32, `u = f32::EPSILON / 2`, and multiplying again in f64 moves a column `c` by
//! - `2u |c|`: an angle of up to π is rounded by as much;
//! - `u |c|`: each element of `U` is off by at most `u` of itself;
//! - `u |c|`: the product is rounded to f32;
//!
//! in all **`4u |c| = 2 f32::EPSILON |c|`** (Euclidean length), plus subnormal steps. In f64 there are no digits to
//! spare: the arc tangent is off by `4u` and its argument by one more; an element of `U` by `4u`; the sine and cosine,
//! good to one last digit, by `2√2 u` where both elements of `U` meet; their products and sum by `2.5u`: in all
//! **less than `16u |c| = 8 f64::EPSILON |c|`**.

use super::precision::Precision2;
use crate::transform::precision::Widen;
use crate::transform::precision::power_of_two_near_reciprocal;
use crate::transform::rank::difference_of_products;
use crate::{DTransform2, Transform2, TransformError};
use glam::{Affine2, DAffine2, DMat2, DVec2, Vec2};

/// `m = rotation * U` in double precision, with the diagonal of `U` in `scale`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factors {
    /// Cosine and sine.
    pub(crate) rotation: DVec2,
    /// Zero where the matrix does not determine the axis.
    pub(crate) scale: DVec2,
    /// `u_xy`, not divided by any scale.
    pub(crate) shear: f64,
}

/// Factors a matrix as rotation times upper triangular; the module page derives how.
///
/// `hint` gives the wanted signs of the scale, all +1 for none. The matrix must be finite.
pub(crate) fn decompose_linear(m: DMat2, hint: DVec2) -> Factors {
    let sign = |x: f64| if x < 0.0 { -1.0 } else { 1.0 };
    let (x, x_unit) = in_own_unit(m.x_axis);
    let (y, y_unit) = in_own_unit(m.y_axis);
    let (x_length, y_length) = (x.length(), y.length());

    let (axis, scale, shear) = if x_length > 0.0 {
        let along = difference_of_products(x.x, y.x, -x.y, y.y) / x_length / y_unit;
        let across = difference_of_products(x.x, y.y, x.y, y.x) / x_length / y_unit;
        (x / x_length, DVec2::new(x_length / x_unit, across), along)
    } else if y_length > 0.0 {
        (-(y / y_length).perp(), DVec2::new(0.0, y_length / y_unit), 0.0)
    } else {
        (DVec2::X, DVec2::ZERO, 0.0)
    };

    // Half a turn changes both signs of the scale. The axis that is there takes the hint's sign; where the
    // determinant asks for other signs, X gives way, or Y if it alone was typed as zero.
    let fits = scale.y == 0.0 || sign(hint.x) * sign(hint.y) == sign(scale.y);
    let half_turn = if scale.x == 0.0 {
        sign(hint.y)
    } else if fits || (hint.y == 0.0 && hint.x != 0.0) {
        sign(hint.x)
    } else {
        -sign(hint.x)
    };
    // Adding zero turns -0.0 into 0.0 and changes nothing else.
    Factors { rotation: axis * half_turn + 0.0, scale: scale * half_turn + 0.0, shear: shear * half_turn + 0.0 }
}

/// A vector in units that bring it near one, and one over that unit.
fn in_own_unit(v: DVec2) -> (DVec2, f64) {
    let per_unit = power_of_two_near_reciprocal(v.abs().max_element());
    (v * per_unit, per_unit)
}

/// Cosine and sine of an angle.
pub(crate) fn direction(angle: f64) -> DVec2 {
    DVec2::from_angle(angle)
}

/// The linear part `R * U`.
fn linear(rotation: DVec2, scale: DVec2, shear: f64) -> DMat2 {
    DMat2::from_cols(rotation * scale.x, rotation * shear + rotation.perp() * scale.y)
}

/// The shear of `m = rotation * U`, the rotation known: what `rotation⁻¹ m` has above its diagonal.
pub(crate) fn shear_under<P: Precision2>(rotation: P, m: DMat2) -> P {
    round(direction(rotation.widen()).dot(m.y_axis))
}

/// Rounds to a precision, to its largest finite number where that would overflow, and without -0.0.
fn round<P: Precision2>(x: f64) -> P {
    // What becomes zero only by rounding may be -0.0 as well.
    P::narrow(P::narrow(x.clamp(-P::MAX, P::MAX)).widen() + 0.0)
}

macro_rules! decomposed2 {
    (
        $Decomposed:ident, $Transform:ident, $f:ident, $Vector:ident, $Affine:ident,
        $decompose:ident, $decompose_with_hint:ident, $bound:literal, $example_turn:literal
    ) => {
        #[doc = concat!("An affine matrix as `T * R * U`, in ", stringify!($f), ": position, rotation, and an upper")]
        /// triangular matrix of scale and shear.
        ///
        /// ```text
        /// U = | scale.x   shear  |
        ///     |    0     scale.y |
        /// ```
        ///
        /// The frame is that of the matrix: it maps local coordinates to the parent's (or to the world's, for a world
        #[doc = concat!("matrix). Made by [`", stringify!($decompose), "()`] and [`", stringify!($decompose_with_hint), "`].")]
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $Decomposed {
            /// Position, rotation, and the diagonal of `U` as the scale.
            pub transform: $Transform,
            /// The element of `U` above the diagonal, in parent units. It is *not* divided by a scale, so that it is
            /// finite where a scale is zero; [`shear_ratio`](Self::shear_ratio) divides.
            pub shear: $f,
        }

        impl $Decomposed {
            pub(crate) fn new(factors: &Factors, position: $Vector) -> Self {
                let scale = $Vector::new(round(factors.scale.x), round(factors.scale.y));
                let rotation = <$f as Precision2>::angle(factors.rotation.to_angle()) + 0.0;
                Self { transform: $Transform::new(position, rotation, scale), shear: round(factors.shear) }
            }

            /// Multiplies the parts together again: `T * R * U`.
            ///
            #[doc = concat!("For `d = ", stringify!($decompose), "(&m)`, column by column,")]
            #[doc = concat!("`|d.recompose() - m| <= ", $bound, " ", stringify!($f), "::EPSILON |m|`")]
            /// (plus subnormal steps where elements are subnormal). The law assumes that no column is longer than the
            /// largest finite number.
            #[must_use]
            pub fn recompose(&self) -> $Affine {
                let position = self.transform.position;
                $Affine::narrow(DAffine2::from_mat2_translation(self.linear(), position.widen()))
            }

            /// The shear as a ratio `u_xy / s_y`, so that the matrix is `T * R * H * S` with `H = U * S⁻¹`.
            ///
            /// `None` if `s_y` is zero, or if the ratio is too large for a number.
            ///
            /// ```
            #[doc = concat!("use posetree::{", stringify!($decompose), ", glam::{", stringify!($Affine), ", ", stringify!($Vector), "}};")]
            /// // A square, two units high, whose top is pushed one unit along X.
            #[doc = concat!("let (x, y, t) = (", stringify!($Vector), "::X, ", stringify!($Vector), "::new(1.0, 2.0), ", stringify!($Vector), "::ZERO);")]
            #[doc = concat!("let parts = ", stringify!($decompose), "(&", stringify!($Affine), "::from_cols(x, y, t));")]
            /// assert_eq!((parts.shear, parts.shear_ratio()), (1.0, Some(0.5)));
            /// ```
            #[must_use]
            pub fn shear_ratio(&self) -> Option<$f> {
                let ratio = self.shear / self.transform.scale.y;
                // Zero over zero is NaN and anything else over zero is infinite: one test covers every case.
                ratio.is_finite().then_some(ratio)
            }

            /// How far the transform alone is from the whole: the share of the second column that dropping the shear
            /// would change, largest element by largest element. It has no unit. Zero for a zero column.
            #[must_use]
            pub fn residual(&self) -> $f {
                let dropped = direction(self.transform.rotation.widen()) * self.shear.widen();
                let column = self.linear().y_axis.abs().max_element();
                // Of subnormal numbers rounding is not relative any more.
                $f::narrow(dropped.abs().max_element() / column.max(<$f as Precision2>::SMALLEST))
            }

            fn linear(&self) -> DMat2 {
                let Self { transform, shear } = *self;
                linear(direction(transform.rotation.widen()), transform.scale.widen(), shear.widen())
            }
        }

        /// Takes an affine matrix apart as position, rotation, scale and shear, with as few negative scales as can be.
        ///
        /// All scales are positive or zero, but for `scale.x` where the matrix mirrors. Use
        #[doc = concat!("[`", stringify!($decompose_with_hint), "`] to get back the signs that somebody typed. Works for every")]
        /// finite matrix, singular ones too: a column that lies in the span of the one before it gets the scale zero,
        /// never an invented one, and the rotation is one that fits. The angle is in (-π, π], and no zero is negative.
        ///
        #[doc = concat!("`", stringify!($decompose), "(&m).recompose() = m` to within `", $bound, " ", stringify!($f), "::EPSILON`")]
        /// of the length of each column. The position keeps its bits. Two limits: a column longer than the largest
        /// finite number gets that as its scale, and of a matrix that is not finite nothing is promised.
        ///
        /// ```
        #[doc = concat!("use posetree::{", stringify!($Transform), ", ", stringify!($decompose), ", glam::", stringify!($Vector), "};")]
        /// // The Y axis is scaled away.
        #[doc = concat!("let flat = ", stringify!($Transform), "::new(", stringify!($Vector), "::X, 0.5, ", stringify!($Vector), "::new(2.0, 0.0));")]
        #[doc = concat!("let parts = ", stringify!($decompose), "(&flat.to_affine());")]
        /// assert_eq!((parts.transform.scale.y, parts.shear), (0.0, 0.0));
        /// assert!(parts.recompose().abs_diff_eq(flat.to_affine(), 1e-6));
        /// ```
        #[must_use]
        pub fn $decompose(affine: &$Affine) -> $Decomposed {
            $decompose_with_hint(affine, $Vector::ONE)
        }

        #[doc = concat!("Takes an affine matrix apart like [`", stringify!($decompose), "()`], with the signs of the scale like")]
        /// those of `hint`.
        ///
        /// Only the signs of the hint count; the scale that was typed is a good one. They are taken as they are if
        /// their product has the sign of the determinant. If not, one is changed: that of a component that is zero in
        /// the hint, or else X. A singular matrix takes any signs. A scale that is zero in the result has none.
        ///
        /// ```
        #[doc = concat!("use posetree::{", stringify!($Transform), ", ", stringify!($decompose), ", ", stringify!($decompose_with_hint), ", glam::", stringify!($Vector), "};")]
        #[doc = concat!("let turned = ", stringify!($Transform), "::from_scale(", stringify!($Vector), "::new(-1.0, -2.0));")]
        /// // Two mirrors are half a turn, so the matrix alone cannot tell.
        #[doc = concat!("let plain = ", stringify!($decompose), "(&turned.to_affine()).transform;")]
        #[doc = concat!("assert_eq!((plain.scale, plain.rotation), (", stringify!($Vector), "::new(1.0, 2.0), ", $example_turn, "));")]
        #[doc = concat!("let parts = ", stringify!($decompose_with_hint), "(&turned.to_affine(), turned.scale);")]
        /// assert_eq!(parts.transform, turned);
        /// ```
        #[must_use]
        pub fn $decompose_with_hint(affine: &$Affine, hint: $Vector) -> $Decomposed {
            let factors = decompose_linear(affine.widen().matrix2, hint.widen());
            $Decomposed::new(&factors, affine.translation)
        }

        impl TryFrom<$Affine> for $Transform {
            type Error = TransformError;

            #[doc = concat!("Reads position, rotation and scale from a matrix, as [`", stringify!($decompose), "()`] does, and refuses")]
            /// shear.
            ///
            /// The matrix of every finite transform is accepted whose scales are no subnormal numbers, the rounding of
            /// which tilts their axis. What is accepted is equal to the result's own matrix,
            /// but for rounding: 32 `EPSILON` of the largest element of each column.
            ///
            /// # Errors
            ///
            /// `NotTrs` if dropping the shear would change a column by more than rounding explains; `NonFinite` if an
            /// element is not finite, or a column is longer than the largest finite number.
            fn try_from(affine: $Affine) -> Result<Self, TransformError> {
                let factors = decompose_linear(affine.widen().matrix2, DVec2::ONE);
                // A column can be too long for a scale although its elements are finite.
                if !(affine.is_finite() && $Vector::narrow(factors.scale).is_finite()) {
                    return Err(TransformError::NonFinite);
                }
                let parts = $Decomposed::new(&factors, affine.translation);
                let residual = parts.residual();
                if residual.widen() > <$f as Precision2>::TRS_TOLERANCE {
                    return Err(TransformError::NotTrs { residual: f32::narrow(residual.widen()) });
                }
                Ok(parts.transform)
            }
        }
    };
}
decomposed2!(
    Decomposed2,
    Transform2,
    f32,
    Vec2,
    Affine2,
    decompose2,
    decompose2_with_hint,
    "2",
    "std::f32::consts::PI"
);
decomposed2!(
    DDecomposed2,
    DTransform2,
    f64,
    DVec2,
    DAffine2,
    ddecompose2,
    ddecompose2_with_hint,
    "8",
    "std::f64::consts::PI"
);
