//! Which rows changed since when, and which nodes were removed. The sole writer of versions.
//!
//! Rows are written down 64 at a time: a block holds the version of its latest change and which rows
//! that was, so that a sweep over everything writes 16 bytes for 64 rows, and so does a frame that moves
//! the rows that the frame before moved. Only rows that the next change of their block leaves out get
//! their version written out, once.

use super::Worlds;
use super::bits::{self, BITS, ones};
use super::order::Permutation;
use crate::NodeId;
use crate::accumulate::{Accumulate, Matrices};
use crate::topology::Topology;
use alloc::collections::{VecDeque, vec_deque};
use alloc::vec::Vec;
use core::iter::FusedIterator;
use core::ops::Range;

/// Unchanged rows between two changed ones that are not worth a copy of their own: with 48 bytes a row
/// about what a call to a driver costs.
const GAP: usize = 64;

/// As many removed nodes are remembered, and one for each so many slots.
const REMOVED: (usize, usize) = (1024, 4);

/// A moment in the life of a hierarchy, for readers that want to know what changed since.
///
/// [`HierarchyOf::update`](crate::HierarchyOf::update) makes a new one if it computed anything, and so do
/// removals and re-sorts, which change rows at once. Later versions are greater. The default is before
/// everything, so that a reader that starts with it is told of every node. A version means nothing to
/// another hierarchy, nor to a clone once either is edited: a reader that changes over starts from the
/// default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(u64);

/// The latest change in 64 rows, and which of them it was.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    version: Version,
    rows: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Changes {
    version: Version,
    /// Of the last re-sort.
    sorted: Version,
    blocks: Vec<Block>,
    /// By 64 blocks: the version of their latest change.
    summary: Vec<Version>,
    /// By row, where its block does not name the row: when it changed last; the default for never.
    rows: Vec<Version>,
    /// A block, and rows in it that change in the current version and have yet to be written down: row after
    /// row is noted, and only what all of them leave out of a block has to be written out.
    open: (usize, u64),
    /// In order of removal; the front is dropped when there are too many.
    removed: VecDeque<(Version, NodeId)>,
    /// Of the last removal that has been dropped.
    forgotten: Version,
}

impl Changes {
    pub(super) fn reserve(&mut self, additional: usize) {
        self.rows.reserve(additional);
        let rows = self.rows.len() + additional;
        let reach = |len: usize, per: usize| rows.div_ceil(per).saturating_sub(len);
        self.blocks.reserve(reach(self.blocks.len(), BITS));
        self.summary.reserve(reach(self.summary.len(), BITS * BITS));
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.rows.shrink_to_fit();
        self.blocks.shrink_to_fit();
        self.summary.shrink_to_fit();
        self.removed.shrink_to_fit();
    }

    pub(super) fn version(&self) -> Version {
        self.version
    }

    /// Makes room for that many rows; new ones have never changed.
    pub(super) fn resize(&mut self, rows: usize) {
        self.rows.resize(rows, Version::default());
        self.blocks.resize(rows.div_ceil(BITS), Block::default());
        self.summary.resize(self.blocks.len().div_ceil(BITS), Version::default());
    }

    /// What is recorded from now on, up to [`end`](Self::end), is a new version.
    pub(super) fn begin(&mut self) {
        self.version.0 += 1;
    }

    /// All that changed has been recorded.
    pub(super) fn end(&mut self) {
        let (index, rows) = core::mem::take(&mut self.open);
        if rows == 0 {
            return;
        }
        let block = &mut self.blocks[index];
        if block.version == self.version {
            block.rows |= rows;
            return;
        }
        let versions = &mut self.rows[BITS * index..];
        if block.rows == u64::MAX {
            // Of rows that a block names it does not matter what else is written.
            versions[..BITS].fill(block.version);
        } else {
            ones(block.rows & !rows).for_each(|row| versions[row] = block.version);
        }
        *block = Block { version: self.version, rows };
        self.summary[index / BITS] = self.version;
    }

    /// Notes that rows change.
    pub(super) fn record(&mut self, rows: Range<u32>) {
        if rows.is_empty() {
            return;
        }
        let [(first, head), (last, tail)] = bits::ends(&rows);
        if first == last {
            return self.record_in(first, head & tail);
        }
        self.record_in(first, head);
        // What is left out of a block needs to be written down; out of these nothing is.
        self.blocks[first + 1..last].fill(Block { version: self.version, rows: u64::MAX });
        self.summary[first / BITS..=last / BITS].fill(self.version);
        self.record_in(last, tail);
    }

    /// Notes that those rows of the block of `row` change whose bits are set.
    pub(super) fn record_bits(&mut self, row: u32, bits: u64) {
        self.record_in(row as usize / BITS, bits);
    }

    /// Whether a row has been recorded in the current version.
    pub(super) fn is_recorded(&self, row: u32) -> bool {
        let (index, bit) = bits::place(row);
        let block = self.blocks[index];
        let written = if block.version == self.version { block.rows } else { 0 };
        let open = if index == self.open.0 { self.open.1 } else { 0 };
        (written | open) & bit != 0
    }

    fn record_in(&mut self, index: usize, bits: u64) {
        if index != self.open.0 {
            self.end();
            self.open.0 = index;
        }
        self.open.1 |= bits;
    }

    /// Notes that a node is removed and its row becomes a hole. `slots` bounds what is remembered.
    pub(super) fn remove(&mut self, row: u32, id: NodeId, slots: usize) {
        self.begin();
        let (index, bit) = bits::place(row);
        self.record_in(index, bit);
        self.end();
        self.remember(id, slots);
    }

    /// Notes that all nodes are removed, with their rows.
    pub(super) fn clear(&mut self, ids: impl Iterator<Item = NodeId>, slots: usize) {
        self.begin();
        ids.for_each(|id| self.remember(id, slots));
        self.clear_rows();
    }

    fn remember(&mut self, id: NodeId, slots: usize) {
        if self.removed.len() >= REMOVED.0 + slots / REMOVED.1 {
            if let Some((version, _)) = self.removed.pop_front() {
                self.forgotten = version;
            }
        }
        self.removed.push_back((self.version, id));
    }

    /// Moves the versions with their rows, and notes that all rows have other numbers now.
    pub(super) fn permute(&mut self, order: &Permutation) {
        self.end();
        if self.summary.iter().all(|&version| version == Version::default()) {
            // Nothing has been computed yet, as after building node by node: all rows are alike.
            self.clear_rows();
            self.resize(order.len());
        } else {
            self.move_rows(order);
        }
        self.begin();
        self.sorted = self.version;
    }

    fn move_rows(&mut self, order: &Permutation) {
        for (index, block) in self.blocks.iter().enumerate() {
            for row in ones(block.rows) {
                self.rows[BITS * index + row] = block.version;
            }
        }
        order.apply(&mut self.rows);
        self.blocks.clear();
        self.blocks.extend(self.rows.chunks(BITS).map(|rows| {
            let version = rows.iter().copied().max().unwrap_or_default();
            let with_it = rows.iter().enumerate().filter(|&(_, &row)| row == version);
            Block { version, rows: with_it.fold(0, |bits, (row, _)| bits | 1 << row) }
        }));
        self.summary.clear();
        let latest = |blocks: &[Block]| blocks.iter().map(|block| block.version).max().unwrap_or_default();
        self.summary.extend(self.blocks.chunks(BITS).map(latest));
    }

    fn clear_rows(&mut self) {
        self.rows.clear();
        self.blocks.clear();
        self.summary.clear();
    }

    /// When a row changed last.
    fn of_row(&self, row: usize) -> Version {
        let block = self.blocks[row / BITS];
        if block.rows >> (row % BITS) & 1 == 1 { block.version } else { self.rows[row] }
    }

    /// The rows that changed since, 64 at a time.
    pub(super) fn since(&self, version: Version) -> Since<'_> {
        // An old reader of a quiet hierarchy need not look at the summary.
        let block = if version < self.version { 0 } else { self.blocks.len() };
        Since { changes: self, version, block }
    }

    /// Asserts that blocks and their summary hold the latest version of their rows and name all rows
    /// that have it, that no version is ahead of its time, and that removals are in order.
    /// `stale` says which rows wait for an update.
    pub(super) fn assert_well_formed(&self, stale: &[bool]) {
        let rows = stale.len();
        assert_eq!(self.rows.len(), rows, "versions of rows");
        assert_eq!(self.blocks.len(), rows.div_ceil(BITS), "blocks");
        assert_eq!(self.summary.len(), self.blocks.len().div_ceil(BITS), "versions of the summary");
        assert!(self.sorted <= self.version, "sorted in the future");
        assert_eq!(self.open.1, 0, "rows that are not written down");
        for (index, block) in self.blocks.iter().enumerate() {
            assert!(block.version <= self.version, "block {index} is ahead of its time");
            let named = ones(block.rows).last().map_or(0, |row| BITS * index + row + 1);
            assert!(named <= rows, "block {index} names a row beyond the last");
            for row in ones(!block.rows).map(|row| BITS * index + row).filter(|&row| row < rows) {
                let never = block.version == Version::default();
                assert!(self.rows[row] < block.version || never, "row {row} is later than its block");
            }
        }
        for (index, &version) in self.summary.iter().enumerate() {
            let blocks = self.blocks[BITS * index..].iter().take(BITS);
            assert_eq!(Some(version), blocks.map(|block| block.version).max(), "summary from block {}", BITS * index);
        }
        for (row, stale) in stale.iter().enumerate() {
            assert!(*stale || self.of_row(row) > Version::default(), "row {row} was never recorded");
        }
        let mut last = self.forgotten;
        for &(version, id) in &self.removed {
            assert!(last <= version && version <= self.version, "removal of {id:?} is out of order");
            last = version;
        }
    }
}

/// The rows that changed since a version: the first row of a block, and a bit per row.
#[derive(Clone, Debug)]
pub(super) struct Since<'a> {
    changes: &'a Changes,
    version: Version,
    /// The next one to look at.
    block: usize,
}

impl Iterator for Since<'_> {
    type Item = (usize, u64);

    fn next(&mut self) -> Option<(usize, u64)> {
        loop {
            let (index, changes) = (self.block, self.changes);
            let block = changes.blocks.get(index)?;
            if changes.summary[index / BITS] <= self.version {
                self.block = (index / BITS + 1) * BITS;
                continue;
            }
            self.block += 1;
            if block.version > self.version {
                let start = BITS * index;
                let rows = changes.rows[start..].iter().take(BITS);
                let earlier = |bits, (row, &version)| bits | u64::from(version > self.version) << row;
                let bits = if block.rows == u64::MAX { 0 } else { rows.enumerate().fold(0, earlier) };
                return Some((start, block.rows | bits));
            }
        }
    }
}

/// # What changed
///
/// Any number of readers, each at its own pace: a reader keeps the [`Version`] of the view it last read
/// and asks the next view what changed since. Nothing has to be registered or cleared.
///
/// ```
/// use posetree::{Hierarchy, Transform, Version, glam::Vec3};
/// let mut h = Hierarchy::new();
/// let arm = h.add_root(Transform::IDENTITY)?;
/// let hand = h.add_child(arm, Transform::from_position(Vec3::X))?;
/// let lamp = h.add_root(Transform::IDENTITY)?;
/// let seen = h.update().version();
///
/// h.set_position(arm, Vec3::Y)?;
/// let worlds = h.update();
/// assert!(worlds.changed_since(seen).eq([arm, hand])); // the hand moved with the arm
/// assert!(worlds.changed_since(Version::default()).eq([arm, hand, lamp]));
/// let seen = worlds.version();
/// assert_eq!(h.update().version(), seen); // nothing was dirty
///
/// h.remove_subtree(lamp)?;
/// let worlds = h.update();
/// assert_eq!(worlds.changed_since(seen).count(), 0);
/// assert!(worlds.removed_since(seen).expect("not long ago").eq([lamp]));
/// # Ok::<(), posetree::Error>(())
/// ```
impl<'a, A: Accumulate> Worlds<'a, A> {
    /// The version of these world poses: what to keep until the next time. O(1).
    #[must_use]
    pub fn version(self) -> Version {
        self.hierarchy.changes.version()
    }

    /// The nodes that were added, or whose world pose was computed anew, since a version; in the order of
    /// rows, each once.
    ///
    /// Exactly those: a node counts if its own local pose was set or if that of a node above it was, even
    /// to the same value, or if one of them was added or got another parent. Another place among its siblings
    /// changes no node, nor does a re-sort, and a removed node is not listed but in
    /// [`removed_since`](Self::removed_since). Costs what changed, to within 64 rows around each row, and a look at one
    /// in 4 096 of the others.
    #[doc(alias = "transform.hasChanged")]
    #[doc(alias = "Changed")]
    #[must_use]
    pub fn changed_since(self, version: Version) -> ChangedNodes<'a, A> {
        ChangedNodes { worlds: self, since: self.hierarchy.changes.since(version), start: 0, bits: 0 }
    }

    /// The ranges of [`rows`](Self::rows) that cover everything that changed in them since a version:
    /// what to copy again into an instance buffer of that version.
    ///
    /// In order, and few: up to 64 unchanged rows between two changed ones are included, rather than
    /// starting another range. Rows of removed nodes, which are zero now, count as changed. After a
    /// re-sort ([`optimize`](crate::HierarchyOf::optimize), or one that an update or an insertion has made) all
    /// rows have new numbers, and the answer is one range over all of them. Cost as
    /// [`changed_since`](Self::changed_since).
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, Version, glam::Vec3};
    /// let mut h = Hierarchy::new();
    /// let nodes: Vec<_> = (0..1000).map(|_| h.add_root(Transform::IDENTITY)).collect::<Result<_, _>>()?;
    /// let (mut buffer, mut seen) = (Vec::new(), Version::default());
    /// for moved in [1, 2, 900] {
    ///     h.set_position(nodes[moved], Vec3::X)?;
    ///     let worlds = h.update();
    ///     buffer.resize(worlds.rows().len(), [[0.0; 4]; 3]);
    ///     for rows in worlds.changed_rows_since(seen) {
    ///         buffer[rows.clone()].copy_from_slice(&worlds.rows()[rows]);
    ///     }
    ///     seen = worlds.version();
    ///     assert_eq!(buffer, worlds.rows());
    /// }
    /// h.set_position(nodes[1], Vec3::Y)?;
    /// h.set_position(nodes[900], Vec3::Y)?;
    /// assert!(h.update().changed_rows_since(seen).eq([1..2, 900..901]));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[must_use]
    pub fn changed_rows_since(self, version: Version) -> ChangedRows<'a> {
        let changes = &self.hierarchy.changes;
        let (since, held) = if version < changes.sorted {
            (changes.since(changes.version), 0..changes.rows.len())
        } else {
            (changes.since(version), 0..0)
        };
        ChangedRows { since, start: 0, bits: 0, held }
    }

    /// The nodes that were removed since a version, in the order of removal; `None` if that is too long
    /// ago to say. A node that was added after the version and is gone again is listed too; one that was
    /// [taken out](crate::HierarchyOf::take_subtree) and restored is not, and changed instead. Taken out once
    /// more, it is listed for each time.
    ///
    /// The last 1024 removals are remembered, and one more for every four nodes that there have been at
    /// once. A reader that gets `None` drops what [`get`](Self::get) refuses. O(log removed).
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, Version};
    /// use std::collections::HashMap;
    /// let mut h = Hierarchy::new();
    /// let lamp = h.add_root(Transform::IDENTITY)?;
    /// let mut names = HashMap::from([(lamp, "lamp")]);
    /// let seen = h.update().version();
    /// h.clear();
    /// let worlds = h.update();
    /// match worlds.removed_since(seen) {
    ///     Some(removed) => removed.for_each(|id| drop(names.remove(&id))),
    ///     None => names.retain(|&id, _| worlds.get(id).is_ok()),
    /// }
    /// assert!(names.is_empty());
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "RemovedComponents")]
    #[must_use]
    pub fn removed_since(self, version: Version) -> Option<RemovedNodes<'a>> {
        let Changes { removed, forgotten, .. } = &self.hierarchy.changes;
        let first = removed.partition_point(|&(at, _)| at <= version);
        let topology = &self.hierarchy.topology;
        (version >= *forgotten).then(|| RemovedNodes { nodes: removed.range(first..), topology })
    }
}

/// The nodes that changed since a version. Made by [`Worlds::changed_since`].
#[derive(Clone, Debug)]
pub struct ChangedNodes<'a, A: Accumulate = Matrices> {
    worlds: Worlds<'a, A>,
    since: Since<'a>,
    start: usize,
    /// Those of the 64 rows from `start` on that are still to come.
    bits: u64,
}

impl<A: Accumulate> Iterator for ChangedNodes<'_, A> {
    type Item = NodeId;

    fn next(&mut self) -> Option<NodeId> {
        loop {
            while let Some(row) = bits::take_one(&mut self.bits) {
                if let Some(id) = self.worlds.id_of_row(self.start + row) {
                    return Some(id);
                }
            }
            (self.start, self.bits) = self.since.next()?;
        }
    }
}

impl<A: Accumulate> FusedIterator for ChangedNodes<'_, A> {}

/// Ranges of rows that changed since a version. Made by [`Worlds::changed_rows_since`].
#[derive(Clone, Debug)]
pub struct ChangedRows<'a> {
    since: Since<'a>,
    start: usize,
    /// Those of the 64 rows from `start` on that are still to come.
    bits: u64,
    /// What has come and may still grow.
    held: Range<usize>,
}

impl Iterator for ChangedRows<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        loop {
            while let Some(rows) = bits::take_stretch(&mut self.bits) {
                let next = self.start + rows.start..self.start + rows.end;
                if self.held.is_empty() {
                    self.held = next;
                } else if next.start - self.held.end <= GAP {
                    self.held.end = next.end;
                } else {
                    return Some(core::mem::replace(&mut self.held, next));
                }
            }
            match self.since.next() {
                Some(block) => (self.start, self.bits) = block,
                None => {
                    let last = core::mem::take(&mut self.held);
                    return (!last.is_empty()).then_some(last);
                }
            }
        }
    }
}

impl FusedIterator for ChangedRows<'_> {}

/// The nodes that were removed since a version. Made by [`Worlds::removed_since`].
#[derive(Clone, Debug)]
pub struct RemovedNodes<'a> {
    nodes: vec_deque::Iter<'a, (Version, NodeId)>,
    topology: &'a Topology,
}

impl Iterator for RemovedNodes<'_> {
    type Item = NodeId;

    fn next(&mut self) -> Option<NodeId> {
        // What was taken out and is back is no news, or is told of as changed.
        self.nodes.by_ref().map(|&(_, id)| id).find(|&id| !self.topology.contains(id))
    }
}

impl FusedIterator for RemovedNodes<'_> {}
