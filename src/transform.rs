//! [`Transform`] and [`DTransform`]: position, rotation and scale as one value, and its algebra.

use glam::{Affine3A, DAffine3, DMat3, DMat4, DQuat, DVec3, Mat4, Quat, Vec3};

use crate::TransformError;

pub(crate) mod decompose;
pub(crate) mod precision;
pub(crate) mod rank;

pub use decompose::{DDecomposed, Decomposed, ddecompose, ddecompose_with_hint, decompose, decompose_with_hint};

use precision::{Precision, Widen, near_one, power_of_two_near_reciprocal};

/// Writes a transform of one precision. `$uses` is what its examples import, under the names they use.
macro_rules! transform3 {
    (
        $(#[$about:meta])*
        $Transform:ident, $Float:ident, $Vec3:ident, $Quat:ident, $Affine:ident, $Mat4:ident, $decompose:ident, $uses:literal
    ) => {
        $(#[$about])*
        ///
        /// As a matrix it is `T * R * S` on column vectors: a local point is first scaled, then rotated, then moved,
        /// and the result is in the parent's frame, `p_parent = position + rotation * (scale * p_local)`. Right-handed,
        /// +Y up, forward is -Z.
        ///
        /// The rotation is to be a unit quaternion; no method checks that. The scale may be negative (a mirror) or zero
        /// (flat). What needs an inverse returns an error for a flat transform.
        ///
        /// ```
        #[doc = concat!("use core::", stringify!($Float), "::consts::FRAC_PI_2;")]
        #[doc = $uses]
        ///
        /// let door = Transform::from_position(Vec3::new(3.0, 0.0, 0.0))
        ///     .with_rotation(Quat::from_rotation_y(FRAC_PI_2))
        ///     .with_scale(Vec3::splat(2.0));
        /// let handle = door.transform_point(Vec3::X);
        /// assert!(handle.abs_diff_eq(Vec3::new(3.0, 0.0, -2.0), 1e-6));
        /// assert!(door.inverse_transform_point(handle)?.abs_diff_eq(Vec3::X, 1e-6));
        /// # Ok::<(), posetree::TransformError>(())
        /// ```
        ///
        /// There is no `*` between transforms. Two of them [`combine`](Self::combine) component by component, which is
        /// not the product of their matrices if a scale is not uniform; the product is `a.to_affine() * b.to_affine()`,
        /// and may shear.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[doc(alias = "trs")]
        #[doc(alias = "pose")]
        pub struct $Transform {
            /// The origin of the local frame, in parent units.
            #[doc(alias = "translation")]
            #[doc(alias = "location")]
            pub position: $Vec3,
            /// The rotation from the local frame to the parent's, a unit quaternion.
            #[doc(alias = "quaternion")]
            #[doc(alias = "orientation")]
            pub rotation: $Quat,
            /// Parent units per local unit, along each local axis.
            pub scale: $Vec3,
        }

        impl Default for $Transform {
            fn default() -> Self {
                Self::IDENTITY
            }
        }

        /// # Making one
        impl $Transform {
            /// The transform that changes nothing.
            pub const IDENTITY: Self = Self::new($Vec3::ZERO, $Quat::IDENTITY, $Vec3::ONE);

            /// Puts a transform together from its parts: parent units, a unit quaternion, parent units per local unit.
            #[must_use]
            #[doc(alias = "from_scale_rotation_translation")]
            pub const fn new(position: $Vec3, rotation: $Quat, scale: $Vec3) -> Self {
                Self { position, rotation, scale }
            }

            /// A transform that only moves, in parent units.
            #[must_use]
            #[doc(alias = "from_translation")]
            pub const fn from_position(position: $Vec3) -> Self {
                Self::new(position, $Quat::IDENTITY, $Vec3::ONE)
            }

            /// A transform that only rotates, by a unit quaternion.
            #[must_use]
            pub const fn from_rotation(rotation: $Quat) -> Self {
                Self::new($Vec3::ZERO, rotation, $Vec3::ONE)
            }

            /// A transform that only scales, along each axis by its own factor.
            #[must_use]
            pub const fn from_scale(scale: $Vec3) -> Self {
                Self::new($Vec3::ZERO, $Quat::IDENTITY, scale)
            }

            /// A transform that only scales, along all axes by the same factor.
            #[must_use]
            pub const fn from_uniform_scale(scale: $Float) -> Self {
                Self::from_scale($Vec3::splat(scale))
            }

            /// The same transform at another position, in parent units.
            #[must_use]
            #[doc(alias = "with_translation")]
            pub const fn with_position(mut self, position: $Vec3) -> Self {
                self.position = position;
                self
            }

            /// The same transform with another rotation, a unit quaternion.
            #[must_use]
            pub const fn with_rotation(mut self, rotation: $Quat) -> Self {
                self.rotation = rotation;
                self
            }

            /// The same transform with another scale.
            #[must_use]
            pub const fn with_scale(mut self, scale: $Vec3) -> Self {
                self.scale = scale;
                self
            }
        }

        /// # As a matrix
        impl $Transform {
            /// The matrix `T * R * S`, from local to parent.
            ///
            #[doc = concat!("The same bits as `", stringify!($Affine), "::from_scale_rotation_translation(scale, rotation, position)`.")]
            #[doc = concat!("The way back is `try_from`, or [`", stringify!($decompose), "()`] for matrices that may shear.")]
            ///
            /// ```
            #[doc = $uses]
            /// let t = Transform::new(Vec3::X, Quat::from_rotation_x(1.0), Vec3::new(1.0, 2.0, 3.0));
            /// assert!(t.to_affine().transform_point3(Vec3::ONE).abs_diff_eq(t.transform_point(Vec3::ONE), 1e-6));
            /// assert_eq!(t.to_mat4(), t.to_affine().into());
            /// let back = Transform::try_from(t.to_affine())?;
            /// assert!(back.scale.abs_diff_eq(t.scale, 1e-6));
            /// # Ok::<(), posetree::TransformError>(())
            /// ```
            #[must_use]
            #[doc(alias = "compute_affine")]
            #[doc(alias = "local_to_parent")]
            #[inline]
            pub fn to_affine(self) -> $Affine {
                $Affine::from_scale_rotation_translation(self.scale, self.rotation, self.position)
            }

            /// The matrix `T * R * S`, from local to parent, as 4x4: the same numbers as
            /// [`to_affine`](Self::to_affine). Example: [`to_affine`](Self::to_affine).
            #[must_use]
            #[doc(alias = "compute_matrix")]
            #[inline]
            pub fn to_mat4(self) -> $Mat4 {
                self.to_affine().into()
            }
        }

        impl From<$Transform> for $Affine {
            fn from(transform: $Transform) -> Self {
                transform.to_affine()
            }
        }

        impl From<$Transform> for $Mat4 {
            fn from(transform: $Transform) -> Self {
                transform.to_mat4()
            }
        }

        /// # Algebra by components
        ///
        /// ```
        #[doc = $uses]
        /// let parent = Transform::new(Vec3::Y, Quat::from_rotation_z(0.3), Vec3::new(1.0, 2.0, 1.0));
        /// let world = Transform::from_position(Vec3::new(4.0, 5.0, 6.0));
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
            /// `combine(a, b) = (p_a + r_a(s_a * p_b), r_a r_b, s_a * s_b)`. The scale factors of `self` act along the
            /// child's *own* axes, as in Unreal's `FTransform`. For uniform `self.scale`, or an unrotated child, it is
            /// the matrix product.
            ///
            /// Laws:
            /// - identity: `combine(IDENTITY, t) = t = combine(t, IDENTITY)`.
            /// - associative, if scales are uniform: `combine(combine(a, b), c) = combine(a, combine(b, c))`. Not so in
            ///   general: the two differ by `r_a (r_b s_a - s_a r_b) (s_b * p_c)`, which is zero for every `c` if the
            ///   matrix `diag(s_a)` commutes with `r_b`.
            #[inline]
            #[must_use]
            pub fn combine(self, child: Self) -> Self {
                Self {
                    position: self.transform_point(child.position),
                    rotation: self.rotation * child.rotation,
                    scale: self.scale * child.scale,
                }
            }

            /// The left inverse under [`combine`](Self::combine): `combine(local_inverse(t), t) = IDENTITY`.
            ///
            /// `local_inverse(t) = (r⁻¹(s⁻¹ * -p), r⁻¹, 1 / s)`. **It is not a right inverse**, unless `diag(s)`
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
                let rotation = self.rotation.inverse();
                Self::new(rotation * (scale * -self.position), rotation, scale).or_non_finite()
            }

            /// The local transform that takes `parent` to `self`, both given in one frame:
            /// `combine(parent, relative_to(world, parent)) = world`.
            ///
            /// `relative_to(world, parent) = (r_p⁻¹(p_w - p_p) / s_p, r_p⁻¹ r_w, s_w / s_p)`. The law holds for every
            /// parent that is not flat, uniform or not.
            ///
            /// # Errors
            ///
            /// `Singular` if a scale component of `parent` is zero or has no finite reciprocal, `NonFinite` if the
            /// result is not finite.
            #[doc(alias = "GetRelativeTransform")]
            #[doc(alias = "reparented_to")]
            pub fn relative_to(self, parent: Self) -> Result<Self, TransformError> {
                parent.reciprocal_scale()?;
                let turned_back = parent.rotation.inverse();
                Self {
                    position: turned_back * (self.position - parent.position) / parent.scale,
                    rotation: turned_back * self.rotation,
                    scale: self.scale / parent.scale,
                }
                .or_non_finite()
            }

            fn or_non_finite(self) -> Result<Self, TransformError> {
                if self.is_finite() { Ok(self) } else { Err(TransformError::NonFinite) }
            }

            /// `1 / scale`, all three finite.
            #[inline]
            fn reciprocal_scale(self) -> Result<$Vec3, TransformError> {
                let reciprocal = self.scale.recip();
                if !self.scale.is_finite() {
                    Err(TransformError::NonFinite)
                } else if !reciprocal.is_finite() {
                    Err(TransformError::Singular)
                } else {
                    Ok(reciprocal)
                }
            }
        }

        /// # Points, vectors, directions, normals
        ///
        /// Each `inverse_` twin undoes the other.
        ///
        /// ```
        #[doc = $uses]
        /// let turn = Quat::from_xyzw(0.5, 0.5, 0.5, 0.5); // X to Y, Y to Z, Z to X
        /// let t = Transform::new(Vec3::X, turn, Vec3::new(-2.0, 1.0, 1.0));
        /// let v = Vec3::new(1.0, 1.0, 0.0);
        /// assert_eq!(t.transform_point(v), Vec3::new(1.0, -2.0, 1.0)); // scaled, rotated, moved
        /// assert_eq!(t.transform_vector(v), Vec3::new(0.0, -2.0, 1.0)); // scaled, rotated
        /// assert_eq!(t.transform_direction(v), Vec3::new(0.0, 1.0, 1.0)); // rotated only
        /// let normal = t.transform_normal(v)?; // the mirrored surface faces the other way
        /// assert!(normal.abs_diff_eq(Vec3::new(0.0, -0.5, 1.0).normalize(), 1e-6));
        ///
        /// assert_eq!(t.inverse_transform_point(Vec3::new(1.0, -2.0, 1.0))?, v);
        /// assert_eq!(t.inverse_transform_vector(Vec3::new(0.0, -2.0, 1.0))?, v);
        /// assert_eq!(t.inverse_transform_direction(Vec3::new(0.0, 1.0, 1.0)), v);
        /// assert!(t.inverse_transform_normal(normal)?.abs_diff_eq(v.normalize(), 1e-6));
        /// # Ok::<(), posetree::TransformError>(())
        /// ```
        impl $Transform {
            /// Takes a point from the local frame to the parent's: `position + rotation * (scale * point)`.
            #[must_use]
            #[doc(alias = "TransformPoint")]
            #[doc(alias = "localToWorld")]
            #[inline]
            pub fn transform_point(self, point: $Vec3) -> $Vec3 {
                self.position + self.transform_vector(point)
            }

            /// Takes a difference of points from the local frame to the parent's: `rotation * (scale * vector)`.
            #[must_use]
            #[doc(alias = "TransformVector")]
            #[inline]
            pub fn transform_vector(self, vector: $Vec3) -> $Vec3 {
                self.rotation * (self.scale * vector)
            }

            /// Takes a direction from the local frame to the parent's: rotates, and keeps the length. Scale does not
            /// act, nor does mirroring by it, as it does in
            /// [`local_to_world_direction`](crate::HierarchyOf::local_to_world_direction).
            #[must_use]
            #[doc(alias = "TransformDirection")]
            #[inline]
            pub fn transform_direction(self, direction: $Vec3) -> $Vec3 {
                self.rotation * direction
            }

            /// Takes the normal of a surface from the local frame to the parent's; the result has length one.
            ///
            /// `n' ∝ rotation * (n / scale)`, the inverse transpose of the matrix: `n'` is at right angles to every
            /// transformed vector that was at right angles to `n`, and on the same side of the surface, mirrored or
            /// not. The normal may have any length.
            ///
            /// # Errors
            ///
            /// `Singular` if a scale component is zero or has no finite reciprocal, `NonFinite` if the transform is not
            /// finite, `Degenerate` if the normal is zero or not finite.
            pub fn transform_normal(self, normal: $Vec3) -> Result<$Vec3, TransformError> {
                self.reciprocal_scale()?;
                // Brought below one first, a normal over a scale that has a reciprocal is finite.
                let local = unit(0.5 * near_one(normal.widen()) / self.scale.widen())?;
                self.normal_or_non_finite(self.rotation.widen() * local)
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
            pub fn inverse_transform_point(self, point: $Vec3) -> Result<$Vec3, TransformError> {
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
            pub fn inverse_transform_vector(self, vector: $Vec3) -> Result<$Vec3, TransformError> {
                self.reciprocal_scale()?;
                let local = self.rotation.inverse() * vector / self.scale;
                local.is_finite().then_some(local).ok_or(TransformError::NonFinite)
            }

            /// Takes a direction from the parent's frame to the local one: rotates back, and keeps the length.
            #[must_use]
            #[doc(alias = "InverseTransformDirection")]
            #[inline]
            pub fn inverse_transform_direction(self, direction: $Vec3) -> $Vec3 {
                self.rotation.inverse() * direction
            }

            /// Takes the normal of a surface from the parent's frame to the local one; the result has length one.
            ///
            /// `n ∝ scale * (rotation⁻¹ * n')`, the transpose of the matrix. The normal may have any length.
            ///
            /// # Errors
            ///
            /// `Singular` if a scale component is zero or has no finite reciprocal, `NonFinite` if the transform is not
            /// finite, `Degenerate` if the normal is zero or not finite.
            pub fn inverse_transform_normal(self, normal: $Vec3) -> Result<$Vec3, TransformError> {
                self.reciprocal_scale()?;
                let turned_back = self.rotation.widen().inverse() * unit(normal.widen())?;
                self.normal_or_non_finite(turned_back * self.scale.widen())
            }

            fn normal_or_non_finite(self, normal: DVec3) -> Result<$Vec3, TransformError> {
                if !self.is_finite() {
                    return Err(TransformError::NonFinite);
                }
                Ok($Vec3::narrow(unit(normal)?))
            }
        }

        /// # Directions of the axes
        ///
        /// In the parent's frame, of length one: of the rotation alone, whatever the scale. A negative scale turns an
        /// axis round; where a node's axes really point is told by
        /// [`world_forward`](crate::HierarchyOf::world_forward) and the like.
        ///
        /// ```
        #[doc = $uses]
        /// let turn = Quat::from_xyzw(0.5, 0.5, 0.5, 0.5); // X to Y, Y to Z, Z to X
        /// let t = Transform::from_rotation(turn).with_scale(Vec3::new(-1.0, 2.0, 3.0));
        /// assert_eq!((t.right(), t.up(), t.back()), (Vec3::Y, Vec3::Z, Vec3::X));
        /// assert_eq!((t.left(), t.down(), t.forward()), (Vec3::NEG_Y, Vec3::NEG_Z, Vec3::NEG_X));
        /// ```
        impl $Transform {
            /// The direction of local -Z in the parent's frame.
            #[inline]
            #[must_use]
            pub fn forward(self) -> $Vec3 {
                self.rotation * $Vec3::NEG_Z
            }

            /// The direction of local +Z in the parent's frame.
            #[inline]
            #[must_use]
            pub fn back(self) -> $Vec3 {
                self.rotation * $Vec3::Z
            }

            /// The direction of local +X in the parent's frame.
            #[inline]
            #[must_use]
            pub fn right(self) -> $Vec3 {
                self.rotation * $Vec3::X
            }

            /// The direction of local -X in the parent's frame.
            #[inline]
            #[must_use]
            pub fn left(self) -> $Vec3 {
                self.rotation * $Vec3::NEG_X
            }

            /// The direction of local +Y in the parent's frame.
            #[inline]
            #[must_use]
            pub fn up(self) -> $Vec3 {
                self.rotation * $Vec3::Y
            }

            /// The direction of local -Y in the parent's frame.
            #[inline]
            #[must_use]
            pub fn down(self) -> $Vec3 {
                self.rotation * $Vec3::NEG_Y
            }
        }

        /// # Turning and moving
        ///
        /// ```
        #[doc = concat!("use core::", stringify!($Float), "::consts::FRAC_PI_2;")]
        #[doc = $uses]
        /// let camera = Transform::from_position(Vec3::new(0.0, 3.0, 4.0)).looking_at(Vec3::ZERO, Vec3::Y)?;
        /// assert!(camera.forward().abs_diff_eq(Vec3::new(0.0, -0.6, -0.8), 1e-6));
        /// assert!(camera.up().abs_diff_eq(Vec3::new(0.0, 0.8, -0.6), 1e-6));
        /// let aside = camera.looking_to(2.0 * Vec3::X, Vec3::Y)?;
        /// assert!(aside.forward().abs_diff_eq(Vec3::X, 1e-6) && aside.up().abs_diff_eq(Vec3::Y, 1e-6));
        ///
        /// let quarter = Quat::from_rotation_y(FRAC_PI_2);
        /// let mut moon = Transform::from_position(Vec3::X).with_scale(Vec3::splat(2.0));
        /// moon.rotate_around(Vec3::ZERO, quarter);
        /// assert!(moon.position.abs_diff_eq(Vec3::NEG_Z, 1e-6));
        /// assert!(moon.rotation.abs_diff_eq(quarter, 1e-6));
        /// moon.translate_local(Vec3::NEG_X);
        /// assert!(moon.position.abs_diff_eq(Vec3::ZERO, 1e-6));
        /// moon.translate(Vec3::X);
        /// assert!(moon.position.abs_diff_eq(Vec3::X, 1e-6));
        ///
        /// let (x, y) = (Quat::from_rotation_x(0.3), Quat::from_rotation_y(0.4));
        /// let (mut outer, mut own) = (Transform::from_rotation(x), Transform::from_rotation(x));
        /// outer.rotate(y);
        /// own.rotate_local(y);
        /// assert!(outer.rotation.abs_diff_eq(y * x, 1e-6) && own.rotation.abs_diff_eq(x * y, 1e-6));
        /// # Ok::<(), posetree::TransformError>(())
        /// ```
        impl $Transform {
            /// The same transform turned so that [`forward`](Self::forward) points at `target`, and `up` is as nearly
            /// up as can be.
            ///
            /// Target and up are in the parent's frame; `up` may have any length. Position and scale stay. Of a
            /// mirrored node [`look_at`](crate::HierarchyOf::look_at) turns the axis that is seen instead.
            ///
            /// # Errors
            ///
            /// `Degenerate` if the target is at the position, if `up` is zero or along the view (sine of angle at most
            #[doc = concat!("`8 ", stringify!($Float), "::EPSILON`, where rounding would choose the answer), or if anything is not finite.")]
            #[doc(alias = "lookAt")]
            #[doc(alias = "look_at")]
            pub fn looking_at(self, target: $Vec3, up: $Vec3) -> Result<Self, TransformError> {
                // In f64 the difference of far apart f32 points does not round noticeably, and half of it never
                // overflows.
                self.facing(0.5 * target.widen() - 0.5 * self.position.widen(), up)
            }

            /// The same transform turned so that [`forward`](Self::forward) is along `direction`, and `up` is as nearly
            /// up as can be.
            ///
            /// Direction and up are in the parent's frame and may have any length. Position and scale stay.
            ///
            /// # Errors
            ///
            /// `Degenerate` if the direction is zero, if `up` is zero or along it (sine of the angle at most
            #[doc = concat!("`8 ", stringify!($Float), "::EPSILON`, where rounding would choose the answer), or if anything is not finite.")]
            #[doc(alias = "lookRotation")]
            #[doc(alias = "look_to")]
            pub fn looking_to(self, direction: $Vec3, up: $Vec3) -> Result<Self, TransformError> {
                self.facing(direction.widen(), up)
            }

            fn facing(self, direction: DVec3, up: $Vec3) -> Result<Self, TransformError> {
                let back = -unit(direction)?;
                let across = unit(up.widen())?.cross(back);
                if !self.is_finite() || across.length() <= $Float::PARALLEL {
                    return Err(TransformError::Degenerate);
                }
                let right = across.normalize();
                let axes = DMat3::from_cols(right, back.cross(right), back);
                Ok(self.with_rotation(decompose::quat_of::<$Float>(&axes)))
            }

            /// Turns by `rotation` about the own origin, with the axis in the parent's frame:
            /// `rotation * self.rotation`.
            ///
            /// The quaternion is normalised, so that any number of calls leaves it a rotation. Position and scale keep
            /// their bits.
            #[doc(alias = "rotateOnWorldAxis")]
            pub fn rotate(&mut self, rotation: $Quat) {
                self.rotation = (rotation * self.rotation).normalize();
            }

            /// Turns by `rotation` about the own origin, with the axis in the local frame: `self.rotation * rotation`.
            ///
            /// The quaternion is normalised, so that any number of calls leaves it a rotation. Position and scale keep
            /// their bits.
            #[doc(alias = "rotateOnAxis")]
            pub fn rotate_local(&mut self, rotation: $Quat) {
                self.rotation = (self.rotation * rotation).normalize();
            }

            /// Turns by `rotation` about `point`, both in the parent's frame: the position goes round, and the
            /// transform turns with it.
            #[doc(alias = "RotateAround")]
            #[doc(alias = "orbit")]
            pub fn rotate_around(&mut self, point: $Vec3, rotation: $Quat) {
                self.position = point + rotation * (self.position - point);
                self.rotate(rotation);
            }

            /// Moves by `offset`, in the parent's frame and units.
            pub fn translate(&mut self, offset: $Vec3) {
                self.position += offset;
            }

            /// Moves by `offset` along the own axes, in parent units: the own rotation is applied, the own scale is
            /// not.
            #[doc(alias = "translateOnAxis")]
            pub fn translate_local(&mut self, offset: $Vec3) {
                self.position += self.rotation * offset;
            }
        }

        /// # Between two
        ///
        /// ```
        #[doc = $uses]
        /// let end = Transform::new(Vec3::X, Quat::from_rotation_y(1.0), Vec3::splat(3.0));
        /// let quarter = Transform::IDENTITY.lerp(end, 0.25);
        /// assert_eq!((quarter.position, quarter.scale), (Vec3::X / 4.0, Vec3::splat(1.5)));
        /// assert!(quarter.rotation.abs_diff_eq(Quat::from_rotation_y(0.25), 1e-6));
        /// let cheap = Transform::IDENTITY.nlerp(end, 0.25);
        /// assert_eq!((cheap.position, cheap.scale), (quarter.position, quarter.scale));
        /// assert!(cheap.rotation.abs_diff_eq(quarter.rotation, 0.01)); // a little behind
        /// ```
        impl $Transform {
            /// Goes from `self` (at `t = 0`) to `end` (at `t = 1`): position and scale on a line, rotation at constant
            /// speed.
            ///
            /// The rotation takes the shorter way (slerp), computed in f64 and normalised.
            #[must_use]
            #[doc(alias = "slerp")]
            #[doc(alias = "interpolate")]
            pub fn lerp(self, end: Self, t: $Float) -> Self {
                let (from, to) = (self.rotation.widen(), end.rotation.widen());
                let rotation = $Quat::narrow(from.slerp(to, t.widen()).normalize());
                self.blend(end, t, rotation)
            }

            /// Like [`lerp`](Self::lerp), with a cheaper rotation: the same path, not quite at constant speed.
            #[must_use]
            #[doc(alias = "Blend")]
            pub fn nlerp(self, end: Self, t: $Float) -> Self {
                self.blend(end, t, self.rotation.lerp(end.rotation, t))
            }

            fn blend(self, end: Self, t: $Float, rotation: $Quat) -> Self {
                Self { position: self.position.lerp(end.position, t), rotation, scale: self.scale.lerp(end.scale, t) }
            }
        }

        /// # Checks
        ///
        /// ```
        #[doc = $uses]
        /// assert!(Transform::from_scale(Vec3::new(-1.0, 1.0, 1.0)).is_mirrored());
        #[doc = concat!("assert!(!Transform::from_uniform_scale(", stringify!($Float), "::NAN).is_finite());")]
        /// ```
        impl $Transform {
            /// Whether no number in it is infinite or NaN.
            #[inline]
            #[must_use]
            pub fn is_finite(self) -> bool {
                self.position.is_finite() && self.rotation.is_finite() && self.scale.is_finite()
            }

            /// Whether it turns left hands into right hands: an odd number of scale components is negative.
            ///
            /// A zero counts as positive, although what is flat has no handedness.
            #[inline]
            #[must_use]
            pub fn is_mirrored(self) -> bool {
                let negative = self.scale.cmplt($Vec3::ZERO).bitmask().count_ones();
                negative % 2 == 1
            }

            /// The same transform with its rotation scaled to length one.
            ///
            /// A quaternion that is zero or not finite has no direction, and is left as it is.
            #[must_use]
            pub fn normalized(self) -> Self {
                let rotation = near_one4(self.rotation.widen());
                let length = rotation.length();
                let has_direction = length > 0.0 && length.is_finite();
                if has_direction { self.with_rotation($Quat::narrow(rotation / length)) } else { self }
            }
        }
    };
}

transform3! {
    /// Position, rotation and scale: where a thing is, in the frame of its parent.
    Transform, f32, Vec3, Quat, Affine3A, Mat4, decompose,
    "use posetree::{Transform, glam::{Quat, Vec3}};"
}

transform3! {
    /// Position, rotation and scale in double precision: where a thing is, in the frame of its parent.
    ///
    /// The twin of [`Transform`], with the same methods. Every transform is one, `DTransform::from(transform)`, and
    /// [`as_transform`](DTransform::as_transform) rounds back.
    DTransform, f64, DVec3, DQuat, DAffine3, DMat4, ddecompose,
    "use posetree::{DTransform as Transform, glam::{DQuat as Quat, DVec3 as Vec3}};"
}

/// # In the other precision
impl Transform {
    /// The same in double precision: exact.
    ///
    /// The quaternion keeps its numbers, and is as far from length one as it was;
    /// [`normalized`](DTransform::normalized) makes it one to float64.
    #[must_use]
    pub fn as_dtransform(self) -> DTransform {
        DTransform::new(self.position.as_dvec3(), self.rotation.as_dquat(), self.scale.as_dvec3())
    }
}

/// # In the other precision
impl DTransform {
    /// The same in single precision: every number rounded, and infinite where it is beyond `f32::MAX`.
    ///
    /// Take away what is common to all things first, such as the position of a camera, and round then: the
    /// numbers of a float32 are 64 apart at 1e9.
    ///
    /// ```
    /// use posetree::{DTransform, Transform, glam::{DVec3, Vec3}};
    /// let camera = DVec3::splat(1e9);
    /// let ship = DTransform::from_position(camera + DVec3::new(0.25, 0.0, -3.0));
    /// let seen = ship.with_position(ship.position - camera).as_transform();
    /// assert_eq!(seen, Transform::from_position(Vec3::new(0.25, 0.0, -3.0)));
    /// assert_ne!(ship.as_transform().position.x as f64, ship.position.x);
    /// assert_eq!(seen.as_dtransform().as_transform(), seen);
    /// ```
    #[must_use]
    pub fn as_transform(self) -> Transform {
        Transform::new(self.position.as_vec3(), self.rotation.as_quat(), self.scale.as_vec3())
    }
}

impl From<Transform> for DTransform {
    fn from(transform: Transform) -> Self {
        transform.as_dtransform()
    }
}

/// A vector scaled to length one; its square neither over- nor underflows.
fn unit(vector: DVec3) -> Result<DVec3, TransformError> {
    let vector = near_one(vector);
    let length = vector.length();
    if length > 0.0 && length.is_finite() { Ok(vector / length) } else { Err(TransformError::Degenerate) }
}

/// A quaternion times a power of two, so that its square neither over- nor underflows.
fn near_one4(q: DQuat) -> DQuat {
    let size = q.x.abs().max(q.y.abs()).max(q.z.abs()).max(q.w.abs());
    q * power_of_two_near_reciprocal(size)
}
