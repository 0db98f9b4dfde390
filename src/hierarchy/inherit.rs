//! What nodes inherit. [`Inherits`] is the sole writer of that column, and [`Poses`] the one place that says
//! what the world of a node is that does not inherit everything.

use super::bits::{self, BITS, place};
use super::local::Locals;
use super::order::{Order, Permutation};
use super::{HierarchyOf, Keep};
use crate::accumulate::{Accumulate, Chain, Misfit, Own, Shear};
use crate::topology::NONE;
use crate::{Inherit, NodeId, ReparentError, StaleNode};
use alloc::vec::Vec;
use core::ops::Range;

/// By row, as bits, which parts a node does not inherit. Empty while every node inherits all, and again once
/// the last does that did not.
#[derive(Clone, Debug, Default)]
pub(super) struct Inherits {
    /// Rows of nodes for which one of the parts is off.
    reduced: Vec<u64>,
    /// Position, rotation and scale.
    off: Vec<[u64; 3]>,
    /// Nodes that do not inherit everything.
    count: usize,
    /// How often what is inherited has changed.
    edits: u64,
}

impl Inherits {
    /// Of the node in a row.
    pub(super) fn get(&self, row: u32) -> Inherit {
        if !self.is_reduced(row) {
            return Inherit::ALL;
        }
        let (index, bit) = place(row);
        let [position, rotation, scale] = self.off[index].map(|word| word & bit == 0);
        Inherit { position, rotation, scale }
    }

    /// Whether the node in a row inherits less than all.
    pub(super) fn is_reduced(&self, row: u32) -> bool {
        bits::contains(&self.reduced, row)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Nodes that do not inherit everything.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// How often what is inherited has changed.
    pub(super) fn edits(&self) -> u64 {
        self.edits
    }

    /// The rows that sweeps leave out.
    pub(super) fn cuts(&self) -> Cuts<'_> {
        Cuts(&self.reduced)
    }

    pub(super) fn set(&mut self, row: u32, inherit: Inherit) {
        let (index, bit) = place(row);
        if index >= self.reduced.len() {
            if inherit == Inherit::ALL {
                return;
            }
            self.reduced.resize(index + 1, 0);
            self.off.resize(index + 1, [0; 3]);
        }
        if inherit == self.get(row) {
            return;
        }
        self.edits += 1;
        let put = |word: &mut u64, on: bool| *word = if on { *word | bit } else { *word & !bit };
        let [position, rotation, scale] = &mut self.off[index];
        put(position, !inherit.position);
        put(rotation, !inherit.rotation);
        put(scale, !inherit.scale);
        let (was_reduced, is_reduced) = (self.reduced[index] & bit != 0, inherit != Inherit::ALL);
        put(&mut self.reduced[index], is_reduced);
        self.count = self.count + usize::from(is_reduced) - usize::from(was_reduced);
        if self.count == 0 {
            self.clear();
        }
    }

    pub(super) fn clear(&mut self) {
        self.reduced.clear();
        self.off.clear();
        self.count = 0;
        self.edits += 1;
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.reduced.shrink_to_fit();
        self.off.shrink_to_fit();
    }

    /// Moves what is set with the rows.
    pub(super) fn permute(&mut self, order: &Permutation) {
        if self.is_empty() {
            return;
        }
        let old = core::mem::replace(self, Self { edits: self.edits, ..Self::default() });
        for (new, row) in order.iter().enumerate() {
            if old.is_reduced(row) {
                self.set(new as u32, old.get(row));
            }
        }
    }

    /// Asserts that the counter and the bits of rows agree with those of parts, and that only nodes have any.
    pub(super) fn assert_well_formed(&self, is_node: impl Fn(usize) -> bool) {
        assert_eq!(self.reduced.len(), self.off.len());
        let mut count = 0;
        for (index, (&reduced, off)) in self.reduced.iter().zip(&self.off).enumerate() {
            assert_eq!(reduced, off[0] | off[1] | off[2], "rows from {}", index * BITS);
            let mut rows = bits::ones(reduced).map(|bit| index * BITS + bit);
            assert!(rows.all(&is_node), "a row from {} inherits in part and is no node's", index * BITS);
            count += reduced.count_ones() as usize;
        }
        assert_eq!(count, self.count, "nodes that do not inherit all");
    }
}

/// The rows at which sweeps are cut, as bits: their worlds follow by another rule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cuts<'a>(&'a [u64]);

impl<'a> Cuts<'a> {
    pub(super) fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn words(self) -> &'a [u64] {
        self.0
    }

    /// The rows of a stretch that are cut out.
    pub(super) fn within(self, rows: Range<usize>) -> impl Iterator<Item = usize> + 'a {
        let mut at = rows.start;
        core::iter::from_fn(move || {
            let row = bits::next_within(self.0, at..rows.end)?;
            at = row + 1;
            Some(row)
        })
    }

    pub(super) fn contains(self, row: u32) -> bool {
        bits::contains(self.0, row)
    }

    /// Those of the 64 rows in which `start` is.
    pub(super) fn bits(self, start: usize) -> u64 {
        self.0.get(start / BITS).copied().unwrap_or(0)
    }
}

/// Component poses, and the worlds that follow from them, for rows one by one. Always accumulated from the root
/// down, and so the same bits whoever asks.
///
/// The last way down is remembered, because the next one to a row in memory order shares most of it.
pub(super) struct Poses<'a, A: Accumulate> {
    order: &'a Order,
    locals: &'a Locals<A>,
    inherits: &'a Inherits,
    /// What is to be added to the last way, from the lowest row up.
    path: Vec<u32>,
    /// The last way, from the root down, and the pose of each of its rows.
    known: Vec<u32>,
    poses: Vec<A::Transform>,
    steps: usize,
}

impl<'a, A: Accumulate> Poses<'a, A> {
    /// For as long as no local value, parent or row changes.
    pub(super) fn new(order: &'a Order, locals: &'a Locals<A>, inherits: &'a Inherits) -> Self {
        Self { order, locals, inherits, path: Vec::new(), known: Vec::new(), poses: Vec::new(), steps: 0 }
    }

    /// How many poses it took so far. Rows in pre-order take one for each node, at most.
    pub(super) fn steps(&self) -> usize {
        self.steps
    }

    /// The world of a row that does not inherit everything. O(depth), less what its way shares with the one before.
    pub(super) fn hung(&mut self, row: u32) -> A::Row {
        self.path.clear();
        let mut at = self.order.parent(row);
        while at != NONE && !self.knows(at) {
            self.path.push(at);
            at = self.order.parent(at);
        }
        if at == NONE {
            self.known.clear();
        }
        self.poses.truncate(self.known.len());
        for &row in self.path.iter().rev() {
            let transform = self.locals.transform(self.order.slot(row as usize));
            let pose = match self.poses.last() {
                Some(above) => A::combined(above, self.inherits.get(row), transform),
                None => *transform,
            };
            self.known.push(row);
            self.poses.push(pose);
        }
        self.steps += self.path.len();
        let local = self.locals.row(row);
        match self.poses.last() {
            Some(above) => A::hung(above, self.inherits.get(row), local),
            None => A::root(local),
        }
    }

    /// Whether what is known ends with a row, once it has forgotten what is stored behind it: parents mostly
    /// come before their children, so that this is on no way up from there.
    fn knows(&mut self, row: u32) -> bool {
        while self.known.last().is_some_and(|&last| last > row) {
            self.known.pop();
        }
        self.known.last() == Some(&row)
    }
}

/// What a node's local value is given in, for what must be solved: mostly a product of matrices above.
///
/// Without the parent's position that is no one matrix, because the node's own position is the world's while
/// the rest is the frame's. Then the position is taken out of the node, and the origin of the frame put there.
pub(super) struct Frame<A: Accumulate> {
    chain: Chain<A>,
    has_position: bool,
}

impl<A: Accumulate> Frame<A> {
    /// The pose that an own value has in it.
    pub(super) fn below(&self, own: &Own<A>) -> A::Wide {
        let local = A::widen(&own.local());
        if self.has_position {
            return A::wide_product(&self.chain.wide, &local);
        }
        let apart = A::placed(own, &A::WIDE_IDENTITY);
        A::wide_product(&A::centred(&self.chain.wide, &local), &A::widen(&apart.local()))
    }

    /// The own value that has a pose in it.
    pub(super) fn solve(&self, wanted: &A::Wide, own: &Own<A>, shear: Shear) -> Result<Own<A>, Misfit> {
        self.edit_at(wanted, own, |chain, own| A::solve(chain, wanted, own, shear))
    }

    /// What becomes of an own value by an edit that leaves its position.
    pub(super) fn edit(
        &self,
        own: &Own<A>,
        edit: impl FnOnce(&Chain<A>, &Own<A>) -> Result<Own<A>, Misfit>,
    ) -> Result<Own<A>, Misfit> {
        self.edit_at(&A::widen(&own.local()), own, edit)
    }

    /// What becomes of an own value by an edit given in the node's own axes, which its position follows.
    pub(super) fn edit_in_own(&self, own: &Own<A>, edit: impl FnOnce(&Own<A>) -> Own<A>) -> Own<A> {
        if self.has_position {
            return edit(own);
        }
        let origin = A::centred(&self.chain.wide, &A::widen(&own.local()));
        let edited = edit(&A::placed(own, &A::WIDE_IDENTITY));
        A::placed(&edited, &A::wide_product(&origin, &A::widen(&edited.local())))
    }

    fn edit_at(
        &self,
        position: &A::Wide,
        own: &Own<A>,
        edit: impl FnOnce(&Chain<A>, &Own<A>) -> Result<Own<A>, Misfit>,
    ) -> Result<Own<A>, Misfit> {
        if self.has_position {
            return edit(&self.chain, own);
        }
        let chain = Chain { wide: A::centred(&self.chain.wide, position), ..self.chain };
        let own = A::placed(&edit(&chain, &A::placed(own, &A::WIDE_IDENTITY))?, position);
        if A::is_finite(&own.local()) { Ok(own) } else { Err(Misfit::NonFinite) }
    }

    /// What the own position is given in.
    pub(super) fn of_position(&self) -> Chain<A> {
        let world = Chain { wide: A::WIDE_IDENTITY, flat: false, conformal: true };
        if self.has_position { self.chain } else { world }
    }

    pub(super) fn chain(&self) -> Chain<A> {
        self.chain
    }

    pub(super) fn has_position(&self) -> bool {
        self.has_position
    }
}

impl<A: Accumulate> HierarchyOf<A> {
    /// Which parts of its parent's world pose the node inherits. O(1).
    ///
    /// # Errors
    /// [`StaleNode`].
    ///
    /// ```
    /// use posetree::{Hierarchy, Inherit, Transform};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::IDENTITY)?;
    /// assert_eq!(h.inherit(root)?, Inherit::ALL);
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn inherit(&self, id: NodeId) -> Result<Inherit, StaleNode> {
        Ok(self.inherits.get(self.at(id)?.1))
    }

    /// Sets which parts of its parent's world pose the node inherits, by the formulas of [`Inherit`].
    ///
    /// [`Keep::Local`] keeps the local value, and the world follows the new rule. [`Keep::World`] and
    /// [`Keep::WorldTrs`] keep every element of the world matrix, by the law of
    /// [`reparent`](Self::reparent), and so solve for the local value under what is still inherited. A
    /// root has nothing to inherit: what is set takes effect when it gets a parent, which `reparent` with
    /// `Keep::World` takes into account.
    ///
    /// Marks the node dirty, unless nothing becomes another. O(1), to keep the world O(depth); where every node
    /// inherited all before, O(rows / 64) once. A lazy read of a node that does not inherit everything costs O(depth),
    /// and so does an [`update`](Self::update) of it, where nodes above that it shares with others count once; others
    /// cost what they did. For these updates the nodes above such nodes are kept a second time, in about 120 bytes
    /// each, or 180 in float64. To reparent, promote or remove one of them, or to call this, makes updates do without
    /// for a while, at about twice the price.
    ///
    /// # Errors
    /// [`StaleNode`]; with `World` and `WorldTrs` [`SingularParent`](crate::SingularParent) if what is
    /// inherited is flat (with scale off nothing is), or no local value does the job; with `WorldTrs`
    /// [`NotTrs`](crate::NotTrs); [`NonFinite`](crate::NonFinite) if the local value overflows; nothing
    /// changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Inherit, Keep, Transform, glam::Vec3};
    /// let mut h = Hierarchy::new();
    /// let parent = h.add_root(Transform::from_scale(Vec3::splat(4.0)))?;
    /// let child = h.add_child(parent, Transform::from_position(Vec3::X))?;
    /// h.set_inherit(child, Inherit { scale: false, ..Inherit::ALL }, Keep::World)?;
    /// assert_eq!(h.world_position(child)?, 4.0 * Vec3::X);
    /// assert_eq!(h.local(child)?, Transform::from_position(4.0 * Vec3::X).with_scale(Vec3::splat(4.0)));
    /// h.set_scale(parent, Vec3::ZERO)?; // does not concern it any more
    /// assert_eq!(h.world_position(child)?, 4.0 * Vec3::X);
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn set_inherit(&mut self, id: NodeId, inherit: Inherit, keep: Keep) -> Result<(), ReparentError> {
        let (slot, row) = self.at(id)?;
        let own = self.own_under(slot, self.topology.links(slot).parent, inherit, keep)?;
        let stays = self.inherits.get(row) == inherit;
        self.inherits.set(row, inherit);
        if !stays || own != self.own(slot) {
            self.set_own(slot, &own);
        }
        Ok(())
    }

    pub(super) fn inherit_of(&self, slot: u32) -> Inherit {
        self.inherits.get(self.order.row(slot))
    }

    /// Component poses of this hierarchy as it is now.
    pub(super) fn poses(&self) -> Poses<'_, A> {
        Poses::new(&self.order, &self.locals, &self.inherits)
    }

    /// What the local value of a node is given in that hangs under `parent` and inherits that much, seen
    /// from `top`; which is the world where it does not inherit everything.
    pub(super) fn frame(&self, (parent, top): (u32, u32), inherit: Inherit) -> Frame<A> {
        if inherit == Inherit::ALL || parent == top {
            return Frame { chain: self.chain(parent, top), has_position: true };
        }
        Frame { chain: A::frame(&self.wide_pose(parent), inherit), has_position: inherit.position }
    }

    /// The component pose of a node, in the precision that inverses are taken in.
    fn wide_pose(&self, slot: u32) -> A::Pose {
        let mut path = Vec::new();
        let mut at = slot;
        while at != NONE {
            path.push(at);
            at = self.topology.links(at).parent;
        }
        let own = |slot: u32| A::widen_pose(self.locals.transform(slot));
        let root = path.pop().unwrap_or(slot);
        let below = path.iter().rev();
        below.fold(own(root), |above, &slot| A::wide_combined(&above, self.inherit_of(slot), &own(slot)))
    }

    /// The frame of a node as it hangs now, seen from the world.
    pub(super) fn frame_of(&self, slot: u32) -> Frame<A> {
        self.frame((self.topology.links(slot).parent, NONE), self.inherit_of(slot))
    }

    /// Whether a node below `top`, down to `slot`, does not inherit everything: it, and what is below it,
    /// is not accumulated from `top`.
    pub(super) fn is_cut_off(&self, slot: u32, top: u32) -> bool {
        let mut at = slot;
        while !self.inherits.is_empty() && at != top {
            if self.inherits.is_reduced(self.order.row(at)) {
                return true;
            }
            at = self.topology.links(at).parent;
        }
        false
    }
}
