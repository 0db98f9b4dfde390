//! Nodes that do not inherit everything, in shapes that are hard on how they are left out of sweeps.

use super::*;
use alloc::collections::BTreeSet;

const EACH: [Inherit; 3] = [
    Inherit { position: false, ..Inherit::ALL },
    Inherit { rotation: false, ..Inherit::ALL },
    Inherit { scale: false, ..Inherit::ALL },
];

/// A forest of so many nodes, laid out as runs.
fn runs(count: usize, parent_of: impl Fn(usize) -> Option<usize>, random: &mut Random) -> Pair {
    let parents: Vec<_> = (0..count).map(parent_of).collect();
    let locals: Vec<_> = parents.iter().map(|_| random.pose()).collect();
    let mut pair = Pair::new();
    let ids = pair.h.extend(None, &parents, &locals).unwrap();
    for (at, &id) in ids.iter().enumerate() {
        let parent = parents[at].map(|parent| ids[parent]);
        let index = pair.forest.list(parent).len();
        pair.inserted(id, parent, index, locals[at]);
    }
    pair
}

fn reduce(pair: &mut Pair, at: usize, inherit: Inherit) {
    let id = pair.live[at];
    pair.h.set_inherit(id, inherit, Keep::Local).unwrap();
    pair.inherits.insert(id, inherit);
}

/// Every row in turn is left out of a linear sweep, of a block with gaps and of what is gathered around strays.
#[test]
fn sweeps_are_cut_at_any_row() {
    let mut random = Random(3);
    for at in 0..150 {
        let mut pair = runs(150, |at| at.checked_sub(1).map(|above| above / 2), &mut random);
        reduce(&mut pair, at, EACH[at % 3]);
        pair.check();
        pair.update();
        for every in [1, 2, 7, 40] {
            for id in pair.live.clone().into_iter().step_by(every) {
                pair.set(id, random.pose());
            }
            pair.check();
            pair.update();
        }
        // A stray, in and below the stretch of what is dirty.
        let (from, to) = (pair.live[149], pair.live[1]);
        pair.reparent(from, Some(to), None, Keep::Local);
        pair.set(pair.live[0], random.pose());
        pair.check();
    }
}

/// Many leaves of a block are dirty, out of cache, and between them lie clean ones that inherit in part.
#[test]
fn clean_rows_between_dirty_ones_keep_their_worlds() {
    let mut random = Random(5);
    let mut pair = runs(20_000, |at| at.checked_sub(1).map(|above| above / 60), &mut random);
    for at in (0..20_000).step_by(7) {
        reduce(&mut pair, at, EACH[at % 3]);
    }
    pair.update();
    for at in (0..20_000).step_by(2) {
        pair.set(pair.live[at], random.pose());
    }
    pair.update();
    pair.h.assert_well_formed();
    let worlds = pair.worlds();
    let rows = pair.h.worlds().unwrap();
    worlds.iter().for_each(|(&id, world)| assert_eq!(rows[id], *world));
}

/// A component pose is remembered along the way down: below a long chain, and in one in which every node
/// inherits in part, an update costs each node once, not each its whole way up.
#[test]
fn poses_along_a_chain_cost_each_node_once() {
    let mut random = Random(7);
    let chain = runs(4_000, |at| at.checked_sub(1), &mut random);
    // Every second node a leaf.
    let comb = runs(4_000, |at| at.checked_sub(1).map(|above| above - above % 2), &mut random);
    for (mut pair, every) in [(chain, 1), (comb, 2)] {
        for at in (every - 1..4_000).step_by(every) {
            reduce(&mut pair, at, EACH[at % 3]);
        }
        for round in 0..3 {
            pair.set(pair.live[0], random.pose());
            let before = hash::posed();
            pair.update();
            assert!(hash::posed() - before <= 4_000, "{} poses in round {round}", hash::posed() - before);
        }
        let before = hash::posed();
        pair.set(pair.live[0], random.pose());
        assert_eq!(pair.h.world(pair.live[3_999]), Ok(pair.world(pair.live[3_999])));
        assert!(hash::posed() - before <= 4_000, "poses for one lazy read");
        pair.h.assert_well_formed();
        let (worlds, rows) = (pair.worlds(), pair.h.clone());
        worlds.iter().step_by(97).for_each(|(&id, world)| assert_eq!(rows.world(id), Ok(*world)));
    }
}

/// One that is used again does not inherit what its slot did, and nothing is kept for nodes that are gone.
#[test]
fn what_is_set_ends_with_the_node() {
    let mut random = Random(9);
    let mut pair = runs(200, |at| at.checked_sub(1).map(|above| above / 3), &mut random);
    for at in (1..200).step_by(2) {
        reduce(&mut pair, at, Inherit::NONE);
    }
    pair.update();
    pair.remove_subtree(pair.live[1]);
    pair.check();
    let parent = pair.live[0];
    for _ in 0..150 {
        pair.insert(Some(parent), 0, random.pose());
    }
    pair.check();
    pair.h.optimize();
    pair.check();
    while let Some(&id) = pair.inherits.keys().next() {
        pair.set_inherit(id, Inherit::ALL, Keep::Local);
    }
    assert!(pair.h.inherits.is_empty());
    pair.check();
    let id = pair.live[5];
    pair.set_inherit(id, Inherit::NONE, Keep::Local);
    pair.h.clear();
    assert!(pair.h.inherits.is_empty());
    let again = pair.h.add_root(3 << 32).unwrap();
    assert_eq!(pair.h.inherit(again), Ok(Inherit::ALL));
    pair.h.assert_well_formed();
}

/// Large enough to be split, with cuts in pieces, at their ends and at rows that are dealt with one by one.
#[cfg(feature = "rayon")]
#[test]
fn pieces_are_cut_too() {
    let mut random = Random(11);
    let parents = [
        |at: usize| at.checked_sub(1).map(|above| above / 2),
        |at: usize| at.checked_sub(1).map(|above| above - above % 50),
        |at: usize| (at > 0).then_some(0),
    ];
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    for (shape, parent_of) in parents.into_iter().enumerate() {
        for every in [3, 50, 1_000] {
            let mut pair = runs_only(40_000, parent_of, &mut random);
            for id in pair.live.clone().into_iter().step_by(every) {
                pair.h.set_inherit(id, EACH[random.below(3)], Keep::Local).unwrap();
            }
            let mut by_one = pair.h.clone();
            by_one.update();
            by_one.assert_well_formed();
            pool.install(|| pair.h.update_parallel());
            assert!(pair.h.worlds().unwrap().rows() == by_one.worlds().unwrap().rows(), "shape {shape}, {every}");
        }
    }
}

/// As [`runs`], without the forest to compare with.
#[cfg(feature = "rayon")]
fn runs_only(count: usize, parent_of: impl Fn(usize) -> Option<usize>, random: &mut Random) -> Pair {
    let parents: Vec<_> = (0..count).map(parent_of).collect();
    let locals: Vec<_> = parents.iter().map(|_| random.pose()).collect();
    let mut pair = Pair::new();
    pair.live = pair.h.extend(None, &parents, &locals).unwrap();
    pair
}

/// Where rows are far from pre-order, ways up share nothing: nodes of a deep chain, which are stored the other way
/// round, and leaves that were added one by one, here and there.
#[test]
fn component_poses_of_an_update_are_bounded() {
    let mut random = Random(13);
    for every in [40, 400] {
        let mut pair = Pair::new();
        let ids: Vec<_> = (0..3_000).map(|_| pair.h.add_root(random.pose()).unwrap()).collect();
        ids.iter().for_each(|&id| pair.h.set_inherit(id, EACH[0], Keep::Local).unwrap());
        update(&mut pair.h);
        for at in (0..1_500).rev() {
            pair.h.reparent(ids[at], ids[at + 1], Keep::Local).unwrap();
            if at % every == 0 {
                update(&mut pair.h);
                pair.h.assert_well_formed();
            }
        }
    }
    let mut pair = runs(3_000, |at| at.checked_sub(1), &mut random);
    pair.update();
    for burst in [100, 1_000, 300] {
        let leaves: Vec<_> = (0..burst).map(|_| (pair.live[random.below(3_000)], random.pose())).collect();
        for (parent, pose) in leaves {
            let id = pair.h.add_child(parent, pose).unwrap();
            pair.h.set_inherit(id, EACH[0], Keep::Local).unwrap();
        }
        update(&mut pair.h);
        pair.h.assert_well_formed();
    }
}

fn has_trunk(pair: &Pair) -> bool {
    pair.h.trunk.is_right(&pair.h.order, &pair.h.inherits)
}

/// Updates, and gives how many component poses below others that took.
fn posed(pair: &mut Pair) -> usize {
    let before = hash::posed();
    update(&mut pair.h);
    hash::posed() - before
}

/// What is kept of the nodes above is right after every edit or is not used, each pose in it is taken once an update,
/// and only for what changed.
#[test]
fn the_trunk_costs_what_changed() {
    let mut random = Random(17);
    for shape in 0..3 {
        let parent_of =
            |at: usize| at.checked_sub(1).map(|above| [above / 2, above - above % 40, above - above % 7 / 3][shape]);
        let mut pair = runs(3_000, parent_of, &mut random);
        let hung: Vec<NodeId> = pair.live.iter().copied().skip(1).step_by(30).collect();
        (0..hung.len()).for_each(|at| reduce(&mut pair, 1 + 30 * at, EACH[at % 3]));
        // Soon, and again after an edit that it does not outlive.
        for round in 0..4 {
            let above: BTreeSet<NodeId> =
                hung.iter().flat_map(|&id| pair.h.ancestors(id).unwrap().collect::<Vec<_>>()).collect();
            let depth = hung.iter().map(|&id| pair.h.depth(id).unwrap()).max().unwrap();
            let once = above.len() - 1;
            for _ in 0..2 {
                pair.set(pair.live[0], random.pose());
                update(&mut pair.h);
            }
            pair.set(pair.live[0], random.pose());
            assert_eq!(posed(&mut pair), once, "shape {shape}, round {round}");
            assert!(has_trunk(&pair));
            pair.h.assert_well_formed();
            // A row in itself, one of a block, and one on the way.
            for &id in hung.iter().step_by(7).chain(above.iter().skip(1).step_by(once / 5 + 1)) {
                pair.set(id, random.pose());
                let below = pair.h.subtree(id).unwrap().filter(|&id| pair.inherits.contains_key(&id)).count();
                let poses = posed(&mut pair);
                assert!(poses <= below * depth, "{poses} poses of {below} nodes that are {depth} deep");
                pair.h.assert_well_formed();
            }
            // Nodes that come and go elsewhere do not concern it.
            pair.insert(Some(pair.live[2_999]), 0, random.pose());
            let added = *pair.live.last().unwrap();
            assert!(has_trunk(&pair));
            pair.check();
            let elsewhere = pair.live[2_500];
            pair.reparent(added, Some(elsewhere), None, Keep::Local);
            assert!(has_trunk(&pair));
            pair.check();
            (0..3).for_each(|_| _ = pair.insert(Some(added), 0, random.pose()));
            let below = *pair.live.last().unwrap();
            pair.insert(Some(below), 0, random.pose());
            pair.flatten(added, Keep::Local);
            assert!(has_trunk(&pair));
            pair.check();
            pair.promote(added, Keep::Local);
            assert!(has_trunk(&pair));
            pair.check();
            pair.remove_subtree(below);
            assert!(has_trunk(&pair));
            pair.check();
            match round {
                0 => pair.reparent(hung[5], Some(hung[4]), None, Keep::Local),
                1 => pair.set_inherit(hung[3], Inherit::NONE, Keep::Local),
                _ => pair.h.optimize(),
            }
            assert!(round > 1 || !has_trunk(&pair));
            pair.check();
        }
        for &id in &hung {
            pair.set_inherit(id, Inherit::ALL, Keep::Local);
        }
        pair.update();
        assert!(pair.h.trunk.is_empty(), "memory that nothing needs");
    }
}

/// Where the structure changes before every update, what is kept is made anew no more often than it pays.
#[test]
fn the_trunk_is_made_anew_where_it_pays() {
    let mut random = Random(19);
    let mut pair = runs(3_000, |at| at.checked_sub(1).map(|above| above / 2), &mut random);
    (1..3_000).step_by(30).for_each(|at| reduce(&mut pair, at, EACH[at % 3]));
    pair.update();
    let (moved, leaf) = (pair.live[2_971], pair.live[2_941]);
    let mut made = 0;
    for frame in 0..100 {
        // Everything is dirty at first, then only a leaf that does not inherit everything.
        pair.set(if frame < 50 { pair.live[0] } else { leaf }, random.pose());
        pair.h.reparent(moved, pair.live[1_000 + frame], Keep::Local).unwrap();
        update(&mut pair.h);
        pair.h.assert_well_formed();
        made += usize::from(frame >= 50 && has_trunk(&pair));
        assert!(frame != 49 || has_trunk(&pair), "everything was dirty in the last update");
    }
    assert!(made < 10, "made {made} times in 50 updates of a leaf");
}

/// A sort gives the rows of the trunk, and those that hang under it, other numbers: it makes it anew.
#[test]
fn a_sort_makes_the_trunk_anew() {
    let mut random = Random(23);
    let mut pair = runs(600, |at| at.checked_sub(1).map(|above| above / 2), &mut random);
    (1..600).step_by(30).for_each(|at| reduce(&mut pair, at, EACH[at % 3]));
    pair.update();
    pair.set(pair.live[0], random.pose());
    pair.update();
    assert!(has_trunk(&pair));
    let hung = pair.inherits.keys();
    let above: BTreeSet<NodeId> = hung.flat_map(|&id| pair.h.ancestors(id).unwrap().collect::<Vec<_>>()).collect();
    // So that the sort gives other numbers.
    for at in (1..600).rev().filter(|at| at % 30 != 1) {
        let id = pair.live[at];
        if pair.h.child_count(id) == Ok(0) && at % 3 != 0 {
            pair.h.remove_subtree(id).unwrap();
        }
    }
    // Strays, which do not concern the trunk; but so many are worth a sort.
    (0..1_000).fold(pair.live[0], |last, _| pair.h.add_child(last, random.pose()).unwrap());
    for is_sort_due in [true, false] {
        pair.h.set_local(pair.live[0], random.pose()).unwrap();
        assert!(has_trunk(&pair));
        let edits = pair.h.order.edits();
        // Each but the root's.
        assert_eq!(posed(&mut pair), above.len() - 1);
        assert_eq!(pair.h.order.edits() != edits, is_sort_due);
        assert!(has_trunk(&pair));
        pair.h.assert_well_formed();
    }
}

/// Rows whose ways up share much, in an order in which one by one they share little: an update that begins without the
/// trunk, because the structure has changed, does not take each way from its start.
#[test]
fn the_trunk_is_made_in_the_middle_where_it_pays() {
    let mut random = Random(29);
    // Two chains among many others, and below the shorter one leaves that come in any order.
    let above = |at: usize| at.checked_sub(1).filter(|&above| above != 999).filter(|_| at < 6_000);
    let mut pair = runs(60_000, above, &mut random);
    pair.update();
    reduce(&mut pair, 5_999, EACH[0]);
    let parents: Vec<NodeId> = (0..300).map(|_| pair.live[random.below(1_000)]).collect();
    let leaves: Vec<NodeId> = parents.iter().map(|&parent| pair.h.add_child(parent, 1 << 32).unwrap()).collect();
    leaves.iter().for_each(|&id| pair.h.set_inherit(id, EACH[0], Keep::Local).unwrap());
    update(&mut pair.h);
    for (frame, &id) in leaves.iter().enumerate().take(20) {
        leaves.iter().for_each(|&id| pair.h.set_local(id, random.pose()).unwrap());
        pair.h.set_inherit(id, Inherit::NONE, Keep::Local).unwrap();
        let poses = posed(&mut pair);
        // The shorter chain's, after what a trunk of both is worth.
        assert!(poses < 9_000, "{poses} poses in frame {frame}");
        pair.h.assert_well_formed();
    }
}
