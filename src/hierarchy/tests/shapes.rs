//! Shapes that are hard on the order of rows: parents after children, runs in runs, many holes.

use super::*;

/// Node `i` hangs under `parents[i]`: roots first, moved under their parents in the given order.
fn hang(parents: &[Option<usize>], order: &[usize], random: &mut Random) -> Pair {
    let mut pair = Pair::new();
    for place in 0..parents.len() {
        let local = random.pose();
        let id = pair.h.add_root(local).unwrap();
        pair.inserted(id, None, place, local);
    }
    let ids = pair.live.clone();
    for &at in order {
        if let Some(parent) = parents[at] {
            pair.h.reparent(ids[at], ids[parent], Keep::Local).unwrap();
        }
    }
    // The plain forest would take quadratic time to follow step by step.
    let values: Vec<u64> = ids.iter().map(|id| pair.forest.nodes[id].value).collect();
    pair.forest = Forest::new();
    pair.forest.roots = ids.iter().zip(parents).filter(|(_, parent)| parent.is_none()).map(|(&id, _)| id).collect();
    for (at, &id) in ids.iter().enumerate() {
        let node = forest::Node { parent: parents[at].map(|at| ids[at]), children: Vec::new(), value: values[at] };
        pair.forest.nodes.insert(id, node);
    }
    for &at in order {
        if let Some(parent) = parents[at] {
            pair.forest.nodes.get_mut(&ids[parent]).unwrap().children.push(ids[at]);
        }
    }
    pair
}

/// Children stored before their parents, nearly all of them strays: so many that the update is a sort, which computes
/// each row once, and leaves them in an order in which the next one does too.
#[test]
fn parents_stored_after_their_children_cost_no_more_than_a_sort() {
    let count = 20_000;
    let chain: Vec<_> = (0..count).map(|at| (at + 1 < count).then_some(at + 1)).collect();
    let random_above = |random: &mut Random, at: usize, reach: usize| {
        (at + 1 < count).then(|| at + 1 + random.below(reach.min(count - at - 1)))
    };
    let mut random = Random(7);
    let deep: Vec<_> = (0..count).map(|at| random_above(&mut random, at, 3)).collect();
    let wide: Vec<_> = (0..count).map(|at| random_above(&mut random, at, count)).collect();
    for parents in [chain, deep, wide] {
        let mut order: Vec<_> = (0..count).collect();
        for shuffled in [false, true] {
            if shuffled {
                random.shuffle(&mut order);
            }
            let mut pair = hang(&parents, &order, &mut random);
            assert_eq!(pair.h.world(pair.live[0]), Ok(pair.world(pair.live[0])));
            assert_eq!(update(&mut pair.h), count);
            pair.check();
            for at in (0..count).step_by(3) {
                pair.set(pair.live[at], random.pose());
            }
            assert!(update(&mut pair.h) <= count);
            pair.check();
        }
    }
}

/// What is sorted stays cheap: a changed leaf costs a row, not the forest.
#[test]
fn an_update_costs_what_changed() {
    let mut random = Random(11);
    let parents: Vec<_> = (0..5_000).map(|at| (at > 0).then(|| random.below(at))).collect();
    let order: Vec<_> = (0..parents.len()).collect();
    let mut pair = hang(&parents, &order, &mut random);
    pair.h.optimize();
    pair.update();
    for _ in 0..200 {
        let id = pair.live[random.below(pair.live.len())];
        pair.set(id, random.pose());
        assert_eq!(update(&mut pair.h), pair.forest.subtree(id).len());
    }
    // A scattered forest too, for as long as no sort is due: each row below what changed once, and some between them.
    for _ in 0..200 {
        let (id, parent) = (pair.live[random.below(5_000)], pair.live[random.below(5_000)]);
        pair.reparent(id, Some(parent), None, Keep::World);
        let visits = update(&mut pair.h);
        let below = pair.forest.subtree(id).len();
        assert!(visits <= 2 * below, "{visits} rows were computed for a subtree of {below}");
    }
    pair.check();
}

/// Holes that a run has swallowed are passed; many holes are dropped when something is inserted.
#[test]
fn rows_are_compacted_when_holes_outnumber_nodes() {
    let mut random = Random(13);
    let mut pair = Pair::new();
    for round in 0..6 {
        let parents: Vec<_> = (0..700).map(|at| (at > 0).then(|| random.below(at))).collect();
        let locals: Vec<_> = parents.iter().map(|_| random.pose()).collect();
        let parent = if round % 2 == 0 { None } else { Some(pair.live[random.below(pair.live.len())]) };
        let ids = pair.h.extend(parent, &parents, &locals).unwrap();
        for (at, &id) in ids.iter().enumerate() {
            let above = parents[at].map_or(parent, |above| Some(ids[above]));
            pair.inserted(id, above, pair.forest.list(above).len(), locals[at]);
        }
        if round % 2 == 0 {
            pair.update();
        }
        while pair.live.len() > 40 {
            let id = pair.live[random.below(pair.live.len())];
            if pair.forest.subtree(id).len() < 20 {
                pair.remove_subtree(id);
            } else if pair.forest.parent(id).is_some() {
                pair.promote(id, if round < 3 { Keep::World } else { Keep::Local });
            }
            if pair.live.len() % 50 == 0 {
                pair.check();
            }
        }
        let last = pair.live[pair.live.len() - 1];
        pair.set(last, random.pose());
        pair.check();
        let before = pair.h.order.len();
        pair.insert(Some(last), 0, random.pose());
        assert!(before < 2 * 64 || pair.h.order.len() <= pair.live.len(), "holes were not dropped");
        pair.check();
    }
}

/// A sweep of what is left must not pass what is gone, frame after frame.
#[test]
fn rows_are_compacted_when_an_update_would_sweep_more_holes_than_nodes() {
    let mut random = Random(15);
    for keep in [3, 400, 2_000] {
        let mut pair = Pair::new();
        let root = pair.insert(None, 0, random.pose());
        let others: Vec<_> = (0..3_000).map(|_| pair.insert(Some(root), 0, random.pose())).collect();
        pair.update();
        for &id in &others[keep..] {
            pair.h.remove_subtree(id).unwrap();
            pair.forest.remove_subtree(id);
        }
        pair.removed(&others[keep..]);
        assert_eq!(update(&mut pair.h), 0, "nothing is dirty");
        pair.set(root, random.pose());
        pair.update();
        let (rows, nodes) = (pair.h.order.len(), pair.live.len());
        assert!(rows <= 2 * nodes.max(64), "{rows} rows for {nodes} nodes");
        pair.set(root, random.pose());
        assert!(update(&mut pair.h) <= rows);
        pair.check();
    }
}

/// Adding and removing one node over and over, in a large forest, must not compact every time.
#[test]
fn churn_does_not_grow_the_rows() {
    let mut random = Random(17);
    let mut pair = Pair::new();
    let root = pair.insert(None, 0, random.pose());
    for _ in 0..300 {
        pair.insert(Some(root), 0, random.pose());
    }
    for _ in 0..2_000 {
        let id = pair.insert(Some(root), 0, random.pose());
        pair.remove_subtree(id);
        assert!(pair.h.order.len() <= 2 * 302 + 1, "{} rows for {} nodes", pair.h.order.len(), pair.live.len());
    }
    pair.check();
}

/// Big runs moved back and forth keep their rows, under scattered nodes and out of other runs.
#[test]
fn big_runs_are_moved_again_and_again() {
    let mut random = Random(19);
    let mut pair = Pair::new();
    let hubs: Vec<_> = (0..5).map(|place| pair.insert(None, place, random.pose())).collect();
    let mut tops = Vec::new();
    for _ in 0..8 {
        let parents: Vec<_> = (0..150).map(|at| (at > 0).then(|| at - 1 - random.below(at.min(4)))).collect();
        let locals: Vec<_> = parents.iter().map(|_| random.pose()).collect();
        let hub = hubs[random.below(5)];
        let ids = pair.h.extend(hub, &parents, &locals).unwrap();
        for (at, &id) in ids.iter().enumerate() {
            let above = parents[at].map_or(hub, |above| ids[above]);
            pair.inserted(id, Some(above), pair.forest.list(Some(above)).len(), locals[at]);
        }
        tops.extend([ids[0], ids[60], ids[120]]);
    }
    for round in 0..600 {
        let id = tops[random.below(tops.len())];
        let parent = match random.below(4) {
            0 => None,
            1 => Some(hubs[random.below(5)]),
            2 => Some(tops[random.below(tops.len())]),
            _ => Some(pair.live[random.below(pair.live.len())]),
        };
        pair.reparent(id, parent, None, [Keep::Local, Keep::World][round % 2]);
        match random.below(6) {
            0 => pair.update(),
            1 => pair.set(hubs[random.below(5)], random.pose()),
            2 => {
                let id = pair.live[random.below(pair.live.len())];
                pair.set(id, random.pose());
            }
            3 if round % 10 == 0 => pair.h.optimize(),
            _ => {}
        }
        pair.h.assert_well_formed();
        if round % 20 == 0 {
            pair.check();
        }
    }
    pair.check();
}

/// Strays may have cost a sort right when nothing is dirty, or nothing that has to do with them.
#[test]
fn an_update_of_nothing_sorts_nothing() {
    for others in 0..8 {
        for children in 3..20 {
            let mut h = HierarchyOf::<Hash>::new();
            let root = h.add_root(1).unwrap();
            for other in 0..others {
                h.add_root(other).unwrap();
            }
            let leaf = (0..children).fold(root, |_, child| h.add_child(root, child).unwrap());
            h.update();
            for frame in 0..400 / children {
                h.set_local(root, frame).unwrap();
                let version = h.update().version();
                assert_eq!(h.update().version(), version, "{children} children and {others} others, frame {frame}");
                // Nor is there anything to sort for where only a run is dirty.
                h.set_local(leaf, frame).unwrap();
                let row = h.order.row(leaf.slot());
                h.update();
                assert_eq!(h.order.row(leaf.slot()), row, "{children} children and {others} others, frame {frame}");
            }
        }
    }
}

/// Blocks of 64 rows in which much is dirty are swept as a whole once rows no longer lie in a cache:
/// among them clean rows, holes, scattered nodes, runs that cross blocks, and parents stored later.
#[test]
fn dense_marks_in_a_large_forest() {
    let mut random = Random(37);
    let count = 24_000;
    let parents: Vec<_> = (0..count).map(|at| (at % 50 != 0).then(|| at - 1 - random.below(at % 50))).collect();
    let order: Vec<_> = (0..count).collect();
    let mut pair = hang(&parents, &order, &mut random);
    for round in 0..8 {
        // Moves to nodes of any row, so that the new parent is stored later as often as not.
        for _ in 0..[0, 40, 400][round % 3] {
            let (id, parent) = (pair.live[random.below(pair.live.len())], pair.live[random.below(pair.live.len())]);
            pair.reparent(id, Some(parent), None, Keep::Local);
        }
        for _ in 0..20 {
            let id = pair.live[random.below(pair.live.len())];
            if pair.forest.subtree(id).len() < 20 {
                pair.remove_subtree(id);
            }
        }
        if round % 4 != 3 {
            pair.update();
        }
        // Rows that are left out of sweeps, in and between dense blocks.
        if round >= 4 {
            for _ in 0..100 {
                let (id, inherit) = (pair.live[random.below(pair.live.len())], random.below(3));
                let inherit = Inherit { position: inherit != 0, rotation: inherit != 1, scale: inherit != 2 };
                pair.set_inherit(id, inherit, Keep::Local);
            }
        }
        let kept = [2, 3, 7, 40][round % 4];
        for id in pair.live.clone() {
            if random.below(kept) == 0 {
                pair.set(id, random.pose());
            }
        }
        pair.check();
    }
}

/// A sort computes all worlds anew, or, where they are to become the previous ones, brings all of them along: however
/// few of them are clean.
#[test]
fn sorting_leaves_no_world_behind() {
    let mut random = Random(41);
    for (clean, is_tracked) in (0..=3).flat_map(|clean| [(clean, false), (clean, true)]) {
        for round in 0..40 {
            let parents: Vec<_> = (0..30).map(|at| (at < 29).then(|| at + 1 + random.below(29 - at))).collect();
            let mut order: Vec<_> = (0..30).collect();
            random.shuffle(&mut order);
            let mut pair = hang(&parents, &order, &mut random);
            pair.h.track_previous(is_tracked);
            pair.update();
            for _ in 0..round % 3 {
                let id = pair.live[random.below(pair.live.len())];
                pair.promote(id, Keep::World);
            }
            let mut ids = pair.live.clone();
            random.shuffle(&mut ids);
            for &id in &ids[clean..] {
                pair.set(id, random.pose());
            }
            pair.h.optimize();
            pair.check();
        }
    }
}

/// Chains and families of leaves are swept by loops of their own, from where a stretch begins and around rows
/// that are no such thing: holes, what was promoted or flattened, and what does not inherit everything.
#[test]
fn chains_and_families_among_holes_and_cuts() {
    let mut random = Random(43);
    for _ in 0..12 {
        let mut parents = vec![None];
        while parents.len() < 2_500 {
            let (is_chain, len, mut above) = (random.below(2) == 0, 1 + random.below(300), parents.len() - 1);
            for _ in 0..random.below(4) {
                above = parents[above].unwrap_or(above);
            }
            for _ in 0..len {
                parents.push(Some(above));
                above = if is_chain { parents.len() - 1 } else { above };
            }
        }
        let order: Vec<_> = (0..parents.len()).collect();
        let mut pair = hang(&parents, &order, &mut random);
        pair.h.optimize();
        pair.check();
        for round in 0..40 {
            let id = pair.live[random.below(pair.live.len())];
            match random.below(5) {
                0 if pair.forest.subtree(id).len() < 100 => pair.remove_subtree(id),
                1 if pair.forest.parent(id).is_some() => pair.promote(id, Keep::Local),
                2 if round % 4 == 0 => {
                    let inherit = Inherit { rotation: random.below(2) == 0, ..Inherit::NONE };
                    pair.set_inherit(id, inherit, Keep::Local);
                }
                _ => pair.set(id, random.pose()),
            }
            if random.below(3) == 0 {
                pair.update();
                pair.h.assert_well_formed();
            }
        }
        let root = pair.live[0];
        pair.set(root, random.pose());
        pair.check();
    }
}

/// Pieces that wait for no other are swept by twos, unless they are too short, long enough for two lanes of their own,
/// or the children of one parent.
#[test]
fn characters_are_swept_by_twos() {
    let twos = |bones: usize, parent: fn(usize) -> usize, is_scattered: bool| {
        let mut random = Random(5);
        let mut h = HierarchyOf::<Hash>::new();
        let parents: Vec<_> = (0..bones).map(|bone| (bone > 0).then(|| parent(bone))).collect();
        let characters: Vec<_> = (0..40)
            .map(|_| {
                let locals: Vec<_> = (0..bones).map(|_| random.pose()).collect();
                h.extend(None, &parents, &locals).unwrap()
            })
            .collect();
        h.update();
        if is_scattered {
            h.reparent(characters[1][1], characters[0][0], Keep::Local).unwrap();
        }
        characters.iter().step_by(2).for_each(|bones| h.set_local(bones[0], random.pose()).unwrap());
        let before = hash::twos();
        h.update();
        hash::twos() - before
    };
    let chain = |bone| bone - 1;
    assert_eq!(twos(100, chain, false), 10);
    assert_eq!(twos(100, |bone| bone - 1 - (bone - 1) % 3, false), 10);
    assert_eq!(twos(100, |_| 0, false), 0);
    assert_eq!(twos(15, chain, false), 0);
    assert_eq!(twos(2047, chain, false), 10);
    assert_eq!(twos(2048, chain, false), 0);
    assert_eq!(twos(100, chain, true), 0);
}
