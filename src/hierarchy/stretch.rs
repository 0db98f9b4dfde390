//! Stretches of rows, swept in pieces: most of any tree as it comes, from two places at a time, what is a chain or
//! the children of one parent by a loop that keeps the world above in registers.

use super::bits::{self, BITS};
use super::caches::{OUT_OF_CACHE, OUT_OF_CACHES};
use super::inherit::Cuts;
use crate::accumulate::Accumulate;
use crate::topology::NONE;
use core::ops::Range;

/// What a stretch of rows is swept from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns<'a, A: Accumulate> {
    pub(crate) parents: &'a [u32],
    /// [`NONE`] for holes.
    pub(crate) slots: &'a [u32],
    /// By row, as bits, which runs are one row long.
    pub(crate) ones: &'a [u64],
    /// By row, as bits, which lie elsewhere than below their parent.
    pub(crate) strays: &'a [u64],
    pub(crate) locals: &'a [A::Row],
    /// Rows to leave as they are.
    pub(crate) cuts: Cuts<'a>,
}

impl<A: Accumulate> Columns<'_, A> {
    pub(crate) fn is_stray(self, row: usize) -> bool {
        bits::contains(self.strays, row as u32)
    }
}

/// Of so many rows a thread that has to be woken sweeps enough to make up for waking it, which takes this thread some
/// 30 microseconds and the other one twice that. Small in tests, so that what they draw is shared.
pub(crate) const WORTH_SHARING: usize = if cfg!(test) { 24 } else { 64 * 1024 };

/// Computes the worlds of pieces, in order of rows, none of which waits for another, with the bits of a linear sweep;
/// or does nothing, and returns false, where that would not be quicker than to sweep one after the other.
pub(crate) type Share<A> = fn(Columns<'_, A>, &mut [<A as Accumulate>::Row], &[Range<usize>]) -> bool;

/// How the rows of a piece hang together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Any,
    /// Each is the child of the one before.
    Chain,
    /// All are children of one row before them.
    Siblings,
}

/// Fewer rows than this are not worth a look at what they are.
const SHORT: usize = 8;

/// A piece must be so long for two lanes where rows come from memory: at the end of a lane the processor has fetched
/// ahead what is not swept next. Measured: among a million, pieces of 1000 rows take longer in two lanes, and of 4000
/// still 4 %; among 100 000, of 2000 rows 10 % less.
const fn long(rows: usize) -> usize {
    if rows <= OUT_OF_CACHE {
        0
    } else if rows <= OUT_OF_CACHES {
        2 * 1024
    } else {
        8 * 1024
    }
}

/// Pieces of so many rows, and those that are too short for two lanes of their own, are swept by twos. Shorter ones the
/// processor looks beyond by itself.
const BY_TWOS: Range<usize> = 2 * SHORT..1024;

/// A piece is swept in two lanes if it has so many rows for each one that must be computed in advance.
const ROWS_PER_ANCESTOR: usize = 16;

/// No more rows than this are computed in advance: on the way to them each takes a frame of the stack.
const MOST_ANCESTORS: usize = 128;

/// The rows of a stretch in pieces of one kind, any number of blocks of 64 rows or one. Most blocks are told by
/// a word: a chain has no leaf among them, and siblings that lie side by side are leaves.
fn pieces<'a>(
    parents: &'a [u32],
    ones: &'a [u64],
    cuts: Cuts<'a>,
    rows: Range<usize>,
) -> impl Iterator<Item = (Kind, Range<usize>)> {
    let block = move |at: usize| at..rows.end.min(at - at % BITS + BITS);
    let mut at = rows.start;
    core::iter::from_fn(move || {
        let mut piece = block(at);
        if piece.is_empty() {
            return None;
        }
        let kind = kind(parents, ones, cuts, piece.clone());
        while kind == Kind::Any
            && !block(piece.end).is_empty()
            && self::kind(parents, ones, cuts, block(piece.end)) == kind
        {
            piece.end = block(piece.end).end;
        }
        at = piece.end;
        Some((kind, piece))
    })
}

/// The kind of rows of one block; any where some of them are cut.
#[inline]
fn kind(parents: &[u32], ones: &[u64], cuts: Cuts<'_>, rows: Range<usize>) -> Kind {
    let of_rows = u64::MAX >> (BITS - rows.len()) << (rows.start % BITS);
    if rows.len() < SHORT || cuts.bits(rows.start) & of_rows != 0 {
        return Kind::Any;
    }
    let leaves = ones[rows.start / BITS] & of_rows;
    let parents = &parents[rows.clone()];
    if leaves == 0 && rows.start != 0 && all(parents, |at, parent| parent as usize == rows.start + at - 1) {
        Kind::Chain
    } else if leaves == of_rows && (parents[0] as usize) < rows.start && all(parents, |_, parent| parent == parents[0])
    {
        Kind::Siblings
    } else {
        Kind::Any
    }
}

/// Looks at all, whatever the first ones say: without a way out that is a few vectors.
#[inline]
fn all(parents: &[u32], is: impl Fn(usize, u32) -> bool) -> bool {
    parents.iter().enumerate().fold(true, |all, (at, &parent)| all & is(at, parent))
}

/// Whether it pays to sweep a piece and another one like it by turns, if neither waits for the other: children of one
/// parent wait for no other in any case, and the loop for those takes less. A few rows in the middle tell.
pub(crate) fn is_lane<A: Accumulate>(columns: Columns<'_, A>, rows: &Range<usize>) -> bool {
    let lengths = BY_TWOS.start..BY_TWOS.end.max(long(columns.parents.len()));
    let middle = (rows.start + rows.len() / 2) / SHORT * SHORT;
    lengths.contains(&rows.len())
        && kind(columns.parents, columns.ones, columns.cuts, middle..middle + SHORT) != Kind::Siblings
}

/// Pieces that are swept by twos, and what is left of the longer one with the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByTwos {
    rest: Range<usize>,
}

impl ByTwos {
    /// Two lanes of one length: of what is left of the pieces before, and of this one. None, if nothing is left.
    pub(crate) fn pair(&mut self, piece: Range<usize>) -> [Range<usize>; 2] {
        let both = self.rest.len().min(piece.len());
        let lanes = [&self.rest, &piece].map(|rows| rows.start..rows.start + both);
        let longer = if self.rest.len() > both { &self.rest } else { &piece };
        self.rest = longer.start + both..longer.end;
        lanes
    }

    /// What is left of all, if anything.
    pub(crate) fn rest(self) -> Option<Range<usize>> {
        (!self.rest.is_empty()).then_some(self.rest)
    }
}

/// Finds the worlds of rows that are not in a piece.
pub(crate) type Outside<'a, A> = dyn Fn(u32) -> Option<&'a <A as Accumulate>::Row> + Sync + 'a;

/// Where the worlds of a piece are, and those of the parents outside.
pub(crate) struct Window<'a, A: Accumulate> {
    /// The first row that is in `worlds`.
    pub(crate) start: usize,
    pub(crate) worlds: &'a mut [A::Row],
    pub(crate) outside: &'a Outside<'a, A>,
}

impl<'a, A: Accumulate> Window<'a, A> {
    /// On all rows.
    pub(crate) fn all(worlds: &'a mut [A::Row]) -> Self {
        Self { start: 0, worlds, outside: &|_| None }
    }

    fn world(&self, row: u32) -> Option<A::Row> {
        let inside = (row as usize).checked_sub(self.start).and_then(|at| self.worlds.get(at));
        inside.or_else(|| (self.outside)(row)).copied()
    }

    /// Sweeps pieces none of which waits for another.
    #[cfg(feature = "rayon")]
    pub(crate) fn sweep_pieces(
        &mut self,
        columns: Columns<'_, A>,
        pieces: &[Range<usize>],
        any: impl Fn(&mut Self, [Range<usize>; 2]),
    ) {
        let mut twos = ByTwos::default();
        for piece in pieces {
            if is_lane(columns, piece) {
                any(self, twos.pair(piece.clone()));
            } else {
                self.sweep(columns, piece.clone(), &any);
            }
        }
        if let Some(rest) = twos.rest() {
            self.sweep(columns, rest, &any);
        }
    }

    /// Sweeps rows, parents first: by the given loop over two lanes what is of no kind.
    pub(crate) fn sweep(
        &mut self,
        columns: Columns<'_, A>,
        rows: Range<usize>,
        any: impl Fn(&mut Self, [Range<usize>; 2]),
    ) {
        for (kind, rows) in pieces(columns.parents, columns.ones, columns.cuts, rows) {
            let above = if kind == Kind::Any { None } else { self.world(columns.parents[rows.start]) };
            let Some(above) = above else {
                let middle = self.middle(columns, &rows).unwrap_or(rows.start);
                any(self, [rows.start..middle, middle..rows.end]);
                continue;
            };
            let (locals, worlds) =
                (&columns.locals[rows.clone()], &mut self.worlds[rows.start - self.start..][..rows.len()]);
            match kind {
                Kind::Chain => A::sweep_chain(&above, locals, worlds),
                _ => A::sweep_siblings(&above, locals, worlds),
            }
        }
    }

    /// Where the second half of a piece begins, if it pays to sweep that beside the first one. All it needs of the
    /// first one is what is above its first row, because a stretch reaches as far as what is below it. That is
    /// computed here, and once more in its turn, with the same bits.
    fn middle(&mut self, columns: Columns<'_, A>, rows: &Range<usize>) -> Option<usize> {
        if rows.len() < long(columns.parents.len()) {
            return None;
        }
        // A hole does not know in whose run it lies.
        let middle = (rows.start..=rows.start + rows.len() / 2).rev().find(|&row| columns.slots[row] != NONE)?;
        let most = MOST_ANCESTORS.min(rows.len() / ROWS_PER_ANCESTOR);
        self.sweep_above(columns, middle, rows.start, most).then_some(middle)
    }

    /// Computes what is above a row, from `start` on, if that is no more than so many rows, and neither one of them nor
    /// the row is a stray, but for the first row of all: a stray does not know in whose stretch it lies.
    fn sweep_above(&mut self, columns: Columns<'_, A>, row: usize, start: usize, most: usize) -> bool {
        if columns.is_stray(row) {
            return row == start;
        }
        let above = columns.parents[row] as usize;
        if !(start..row).contains(&above) {
            return true;
        }
        let is_ready = most != 0 && self.sweep_above(columns, above, start, most - 1);
        if is_ready {
            self.sweep_row(columns, above);
        }
        is_ready
    }

    /// Computes one row, or leaves it as it is where it is cut.
    pub(crate) fn sweep_row(&mut self, columns: Columns<'_, A>, row: usize) {
        if !columns.cuts.contains(row as u32) {
            let local = &columns.locals[row];
            let parent = self.world(columns.parents[row]);
            self.worlds[row - self.start] = parent.map_or_else(|| A::root(local), |parent| A::product(&parent, local));
        }
    }
}

/// Sweeps rows, parents first, one after the other.
pub(crate) fn sweep_in_line<A: Accumulate>(columns: Columns<'_, A>, worlds: &mut [A::Row], rows: Range<usize>) {
    let mut window = Window::<A>::all(worlds);
    window.sweep(columns, rows, |window, lanes| {
        A::sweep(columns.parents, columns.locals, window.worlds, lanes, columns.cuts.words());
    });
}

#[cfg(test)]
mod tests {
    use super::super::inherit::Inherits;
    use super::*;
    use crate::accumulate::hash::{Hash, compose, pose};
    use alloc::{vec, vec::Vec};
    use proptest::prelude::*;

    /// Rows of a forest in pre-order, made of chains and families, some of them with holes; and which rows are
    /// leaves or holes.
    fn forest(parts: &[(bool, usize, u32)]) -> (Vec<u32>, Vec<u64>) {
        let mut parents = vec![NONE];
        for &(is_chain, len, up) in parts {
            // From where the part before ended, some rows up.
            let mut above = parents.len() as u32 - 1;
            for _ in 0..up {
                above = if parents[above as usize] == NONE { above } else { parents[above as usize] };
            }
            for at in 0..len {
                let row = parents.len() as u32;
                parents.push(if up == 3 && at % 50 == 49 { NONE } else { above });
                above = if is_chain { row } else { above };
            }
        }
        let mut ones = vec![u64::MAX; parents.len().div_ceil(BITS)];
        for &parent in parents.iter().filter(|&&parent| parent != NONE) {
            ones[parent as usize / BITS] &= !(1 << (parent as usize % BITS));
        }
        (parents, ones)
    }

    /// Leaves without a parent play the holes.
    fn slots(parents: &[u32], ones: &[u64]) -> Vec<u32> {
        let is_hole = |row: u32| parents[row as usize] == NONE && bits::contains(ones, row);
        (0..parents.len() as u32).map(|row| if is_hole(row) { NONE } else { row }).collect()
    }

    fn locals(len: usize) -> Vec<u64> {
        (0..len as u32).map(|row| pose(2 * row + 3, row.wrapping_mul(0x9e37_79b9))).collect()
    }

    proptest! {
        #[test]
        fn pieces_are_of_their_kind(
            parts in prop::collection::vec((any::<bool>(), 1usize..300, 0u32..4), 1..12),
            start in any::<prop::sample::Index>(),
            len in any::<prop::sample::Index>(),
        ) {
            let (parents, ones) = forest(&parts);
            let start = start.index(parents.len());
            let rows = start..start + len.index(parents.len() - start + 1);
            let mut at = rows.start;
            for (kind, piece) in pieces(&parents, &ones, Inherits::default().cuts(), rows.clone()) {
                prop_assert!(piece.start == at && !piece.is_empty() && piece.end <= rows.end);
                at = piece.end;
                match kind {
                    Kind::Any => {}
                    Kind::Chain => prop_assert!(piece.into_iter().all(|row| parents[row] as usize == row - 1)),
                    Kind::Siblings => {
                        prop_assert!((parents[piece.start] as usize) < piece.start);
                        prop_assert!(piece.clone().all(|row| parents[row] == parents[piece.start]));
                    }
                }
            }
            prop_assert_eq!(at, rows.end);
        }

        /// All rows of any stretch, whatever was there, and no other row.
        #[test]
        fn lanes_give_the_worlds_of_a_line(
            parts in prop::collection::vec((any::<bool>(), 1usize..100, 0u32..4), 1..60),
            start in any::<prop::sample::Index>(),
            len in any::<prop::sample::Index>(),
        ) {
            let (parents, ones) = forest(&parts);
            let (slots, locals, inherits) = (slots(&parents, &ones), locals(parents.len()), Inherits::default());
            let start = start.index(parents.len());
            let rows = start..start + len.index(parents.len() - start + 1);
            let mut line: Vec<u64> = Vec::new();
            for (&parent, &local) in parents.iter().zip(&locals) {
                line.push(line.get(parent as usize).map_or(local, |&parent| compose(parent, local)));
            }
            let mut worlds = line.clone();
            worlds[rows.start..].fill(7);
            let (parents, slots, ones, locals) = (&parents, &slots, &ones, &locals);
            let columns = Columns::<Hash> { parents, slots, ones, strays: &[], locals, cuts: inherits.cuts() };
            sweep_in_line(columns, &mut worlds, rows.clone());
            prop_assert_eq!(&worlds[..rows.end], &line[..rows.end]);
            prop_assert!(worlds[rows.end..].iter().all(|&world| world == 7));
        }
    }

    proptest! {
        /// All rows of all pieces once, each piece in its order, in lanes of one length.
        #[test]
        fn twos_are_of_one_length(lens in prop::collection::vec(1usize..40, 0..20)) {
            let mut twos = ByTwos::default();
            let mut swept: Vec<Vec<usize>> = vec![Vec::new(); lens.len()];
            let mut sweep = |rows: Range<usize>| rows.for_each(|row| swept[row / 100].push(row % 100));
            let mut alone = 0;
            for (at, len) in lens.iter().enumerate() {
                let [one, other] = twos.pair(100 * at..100 * at + len);
                prop_assert_eq!(one.len(), other.len());
                alone = len.abs_diff(alone);
                one.zip(other).for_each(|(one, other)| {
                    sweep(one..one + 1);
                    sweep(other..other + 1);
                });
            }
            let rest = twos.rest().unwrap_or_default();
            prop_assert_eq!(rest.len(), alone, "only what has no other beside it is left");
            sweep(rest);
            for (swept, len) in swept.iter().zip(lens) {
                prop_assert!(swept.iter().copied().eq(0..len));
            }
        }
    }

    /// What the loops are for is found: all of a long chain but its first block, all of a family.
    #[test]
    fn chains_and_families_are_found() {
        let count = |parts: &[(bool, usize, u32)], wanted: Kind| {
            let (parents, ones) = forest(parts);
            let inherits = Inherits::default();
            let pieces = pieces(&parents, &ones, inherits.cuts(), 0..parents.len());
            pieces.filter(|&(kind, _)| kind == wanted).map(|(_, piece)| piece.len()).sum::<usize>()
        };
        // The first block has the root, the last one the leaf.
        assert_eq!(count(&[(true, 2_500, 0)], Kind::Chain), 2_501 - BITS - 2_501 % BITS);
        // The second family is that of the last one of the first: row 500.
        assert_eq!(count(&[(false, 500, 0), (false, 500, 0)], Kind::Siblings), 1_001 - BITS - BITS);
    }

    /// Pieces are opened in the middle, but at no hole, not below a deep row, not where they are short and many, and
    /// below a stray only if they begin with it.
    #[test]
    fn long_pieces_are_swept_from_the_middle() {
        let opened = |parts: &[(bool, usize, u32)], hole: Option<usize>, stray: Option<u32>, rows: Range<usize>| {
            let (mut parents, ones) = forest(parts);
            let mut slots = slots(&parents, &ones);
            if let Some(row) = hole {
                (parents[row], slots[row]) = (NONE, NONE);
            }
            let (locals, inherits) = (locals(parents.len()), Inherits::default());
            let mut strays = vec![0; ones.len()];
            if let Some((index, bit)) = stray.map(bits::place) {
                strays[index] = bit;
            }
            let (parents, slots, ones, strays, locals) = (&parents, &slots, &ones, &strays, &locals);
            let columns = Columns::<Hash> { parents, slots, ones, strays, locals, cuts: inherits.cuts() };
            Window::all(&mut vec![0; parents.len()]).middle(columns, &rows)
        };
        let middle = |parts: &[_], hole, rows| opened(parts, hole, None, rows);
        // Families of five, each below the last one of another.
        let families = vec![(false, 5, 2); 20_000];
        assert_eq!(middle(&families[..200], None, 0..1000), Some(500));
        assert_eq!(middle(&families[..200], Some(500), 0..1000), Some(499));
        assert_eq!(middle(&families, None, 0..1000), None);
        assert_eq!(middle(&families, None, 0..50_000), Some(25_000));
        assert_eq!(middle(&families, None, 0..3_000), Some(1_500));
        let many = vec![(false, 5, 2); 30_000];
        assert_eq!(middle(&many, None, 0..5_000), None);
        assert_eq!(middle(&many, None, 0..10_000), Some(5_000));
        assert_eq!(middle(&[(true, 1000, 0)], None, 0..1000), None);
        let below_chain = |depth, leaves| middle(&[(true, depth, 0), (false, leaves, 0)], None, 0..1 + depth + leaves);
        assert_eq!(below_chain(100, 100), None);
        assert_eq!(below_chain(200, 10_000), None);
        assert_eq!(below_chain(100, 10_000), Some(5_050));
        let family = [(false, 3, 0), (false, 1000, 0)];
        assert_eq!(middle(&family, None, 0..1004), Some(502));
        assert_eq!(opened(&family, None, Some(3), 0..1004), None);
        assert_eq!(opened(&family, None, Some(3), 3..1004), Some(503));
    }
}
