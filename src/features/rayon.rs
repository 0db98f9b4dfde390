//! An update on all threads of rayon's pool.

extern crate std;

use crate::accumulate::Accumulate;
use crate::hierarchy::{Columns, HierarchyOf, MOST_ANCESTORS, Window, Worlds};
use alloc::vec::Vec;
use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Of so many rows a thread that has to be woken sweeps enough to make up for waking it, which takes this thread some
/// 30 microseconds and the other one twice that. Small in tests, so that what they draw is split.
const WORTH_SPLITTING: usize = if cfg!(test) { 24 } else { 64 * 1024 };

/// The smallest part worth handing over: some ten microseconds of work.
const SMALLEST_PART: usize = if cfg!(test) { 4 } else { 2 * 1024 };

/// Some tens of microseconds.
const SPINS: usize = 1024;

impl<A: Accumulate> HierarchyOf<A> {
    /// As [`update`](Self::update), on all threads of the current rayon pool, with the same bits.
    ///
    /// Decides by itself whether that pays: what is small, scattered, or a chain is done on this thread. It pays most
    /// while the pool is awake, as right after something else was done on it.
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
        self.update_by(Some(share::<A>))
    }
}

/// Where to cut so many rows that this thread sweeps from the beginning and the others from the end: long parts first,
/// and shorter ones the nearer they come to where they will meet. So none waits long for another's last one, however
/// late it began, and in every update a thread finds most of what it wrote in the one before.
fn cuts(rows: usize, threads: usize) -> Vec<usize> {
    let meet = rows / threads;
    let mut cuts = Vec::new();
    let mut at = 0;
    while meet - at > SMALLEST_PART {
        at += ((meet - at) / 2).max(SMALLEST_PART);
        cuts.push(at);
    }
    let mine = cuts.len();
    at = rows;
    while at - meet > SMALLEST_PART {
        at -= ((at - meet) / (2 * (threads - 1))).max(SMALLEST_PART);
        cuts.push(at);
    }
    cuts[mine..].reverse();
    cuts
}

/// Shares pieces among threads, in parts from one row up to another.
fn share<A: Accumulate>(columns: Columns<'_, A>, worlds: &mut [A::Row], pieces: &[Range<usize>]) -> bool {
    let (threads, rows) = (rayon::current_num_threads(), pieces.iter().map(Range::len).sum());
    let (Some(first), Some(last), 2..) = (pieces.first(), pieces.last(), threads) else { return false };
    if rows < WORTH_SPLITTING {
        return false;
    }
    let all = first.start..last.end;
    let Plan { parts, above } = plan(columns, &mut Window::all(worlds), pieces, cuts(rows, threads));
    if parts.len() == 1 {
        return false;
    }
    let (before, rest) = worlds.split_at_mut(all.start);
    let (mut rest, after) = rest.split_at_mut(all.len());
    let (before, after) = (&*before, &*after);
    let outside = |row: u32| {
        let after = || after.get((row as usize).checked_sub(all.end)?);
        let above = || above.binary_search_by_key(&row, |&(row, _)| row).ok().map(|at| &above[at].1);
        before.get(row as usize).or_else(after).or_else(above)
    };
    let starts = || parts.iter().map(|pieces| pieces[0].start);
    let parts = starts().zip(starts().skip(1).chain([all.end])).zip(&parts).map(|((start, end), pieces)| {
        let (worlds, after) = core::mem::take(&mut rest).split_at_mut(end - start);
        rest = after;
        (Window { start, worlds, outside: &outside }, pieces)
    });
    let parts: Vec<_> = parts.collect();
    let left = AtomicUsize::new(parts.len());
    let queue = Mutex::new(parts.into_iter());
    // The lock is held for taking a part only, not while it is swept.
    let first = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let last = || queue.lock().unwrap_or_else(PoisonError::into_inner).next_back();
    let sweep = |(mut window, pieces): (Window<'_, A>, &Vec<Range<usize>>)| {
        window.sweep_all(columns, pieces, |Window { start, worlds, outside }, lanes| {
            A::sweep_piece(columns.parents, columns.locals, worlds, *start, lanes, columns.cuts.words(), outside);
        });
        left.fetch_sub(1, Ordering::Release);
    };
    // This thread works too, so that one other has to wake up at most, and none in time if it is slow.
    rayon::in_place_scope(|scope| {
        (1..threads).for_each(|_| scope.spawn(|_| core::iter::from_fn(last).for_each(sweep)));
        core::iter::from_fn(first).for_each(sweep);
        // The last parts are short: to go to sleep over them and be woken would take longer.
        let is_done = (0..SPINS).any(|_| {
            core::hint::spin_loop();
            left.load(Ordering::Acquire) == 0
        });
        // Their threads are about to say so.
        (0..if is_done { SPINS / 16 } else { 0 }).for_each(|_| core::hint::spin_loop());
    });
    true
}

/// What threads take.
struct Plan<A: Accumulate> {
    /// None of them empty.
    parts: Vec<Vec<Range<usize>>>,
    /// The worlds of what is above the first rows of parts, in order of rows.
    above: Vec<(u32, A::Row)>,
}

/// Parts that begin near where cuts are wanted.
///
/// A part may begin at any row that does not wait for too many: all it needs of the parts before is what is above its
/// first row, because a stretch reaches as far as what is below it. Where that is in a piece too, it is computed here,
/// and once more in its turn; where it is in none, it rests. In a chain, or nearly one, there is little that does not
/// wait for the row before it.
fn plan<A: Accumulate>(
    columns: Columns<'_, A>,
    window: &mut Window<'_, A>,
    pieces: &[Range<usize>],
    cuts: Vec<usize>,
) -> Plan<A> {
    let start = pieces.first().map_or(0, |piece| piece.start);
    let parent = |&row: &u32| columns.parents.get(row as usize).copied();
    let (mut above, mut parts, mut part) = (Vec::new(), Vec::new(), Vec::new());
    let (mut cuts, mut passed) = (cuts.into_iter().peekable(), 0);
    for piece in pieces {
        let mut rest = piece.clone();
        while let Some(cut) = cuts.next_if(|&cut| cut < passed + piece.len()) {
            let wanted = if piece.len() < SMALLEST_PART { piece.start } else { piece.start + cut - passed };
            let Some(at) = window.cut(columns, piece, wanted) else { continue };
            let path = core::iter::successors(parent(&(at as u32)), parent);
            let path: Vec<_> =
                path.take_while(|&row| (start..at).contains(&(row as usize))).take(MOST_ANCESTORS).collect();
            if path.len() == MOST_ANCESTORS {
                continue;
            }
            if rest.start < at {
                part.push(rest.start..at);
                rest.start = at;
            }
            if !part.is_empty() {
                parts.push(core::mem::take(&mut part));
                above.extend(path.into_iter().map(|row| (row, window.worlds[row as usize])));
            }
        }
        part.push(rest);
        passed += piece.len();
    }
    parts.push(part);
    above.sort_unstable_by_key(|&(row, _)| row);
    above.dedup_by_key(|&mut (row, _)| row);
    Plan { parts, above }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cuts_leave_no_part_empty_and_none_long_where_threads_meet(
            rows in WORTH_SPLITTING..100_000,
            threads in 2usize..20,
        ) {
            let mut ends = cuts(rows, threads);
            ends.push(rows);
            let mut at = 0;
            let meet = rows / threads;
            for end in ends {
                prop_assert!(at < end && end <= rows);
                let (near, others) = if end <= meet { (meet - at, 1) } else { (end - meet.min(end), threads - 1) };
                prop_assert!(end - at <= near.div_ceil(2 * others).max(2 * SMALLEST_PART), "{at}..{end} of {rows}");
                at = end;
            }
            prop_assert_eq!(at, rows);
        }
    }
}
