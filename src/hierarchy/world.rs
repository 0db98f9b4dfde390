//! Doors that read and write world poses. Writers convert to a local value and enter by its door.

use super::HierarchyOf;
use super::inherit::Frame;
use crate::accumulate::geometry::Shared;
use crate::accumulate::{Accumulate, Geometry, Misfit, Own, Shear};
use crate::topology::NONE;
use crate::{Degenerate, NodeId, NonFinite, SingularParent, StaleNode, WorldError};

/// A world pose as a matrix in float64.
type Wide<A> = <<A as Geometry>::Shared as Shared>::Wide;

impl<A: Accumulate> HierarchyOf<A> {
    /// The world pose: a matrix with [`Matrices`](crate::Matrices), a [`Transform`](crate::Transform)
    /// with [`Components`](crate::Components).
    ///
    /// Right at once after any edit. Four loads when nothing is dirty, else O(depth). Writes nothing. Holds infinities
    /// or NaN where the product of finite values overflows.
    ///
    /// # Errors
    /// [`StaleNode`].
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::{Affine3A, Vec3}};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::from_position(Vec3::X))?;
    /// let child = h.add_child(root, Transform::from_position(Vec3::X))?;
    /// assert_eq!(h.world(child)?, Affine3A::from_translation(2.0 * Vec3::X));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "global_transform")]
    #[doc(alias = "matrixWorld")]
    #[doc(alias = "localToWorldMatrix")]
    pub fn world(&self, id: NodeId) -> Result<A::World, StaleNode> {
        let (_, row) = self.at(id)?;
        Ok(A::world(&self.fresh(row)))
    }
}

impl<A: Geometry> HierarchyOf<A> {
    /// The world pose as a matrix, whichever way poses accumulate. Cost as [`world`](Self::world).
    ///
    /// # Errors
    /// [`StaleNode`].
    ///
    /// ```
    /// use posetree::{ComponentHierarchy, Transform, glam::{Affine3A, Vec3}};
    /// let mut h = ComponentHierarchy::new();
    /// let root = h.add_root(Transform::from_position(Vec3::X))?;
    /// assert_eq!(h.world_matrix(root)?, Affine3A::from_translation(Vec3::X));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn world_matrix(&self, id: NodeId) -> Result<A::Affine, StaleNode> {
        Ok(A::matrix(&self.world(id)?))
    }

    /// The world pose as position, rotation, scale and shear, with the signs of the node's own scale.
    /// Cost as [`world`](Self::world), and a decomposition.
    ///
    /// # Errors
    /// [`StaleNode`].
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::Vec3};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::from_scale(Vec3::new(1.0, -2.0, -1.0)))?;
    /// let world = h.world_decomposed(root)?;
    /// assert_eq!((world.transform.scale, world.shear), (Vec3::new(1.0, -2.0, -1.0), Vec3::ZERO));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "world_transform")]
    pub fn world_decomposed(&self, id: NodeId) -> Result<A::Decomposed, StaleNode> {
        let (slot, row) = self.at(id)?;
        Ok(A::decompose_world(&A::world(&self.fresh(row)), self.locals.transform(slot)))
    }

    /// The world position. Cost as [`world`](Self::world).
    ///
    /// # Errors
    /// [`StaleNode`].
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::{Quat, Vec3}};
    /// let mut h = Hierarchy::new();
    /// let (x, y) = (Quat::from_rotation_x(0.5), Quat::from_rotation_y(1.0));
    /// let root = h.add_root(Transform::from_rotation(y).with_scale(Vec3::splat(3.0)))?;
    /// let child = h.add_child(root, Transform::new(Vec3::Y, x, Vec3::new(1.0, -2.0, 4.0)))?;
    /// assert_eq!(h.world_position(child)?, 3.0 * Vec3::Y);
    /// assert!(h.world_rotation(child)?.abs_diff_eq(y * x, 1e-6));
    /// assert!(h.world_scale(child)?.abs_diff_eq(Vec3::new(3.0, -6.0, 12.0), 1e-5));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "global_position")]
    #[doc(alias = "getWorldPosition")]
    #[doc(alias = "GetComponentLocation")]
    pub fn world_position(&self, id: NodeId) -> Result<A::Vector, StaleNode> {
        let (_, row) = self.at(id)?;
        Ok(A::position_of(&self.fresh(row)))
    }

    /// The world rotation. With [`Matrices`](crate::Matrices): `R` of `T * R * U`, which keeps the
    /// direction of the X axis where the world shears. For the direction in which the node looks, which
    /// shear bends, see [`world_forward`](Self::world_forward). Cost as
    /// [`world_decomposed`](Self::world_decomposed). Example: [`world_position`](Self::world_position).
    ///
    /// # Errors
    /// [`StaleNode`].
    #[doc(alias = "global_rotation")]
    #[doc(alias = "getWorldQuaternion")]
    pub fn world_rotation(&self, id: NodeId) -> Result<A::Rotation, StaleNode> {
        Ok(A::Shared::rotation(&A::Shared::parts(&self.world_decomposed(id)?)))
    }

    /// The world scale. With [`Matrices`](crate::Matrices): the diagonal of `U` of `T * R * U`. Cost as
    /// [`world_decomposed`](Self::world_decomposed). Example: [`world_position`](Self::world_position).
    ///
    /// # Errors
    /// [`StaleNode`].
    #[doc(alias = "lossyScale")]
    pub fn world_scale(&self, id: NodeId) -> Result<A::Vector, StaleNode> {
        Ok(A::Shared::scale(&A::Shared::parts(&self.world_decomposed(id)?)))
    }

    /// The unit world direction in which the node's -Z axis points, in two dimensions its +X axis: the true
    /// image, sheared and mirrored as everything in the node is ([`Transform::forward`](crate::Transform::forward) is
    /// that of the rotation alone). Cost as [`world`](Self::world).
    ///
    /// # Errors
    /// [`StaleNode`]; [`Degenerate`] if the axis is scaled to nothing.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::{Quat, Vec3}};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::from_rotation(Quat::from_rotation_y(std::f32::consts::PI)))?;
    /// assert!(h.world_forward(root)?.abs_diff_eq(Vec3::Z, 1e-6));
    /// assert!(h.world_right(root)?.abs_diff_eq(-Vec3::X, 1e-6));
    /// assert!(h.world_up(root)?.abs_diff_eq(Vec3::Y, 1e-6));
    /// assert_eq!(h.world_back(root)?, -h.world_forward(root)?);
    /// assert_eq!(h.world_left(root)?, -h.world_right(root)?);
    /// assert_eq!(h.world_down(root)?, -h.world_up(root)?);
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn world_forward(&self, id: NodeId) -> Result<A::Vector, WorldError> {
        self.world_axis(id, A::Shared::FORWARD)
    }

    /// The unit world direction in which the node's +X axis points. As
    /// [`world_forward`](Self::world_forward).
    ///
    /// # Errors
    /// [`StaleNode`]; [`Degenerate`] if the axis is scaled to nothing.
    pub fn world_right(&self, id: NodeId) -> Result<A::Vector, WorldError> {
        self.world_axis(id, A::Shared::RIGHT)
    }

    /// The unit world direction in which the node's +Y axis points. As
    /// [`world_forward`](Self::world_forward).
    ///
    /// # Errors
    /// [`StaleNode`]; [`Degenerate`] if the axis is scaled to nothing.
    pub fn world_up(&self, id: NodeId) -> Result<A::Vector, WorldError> {
        self.world_axis(id, A::Shared::UP)
    }

    /// The unit world direction in which the node's +Z axis points, in two dimensions its -X axis: opposite
    /// to [`world_forward`](Self::world_forward), and as that.
    ///
    /// # Errors
    /// [`StaleNode`]; [`Degenerate`] if the axis is scaled to nothing.
    pub fn world_back(&self, id: NodeId) -> Result<A::Vector, WorldError> {
        self.world_axis(id, -A::Shared::FORWARD)
    }

    /// The unit world direction in which the node's -X axis points. As
    /// [`world_forward`](Self::world_forward).
    ///
    /// # Errors
    /// [`StaleNode`]; [`Degenerate`] if the axis is scaled to nothing.
    pub fn world_left(&self, id: NodeId) -> Result<A::Vector, WorldError> {
        self.world_axis(id, -A::Shared::RIGHT)
    }

    /// The unit world direction in which the node's -Y axis points. As
    /// [`world_forward`](Self::world_forward).
    ///
    /// # Errors
    /// [`StaleNode`]; [`Degenerate`] if the axis is scaled to nothing.
    pub fn world_down(&self, id: NodeId) -> Result<A::Vector, WorldError> {
        self.world_axis(id, -A::Shared::UP)
    }

    fn world_axis(&self, id: NodeId, axis: i8) -> Result<A::Vector, WorldError> {
        Ok(A::Shared::axis(&A::wide_matrix(&self.world(id)?), axis).ok_or(Degenerate)?)
    }

    /// The inverse of the world matrix: from world space to the node's. Taken in float64. O(depth), to
    /// see whether a node above is flat.
    ///
    /// # Errors
    /// [`StaleNode`]; [`SingularParent`] naming the node if its world is flat, or so nearly that
    /// `world * inverse` is off the identity by more than 2⁻¹⁰ whatever matrix is chosen.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::{Affine3A, Quat, Vec3}};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::new(Vec3::X, Quat::from_rotation_z(0.3), Vec3::new(2.0, 1.0, -1.0)))?;
    /// assert!((h.world_inverse(root)? * h.world(root)?).abs_diff_eq(Affine3A::IDENTITY, 1e-6));
    /// h.set_scale(root, Vec3::new(1.0, 0.0, 1.0))?;
    /// assert!(h.world_inverse(root).is_err());
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "worldToLocalMatrix")]
    pub fn world_inverse(&self, id: NodeId) -> Result<A::Affine, WorldError> {
        let inverse = A::Shared::inverse(&self.invertible_world(id)?);
        Ok(inverse.map_err(|residual| SingularParent { parent: id, residual })?)
    }

    /// The world pose for a door that needs its inverse.
    pub(super) fn invertible_world(&self, id: NodeId) -> Result<Wide<A>, WorldError> {
        let (slot, _) = self.at(id)?;
        if self.is_flat_in_world(slot) {
            return Err(SingularParent { parent: id, residual: f32::INFINITY }.into());
        }
        Ok(A::wide_matrix(&self.world(id)?))
    }

    /// Whether the node or one above it, whose scale it inherits, is exactly flat. The world itself does
    /// not always show that: turned and turned back, a plane gets a thin side, and a direction for it,
    /// from rounding alone.
    pub(super) fn is_flat_in_world(&self, slot: u32) -> bool {
        let mut at = slot;
        while at != NONE {
            if A::is_flat(&self.own(at)) {
                return true;
            }
            if self.inherits.is_reduced(self.order.row(at)) {
                return self.frame_of(at).chain().flat;
            }
            at = self.topology.links(at).parent;
        }
        false
    }

    /// Sets the world pose from a matrix, shear included: the node's descendants follow.
    ///
    /// With [`Matrices`](crate::Matrices) every element of the world matrix is what was asked for, to
    /// within the law of [`reparent`](Self::reparent); the node holds a matrix where its local value
    /// shears. With [`Components`](crate::Components) the matrix is taken apart. Marks the node dirty.
    /// O(depth).
    ///
    /// # Errors
    /// [`StaleNode`], [`NonFinite`], [`SingularParent`]; with `Components`
    /// [`NotTrs`](crate::NotTrs) for a matrix that shears; nothing changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::{Affine3A, Quat, Vec3}};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::from_scale(Vec3::new(1.0, 2.0, 1.0)))?;
    /// let child = h.add_child(root, Transform::IDENTITY)?;
    /// let wanted = Affine3A::from_rotation_translation(Quat::from_rotation_z(0.3), Vec3::ONE);
    /// h.set_world(child, wanted)?;
    /// assert!(h.world(child)?.abs_diff_eq(wanted, 1e-6));
    /// assert!(!h.is_trs(child)?); // it has to undo the parent's stretching
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "set_global_transform")]
    pub fn set_world(&mut self, id: NodeId, world: A::Affine) -> Result<(), WorldError> {
        self.edit_in_world(id, |frame, own| frame.solve(&A::widen_matrix(&world, own)?, own, Shear::Allowed))
    }

    /// Sets world position, rotation and scale at once: the world matrix becomes their `T * R * S`.
    ///
    /// Under a parent with rotation and uneven scale the node holds a matrix then, with [`Matrices`](crate::Matrices),
    /// because its local value shears. What physics hands back, a position and a rotation, goes in by
    /// [`set_world_rotation`](Self::set_world_rotation) and [`set_world_position`](Self::set_world_position), which
    /// leave the scale alone and a transform a transform.
    ///
    /// Marks the node dirty. O(depth).
    ///
    /// # Errors
    /// [`StaleNode`], [`NonFinite`], [`NotRotation`](crate::NotRotation),
    /// [`SingularParent`]; nothing changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::{Quat, Vec3}};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::from_scale(Vec3::new(1.0, 2.0, 1.0)))?;
    /// let child = h.add_child(root, Transform::IDENTITY)?;
    /// let wanted = Transform::new(Vec3::ONE, Quat::from_rotation_z(0.3), Vec3::new(3.0, 1.0, -1.0));
    /// h.set_world_transform(child, wanted)?;
    /// assert!(h.world(child)?.abs_diff_eq(wanted.to_affine(), 1e-6));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn set_world_transform(&mut self, id: NodeId, mut world: A::Transform) -> Result<(), WorldError> {
        self.topology.slot(id)?;
        A::admit::<WorldError>(&mut world)?;
        let wanted = A::widen_transform(&world);
        self.edit_in_world(id, |frame, own| frame.solve(&wanted, own, Shear::Allowed))
    }

    /// Sets the world position; own rotation, scale and shear keep their bits.
    ///
    /// Marks the node dirty. O(depth).
    ///
    /// # Errors
    /// [`StaleNode`], [`NonFinite`], [`SingularParent`]; nothing changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::Vec3};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::from_scale(Vec3::splat(2.0)))?;
    /// let child = h.add_child(root, Transform::IDENTITY)?;
    /// h.set_world_position(child, Vec3::X)?;
    /// assert_eq!(h.position(child)?, 0.5 * Vec3::X);
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "set_global_position")]
    #[doc(alias = "SetWorldLocation")]
    pub fn set_world_position(&mut self, id: NodeId, position: A::Vector) -> Result<(), WorldError> {
        self.topology.slot(id)?;
        let position = A::Shared::check_vector(position)?;
        self.edit_in_world(id, |frame, own| A::solve_position(&frame.of_position(), own, position))
    }

    /// Sets the world rotation by the one own rotation that makes it read back; own position and scale keep their
    /// bits, and shear stays to within rounding.
    ///
    /// With [`Matrices`](crate::Matrices): for a parent with the linear part `P`, its mirroring moved to
    /// X, and `V` the wanted rotation, `r = P⁻¹ V U` with `U Uᵀ = Vᵀ P Pᵀ V`, `U` upper triangular. A node
    /// without shear stays one. With [`Components`](crate::Components): `r = r_p⁻¹ V`, under any parent.
    /// Works from an own scale of zero; it then shows once the scale is set. Marks the node dirty.
    /// O(depth).
    ///
    /// # Errors
    /// [`StaleNode`], [`NonFinite`], [`NotRotation`](crate::NotRotation),
    /// [`SingularParent`]; nothing changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::{Quat, Vec3}};
    /// let mut h = Hierarchy::new();
    /// let turned = Transform::from_rotation(Quat::from_rotation_x(0.4));
    /// let root = h.add_root(turned.with_scale(Vec3::new(1.0, 3.0, 0.5)))?;
    /// let child = h.add_child(root, Transform::IDENTITY)?;
    /// let wanted = Quat::from_rotation_y(1.0);
    /// h.set_world_rotation(child, wanted)?;
    /// assert!(h.world_rotation(child)?.abs_diff_eq(wanted, 1e-6));
    /// assert!(h.is_trs(child)?);
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "set_global_rotation")]
    #[doc(alias = "SetPositionAndRotation")]
    pub fn set_world_rotation(&mut self, id: NodeId, rotation: A::Rotation) -> Result<(), WorldError> {
        self.topology.slot(id)?;
        let rotation = A::Shared::admit_rotation::<WorldError>(rotation)?;
        self.edit_in_world(id, |frame, own| frame.edit(own, |parent, own| A::solve_rotation(parent, own, rotation)))
    }

    /// Sets the world scale by the one own scale that makes it read back; own position, rotation and
    /// shear stay.
    ///
    /// With [`Matrices`](crate::Matrices): `own_j = s_j / U_jj`, where the parent's linear part times the
    /// own rotation is `Q U`, `U` upper triangular. With [`Components`](crate::Components):
    /// `own = s / s_p`. Works from an own scale of zero. Marks the node dirty. O(depth).
    ///
    /// # Errors
    /// [`StaleNode`], [`NonFinite`]; [`SingularParent`] if the parent is flat, or so
    /// nearly that the world's rounding hides the scale, or the own scale would under- or overflow; nothing changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::{Quat, Vec3}};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::from_uniform_scale(3.0))?;
    /// let child = h.add_child(root, Transform::from_scale(Vec3::ZERO))?;
    /// h.set_world_scale(child, Vec3::new(1.0, -1.0, 6.0))?;
    /// assert!(h.scale(child)?.abs_diff_eq(Vec3::new(1.0, -1.0, 6.0) / 3.0, 1e-6));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "SetWorldScale3D")]
    pub fn set_world_scale(&mut self, id: NodeId, scale: A::Vector) -> Result<(), WorldError> {
        self.topology.slot(id)?;
        let scale = A::Shared::check_vector(scale)?;
        self.edit_in_world(id, |frame, own| frame.edit(own, |parent, own| A::solve_scale(parent, own, scale)))
    }

    /// The door for everything given in world space: computes the own value in the frame it is given in,
    /// then commits it by the local door.
    pub(super) fn edit_in_world(
        &mut self,
        id: NodeId,
        solve: impl FnOnce(&Frame<A>, &Own<A>) -> Result<Own<A>, Misfit>,
    ) -> Result<(), WorldError> {
        let slot = self.topology.slot(id)?;
        let parent = self.topology.links(slot).parent;
        let own = match solve(&self.frame_of(slot), &self.own(slot)) {
            Ok(own) if A::is_finite(&own.local()) => own,
            Ok(_) => return Err(NonFinite.into()),
            Err(Misfit::Degenerate) => return Err(Degenerate.into()),
            Err(misfit) => return Err(self.refusal(misfit, slot, (parent, NONE))),
        };
        self.set_own(slot, &own);
        Ok(())
    }
}
