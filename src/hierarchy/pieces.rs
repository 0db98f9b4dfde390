//! What an update has taken and not swept yet, and which of it is better swept as one.

use super::bits::BITS;
use super::caches::{OUT_OF_CACHE, OUT_OF_CACHES};
use alloc::vec::Vec;
use core::ops::Range;

/// Rows that have been taken, their marks cleared, to be swept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// One after the other.
    Rows(Range<u32>),
    /// Of the 64 rows from there on those whose bit is set, not none.
    Bits(u32, u64),
}

impl Piece {
    pub(super) fn first(&self) -> u32 {
        match self {
            Self::Rows(rows) => rows.start,
            Self::Bits(start, bits) => start + bits.trailing_zeros(),
        }
    }

    /// Where the last one ends.
    fn end(&self) -> u32 {
        match self {
            Self::Rows(rows) => rows.end,
            Self::Bits(start, bits) => start + BITS as u32 - bits.leading_zeros(),
        }
    }

    /// Rows that are one after the other.
    pub(super) fn rows(&self) -> Option<Range<usize>> {
        match self {
            Self::Rows(rows) => Some(rows.start as usize..rows.end as usize),
            Self::Bits(..) => None,
        }
    }
}

/// What takes longer than rows in line, in rows swept in line.
#[derive(Clone, Copy, Debug)]
struct Costs {
    /// To begin with rows elsewhere.
    begin: i64,
    /// To go on with the next run of bits.
    skip: i64,
    /// Each of the first rows elsewhere, which the processor has not fetched ahead.
    cold: i64,
}

/// After so many rows in line the processor fetches the next ones ahead.
const COLD: i64 = 32;

/// Measured on humanoids, trees, families and roots of which any half, tenth or hundredth moves, or every sixth to
/// sixteenth. Where rows come from memory, a tenth of 260 000 nodes, and what is below, took twice as long as all of
/// them. But rows at regular distances are fetched ahead too: dearer skips made those take twice as long.
const fn costs(rows: usize) -> Costs {
    if rows < OUT_OF_CACHE {
        Costs { begin: 4, skip: 1, cold: 0 }
    } else if rows < OUT_OF_CACHES {
        Costs { begin: 6, skip: 1, cold: 0 }
    } else {
        Costs { begin: 16, skip: 4, cold: 2 }
    }
}

impl Costs {
    #[inline(always)]
    fn of_rows(self, len: i64) -> i64 {
        self.begin + len + self.cold * len.min(COLD)
    }

    #[inline(always)]
    fn of_bits(self, bits: u64) -> i64 {
        let runs = (bits & !(bits << 1)).count_ones();
        self.skip * i64::from(runs) + (1 + self.cold) * i64::from(bits.count_ones())
    }
}

/// The last pieces, which become one as soon as that takes less.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// The first of them.
    at: usize,
    first: i64,
    /// What they take as they are.
    cost: i64,
}

impl Open {
    /// Far from everything.
    const NONE: Self = Self { at: 0, first: i64::MIN / 4, cost: 0 };
}

#[derive(Clone, Debug)]
pub(super) struct Pieces {
    costs: Costs,
    list: Vec<Piece>,
    /// Pieces from these on may hold what is above some of those before.
    groups: Vec<usize>,
    open: Open,
}

impl Pieces {
    pub(super) fn new() -> Self {
        Self { costs: costs(0), list: Vec::new(), groups: Vec::new(), open: Open::NONE }
    }

    /// Of a hierarchy with so many rows.
    pub(super) fn begin(&mut self, rows: usize) {
        self.costs = costs(rows);
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Adds a piece behind the ones before; or makes one of it and the last ones, if that is quicker and what lies
    /// between is rows that `may_join`: those come out as they were.
    ///
    /// The last ones begin where the most is saved, or the least lost, by making them one; so one pass finds what is
    /// better swept as one, to within a percent (as J. Kadane's finds the largest sum of neighbours).
    #[inline(always)]
    pub(super) fn push(&mut self, piece: Piece, may_join: impl FnOnce(Range<u32>) -> bool) {
        let costs = self.costs;
        let (first, end) = (piece.first(), piece.end());
        let as_rows = costs.of_rows(i64::from(end - first));
        let cost = match &piece {
            Piece::Rows(_) => as_rows,
            Piece::Bits(_, bits) => costs.of_bits(*bits),
        };
        let (apart, as_one) = (self.open.cost + cost, costs.of_rows(i64::from(end) - self.open.first));
        if as_one <= apart {
            let opened = &self.list[self.open.at];
            if may_join(opened.end()..first) {
                let rows = opened.first()..end;
                self.list.truncate(self.open.at + 1);
                self.list[self.open.at] = Piece::Rows(rows);
                self.open.cost = as_one;
                return;
            }
        }
        let begins = cost - as_rows > apart - as_one || as_one <= apart;
        let (at, first_of_open) = (self.list.len(), i64::from(first));
        self.open = Open {
            at: if begins { at } else { self.open.at },
            first: if begins { first_of_open } else { self.open.first },
            cost: if begins { cost.min(as_rows) } else { apart },
        };
        self.list.push(if as_rows < cost { Piece::Rows(first..end) } else { piece });
    }

    /// Adds rows as they are.
    pub(super) fn push_rows(&mut self, rows: Range<u32>) {
        if !rows.is_empty() {
            self.list.push(Piece::Rows(rows));
        }
        self.open = Open::NONE;
    }

    /// What is added from here on may be above what was before.
    pub(super) fn begin_group(&mut self) {
        self.groups.push(self.list.len());
        self.open = Open::NONE;
    }

    /// All pieces, parents first: from the last group to the first, each in order.
    pub(super) fn take(&mut self) -> Vec<Piece> {
        self.open = Open::NONE;
        let mut list = core::mem::take(&mut self.list);
        if !self.groups.is_empty() {
            let mut end = list.len();
            for start in self.groups.drain(..).rev() {
                list[start..end].reverse();
                end = start;
            }
            list[..end].reverse();
            list.reverse();
        }
        list
    }

    /// Keeps the memory of a list for the next pieces.
    pub(super) fn reuse(&mut self, mut list: Vec<Piece>) {
        list.clear();
        self.list = list;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    const SIZES: [usize; 3] = [1000, OUT_OF_CACHE, OUT_OF_CACHES];

    fn joined(pieces: &[Piece], of_rows: usize, may_join: impl Fn(Range<u32>) -> bool) -> Vec<Piece> {
        let mut list = Pieces::new();
        list.begin(of_rows);
        pieces.iter().for_each(|piece| list.push(piece.clone(), &may_join));
        list.take()
    }

    fn rows(piece: &Piece) -> Vec<u32> {
        match piece {
            Piece::Rows(rows) => rows.clone().collect(),
            Piece::Bits(start, bits) => (0..64).filter(|bit| bits >> bit & 1 == 1).map(|bit| start + bit).collect(),
        }
    }

    /// In rows swept in line.
    fn cost(piece: &Piece, of_rows: usize) -> i64 {
        match piece {
            Piece::Rows(rows) => costs(of_rows).of_rows(rows.len() as i64),
            Piece::Bits(_, bits) => costs(of_rows).of_bits(*bits),
        }
    }

    /// Pieces in order of rows: how far behind the one before each begins, and its rows or bits.
    fn any_pieces() -> impl Strategy<Value = Vec<Piece>> {
        let any = (0u32..100, prop::bool::ANY, 1u32..80, any::<u64>(), any::<u64>(), any::<bool>());
        prop::collection::vec(any, 1..40).prop_map(|all| {
            let mut at = 0;
            let list = all.into_iter().map(|(gap, is_rows, len, one, other, is_dense)| {
                at += gap / if is_rows { 1 } else { 3 };
                let piece = if is_rows {
                    Piece::Rows(at..at + len)
                } else {
                    at = at.next_multiple_of(BITS as u32);
                    Piece::Bits(at, 1 << (one % 64) | if is_dense { one } else { one & other })
                };
                at = piece.end();
                piece
            });
            list.collect()
        })
    }

    proptest! {
        /// Nothing is lost, or swept that was not to be, but what lies between two pieces and may; and to join
        /// never takes longer than not to.
        #[test]
        fn joining_loses_nothing_and_saves(
            pieces in any_pieces(),
            of_rows in prop::sample::select(&SIZES),
            forbidden in prop::collection::btree_set(0u32..3000, 0..40),
        ) {
            let may_join = |gap: Range<u32>| forbidden.range(gap).next().is_none();
            let list = joined(&pieces, of_rows, may_join);
            let (wanted, swept): (Vec<u32>, Vec<u32>) =
                (pieces.iter().flat_map(rows).collect(), list.iter().flat_map(rows).collect());
            prop_assert!(swept.windows(2).all(|two| two[0] < two[1]), "in order, each once");
            let extra: Vec<u32> = swept.iter().copied().filter(|row| !wanted.contains(row)).collect();
            prop_assert_eq!(swept.len(), wanted.len() + extra.len(), "none is lost");
            let is_within = |row: u32| pieces.iter().any(|piece| (piece.first()..piece.end()).contains(&row));
            prop_assert!(extra.iter().all(|row| is_within(*row) || !forbidden.contains(row)), "what may not be joined");
            let total = |list: &[Piece]| list.iter().map(|piece| cost(piece, of_rows)).sum::<i64>();
            prop_assert!(total(&list) <= total(&pieces), "{} for {}", total(&list), total(&pieces));
        }
    }

    /// In one pass, against the best of all ways to join neighbours.
    #[test]
    fn joining_is_nearly_the_best_there_is() {
        let mut runner = TestRunner::deterministic();
        for of_rows in SIZES {
            let (mut found, mut best_of_all) = (0, 0);
            for _ in 0..500 {
                let pieces = any_pieces().new_tree(&mut runner).unwrap().current();
                let list = joined(&pieces, of_rows, |_| true);
                found += list.iter().map(|piece| cost(piece, of_rows)).sum::<i64>();
                // Of the first so many pieces.
                let mut best = vec![0];
                for (last, piece) in pieces.iter().enumerate() {
                    let as_one = |first: usize| {
                        let len = piece.end() - pieces[first].first();
                        best[first] + costs(of_rows).of_rows(len.into())
                    };
                    let apart = best[last] + cost(piece, of_rows);
                    best.push((0..=last).map(as_one).fold(apart, i64::min));
                }
                best_of_all += best.last().unwrap();
            }
            assert!(100 * found <= 101 * best_of_all, "{found} for {best_of_all}");
        }
    }

    /// A run of pieces that lie close becomes one; what is far apart, or alone, stays as it is.
    #[test]
    fn what_lies_close_is_swept_as_one() {
        let close: Vec<_> = (0..10).map(|at| Piece::Rows(50 * at..50 * at + 20)).collect();
        let far: Vec<_> = (0..10).map(|at| Piece::Rows(500 * at..500 * at + 20)).collect();
        let alone: Vec<_> = (0..10).map(|at| Piece::Bits(64 * at, 1 << 17)).collect();
        let many: Vec<_> = (0..10).map(|at| Piece::Bits(64 * at, 0x1111_1111_1111_1111)).collect();
        for of_rows in SIZES {
            let is_cold = of_rows >= OUT_OF_CACHES;
            let same = |list: &[Piece]| joined(list, of_rows, |_| true) == list;
            assert_eq!(joined(&close, of_rows, |_| true) == [Piece::Rows(0..470)], is_cold);
            assert!(is_cold || same(&close));
            assert!(same(&far) && same(&alone));
            assert!(joined(&close, of_rows, |_| false) == close);
            assert_eq!(joined(&many, of_rows, |_| true) == [Piece::Rows(0..637)], is_cold);
        }
    }

    /// Later groups come first, each in its order.
    #[test]
    fn groups_come_from_the_last_to_the_first() {
        let mut list = Pieces::new();
        for group in [3, 1, 2] {
            (0..2).for_each(|at| list.push_rows(10 * group + at..10 * group + at + 1));
            list.begin_group();
        }
        list.push_rows(7..7);
        list.push_rows(0..1);
        let firsts: Vec<u32> = list.take().iter().map(Piece::first).collect();
        assert_eq!(firsts, [0, 20, 21, 10, 11, 30, 31]);
        assert!(list.take().is_empty());
    }
}
