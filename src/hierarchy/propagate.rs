//! `update()`, when it sorts, and the lazy read.
//!
//! # When rows are sorted, and why then
//!
//! Rows in place are swept in line, whatever edits have done elsewhere. Each stray that an update comes to is a
//! beginning anew, at some cache misses; a sort costs as much as five to ten linear updates, and some more for
//! each stray there is. So there are three reasons to sort, and none of them counts unless something is dirty; the
//! first two only where that has to do with strays:
//! - Updates have come to so many strays since the last sort, those below what is dirty now among them, that it would
//!   have cost as much. As with any purchase that is made once rent has added up to its price, neither rent nor
//!   purchases ever add up to more than about twice the better of the two, whatever comes.
//! - There are so many strays that to sort in any more would take a frame of more than twelve linear updates. That
//!   many edits pay for it.
//! - Holes outnumber nodes.
//!
//! A sort is either due before an update begins, and is the update, or not at all: nothing is taken and then sorted.
//! What was considered and left: to copy a scattered subtree as a fresh run to the end. It comes to each stray
//! once to copy it, as an update in place does to compute it, writes six columns where that writes one, and leaves
//! as many holes; so it pays only for what is dirty again and again, and there the first reason finds the right time.

use super::inherit::Poses;
use super::order::Permutation;
use super::refresh::Sources;
use super::stretch::Share;
use super::{HierarchyOf, Worlds};
use crate::accumulate::Accumulate;
use crate::topology::NONE;
use crate::{NodeId, StaleNode};
use alloc::vec::Vec;

/// What an update costs for each stray that it comes to, in rows sorted. Measured on random trees with one stray among
/// 64 rows: 200 ns against 15 among ten thousand nodes, 520 against 21 among 200 000, 890 against 32 among a million.
const STRAY_COST: usize = 16;

/// Below this many rows, sorting is not worth thinking about.
const SMALL: usize = 256;

impl<A: Accumulate> HierarchyOf<A> {
    /// Recomputes the world poses that edits have made dirty, and gives a view of all of them.
    ///
    /// Costs what changed: every dirty node and everything below it is computed, in the order in which it lies in
    /// memory. Now and then it re-sorts the rows, O(nodes), when edits have scattered or removed so much that this
    /// pays. Leaves nothing dirty. Getters are right without it; call it once a frame, after the edits. If anything was
    /// dirty, what was computed is a new [`Version`](crate::Version); with [previous poses](Self::track_previous) on,
    /// every call is a step.
    ///
    /// What is returned borrows the hierarchy; [`Worlds::hierarchy`] gives it to read meanwhile, and
    /// [`worlds`](Self::worlds) gives the same view again without updating.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::Vec3};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::from_position(Vec3::X))?;
    /// let child = h.add_child(root, Transform::from_position(Vec3::Y))?;
    /// let worlds = h.update();
    /// assert_eq!(worlds[child], [[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]]);
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "propagate")]
    #[doc(alias = "updateMatrixWorld")]
    pub fn update(&mut self) -> Worlds<'_, A> {
        self.update_by(None)
    }

    pub(crate) fn update_by(&mut self, share: Option<Share<A>>) -> Worlds<'_, A> {
        self.previous.advance(self.worlds.rows(), &self.changes);
        self.bring_up_to_date(share)
    }

    pub(super) fn bring_up_to_date(&mut self, share: Option<Share<A>>) -> Worlds<'_, A> {
        // Holes are swept as nodes are, for as long as nothing is added.
        let is_crowded = self.order.is_crowded() && !self.marks.is_clean();
        let strays = self.order.scattered(&self.marks);
        let is_paid = |strays| self.order.is_disordered() || self.is_sort_paid(strays);
        let is_sort_due = is_crowded || strays.is_some_and(is_paid);
        if strays.is_some() && !is_sort_due {
            self.order.list_strays();
        }
        if !self.marks.is_clean() {
            self.changes.begin();
        }
        let is_trunk_right = !is_sort_due && self.trunk.prepare(&self.order, &self.locals, &self.inherits);
        let mut sources = Sources {
            share,
            order: &self.order,
            locals: &self.locals,
            marks: &mut self.marks,
            changes: &mut self.changes,
            cuts: self.inherits.cuts(),
            is_scattered: strays.is_some(),
            trunk: &mut self.trunk,
            is_trunk_right,
            inherits: &self.inherits,
            poses: Poses::new(&self.order, &self.locals, &self.inherits),
        };
        if !is_sort_due {
            self.worlds.refresh(&mut sources);
        }
        let poses = sources.poses.steps();
        self.trunk.count(poses);
        if is_sort_due {
            self.sort(share);
            self.settle();
        }
        self.changes.end();
        self.previous.settle(self.worlds.rows());
        Worlds { hierarchy: self }
    }

    /// Whether what updates have spent on strays since the last sort, and one with so many would spend, is as much as a
    /// sort costs: then neither that nor sorting ever costs more than about twice the better of the two.
    fn is_sort_paid(&self, strays: usize) -> bool {
        STRAY_COST * (self.worlds.strays() + strays) > self.order.len() + SMALL
    }

    /// Sorts all rows, and computes all worlds.
    fn sort(&mut self, share: Option<Share<A>>) {
        let permutation = self.permute();
        self.worlds.permute(&permutation, &mut self.locals);
        self.worlds.sweep_all(share, (&self.order, &self.locals, &self.inherits), &mut self.trunk);
    }

    /// Sorts the rows of all columns but those of poses.
    fn permute(&mut self) -> Permutation {
        let permutation = self.order.sort();
        self.marks.permute(&permutation);
        self.changes.permute(&permutation);
        self.previous.permute(&permutation);
        self.inherits.permute(&permutation);
        permutation
    }

    /// After a sort, which has computed all worlds: what was dirty, or below, has changed and is clean.
    fn settle(&mut self) {
        let mut at = 0;
        while let Some(run) = self.marks.next(at).and_then(|row| self.order.run(row)) {
            at = run.end;
            self.changes.record(run.clone());
            self.marks.unset_range(run);
        }
    }

    /// Lays all nodes out in depth-first order now, so that the next updates are linear sweeps.
    ///
    /// [`update`](Self::update) does this by itself when edits since the last time have made it worth
    /// while; call it where a long frame does not matter, such as after loading. Changes no value and
    /// no id; rows get new numbers, of which readers of rows are told. O(nodes).
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform};
    /// let mut h = Hierarchy::new();
    /// let a = h.add_root(Transform::IDENTITY)?;
    /// let b = h.add_root(Transform::IDENTITY)?;
    /// let child = h.add_child(a, Transform::IDENTITY)?;
    /// assert_eq!(h.update().row_of(child)?, 2);
    /// h.optimize();
    /// assert_eq!(h.update().row_of(child)?, 1); // right after its parent
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn optimize(&mut self) {
        if self.previous.is_tracked() {
            // What dirty rows hold is the pose of the last update, which the next one makes the previous one.
            let permutation = self.permute();
            self.locals.carry(&permutation);
            self.worlds.carry(&permutation);
        } else {
            self.sort(None);
        }
    }

    /// Whether the node's cached world pose waits for an update. Reads are right all the same.
    ///
    /// O(depth) while anything is dirty.
    ///
    /// # Errors
    /// [`StaleNode`].
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::IDENTITY)?;
    /// let child = h.add_child(root, Transform::IDENTITY)?;
    /// h.update();
    /// assert!(!h.is_dirty(child)?);
    /// h.set_local(root, Transform::IDENTITY)?;
    /// assert!(h.is_dirty(child)?);
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn is_dirty(&self, id: NodeId) -> Result<bool, StaleNode> {
        let (_, row) = self.at(id)?;
        Ok(self.topmost_dirty(row).is_some())
    }

    /// How many rows lead down to a row from the highest dirty one at or above it, itself included.
    pub(super) fn topmost_dirty(&self, row: u32) -> Option<usize> {
        if self.marks.is_clean() {
            return None;
        }
        let (mut top, mut steps, mut at) = (None, 0, row);
        while at != NONE {
            steps += 1;
            if self.marks.get(at) {
                top = Some(steps);
            }
            at = self.order.parent(at);
        }
        top
    }

    /// The world pose of a row, computed down from the topmost dirty row above it: the same products
    /// in the same order as a sweep, and so the same bits.
    #[inline]
    pub(super) fn fresh(&self, row: u32) -> A::Row {
        if self.marks.is_clean() { self.worlds.rows()[row as usize] } else { self.accumulated(row) }
    }

    #[inline(never)]
    fn accumulated(&self, row: u32) -> A::Row {
        let Some(steps) = self.topmost_dirty(row) else {
            return self.worlds.rows()[row as usize];
        };
        let mut short = [0; 32];
        let mut long = Vec::new();
        let path = match short.get_mut(..steps) {
            Some(path) => path,
            None => {
                long.resize(steps, 0);
                &mut long[..]
            }
        };
        // What does not inherit everything has its world from elsewhere than the row above.
        let (mut at, mut first) = (row, 0);
        for (step, place) in path.iter_mut().enumerate().rev() {
            *place = at;
            if self.inherits.is_reduced(at) {
                first = step;
                break;
            }
            at = self.order.parent(at);
        }
        let top = path[first];
        let mut world = match self.worlds.rows().get(self.order.parent(top) as usize) {
            Some(above) => A::product(above, self.locals.row(top)),
            None => A::root(self.locals.row(top)),
        };
        if self.inherits.is_reduced(top) {
            world = self.poses().hung(top);
        }
        for &row in &path[first + 1..] {
            world = A::product(&world, self.locals.row(row));
        }
        world
    }
}
