//! What is dirty is taken, piece by piece, and swept. The sole writer of world rows.

use super::bits::{self, BITS};
use super::caches::{OUT_OF_CACHE, OUT_OF_CACHES};
use super::changes::Changes;
use super::dirty::Marks;
use super::inherit::{Cuts, Inherits, Poses};
use super::local::Locals;
use super::order::{Order, Permutation};
use super::stretch::{Columns, Share, is_lane, shorter_first, sweep_in_line};
use super::trunk::Trunk;
use crate::accumulate::Accumulate;
use alloc::vec::Vec;
use core::ops::Range;

/// So many rows are swept in the time that it takes to begin elsewhere.
const GAP: u32 = 32;

/// In gaps no longer than this the processor has begun on the next rows already.
const SHORT_GAP: u32 = 4;

/// More rows than this, one after the other in place, are a piece of their own: threads may share it.
const LONG: usize = 4096;

/// Rows per word of marks.
const BLOCK: u32 = BITS as u32;

/// With this many of a block's rows to be computed, computing all rows between too is faster where rows come
/// from memory: the processor fetches ahead of a linear sweep, but not of one with gaps. Measured: a row alone
/// costs as much as three in line among 50 000 nodes, and as much as six or seven among 260 000.
const fn dense(rows: usize) -> u32 {
    if rows < OUT_OF_CACHE {
        u32::MAX
    } else if rows < OUT_OF_CACHES {
        32
    } else {
        12
    }
}

/// The world pose of each row. Of a dirty row, and of rows below one, whatever was there last.
#[derive(Clone, Debug)]
pub(super) struct WorldRows<A: Accumulate> {
    rows: Vec<A::Row>,
    /// Strays that updates have come to since the last sort.
    strays: usize,
    taken: Taken,
}

/// What an update has taken and not swept yet; empty between updates.
#[derive(Clone, Debug, Default)]
struct Taken {
    pieces: Vec<Piece>,
    /// Pieces from these on may hold what is above some of those before. To be swept from the last group to the
    /// first, each in order.
    groups: Vec<usize>,
    /// Nodes to go on with.
    tops: Vec<u32>,
}

fn columns<'a, A: Accumulate>(order: &'a Order, locals: &'a Locals<A>, cuts: Cuts<'a>) -> Columns<'a, A> {
    let (parents, slots, ones) = (order.parents(), order.slots(), order.ones());
    Columns { parents, slots, ones, strays: order.strays(), locals: locals.rows(), cuts }
}

/// What an update reads, the marks that it clears, and where it notes what it computes.
pub(super) struct Sources<'a, A: Accumulate> {
    pub(super) share: Option<Share<A>>,
    pub(super) order: &'a Order,
    pub(super) locals: &'a Locals<A>,
    pub(super) marks: &'a mut Marks,
    pub(super) changes: &'a mut Changes,
    pub(super) cuts: Cuts<'a>,
    /// What is above some pieces may be found after them.
    pub(super) is_scattered: bool,
    pub(super) trunk: &'a mut Trunk<A>,
    /// Poses are taken one by one where it is not.
    pub(super) is_trunk_right: bool,
    pub(super) poses: Poses<'a, A>,
    pub(super) inherits: &'a Inherits,
}

/// Rows that have been taken, their marks cleared, to be swept.
#[derive(Clone, Debug)]
enum Piece {
    /// All of them in place.
    Stretch(Range<u32>),
    /// Most of which are to be computed.
    Blocks(Range<u32>),
    /// Of the 64 rows from there on those whose bit is set.
    Rows(u32, u64),
}

impl Piece {
    fn first(&self) -> u32 {
        match self {
            Self::Stretch(rows) | Self::Blocks(rows) => rows.start,
            Self::Rows(start, rows) => start + rows.trailing_zeros(),
        }
    }

    /// All rows from the first to the last, if those between are to be computed too.
    fn span(&self) -> Option<Range<usize>> {
        match self {
            Self::Stretch(rows) | Self::Blocks(rows) => Some(rows.start as usize..rows.end as usize),
            Self::Rows(..) => None,
        }
    }
}

/// How many pieces are swept together where no order of theirs is to be found first: what rows that do not
/// inherit everything are computed from is elsewhere, and fetching it in between would keep the processor from
/// fetching ahead of the sweeps.
const PIECES: usize = 1024;

/// How many pieces are begun together: what they begin with is waited for at once.
const BEGUN: usize = 32;

impl<A: Accumulate> WorldRows<A> {
    pub(super) fn new() -> Self {
        Self { rows: Vec::new(), strays: 0, taken: Taken::default() }
    }

    pub(super) fn reserve(&mut self, additional: usize) {
        self.rows.reserve(additional);
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.rows.shrink_to_fit();
        self.taken = Taken::default();
    }

    /// Makes room for a new last row, which must be marked.
    pub(super) fn push(&mut self) {
        self.rows.push(A::HOLE);
    }

    pub(super) fn vacate(&mut self, row: u32) {
        self.rows[row as usize] = A::HOLE;
    }

    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.strays = 0;
    }

    /// Moves the local rows to where a sort has put them, and leaves all worlds to be computed anew: cheaper
    /// than to move them too, and with the same bits. What the worlds lay in takes the local rows and the
    /// other way round, so that a sort needs no memory of that size, which would have to be mapped first
    /// and costs more than all the rest.
    pub(super) fn permute(&mut self, order: &Permutation, locals: &mut Locals<A>) {
        locals.permute(order, &mut self.rows);
        self.rows.truncate(order.len());
        self.strays = 0;
    }

    /// Moves the worlds to where a sort has put them.
    pub(super) fn carry(&mut self, order: &Permutation) {
        order.apply(&mut self.rows);
        self.strays = 0;
    }

    pub(super) fn rows(&self) -> &[A::Row] {
        &self.rows
    }

    /// Strays that updates have come to since the last sort.
    pub(super) fn strays(&self) -> usize {
        self.strays
    }

    /// Computes all, after a sort.
    pub(super) fn sweep_all(
        &mut self,
        share: Option<Share<A>>,
        (order, locals, inherits): (&Order, &Locals<A>, &Inherits),
        trunk: &mut Trunk<A>,
    ) {
        if !inherits.is_empty() {
            trunk.make(order, locals, inherits);
            trunk.list(0..order.len() as u32);
            trunk.hang(locals.rows(), &mut self.rows);
        }
        self.sweep_stretch(0..order.len(), share, columns(order, locals, inherits.cuts()));
    }

    /// Recomputes every dirty row and all below it.
    pub(super) fn refresh(&mut self, sources: &mut Sources<'_, A>) {
        let mut at = 0;
        while let Some(row) = sources.marks.next(at) {
            at = match sources.order.run(row) {
                Some(run) if run.end <= block_end(row) => self.take_blocks(row, sources),
                Some(run) => self.take_runs(run, sources),
                None => {
                    self.gather(row, sources);
                    row + 1
                }
            };
        }
        self.sweep_taken(sources);
    }

    /// Clears the marks of rows that are to be computed, and notes that they change.
    #[inline(always)]
    fn take(&mut self, rows: Range<u32>, sources: &mut Sources<'_, A>) {
        if !sources.cuts.is_empty() {
            self.hang(rows.clone(), sources);
        }
        sources.marks.unset_range(rows.clone());
        sources.changes.record(rows);
    }

    /// Takes a dirty run, and those that follow after a few clean rows at most, such as the roots of characters that
    /// lie side by side: what is between comes out as it was. Returns where that ended.
    fn take_runs(&mut self, run: Range<u32>, sources: &mut Sources<'_, A>) -> u32 {
        let (start, mut end, mut next) = (run.start, run.end, Some(run));
        let mut has_gaps = false;
        while let Some(run) = next {
            let stretch = adjoining(run, sources);
            self.take(stretch.clone(), sources);
            has_gaps |= stretch.start > end;
            end = stretch.end;
            let row = sources.marks.next(end).filter(|&row| row - end <= SHORT_GAP);
            next = row.and_then(|row| sources.order.run(row).filter(|run| run.end > block_end(row)));
        }
        // Where nothing is a stray, all between is in place too.
        let is_in_place = !has_gaps || !sources.order.has_strays();
        self.sweep_soon(if is_in_place { Piece::Stretch(start..end) } else { Piece::Blocks(start..end) }, sources);
        end
    }

    /// Takes the dirty runs from `row` on that end in their block of 64 rows: those of one block, or of as
    /// many one after the other as there is much to compute in. Returns where it ended.
    fn take_blocks(&mut self, row: u32, sources: &mut Sources<'_, A>) -> u32 {
        let dense = dense(sources.order.len());
        let is_dense = |rows: u64| rows.count_ones() >= dense;
        // One with less among them costs less than to begin anew behind it.
        let goes_on = |rows: u64| rows.count_ones() >= dense / 3;
        let (mut block, mut rows) = (row, short_runs(row, sources));
        // The rows between come out as they were, or are below a dirty row that is yet to be swept.
        if !is_dense(rows) {
            self.take_block(block, rows, sources);
            // In short gaps the processor has begun on the next rows already.
            let rows = if sources.order.len() < OUT_OF_CACHE { rows } else { bits::close_gaps(rows) };
            self.sweep_soon(Piece::Rows(row - row % BLOCK, rows), sources);
            return last_row(block, rows) + 1;
        }
        let mut end = row;
        while goes_on(rows) {
            self.take_block(block, rows, sources);
            end = last_row(block, rows) + 1;
            let next = sources.marks.next(end).filter(|&next| block_end(next) == block_end(block) + BLOCK);
            (block, rows) = next.map_or((block, 0), |next| (next, short_runs(next, sources)));
        }
        self.sweep_soon(Piece::Blocks(row..end), sources);
        end
    }

    /// Takes the rows of a block whose bits are set, that of `row`.
    #[inline(always)]
    fn take_block(&mut self, row: u32, rows: u64, sources: &mut Sources<'_, A>) {
        let start = row - row % BLOCK;
        for bit in bits::ones(rows & sources.cuts.bits(start as usize)) {
            let row = start + bit as u32;
            self.hang(row..row + 1, sources);
        }
        sources.marks.unset_bits(row, rows);
        sources.changes.record_bits(row, rows);
    }

    /// Takes what is left of a scattered node's stretch, then that of each stray that hangs in there, and so on.
    ///
    /// What was taken before and turns out to be below is swept after this, and not taken again.
    fn gather(&mut self, top: u32, sources: &mut Sources<'_, A>) {
        let mut tops = core::mem::take(&mut self.taken.tops);
        self.taken.groups.push(self.taken.pieces.len());
        tops.push(top);
        while let Some(at) = tops.pop() {
            self.take_own(at, sources);
            let strays = sources.order.strays_below(at);
            tops.extend(strays.filter(|&stray| !sources.changes.is_recorded(stray)));
            self.strays += 1;
        }
        self.taken.tops = tops;
    }

    /// Takes the rows of a stretch that are the node's own. Strays between are swept with them where that is quicker
    /// than to leave them out: they come out as they were, or are below a dirty row that is yet to be swept.
    fn take_own(&mut self, row: u32, sources: &mut Sources<'_, A>) {
        let (mut swept, mut has_gaps) = (row..row, false);
        for rows in sources.order.own(row) {
            self.take(rows.clone(), sources);
            let gap = rows.start - swept.end;
            if gap > GAP || swept.len().max(rows.len()) > LONG {
                self.take_piece(swept, has_gaps);
                (swept, has_gaps) = (rows, false);
            } else {
                has_gaps |= gap != 0;
                swept.end = rows.end;
            }
        }
        self.take_piece(swept, has_gaps);
    }

    fn take_piece(&mut self, rows: Range<u32>, has_gaps: bool) {
        if !rows.is_empty() {
            self.taken.pieces.push(if has_gaps { Piece::Blocks(rows) } else { Piece::Stretch(rows) });
        }
    }

    /// Computes the worlds of rows that do not inherit everything, or lists them for when pieces are swept.
    /// They follow from local values alone, and can come before the rows above them.
    #[inline(never)]
    fn hang(&mut self, rows: Range<u32>, sources: &mut Sources<'_, A>) {
        if sources.is_trunk_right {
            sources.trunk.list(rows);
            return;
        }
        for row in sources.cuts.within(rows.start as usize..rows.end as usize) {
            self.rows[row] = sources.poses.hung(row as u32);
            if sources.trunk.is_missed(sources.poses.steps(), sources.order, sources.inherits) {
                sources.trunk.make(sources.order, sources.locals, sources.inherits);
                sources.trunk.list(row as u32 + 1..rows.end);
                sources.is_trunk_right = true;
                break;
            }
        }
    }

    /// Leaves a piece to be swept, with others.
    #[inline(always)]
    fn sweep_soon(&mut self, piece: Piece, sources: &mut Sources<'_, A>) {
        self.taken.pieces.push(piece);
        // Threads are given all of them together.
        if self.taken.pieces.len() >= PIECES && !sources.is_scattered && sources.share.is_none() {
            self.sweep_taken(sources);
        }
    }

    /// Sweeps all pieces that have been taken, parents first, after what is listed of them.
    #[inline(never)]
    fn sweep_taken(&mut self, sources: &mut Sources<'_, A>) {
        if sources.is_trunk_right {
            sources.trunk.hang(sources.locals.rows(), &mut self.rows);
        }
        let mut taken = core::mem::take(&mut self.taken);
        if !taken.groups.is_empty() {
            let mut end = taken.pieces.len();
            for &start in taken.groups.iter().rev() {
                taken.pieces[start..end].reverse();
                end = start;
            }
            taken.pieces[..end].reverse();
            taken.pieces.reverse();
        }
        // Where anything is a stray, what is above a piece may be in any other: then each is shared for itself.
        let mut share = sources.share;
        if let Some(together) = share.take_if(|_| !sources.order.has_strays()) {
            let spans: Vec<_> = taken.pieces.iter().filter_map(Piece::span).collect();
            if together(columns(sources.order, sources.locals, sources.cuts), &mut self.rows, &spans) {
                taken.pieces.retain(|piece| piece.span().is_none());
            }
        }
        for pieces in taken.pieces.chunks(BEGUN) {
            if pieces.len() > 1 {
                for row in pieces.iter().map(Piece::first) {
                    core::hint::black_box((*sources.locals.row(row), self.rows[row as usize]));
                }
            }
            let mut pieces = pieces.iter().peekable();
            while let Some(piece) = pieces.next() {
                let other = pieces.next_if(|other| may_be_lane(piece, sources) && may_be_lane(other, sources));
                match other.and_then(|other| Some([piece.span()?, other.span()?])) {
                    Some(lanes) => self.sweep_lanes(lanes, sources),
                    None => self.sweep(piece, share, sources),
                }
            }
        }
        taken.pieces.clear();
        taken.groups.clear();
        self.taken = taken;
    }

    /// Sweeps two pieces by turns, neither of which waits for the other: what is dirty has all that is below it in its
    /// piece, and what is clean comes out as it was.
    fn sweep_lanes(&mut self, lanes: [Range<usize>; 2], sources: &Sources<'_, A>) {
        let columns = columns(sources.order, sources.locals, sources.cuts);
        A::sweep(columns.parents, columns.locals, &mut self.rows, shorter_first(lanes), columns.cuts.words());
    }

    fn sweep_stretch(&mut self, rows: Range<usize>, share: Option<Share<A>>, columns: Columns<'_, A>) {
        if !share.is_some_and(|share| share(columns, &mut self.rows, core::slice::from_ref(&rows))) {
            sweep_in_line(columns, &mut self.rows, rows);
        }
    }

    #[inline(always)]
    fn sweep(&mut self, piece: &Piece, share: Option<Share<A>>, sources: &Sources<'_, A>) {
        let columns = columns(sources.order, sources.locals, sources.cuts);
        match piece {
            Piece::Stretch(rows) => self.sweep_stretch(rows.start as usize..rows.end as usize, share, columns),
            Piece::Blocks(rows) => sweep_in_line(columns, &mut self.rows, rows.start as usize..rows.end as usize),
            Piece::Rows(start, rows) => {
                let start = *start as usize;
                let rows = rows & !sources.cuts.bits(start);
                A::sweep_bits(columns.parents, columns.locals, &mut self.rows, start, rows);
            }
        }
    }
}

/// Whether a piece may be swept with another one by turns.
fn may_be_lane<A: Accumulate>(piece: &Piece, sources: &Sources<'_, A>) -> bool {
    let columns = columns(sources.order, sources.locals, sources.cuts);
    !sources.is_scattered && piece.span().is_some_and(|rows| is_lane(columns, &rows))
}

/// The first row of the next block.
fn block_end(row: u32) -> u32 {
    row - row % BLOCK + BLOCK
}

/// The last row of the block of `row` whose bit is set.
fn last_row(row: u32, rows: u64) -> u32 {
    block_end(row) - 1 - rows.leading_zeros()
}

/// The rows of the dirty runs in the block of `row`, from there on and up to the first that is not a run
/// or leaves the block, as bits: leaves here and there are swept by the block instead of one by one. None if
/// `row` is no such run.
fn short_runs<A: Accumulate>(row: u32, sources: &Sources<'_, A>) -> u64 {
    let start = row - row % BLOCK;
    let dirty = sources.marks.bits(row) & u64::MAX << (row % BLOCK);
    let ones = sources.order.ones()[row as usize / BITS];
    let (mut rows, mut longer) = (dirty & ones, dirty & !ones);
    while longer != 0 {
        let at = longer.trailing_zeros();
        match sources.order.run(start + at) {
            Some(run) if run.end <= start + BLOCK => {
                let run = u64::MAX >> (BLOCK - (run.end - run.start)) << at;
                rows |= run;
                longer &= !run;
            }
            _ => return rows & !(u64::MAX << at),
        }
    }
    rows
}

/// A dirty run with the dirty runs that follow right after it: one sweep instead of many.
fn adjoining<A: Accumulate>(run: Range<u32>, sources: &Sources<'_, A>) -> Range<u32> {
    let mut end = run.end;
    while (end as usize) < sources.order.len() && sources.marks.get(end) {
        match sources.order.run(end) {
            Some(next) => end = next.end,
            None => break,
        }
    }
    run.start..end
}
