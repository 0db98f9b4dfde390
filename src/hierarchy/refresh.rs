//! What is dirty is taken, piece by piece, and swept. The sole writer of world rows.

use super::bits::{self, BITS};
use super::caches::OUT_OF_CACHE;
use super::changes::Changes;
use super::dirty::Marks;
use super::inherit::{Cuts, Inherits, Poses};
use super::local::Locals;
use super::order::{Order, Permutation};
use super::pieces::{Piece, Pieces};
use super::stretch::{ByTwos, Columns, Share, WORTH_SHARING, is_lane, sweep_in_line};
use super::trunk::Trunk;
use crate::accumulate::Accumulate;
use alloc::vec::Vec;
use core::ops::Range;

/// So many rows are swept in the time that it takes to begin elsewhere.
const GAP: u32 = 32;

/// Rows per word of marks.
const BLOCK: u32 = BITS as u32;

/// The world pose of each row. Of a dirty row, and of rows below one, whatever was there last.
#[derive(Clone, Debug)]
pub(super) struct WorldRows<A: Accumulate> {
    rows: Vec<A::Row>,
    /// Strays that updates have come to since the last sort.
    strays: usize,
    /// Taken and not swept yet; none between updates.
    pieces: Pieces,
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

/// How many pieces are swept together where no order of theirs is to be found first: what rows that do not
/// inherit everything are computed from is elsewhere, and fetching it in between would keep the processor from
/// fetching ahead of the sweeps.
const PIECES: usize = 1024;

/// How many pieces are begun together: what they begin with is waited for at once.
const BEGUN: usize = 32;

impl<A: Accumulate> WorldRows<A> {
    pub(super) fn new() -> Self {
        Self { rows: Vec::new(), strays: 0, pieces: Pieces::new(), tops: Vec::new() }
    }

    pub(super) fn reserve(&mut self, additional: usize) {
        self.rows.reserve(additional);
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.rows.shrink_to_fit();
        (self.pieces, self.tops) = (Pieces::new(), Vec::new());
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
        self.sweep_rows(0..order.len(), share, columns(order, locals, inherits.cuts()));
    }

    /// Recomputes every dirty row and all below it.
    pub(super) fn refresh(&mut self, sources: &mut Sources<'_, A>) {
        self.pieces.begin(sources.order.len());
        let mut at = 0;
        while let Some(row) = sources.marks.next(at) {
            at = match sources.order.run(row) {
                Some(run) if run.end <= block_end(row) => self.take_short_runs(row, sources),
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

    /// Takes a dirty run, and those that follow right after it. Returns where that ended.
    fn take_runs(&mut self, run: Range<u32>, sources: &mut Sources<'_, A>) -> u32 {
        let rows = adjoining(run, sources);
        let end = rows.end;
        self.take(rows.clone(), sources);
        self.sweep_soon(Piece::Rows(rows), sources);
        end
    }

    /// Takes the dirty runs from `row` on that end in their block of 64 rows. Returns where that ended.
    fn take_short_runs(&mut self, row: u32, sources: &mut Sources<'_, A>) -> u32 {
        let bits = short_runs(row, sources);
        self.take_block(row, bits, sources);
        // In short gaps the processor has begun on the next rows already.
        let swept = if sources.order.len() < OUT_OF_CACHE { bits } else { bits::close_gaps(bits) };
        self.sweep_soon(Piece::Bits(row - row % BLOCK, swept), sources);
        last_row(row, bits) + 1
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
        let mut tops = core::mem::take(&mut self.tops);
        self.pieces.begin_group();
        tops.push(top);
        while let Some(at) = tops.pop() {
            self.take_own(at, sources);
            let strays = sources.order.strays_below(at);
            tops.extend(strays.filter(|&stray| !sources.changes.is_recorded(stray)));
            self.strays += 1;
        }
        self.tops = tops;
    }

    /// Takes the rows of a stretch that are the node's own. Strays between are swept with them where that is quicker
    /// than to leave them out: they come out as they were, or are below a dirty row that is yet to be swept.
    fn take_own(&mut self, row: u32, sources: &mut Sources<'_, A>) {
        let mut swept = row..row;
        for rows in sources.order.own(row) {
            self.take(rows.clone(), sources);
            if rows.start - swept.end > GAP || swept.len().max(rows.len()) >= WORTH_SHARING {
                self.pieces.push_rows(swept);
                swept = rows;
            } else {
                swept.end = rows.end;
            }
        }
        self.pieces.push_rows(swept);
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
        // What threads share has no strays in it.
        let may_join = |rows: Range<u32>| !sources.order.has_strays_within(rows);
        self.pieces.push(piece, may_join);
        // Threads are given all of them together.
        if self.pieces.len() >= PIECES && !sources.is_scattered && sources.share.is_none() {
            self.sweep_taken(sources);
        }
    }

    /// Sweeps all pieces that have been taken, parents first, after what is listed of them.
    #[inline(never)]
    fn sweep_taken(&mut self, sources: &mut Sources<'_, A>) {
        if sources.is_trunk_right {
            sources.trunk.hang(sources.locals.rows(), &mut self.rows);
        }
        let mut pieces = self.pieces.take();
        if !sources.is_scattered {
            self.share_out(&mut pieces, sources);
        }
        let columns = columns(sources.order, sources.locals, sources.cuts);
        let mut twos = ByTwos::default();
        for begun in pieces.chunks(BEGUN) {
            if begun.len() > 1 {
                for row in begun.iter().map(Piece::first) {
                    core::hint::black_box((*sources.locals.row(row), self.rows[row as usize]));
                }
            }
            for piece in begun {
                let lane = if sources.is_scattered { None } else { piece.rows() };
                match lane.filter(|rows| is_lane(columns, rows)) {
                    Some(rows) => self.sweep_lanes(twos.pair(rows), sources),
                    None => self.sweep(piece, sources),
                }
            }
        }
        if let Some(rest) = twos.rest() {
            self.sweep_rows(rest, None, columns);
        }
        self.pieces.reuse(pieces);
    }

    /// Has threads share what waits for nothing else, and takes it out of the pieces, if that pays: where nothing
    /// scattered is dirty that is all in which there are no strays.
    fn share_out(&mut self, pieces: &mut Vec<Piece>, sources: &Sources<'_, A>) {
        let Some(share) = sources.share else { return };
        // Asked before anything is listed, so that a small update takes no longer for it.
        if pieces.iter().filter_map(Piece::rows).map(|rows| rows.len()).sum::<usize>() < WORTH_SHARING {
            return;
        }
        let in_place = |piece: &Piece| {
            piece.rows().filter(|rows| !sources.order.has_strays_within(rows.start as u32..rows.end as u32))
        };
        let rows: Vec<_> = pieces.iter().filter_map(in_place).collect();
        if share(columns(sources.order, sources.locals, sources.cuts), &mut self.rows, &rows) {
            pieces.retain(|piece| in_place(piece).is_none());
        }
    }

    /// Sweeps rows of two pieces by turns, neither of which waits for the other: what is dirty has all that is below it
    /// in its piece, and what is clean comes out as it was.
    fn sweep_lanes(&mut self, lanes: [Range<usize>; 2], sources: &Sources<'_, A>) {
        let columns = columns(sources.order, sources.locals, sources.cuts);
        A::sweep(columns.parents, columns.locals, &mut self.rows, lanes, columns.cuts.words());
    }

    fn sweep_rows(&mut self, rows: Range<usize>, share: Option<Share<A>>, columns: Columns<'_, A>) {
        if !share.is_some_and(|share| share(columns, &mut self.rows, core::slice::from_ref(&rows))) {
            sweep_in_line(columns, &mut self.rows, rows);
        }
    }

    #[inline(always)]
    fn sweep(&mut self, piece: &Piece, sources: &Sources<'_, A>) {
        let columns = columns(sources.order, sources.locals, sources.cuts);
        match piece {
            Piece::Rows(rows) => {
                // What a piece begins with may be a stray, of a node that is not in it.
                let is_left = |_: &Share<A>| {
                    rows.len() >= WORTH_SHARING
                        && (sources.is_scattered || columns.is_stray(rows.start as usize))
                        && !rows.contains(&columns.parents[rows.start as usize])
                        && !sources.order.has_strays_within(rows.start + 1..rows.end)
                };
                let share = sources.share.filter(is_left);
                self.sweep_rows(rows.start as usize..rows.end as usize, share, columns);
            }
            Piece::Bits(start, bits) => {
                let start = *start as usize;
                let bits = bits & !sources.cuts.bits(start);
                A::sweep_bits(columns.parents, columns.locals, &mut self.rows, start, bits);
            }
        }
    }
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
