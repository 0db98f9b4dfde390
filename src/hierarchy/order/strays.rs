//! Which rows lie elsewhere than below their parent.

use crate::hierarchy::bits;
use crate::hierarchy::caches::{OUT_OF_CACHE, OUT_OF_CACHES};
use crate::topology::NONE;
use alloc::{collections::BTreeSet, vec::Vec};
use core::ops::Range;

/// Of how many rows one is a stray where a sort is due. A stray costs a sort as much as ten rows in place where rows
/// come from memory, and less in a cache. Measured over frames of random moves, 1 % each, among a million nodes and
/// 200 000: with one among 8 the longest update takes 15 linear ones, with 16 or 24 up to 14, with 32 or 48 up to 12,
/// and the mean is 4 to 5 with any.
const fn many(rows: usize) -> usize {
    if rows < OUT_OF_CACHE {
        TOO_MANY
    } else if rows < OUT_OF_CACHES {
        12
    } else {
        32
    }
}

/// Of how many rows one may be a stray before there are too many: they are not listed any more, and a sort lays
/// everything out anew, which costs as much as for so many strays.
const TOO_MANY: usize = 4;

/// Below this many, counting is not worth it.
const SMALL: usize = 64;

/// Rows that are stored elsewhere than below their parent, and of which parents: by row, and listed by parent.
///
/// What is noted once stays noted until the next sort, also where a node comes back to where it was.
#[derive(Clone, Debug, Default)]
pub(super) struct Strays {
    /// The strays, as bits.
    rows: Vec<u64>,
    /// Rows that have, or had, strays among their children.
    parents: Vec<u64>,
    /// Parent and stray. Some are none any more, or have another parent by now.
    list: BTreeSet<(u32, u32)>,
    /// How many were left in the list when it was last looked through.
    kept: usize,
    /// The same, not in the list yet: edits are to cost nothing but this.
    noted: Vec<(u32, u32)>,
    are_too_many: bool,
}

impl Strays {
    pub(super) fn reserve(&mut self, words: usize) {
        self.rows.reserve(words);
        self.parents.reserve(words);
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.rows.shrink_to_fit();
        self.parents.shrink_to_fit();
        self.noted.shrink_to_fit();
    }

    /// None, and room for that many words of rows.
    pub(super) fn reset(&mut self, words: usize) {
        for column in [&mut self.rows, &mut self.parents] {
            column.clear();
            column.resize(words, 0);
        }
        self.list.clear();
        self.kept = 0;
        self.noted.clear();
        self.are_too_many = false;
    }

    /// Makes room for 64 more rows.
    pub(super) fn push_word(&mut self) {
        self.rows.push(0);
        self.parents.push(0);
    }

    /// Whether every row is in place.
    pub(super) fn is_empty(&self) -> bool {
        self.noted.is_empty() && self.list.is_empty() && !self.are_too_many
    }

    /// So many, among so many rows, that a sort is due where any of them matters.
    pub(super) fn are_many(&self, rows: usize) -> bool {
        self.are_too_many || self.len() > rows / many(rows) + SMALL
    }

    /// How many are listed, or noted to be.
    pub(super) fn len(&self) -> usize {
        self.noted.len() + self.list.len()
    }

    /// So many that they are not listed.
    pub(super) fn are_too_many(&self) -> bool {
        self.are_too_many
    }

    pub(super) fn words(&self) -> &[u64] {
        &self.rows
    }

    pub(super) fn contains(&self, row: u32) -> bool {
        bits::contains(&self.rows, row)
    }

    pub(super) fn has_parent(&self, row: u32) -> bool {
        bits::contains(&self.parents, row)
    }

    /// The first stray of a stretch of rows.
    pub(super) fn next_within(&self, rows: Range<u32>) -> Option<u32> {
        bits::next_within(&self.rows, rows.start as usize..rows.end as usize).map(|row| row as u32)
    }

    /// The first row of a stretch that has strays among its children.
    pub(super) fn next_parent_within(&self, rows: Range<u32>) -> Option<u32> {
        bits::next_within(&self.parents, rows.start as usize..rows.end as usize).map(|row| row as u32)
    }

    /// The first row of a stretch that is either. Looks no further: the next stray alone may be far behind.
    pub(super) fn next_of_both_within(&self, rows: Range<u32>) -> Option<u32> {
        let rows = rows.start as usize..rows.end as usize;
        bits::next_of_two([&self.rows, &self.parents], rows).map(|row| row as u32)
    }

    /// Notes a row that is, or may be, stored elsewhere than below that parent.
    pub(super) fn note(&mut self, parent: u32, row: u32, rows: usize) {
        let (index, bit) = bits::place(row);
        self.rows[index] |= bit;
        if parent != NONE {
            let (index, bit) = bits::place(parent);
            self.parents[index] |= bit;
        }
        if self.are_too_many {
            return;
        }
        self.noted.push((parent, row));
        if self.len() > rows / TOO_MANY + SMALL {
            self.are_too_many = true;
            self.noted.clear();
            self.list.clear();
        }
    }

    /// A row that is no node's any more.
    pub(super) fn forget(&mut self, row: u32) {
        let (index, bit) = bits::place(row);
        self.rows[index] &= !bit;
        self.forget_parent(row);
    }

    /// A row whose children are all gone, or another's.
    pub(super) fn forget_parent(&mut self, row: u32) {
        let (index, bit) = bits::place(row);
        self.parents[index] &= !bit;
    }

    /// Puts what has been noted in the list, given the parents of all rows: what is still so. Leaves out of the list,
    /// once it has doubled, what is not.
    pub(super) fn settle(&mut self, parents: &[u32]) {
        let rows = &self.rows;
        let is_so = |&(parent, row): &(u32, u32)| bits::contains(rows, row) && parents[row as usize] == parent;
        self.noted.retain(is_so);
        // In order, so that one is put in near the other.
        self.noted.sort_unstable();
        self.list.extend(self.noted.drain(..));
        if self.list.len() > 2 * self.kept + SMALL {
            self.list.retain(is_so);
            self.kept = self.list.len();
        }
    }

    /// The strays that are listed for parents from one row up to another, each with the parent it was noted for.
    pub(super) fn listed(&self, parents: Range<u32>) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.list.range((parents.start, 0)..(parents.end, 0)).copied()
    }

    /// All that are listed, in order of parents; those without one come last.
    pub(super) fn all(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.list.iter().copied()
    }

    /// Asserts that there are no others than these rows below these parents, as far as they are told apart.
    pub(super) fn assert_well_formed(&self, words: usize, parents: &[u32], is_hole: impl Fn(usize) -> bool) {
        assert_eq!((self.rows.len(), self.parents.len()), (words, words), "words of strays");
        for (row, &parent) in parents.iter().enumerate() {
            if is_hole(row) {
                assert!(!self.contains(row as u32) && !self.has_parent(row as u32), "hole {row} is a stray");
            } else if self.contains(row as u32) {
                let entry = (parent, row as u32);
                let is_listed = self.are_too_many || self.list.contains(&entry) || self.noted.contains(&entry);
                assert!(is_listed, "stray {row} is not listed below {parent}");
                assert!(parent == NONE || self.has_parent(parent), "parent {parent} of stray {row}");
            }
        }
        let beyond = |words: &[u64]| {
            words.last().is_some_and(|last| parents.len() % 64 != 0 && last >> (parents.len() % 64) != 0)
        };
        assert!(!beyond(&self.rows) && !beyond(&self.parents), "a stray beyond the last row");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A node that goes back and forth takes no more memory than all that may be strays.
    #[test]
    fn what_is_noted_again_and_again_is_bounded() {
        const ROWS: usize = 1000;
        let mut strays = Strays::default();
        strays.reset(ROWS.div_ceil(64));
        for at in 0..10_000 {
            strays.note(at % 2, 500, ROWS);
            assert!(strays.len() <= ROWS / TOO_MANY + SMALL, "{} are noted", strays.len());
        }
        assert!(strays.are_too_many() && strays.are_many(ROWS) && !strays.is_empty());
        assert!(strays.contains(500) && strays.has_parent(0) && strays.has_parent(1));
        strays.reset(ROWS.div_ceil(64));
        assert!(strays.is_empty() && !strays.are_many(ROWS) && !strays.contains(500));
    }
}
