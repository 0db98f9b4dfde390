//! An affine matrix taken apart as `T * R * U`, and what that loses as `T * R * S`.
//!
//! # What is computed
//!
//! The linear part `M` of every affine matrix, singular ones too, is `R * U`: `R` a proper rotation and `U` upper
//! triangular. The diagonal of `U` is the scale, the three elements above it are the shear. This is the QR
//! factorisation, computed by Gram-Schmidt (Golub & Van Loan, *Matrix Computations*, 5.2.7) with the signs chosen
//! so that `det R = +1`.
//!
//! # Why it always works
//!
//! *Known axes.* Go through the columns `c_x, c_y, c_z` of `M`. From each, take away its shadows on the axes found
//! so far: `U_ij = q_i . c_j`, and `r_j` is what is left. If something is left, it points along a new axis,
//! `q_j = r_j / |r_j|`, and `U_jj = |r_j|`. Then `c_j` is the sum of `U_ij q_i` for `i <= j`, which is column `j`
//! of `R * U`. If nothing is left, the column lies in the span of the axes before it. `U_jj = 0` then, the sum is
//! the same, and axis `j` stays *unknown*: the matrix does not say where it points.
//!
//! *Unknown axes* are chosen last, at right angles to every known axis, also to the later ones. So `q_j . c_k = 0`
//! for every later column `k`, which is the zero that already stands in row `j` of `U`: nothing needs to be done
//! again. That is why a turned scale of `(0, 2, 3)` comes back without shear. One unknown axis is the cross product
//! of the other two; of two, the one further from the known axis starts from its own basis vector; three are the
//! identity.
//!
//! *Signs.* Flipping axis `i` and row `i` of `U` together leaves `R * U` as it was. With all axes known,
//! `det M = det R * U_xx * U_yy * U_zz`, so `det R = +1` needs an odd number of negative scales exactly when `M`
//! mirrors. Which ones is free; a hint decides. With an axis unknown the determinant is zero and asks for nothing:
//! the known axes take the hint's signs and the unknown axis completes them to a rotation.
//!
//! # Why rounding does no harm
//!
//! Columns are measured in units of their largest element, so no square over- or underflows. One subtraction leaves
//! a rest that is at right angles only up to a few 2⁻⁵³ of the *column*, which may be as large as the rest itself.
//! Each column is therefore projected twice: the second time, the error is a few 2⁻⁵³ of the *rest* ("twice is
//! enough", Kahan's remark in Parlett, *The Symmetric Eigenvalue Problem*, 6.9).
//!
//! This needs a rest that is not itself all error. A column that is an exact multiple of another one leaves a few
//! 2⁻⁵³ of itself, which would be an invented scale. And one that is nearly a multiple leaves a direction that is off
//! by 2⁻⁵³ over the share that is left, so that a later column in the plane of both seems to leave it by as much.
//! Where digits are lost the rest is thrown away and found anew, without subtracting what is nearly equal:
//! - with one axis known, of column `a`, it is `(a × c) × a / |a|²`; used for a rest of half its column or less;
//! - with two, of columns `a` and `b`, it is `det(a, b, c) / (U_aa U_bb)` along `q_a × q_b`, which is where a rest
//!   points anyhow; used for one of at most 2⁻⁴⁸ of its column, 32 roundings.
//!
//! The determinants in these are exact in their sign and zeros (see the module `rank`), so that a scale is zero
//! exactly when the column is in the span of those before it, to within 2⁻¹⁰²² of its size, and else as small as it
//! is. What is thrown away is the error of the first rest.
//!
//! ## What the parts give when multiplied again
//!
//! **In f32.** Let `u = f32::EPSILON / 2`, one rounding. Putting the f64 factors into f32 and multiplying again in
//! f64 moves a column `c` by
//! - `2u |c|`: four quaternion components off by `u` each turn by at most `2u` (half angles);
//! - `u |c|`: each element of `U` is off by at most `u` of itself;
//! - `u |c|`: the product is rounded to f32;
//!
//! in all **`4u |c| = 2 f32::EPSILON |c|`** (Euclidean length), plus one to two subnormal steps where elements are
//! below `f32::MIN_POSITIVE`.
//!
//! **In f64** the work itself rounds as coarsely, `u = f64::EPSILON / 2`, and each step counts:
//! - `6u |c|`: the division by the largest element, and two projections on two axes, a product and a difference each,
//!   the second one of small numbers;
//! - `8u |c|`: what is thrown away with a rest, where the second axis is off by `3u` of a column of which half is left;
//! - `8u |c|`: a component of the quaternion is an element of R over four times the largest component, which is at
//!   least a half: 3 u with the root and the sum, and 1 u when it is normalised, each turning by twice as much;
//! - `6u |c|`: normalising it again (1 u, twice) and its matrix, of which an element is two products and a sum, of
//!   factors up to two: 4 u;
//! - `4u |c|`: three products and their sum;
//!
//! in all **`32u |c| = 16 f64::EPSILON |c|`**, which adds up the worst of everything.

use glam::{Affine3A, DAffine3, DMat3, DQuat, DVec3, Vec3};

use super::precision::{Precision, Widen, power_of_two_near_reciprocal};
use super::rank::{LIFT2, LIFT3, cross, determinant};
use crate::{DTransform, Transform, TransformError};

/// With one axis known, a rest of at most this much of its column is found anew; the module page says why.
const LOST_OF_ONE: f64 = 0.5;

/// The same with two: a few roundings.
const LOST_OF_TWO: f64 = 32.0 * (f64::EPSILON / 2.0);

/// `m = rotation * U` in double precision, with the diagonal of `U` in `scale` and the rest in `shear`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factors {
    /// A proper rotation, orthonormal to f64 rounding.
    pub(crate) rotation: DMat3,
    /// `(u_xx, u_yy, u_zz)`: zero where the matrix does not determine the axis.
    pub(crate) scale: DVec3,
    /// `(u_xy, u_xz, u_yz)`, not divided by any scale.
    pub(crate) shear: DVec3,
}

/// Factors a matrix as rotation times upper triangular; the module page derives how.
///
/// `hint` gives the wanted signs of the scale, all +1 for none. The matrix must be finite. A column longer than
/// `f64::MAX` has an infinite scale.
pub(crate) fn decompose_linear(m: DMat3, hint: DVec3) -> Factors {
    let mut found = Found::default();
    found.take::<0>(&m);
    found.take::<1>(&m);
    found.take::<2>(&m);
    let Found { mut axes, u, .. } = found;

    let signs = signs_for(&axes, hint);
    for (axis, sign) in axes.iter_mut().zip(signs) {
        *axis = axis.map(|axis| axis * sign);
    }
    // Adding zero turns -0.0 into 0.0 and changes nothing else.
    let at = |i: usize, j: usize| u[i][j] * signs[i] + 0.0;
    Factors {
        rotation: complete(axes),
        scale: DVec3::new(at(0, 0), at(1, 1), at(2, 2)),
        shear: DVec3::new(at(0, 1), at(0, 2), at(1, 2)),
    }
}

/// What the columns gave so far.
#[derive(Default)]
struct Found {
    axes: [Option<DVec3>; 3],
    u: [[f64; 3]; 3],
    /// The diagonal again, each in units of its column's largest element: there it cannot underflow.
    lefts: [f64; 3],
}

impl Found {
    /// Adds column `J`.
    #[inline(always)]
    fn take<const J: usize>(&mut self, m: &DMat3) {
        let column = m.col(J);
        let size = column.abs().max_element();
        if size == 0.0 {
            return;
        }
        let mut rest = column / size;
        let length = rest.length();
        // Twice: the first rest is at right angles only relative to the column, which may be far longer.
        for _ in 0..2 {
            for i in 0..J {
                if let Some(axis) = self.axes[i] {
                    let along = axis.dot(rest);
                    rest -= axis * along;
                    self.u[i][J] += along * size;
                }
            }
        }
        let mut left = rest.length();
        let lost = if let [Some(_), Some(_)] = self.axes[..J] { LOST_OF_TWO } else { LOST_OF_ONE };
        if left > lost * length {
            self.axes[J] = Some(rest / left);
        } else {
            (self.axes[J], left) = rest_by_minors::<J>(*m, self.axes, self.lefts);
        }
        (self.u[J][J], self.lefts[J]) = (left * size, left);
    }
}

/// The direction and the length of what is left of column `J`, where subtracting lost it; `None` if nothing is left.
/// Lengths are in units of their column's largest element.
#[inline(never)]
fn rest_by_minors<const J: usize>(m: DMat3, axes: [Option<DVec3>; 3], lefts: [f64; 3]) -> (Option<DVec3>, f64) {
    // From the determinants' units, which are powers of two.
    let size = |i: usize| {
        let size = m.col(i).abs().max_element();
        size * power_of_two_near_reciprocal(size)
    };
    let (axis, left) = match axes[..J] {
        [Some(x), Some(y)] => {
            let det = determinant(m);
            let known = lefts[0] * size(0) * lefts[1] * size(1);
            (x.cross(y) * det.signum(), det.abs() / LIFT3 / known)
        }
        [Some(axis)] | [Some(axis), None] | [None, Some(axis)] => {
            let i = usize::from(axes[0].is_none());
            let across = cross(m.col(i), m.col(J));
            let near_one = power_of_two_near_reciprocal(across.abs().max_element());
            let left = (across * near_one).length() / near_one / LIFT2 / (lefts[i] * size(i));
            ((across * near_one).normalize().cross(axis).normalize(), left)
        }
        _ => return (None, 0.0),
    };
    // Below the normal numbers it is not relatively exact any more.
    if left >= f64::MIN_POSITIVE { (Some(axis), left / size(J)) } else { (None, 0.0) }
}

/// The sign of each scale: the hint's, unless the determinant asks for one more or one less negative.
fn signs_for(axes: &[Option<DVec3>; 3], hint: DVec3) -> [f64; 3] {
    let hint = hint.to_array();
    let mut signs = hint.map(|h| if h < 0.0 { -1.0 } else { 1.0 });
    if let [Some(x), Some(y), Some(z)] = *axes {
        let mirrored = x.cross(y).dot(z) < 0.0;
        if mirrored != (signs[0] * signs[1] * signs[2] < 0.0) {
            // A zero was typed without a sign, so that one gives way; else X does.
            let gives_way = hint.iter().position(|h| *h == 0.0).unwrap_or(0);
            signs[gives_way] = -signs[gives_way];
        }
    }
    signs
}

/// Chooses the unknown axes so that all three are a right-handed, orthonormal basis.
fn complete(axes: [Option<DVec3>; 3]) -> DMat3 {
    let (x, y, z) = match axes {
        [Some(x), Some(y), Some(z)] => (x, y, z),
        [None, Some(y), Some(z)] => (y.cross(z), y, z),
        [Some(x), None, Some(z)] => (x, z.cross(x), z),
        [Some(x), Some(y), None] => (x, y, x.cross(y)),
        [Some(x), None, None] => {
            let (y, z) = beside(x, DVec3::Y, DVec3::Z);
            (x, y, z)
        }
        [None, Some(y), None] => {
            let (z, x) = beside(y, DVec3::Z, DVec3::X);
            (x, y, z)
        }
        [None, None, Some(z)] => {
            let (x, y) = beside(z, DVec3::X, DVec3::Y);
            (x, y, z)
        }
        [None, None, None] => (DVec3::X, DVec3::Y, DVec3::Z),
    };
    DMat3::from_cols(x, y, z)
}

/// Two unit vectors that make a right-handed basis `(a, b, c)`, one of them as near to its basis vector as can be.
fn beside(a: DVec3, e_b: DVec3, e_c: DVec3) -> (DVec3, DVec3) {
    // One of the two is at least 45 degrees off `a`, so that no cancellation is worth a second projection.
    if a.dot(e_b).abs() <= a.dot(e_c).abs() {
        let b = (e_b - a * a.dot(e_b)).normalize();
        (b, a.cross(b))
    } else {
        let c = (e_c - a * a.dot(e_c)).normalize();
        (c.cross(a), c)
    }
}

/// The quaternion of a proper rotation matrix, without -0.0. Its length is one to within one rounding.
pub(crate) fn quat_of<P: Precision>(rotation: &DMat3) -> P::Rotation {
    let q = P::Rotation::narrow(DQuat::from_mat3(rotation).normalize()).widen();
    P::Rotation::narrow(DQuat::from_xyzw(q.x + 0.0, q.y + 0.0, q.z + 0.0, q.w + 0.0))
}

/// The rotation matrix of a quaternion in f64, a rotation also where the quaternion is only unit to f32 rounding.
fn rotation_of<P: Precision>(q: P::Rotation) -> DMat3 {
    DMat3::from_quat(q.widen().normalize())
}

/// The shear of `m = rotation * U`, the rotation known: what `rotation⁻¹ m` has above its diagonal.
pub(crate) fn shear_under<P: Precision>(rotation: P::Rotation, m: DMat3) -> P::Vector {
    let upper = rotation_of::<P>(rotation).transpose() * m;
    round::<P>(DVec3::new(upper.y_axis.x, upper.z_axis.x, upper.z_axis.y))
}

/// Rounds, to the largest finite number where that would overflow, and without -0.0.
fn round<P: Precision>(v: DVec3) -> P::Vector {
    let max = DVec3::splat(P::MAX);
    P::Vector::narrow(P::Vector::narrow(v.clamp(-max, max)).widen() + DVec3::ZERO)
}

/// `U` in f64.
pub(crate) fn upper(scale: DVec3, shear: DVec3) -> DMat3 {
    DMat3::from_cols(
        DVec3::new(scale.x, 0.0, 0.0),
        DVec3::new(shear.x, scale.y, 0.0),
        DVec3::new(shear.y, shear.z, scale.z),
    )
}

/// The share of the worst column of `R U` that is lost without the shear.
fn share_of_shear(rotation: &DMat3, upper: &DMat3, smallest: f64) -> f64 {
    let sheared =
        DMat3::from_cols(DVec3::ZERO, DVec3::X * upper.y_axis.x, DVec3::new(upper.z_axis.x, upper.z_axis.y, 0.0));
    let (whole, dropped) = (*rotation * *upper, *rotation * sheared);
    let share = |dropped: DVec3, column: DVec3| dropped.abs().max_element() / column.abs().max_element().max(smallest);
    share(dropped.y_axis, whole.y_axis).max(share(dropped.z_axis, whole.z_axis))
}

/// Writes the parts of a matrix of one precision. The literals are what its examples import, under the names that
/// they use, and the laws of its rounding.
macro_rules! decomposed3 {
    (
        $(#[$about:meta])*
        $Decomposed:ident, $decompose:ident, $decompose_with_hint:ident,
        $Transform:ident, $Float:ident, $Vec3:ident, $Affine:ident,
        uses $T:literal $d:literal $dh:literal $A:literal $M:literal $Q:literal $V:literal $Vuse:literal,
        law $law:literal, accepted $accepted:literal
    ) => {
        $(#[$about])*
        ///
        /// ```text
        ///     | scale.x  shear.x  shear.y |
        /// U = |    0     scale.y  shear.z |
        ///     |    0        0     scale.z |
        /// ```
        ///
        /// The frame is that of the matrix: it maps local coordinates to the parent's (or to the world's, for a world
        #[doc = concat!("matrix). Made by [`", stringify!($decompose), "()`] and [`", stringify!($decompose_with_hint), "`].")]
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $Decomposed {
            /// Position, rotation, and the diagonal of `U` as the scale.
            pub transform: $Transform,
            /// The elements of `U` above the diagonal, `(u_xy, u_xz, u_yz)`, in parent units. They are *not* divided by
            /// a scale, so that they are finite where a scale is zero; [`shear_ratios`](Self::shear_ratios) divides.
            pub shear: $Vec3,
        }

        impl $Decomposed {
            pub(crate) fn new(factors: &Factors, translation: $Vec3) -> Self {
                Self {
                    transform: $Transform::new(translation, quat_of::<$Float>(&factors.rotation), round::<$Float>(factors.scale)),
                    shear: round::<$Float>(factors.shear),
                }
            }

            /// Multiplies the parts together again: `T * R * U`.
            ///
            #[doc = concat!("For `d = ", stringify!($decompose), "(&m)`, column by column, `|d.recompose() - m| <= ", $law, " |m|` (plus two subnormal")]
            #[doc = concat!("steps where elements are subnormal). The law assumes that no column is longer than `", stringify!($Float), "::MAX`.")]
            #[must_use]
            pub fn recompose(&self) -> $Affine {
                let linear = rotation_of::<$Float>(self.transform.rotation) * self.upper();
                $Affine::narrow(DAffine3 { matrix3: linear, translation: self.transform.position.widen() })
            }

            /// The shear as ratios `(xy, xz, yz)` of `H = U * S⁻¹`, so that the matrix is `T * R * H * S`, the way Maya
            /// and FBX write it.
            ///
            /// An element is divided by the scale of its *column*: `(u_xy / s_y, u_xz / s_z, u_yz / s_z)`. `None` if
            /// `s_y`
            #[doc = concat!("or `s_z` is zero, or if a ratio is too large for an ", stringify!($Float), ".")]
            ///
            /// ```
            #[doc = concat!("use posetree::{", $d, ", glam::{", $A, ", ", $M, ", ", $V, "}};")]
            /// // A box, two units high, whose top is pushed one unit along X.
            /// let sheared = Affine3A::from_mat3(Mat3::from_cols(Vec3::X, Vec3::new(1.0, 2.0, 0.0), Vec3::Z));
            /// let parts = decompose(&sheared);
            /// assert_eq!(parts.shear, Vec3::new(1.0, 0.0, 0.0));
            /// assert_eq!(parts.shear_ratios(), Some(Vec3::new(0.5, 0.0, 0.0)));
            /// ```
            #[must_use]
            pub fn shear_ratios(&self) -> Option<$Vec3> {
                let scale = self.transform.scale;
                let ratios = self.shear / $Vec3::new(scale.y, scale.z, scale.z);
                // Zero over zero is NaN and anything else over zero is infinite: one test covers every case.
                ratios.is_finite().then_some(ratios)
            }

            /// How far the transform alone is from the whole: the share of a column that dropping the shear would
            /// change.
            ///
            /// The largest over the columns of: largest element of `T*R*S - T*R*U`, divided by the largest element of
            /// the column of `T*R*U`. It has no unit. Zero for a zero column; a column of subnormal numbers counts as
            /// being of
            #[doc = concat!("size `", stringify!($Float), "::MIN_POSITIVE`, where rounding stops being relative.")]
            ///
            /// ```
            #[doc = concat!("use posetree::{", $d, ", glam::{", $A, ", ", $Q, ", ", $V, "}};")]
            /// let parent = Affine3A::from_scale(Vec3::new(2.0, 1.0, 1.0));
            /// let child = Affine3A::from_quat(Quat::from_rotation_z(0.5));
            /// assert!(decompose(&child).residual() < 1e-6);
            /// assert!(decompose(&(parent * child)).residual() > 0.1, "a turned child shears");
            /// ```
            #[must_use]
            pub fn residual(&self) -> $Float {
                let rotation = rotation_of::<$Float>(self.transform.rotation);
                $Float::narrow(share_of_shear(&rotation, &self.upper(), $Float::SMALLEST))
            }

            fn upper(&self) -> DMat3 {
                upper(self.transform.scale.widen(), self.shear.widen())
            }
        }

        /// Takes an affine matrix apart as position, rotation, scale and shear, with as few negative scales as can be.
        ///
        /// All scales are positive or zero, but for `scale.x` where the matrix mirrors.
        #[doc = concat!("Use [`", stringify!($decompose_with_hint), "`] to get")]
        /// back the signs that somebody typed. Works for every finite matrix, singular ones too: a column that lies in
        /// the span of those before it gets the scale zero, never an invented one, and the rotation is one that fits.
        ///
        #[doc = concat!("`", stringify!($decompose), "(&m).recompose() = m` to within `", $law, "` of the length of each column. The rotation's squared")]
        #[doc = concat!("length is within `4 ", stringify!($Float), "::EPSILON` of one, and no zero is negative. The position keeps its bits. Two limits: a")]
        #[doc = concat!("column longer than `", stringify!($Float), "::MAX` (which takes elements above half of it) gets the largest finite scale, and of a")]
        /// matrix that is not finite nothing is promised.
        ///
        /// ```
        #[doc = concat!("use posetree::{", $T, ", ", $d, ", glam::{", $Q, ", ", $V, "}};")]
        /// // The Y axis is scaled away; glam's own decomposition would return NaN.
        /// let flat = Transform::new(Vec3::X, Quat::from_rotation_z(0.5), Vec3::new(1.0, 0.0, 2.0));
        /// let parts = decompose(&flat.to_affine());
        /// assert_eq!(parts.transform.scale.y, 0.0);
        /// assert!(parts.recompose().abs_diff_eq(flat.to_affine(), 1e-6));
        /// ```
        #[must_use]
        pub fn $decompose(affine: &$Affine) -> $Decomposed {
            $decompose_with_hint(affine, $Vec3::ONE)
        }

        #[doc = concat!("Takes an affine matrix apart like [`", stringify!($decompose), "()`], with the signs of the scale like those of `hint`.")]
        ///
        /// Only the signs of the hint count; the scale that was typed is a good one. They are taken as they are if
        /// their product has the sign of the determinant. If not, one is changed: that of a component that is zero in
        /// the hint, or else X. A singular matrix takes any signs. A scale that is zero in the result has none.
        ///
        /// ```
        #[doc = concat!("use posetree::{", $T, ", ", $d, ", ", $dh, ", glam::", $Vuse, "};")]
        /// let turned = Transform::from_scale(Vec3::new(-1.0, -2.0, 3.0));
        /// // Two mirrors are half a turn, so the matrix alone cannot tell.
        /// assert_eq!(decompose(&turned.to_affine()).transform.scale, Vec3::new(1.0, 2.0, 3.0));
        /// let parts = decompose_with_hint(&turned.to_affine(), turned.scale);
        /// assert_eq!(parts.transform, turned);
        /// ```
        #[must_use]
        pub fn $decompose_with_hint(affine: &$Affine, hint: $Vec3) -> $Decomposed {
            let factors = decompose_linear(affine.widen().matrix3, hint.widen());
            $Decomposed::new(&factors, affine.translation.into())
        }

        impl TryFrom<$Affine> for $Transform {
            type Error = TransformError;

            #[doc = concat!("Reads position, rotation and scale from a matrix, as [`", stringify!($decompose), "()`] does, and refuses shear.")]
            ///
            #[doc = concat!("The matrix of every transform is accepted whose rotation is unit (squared length within `4 ", stringify!($Float), "::EPSILON` of")]
            /// one) and whose scales are not so large that their elements overflow, nor, but for zero, so small that
            /// they are subnormal and tilt their axis by rounding. What is accepted is equal to the
            #[doc = concat!("result's own matrix, but for rounding: `", $accepted, "` of the largest element of each column.")]
            ///
            /// # Errors
            ///
            /// `NotTrs` if dropping the shear would change a column by more than rounding explains; `NonFinite` if an
            #[doc = concat!("element is not finite, or a column is longer than `", stringify!($Float), "::MAX`.")]
            fn try_from(affine: $Affine) -> Result<Self, Self::Error> {
                let factors = decompose_linear(affine.widen().matrix3, DVec3::ONE);
                if !(affine.is_finite() && $Vec3::narrow(factors.scale).is_finite()) {
                    return Err(TransformError::NonFinite);
                }
                let parts = $Decomposed::new(&factors, affine.translation.into());
                let residual = parts.residual();
                if residual.widen() > $Float::TRS_TOLERANCE {
                    return Err(TransformError::NotTrs { residual: f32::narrow(residual.widen()) });
                }
                Ok(parts.transform)
            }
        }
    };
}

decomposed3! {
    /// An affine matrix as `T * R * U`: position, rotation, and an upper triangular matrix of scale and shear.
    Decomposed, decompose, decompose_with_hint, Transform, f32, Vec3, Affine3A,
    uses "Transform" "decompose" "decompose_with_hint" "Affine3A" "Mat3" "Quat" "Vec3" "Vec3",
    law "2 f32::EPSILON", accepted "24 f32::EPSILON"
}

decomposed3! {
    /// An affine matrix as `T * R * U` in double precision: position, rotation, and an upper triangular matrix of
    /// scale and shear.
    DDecomposed, ddecompose, ddecompose_with_hint, DTransform, f64, DVec3, DAffine3,
    uses "DTransform as Transform" "ddecompose as decompose" "ddecompose_with_hint as decompose_with_hint"
        "DAffine3 as Affine3A" "DMat3 as Mat3" "DQuat as Quat" "DVec3 as Vec3" "{DVec3 as Vec3}",
    law "16 f64::EPSILON", accepted "64 f64::EPSILON"
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Orthonormal to 32 f64 roundings, for three products of three terms, each projected twice. Recomposed to as
    /// much, in units of the largest element, which can be `√3` times smaller than the column.
    fn check(m: DMat3, hint: DVec3) -> Factors {
        const FEW: f64 = 16.0 * f64::EPSILON;
        let f = decompose_linear(m, hint);
        let gram = f.rotation.transpose() * f.rotation;
        assert!(gram.abs_diff_eq(DMat3::IDENTITY, FEW), "{gram}");
        assert!((f.rotation.determinant() - 1.0).abs() <= FEW);
        let u = upper(f.scale, f.shear);
        for j in 0..3 {
            let size = m.col(j).abs().max_element().max(f64::MIN_POSITIVE);
            let back = f.rotation * (u.col(j) / size);
            assert!(back.abs_diff_eq(m.col(j) / size, FEW), "{m} {f:?}");
        }
        let numbers = f.scale.to_array().into_iter().chain(f.shear.to_array());
        for x in numbers {
            assert!(x != 0.0 || x.is_sign_positive(), "-0.0 in {f:?}");
        }
        f
    }

    /// Where the last digit decides, the scales' zeros and signs are those of the determinant.
    fn check_sign(m: DMat3) {
        let scale = check(m, DVec3::ONE).scale;
        let det = determinant(m);
        assert_eq!(scale.cmpeq(DVec3::ZERO).any(), det == 0.0, "{m} {scale}");
        if det != 0.0 {
            assert_eq!(scale.cmplt(DVec3::ZERO).bitmask().count_ones() % 2 == 1, det < 0.0, "{m} {scale}");
        }
    }

    proptest! {
        #[test]
        fn a_scale_is_zero_exactly_where_a_column_depends_on_others(
            a in prop::array::uniform3(-9i32..=9), b in prop::array::uniform3(-9i32..=9),
            k in -3i32..=3, l in -3i32..=3, near in 0..40, at in 0..3usize, step in -2i64..=2, order in 0..3usize, size in -300i32..300,
        ) {
            let [a, b] = [a, b].map(|v| DVec3::from_array(v.map(f64::from)));
            // Nearly parallel to `a`, and still exact.
            let b = a + b * 0.5f64.powi(near);
            // An exact sum, and that with an element a few last digits off.
            let mut c = a * f64::from(k) + b * f64::from(l);
            c[at] = f64::from_bits(c[at].to_bits().wrapping_add_signed(if c[at] == 0.0 { 0 } else { step }));
            let c = c * 2f64.powi(size);
            check_sign([DMat3::from_cols(a, b, c), DMat3::from_cols(c, a, b), DMat3::from_cols(b, c, a)][order]);
        }
    }

    #[test]
    fn a_rest_far_below_the_last_digit_of_its_column_is_found() {
        let turn = DMat3::from_quat(DQuat::from_xyzw(0.5, 0.5, 0.5, 0.5));
        for exponent in [-30, -47, -48, -49, -52, -53, -60, -200, -500] {
            let tiny = 2f64.powi(exponent);
            let upper = upper(DVec3::new(2.0, tiny, 3.0 * tiny), DVec3::new(1.0, 0.5, 0.25));
            let f = check(turn * upper, DVec3::ONE);
            assert!((f.scale / DVec3::new(2.0, tiny, 3.0 * tiny) - DVec3::ONE).abs().max_element() < 1e-15, "{f:?}");
            assert!((f.rotation - turn).to_cols_array().iter().all(|off| off.abs() < 1e-15), "{f:?}");
        }
    }

    #[test]
    fn any_size_in_double_precision() {
        let q = DQuat::from_xyzw(0.1, -0.7, 0.3, 0.4).normalize();
        for scale in [
            DVec3::new(1e200, -1e-200, 1.0),
            DVec3::splat(1e-307),
            DVec3::new(1e307, 0.0, 1e-307),
            DVec3::new(-1.0, 0.0, 2.0),
        ] {
            let m = DMat3::from_quat(q) * DMat3::from_diagonal(scale);
            let f = check(m, scale);
            assert!(((f.scale - scale) / scale.abs().max(DVec3::splat(1e-307))).length() < 1e-14);
        }
    }

    #[test]
    fn orthonormal_however_nearly_parallel() {
        for exponent in 0..60 {
            let tiny = 0.5_f64.powi(exponent);
            let (a, b) = (DVec3::new(1.0, 2.0, 3.0), DVec3::new(-3.0, 0.5, 1.0));
            check(DMat3::from_cols(a, a + b * tiny, a - b + a.cross(b) * tiny), DVec3::ONE);
        }
    }
}
