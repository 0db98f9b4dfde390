//! The seam between the two precisions: the types of each, its rounding, and the way to float64 and back.
//!
//! What takes thought (solving, taking apart, aiming, mapping) is written once, in float64. A value of float32 is
//! widened, which loses nothing, and the answer is narrowed, which is its only rounding. For float64 both are the
//! identity, and the roundings of the work itself are what is left: [`Precision::WORK`] adds them to the tolerances.

use crate::{DDecomposed, DTransform, Decomposed, NonFinite, NotRotation, Transform};
use core::fmt::Debug;
use glam::{
    Affine2, Affine3A, DAffine2, DAffine3, DMat3, DMat4, DQuat, DVec2, DVec3, DVec4, Mat4, Quat, Vec2, Vec3, Vec4,
};

/// A value of either precision.
#[doc(hidden)]
#[allow(unnameable_types, reason = "a bound of a sealed trait's hidden items")]
pub trait Widen: Copy {
    /// The same in float64.
    type Wide;
    /// Exact.
    fn widen(self) -> Self::Wide;
    /// Rounded to nearest, each number by itself.
    fn narrow(wide: Self::Wide) -> Self;
}

macro_rules! widen {
    ($($Single:ident as $Double:ident, $widen:ident, $narrow:ident;)+) => {$(
        impl Widen for $Single {
            type Wide = $Double;

            #[inline]
            fn widen(self) -> $Double {
                self.$widen()
            }

            #[inline]
            fn narrow(wide: $Double) -> Self {
                wide.$narrow()
            }
        }
        widen!($Double);
    )+};
    ($Double:ident) => {
        impl Widen for $Double {
            type Wide = Self;

            #[inline]
            fn widen(self) -> Self {
                self
            }

            #[inline]
            fn narrow(wide: Self) -> Self {
                wide
            }
        }
    };
}

widen! {
    Vec2 as DVec2, as_dvec2, as_vec2;
    Vec3 as DVec3, as_dvec3, as_vec3;
    Quat as DQuat, as_dquat, as_quat;
}
widen!(f64);
widen!(DAffine2);
widen!(DAffine3);

impl Widen for f32 {
    type Wide = f64;

    #[inline]
    fn widen(self) -> f64 {
        self.into()
    }

    #[inline]
    fn narrow(wide: f64) -> Self {
        wide as Self
    }
}

impl Widen for Affine2 {
    type Wide = DAffine2;

    #[inline]
    fn widen(self) -> DAffine2 {
        let Self { matrix2, translation } = self;
        let [x, y, t] = [matrix2.x_axis, matrix2.y_axis, translation].map(|column| column.as_dvec2());
        DAffine2::from_cols(x, y, t)
    }

    #[inline]
    fn narrow(wide: DAffine2) -> Self {
        wide.as_affine2()
    }
}

impl Widen for Affine3A {
    type Wide = DAffine3;

    #[inline]
    fn widen(self) -> DAffine3 {
        let Self { matrix3, translation } = self;
        let [x, y, z, t] =
            [matrix3.x_axis, matrix3.y_axis, matrix3.z_axis, translation].map(|column| column.as_dvec3());
        DAffine3 { matrix3: DMat3::from_cols(x, y, z), translation: t }
    }

    #[inline]
    fn narrow(wide: DAffine3) -> Self {
        wide.as_affine3a()
    }
}

/// A quaternion whose length is off by more than this is no rotation.
const ROTATION_TOLERANCE: f64 = 0.01;

/// A floating point type with the types of glam and of this crate that are made of it.
#[doc(hidden)]
#[allow(unnameable_types, reason = "a bound of a sealed trait's hidden items")]
pub trait Precision: Widen<Wide = f64> + Debug + PartialOrd + Send + Sync + 'static {
    type Vector: Widen<Wide = DVec3> + Debug + PartialEq + Send + Sync;
    type Rotation: Widen<Wide = DQuat> + Debug + PartialEq + Send + Sync;
    type Affine: Widen<Wide = DAffine3> + Debug + PartialEq + Send + Sync;
    type Mat4: Copy + Debug + PartialEq + Send + Sync;
    type Transform: Copy + Debug + PartialEq + Send + Sync;
    type Decomposed: Copy + Debug + PartialEq + Send + Sync;

    /// The distance from one to the next number: two roundings.
    const EPSILON: f64;
    /// The largest number.
    const MAX: f64;
    /// The smallest normal number: below it rounding is not relative to a number's size, and misses nothing that
    /// this precision could hold.
    const SMALLEST: f64;
    /// Whether what is computed in float64 rounds as coarsely as what is stored: one, or zero where its roundings
    /// are far below those. Counts the roundings of the work in a tolerance.
    const WORK: f64;

    /// What is stored as given: rounding a unit quaternion leaves `|len² - 1| ≤ 2 u` from the components, u = ε/2,
    /// and glam's own normalisation adds about as much in the root and the division. Storing what is within 4 ε as
    /// it is keeps the bits of a value that was read here and is set back.
    const UNIT_TOLERANCE: f64 = 4.0 * Self::EPSILON;

    /// A residual up to this is rounding, not shear: a matrix is then position, rotation and scale.
    ///
    /// It has to accept the matrix of every valid transform.
    /// - *Length.* A quaternion `(1 + η) q` with `q` of length one gives the matrix `R + 2η (R - 1)`, whose columns
    ///   `i` and `j` have the product `-2η (R_ij + R_ji) = -8η q_i q_j`. Over the columns before `j` that is a
    ///   difference of at most `4|η|`. A length counts as one while `|len² - 1| <= 4ε`, so `|η| <= 2ε`: `8ε`. The
    ///   largest element of the column is `1/√2` where that is reached (half a turn about `(1, 1, √2)`), so
    ///   **`8√2 ε = 11.3 ε`**.
    /// - *Evaluation.* An element off the diagonal is two products and a sum, with a scale applied: `3u = 1.5 ε`.
    ///   The difference in a column takes that from the column and from those before it: about **`3 ε`**.
    ///
    /// Together about `14.5 ε`; hill climbing from 1500 random rotations found 14.2 ε as the worst for float32. A
    /// quaternion that is unit to within `ε`, which is what its own rounding costs, stays below 8 ε.
    ///
    /// - *Taking apart*, where float64 has no digits to spare: an element of the shear is a product of three terms
    ///   taken away from what it is measured by, twice (`8 u`), and multiplied by a rotation again (`6 u`); by the
    ///   column's largest element, which may be `√3` times shorter than the column, **`12 ε`**.
    const TRS_TOLERANCE: f64 = (16.0 + 16.0 * Self::WORK) * Self::EPSILON;

    /// How far a parent's linear part may be from a rotation times one factor and still count as one: its columns
    /// carry the rounding of every level above, each like that of one transform's matrix.
    const CONFORMAL: f64 = 2.0 * Self::TRS_TOLERANCE;

    /// How far a solved position may be off, beyond what still does its job, in units of the distances of the
    /// parent's origin and of the wanted position: subtracting two positions and turning the difference leaves at
    /// most `√3 u` of each, u = ε/2, and adding it back the same; 4 ε = 8 u. Where the work rounds too, the
    /// parent's product did (`4 u` of each), and solving and mapping back do (`6 u` of each): 24 u more.
    const POSITION_MISFIT: f64 = (4.0 + 12.0 * Self::WORK) * Self::EPSILON;

    /// Two directions whose sine is below this are parallel as far as anyone can tell: each has usually come out of
    /// a normalisation or a rotation, which leave it off by up to about 4 ε. Closer than the sum of both, their
    /// rounding would choose the answer.
    const PARALLEL: f64 = 8.0 * Self::EPSILON;

    /// The law of a solution `x` of `P x = W`: `|P x - W| ≤ LAW |P||x|`, element by element.
    ///
    /// Rounding `x` alone moves `P x` by `u |P||x|`, and holding it as position, rotation and scale by about
    /// `4 u |P||x|`: 2 ε. Where the work rounds too, solving and one refinement leave at most `4 u` (three products
    /// and two sums of the residual, one correction; N. J. Higham, *Accuracy and Stability of Numerical
    /// Algorithms*, 12.2), taking apart `4 u` and testing the law itself `4 u`: 6 ε more.
    const LAW: f64 = (2.0 + 6.0 * Self::WORK) * Self::EPSILON;

    /// Position, rotation, scale.
    fn parts(transform: &Self::Transform) -> (Self::Vector, Self::Rotation, Self::Vector);
    fn transform_of(decomposed: &Self::Decomposed) -> Self::Transform;
    fn to_mat4(affine: Self::Affine) -> Self::Mat4;
    fn is_finite(vector: Self::Vector) -> bool;
    /// Whether a rotation is stored as given.
    fn is_unit(rotation: Self::Rotation) -> bool;
    fn admit_rotation<E: From<NonFinite> + From<NotRotation>>(rotation: Self::Rotation) -> Result<Self::Rotation, E>;
    /// Whether a transform is admitted as it is, by a test that nearly all of those pass.
    fn is_plain(transform: &Self::Transform) -> bool;
    fn admit_transform<E: From<NonFinite> + From<NotRotation>>(transform: &mut Self::Transform) -> Result<(), E>;
    /// Whether the transform and its matrix are finite.
    fn has_finite_matrix(transform: &Self::Transform) -> bool;
    /// q and -q turn alike: the one nearer to what a node holds, so that nothing spins between the two.
    fn nearer(rotation: Self::Rotation, held: Self::Rotation) -> Self::Rotation;
}

macro_rules! precision {
    ($Float:ident: $Vec3:ident, $Vec4:ident, $Quat:ident, $Affine:ident, $Mat4:ident, $Transform:ident, $Decomposed:ident, work $work:literal) => {
        impl Precision for $Float {
            type Vector = $Vec3;
            type Rotation = $Quat;
            type Affine = $Affine;
            type Mat4 = $Mat4;
            type Transform = $Transform;
            type Decomposed = $Decomposed;

            const EPSILON: f64 = $Float::EPSILON as f64;
            const MAX: f64 = $Float::MAX as f64;
            const SMALLEST: f64 = $Float::MIN_POSITIVE as f64;
            const WORK: f64 = $work;

            fn parts(transform: &$Transform) -> ($Vec3, $Quat, $Vec3) {
                (transform.position, transform.rotation, transform.scale)
            }

            fn transform_of(decomposed: &$Decomposed) -> $Transform {
                decomposed.transform
            }

            fn to_mat4(affine: $Affine) -> $Mat4 {
                affine.into()
            }

            /// Four at once: one by one takes three times as long.
            #[inline]
            fn is_finite(vector: $Vec3) -> bool {
                vector.extend(0.0).is_finite()
            }

            #[inline]
            fn is_unit(rotation: $Quat) -> bool {
                (rotation.length_squared() - 1.0).abs() <= Self::UNIT_TOLERANCE as $Float
            }

            #[inline]
            fn admit_rotation<E: From<NonFinite> + From<NotRotation>>(rotation: $Quat) -> Result<$Quat, E> {
                if !rotation.is_finite() {
                    return Err(NonFinite.into());
                }
                if Self::is_unit(rotation) {
                    return Ok(rotation);
                }
                let length = rotation.length();
                if (length - 1.0).abs() <= ROTATION_TOLERANCE as $Float {
                    Ok(rotation.normalize())
                } else {
                    Err(NotRotation { length: f32::narrow(length.widen()) }.into())
                }
            }

            /// Sums and a length are neither small nor one where a part of them is not finite.
            #[inline(always)]
            fn is_plain(transform: &$Transform) -> bool {
                let (position, scale) = (transform.position, transform.scale);
                // As they lie in memory.
                let size = position.extend(scale.x).abs() + $Vec4::new(scale.y, scale.z, 0.0, 0.0).abs();
                size.cmple($Vec4::splat($Float::MAX / 2.0)).all() & Self::is_unit(transform.rotation)
            }

            #[inline]
            fn admit_transform<E: From<NonFinite> + From<NotRotation>>(transform: &mut $Transform) -> Result<(), E> {
                if Self::is_plain(transform) {
                    return Ok(());
                }
                if !transform.position.is_finite() || !transform.scale.is_finite() {
                    return Err(NonFinite.into());
                }
                let rotation = Self::admit_rotation::<E>(transform.rotation)?;
                if overflows!($Float, $Transform, transform.scale, rotation) {
                    return Err(NonFinite.into());
                }
                transform.rotation = rotation;
                Ok(())
            }

            fn has_finite_matrix(transform: &$Transform) -> bool {
                transform.is_finite() && !overflows!($Float, $Transform, transform.scale, transform.rotation)
            }

            fn nearer(rotation: $Quat, held: $Quat) -> $Quat {
                if rotation.dot(held) < 0.0 { -rotation } else { rotation }
            }
        }
    };
}

/// A scale at the end of the range times a rotation that is a last bit too long overflows.
macro_rules! overflows {
    ($Float:ident, $Transform:ident, $scale:expr, $rotation:expr) => {
        $scale.abs().max_element() > $Float::MAX / 2.0
            && !$Transform::from_rotation($rotation).with_scale($scale).to_affine().is_finite()
    };
}

precision!(f32: Vec3, Vec4, Quat, Affine3A, Mat4, Transform, Decomposed, work 0.0);
precision!(f64: DVec3, DVec4, DQuat, DAffine3, DMat4, DTransform, DDecomposed, work 1.0);

/// A power of two that brings `size` near one; exact for every normal and subnormal float64.
pub(crate) fn power_of_two_near_reciprocal(size: f64) -> f64 {
    let exponent = ((size.to_bits() >> 52) & 0x7ff) as i64 - 1023;
    let clamped = (-exponent).clamp(-1022, 1023);
    f64::from_bits(((clamped + 1023) as u64) << 52)
}

/// A vector times a power of two, so that its largest element is near one. No digit changes.
pub(crate) fn near_one(vector: DVec3) -> DVec3 {
    vector * power_of_two_near_reciprocal(vector.abs().max_element())
}
