//! An update on all threads of rayon's pool.

extern crate std;

use crate::accumulate::Accumulate;
use crate::hierarchy::{Columns, HierarchyOf, Window, Worlds, sweep_in_line};
use crate::topology::NONE;
use alloc::vec::Vec;
use core::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Fewer rows than this are swept before another thread has woken up.
const WORTH_SPLITTING: usize = 32 * 1024;

/// The smallest piece worth handing over: some ten microseconds of work.
const SMALLEST_PIECE: usize = 2 * 1024;

/// At least this many rows are swept by the piece for each row, or piece, that is dealt with one by one.
const ROWS_PER_STEP: usize = 64;

/// Pieces per thread, so that a thread that comes late finds something left.
const PIECES: usize = 4;

impl<A: Accumulate> HierarchyOf<A> {
    /// As [`update`](Self::update), on all threads of the current rayon pool, with the same bits.
    ///
    /// Decides by itself whether that pays: what is small, scattered, or a chain is done on this thread. It cannot tell
    /// whether the pool sleeps: below some 150 000 rows, to wake it may cost a little more than it helps.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::Vec3};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::from_position(Vec3::X))?;
    /// let parents: Vec<_> = (0..100_000).map(|n: usize| n.checked_sub(1).map(|n| n / 2)).collect();
    /// let ids = h.extend(root, &parents, &vec![Transform::from_position(Vec3::Y); 100_000])?;
    /// let mut by_one = h.clone();
    /// assert_eq!(h.update_parallel().rows(), by_one.update().rows());
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "rayon")))]
    pub fn update_parallel(&mut self) -> Worlds<'_, A> {
        self.update_by(sweep_stretch::<A>)
    }
}

/// What is computed on this thread, first and in order, and what is handed over.
#[derive(Default)]
struct Plan {
    /// Rows whose run is larger than a piece.
    large: Vec<u32>,
    /// Everything between those, cut where a run ends that is not in a larger one of a piece's size. So a
    /// piece needs nothing but itself, the large rows, and what is outside the stretch.
    pieces: Vec<Range<usize>>,
}

/// A row `largest` rows on has every large row on the way to it above itself: they reach that far. So
/// climbing from there finds them, and where the run begins that must not be cut, without a look at the
/// rows between. `None` if that takes more than so many steps.
fn plan<A: Accumulate>(columns: Columns<'_, A>, rows: Range<usize>, largest: usize, steps: usize) -> Option<Plan> {
    let mut plan = Plan::default();
    let (mut at, mut climbed) = (rows.start, 0);
    while rows.end - at > largest {
        // A hole does not know in whose run it lies.
        let Some(goal) = (at + largest..rows.end).find(|&row| columns.slots[row] != NONE) else { break };
        let (known, mut cut, mut row) = (plan.large.len(), goal, goal);
        while rows.contains(&row) && row >= at {
            if columns.spans[row] as usize > largest {
                plan.large.push(row as u32);
            } else {
                cut = row;
            }
            row = columns.parents[row] as usize;
            climbed += 1;
            if climbed > steps {
                return None;
            }
        }
        plan.large[known..].reverse();
        // The last row climbed from belongs to the next window, large or not.
        if plan.large.last() == Some(&(goal as u32)) {
            plan.large.pop();
        }
        for &row in &plan.large[known..] {
            plan.pieces.push(at..row as usize);
            at = row as usize + 1;
        }
        plan.pieces.push(at..cut);
        at = cut;
    }
    plan.pieces.push(at..rows.end);
    plan.pieces.retain(|piece| !piece.is_empty());
    Some(plan)
}

fn sweep_stretch<A: Accumulate>(columns: Columns<'_, A>, worlds: &mut [A::Row], rows: Range<usize>) {
    let threads = rayon::current_num_threads();
    let largest = (rows.len() / (threads * PIECES)).max(SMALLEST_PIECE);
    if rows.len() < WORTH_SPLITTING || threads == 1 {
        return sweep_in_line(columns, worlds, rows);
    }
    let Some(Plan { large, pieces }) = plan(columns, rows.clone(), largest, rows.len() / ROWS_PER_STEP) else {
        // A chain, or nearly one: there is little that does not wait for the row before it.
        return sweep_in_line(columns, worlds, rows);
    };
    // The parents of all runs that begin a piece, or in one: the large rows, and what is outside.
    let mut above = Vec::new();
    for &row in &large {
        sweep_in_line(columns, worlds, row as usize..row as usize + 1);
        above.push((row, worlds[row as usize]));
    }
    let mut at = rows.start;
    while at < rows.end {
        let parent = columns.parents[at];
        if let (Some(world), true) = (worlds.get(parent as usize), above.last().is_none_or(|last| last.0 != parent)) {
            above.push((parent, *world));
        }
        at += columns.spans[at] as usize;
    }
    above.sort_unstable_by_key(|&(row, _)| row);
    above.dedup_by_key(|&mut (row, _)| row);
    let (mut rest, mut start) = (worlds, 0);
    let pieces = pieces.into_iter().map(|piece| {
        let (worlds, after) = core::mem::take(&mut rest)[piece.start - start..].split_at_mut(piece.len());
        (rest, start) = (after, piece.end);
        (piece, worlds)
    });
    // This thread works too, so that one other has to wake up at most, and none in time if it is slow.
    let queue = Mutex::new(pieces.collect::<Vec<_>>().into_iter());
    let work = || {
        loop {
            // The lock is held for taking a piece only, not while it is swept.
            let Some((piece, worlds)) = queue.lock().unwrap_or_else(PoisonError::into_inner).next() else { break };
            let mut window = Window { start: piece.start, worlds, above: &above };
            window.sweep(columns, piece, |Window { start, worlds, above }, lanes| {
                let cuts = columns.cuts.words();
                A::sweep_piece(columns.parents, columns.locals, worlds, *start as u32, lanes, cuts, above);
            });
        }
    };
    rayon::in_place_scope(|scope| {
        (1..threads).for_each(|_| scope.spawn(|_| work()));
        work();
    });
}
