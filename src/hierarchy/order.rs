//! In which row each node is stored, and which subtrees are runs. The sole writer of row order.
//!
//! A subtree is stored as one contiguous *stretch* of rows, parents first, and is swept linearly. The stretch
//! may hold *holes*, rows of removed nodes. Edits move no row (but insertions drop holes where those outnumber
//! nodes). **A row is in place where the innermost stretch around it is its parent's**; one that edits have
//! brought elsewhere is a *stray*, and is listed with its parent. So what is below a node is its stretch, without
//! the stretches of the strays in it, and whatever strays are listed for parents in there, each with what is below
//! it. Where there are none of either, the stretch is the subtree, and is called a *run*.

mod layout;
mod strays;

use super::bits::{self, BITS};
use super::dirty::Marks;
use crate::topology::{NONE, Topology};
use alloc::vec::Vec;
use core::ops::Range;
use strays::Strays;

/// Where a row is to be stored.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Where it was.
    old: u32,
    /// Where its parent is to be; [`NONE`] for roots.
    parent: u32,
}

/// The rows in a new order: each by itself, or in ranges that stay together and are copied as such.
#[derive(Debug, Default)]
pub(crate) struct Permutation {
    /// Those that come first, one by one.
    places: Vec<Place>,
    /// Those that come then, as ranges of where they were; none is empty.
    ranges: Vec<Range<u32>>,
    len: usize,
}

impl Permutation {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// For each new row, the row it was before.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.ranges().flatten()
    }

    /// The same, in ranges of one or more.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = Range<u32>> + '_ {
        self.places.iter().map(|place| place.old..place.old + 1).chain(self.ranges.iter().cloned())
    }

    /// Brings the elements of a column in their new order, with as much room for more as there was.
    pub(crate) fn apply<T: Copy>(&self, column: &mut Vec<T>) {
        let mut sorted = Vec::with_capacity(column.capacity());
        self.apply_into(column, &mut sorted);
        *column = sorted;
    }

    /// The elements of a column in their new order, in place of what a buffer held.
    pub(crate) fn apply_into<T: Copy>(&self, column: &[T], sorted: &mut Vec<T>) {
        sorted.clear();
        sorted.reserve(self.len);
        sorted.extend(self.places.iter().map(|place| column[place.old as usize]));
        for range in &self.ranges {
            match &column[range.start as usize..range.end as usize] {
                // Of many holes every other row may be one, and to copy memory takes longer than that.
                [one] => sorted.push(*one),
                rows => sorted.extend_from_slice(rows),
            }
        }
    }
}

/// By row: how many rows from there on were the node's subtree when they were stored; 1 for holes.
///
/// Rows stay where they are from one sort to the next, so that these stretches lie inside of each other or
/// apart, whatever edits do. Of leaves, which most rows are, bits tell it, 64 at a time: lengths are lines of
/// memory that a sweep does not come across.
#[derive(Clone, Debug, Default)]
struct Stretches {
    lengths: Vec<u32>,
    /// Rows that are a stretch of one without strays among their children.
    ones: Vec<u64>,
}

impl Stretches {
    fn reserve(&mut self, additional: usize) {
        self.lengths.reserve(additional);
        self.ones.reserve(additional.div_ceil(BITS));
    }

    fn shrink_to_fit(&mut self) {
        self.lengths.shrink_to_fit();
        self.ones.shrink_to_fit();
    }

    /// Stretches of one, and no others.
    fn reset(&mut self, rows: usize) {
        self.ones.clear();
        self.ones.resize(rows.div_ceil(BITS), u64::MAX);
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
            self.ones.push(0);
        }
        self.ones[row / BITS] |= 1 << (row % BITS);
    }

    fn of(&self, row: u32) -> Range<u32> {
        row..row + if self.is_one(row) { 1 } else { self.lengths[row as usize] }
    }

    fn is_one(&self, row: u32) -> bool {
        bits::contains(&self.ones, row)
    }

    fn set(&mut self, row: u32, length: u32) {
        self.lengths[row as usize] = length;
        let (index, bit) = bits::place(row);
        if length == 1 {
            self.ones[index] |= bit;
        } else {
            self.ones[index] &= !bit;
        }
    }

    /// A row that has strays among its children.
    fn set_not_one(&mut self, row: u32) {
        let (index, bit) = bits::place(row);
        self.ones[index] &= !bit;
    }

    fn assert_well_formed(&self, has_strays: impl Fn(u32) -> bool) {
        assert_eq!(self.ones.len(), self.lengths.len().div_ceil(BITS), "words of ones");
        for (index, ones) in self.ones.iter().enumerate() {
            let is_one = |row: usize| self.lengths.get(row) == Some(&1) && !has_strays(row as u32);
            let want = (0..BITS).filter(|&bit| is_one(BITS * index + bit)).fold(0, |word, bit| word | 1_u64 << bit);
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
    stretches: Stretches,
    strays: Strays,
    holes: usize,
    /// How often rows have got other parents or other numbers.
    edits: u64,
}

impl Order {
    pub(crate) fn reserve(&mut self, additional: usize) {
        self.rows.reserve(additional);
        self.slots.reserve(additional);
        self.parents.reserve(additional);
        self.stretches.reserve(additional);
        self.strays.reserve(additional.div_ceil(BITS));
    }

    pub(crate) fn shrink_to_fit(&mut self) {
        self.rows.shrink_to_fit();
        self.slots.shrink_to_fit();
        self.parents.shrink_to_fit();
        self.stretches.shrink_to_fit();
        self.strays.shrink_to_fit();
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

    /// Which rows are runs of one, 64 to a word.
    pub(crate) fn ones(&self) -> &[u64] {
        &self.stretches.ones
    }

    /// Which rows are strays, 64 to a word.
    pub(crate) fn strays(&self) -> &[u64] {
        self.strays.words()
    }

    /// The rows of the node's subtree if that is a run.
    pub(crate) fn run(&self, row: u32) -> Option<Range<u32>> {
        if self.stretches.is_one(row) {
            return Some(row..row + 1);
        }
        let stretch = self.stretches.of(row);
        let is_run = self.strays.is_empty() || {
            let below = row + 1..stretch.end;
            // Strays first: up to the first one all rows are the node's own, and worth a look.
            self.strays.next_within(below).is_none() && self.strays.next_parent_within(stretch.clone()).is_none()
        };
        is_run.then_some(stretch)
    }

    /// The parts of a node's stretch that are its own: without the stretches of the strays in it.
    pub(crate) fn own(&self, row: u32) -> impl Iterator<Item = Range<u32>> + '_ {
        let mut rest = self.stretches.of(row);
        core::iter::from_fn(move || {
            let start = rest.start;
            // The first one is its own, even where it is a stray.
            let end = (start < rest.end).then(|| self.strays.next_within(start + 1..rest.end).unwrap_or(rest.end))?;
            rest.start = end;
            while rest.start < rest.end && self.strays.contains(rest.start) {
                rest.start = self.stretches.of(rest.start).end;
            }
            Some(start..end)
        })
    }

    /// The strays that are children of what is a node's own in its stretch. They must be
    /// [listed](Self::list_strays).
    pub(crate) fn strays_below(&self, row: u32) -> impl Iterator<Item = u32> + '_ {
        let listed = self.own(row).flat_map(move |part| {
            let first = self.strays.next_parent_within(part.clone());
            first.into_iter().flat_map(move |first| self.strays.listed(first..part.end))
        });
        listed.filter(move |&(parent, row)| self.is_stray_of(parent, row)).map(|(_, row)| row)
    }

    /// Whether what was noted of a row is still so.
    fn is_stray_of(&self, parent: u32, row: u32) -> bool {
        self.strays.contains(row) && self.parent(row) == parent
    }

    /// If anything marked, or below, is no run: about how many strays there are below, as if they were spread evenly.
    pub(crate) fn scattered(&self, marks: &Marks) -> Option<usize> {
        let (mut at, mut rows) = (0, 0);
        while let (false, Some(row)) = (self.strays.is_empty(), marks.next(at)) {
            let (index, bit) = (row as usize / BITS, row as usize % BITS);
            // Leaves are passed a word at a time.
            let longer = marks.bits(row) & !self.ones()[index] & u64::MAX << bit;
            at = (BITS * (index + 1)) as u32;
            if longer != 0 {
                let row = (BITS * index) as u32 + longer.trailing_zeros();
                let stretch = self.stretches.of(row);
                at = stretch.end;
                rows += if self.run(row).is_none() { stretch.len() } else { 0 };
            }
        }
        (rows != 0).then(|| (self.strays.len() as u64 * rows as u64 / self.len() as u64) as usize)
    }

    /// Whether any row is not in place.
    pub(crate) fn has_strays(&self) -> bool {
        !self.strays.is_empty()
    }

    /// Whether any of these rows is not in place.
    pub(crate) fn has_strays_within(&self, rows: Range<u32>) -> bool {
        self.has_strays() && self.strays.next_within(rows).is_some()
    }

    /// Whether there are so many strays that a sort is paid for by the edits that made them.
    pub(crate) fn is_disordered(&self) -> bool {
        self.strays.are_many(self.len())
    }

    /// For [`strays_below`](Self::strays_below), until the next edit.
    pub(crate) fn list_strays(&mut self) {
        self.strays.settle(&self.parents);
    }

    /// Appends a node as a run of one.
    pub(crate) fn push(&mut self, slot: u32, parent: u32) -> u32 {
        let parent_row = self.row_or_none(parent);
        let row = self.append(slot, parent_row);
        if parent != NONE {
            self.stray(parent_row, row);
        }
        row
    }

    /// Appends subtrees as runs under `parent`. `slots` are in pre-order; `up` gives each one's distance
    /// to its parent in that order, 0 for the tops.
    pub(crate) fn push_runs(&mut self, slots: &[u32], up: &[u32], parent: u32) -> Range<u32> {
        let start = self.len();
        let parent_row = self.row_or_none(parent);
        for (&slot, &up) in slots.iter().zip(up) {
            let parent_row = if up == 0 { parent_row } else { self.len() as u32 - up };
            let row = self.append(slot, parent_row);
            if up == 0 && parent != NONE {
                self.stray(parent_row, row);
            }
        }
        self.add_up_lengths(start);
        start as u32..self.len() as u32
    }

    fn row_or_none(&self, slot: u32) -> u32 {
        if slot == NONE { NONE } else { self.row(slot) }
    }

    fn append(&mut self, slot: u32, parent_row: u32) -> u32 {
        let row = self.slots.len() as u32;
        assert!(row != NONE, "capacity overflow: a hierarchy holds at most 2^32 - 1 rows");
        self.slots.push(slot);
        self.parents.push(parent_row);
        self.stretches.push();
        if row as usize % BITS == 0 {
            self.strays.push_word();
        }
        if self.rows.len() <= slot as usize {
            self.rows.resize(slot as usize + 1, NONE);
        }
        self.rows[slot as usize] = row;
        row
    }

    /// Lengths from lengths of one, for rows from `start` on that are in pre-order among themselves.
    fn add_up_lengths(&mut self, start: usize) {
        for row in (start..self.len()).rev() {
            let parent = self.parents[row];
            if parent != NONE && parent as usize >= start {
                let length = self.stretches.lengths[parent as usize] + self.stretches.lengths[row];
                self.stretches.set(parent, length);
            }
        }
    }

    /// Notes a row that is not in its parent's stretch, or not known to be.
    fn stray(&mut self, parent_row: u32, row: u32) {
        self.strays.note(parent_row, row, self.len());
        if parent_row != NONE {
            self.stretches.set_not_one(parent_row);
        }
    }

    /// Hangs a node under another parent; its subtree keeps its rows.
    pub(crate) fn reparent(&mut self, slot: u32, parent: u32) {
        let (row, parent_row) = (self.row(slot), self.row_or_none(parent));
        self.parents[row as usize] = parent_row;
        self.stray(parent_row, row);
        self.edits += 1;
    }

    /// Hangs a child under its grandparent, for a parent that is about to go. What was one stretch
    /// stays one, so that this scatters nothing.
    pub(crate) fn promote(&mut self, child: u32, grandparent: u32) {
        self.lift(self.row(child), self.row_or_none(grandparent));
        self.edits += 1;
    }

    /// Hangs all that is below the first of the given nodes, which are the rest in pre-order, right under it.
    /// What was one stretch stays one, so that this scatters nothing.
    pub(crate) fn flatten(&mut self, slots: &[u32]) {
        let Some((&top, below)) = slots.split_first() else { return };
        self.edits += 1;
        let top = self.row(top);
        for &slot in below {
            let row = self.row(slot);
            self.lift(row, top);
            self.strays.forget_parent(row);
            self.stretches.set(row, 1);
        }
    }

    /// Hangs a row under one above its parent, whose stretch will be no more. It stays in place where both were.
    fn lift(&mut self, row: u32, above: u32) {
        let parent = core::mem::replace(&mut self.parents[row as usize], above);
        if self.strays.contains(row) || parent != above && self.strays.contains(parent) {
            self.stray(above, row);
        }
    }

    /// Turns a node's row into a hole.
    pub(crate) fn vacate(&mut self, slot: u32) -> u32 {
        let row = self.row(slot);
        self.slots[row as usize] = NONE;
        self.parents[row as usize] = NONE;
        self.strays.forget(row);
        self.stretches.set(row, 1);
        self.holes += 1;
        row
    }

    pub(crate) fn clear(&mut self) {
        self.slots.clear();
        self.parents.clear();
        self.stretches.reset(0);
        self.strays.reset(0);
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
        self.strays.settle(&self.parents);
        let (order, parents) = layout::pre_order(self);
        // What the parents lay in takes the slots.
        let mut slots = core::mem::replace(&mut self.parents, parents);
        order.apply_into(&self.slots, &mut slots);
        self.slots = slots;
        for (new, &slot) in self.slots.iter().enumerate() {
            self.rows[slot as usize] = new as u32;
        }
        self.stretches.reset(self.slots.len());
        self.strays.reset(self.slots.len().div_ceil(BITS));
        self.holes = 0;
        self.edits += 1;
        self.add_up_lengths(0);
        order
    }

    /// Asserts that rows and slots name each other, that parents are the topology's, that every row but strays is
    /// in the stretch of its parent and in none inside of that, after it, and that strays are listed.
    pub(crate) fn assert_well_formed(&self, topology: &Topology) {
        let is_hole = |row: usize| self.slot(row) == NONE;
        assert_eq!(self.len(), self.parents.len());
        assert_eq!(self.len(), self.stretches.lengths.len());
        self.stretches.assert_well_formed(|row| self.strays.has_parent(row));
        self.strays.assert_well_formed(self.len().div_ceil(BITS), &self.parents, is_hole);
        assert_eq!(self.len() - self.holes, topology.len(), "rows that are no holes");
        assert_eq!((0..self.len()).filter(|&row| is_hole(row)).count(), self.holes, "holes");
        let mut open: Vec<Range<u32>> = Vec::new();
        for row in 0..self.len() as u32 {
            let slot = self.slot(row as usize);
            if slot == NONE {
                assert_eq!((self.parent(row), self.run(row)), (NONE, Some(row..row + 1)), "hole {row}");
                continue;
            }
            assert_eq!(self.row(slot), row, "row of slot {slot}");
            assert!(topology.id(slot).is_some(), "row {row} is of no live node");
            let parent_row = self.row_or_none(topology.links(slot).parent);
            assert_eq!(self.parent(row), parent_row, "parent of row {row}");
            while open.last().is_some_and(|stretch| stretch.end <= row) {
                open.pop();
            }
            let around = open.last().map_or(NONE, |stretch| stretch.start);
            assert!(around == parent_row || self.strays.contains(row), "row {row} is in the stretch of row {around}");
            open.push(self.stretches.of(row));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sorted_column_keeps_its_room() {
        let mut column = Vec::with_capacity(100);
        column.extend(['a', 'b', 'c']);
        let places = [2, 0].map(|old| Place { old, parent: NONE }).into();
        Permutation { places, len: 2, ..Permutation::default() }.apply(&mut column);
        assert!(column == ['c', 'a'] && column.capacity() >= 100);
        column.push('b');
        Permutation { ranges: [1..3, 0..1].into(), len: 3, ..Permutation::default() }.apply(&mut column);
        assert!(column == ['a', 'b', 'c'] && column.capacity() >= 100);
    }

    /// Whether all is laid out, as after nodes were added one by one, or what edits have left is stitched together.
    #[test]
    fn a_sort_keeps_the_room_of_rows() {
        let mut order = Order::default();
        order.reserve(1000);
        (0..500).for_each(|slot| {
            order.push(slot, slot.checked_sub(1).unwrap_or(NONE));
        });
        for are_too_many in [true, false] {
            order.list_strays();
            assert_eq!(order.strays.are_too_many(), are_too_many);
            order.sort();
            assert!(order.parents.capacity() >= 1000 && order.slots.capacity() >= 1000);
            (0..10).for_each(|slot| order.reparent(slot + 50, slot));
        }
    }
}
