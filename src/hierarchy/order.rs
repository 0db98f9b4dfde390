//! In which row each node is stored, and which subtrees are runs. The sole writer of row order.
//!
//! A subtree stored as one contiguous stretch of rows, parents first, is a *run*: `span` is the length
//! of the stretch, and it is swept linearly. The stretch may hold *holes*, rows of removed nodes. A
//! subtree that is not a run is *scattered*. **Scattered nodes have only scattered
//! ancestors**: whoever breaks a run climbs until it meets a node that is scattered already, which
//! makes every edit pay for its own damage and nothing else.

mod layout;

use super::bits::{self, BITS};
use super::dirty::Marks;
use crate::topology::{NONE, Topology};
use alloc::{vec, vec::Vec};
use core::ops::Range;

/// For each new row, the row it was before.
pub(crate) struct Permutation(Vec<u32>);

impl Permutation {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().copied()
    }

    /// The elements of a column in their new order.
    pub(crate) fn apply<T: Copy>(&self, column: &[T]) -> Vec<T> {
        let mut sorted = Vec::new();
        self.apply_into(column, &mut sorted);
        sorted
    }

    /// The same, in place of what a buffer held.
    pub(crate) fn apply_into<T: Copy>(&self, column: &[T], sorted: &mut Vec<T>) {
        sorted.clear();
        sorted.extend(self.iter().map(|old| column[old as usize]));
    }
}

/// By row: the length of its run, or of what was its run before edits scattered it; 1 for holes.
///
/// Rows stay where they are from one sort to the next, so that these stretches lie inside of each other or
/// apart, whatever edits do. A bit per row tells the scattered ones, another is set where a run is one row
/// long, so that leaves are told apart 64 at a time.
#[derive(Clone, Debug, Default)]
struct Spans {
    lengths: Vec<u32>,
    scattered: Vec<u64>,
    ones: Vec<u64>,
}

impl Spans {
    fn reserve(&mut self, additional: usize) {
        self.lengths.reserve(additional);
        self.scattered.reserve(additional.div_ceil(BITS));
        self.ones.reserve(additional.div_ceil(BITS));
    }

    fn shrink_to_fit(&mut self) {
        self.lengths.shrink_to_fit();
        self.scattered.shrink_to_fit();
        self.ones.shrink_to_fit();
    }

    /// Runs of one, and no others.
    fn reset(&mut self, rows: usize) {
        let words = rows.div_ceil(BITS);
        for (column, value) in [(&mut self.scattered, 0), (&mut self.ones, u64::MAX)] {
            column.clear();
            column.resize(words, value);
        }
        if let (Some(last), rest @ 1..) = (self.ones.last_mut(), rows % BITS) {
            *last = u64::MAX >> (BITS - rest);
        }
        self.lengths.clear();
        self.lengths.resize(rows, 1);
    }

    fn push(&mut self) {
        let row = self.lengths.len();
        self.lengths.push(1);
        if row % BITS == 0 {
            self.scattered.push(0);
            self.ones.push(0);
        }
        self.ones[row / BITS] |= 1 << (row % BITS);
    }

    /// The length of a run, 0 of a scattered node. Of leaves, which most rows are, bits tell it: lengths are
    /// lines of memory that a sweep does not come across.
    fn run(&self, row: u32) -> u32 {
        if bits::contains(&self.ones, row) {
            1
        } else if self.is_scattered(row) {
            0
        } else {
            self.stretch(row)
        }
    }

    /// The length of a run, or of what was one.
    fn stretch(&self, row: u32) -> u32 {
        self.lengths[row as usize]
    }

    fn is_scattered(&self, row: u32) -> bool {
        bits::contains(&self.scattered, row)
    }

    fn set_run(&mut self, row: u32, length: u32) {
        self.lengths[row as usize] = length;
        let (index, bit) = bits::place(row);
        self.scattered[index] &= !bit;
        if length == 1 {
            self.ones[index] |= bit;
        } else {
            self.ones[index] &= !bit;
        }
    }

    fn scatter(&mut self, row: u32) {
        let (index, bit) = bits::place(row);
        self.scattered[index] |= bit;
        self.ones[index] &= !bit;
    }

    fn assert_well_formed(&self) {
        assert_eq!(self.ones.len(), self.lengths.len().div_ceil(BITS), "words of ones");
        assert_eq!(self.scattered.len(), self.ones.len(), "words of scattered rows");
        for (index, (ones, scattered)) in self.ones.iter().zip(&self.scattered).enumerate() {
            let row = |bit: usize| self.lengths.get(BITS * index + bit) == Some(&1) && scattered >> bit & 1 == 0;
            let want = (0..BITS).filter(|&bit| row(bit)).fold(0, |word, bit| word | 1_u64 << bit);
            assert_eq!(*ones, want, "ones of rows from {}", BITS * index);
        }
        // Inside of each other or apart.
        let mut open: Vec<usize> = Vec::new();
        for (row, &length) in self.lengths.iter().enumerate() {
            while open.last().is_some_and(|&end| end <= row) {
                open.pop();
            }
            let end = row + length as usize;
            assert!(length != 0 && end <= open.last().map_or(self.lengths.len(), |&end| end), "stretch of row {row}");
            open.push(end);
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    /// By slot; of free slots: stale.
    rows: Vec<u32>,
    /// By row; [`NONE`] for a hole.
    slots: Vec<u32>,
    /// By row; [`NONE`] for roots and holes.
    parents: Vec<u32>,
    spans: Spans,
    holes: usize,
    /// How often rows have got other parents or other numbers.
    edits: u64,
}

impl Order {
    pub(crate) fn reserve(&mut self, additional: usize) {
        self.rows.reserve(additional);
        self.slots.reserve(additional);
        self.parents.reserve(additional);
        self.spans.reserve(additional);
    }

    pub(crate) fn shrink_to_fit(&mut self) {
        self.rows.shrink_to_fit();
        self.slots.shrink_to_fit();
        self.parents.shrink_to_fit();
        self.spans.shrink_to_fit();
    }

    /// Rows, holes included.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn row(&self, slot: u32) -> u32 {
        self.rows[slot as usize]
    }

    /// [`NONE`] for a hole, and beyond the last row.
    pub(crate) fn slot(&self, row: usize) -> u32 {
        self.slots.get(row).copied().unwrap_or(NONE)
    }

    /// The parent's row; [`NONE`] for roots and holes.
    pub(crate) fn parent(&self, row: u32) -> u32 {
        self.parents[row as usize]
    }

    pub(crate) fn parents(&self) -> &[u32] {
        &self.parents
    }

    /// The slot of each row, [`NONE`] for holes.
    pub(crate) fn slots(&self) -> &[u32] {
        &self.slots
    }

    /// The length of each row's run; of scattered nodes, of what was their run.
    pub(crate) fn spans(&self) -> &[u32] {
        &self.spans.lengths
    }

    /// The rows of the node's subtree if that is a run.
    pub(crate) fn run(&self, row: u32) -> Option<Range<u32>> {
        let span = self.spans.run(row);
        (span != 0).then(|| row..row + span)
    }

    /// About how many scattered nodes there are at and below marked ones: those in what was the run of the topmost
    /// of them. Costs what is marked, and a 64th of those rows.
    pub(crate) fn scattered_below(&self, marks: &Marks) -> usize {
        let (mut count, mut at, mut end) = (0, 0, 0);
        while let Some(row) = marks.next(at) {
            let index = row as usize / BITS;
            for bit in bits::ones(marks.words()[index] & self.spans.scattered[index]) {
                let top = (index * BITS + bit) as u32;
                if top >= end {
                    end = top + self.spans.stretch(top);
                    count += bits::count(&self.spans.scattered, top..end);
                }
            }
            at = ((index + 1) * BITS) as u32;
        }
        count
    }

    /// Which rows are runs of one, 64 to a word.
    pub(crate) fn ones(&self) -> &[u64] {
        &self.spans.ones
    }

    /// Appends a node as a run of one.
    pub(crate) fn push(&mut self, slot: u32, parent: u32) -> u32 {
        let parent_row = if parent == NONE { NONE } else { self.row(parent) };
        let row = self.append(slot, parent_row);
        self.scatter(parent_row);
        row
    }

    /// Appends subtrees as runs under `parent`. `slots` are in pre-order; `up` gives each one's distance
    /// to its parent in that order, 0 for the tops.
    pub(crate) fn push_runs(&mut self, slots: &[u32], up: &[u32], parent: u32) -> Range<u32> {
        let start = self.len();
        let parent_row = if parent == NONE { NONE } else { self.row(parent) };
        for (&slot, &up) in slots.iter().zip(up) {
            let parent_row = if up == 0 { parent_row } else { self.len() as u32 - up };
            self.append(slot, parent_row);
        }
        self.add_up_spans(start);
        self.scatter(parent_row);
        start as u32..self.len() as u32
    }

    fn append(&mut self, slot: u32, parent_row: u32) -> u32 {
        let row = self.slots.len() as u32;
        assert!(row != NONE, "capacity overflow: a hierarchy holds fewer than 2^32 - 1 rows");
        self.slots.push(slot);
        self.parents.push(parent_row);
        self.spans.push();
        if self.rows.len() <= slot as usize {
            self.rows.resize(slot as usize + 1, NONE);
        }
        self.rows[slot as usize] = row;
        row
    }

    /// Spans from spans of one, for rows from `start` on that are in pre-order among themselves.
    fn add_up_spans(&mut self, start: usize) {
        for row in (start..self.len()).rev() {
            let parent = self.parents[row];
            if parent != NONE && parent as usize >= start {
                self.spans.set_run(parent, self.spans.stretch(parent) + self.spans.stretch(row as u32));
            }
        }
    }

    /// Marks a row and all above it as scattered.
    fn scatter(&mut self, row: u32) {
        let mut at = row;
        while at != NONE && !self.spans.is_scattered(at) {
            self.spans.scatter(at);
            at = self.parents[at as usize];
        }
    }

    /// Hangs a node under another parent; its subtree keeps its rows.
    pub(crate) fn reparent(&mut self, slot: u32, parent: u32) {
        let row = self.row(slot);
        let parent_row = if parent == NONE { NONE } else { self.row(parent) };
        self.scatter(self.parents[row as usize]);
        self.parents[row as usize] = parent_row;
        self.scatter(parent_row);
        self.edits += 1;
    }

    /// Hangs a child under its grandparent, for a parent that is about to go. What was one stretch
    /// stays one, so that this scatters nothing.
    pub(crate) fn promote(&mut self, child: u32, grandparent: u32) {
        let row = self.row(child);
        self.parents[row as usize] = if grandparent == NONE { NONE } else { self.row(grandparent) };
        self.edits += 1;
    }

    /// Hangs all that is below the first of the given nodes, which are the rest, right under it. What was
    /// one stretch stays one, so that this scatters nothing.
    pub(crate) fn flatten(&mut self, slots: &[u32]) {
        let Some((&top, below)) = slots.split_first() else { return };
        self.edits += 1;
        for &slot in below {
            let row = self.row(slot);
            self.parents[row as usize] = self.row(top);
            self.spans.set_run(row, 1);
        }
    }

    /// Turns a node's row into a hole.
    pub(crate) fn vacate(&mut self, slot: u32) -> u32 {
        let row = self.row(slot);
        self.slots[row as usize] = NONE;
        self.parents[row as usize] = NONE;
        self.spans.set_run(row, 1);
        self.holes += 1;
        row
    }

    pub(crate) fn clear(&mut self) {
        self.slots.clear();
        self.parents.clear();
        self.spans.reset(0);
        self.holes = 0;
        self.edits += 1;
    }

    /// How often rows have got other parents or other numbers. Those of new rows do not count.
    pub(crate) fn edits(&self) -> u64 {
        self.edits
    }

    /// Whether there are so many holes that dropping them is paid for by the removals.
    pub(crate) fn is_crowded(&self) -> bool {
        self.holes > 64 && self.holes > self.len() - self.holes
    }

    /// Lays the whole forest out in pre-order, without holes, and says what moved where.
    pub(crate) fn sort(&mut self) -> Permutation {
        let order = layout::pre_order(self);
        let mut places = vec![NONE; self.len()];
        for (new, old) in order.iter().enumerate() {
            places[old as usize] = new as u32;
        }
        self.slots = order.apply(&self.slots);
        for (new, &slot) in self.slots.iter().enumerate() {
            self.rows[slot as usize] = new as u32;
        }
        let place = |parent: u32| if parent == NONE { NONE } else { places[parent as usize] };
        self.parents = order.iter().map(|old| place(self.parents[old as usize])).collect();
        self.spans.reset(self.slots.len());
        self.holes = 0;
        self.edits += 1;
        self.add_up_spans(0);
        order
    }

    /// Asserts that rows and slots name each other, that parents are the topology's, that runs hold
    /// exactly their subtree, parents first, and that scattered nodes have scattered ancestors.
    pub(crate) fn assert_well_formed(&self, topology: &Topology) {
        assert_eq!(self.len(), self.parents.len());
        assert_eq!(self.len(), self.spans.lengths.len());
        self.spans.assert_well_formed();
        assert_eq!(self.len() - self.holes, topology.len(), "rows that are no holes");
        let mut holes = 0;
        for row in 0..self.len() as u32 {
            let slot = self.slot(row as usize);
            if slot == NONE {
                holes += 1;
                assert_eq!((self.parent(row), self.spans.run(row)), (NONE, 1), "hole {row}");
                continue;
            }
            assert_eq!(self.row(slot), row, "row of slot {slot}");
            assert!(topology.id(slot).is_some(), "row {row} is of no live node");
            let parent = topology.links(slot).parent;
            let parent_row = if parent == NONE { NONE } else { self.row(parent) };
            assert_eq!(self.parent(row), parent_row, "parent of row {row}");
            if self.spans.is_scattered(row) && parent_row != NONE {
                assert!(self.spans.is_scattered(parent_row), "row {row} is scattered and its parent is not");
            }
        }
        assert_eq!(holes, self.holes, "holes");
        self.assert_runs();
    }

    /// Every row of a run, holes aside, has its parent in the run and before it, but the first: then
    /// the run holds descendants only. That it holds all of them: an inner run ends inside the outer
    /// one, and a child's row is inside its parent's run.
    fn assert_runs(&self) {
        for row in 0..self.len() as u32 {
            let Some(run) = self.run(row) else { continue };
            assert!(run.end as usize <= self.len(), "run of row {row} ends beyond the last row");
            let parent = self.parent(row);
            if parent == NONE {
                continue;
            }
            if let Some(outer) = self.run(parent) {
                assert!(parent < row && row < outer.end, "row {row} is outside its parent's run or before it");
                assert!(run.end <= outer.end, "run of row {row} ends beyond its parent's");
            }
        }
        // A stack of the runs a row lies in: the innermost must be the parent's, or a hole's between.
        let mut open: Vec<Range<u32>> = Vec::new();
        for row in 0..self.len() as u32 {
            while open.last().is_some_and(|run| run.end <= row) {
                open.pop();
            }
            if self.slot(row as usize) == NONE {
                continue;
            }
            if let Some(around) = open.last() {
                let parent = self.parent(row);
                assert!(parent != NONE && around.contains(&parent), "row {row} is in the run of a stranger");
            }
            if let Some(run) = self.run(row) {
                open.push(run);
            }
        }
    }
}
