//! Which rows are dirty: their world, and that of everything below them, waits for an update.
//! The sole writer of marks.

use super::bits::{self, BITS};
use super::order::Permutation;
use alloc::vec::Vec;
use core::ops::Range;

/// A bit per row, and a bit above per 64 rows that is set where one of those is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    words: Vec<u64>,
    summary: Vec<u64>,
    /// Words that are not zero.
    used: usize,
}

impl Marks {
    pub(crate) fn reserve(&mut self, rows: usize) {
        self.words.reserve(rows.div_ceil(BITS).saturating_sub(self.words.len()));
        let words = rows.div_ceil(BITS);
        self.summary.reserve(words.div_ceil(BITS).saturating_sub(self.summary.len()));
    }

    pub(crate) fn shrink_to_fit(&mut self) {
        self.words.shrink_to_fit();
        self.summary.shrink_to_fit();
    }

    /// Makes room for marks on that many rows.
    pub(crate) fn resize(&mut self, rows: usize) {
        self.words.resize(rows.div_ceil(BITS), 0);
        self.summary.resize(self.words.len().div_ceil(BITS), 0);
    }

    pub(crate) fn clear(&mut self) {
        *self = Self { words: core::mem::take(&mut self.words), summary: core::mem::take(&mut self.summary), used: 0 };
        self.words.clear();
        self.summary.clear();
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.used == 0
    }

    pub(crate) fn get(&self, row: u32) -> bool {
        bits::contains(&self.words, row)
    }

    /// The marks of 64 rows, those of the block in which `row` is.
    pub(crate) fn bits(&self, row: u32) -> u64 {
        self.words[row as usize / BITS]
    }

    #[inline]
    pub(crate) fn set(&mut self, row: u32) {
        let (index, bit) = bits::place(row);
        self.set_in(index, bit);
    }

    /// Marks a stretch of rows, a word at a time.
    pub(crate) fn set_range(&mut self, rows: Range<u32>) {
        bits::each_word(rows, |index, bits| self.set_in(index, bits));
    }

    #[inline]
    fn set_in(&mut self, index: usize, bits: u64) {
        let word = &mut self.words[index];
        if *word == 0 {
            self.summary[index / BITS] |= 1 << (index % BITS);
            self.used += 1;
        }
        *word |= bits;
    }

    pub(crate) fn unset(&mut self, row: u32) {
        self.unset_range(row..row + 1);
    }

    /// Clears the marks of a stretch of rows, a word at a time.
    pub(crate) fn unset_range(&mut self, rows: Range<u32>) {
        if self.used != 0 {
            bits::each_word(rows, |index, bits| self.unset_in(index, bits));
        }
    }

    /// Clears marks in the block in which `row` is.
    pub(crate) fn unset_bits(&mut self, row: u32, bits: u64) {
        self.unset_in(row as usize / BITS, bits);
    }

    #[inline]
    fn unset_in(&mut self, index: usize, bits: u64) {
        let word = &mut self.words[index];
        if *word == 0 {
            return;
        }
        *word &= !bits;
        if *word == 0 {
            self.summary[index / BITS] &= !(1 << (index % BITS));
            self.used -= 1;
        }
    }

    /// The first marked row at or after `row`.
    pub(crate) fn next(&self, row: u32) -> Option<u32> {
        if self.used == 0 {
            return None;
        }
        let at = row as usize / BITS;
        let here = *self.words.get(at)? & u64::MAX << (row as usize % BITS);
        let (index, word) = if here != 0 {
            (at, here)
        } else {
            let index = bits::next(&self.summary, at + 1)?;
            (index, self.words[index])
        };
        Some((index * BITS) as u32 + word.trailing_zeros())
    }

    /// Moves the marks with their rows.
    pub(crate) fn permute(&mut self, order: &Permutation) {
        let old = core::mem::take(&mut self.words);
        let count: usize = old.iter().map(|word| word.count_ones() as usize).sum();
        self.used = 0;
        self.summary.clear();
        self.resize(order.len());
        if count == order.len() {
            // All of them, as after building node by node.
            self.set_range(0..count as u32);
        } else if count != 0 {
            let mut new = 0;
            for range in order.ranges() {
                let mut rest = range.start as usize..range.end as usize;
                while let Some(row) = bits::next_within(&old, rest.clone()) {
                    self.set(new + (row as u32 - range.start));
                    rest.start = row + 1;
                }
                new += range.len() as u32;
            }
        }
    }

    pub(crate) fn assert_well_formed(&self, rows: usize) {
        assert_eq!(self.words.len(), rows.div_ceil(BITS), "words of marks");
        assert_eq!(self.summary.len(), self.words.len().div_ceil(BITS), "words of the summary");
        for (index, word) in self.words.iter().enumerate() {
            let summary = self.summary[index / BITS] >> (index % BITS) & 1 == 1;
            assert_eq!(summary, *word != 0, "summary of word {index}");
        }
        assert_eq!(self.words.iter().filter(|&&word| word != 0).count(), self.used, "words with marks");
        if let Some(word) = self.words.last() {
            let used = rows - (self.words.len() - 1) * BITS;
            assert!(used == BITS || word >> used == 0, "a mark beyond the last row");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn marks_are_a_set_of_rows(
            rows in 1u32..20_000,
            steps in prop::collection::vec((any::<bool>(), any::<u32>(), 1u32..300), 1..60),
        ) {
            let (mut marks, mut model) = (Marks::default(), BTreeSet::new());
            marks.resize(rows as usize);
            for (set, at, len) in steps {
                let stretch = at % rows..(at % rows + len).min(rows);
                if set {
                    marks.set_range(stretch.clone());
                    model.extend(stretch);
                } else {
                    marks.unset_range(stretch.clone());
                    stretch.for_each(|row| { model.remove(&row); });
                }
                marks.assert_well_formed(rows as usize);
                let mut seen = BTreeSet::new();
                let mut at = 0;
                while let Some(row) = marks.next(at) {
                    prop_assert!(marks.get(row));
                    seen.insert(row);
                    at = row + 1;
                }
                prop_assert_eq!(&seen, &model);
                prop_assert_eq!(marks.is_clean(), model.is_empty());
            }
        }
    }
}
