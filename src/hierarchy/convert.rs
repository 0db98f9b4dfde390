//! Doors that carry points, directions and boxes between spaces.

use super::HierarchyOf;
use crate::accumulate::geometry::{Geometry, Shared};
use crate::{Degenerate, LengthMismatch, NodeId, SingularParent, StaleNode, WorldError};

impl<A: Geometry> HierarchyOf<A> {
    /// The world point that has these coordinates in the node: `W p`. Cost as [`world`](Self::world). Nothing is
    /// checked or stored, and what is not finite gives what is not.
    ///
    /// # Errors
    /// [`StaleNode`].
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::{Quat, Vec3}};
    /// let mut h = Hierarchy::new();
    /// let quarter = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
    /// let id = h.add_root(Transform::new(Vec3::Z, quarter, Vec3::new(2.0, 1.0, 1.0)))?;
    /// assert!(h.local_to_world_point(id, Vec3::X)?.abs_diff_eq(Vec3::new(0.0, 2.0, 1.0), 1e-6));
    /// assert!(h.local_to_world_vector(id, Vec3::X)?.abs_diff_eq(Vec3::new(0.0, 2.0, 0.0), 1e-6));
    /// assert!(h.local_to_world_direction(id, Vec3::X)?.abs_diff_eq(Vec3::Y, 1e-6));
    /// assert!(h.world_to_local_point(id, Vec3::new(0.0, 2.0, 1.0))?.abs_diff_eq(Vec3::X, 1e-6));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "TransformPoint")]
    #[doc(alias = "localToWorld")]
    #[doc(alias = "to_global")]
    pub fn local_to_world_point(&self, id: NodeId, point: A::Vector) -> Result<A::Vector, StaleNode> {
        Ok(A::Shared::map_point(&A::wide_matrix(&self.world(id)?), point))
    }

    /// The image of a vector in the node, such as an offset or a velocity: the linear part of `W` times
    /// it, position left out. Cost as [`world`](Self::world). Example:
    /// [`local_to_world_point`](Self::local_to_world_point).
    ///
    /// # Errors
    /// [`StaleNode`].
    #[doc(alias = "TransformVector")]
    pub fn local_to_world_vector(&self, id: NodeId, vector: A::Vector) -> Result<A::Vector, StaleNode> {
        Ok(A::Shared::map_vector(&A::wide_matrix(&self.world(id)?), vector))
    }

    /// The unit world direction into which a direction in the node points: its image, normalised. Cost
    /// as [`world`](Self::world). Example: [`local_to_world_point`](Self::local_to_world_point).
    ///
    /// # Errors
    /// [`StaleNode`]; [`Degenerate`] if the image has no direction, or a number in it is not finite.
    #[doc(alias = "TransformDirection")]
    pub fn local_to_world_direction(&self, id: NodeId, direction: A::Vector) -> Result<A::Vector, WorldError> {
        Ok(A::Shared::map_direction(&A::wide_matrix(&self.world(id)?), direction).ok_or(Degenerate)?)
    }

    /// The unit world normal of a surface that has this normal in the node: the inverse transpose of `W`
    /// times it, normalised. It stays at right angles to the surface under any scale and shear, and on
    /// its side under mirroring. O(depth), to see whether a node above is flat.
    ///
    /// # Errors
    /// [`StaleNode`]; [`Degenerate`] if the normal is zero, or not finite; [`SingularParent`] naming the node if
    /// its world is flat.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::Vec3};
    /// let mut h = Hierarchy::new();
    /// let id = h.add_root(Transform::from_scale(Vec3::new(-2.0, 1.0, 1.0)))?;
    /// // The slope x + y = 1 becomes y - x / 2 = 1, and what was above it stays above it.
    /// let normal = h.local_to_world_normal(id, Vec3::new(1.0, 1.0, 0.0))?;
    /// assert!(normal.abs_diff_eq(Vec3::new(-0.5, 1.0, 0.0).normalize(), 1e-6));
    /// assert!(h.world_to_local_normal(id, normal)?.abs_diff_eq(Vec3::new(1.0, 1.0, 0.0).normalize(), 1e-6));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn local_to_world_normal(&self, id: NodeId, normal: A::Vector) -> Result<A::Vector, WorldError> {
        given(id, A::Shared::map_normal(&self.invertible_world(id)?, normal))?.ok_or(Degenerate.into())
    }

    /// The coordinates in the node of a world point: `W⁻¹ p`, solved in float64. O(depth), to see whether
    /// a node above is flat; for many points take [`world_inverse`](Self::world_inverse) once.
    ///
    /// # Errors
    /// [`StaleNode`], [`NonFinite`](crate::NonFinite); [`SingularParent`] naming the node if its world is flat, or the
    /// answer overflows.
    ///
    /// Example: [`local_to_world_point`](Self::local_to_world_point).
    #[doc(alias = "InverseTransformPoint")]
    #[doc(alias = "worldToLocal")]
    #[doc(alias = "to_local")]
    pub fn world_to_local_point(&self, id: NodeId, point: A::Vector) -> Result<A::Vector, WorldError> {
        self.topology.slot(id)?;
        let point = A::Shared::check_vector(point)?;
        given(id, A::Shared::unmap_point(&self.invertible_world(id)?, point))
    }

    /// The vector in the node whose image is a world vector. Cost as
    /// [`world_to_local_point`](Self::world_to_local_point).
    ///
    /// # Errors
    /// [`StaleNode`], [`NonFinite`](crate::NonFinite); [`SingularParent`] naming the node if its world is flat.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::{Quat, Vec3}};
    /// let mut h = Hierarchy::new();
    /// let quarter = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
    /// let id = h.add_root(Transform::new(Vec3::ONE, quarter, Vec3::new(2.0, 1.0, 1.0)))?;
    /// let (x, y) = (Vec3::X, Vec3::Y);
    /// assert!(h.world_to_local_vector(id, x + y)?.abs_diff_eq(0.5 * x - y, 1e-6));
    /// assert!(h.world_to_local_direction(id, x + y)?.abs_diff_eq((0.5 * x - y).normalize(), 1e-6));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "InverseTransformVector")]
    pub fn world_to_local_vector(&self, id: NodeId, vector: A::Vector) -> Result<A::Vector, WorldError> {
        self.topology.slot(id)?;
        let vector = A::Shared::check_vector(vector)?;
        given(id, A::Shared::unmap_vector(&self.invertible_world(id)?, vector))
    }

    /// The unit direction in the node whose image points along a world direction. Cost as
    /// [`world_to_local_point`](Self::world_to_local_point). Example:
    /// [`world_to_local_vector`](Self::world_to_local_vector).
    ///
    /// # Errors
    /// [`StaleNode`], [`NonFinite`](crate::NonFinite); [`Degenerate`] if the direction is zero;
    /// [`SingularParent`] naming the node if its world is flat.
    #[doc(alias = "InverseTransformDirection")]
    pub fn world_to_local_direction(&self, id: NodeId, direction: A::Vector) -> Result<A::Vector, WorldError> {
        self.topology.slot(id)?;
        let direction = A::Shared::check_vector(direction)?;
        given(id, A::Shared::unmap_direction(&self.invertible_world(id)?, direction))?.ok_or(Degenerate.into())
    }

    /// The unit normal in the node of a surface with this world normal: the transpose of `W` times it,
    /// normalised. Cost as [`world_to_local_point`](Self::world_to_local_point). Example:
    /// [`local_to_world_normal`](Self::local_to_world_normal).
    ///
    /// # Errors
    /// [`StaleNode`], [`NonFinite`](crate::NonFinite); [`Degenerate`] if the normal is zero;
    /// [`SingularParent`] naming the node if its world is flat.
    pub fn world_to_local_normal(&self, id: NodeId, normal: A::Vector) -> Result<A::Vector, WorldError> {
        self.topology.slot(id)?;
        let normal = A::Shared::check_vector(normal)?;
        given(id, A::Shared::unmap_normal(&self.invertible_world(id)?, normal))?.ok_or(Degenerate.into())
    }

    /// The matrix that carries coordinates in one node to coordinates in another: `W(to)⁻¹ W(from)`.
    ///
    /// Taken in float64 from local values, with [`Matrices`](crate::Matrices) from the lowest common
    /// ancestor down, so that two nodes far from the origin, whose worlds are rounded, keep their
    /// relation; from the root down if a node on the way does not [inherit](crate::Inherit) everything.
    /// With [`Components`](crate::Components) through the worlds, positions subtracted first. O(depth).
    ///
    /// # Errors
    /// [`StaleNode`] for either; [`SingularParent`] naming `to` if it is flat on the way to the common
    /// ancestor (with `Components`: to the root), or no rounded matrix does the job;
    /// [`NonFinite`](crate::NonFinite) if the result overflows.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::{Quat, Vec3}};
    /// let mut h = Hierarchy::new();
    /// let quarter = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
    /// let far = h.add_root(Transform::from_position(Vec3::splat(1e7)))?;
    /// let a = h.add_child(far, Transform::from_position(0.25 * Vec3::X))?;
    /// let b = h.add_child(far, Transform::new(-0.25 * Vec3::X, quarter, Vec3::new(1.0, 2.0, 1.0)))?;
    /// let a_to_b = h.transform_between(a, b)?;
    /// assert!(a_to_b.transform_point3(Vec3::X).abs_diff_eq(-0.75 * Vec3::Y, 1e-6));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "GetRelativeTransform")]
    pub fn transform_between(&self, from: NodeId, to: NodeId) -> Result<A::Affine, WorldError> {
        let (from, to) = (self.topology.slot(from)?, self.topology.slot(to)?);
        let top = self.top(from, to);
        let between = A::between(&self.chain(from, top), &self.chain(to, top));
        between.map_err(|misfit| self.refusal(misfit, from, (to, top)))
    }

    /// Whether the world pose mirrors: an odd number of reflections on the way down, which turns
    /// clockwise triangles into counterclockwise ones. False for a flat world. O(depth), to see whether a
    /// node above is flat.
    ///
    /// # Errors
    /// [`StaleNode`].
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::Vec3};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::from_scale(Vec3::new(-1.0, 1.0, 1.0)))?;
    /// let child = h.add_child(root, Transform::from_scale(Vec3::new(1.0, 1.0, -2.0)))?;
    /// assert!(h.is_mirrored(root)? && !h.is_mirrored(child)?);
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "worldScaleSign")]
    pub fn is_mirrored(&self, id: NodeId) -> Result<bool, StaleNode> {
        let (slot, _) = self.at(id)?;
        Ok(!self.is_flat_in_world(slot) && A::Shared::is_mirrored(&A::wide_matrix(&self.world(id)?)))
    }

    /// The smallest box along the world axes around a box in the node, both given by two opposite
    /// corners. Returns the low and the high corner. Cost as [`world`](Self::world).
    ///
    /// # Errors
    /// [`StaleNode`], [`NonFinite`](crate::NonFinite).
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::{Quat, Vec3}};
    /// let mut h = Hierarchy::new();
    /// let quarter = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
    /// let id = h.add_root(Transform::from_position(Vec3::Z).with_rotation(quarter))?;
    /// let (low, high) = h.transform_aabb(id, Vec3::ZERO, Vec3::new(3.0, 2.0, 1.0))?;
    /// assert!(low.abs_diff_eq(Vec3::new(-2.0, 0.0, 1.0), 1e-6));
    /// assert!(high.abs_diff_eq(Vec3::new(0.0, 3.0, 2.0), 1e-6));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn transform_aabb(
        &self,
        id: NodeId,
        corner: A::Vector,
        opposite: A::Vector,
    ) -> Result<(A::Vector, A::Vector), WorldError> {
        let world = self.world(id)?;
        Ok(A::Shared::map_box(
            &A::wide_matrix(&world),
            A::Shared::check_vector(corner)?,
            A::Shared::check_vector(opposite)?,
        ))
    }

    /// Writes the matrices that a skinning shader takes: `out[i] = W(joints[i]) * inverse_binds[i]`.
    ///
    /// Worlds are right whether or not there was an update; after one each costs four loads and a
    /// product. In double precision the matrices are `DMat4`: shaders take float32, but what is left of a
    /// far world after rounding is of no use. Take the camera's position, or the mesh's, away first, and
    /// round then, with `as_mat4`.
    ///
    /// # Errors
    /// [`StaleNode`] for any joint; [`LengthMismatch`] unless all three have the same length; nothing
    /// was written.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::{Mat4, Quat, Vec3}};
    /// let mut h = Hierarchy::new();
    /// let hip = h.add_root(Transform::from_position(Vec3::Y))?;
    /// let inverse_bind = h.world_inverse(hip)?;
    /// h.set_rotation(hip, Quat::from_rotation_z(std::f32::consts::FRAC_PI_2))?;
    /// let mut out = [Mat4::ZERO];
    /// h.write_joint_matrices(&[hip], &[inverse_bind], &mut out)?;
    /// // What is above the hip turns about it, to its side.
    /// assert!(out[0].transform_point3(3.0 * Vec3::Y).abs_diff_eq(Vec3::new(-2.0, 1.0, 0.0), 1e-6));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "skinning")]
    #[doc(alias = "bone")]
    pub fn write_joint_matrices(
        &self,
        joints: &[NodeId],
        inverse_binds: &[A::Affine],
        out: &mut [<A::Shared as Shared>::Skin],
    ) -> Result<(), WorldError> {
        joints.iter().try_for_each(|&joint| self.topology.slot(joint).map(|_| ()))?;
        for right in [inverse_binds.len(), out.len()] {
            if joints.len() != right {
                return Err(LengthMismatch { left: joints.len(), right }.into());
            }
        }
        for ((&joint, inverse_bind), out) in joints.iter().zip(inverse_binds).zip(out) {
            *out = A::Shared::joint_matrix(&A::wide_matrix(&self.world(joint)?), inverse_bind);
        }
        Ok(())
    }
}

/// An answer through the inverse of a node's world, or the error that names it.
fn given<T>(id: NodeId, answer: Result<T, f32>) -> Result<T, WorldError> {
    answer.map_err(|residual| SingularParent { parent: id, residual }.into())
}
