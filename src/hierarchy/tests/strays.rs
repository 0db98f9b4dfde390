//! Rows that lie elsewhere than below their parent, and what updates make of them.

use super::*;

/// How many nodes' stretches are runs, and how many are not.
fn spans(pair: &Pair) -> (usize, usize) {
    let runs = pair.live.iter().filter(|id| pair.h.order.run(pair.h.order.row(id.slot())).is_some()).count();
    (runs, pair.live.len() - runs)
}

/// Promotion leaves a hole in the run and its children under the grandparent, which stays a run.
#[test]
fn promotion_in_a_run_scatters_nothing() {
    let mut random = Random(23);
    let mut pair = Pair::new();
    let root = pair.insert(None, 0, random.pose());
    for at in 0..200 {
        let parent = pair.live[random.below(at + 1)];
        pair.insert(Some(parent), 0, random.pose());
    }
    pair.h.optimize();
    for round in 0..150 {
        let id = pair.live[1 + random.below(pair.live.len() - 1)];
        pair.promote(id, [Keep::Local, Keep::World][round % 2]);
        assert_eq!(spans(&pair).1, 0, "something was scattered");
        pair.check();
    }
    assert_eq!(pair.live[0], root);
    pair.set(root, random.pose());
    pair.update();
    // Under a root that is removed, its children become roots: runs of their own.
    pair.promote(root, Keep::World);
    assert_eq!(spans(&pair).1, 0);
    pair.check();
}

/// Scattered nodes above, among and below runs, told apart after one edit each.
#[test]
fn an_edit_scatters_its_ancestors_and_nothing_else() {
    let mut random = Random(29);
    let mut pair = Pair::new();
    let root = pair.insert(None, 0, random.pose());
    let middle = pair.insert(Some(root), 0, random.pose());
    let beside = pair.insert(Some(root), 1, random.pose());
    let leaf = pair.insert(Some(middle), 0, random.pose());
    pair.h.optimize();
    assert_eq!(spans(&pair), (4, 0));
    pair.insert(Some(middle), 0, random.pose());
    assert_eq!(spans(&pair), (3, 2));
    pair.h.optimize();
    pair.reparent(leaf, Some(beside), None, Keep::World);
    assert_eq!(spans(&pair), (2, 3), "old and new parent and their ancestors");
    pair.check();
    pair.h.optimize();
    pair.reparent(middle, None, None, Keep::Local);
    assert_eq!(spans(&pair), (4, 1), "the old parent only");
    pair.h.optimize();
    pair.h.move_to_index(middle, 0).unwrap();
    pair.forest.relocate(middle, None, 0);
    pair.remove_subtree(leaf);
    assert_eq!(spans(&pair).1, 0, "what neither moves nor joins scatters nothing");
    pair.check();
}

/// Strays cost more than rows in place: what updates come to again and again is sorted before long, and at once
/// what there is much of.
#[test]
fn strays_end_in_a_sort() {
    let mut random = Random(31);
    // 2 002 rows and 256 are worth 141 strays: the root and 50 more, twice, and once more the 48 that are expected, for
    // the root's stretch is 1952 rows. Or so many of 153 at once, that 1849 rows let expect 141.
    for (strays, updates) in [(50, 2), (153, 0)] {
        let mut pair = Pair::new();
        let root = pair.insert(None, 0, random.pose());
        let mut last = root;
        for at in 0..2_001 - strays {
            last = pair.insert(Some(if at < 200 { last } else { root }), 0, random.pose());
        }
        pair.h.optimize();
        pair.update();
        let leaf = pair.insert(Some(last), 0, random.pose());
        for _ in 1..strays {
            pair.insert(Some(root), 0, random.pose());
        }
        pair.update();
        for round in 0..updates {
            assert_ne!(spans(&pair).1, 0, "sorted after {round} updates");
            pair.set(root, random.pose());
            assert!(update(&mut pair.h) <= pair.live.len(), "no row is computed twice");
        }
        assert_ne!(spans(&pair).1, 0, "sorted after {updates} updates");
        if updates == 0 {
            pair.insert(Some(root), 0, random.pose());
        }
        pair.set(root, random.pose());
        assert_eq!(update(&mut pair.h), pair.live.len());
        assert_eq!(spans(&pair).1, 0, "not sorted after {updates} updates that came to {strays} strays each");
        assert_eq!(pair.h.worlds().unwrap()[leaf], pair.world(leaf));
        pair.check();
    }
}

/// A node with very many children moves in every frame, and in every frame gets one and loses one: each update is
/// linear, and hardly ever a sort.
#[test]
fn a_wide_node_that_moves_and_grows_is_swept() {
    let mut random = Random(32);
    let mut pair = Pair::new();
    let root = pair.insert(None, 0, random.pose());
    for _ in 0..5_000 {
        pair.insert(Some(root), 0, random.pose());
    }
    pair.update();
    let mut sorts = 0;
    for _ in 0..100 {
        let added = pair.insert(Some(root), 0, random.pose());
        let gone = pair.live[1 + random.below(pair.live.len() - 2)];
        pair.remove_subtree(gone);
        pair.set(root, random.pose());
        let visits = update(&mut pair.h);
        sorts += usize::from(spans(&pair).1 == 0);
        assert!(visits <= pair.h.order.len(), "{visits} rows were computed");
        assert_eq!(pair.h.worlds().unwrap()[added], pair.world(added));
    }
    // 5 257 rows are worth 328 strays, and the 24th frame has come to as many.
    assert!(sorts <= 5, "{sorts} sorts in 100 frames");
    pair.check();
}

/// Strays below strays, each dirty, stored in the opposite order: what an update finds to be below what it has
/// taken before is computed after it, and once.
#[test]
fn strays_below_strays_are_computed_once() {
    let mut random = Random(33);
    for (nodes, every) in [3, 10, 15].into_iter().flat_map(|nodes| [1, 2, 7].map(|every| (nodes, every))) {
        let mut pair = Pair::new();
        // Roots of two nodes, laid out in that order, hung one under the other from the last to the first.
        let tops: Vec<_> = (0..nodes).map(|place| pair.insert(None, place, random.pose())).collect();
        let lows: Vec<_> = tops.iter().map(|&top| pair.insert(Some(top), 0, random.pose())).collect();
        pair.h.optimize();
        pair.update();
        for at in (0..nodes - 1).rev() {
            pair.reparent(tops[at], Some(lows[at + 1]), None, Keep::Local);
        }
        pair.update();
        tops.iter().step_by(every).for_each(|&id| pair.set(id, random.pose()));
        let below = pair.forest.subtree(tops[(nodes - 1) / every * every]).len();
        assert_eq!(update(&mut pair.h), below, "{nodes} tops, every {every}th");
        pair.check();
    }
}

/// What an update has taken is known wherever it lies, also once the 64 rows around it are written down.
#[test]
fn a_stray_far_before_its_parent_is_computed_once() {
    let mut random = Random(34);
    let mut pair = Pair::new();
    let ids: Vec<_> = (0..300).map(|place| pair.insert(None, place, random.pose())).collect();
    pair.update();
    pair.reparent(ids[0], Some(ids[299]), None, Keep::Local);
    pair.update();
    for at in [0, 100, 299] {
        pair.set(ids[at], random.pose());
    }
    assert_eq!(update(&mut pair.h), 3);
    pair.check();
}

/// What was right below a node stays in place there when all else comes to it, also where the node is a stray.
#[test]
fn flattening_a_stray_scatters_nothing() {
    let mut random = Random(35);
    let mut pair = Pair::new();
    let (root, top) = (pair.insert(None, 0, random.pose()), pair.insert(None, 1, random.pose()));
    for _ in 0..5 {
        let child = pair.insert(Some(top), 0, random.pose());
        pair.insert(Some(child), 0, random.pose());
    }
    pair.h.optimize();
    pair.reparent(top, Some(root), None, Keep::Local);
    assert_eq!(spans(&pair).1, 1, "the new parent");
    pair.h.flatten(top, Keep::Local).unwrap();
    assert_eq!(spans(&pair).1, 1, "something was scattered");
    pair.h.assert_well_formed();
}

/// A sort and a new beginning pay for the strays of before.
#[test]
fn strays_of_before_a_sort_do_not_count() {
    let mut random = Random(36);
    for (round, tracked) in [(0, false), (1, false), (1, true)] {
        let mut pair = Pair::new();
        pair.h.track_previous(tracked);
        let root = pair.h.add_root(random.pose()).unwrap();
        (0..2_000).for_each(|_| _ = pair.h.add_child(root, random.pose()).unwrap());
        pair.h.optimize();
        // The root and 40 more, three times: a fourth would be worth a sort.
        (0..40).for_each(|_| _ = pair.h.add_child(root, random.pose()).unwrap());
        for _ in 0..3 {
            pair.h.set_local(root, random.pose()).unwrap();
            pair.h.update();
        }
        let root = if round == 0 {
            pair.h.clear();
            pair.h.add_root(random.pose()).unwrap()
        } else {
            pair.h.optimize();
            root
        };
        let leaf = pair.h.add_child(root, random.pose()).unwrap();
        (0..[2, 12][round]).for_each(|_| _ = pair.h.add_child(root, random.pose()).unwrap());
        let row = pair.h.order.row(leaf.slot());
        for _ in 0..3 {
            pair.h.set_local(root, random.pose()).unwrap();
            pair.h.update();
        }
        assert!(pair.h.order.run(pair.h.order.row(root.slot())).is_none(), "sorted");
        assert_eq!(pair.h.order.row(leaf.slot()), row);
        pair.h.assert_well_formed();
    }
}

/// However much is taken before what is above it, it waits for that.
#[test]
fn pieces_wait_for_what_is_above_them() {
    let mut random = Random(44);
    let mut h = HierarchyOf::<Hash>::new();
    let ids: Vec<_> = (0..100_000).map(|_| h.add_root(random.pose()).unwrap()).collect();
    let (first, last) = (ids[0], ids[ids.len() - 1]);
    h.update();
    h.reparent(first, last, Keep::Local).unwrap();
    h.update();
    // One in each 64 rows, first of them the child, and its parent last.
    for &id in ids.iter().step_by(64).chain([&last]) {
        h.set_local(id, random.pose()).unwrap();
    }
    let world = h.world(first).unwrap();
    assert_eq!(h.update()[first], world);
    h.assert_well_formed();
}

/// Strays among the rows of a stretch that many threads share, their parents before, in and after it.
#[cfg(feature = "rayon")]
#[test]
fn strays_in_a_stretch_that_is_split_keep_their_worlds() {
    let mut random = Random(45);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    for strays in [1, 5, 200] {
        let mut h = HierarchyOf::<Hash>::new();
        let before = h.add_root(random.pose()).unwrap();
        let parents: Vec<_> = (0..60_000_usize).map(|at| at.checked_sub(1).map(|at| at / 3)).collect();
        let locals: Vec<_> = parents.iter().map(|_| random.pose()).collect();
        let ids = h.extend(None, &parents, &locals).unwrap();
        let after = h.add_root(random.pose()).unwrap();
        h.optimize();
        for at in 0..strays {
            let parent = [before, after, ids[random.below(ids.len())]][at % 3];
            // Mostly leaves. Where it would be a cycle, nothing moves.
            let _ = h.reparent(ids[1 + random.below(ids.len() - 1)], parent, Keep::Local);
        }
        pool.install(|| h.update_parallel());
        h.assert_well_formed();
        for _ in 0..3 {
            h.set_local(ids[0], random.pose()).unwrap();
            let mut by_one = h.clone();
            pool.install(|| h.update_parallel());
            h.assert_well_formed();
            assert_eq!(h.worlds().unwrap().rows(), by_one.update().rows(), "{strays} strays");
        }
    }
}
