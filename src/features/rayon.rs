//! An update on all threads of rayon's pool.

extern crate std;

use crate::accumulate::Accumulate;
use crate::hierarchy::{Columns, HierarchyOf, Window, Worlds, sweep_in_line};
use alloc::vec::Vec;
use core::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Of so many rows a thread that has to be woken sweeps enough to make up for waking it, which takes this thread some
/// 30 microseconds and the other one twice that. Small in tests, so that what they draw is split.
const WORTH_SPLITTING: usize = if cfg!(test) { 24 } else { 64 * 1024 };

/// The smallest piece worth handing over: some ten microseconds of work.
const SMALLEST_PIECE: usize = if cfg!(test) { 4 } else { 2 * 1024 };

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
        self.update_by(sweep_stretch::<A>)
    }
}

/// Where to cut rows that this thread sweeps from the beginning and the others from the end: long pieces first, and
/// shorter ones the nearer they come to where they will meet. So none waits long for another's last one, however
/// late it began, and in every update a thread finds most of what it wrote in the one before.
fn cuts(rows: Range<usize>, threads: usize) -> Vec<usize> {
    let meet = rows.start + rows.len() / threads;
    let mut cuts = Vec::new();
    let mut at = rows.start;
    while meet - at > SMALLEST_PIECE {
        at += ((meet - at) / 2).max(SMALLEST_PIECE);
        cuts.push(at);
    }
    let mine = cuts.len();
    at = rows.end;
    while at - meet > SMALLEST_PIECE {
        at -= ((at - meet) / (2 * (threads - 1))).max(SMALLEST_PIECE);
        cuts.push(at);
    }
    cuts[mine..].reverse();
    cuts
}

/// A piece may begin at any row that does not wait for too many: all it needs of the pieces before is what is above its
/// first row, because a stretch reaches as far as what is below it. That is computed here, and once more in its turn.
fn sweep_stretch<A: Accumulate>(columns: Columns<'_, A>, worlds: &mut [A::Row], rows: Range<usize>) {
    let threads = rayon::current_num_threads();
    if rows.len() < WORTH_SPLITTING || threads == 1 {
        return sweep_in_line(columns, worlds, rows);
    }
    let mut window = Window::<A>::all(worlds);
    let (mut starts, mut above) = (Vec::from([rows.start]), Vec::new());
    for at in cuts(rows.clone(), threads) {
        // In a chain, or nearly one, there is little that does not wait for the row before it.
        let Some(start) = window.cut(columns, &rows, at).filter(|start| Some(start) > starts.last()) else { continue };
        starts.push(start);
        let mut row = columns.parents[start];
        while rows.contains(&(row as usize)) {
            above.push((row, window.worlds[row as usize]));
            row = columns.parents[row as usize];
        }
    }
    if starts.len() == 1 {
        return sweep_in_line(columns, worlds, rows);
    }
    above.sort_unstable_by_key(|&(row, _)| row);
    above.dedup_by_key(|&mut (row, _)| row);
    let (before, rest) = worlds.split_at_mut(rows.start);
    let (mut rest, after) = rest.split_at_mut(rows.len());
    let (before, after) = (&*before, &*after);
    let outside = |row: u32| {
        let after = || after.get((row as usize).checked_sub(rows.end)?);
        let above = || above.binary_search_by_key(&row, |&(row, _)| row).ok().map(|at| &above[at].1);
        before.get(row as usize).or_else(after).or_else(above)
    };
    let ends = starts[1..].iter().copied().chain([rows.end]);
    let pieces = starts.iter().zip(ends).map(|(&start, end)| {
        let (worlds, after) = core::mem::take(&mut rest).split_at_mut(end - start);
        rest = after;
        (start..end, Window { start, worlds, outside: &outside })
    });
    let queue = Mutex::new(pieces.collect::<Vec<_>>().into_iter());
    // The lock is held for taking a piece only, not while it is swept.
    let first = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let last = || queue.lock().unwrap_or_else(PoisonError::into_inner).next_back();
    let sweep = |(rows, mut window): (Range<usize>, Window<'_, A>)| {
        window.sweep(columns, rows, |Window { start, worlds, outside }, lanes| {
            A::sweep_piece(columns.parents, columns.locals, worlds, *start, lanes, columns.cuts.words(), outside);
        });
    };
    // This thread works too, so that one other has to wake up at most, and none in time if it is slow.
    rayon::in_place_scope(|scope| {
        (1..threads).for_each(|_| scope.spawn(|_| core::iter::from_fn(last).for_each(sweep)));
        core::iter::from_fn(first).for_each(sweep);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cuts_leave_no_piece_empty_and_none_long_where_threads_meet(
            start in 0usize..1000,
            len in WORTH_SPLITTING..100_000,
            threads in 2usize..20,
        ) {
            let rows = start..start + len;
            let mut ends = cuts(rows.clone(), threads);
            ends.push(rows.end);
            let mut at = rows.start;
            let meet = rows.start + len / threads;
            for end in ends {
                prop_assert!(at < end && end <= rows.end);
                let (near, others) = if end <= meet { (meet - at, 1) } else { (end - meet.min(end), threads - 1) };
                prop_assert!(end - at <= near.div_ceil(2 * others).max(2 * SMALLEST_PIECE), "{at}..{end} of {rows:?}");
                at = end;
            }
            prop_assert_eq!(at, rows.end);
        }
    }
}
