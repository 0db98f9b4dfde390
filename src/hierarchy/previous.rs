//! The world poses of the update before, for those who ask for them. The sole writer of that column.

use super::bits;
use super::changes::{Changes, Version};
use super::dirty::Marks;
use super::order::Permutation;
use super::{HierarchyOf, Worlds};
use crate::accumulate::{Accumulate, Geometry};
use crate::topology::NONE;
use crate::{LengthMismatch, NodeId, NotTracked, StaleNode, WorldError};
use alloc::vec::Vec;

/// Nothing, or what was there before.
#[derive(Clone, Debug)]
pub(super) struct Previous<A: Accumulate>(Option<Column<A>>);

#[derive(Clone, Debug)]
struct Column<A: Accumulate> {
    rows: Vec<A::Row>,
    /// Rows that have no past: their next world is their previous one too. All of them are stale.
    fresh: Marks,
    /// Rows that changed since then are those that the last update computed, and the only ones in which
    /// the worlds may differ.
    since: Version,
}

impl<A: Accumulate> Previous<A> {
    pub(super) const fn new() -> Self {
        Self(None)
    }

    pub(super) fn is_tracked(&self) -> bool {
        self.0.is_some()
    }

    pub(super) fn reserve(&mut self, additional: usize) {
        if let Some(column) = &mut self.0 {
            column.rows.reserve(additional);
            column.fresh.reserve(column.rows.len() + additional);
        }
    }

    pub(super) fn shrink_to_fit(&mut self) {
        if let Some(column) = &mut self.0 {
            column.rows.shrink_to_fit();
            column.fresh.shrink_to_fit();
        }
    }

    /// Makes room for that many rows; new ones have no past.
    pub(super) fn resize(&mut self, rows: usize) {
        if let Some(column) = &mut self.0 {
            let new = column.rows.len() as u32..rows as u32;
            column.rows.resize(rows, A::HOLE);
            column.fresh.resize(rows);
            column.fresh.set_range(new);
        }
    }

    pub(super) fn vacate(&mut self, row: u32) {
        if let Some(column) = &mut self.0 {
            column.rows[row as usize] = A::HOLE;
            column.fresh.unset(row);
        }
    }

    pub(super) fn clear(&mut self) {
        if let Some(column) = &mut self.0 {
            column.rows.clear();
            column.fresh.clear();
        }
    }

    pub(super) fn permute(&mut self, order: &Permutation) {
        if let Some(column) = &mut self.0 {
            order.apply(&mut column.rows);
            column.fresh.permute(order);
        }
    }

    /// Before an update: the worlds that the last one computed are the previous ones now.
    pub(super) fn advance(&mut self, worlds: &[A::Row], changes: &Changes) {
        let Some(column) = &mut self.0 else { return };
        for (start, mut bits) in changes.since(column.since) {
            while let Some(rows) = bits::take_stretch(&mut bits) {
                let stretch = start + rows.start..start + rows.end;
                column.rows[stretch.clone()].copy_from_slice(&worlds[stretch]);
            }
        }
        column.since = changes.version();
    }

    /// After an update: what has no past has one now.
    pub(super) fn settle(&mut self, worlds: &[A::Row]) {
        let Some(column) = &mut self.0 else { return };
        while let Some(row) = column.fresh.next(0) {
            column.rows[row as usize] = worlds[row as usize];
            column.fresh.unset(row);
        }
    }

    /// Asserts that only stale rows have no past, and that the worlds differ in no row but those that
    /// the last update computed.
    pub(super) fn assert_well_formed(&self, stale: &[bool], worlds: &[A::Row], changes: &Changes) {
        let Some(column) = &self.0 else { return };
        assert_eq!(column.rows.len(), stale.len(), "previous rows");
        column.fresh.assert_well_formed(stale.len());
        assert!(column.since <= changes.version(), "the last update was in the future");
        let mut computed = alloc::vec![false; stale.len()];
        for (start, bits) in changes.since(column.since) {
            bits::ones(bits).for_each(|bit| computed[start + bit] = true);
        }
        for (row, &stale) in stale.iter().enumerate() {
            assert!(stale || !column.fresh.get(row as u32), "row {row} is clean and has no past");
            let rests = A::same_bits(&column.rows[row], &worlds[row]);
            assert!(stale || computed[row] || rests, "previous world of row {row}, which rests");
        }
    }
}

/// # Previous poses
///
/// For motion vectors, and to draw between the steps of a simulation. Each [`update`](Self::update)
/// is a step: what is the world pose after one is the previous world pose after the next, of nodes that
/// rest as of those that move. So where steps are fixed and frames are not, update once a step; what is edited in
/// between, such as a camera in each frame, can be read lazily, or made cheap to read by
/// [`update_within_step`](Self::update_within_step). Costs another row for each node, and a copy for each row that an
/// update computes; nothing while it is off.
///
/// ```
/// use posetree::{Hierarchy, Transform, glam::{Affine3A, Vec3}};
/// let mut h = Hierarchy::new();
/// assert!(!h.tracks_previous());
/// h.track_previous(true);
/// assert!(h.tracks_previous());
/// let ball = h.add_root(Transform::IDENTITY)?;
/// h.update();
/// h.set_position(ball, 2.0 * Vec3::X)?;
/// h.update();
/// assert_eq!(h.world_previous(ball)?, Affine3A::IDENTITY);
/// assert_eq!(h.world_interpolated(ball, 0.25)?, Affine3A::from_translation(0.5 * Vec3::X));
/// h.update(); // a step in which it rests
/// assert_eq!(h.world_previous(ball)?, h.world(ball)?);
///
/// h.set_position(ball, 100.0 * Vec3::Y)?; // is put elsewhere, and did not fly there
/// h.forget_previous(ball)?;
/// h.update();
/// assert_eq!(h.world_previous(ball)?, h.world(ball)?);
/// # Ok::<(), posetree::Error>(())
/// ```
impl<A: Accumulate> HierarchyOf<A> {
    /// Switches previous world poses on or off. Off at first.
    ///
    /// Once on, every node starts without a past: its previous pose is the one it has, of what is dirty the one that
    /// the next update computes. To switch on what is on changes nothing. Off gives the memory back. O(nodes).
    pub fn track_previous(&mut self, on: bool) {
        if on == self.previous.is_tracked() {
            return;
        }
        self.previous = Previous::new();
        if on {
            let mut fresh = Marks::default();
            fresh.resize(self.order.len());
            self.previous.0 = Some(Column { rows: self.worlds.rows().to_vec(), fresh, since: self.changes.version() });
            let mut root = self.topology.ends(NONE).0;
            while root != NONE {
                self.forget_below(root, false);
                root = self.topology.links(root).next;
            }
        }
    }

    /// As [`update`](Self::update), but no step: previous poses stay those they are, of the update before the last
    /// step.
    ///
    /// For edits between two steps, such as of a camera that turns in each frame while a simulation stands still;
    /// without previous poses the same as `update`. It runs on one thread.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::{Affine3A, Vec3}};
    /// let mut h = Hierarchy::new();
    /// h.track_previous(true);
    /// let ball = h.add_root(Transform::IDENTITY)?;
    /// let camera = h.add_root(Transform::IDENTITY)?;
    /// for step in 1..=3 {
    ///     h.set_position(ball, step as f32 * Vec3::X)?;
    ///     h.update();
    ///     // Frames: the camera moves in each, and the ball is drawn on its way.
    ///     for t in [0.25, 0.5, 0.75] {
    ///         h.set_position(camera, t * Vec3::Y)?;
    ///         let worlds = h.update_within_step();
    ///         assert_eq!(worlds[camera][1][3], t);
    ///         let drawn = worlds.hierarchy().world_interpolated(ball, t)?.translation.x;
    ///         assert_eq!(drawn, if step == 1 { 1.0 } else { step as f32 - 1.0 + t });
    ///     }
    /// }
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn update_within_step(&mut self) -> Worlds<'_, A> {
        self.bring_up_to_date(None)
    }

    /// Whether previous world poses are on.
    #[must_use]
    pub fn tracks_previous(&self) -> bool {
        self.previous.is_tracked()
    }

    /// The world pose as it was before the last update (that was a [step](Self::update_within_step)), after the one
    /// before: where the node comes from.
    ///
    /// Of a node that was added or restored since, or whose past was forgotten while it was dirty, the current
    /// [`world`](Self::world). Edits and re-sorts do not change it, updates do. O(1), but for nodes without a past
    /// O(depth) while anything is dirty. Writes nothing.
    ///
    /// # Errors
    /// [`StaleNode`], [`NotTracked`].
    #[doc(alias = "motion vector")]
    #[doc(alias = "PreviousGlobalTransform")]
    pub fn world_previous(&self, id: NodeId) -> Result<A::World, WorldError> {
        let (_, row) = self.at(id)?;
        let column = self.previous.0.as_ref().ok_or(NotTracked)?;
        Ok(A::world(&if column.fresh.get(row) { self.fresh(row) } else { column.rows[row as usize] }))
    }

    /// Makes the world pose of a node and of everything below it their previous pose too: it was put where
    /// it is, and did not move there.
    ///
    /// To be called after the edit that is not to be seen as motion, before the update or right after it.
    /// Of what is dirty, the pose that the next update computes counts, with all edits up to then. Does
    /// nothing while previous poses are off. O(subtree), and O(depth) while anything is dirty.
    ///
    /// # Errors
    /// [`StaleNode`]; nothing changed.
    #[doc(alias = "teleport")]
    #[doc(alias = "reset_physics_interpolation")]
    pub fn forget_previous(&mut self, id: NodeId) -> Result<(), StaleNode> {
        let (slot, row) = self.at(id)?;
        self.forget_below(slot, self.topmost_dirty(row).is_some());
        Ok(())
    }

    /// `stale` says whether the world of the node in `top` is.
    fn forget_below(&mut self, top: u32, stale: bool) {
        let Some(column) = &mut self.previous.0 else { return };
        let mut at = top;
        while at != NONE {
            let row = self.order.row(at);
            // A parent has been seen before its children, and has no past exactly if it is stale.
            let above = self.order.parent(row);
            let stale = if at == top { stale } else { column.fresh.get(above) };
            if stale || self.marks.get(row) {
                column.fresh.set(row);
            } else {
                column.rows[row as usize] = self.worlds.rows()[row as usize];
            }
            at = self.topology.next_in_subtree(top, at);
        }
    }
}

/// # Between two updates
impl<A: Geometry> HierarchyOf<A> {
    /// The pose between the previous one (at `t = 0`) and the world pose (at `t = 1`): what to draw between
    /// two steps of a simulation.
    ///
    /// `t` beyond that continues the motion. Both poses are taken apart, with the signs of the node's own
    /// scale; position, scale and shear go on a line, the rotation at constant speed the shorter way,
    /// as in [`Transform::lerp`](crate::Transform::lerp). So nothing shrinks while it turns, as it does in a
    /// mean of matrices. Both ends, and what rests, keep their bits. Each node goes its own way: a child
    /// of a turning node goes straight from where it was to where it is. All rows at once:
    /// [`Worlds::write_interpolated`]. Cost as [`world`](Self::world), and
    /// two decompositions.
    ///
    /// # Errors
    /// [`StaleNode`], [`NonFinite`](crate::NonFinite), [`NotTracked`].
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::{Quat, Vec3}};
    /// let mut h = Hierarchy::new();
    /// h.track_previous(true);
    /// let from = Transform::from_scale(Vec3::new(2.0, -1.0, 1.0));
    /// let wheel = h.add_root(from)?;
    /// h.update();
    /// h.set_local(wheel, from.with_position(4.0 * Vec3::X).with_rotation(Quat::from_rotation_z(3.0)))?;
    /// h.update();
    /// let quarter = from.with_position(Vec3::X).with_rotation(Quat::from_rotation_z(0.75));
    /// assert!(h.world_interpolated(wheel, 0.25)?.abs_diff_eq(quarter.to_affine(), 1e-6));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "physics interpolation")]
    #[doc(alias = "fixed timestep")]
    pub fn world_interpolated(&self, id: NodeId, t: A::Scalar) -> Result<A::World, WorldError> {
        let (slot, _) = self.at(id)?;
        let t = A::check_scalar(t)?;
        let (from, to) = (self.world_previous(id)?, self.world(id)?);
        Ok(A::interpolate(&from, &to, self.locals.transform(slot), t))
    }
}

impl<A: Geometry> Worlds<'_, A> {
    /// Writes the row of [`world_interpolated`](HierarchyOf::world_interpolated) of every node, and zeros for removed
    /// ones: what an instance buffer takes to draw between two steps.
    ///
    /// What rests is copied; what moved takes two decompositions, some 600 ns. O(rows).
    ///
    /// # Errors
    /// [`NonFinite`](crate::NonFinite), [`NotTracked`]; [`LengthMismatch`] unless there is room for as many
    /// [`rows`](Self::rows) as there are; nothing was written.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::Vec3};
    /// let mut h = Hierarchy::new();
    /// h.track_previous(true);
    /// let ball = h.add_root(Transform::IDENTITY)?;
    /// h.update();
    /// h.set_position(ball, 4.0 * Vec3::X)?;
    /// let worlds = h.update();
    /// let mut drawn = vec![[[0.0; 4]; 3]; worlds.rows().len()];
    /// worlds.write_interpolated(0.25, &mut drawn)?;
    /// assert_eq!(drawn[worlds.row_of(ball)?][0], [1.0, 0.0, 0.0, 1.0]);
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn write_interpolated(self, t: A::Scalar, out: &mut [A::Row]) -> Result<(), WorldError> {
        let t = A::check_scalar(t)?;
        let (rows, previous) = (self.rows(), self.previous_rows().ok_or(NotTracked)?);
        if rows.len() != out.len() {
            return Err(LengthMismatch { left: rows.len(), right: out.len() }.into());
        }
        let HierarchyOf { order, locals, .. } = self.hierarchy;
        for (((to, from), &slot), out) in rows.iter().zip(previous).zip(order.slots()).zip(out) {
            *out = if A::same_bits(from, to) {
                *to
            } else {
                A::row(&A::interpolate(&A::world(from), &A::world(to), locals.transform(slot), t))
            };
        }
        Ok(())
    }
}

impl<'a, A: Accumulate> Worlds<'a, A> {
    /// The previous world pose of every row of [`rows`](Self::rows); `None` while they are off.
    ///
    /// For an instance buffer of its own: an update changes a row in which the worlds changed in that
    /// update or in the one before it. So what to copy after each update is
    /// [`changed_rows_since`](Self::changed_rows_since) the version of two updates ago: keep the last two. Where some
    /// updates are [no steps](HierarchyOf::update_within_step), keep those of the last two that were.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, Version, glam::Vec3};
    /// let mut h = Hierarchy::new();
    /// assert!(h.update().previous_rows().is_none());
    /// h.track_previous(true);
    /// let ball = h.add_root(Transform::IDENTITY)?;
    /// let (mut buffer, mut seen) = (Vec::new(), [Version::default(); 2]);
    /// for at in [0.0, 1.0, 2.0, 2.0, 2.0] {
    ///     if h.position(ball)?.x != at {
    ///         h.set_position(ball, at * Vec3::X)?;
    ///     }
    ///     let worlds = h.update();
    ///     let previous = worlds.previous_rows().expect("they are on");
    ///     buffer.resize(previous.len(), previous[0]);
    ///     for rows in worlds.changed_rows_since(seen[0]) {
    ///         buffer[rows.clone()].copy_from_slice(&previous[rows]);
    ///     }
    ///     seen = [seen[1], worlds.version()];
    ///     assert_eq!(buffer, previous);
    /// }
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[must_use]
    pub fn previous_rows(self) -> Option<&'a [A::Row]> {
        self.hierarchy.previous.0.as_ref().map(|column| &column.rows[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accumulate::hash::Hash;

    #[test]
    fn a_step_copies_what_the_last_one_computed() {
        let mut h = HierarchyOf::<Hash>::new();
        h.track_previous(true);
        let ids: Vec<_> = (0..1000).map(|n| h.add_root(n).unwrap()).collect();
        for step in [1000, 3, 0, 2, 0] {
            ids[..step].iter().for_each(|&id| h.set_local(id, 7).unwrap());
            h.update();
            let since = h.previous.0.as_ref().unwrap().since;
            let copied: u32 = h.changes.since(since).map(|(_, bits)| bits.count_ones()).sum();
            assert_eq!(copied as usize, step);
        }
    }
}
