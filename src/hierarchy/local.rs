//! The local values and their doors. [`Locals`] is the sole writer of that column.

use super::HierarchyOf;
use super::order::Permutation;
use crate::accumulate::geometry::Shared as _;
use crate::accumulate::{Accumulate, Geometry, Matrices, Misfit, Own};
use crate::{LocalError, NodeId, NonFinite, NotTrs, SetLocalsError, StaleNode};
use alloc::vec::Vec;

/// What nodes own: by slot the transform as set, by row the local pose in the form that sweeps read.
///
/// A node that holds a matrix has it in its row; its transform is that matrix taken apart, shear left
/// out, with the signs of scale that the user typed.
#[derive(Clone, Debug)]
pub(super) struct Locals<A: Accumulate> {
    transforms: Vec<A::Transform>,
    is_matrix: Vec<bool>,
    rows: Vec<A::Row>,
}

/// All that a node owns: its local value as it is stored, a transform or a matrix. For undo, clipboards and the like.
///
/// Made by [`local_value`](HierarchyOf::local_value). Put back by [`set_local_value`](HierarchyOf::set_local_value) it
/// is the same to the bit, of a node that holds a matrix too, with the signs of scale that were typed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalValue<A: Accumulate = Matrices>(Own<A>);

impl<A: Accumulate> LocalValue<A> {
    /// Whether it is a matrix, with or without shear, and not a position, rotation and scale. Example:
    /// [`local_value`](HierarchyOf::local_value).
    #[must_use]
    pub fn is_matrix(&self) -> bool {
        self.0.matrix.is_some()
    }
}

/// The transform as set, whether the node holds a matrix, and the local row.
pub(super) type Parts<'a, A> = (&'a <A as Accumulate>::Transform, bool, &'a <A as Accumulate>::Row);

impl<A: Accumulate> Locals<A> {
    pub(super) fn new() -> Self {
        Self { transforms: Vec::new(), is_matrix: Vec::new(), rows: Vec::new() }
    }

    pub(super) fn reserve(&mut self, additional: usize) {
        self.transforms.reserve(additional);
        self.is_matrix.reserve(additional);
        self.rows.reserve(additional);
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.transforms.shrink_to_fit();
        self.is_matrix.shrink_to_fit();
        self.rows.shrink_to_fit();
    }

    /// Adds a last row, of the node in `slot`.
    pub(super) fn push(&mut self, slot: u32, transform: &A::Transform) {
        self.seat(slot, transform, false);
        self.rows.push(A::local_of(transform));
    }

    /// As [`push`](Self::push), with the parts of a node, of this column or another.
    pub(super) fn push_parts(&mut self, slot: u32, (transform, is_matrix, local): Parts<'_, A>) {
        self.seat(slot, transform, is_matrix);
        self.rows.push(*local);
    }

    fn seat(&mut self, slot: u32, transform: &A::Transform, is_matrix: bool) {
        let slot = slot as usize;
        if self.transforms.len() <= slot {
            self.transforms.resize(slot + 1, *transform);
            self.is_matrix.resize(slot + 1, false);
        }
        self.transforms[slot] = *transform;
        self.is_matrix[slot] = is_matrix;
    }

    /// All that is stored of a node.
    pub(super) fn parts(&self, slot: u32, row: u32) -> Parts<'_, A> {
        (self.transform(slot), self.is_matrix[slot as usize], self.row(row))
    }

    pub(super) fn vacate(&mut self, row: u32) {
        self.rows[row as usize] = A::HOLE;
    }

    pub(super) fn clear(&mut self) {
        self.rows.clear();
    }

    /// Moves the rows into a buffer, and leaves the one they were in there.
    pub(super) fn permute(&mut self, order: &Permutation, buffer: &mut Vec<A::Row>) {
        order.apply_into(&self.rows, buffer);
        core::mem::swap(&mut self.rows, buffer);
    }

    /// Moves the rows.
    pub(super) fn carry(&mut self, order: &Permutation) {
        order.apply(&mut self.rows);
    }

    pub(super) fn rows(&self) -> &[A::Row] {
        &self.rows
    }

    pub(super) fn row(&self, row: u32) -> &A::Row {
        &self.rows[row as usize]
    }

    pub(super) fn transform(&self, slot: u32) -> &A::Transform {
        &self.transforms[slot as usize]
    }

    #[inline]
    pub(super) fn own(&self, slot: u32, row: u32) -> Own<A> {
        let matrix = self.is_matrix[slot as usize].then(|| *self.row(row));
        Own { transform: *self.transform(slot), matrix }
    }

    /// As [`set`](Self::set), of a transform: without a copy on the way.
    #[inline(always)]
    fn set_transform(&mut self, slot: u32, row: u32, transform: &A::Transform) {
        self.transforms[slot as usize] = *transform;
        self.is_matrix[slot as usize] = false;
        self.rows[row as usize] = A::local_of(transform);
    }

    pub(super) fn set(&mut self, slot: u32, row: u32, own: &Own<A>) {
        self.write(slot, row, own, &own.local());
    }

    /// As [`set`](Self::set), with `own.local()` at hand.
    fn write(&mut self, slot: u32, row: u32, own: &Own<A>, local: &A::Row) {
        self.transforms[slot as usize] = own.transform;
        self.is_matrix[slot as usize] = own.matrix.is_some();
        self.rows[row as usize] = *local;
    }
}

impl<A: Geometry> Locals<A> {
    /// Sets the position alone: a third of the bytes, and nothing to convert.
    fn set_position(&mut self, slot: u32, row: u32, position: A::Vector) {
        A::put_position(position, &mut self.transforms[slot as usize], &mut self.rows[row as usize]);
    }
}

impl<A: Accumulate> HierarchyOf<A> {
    /// Replaces the whole local value: position, rotation and scale in the parent's space. A node that
    /// held a matrix does not any more. A quaternion that is off unit length by less than 1 % is normalised, as in
    /// every door that takes one.
    ///
    /// Marks the node dirty. O(1).
    ///
    /// # Errors
    /// [`StaleNode`], [`NonFinite`], [`NotRotation`](crate::NotRotation); nothing changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::Vec3};
    /// let mut h = Hierarchy::new();
    /// let id = h.add_root(Transform::IDENTITY)?;
    /// h.set_local(id, Transform::from_position(Vec3::X))?;
    /// assert_eq!(h.local(id)?, Transform::from_position(Vec3::X));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[inline(always)]
    pub fn set_local(&mut self, id: NodeId, local: A::Transform) -> Result<(), LocalError> {
        let (slot, row) = self.at(id)?;
        if A::is_plain(&local) {
            self.put(slot, row, &local);
            return Ok(());
        }
        self.admit_and_put(slot, row, local)
    }

    #[cold]
    fn admit_and_put(&mut self, slot: u32, row: u32, mut local: A::Transform) -> Result<(), LocalError> {
        A::admit::<LocalError>(&mut local)?;
        self.put(slot, row, &local);
        Ok(())
    }

    /// Inlined, so that a transform made in pieces goes from registers to where it stays: read back whole from where
    /// it was put together, it would be waited for longer than all the rest takes.
    #[inline(always)]
    fn put(&mut self, slot: u32, row: u32, local: &A::Transform) {
        self.locals.set_transform(slot, row, local);
        self.touch(slot, row);
    }

    /// Replaces the whole local values of many nodes, as an animation system does: all or none.
    ///
    /// As [`set_local`](Self::set_local) for each in turn; of a node that comes twice the last one stays.
    /// Marks the nodes dirty. O(nodes given).
    ///
    /// # Errors
    /// [`SetLocalsError`], which says which entry it is, of: [`StaleNode`], [`NonFinite`],
    /// [`NotRotation`](crate::NotRotation); nothing changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::Vec3};
    /// let mut h = Hierarchy::new();
    /// let a = h.add_root(Transform::IDENTITY)?;
    /// let b = h.add_child(a, Transform::IDENTITY)?;
    /// let pose = Transform::from_position(Vec3::X);
    /// h.set_locals(&[(a, pose), (b, pose)])?;
    /// assert_eq!(h.world_position(b)?, 2.0 * Vec3::X);
    /// let error = h.set_locals(&[(a, Transform::IDENTITY), (b, Transform::from_scale(Vec3::NAN))]);
    /// assert_eq!(error.unwrap_err().index, 1);
    /// assert_eq!(h.local(a)?, pose);
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn set_locals(&mut self, locals: &[(NodeId, A::Transform)]) -> Result<(), SetLocalsError> {
        // All of them are looked at before the one question that a loop would have to wait for.
        let is_plain = |(id, local): &(NodeId, A::Transform)| self.topology.contains(*id) & A::is_plain(local);
        if !locals.iter().fold(true, |all, each| all & is_plain(each)) {
            return self.admit_and_set_locals(locals);
        }
        for (id, local) in locals {
            self.put(id.slot(), self.order.row(id.slot()), local);
        }
        Ok(())
    }

    /// Something is refused or has to be normalised.
    #[cold]
    fn admit_and_set_locals(&mut self, locals: &[(NodeId, A::Transform)]) -> Result<(), SetLocalsError> {
        let each = |door: &mut dyn FnMut(NodeId, A::Transform) -> Result<(), LocalError>| {
            let mut entries = locals.iter().enumerate();
            entries
                .try_for_each(|(index, &(id, local))| door(id, local).map_err(|cause| SetLocalsError { index, cause }))
        };
        each(&mut |id, _| Ok(self.topology.slot(id).map(|_| ())?))?;
        each(&mut |_, mut local| A::admit(&mut local))?;
        each(&mut |id, local| self.set_local(id, local))
    }
}

impl<A: Accumulate> HierarchyOf<A> {
    /// The local value as it is stored, to be put back. O(1).
    ///
    /// # Errors
    /// [`StaleNode`].
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::{Affine3A, Mat3, Vec3}};
    /// let mut h = Hierarchy::new();
    /// let id = h.add_root(Transform::from_scale(Vec3::new(-1.0, -2.0, 0.0)))?;
    /// let sheared = Affine3A::from_mat3(Mat3::from_cols(Vec3::X, Vec3::new(0.5, 1.0, 0.0), Vec3::Z));
    /// let mut undo = Vec::new();
    /// for matrix in [sheared, Affine3A::IDENTITY] {
    ///     undo.push(h.local_value(id)?);
    ///     h.set_local_matrix(id, matrix)?;
    /// }
    /// assert!(undo[1].is_matrix() && !undo[0].is_matrix());
    /// h.set_local_value(id, undo.pop().unwrap())?;
    /// assert_eq!(h.local_matrix(id)?, sheared);
    /// h.set_local_value(id, undo.pop().unwrap())?;
    /// assert_eq!(h.local(id)?.scale, Vec3::new(-1.0, -2.0, 0.0));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn local_value(&self, id: NodeId) -> Result<LocalValue<A>, StaleNode> {
        Ok(LocalValue(self.own(self.topology.slot(id)?)))
    }

    /// Puts a local value back, in this or another hierarchy of the kind. Marks the node dirty. O(1). Example:
    /// [`local_value`](Self::local_value).
    ///
    /// # Errors
    /// [`StaleNode`]; nothing changed.
    pub fn set_local_value(&mut self, id: NodeId, value: LocalValue<A>) -> Result<(), StaleNode> {
        let slot = self.topology.slot(id)?;
        self.set_own(slot, &value.0);
        Ok(())
    }
}

impl<A: Geometry> HierarchyOf<A> {
    /// The local value in the parent's space, bit for bit as it was set (a rotation that was not quite of unit length:
    /// as it was normalised).
    ///
    /// Of a node that holds a matrix without shear: the matrix taken apart, to within rounding. O(1).
    ///
    /// # Errors
    /// [`StaleNode`]; [`NotTrs`] for a node that holds shear, which
    /// [`local_matrix`](Self::local_matrix) and [`local_decomposed`](Self::local_decomposed) show.
    ///
    /// ```
    /// use posetree::{Hierarchy, Keep, LocalError, Transform, glam::{Quat, Vec3}};
    /// let mut h = Hierarchy::new();
    /// let wide = h.add_root(Transform::from_scale(Vec3::new(4.0, 1.0, 1.0)))?;
    /// let turned = Transform::from_rotation(Quat::from_rotation_z(0.7));
    /// let id = h.add_child(wide, turned)?;
    /// assert_eq!(h.local(id)?, turned);
    /// h.reparent(id, None, Keep::World)?; // still looks stretched, and so holds shear
    /// assert!(matches!(h.local(id), Err(LocalError::NotTrs(_))));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "GetRelativeTransform")]
    pub fn local(&self, id: NodeId) -> Result<A::Transform, LocalError> {
        let slot = self.topology.slot(id)?;
        Ok(A::as_trs(&self.own(slot)).map_err(|residual| NotTrs { node: id, residual })?)
    }

    /// The local value in the parent's space as position, rotation, scale and shear. Exact for a
    /// transform as set; for a matrix to within rounding. O(1).
    ///
    /// # Errors
    /// [`StaleNode`].
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::{Affine3A, Mat3, Vec3}};
    /// let mut h = Hierarchy::new();
    /// let id = h.add_root(Transform::IDENTITY)?;
    /// h.set_local_matrix(id, Affine3A::from_mat3(Mat3::from_cols(Vec3::X, Vec3::new(0.5, 1.0, 0.0), Vec3::Z)))?;
    /// assert_eq!(h.local_decomposed(id)?.shear, Vec3::new(0.5, 0.0, 0.0));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn local_decomposed(&self, id: NodeId) -> Result<A::Decomposed, StaleNode> {
        Ok(A::decompose_own(&self.own(self.topology.slot(id)?)))
    }

    /// The local value in the parent's space as a matrix, which every node has: `T * R * S`, or the
    /// matrix that was set. O(1).
    ///
    /// # Errors
    /// [`StaleNode`].
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::Vec3};
    /// let mut h = Hierarchy::new();
    /// let local = Transform::from_scale(Vec3::new(1.0, 2.0, 3.0));
    /// let id = h.add_root(local)?;
    /// assert_eq!(h.local_matrix(id)?, local.to_affine());
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn local_matrix(&self, id: NodeId) -> Result<A::Affine, StaleNode> {
        Ok(A::export(&self.own(self.topology.slot(id)?)))
    }

    /// Replaces the local value by a matrix in the parent's space, as an importer of matrix nodes does.
    ///
    /// With [`Matrices`] the matrix is kept exactly, shear included. With
    /// [`Components`](crate::Components) it is taken apart. Marks the node dirty. O(1).
    ///
    /// # Errors
    /// [`StaleNode`], [`NonFinite`]; with `Components` [`NotTrs`] for a matrix that shears; nothing
    /// changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::{Affine3A, Vec3}};
    /// let mut h = Hierarchy::new();
    /// let id = h.add_root(Transform::IDENTITY)?;
    /// let matrix = Affine3A::from_scale(Vec3::new(-1.0, 2.0, 0.0));
    /// h.set_local_matrix(id, matrix)?;
    /// assert_eq!(h.local_matrix(id)?, matrix);
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn set_local_matrix(&mut self, id: NodeId, matrix: A::Affine) -> Result<(), LocalError> {
        let slot = self.topology.slot(id)?;
        let own = A::import(&matrix, &self.own(slot)).map_err(|misfit| match misfit {
            Misfit::Shear(residual) | Misfit::Singular(residual) => LocalError::from(NotTrs { node: id, residual }),
            Misfit::NonFinite | Misfit::Degenerate => NonFinite.into(),
        })?;
        self.set_own(slot, &own);
        Ok(())
    }

    /// The local position, in the parent's space and units. O(1). Example: [`set_position`](Self::set_position).
    ///
    /// # Errors
    /// [`StaleNode`].
    #[doc(alias = "localPosition")]
    #[doc(alias = "translation")]
    pub fn position(&self, id: NodeId) -> Result<A::Vector, StaleNode> {
        Ok(A::Shared::position(self.locals.transform(self.topology.slot(id)?)))
    }

    /// The local rotation, relative to the parent. Of a matrix: its rotation after the X axis. O(1).
    /// Example: [`set_position`](Self::set_position).
    ///
    /// # Errors
    /// [`StaleNode`].
    #[doc(alias = "localRotation")]
    #[doc(alias = "quaternion")]
    pub fn rotation(&self, id: NodeId) -> Result<A::Rotation, StaleNode> {
        Ok(A::Shared::rotation(self.locals.transform(self.topology.slot(id)?)))
    }

    /// The local scale. Of a matrix: the diagonal of `U` where the matrix is `T * R * U`. O(1).
    /// Example: [`set_position`](Self::set_position).
    ///
    /// # Errors
    /// [`StaleNode`].
    #[doc(alias = "localScale")]
    pub fn scale(&self, id: NodeId) -> Result<A::Vector, StaleNode> {
        Ok(A::Shared::scale(self.locals.transform(self.topology.slot(id)?)))
    }

    /// Sets the local position, in the parent's space and units; all else keeps its bits.
    ///
    /// Marks the node dirty. O(1).
    ///
    /// # Errors
    /// [`StaleNode`], [`NonFinite`]; nothing changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::{Quat, Vec3}};
    /// let mut h = Hierarchy::new();
    /// let id = h.add_root(Transform::IDENTITY)?;
    /// h.set_position(id, Vec3::X)?;
    /// h.set_rotation(id, Quat::from_rotation_y(1.0))?;
    /// h.set_scale(id, Vec3::new(1.0, 0.0, -2.0))?;
    /// assert_eq!(h.local(id)?, Transform::new(Vec3::X, Quat::from_rotation_y(1.0), Vec3::new(1.0, 0.0, -2.0)));
    /// assert_eq!((h.position(id)?, h.rotation(id)?), (Vec3::X, Quat::from_rotation_y(1.0)));
    /// assert_eq!(h.scale(id)?, Vec3::new(1.0, 0.0, -2.0));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "set_translation")]
    #[inline]
    pub fn set_position(&mut self, id: NodeId, position: A::Vector) -> Result<(), LocalError> {
        let (slot, row) = self.at(id)?;
        let position = A::Shared::check_vector(position)?;
        self.locals.set_position(slot, row, position);
        self.touch(slot, row);
        Ok(())
    }

    /// Sets the local rotation, relative to the parent; position, scale and shear stay.
    ///
    /// Marks the node dirty. O(1). Example: [`set_position`](Self::set_position).
    ///
    /// # Errors
    /// [`StaleNode`], [`NonFinite`], [`NotRotation`](crate::NotRotation); nothing changed.
    pub fn set_rotation(&mut self, id: NodeId, rotation: A::Rotation) -> Result<(), LocalError> {
        let slot = self.topology.slot(id)?;
        let rotation = A::Shared::admit_rotation::<LocalError>(rotation)?;
        self.set_own_if_finite(slot, &A::with_rotation(&self.own(slot), rotation))
    }

    /// Sets the local scale; negative components mirror, zeros flatten. Position, rotation and shear
    /// stay.
    ///
    /// Marks the node dirty. O(1). Example: [`set_position`](Self::set_position).
    ///
    /// # Errors
    /// [`StaleNode`], [`NonFinite`]; nothing changed.
    pub fn set_scale(&mut self, id: NodeId, scale: A::Vector) -> Result<(), LocalError> {
        let slot = self.topology.slot(id)?;
        let scale = A::Shared::check_vector(scale)?;
        self.set_own_if_finite(slot, &A::with_scale(&self.own(slot), scale))
    }

    /// Finite factors can have a product that is not.
    #[inline(always)]
    fn set_own_if_finite(&mut self, slot: u32, own: &Own<A>) -> Result<(), LocalError> {
        if own.matrix.is_none() && A::is_plain(&own.transform) {
            self.put(slot, self.order.row(slot), &own.transform);
            return Ok(());
        }
        self.write_if_finite(slot, own)
    }

    #[inline(never)]
    fn write_if_finite(&mut self, slot: u32, own: &Own<A>) -> Result<(), LocalError> {
        let local = own.local();
        if !A::is_finite(&local) {
            return Err(NonFinite.into());
        }
        let row = self.order.row(slot);
        self.locals.write(slot, row, own, &local);
        self.touch(slot, row);
        Ok(())
    }

    /// Whether position, rotation and scale hold the local value to within rounding, so that
    /// [`local`](Self::local) returns it. O(1). Example: [`drop_shear`](Self::drop_shear).
    ///
    /// # Errors
    /// [`StaleNode`].
    pub fn is_trs(&self, id: NodeId) -> Result<bool, StaleNode> {
        Ok(A::as_trs(&self.own(self.topology.slot(id)?)).is_ok())
    }

    /// Drops the shear of a local matrix, and returns how far its worst column moved, in units of that
    /// column's largest element: 0 for a node that held none. The one door that loses something.
    ///
    /// Marks the node dirty. O(1).
    ///
    /// # Errors
    /// [`StaleNode`]; nothing changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::{Affine3A, Mat3, Vec3}};
    /// let mut h = Hierarchy::new();
    /// let id = h.add_root(Transform::IDENTITY)?;
    /// h.set_local_matrix(id, Affine3A::from_mat3(Mat3::from_cols(Vec3::X, Vec3::new(0.5, 1.0, 0.0), Vec3::Z)))?;
    /// assert!(!h.is_trs(id)?);
    /// assert_eq!(h.drop_shear(id)?, 0.5);
    /// assert!(h.is_trs(id)?);
    /// assert_eq!(h.local(id)?, Transform::IDENTITY);
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn drop_shear(&mut self, id: NodeId) -> Result<f32, StaleNode> {
        let slot = self.topology.slot(id)?;
        let (transform, residual) = A::drop_shear(&self.own(slot));
        self.set_own(slot, &Own::trs(transform));
        Ok(residual)
    }
}
