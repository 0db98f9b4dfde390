//! Nodes that do not inherit everything, in shapes that are hard on how they are left out of sweeps.

use super::*;

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

/// Every row in turn is left out of a linear sweep, of a block with gaps and of a walk.
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
        // Scattered: the rest is computed by links.
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

/// Where rows are far from pre-order, ways up share nothing: many walks down a deep chain, whose nodes are stored
/// the other way round, and leaves that were added one by one, here and there.
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
