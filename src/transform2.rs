//! [`Transform2`] and [`DTransform2`]: position, angle and scale in the plane as one value, and its algebra.

use crate::TransformError;
use crate::transform::precision::Widen;
use crate::transform2::decompose::direction;
use glam::{Affine2, DAffine2, DMat3, DVec2, Mat3, Vec2};
use precision::{Precision2, near_zero, sum_of_angles};

pub(crate) mod decompose;
pub(crate) mod precision;

pub use decompose::{DDecomposed2, Decomposed2, ddecompose2, ddecompose2_with_hint, decompose2, decompose2_with_hint};

macro_rules! transform2 {
    (
        $Transform:ident, $f:ident, $Vec:ident, $Affine:ident, $Mat:ident,
        $decompose:ident, $as_other:ident, $Other:ident, $as_scalar:ident, $as_vec:ident, $as_doc:literal
    ) => {
        #[doc = concat!("Position, rotation and scale in two dimensions, in ", stringify!($f), ": where a thing is, in the frame of its parent.")]
        ///
        /// As a matrix it is `T * R * S` on column vectors: a local point is first scaled, then rotated, then moved,
        /// and the result is in the parent's frame, `p_parent = position + rotation * (scale * p_local)`. +X is right
        /// and forward, +Y is up, and a positive angle turns X towards Y: counterclockwise, on a screen whose Y axis
        /// points up.
        ///
        /// The rotation is an angle in radians. Any finite one is legal and kept as it is set; its sine and cosine are
        /// those of the number that is stored, however large. What turns a transform, such as [`rotate`](Self::rotate),
        /// wraps the angle to (-π, π], where it is stored most exactly. The scale may be negative (a mirror) or zero
        /// (flat). What needs an inverse returns an error for a flat transform.
        ///
        /// ```
        #[doc = concat!("use core::", stringify!($f), "::consts::FRAC_PI_2;")]
        #[doc = concat!("use posetree::{", stringify!($Transform), ", glam::", stringify!($Vec), "};")]
        ///
        #[doc = concat!("let door = ", stringify!($Transform), "::from_position(", stringify!($Vec), "::new(3.0, 0.0))")]
        ///     .with_rotation(FRAC_PI_2)
        #[doc = concat!("    .with_scale(", stringify!($Vec), "::splat(2.0));")]
        #[doc = concat!("let handle = door.transform_point(", stringify!($Vec), "::X);")]
        #[doc = concat!("assert!(handle.abs_diff_eq(", stringify!($Vec), "::new(3.0, 2.0), 1e-6));")]
        #[doc = concat!("assert!(door.inverse_transform_point(handle)?.abs_diff_eq(", stringify!($Vec), "::X, 1e-6));")]
        /// # Ok::<(), posetree::TransformError>(())
        /// ```
        ///
        /// There is no `*` between transforms. Two of them [`combine`](Self::combine) component by component, which is
        /// not the product of their matrices if a scale is not uniform; the product is `a.to_affine() * b.to_affine()`,
        /// and may shear.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[doc(alias = "trs")]
        #[doc(alias = "pose")]
        #[doc(alias = "Transform2D")]
        pub struct $Transform {
            /// The origin of the local frame, in parent units.
            #[doc(alias = "translation")]
            #[doc(alias = "location")]
            pub position: $Vec,
            /// The angle from the local frame to the parent's, in radians, counterclockwise.
            #[doc(alias = "angle")]
            #[doc(alias = "orientation")]
            pub rotation: $f,
            /// Parent units per local unit, along each local axis.
            pub scale: $Vec,
        }

        impl Default for $Transform {
            fn default() -> Self {
                Self::IDENTITY
            }
        }

        /// # Making one
        impl $Transform {
            /// The transform that changes nothing.
            pub const IDENTITY: Self = Self::new($Vec::ZERO, 0.0, $Vec::ONE);

            /// Puts a transform together from its parts: parent units, radians, parent units per local unit.
            #[must_use]
            #[doc(alias = "from_scale_angle_translation")]
            pub const fn new(position: $Vec, rotation: $f, scale: $Vec) -> Self {
                Self { position, rotation, scale }
            }

            /// A transform that only moves, in parent units.
            #[must_use]
            #[doc(alias = "from_translation")]
            pub const fn from_position(position: $Vec) -> Self {
                Self::new(position, 0.0, $Vec::ONE)
            }

            /// A transform that only rotates, by an angle in radians.
            #[must_use]
            #[doc(alias = "from_angle")]
            pub const fn from_rotation(rotation: $f) -> Self {
                Self::new($Vec::ZERO, rotation, $Vec::ONE)
            }

            /// A transform that only scales, along each axis by its own factor.
            #[must_use]
            pub const fn from_scale(scale: $Vec) -> Self {
                Self::new($Vec::ZERO, 0.0, scale)
            }

            /// A transform that only scales, along both axes by the same factor.
            #[must_use]
            pub const fn from_uniform_scale(scale: $f) -> Self {
                Self::from_scale($Vec::splat(scale))
            }

            /// The same transform at another position, in parent units.
            #[must_use]
            #[doc(alias = "with_translation")]
            pub const fn with_position(mut self, position: $Vec) -> Self {
                self.position = position;
                self
            }

            /// The same transform with another rotation, an angle in radians.
            #[must_use]
            pub const fn with_rotation(mut self, rotation: $f) -> Self {
                self.rotation = rotation;
                self
            }

            /// The same transform with another scale.
            #[must_use]
            pub const fn with_scale(mut self, scale: $Vec) -> Self {
                self.scale = scale;
                self
            }

            #[doc = concat!("The same in the other precision: ", $as_doc)]
            ///
            /// ```
            #[doc = concat!("use posetree::{", stringify!($Transform), ", ", stringify!($Other), "};")]
            #[doc = concat!("assert_eq!(", stringify!($Transform), "::IDENTITY.", stringify!($as_other), "(), ", stringify!($Other), "::IDENTITY);")]
            /// ```
            #[must_use]
            pub fn $as_other(self) -> $Other {
                $Other::new(self.position.$as_vec(), self.rotation as $as_scalar, self.scale.$as_vec())
            }
        }

        /// # As a matrix
        impl $Transform {
            /// The matrix `T * R * S`, from local to parent.
            ///
            #[doc = concat!("The same bits as `", stringify!($Affine), "::from_scale_angle_translation(scale, rotation, position)`. The way back is")]
            #[doc = concat!("`", stringify!($Transform), "::try_from`, or [`", stringify!($decompose), "()`] for matrices that may shear.")]
            ///
            /// ```
            #[doc = concat!("use posetree::{", stringify!($Transform), ", glam::", stringify!($Vec), "};")]
            #[doc = concat!("let t = ", stringify!($Transform), "::new(", stringify!($Vec), "::X, 1.0, ", stringify!($Vec), "::new(1.0, 2.0));")]
            #[doc = concat!("let point = ", stringify!($Vec), "::ONE;")]
            /// assert!(t.to_affine().transform_point2(point).abs_diff_eq(t.transform_point(point), 1e-6));
            /// assert_eq!(t.to_mat3(), t.to_affine().into());
            #[doc = concat!("let back = ", stringify!($Transform), "::try_from(t.to_affine())?;")]
            /// assert!(back.scale.abs_diff_eq(t.scale, 1e-6));
            /// # Ok::<(), posetree::TransformError>(())
            /// ```
            #[must_use]
            #[doc(alias = "compute_affine")]
            #[doc(alias = "local_to_parent")]
            #[inline]
            pub fn to_affine(self) -> $Affine {
                $Affine::from_scale_angle_translation(self.scale, self.rotation, self.position)
            }

            /// The matrix `T * R * S`, from local to parent, as 3x3: the same numbers as
            /// [`to_affine`](Self::to_affine). Example: [`to_affine`](Self::to_affine).
            #[must_use]
            #[doc(alias = "compute_matrix")]
            #[inline]
            pub fn to_mat3(self) -> $Mat {
                self.to_affine().into()
            }
        }

        impl From<$Transform> for $Affine {
            fn from(transform: $Transform) -> Self {
                transform.to_affine()
            }
        }

        impl From<$Transform> for $Mat {
            fn from(transform: $Transform) -> Self {
                transform.to_mat3()
            }
        }

        /// # Algebra by components
        ///
        /// ```
        #[doc = concat!("use posetree::{", stringify!($Transform), ", glam::", stringify!($Vec), "};")]
        #[doc = concat!("let parent = ", stringify!($Transform), "::new(", stringify!($Vec), "::Y, 0.3, ", stringify!($Vec), "::new(1.0, 2.0));")]
        #[doc = concat!("let world = ", stringify!($Transform), "::from_position(", stringify!($Vec), "::new(4.0, 5.0));")]
        /// let local = world.relative_to(parent)?;
        /// assert!(parent.combine(local).position.abs_diff_eq(world.position, 1e-5));
        /// // Not so with the inverse used as a right inverse: the scale acts on the wrong axes.
        /// let other = parent.local_inverse()?.combine(world);
        /// assert!(!parent.combine(other).position.abs_diff_eq(world.position, 1.0));
        /// # Ok::<(), posetree::TransformError>(())
        /// ```
        impl $Transform {
            /// The child's transform in the frame that `self` is in, component by component; never shears.
            ///
            /// `combine(a, b) = (p_a + r_a(s_a * p_b), r_a + r_b, s_a * s_b)`. The scale factors of `self` act along
            /// the child's *own* axes. For uniform `self.scale`, or an unrotated child, it is the matrix product.
            /// Angles are added as they are, not wrapped.
            ///
            /// Laws:
            /// - identity: `combine(IDENTITY, t) = t = combine(t, IDENTITY)`.
            /// - associative, if scales are uniform: `combine(combine(a, b), c) = combine(a, combine(b, c))`. Not so in
            ///   general, although rotations of the plane commute: an uneven scale does not commute with them.
            #[inline]
            #[must_use]
            pub fn combine(self, child: Self) -> Self {
                Self {
                    position: self.transform_point(child.position),
                    rotation: self.rotation + child.rotation,
                    scale: self.scale * child.scale,
                }
            }

            /// The left inverse under [`combine`](Self::combine): `combine(local_inverse(t), t) = IDENTITY`.
            ///
            /// `local_inverse(t) = (r⁻¹(s⁻¹ * -p), -r, 1 / s)`. **It is not a right inverse**, unless `diag(s)`
            /// commutes with `r`, as a uniform scale does, and `combine(local_inverse(parent), world)` is not the pose
            /// of `world` under `parent`: that is [`relative_to`](Self::relative_to). Nor is it the inverse of the
            /// matrix, which may shear.
            ///
            /// # Errors
            ///
            /// `Singular` if a scale component is zero or has no finite reciprocal, `NonFinite` if the result is not
            /// finite.
            #[doc(alias = "inverse")]
            pub fn local_inverse(self) -> Result<Self, TransformError> {
                let scale = self.reciprocal_scale()?;
                Self::new(self.turned_back(scale * -self.position), -self.rotation, scale).or_non_finite()
            }

            /// The local transform that takes `parent` to `self`, both given in one frame:
            /// `combine(parent, relative_to(world, parent)) = world`.
            ///
            /// `relative_to(world, parent) = (r_p⁻¹(p_w - p_p) / s_p, r_w - r_p, s_w / s_p)`. The law holds for every
            /// parent that is not flat, uniform or not.
            ///
            /// # Errors
            ///
            /// `Singular` if a scale component of `parent` is zero or has no finite reciprocal, `NonFinite` if the
            /// result is not finite.
            #[doc(alias = "reparented_to")]
            pub fn relative_to(self, parent: Self) -> Result<Self, TransformError> {
                parent.reciprocal_scale()?;
                Self {
                    position: parent.turned_back(self.position - parent.position) / parent.scale,
                    rotation: self.rotation - parent.rotation,
                    scale: self.scale / parent.scale,
                }
                .or_non_finite()
            }

            fn or_non_finite(self) -> Result<Self, TransformError> {
                if self.is_finite() { Ok(self) } else { Err(TransformError::NonFinite) }
            }

            /// `1 / scale`, both finite.
            #[inline]
            fn reciprocal_scale(self) -> Result<$Vec, TransformError> {
                let reciprocal = self.scale.recip();
                if !self.scale.is_finite() {
                    Err(TransformError::NonFinite)
                } else if !reciprocal.is_finite() {
                    Err(TransformError::Singular)
                } else {
                    Ok(reciprocal)
                }
            }

            /// A vector turned by the own angle.
            #[inline]
            fn turned(self, vector: $Vec) -> $Vec {
                $Vec::from_angle(self.rotation).rotate(vector)
            }

            #[inline]
            fn turned_back(self, vector: $Vec) -> $Vec {
                $Vec::from_angle(-self.rotation).rotate(vector)
            }
        }

        /// # Points, vectors, directions, normals
        ///
        /// Each `inverse_` twin undoes the other.
        ///
        /// ```
        #[doc = concat!("use posetree::{", stringify!($Transform), ", glam::", stringify!($Vec), "};")]
        #[doc = concat!("let (x, y) = (", stringify!($Vec), "::X, ", stringify!($Vec), "::Y);")]
        #[doc = concat!("let t = ", stringify!($Transform), "::new(x, core::", stringify!($f), "::consts::FRAC_PI_2, ", stringify!($Vec), "::new(-2.0, 1.0));")]
        /// assert!(t.transform_point(x + y).abs_diff_eq(-2.0 * y, 1e-6)); // scaled, rotated, moved
        /// assert!(t.transform_vector(x + y).abs_diff_eq(-x - 2.0 * y, 1e-6)); // scaled, rotated
        /// assert!(t.transform_direction(x + y).abs_diff_eq(y - x, 1e-6)); // rotated only
        /// let normal = t.transform_normal(x + y)?; // the mirrored outline faces the other way
        /// assert!(normal.abs_diff_eq((-x - 0.5 * y).normalize(), 1e-6));
        ///
        /// assert!(t.inverse_transform_point(-2.0 * y)?.abs_diff_eq(x + y, 1e-6));
        /// assert!(t.inverse_transform_vector(-x - 2.0 * y)?.abs_diff_eq(x + y, 1e-6));
        /// assert!(t.inverse_transform_direction(y - x).abs_diff_eq(x + y, 1e-6));
        /// assert!(t.inverse_transform_normal(normal)?.abs_diff_eq((x + y).normalize(), 1e-6));
        /// # Ok::<(), posetree::TransformError>(())
        /// ```
        impl $Transform {
            /// Takes a point from the local frame to the parent's: `position + rotation * (scale * point)`.
            #[must_use]
            #[doc(alias = "TransformPoint")]
            #[doc(alias = "localToWorld")]
            #[inline]
            pub fn transform_point(self, point: $Vec) -> $Vec {
                self.position + self.transform_vector(point)
            }

            /// Takes a difference of points from the local frame to the parent's: `rotation * (scale * vector)`.
            #[must_use]
            #[doc(alias = "TransformVector")]
            #[inline]
            pub fn transform_vector(self, vector: $Vec) -> $Vec {
                self.turned(self.scale * vector)
            }

            /// Takes a direction from the local frame to the parent's: rotates, and keeps the length.
            #[must_use]
            #[doc(alias = "TransformDirection")]
            #[inline]
            pub fn transform_direction(self, direction: $Vec) -> $Vec {
                self.turned(direction)
            }

            /// Takes the normal of an outline from the local frame to the parent's; the result has length one.
            ///
            /// `n' ∝ rotation * (n / scale)`, the inverse transpose of the matrix: `n'` is at right angles to every
            /// transformed vector that was at right angles to `n`, and on the same side of the outline, mirrored or
            /// not. The normal may have any length.
            ///
            /// # Errors
            ///
            /// `Singular` if a scale component is zero or has no finite reciprocal, `NonFinite` if the transform is not
            /// finite, `Degenerate` if the normal is zero or not finite.
            pub fn transform_normal(self, normal: $Vec) -> Result<$Vec, TransformError> {
                self.reciprocal_scale()?;
                let local = unit(unit(normal.widen())? / self.scale.widen())?;
                self.normal_or_non_finite(direction(self.rotation.widen()).rotate(local))
            }

            /// Takes a point from the parent's frame to the local one: `(rotation⁻¹ * (point - position)) / scale`.
            ///
            /// # Errors
            ///
            /// `Singular` if a scale component is zero or has no finite reciprocal, `NonFinite` if the result is not
            /// finite.
            #[doc(alias = "InverseTransformPoint")]
            #[doc(alias = "worldToLocal")]
            #[inline]
            pub fn inverse_transform_point(self, point: $Vec) -> Result<$Vec, TransformError> {
                self.inverse_transform_vector(point - self.position)
            }

            /// Takes a difference of points from the parent's frame to the local one: `(rotation⁻¹ * vector) / scale`.
            ///
            /// # Errors
            ///
            /// `Singular` if a scale component is zero or has no finite reciprocal, `NonFinite` if the result is not
            /// finite.
            #[doc(alias = "InverseTransformVector")]
            #[inline]
            pub fn inverse_transform_vector(self, vector: $Vec) -> Result<$Vec, TransformError> {
                self.reciprocal_scale()?;
                let local = self.turned_back(vector) / self.scale;
                local.is_finite().then_some(local).ok_or(TransformError::NonFinite)
            }

            /// Takes a direction from the parent's frame to the local one: rotates back, and keeps the length.
            #[must_use]
            #[doc(alias = "InverseTransformDirection")]
            #[inline]
            pub fn inverse_transform_direction(self, direction: $Vec) -> $Vec {
                self.turned_back(direction)
            }

            /// Takes the normal of an outline from the parent's frame to the local one; the result has length one.
            ///
            /// `n ∝ scale * (rotation⁻¹ * n')`, the transpose of the matrix. The normal may have any length.
            ///
            /// # Errors
            ///
            /// `Singular` if a scale component is zero or has no finite reciprocal, `NonFinite` if the transform is not
            /// finite, `Degenerate` if the normal is zero or not finite.
            pub fn inverse_transform_normal(self, normal: $Vec) -> Result<$Vec, TransformError> {
                self.reciprocal_scale()?;
                let turned_back = direction(-self.rotation.widen()).rotate(unit(normal.widen())?);
                self.normal_or_non_finite(turned_back * self.scale.widen())
            }

            fn normal_or_non_finite(self, normal: DVec2) -> Result<$Vec, TransformError> {
                if !self.is_finite() {
                    return Err(TransformError::NonFinite);
                }
                Ok($Vec::narrow(unit(normal)?))
            }
        }

        /// # Directions of the axes
        ///
        /// In the parent's frame, of length one: of the rotation alone, whatever the scale. Forward is right: a thing
        /// that looks along an angle of zero looks along +X. A negative scale turns an axis round; where a node's axes
        /// really point is told by [`world_forward`](crate::HierarchyOf::world_forward) and the like.
        ///
        /// ```
        #[doc = concat!("use posetree::{", stringify!($Transform), ", glam::", stringify!($Vec), "};")]
        #[doc = concat!("let quarter = ", stringify!($Transform), "::from_rotation(core::", stringify!($f), "::consts::FRAC_PI_2);")]
        #[doc = concat!("assert!(quarter.forward().abs_diff_eq(", stringify!($Vec), "::Y, 1e-6));")]
        #[doc = concat!("assert!(quarter.up().abs_diff_eq(", stringify!($Vec), "::NEG_X, 1e-6));")]
        /// assert_eq!((quarter.right(), quarter.back()), (quarter.forward(), -quarter.forward()));
        /// assert_eq!((quarter.left(), quarter.down()), (-quarter.right(), -quarter.up()));
        /// ```
        impl $Transform {
            /// The direction of local +X in the parent's frame, at the angle [`rotation`](Self#structfield.rotation).
            #[inline]
            #[must_use]
            pub fn forward(self) -> $Vec {
                self.right()
            }

            /// The direction of local -X in the parent's frame.
            #[inline]
            #[must_use]
            pub fn back(self) -> $Vec {
                self.left()
            }

            /// The direction of local +X in the parent's frame: `(cos, sin)` of the rotation.
            #[inline]
            #[must_use]
            pub fn right(self) -> $Vec {
                $Vec::from_angle(self.rotation)
            }

            /// The direction of local -X in the parent's frame.
            #[inline]
            #[must_use]
            pub fn left(self) -> $Vec {
                -self.right()
            }

            /// The direction of local +Y in the parent's frame, a quarter turn counterclockwise from +X.
            #[inline]
            #[must_use]
            pub fn up(self) -> $Vec {
                self.right().perp()
            }

            /// The direction of local -Y in the parent's frame.
            #[inline]
            #[must_use]
            pub fn down(self) -> $Vec {
                -self.up()
            }
        }

        /// # Turning and moving
        ///
        /// All of these leave the angle in (-π, π]. Rotations of the plane commute, so that there is one `rotate` and
        /// no frame to choose.
        ///
        /// ```
        #[doc = concat!("use core::", stringify!($f), "::consts::FRAC_PI_2;")]
        #[doc = concat!("use posetree::{", stringify!($Transform), ", glam::", stringify!($Vec), "};")]
        #[doc = concat!("let turret = ", stringify!($Transform), "::from_position(", stringify!($Vec), "::new(0.0, 5.0)).looking_at(", stringify!($Vec), "::ZERO)?;")]
        #[doc = concat!("assert!(turret.forward().abs_diff_eq(", stringify!($Vec), "::NEG_Y, 1e-6));")]
        #[doc = concat!("assert!(turret.looking_to(", stringify!($Vec), "::new(0.0, 2.0))?.forward().abs_diff_eq(", stringify!($Vec), "::Y, 1e-6));")]
        ///
        #[doc = concat!("let mut moon = ", stringify!($Transform), "::from_position(", stringify!($Vec), "::X).with_scale(", stringify!($Vec), "::splat(2.0));")]
        #[doc = concat!("moon.rotate_around(", stringify!($Vec), "::ZERO, FRAC_PI_2);")]
        #[doc = concat!("assert!(moon.position.abs_diff_eq(", stringify!($Vec), "::Y, 1e-6));")]
        #[doc = concat!("moon.translate_local(", stringify!($Vec), "::NEG_X);")]
        #[doc = concat!("assert!(moon.position.abs_diff_eq(", stringify!($Vec), "::ZERO, 1e-6));")]
        #[doc = concat!("moon.translate(", stringify!($Vec), "::X);")]
        #[doc = concat!("assert!(moon.position.abs_diff_eq(", stringify!($Vec), "::X, 1e-6));")]
        /// moon.rotate(2.0 * FRAC_PI_2);
        /// assert!((moon.rotation + FRAC_PI_2).abs() < 1e-6);
        /// # Ok::<(), posetree::TransformError>(())
        /// ```
        impl $Transform {
            /// The same transform turned so that [`forward`](Self::forward) points at `target`.
            ///
            /// The target is in the parent's frame. Position and scale stay. Of a mirrored node
            /// [`look_at`](crate::HierarchyOf::look_at) turns the axis that is seen instead.
            ///
            /// # Errors
            ///
            /// `Degenerate` if the target is at the position, or if anything is not finite.
            #[doc(alias = "lookAt")]
            #[doc(alias = "look_at")]
            pub fn looking_at(self, target: $Vec) -> Result<Self, TransformError> {
                // Halves: the difference of far apart points does not overflow.
                self.facing(0.5 * target.widen() - 0.5 * self.position.widen())
            }

            /// The same transform turned so that [`forward`](Self::forward) is along `direction`.
            ///
            /// The direction is in the parent's frame and may have any length. Position and scale stay.
            ///
            /// # Errors
            ///
            /// `Degenerate` if the direction is zero, or if anything is not finite.
            #[doc(alias = "look_to")]
            pub fn looking_to(self, direction: $Vec) -> Result<Self, TransformError> {
                self.facing(direction.widen())
            }

            fn facing(self, direction: DVec2) -> Result<Self, TransformError> {
                let direction = unit(direction)?;
                if !self.is_finite() {
                    return Err(TransformError::Degenerate);
                }
                Ok(self.with_rotation(<$f as Precision2>::angle((direction + 0.0).to_angle())))
            }

            /// Turns by an angle about the own origin: `rotation + angle`, wrapped to (-π, π].
            ///
            /// Position and scale keep their bits. The same in the local frame, mirrored or not: what a scale mirrors
            /// comes before the rotation.
            #[doc(alias = "rotate_local")]
            pub fn rotate(&mut self, angle: $f) {
                self.rotation = <$f as Precision2>::angle(sum_of_angles(self.rotation.widen(), angle.widen()));
            }

            /// Turns by an angle about `point`, in the parent's frame: the position goes round, and the transform turns
            /// with it.
            #[doc(alias = "RotateAround")]
            #[doc(alias = "orbit")]
            pub fn rotate_around(&mut self, point: $Vec, angle: $f) {
                self.position = point + $Vec::from_angle(angle).rotate(self.position - point);
                self.rotate(angle);
            }

            /// Moves by `offset`, in the parent's frame and units.
            pub fn translate(&mut self, offset: $Vec) {
                self.position += offset;
            }

            /// Moves by `offset` along the own axes, in parent units: the own rotation is applied, the own scale is
            /// not.
            #[doc(alias = "translateOnAxis")]
            pub fn translate_local(&mut self, offset: $Vec) {
                self.position += self.turned(offset);
            }
        }

        /// # Between two
        ///
        /// ```
        #[doc = concat!("use posetree::{", stringify!($Transform), ", glam::", stringify!($Vec), "};")]
        #[doc = concat!("let end = ", stringify!($Transform), "::new(", stringify!($Vec), "::X, 1.0, ", stringify!($Vec), "::splat(3.0));")]
        #[doc = concat!("let quarter = ", stringify!($Transform), "::new(", stringify!($Vec), "::X / 4.0, 0.25, ", stringify!($Vec), "::splat(1.5));")]
        #[doc = concat!("assert_eq!(", stringify!($Transform), "::IDENTITY.lerp(end, 0.25), quarter);")]
        /// ```
        impl $Transform {
            /// Goes from `self` (at `t = 0`) to `end` (at `t = 1`): position and scale on a line, rotation at constant
            /// speed.
            ///
            /// The rotation takes the shorter way, counterclockwise where both are half a turn, and is wrapped to
            /// (-π, π].
            #[must_use]
            #[doc(alias = "slerp")]
            #[doc(alias = "nlerp")]
            #[doc(alias = "interpolate")]
            pub fn lerp(self, end: Self, t: $f) -> Self {
                let from = near_zero(self.rotation.widen());
                let turn = near_zero(end.rotation.widen()) - from;
                // Half a turn in f32 is a little more than one in f64, and no reason to go the other way.
                let is_short = <$f as Precision2>::angle(turn) == $f::narrow(turn);
                let turn = if is_short { turn } else { f64::angle(turn) };
                Self {
                    position: self.position.lerp(end.position, t),
                    rotation: <$f as Precision2>::angle(from + turn * t.widen()),
                    scale: self.scale.lerp(end.scale, t),
                }
            }
        }

        /// # Checks
        ///
        /// ```
        #[doc = concat!("use posetree::{", stringify!($Transform), ", glam::", stringify!($Vec), "};")]
        #[doc = concat!("assert!(", stringify!($Transform), "::from_scale(", stringify!($Vec), "::new(-1.0, 1.0)).is_mirrored());")]
        #[doc = concat!("assert!(!", stringify!($Transform), "::from_rotation(", stringify!($f), "::NAN).is_finite());")]
        #[doc = concat!("assert_eq!(", stringify!($Transform), "::from_rotation(-0.5).normalized().rotation, -0.5);")]
        /// ```
        impl $Transform {
            /// Whether no number in it is infinite or NaN.
            #[inline]
            #[must_use]
            pub fn is_finite(self) -> bool {
                self.position.is_finite() && self.rotation.is_finite() && self.scale.is_finite()
            }

            /// Whether it turns clockwise into counterclockwise: one of the two scale components is negative.
            ///
            /// A zero counts as positive, although what is flat has no handedness.
            #[inline]
            #[must_use]
            pub fn is_mirrored(self) -> bool {
                (self.scale.x < 0.0) != (self.scale.y < 0.0)
            }

            /// The same transform with its angle wrapped to (-π, π].
            ///
            /// An angle that is in that range keeps its bits, and one that is not finite is left as it is.
            #[must_use]
            pub fn normalized(self) -> Self {
                if !self.rotation.is_finite() {
                    return self;
                }
                self.with_rotation(<$f as Precision2>::angle(self.rotation.widen()))
            }
        }
    };
}

transform2!(Transform2, f32, Vec2, Affine2, Mat3, decompose2, as_dtransform2, DTransform2, f64, as_dvec2, "exact.");
transform2!(
    DTransform2,
    f64,
    DVec2,
    DAffine2,
    DMat3,
    ddecompose2,
    as_transform2,
    Transform2,
    f32,
    as_vec2,
    "each number is rounded to f32."
);

impl From<Transform2> for DTransform2 {
    fn from(transform: Transform2) -> Self {
        transform.as_dtransform2()
    }
}

/// A vector scaled to length one, by way of its largest element, so that nothing over- or underflows.
fn unit(vector: DVec2) -> Result<DVec2, TransformError> {
    (vector / vector.abs().max_element()).try_normalize().ok_or(TransformError::Degenerate)
}
