//! An update on all threads of rayon's pool.

extern crate std;

use crate::accumulate::Accumulate;
use crate::hierarchy::{Columns, HierarchyOf, WORTH_SHARING, Window, Worlds};
use crate::topology::NONE;
use alloc::vec::Vec;
use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The smallest part worth handing over: some ten microseconds of work.
const SMALLEST_PART: usize = if cfg!(test) { 4 } else { 2 * 1024 };

/// At least this many rows are shared for each that is computed in advance.
const ROWS_PER_STEP: usize = if cfg!(test) { 4 } else { 64 };

/// Some tens of microseconds.
const SPINS: usize = 1024;

impl<A: Accumulate> HierarchyOf<A> {
    /// As [`update`](Self::update), on all threads of the current rayon pool, with the same bits.
    ///
    /// Decides by itself whether that pays: less than 64 000 rows to be computed, chains, and what edits have
    /// scattered, until an update sorts, are done on this thread. It pays most while the pool is awake, as right after
    /// something else was done on it.
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
    if rows < WORTH_SHARING {
        return false;
    }
    let all = first.start..last.end;
    let Plan { parts, above } =
        plan(columns, &mut Window::all(worlds), pieces, cuts(rows, threads), rows / ROWS_PER_STEP);
    if parts.len() == 1 {
        return false;
    }
    #[cfg(test)]
    tests::PARTS.set(parts.len());
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
        window.sweep_pieces(columns, pieces, |Window { start, worlds, outside }, lanes| {
            A::sweep_piece(columns.parents, columns.locals, worlds, *start, lanes, columns.cuts.words(), outside);
        });
        left.fetch_sub(1, Ordering::Release);
    };
    // This thread works too, so that one other has to wake up at most, and none in time if it is slow.
    rayon::in_place_scope(|scope| {
        (1..threads).for_each(|_| scope.spawn(|_| core::iter::from_fn(last).for_each(sweep)));
        core::iter::from_fn(first).for_each(sweep);
        stay_awake(&left);
    });
    true
}

/// Waits for the last parts, which are short: to go to sleep over them and be woken would take longer.
fn stay_awake(left: &AtomicUsize) {
    let mut spins = SPINS;
    while spins != 0 {
        core::hint::spin_loop();
        // Once they are swept, the threads that did it have yet to say so.
        let most = if left.load(Ordering::Acquire) == 0 { SPINS / 16 } else { SPINS };
        spins = most.min(spins - 1);
    }
}

/// What threads take.
struct Plan<A: Accumulate> {
    /// None of them empty.
    parts: Vec<Vec<Range<usize>>>,
    /// The worlds of what is above the first rows of parts, in order of rows.
    above: Vec<(u32, A::Row)>,
}

/// Parts that begin at or before where cuts are wanted, if that takes no more than so many steps.
///
/// A part may begin at any row that does not wait for too many: all it needs of the parts before is what is above its
/// first row, because a stretch reaches as far as what is below it. Where that is in a piece too, it is computed here,
/// and once more in its turn; where it is in none, it rests. What is before the part before is above that one's first
/// row too, and known. In a chain, or nearly one, there is little that does not wait for the row before it.
fn plan<A: Accumulate>(
    columns: Columns<'_, A>,
    window: &mut Window<'_, A>,
    pieces: &[Range<usize>],
    cuts: Vec<usize>,
    mut steps: usize,
) -> Plan<A> {
    let mut plan = Plan { parts: Vec::new(), above: Vec::new() };
    let (mut part, mut path) = (Vec::new(), Vec::new());
    let (mut cuts, mut passed) = (cuts.into_iter().peekable(), 0);
    let mut start = pieces.first().map_or(0, |piece| piece.start);
    for piece in pieces {
        let mut rest = piece.clone();
        // Holes are looked over once, whatever the number of cuts among them.
        let mut seen = piece.start;
        while let Some(cut) = cuts.next_if(|&cut| cut < passed + piece.len()) {
            let wanted = if piece.len() < SMALLEST_PART { piece.start } else { piece.start + cut - passed };
            // A hole does not know in whose stretch it lies.
            let at = (seen..=wanted).rev().find(|&row| columns.slots[row] != NONE);
            seen = wanted + 1;
            let Some(at) = at else { continue };
            // Nor does a stray; but what a piece begins with has nothing above it in there.
            let is_stray = |row: usize| row != piece.start && columns.is_stray(row);
            path.clear();
            path.extend(climb(columns, at, start).take(steps));
            let is_too_long = path.len() == steps;
            steps -= path.len();
            if is_too_long || is_stray(at) || path.iter().any(|&row| is_stray(row)) {
                continue;
            }
            if rest.start < at {
                part.push(rest.start..at);
                rest.start = at;
            }
            if part.is_empty() {
                continue;
            }
            plan.parts.push(core::mem::take(&mut part));
            start = at;
            for &row in path.iter().rev() {
                if row >= piece.start {
                    window.sweep_row(columns, row);
                }
                plan.above.push((row as u32, window.worlds[row]));
            }
        }
        part.push(rest);
        passed += piece.len();
    }
    plan.parts.push(part);
    plan
}

/// The rows above one, down from it, as long as they are no earlier than `start`.
fn climb<A: Accumulate>(columns: Columns<'_, A>, row: usize, start: usize) -> impl Iterator<Item = usize> {
    let parent = move |&row: &usize| Some(columns.parents[row] as usize).filter(|above| (start..row).contains(above));
    core::iter::successors(parent(&row), parent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accumulate::hash::{Hash, pose};
    use crate::{Keep, NodeId};
    use core::cell::Cell;
    use proptest::prelude::*;

    std::thread_local! {
        /// Of what this thread shared last.
        pub(super) static PARTS: Cell<usize> = const { Cell::new(0) };
    }

    /// Parts of an update in which the roots of some trees are dirty: of every tree, or of every second one.
    fn parts(trees: usize, nodes: usize, parent: fn(usize) -> usize, threads: usize, every: usize) -> usize {
        parts_after(trees, nodes, parent, threads, every, |_, _| {})
    }

    fn parts_after(
        trees: usize,
        nodes: usize,
        parent: fn(usize) -> usize,
        threads: usize,
        every: usize,
        edit: impl Fn(&mut HierarchyOf<Hash>, &[NodeId]),
    ) -> usize {
        let mut h = HierarchyOf::<Hash>::new();
        let parents: Vec<_> = (0..nodes).map(|node| (node > 0).then(|| parent(node))).collect();
        let poses: Vec<_> = (0..nodes as u32).map(|node| pose(2 * node + 3, node + 5)).collect();
        let tops: Vec<_> = (0..trees).map(|_| h.extend(None, &parents, &poses).unwrap()[0]).collect();
        h.update();
        edit(&mut h, &tops);
        h.update();
        tops.iter().step_by(every).for_each(|&top| h.set_local(top, pose(7, 7)).unwrap());
        shared(&mut h, threads)
    }

    /// The parts of an update, which gives what it gives on one thread.
    fn shared(h: &mut HierarchyOf<Hash>, threads: usize) -> usize {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            PARTS.set(0);
            let mut by_one = h.clone();
            assert_eq!(h.update_parallel().rows(), by_one.update().rows());
            PARTS.get()
        })
    }

    #[test]
    fn what_pays_is_shared() {
        let fours = |node| (node - 1) / 4;
        let below_chain = |node| if node <= 200 { node - 1 } else { 200 + (node - 201) / 4 };
        let shared = [
            ("a tree", parts(1, 1_000, fours, 2, 1)),
            ("a tree, by many threads", parts(1, 1_000, fours, 16, 1)),
            ("one wide parent", parts(1, 1_000, |_| 0, 2, 1)),
            ("below a chain", parts(1, 2_000, below_chain, 2, 1)),
            ("trees side by side", parts(40, 100, fours, 2, 1)),
            ("every other tree", parts(40, 100, fours, 2, 2)),
            ("chains side by side", parts(40, 100, |node| node - 1, 2, 1)),
            ("every other chain", parts(40, 100, |node| node - 1, 2, 2)),
        ];
        for (what, parts) in shared {
            assert!((2..200).contains(&parts), "{what}: {parts} parts");
        }
        // From one tree that rests to another, and from one that rests to one that moves and back.
        let rest = |h: &mut HierarchyOf<Hash>, tops: &[NodeId]| {
            let leaf = h.leaves(tops[1]).unwrap().next().unwrap();
            h.reparent(leaf, tops[3], Keep::Local).unwrap();
        };
        let hang = |h: &mut HierarchyOf<Hash>, tops: &[NodeId]| {
            h.reparent(tops[2], tops[3], Keep::Local).unwrap();
        };
        for parts in [parts_after(40, 100, fours, 2, 2, rest), parts_after(40, 100, fours, 2, 2, hang)] {
            assert!((2..200).contains(&parts), "strays elsewhere: {parts} parts");
        }
    }

    /// The hips of all characters move, their roots rest, and one of these hangs under another one: what is before and
    /// behind that one is shared.
    #[test]
    fn a_stray_between_parts_is_left_out() {
        let mut h = HierarchyOf::<Hash>::new();
        let parents: Vec<_> = (0..50_usize).map(|node| (node > 0).then(|| (node - 1) / 2)).collect();
        let poses: Vec<_> = (0..50).map(|node| pose(2 * node + 3, node + 5)).collect();
        let all: Vec<_> = (0..20).map(|_| h.extend(None, &parents, &poses).unwrap()).collect();
        h.update();
        h.reparent(all[10][0], all[3][0], Keep::Local).unwrap();
        h.update();
        all.iter().flat_map(|ids| &ids[1..]).for_each(|&id| h.set_local(id, pose(7, 7)).unwrap());
        assert!((2..200).contains(&shared(&mut h, 2)));
    }

    /// What hangs from a row that rests, in a gap of the piece that it begins, is no root.
    #[test]
    fn a_stray_at_the_beginning_finds_its_parent_in_a_gap() {
        let mut h = HierarchyOf::<Hash>::new();
        let parents: Vec<_> = (0..150_usize).map(|node| (node > 0).then_some(if node < 3 { 0 } else { 2 })).collect();
        let poses: Vec<_> = (0..150).map(|node| pose(2 * node + 3, node + 5)).collect();
        let all: Vec<_> = (0..10).map(|_| h.extend(None, &parents, &poses).unwrap()).collect();
        h.update();
        h.reparent(all[0][1], all[9][0], Keep::Local).unwrap();
        h.update();
        all.iter().flat_map(|ids| &ids[1..3]).for_each(|&id| h.set_local(id, pose(7, 7)).unwrap());
        shared(&mut h, 2);
    }

    /// Groups below a root, of which one hangs under another root and rests, while what is in all of them moves: what
    /// is above a part is not above it in memory.
    #[test]
    fn what_moves_below_a_stray_that_rests_is_below_it() {
        let group = |node: usize| node - (node - 1) % 101;
        let parent = |node: usize| match node - group(node) {
            0 => 0,
            1 => group(node),
            _ => group(node) + 1,
        };
        let parents: Vec<_> = (0..405_usize).map(|node| (node > 0).then(|| parent(node))).collect();
        let poses: Vec<_> = (0..405).map(|node| pose(2 * node + 3, node + 5)).collect();
        for (trees, at, threads) in
            (2..6).flat_map(|trees| (0..20).flat_map(move |at| [(trees, at, 2), (trees, at, 3)]))
        {
            let mut h = HierarchyOf::<Hash>::new();
            let all: Vec<_> = (0..trees).map(|_| h.extend(None, &parents, &poses).unwrap()).collect();
            h.update();
            let (from, to) = (&all[at % trees], &all[(at + 1) % trees]);
            h.reparent(from[1 + 101 * (at % 4)], to[0], Keep::Local).unwrap();
            h.update();
            for ids in &all {
                (0..4).for_each(|group| h.set_local(ids[2 + 101 * group], pose(7, 7)).unwrap());
            }
            shared(&mut h, threads);
        }
    }

    /// What hangs elsewhere lies in what moves, one below the other, and rests.
    #[test]
    fn strays_that_rest_keep_their_worlds() {
        for (first, second) in (1..40).flat_map(|first| (1..40).map(move |second| (first, second))) {
            let mut h = HierarchyOf::<Hash>::new();
            let rest = h.add_root(pose(3, 3)).unwrap();
            let poses: Vec<_> = (0..40).map(|node| pose(2 * node + 5, node)).collect();
            let top = h.add_root(pose(9, 9)).unwrap();
            let ids = h.extend(top, &[None; 40], &poses).unwrap();
            h.optimize();
            h.reparent(ids[first], rest, Keep::Local).unwrap();
            if first != second {
                h.reparent(ids[second], ids[first], Keep::Local).unwrap();
            }
            h.update();
            h.set_local(top, pose(7, 7)).unwrap();
            shared(&mut h, 2);
        }
    }

    #[test]
    fn what_does_not_pay_is_not_shared() {
        let fours = |node| (node - 1) / 4;
        assert_eq!(parts(1, 1_000, |node| node - 1, 2, 1), 0, "a chain");
        assert_eq!(parts(1, WORTH_SHARING - 1, fours, 2, 1), 0, "what is small");
        assert_eq!(parts(1, 1_000, fours, 1, 1), 0, "one thread");
    }

    proptest! {
        #[test]
        fn cuts_leave_no_part_empty_and_none_long_where_threads_meet(
            rows in WORTH_SHARING..100_000,
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
