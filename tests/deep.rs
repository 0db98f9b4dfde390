//! No depth and no order of insertion is too much: nothing recurses, which a stack shows that is far too small for it,
//! and all worlds are right.
//!
//! Locals are whole numbers and mirrors, so that worlds are exact: see [`expected`]. Nothing about time is asserted,
//! only printed (`cargo test --release --test deep -- --nocapture`): what takes quadratic time takes minutes here. That
//! updates compute each row a bounded number of times is counted inside the crate, in all its tests of structure.

use posetree::glam::Vec3;
use posetree::{Accumulate, Components, HierarchyOf, Keep, Matrices, NodeId, Transform};
use std::fmt::Write as _;
use std::thread;
use std::time::Instant;

/// Unoptimised builds are some twenty times slower.
const NODES: usize = if cfg!(debug_assertions) { 200_000 } else { 1_000_000 };

/// Far below what one frame of a recursion, times the depth, would take.
const STACK: usize = 128 * 1024;

fn on_a_small_stack(test: fn()) {
    thread::Builder::new().stack_size(STACK).spawn(test).unwrap().join().unwrap();
}

fn timed<T>(what: &str, f: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = f();
    eprintln!("{:>8.1} ms  {what}", start.elapsed().as_secs_f64() * 1e3);
    result
}

fn local(i: usize) -> Transform {
    let mirror = if i % 3 == 1 { -1.0 } else { 1.0 };
    Transform::from_position(Vec3::new(1.0, (i % 7) as f32, 0.0)).with_scale(Vec3::new(mirror, 1.0, 1.0))
}

/// Position and mirroring of each node; the sums stay below 2²⁴ and are exact. Parents in any order.
fn expected(parents: &[Option<usize>]) -> Vec<(i32, i32, i32)> {
    let mut worlds = vec![(0, 0, 0); parents.len()];
    for start in 0..parents.len() {
        let (mut path, mut at) = (Vec::new(), Some(start));
        while let Some(i) = at.filter(|&i| worlds[i].2 == 0) {
            path.push(i);
            at = parents[i];
        }
        let mut world = at.map_or((0, 0, 1), |i| worlds[i]);
        for &i in path.iter().rev() {
            let mirror = if i % 3 == 1 { -1 } else { 1 };
            world = (world.0 + world.2, world.1 + (i % 7) as i32, world.2 * mirror);
            worlds[i] = world;
        }
    }
    worlds
}

/// What the two ways of accumulating have in common here.
trait Kind: Accumulate<Transform = Transform> {
    fn parts(row: &Self::Row) -> (f32, f32, f32);
    fn parts_of_world(world: &Self::World) -> (f32, f32, f32);
}

impl Kind for Matrices {
    fn parts(row: &[[f32; 4]; 3]) -> (f32, f32, f32) {
        (row[0][3], row[1][3], row[0][0])
    }

    fn parts_of_world(world: &Self::World) -> (f32, f32, f32) {
        (world.translation.x, world.translation.y, world.matrix3.x_axis.x)
    }
}

impl Kind for Components {
    fn parts(row: &Transform) -> (f32, f32, f32) {
        (row.position.x, row.position.y, row.scale.x)
    }

    fn parts_of_world(world: &Transform) -> (f32, f32, f32) {
        Self::parts(world)
    }
}

fn float((x, y, mirror): (i32, i32, i32)) -> (f32, f32, f32) {
    (x as f32, y as f32, mirror as f32)
}

fn assert_worlds<A: Kind>(h: &mut HierarchyOf<A>, ids: &[NodeId], parents: &[Option<usize>], what: &str) {
    #[cfg(feature = "rayon")]
    let mut shared = h.clone();
    let worlds = timed(&format!("update after {what}"), || h.update());
    for (&id, wanted) in ids.iter().zip(expected(parents)) {
        assert_eq!(A::parts(&worlds[id]), float(wanted), "world of {id:?}");
    }
    #[cfg(feature = "rayon")]
    {
        let shared = timed("by many threads", || shared.update_parallel());
        assert!(ids.iter().all(|&id| A::parts(&shared[id]) == A::parts(&worlds[id])), "worlds by many threads");
    }
}

fn chain_parents() -> Vec<Option<usize>> {
    (0..NODES).map(|i| i.checked_sub(1)).collect()
}

fn chain<A: Kind>() -> (HierarchyOf<A>, Vec<NodeId>) {
    let mut h = HierarchyOf::new();
    let mut ids: Vec<NodeId> = Vec::with_capacity(NODES);
    for i in 0..NODES {
        ids.push(h.insert_child_at(ids.last().copied(), 0, local(i)).unwrap());
    }
    (h, ids)
}

fn a_deep_chain<A: Kind>() {
    let (mut h, ids) = timed("chain, one by one", chain::<A>);
    let (root, last) = (ids[0], ids[NODES - 1]);
    let wanted = float(expected(&chain_parents())[NODES - 1]);
    timed("lazy read at the far end", || assert_eq!(A::parts_of_world(&h.world(last).unwrap()), wanted));
    assert_worlds(&mut h, &ids, &chain_parents(), "chain");
    h.set_local(root, local(0)).unwrap();
    assert!(h.is_dirty(last).unwrap());
    assert_worlds(&mut h, &ids, &chain_parents(), "edit of the root");
    timed("optimize", || h.optimize());
    h.set_local(root, local(0)).unwrap();
    timed("lazy read at the far end", || assert_eq!(A::parts_of_world(&h.world(last).unwrap()), wanted));
    assert_worlds(&mut h, &ids, &chain_parents(), "edit of the root, sorted");
    timed("all walks", || {
        assert_eq!(h.depth(last).unwrap(), NODES - 1);
        assert_eq!(h.root_of(last).unwrap(), root);
        assert_eq!(h.common_ancestor(last, ids[NODES / 2]).unwrap(), Some(ids[NODES / 2]));
        assert!(h.is_ancestor_of(root, last).unwrap());
        assert!(h.descendants(root).unwrap().eq(ids[1..].iter().copied()));
        assert!(h.subtree(root).unwrap().eq(ids.iter().copied()));
        assert!(h.breadth_first(root).unwrap().eq(ids.iter().copied()));
        assert!(h.post_order(root).unwrap().eq(ids.iter().rev().copied()));
        assert!(h.ancestors(last).unwrap().eq(ids[..NODES - 1].iter().rev().copied()));
        assert!(h.leaves(root).unwrap().eq([last]));
    });
    let mut copy = timed("clone", || h.clone());
    timed("assert_well_formed", || copy.assert_well_formed());
    // The far half away and back, then to the top, with its world kept.
    timed("moves of half the chain", || {
        copy.reparent(ids[NODES / 2], None, Keep::World).unwrap();
        copy.reparent(ids[NODES / 2], ids[NODES / 2 - 1], Keep::World).unwrap();
        assert!(copy.reparent(root, last, Keep::Local).is_err());
        copy.reparent(ids[NODES / 2], root, Keep::WorldTrs).unwrap();
    });
    let worlds = timed("update after moves", || copy.update());
    assert_eq!(A::parts(&worlds[last]), wanted);
    timed("promotion of every second node", || {
        for &id in ids[..NODES / 2 - 1].iter().skip(1).step_by(2) {
            copy.remove_and_promote(id, Keep::Local).unwrap();
        }
    });
    copy.update();
    copy.assert_well_formed();
    timed("removal of half", || assert_eq!(copy.remove_subtree(ids[NODES / 2]).unwrap(), NODES - NODES / 2));
    timed("removal of the rest", || copy.remove_children(root).unwrap());
    assert_eq!(copy.len(), 1);
    timed("insertion that compacts", || copy.add_child(root, local(1)).unwrap());
    copy.assert_well_formed();
    timed("clear", || h.clear());
    timed("drop", || drop((h, copy)));
}

#[test]
fn a_deep_chain_of_matrices() {
    on_a_small_stack(a_deep_chain::<Matrices>);
}

#[test]
fn a_deep_chain_of_components() {
    on_a_small_stack(a_deep_chain::<Components>);
}

/// Copied below its own end, taken out, put back, and flattened.
fn a_deep_chain_as_a_subtree<A: Kind>() {
    let (mut h, ids) = chain::<A>();
    let (root, last) = (ids[0], ids[NODES - 1]);
    let copies = timed("clone_subtree below itself", || h.clone_subtree(root, last).unwrap());
    assert!(copies.iter().map(|pair| pair.0).eq(ids.iter().copied()));
    let all: Vec<_> = ids.iter().copied().chain(copies.into_iter().map(|pair| pair.1)).collect();
    // The copies go on from the last one, with the values of the first.
    let first = expected(&chain_parents());
    let (x, y, mirror) = first[NODES - 1];
    let second = first.iter().map(|w| (x + mirror * w.0, y + w.1, mirror * w.2));
    let wanted: Vec<_> = first.iter().copied().chain(second).map(float).collect();
    let check = |h: &mut HierarchyOf<A>, what: &str| {
        let worlds = timed(&format!("update after {what}"), || h.update());
        for (&id, &wanted) in all.iter().zip(&wanted) {
            assert_eq!(A::parts(&worlds[id]), wanted, "world of {id:?} after {what}");
        }
        assert_eq!(h.len(), all.len());
    };
    check(&mut h, "clone_subtree");
    let taken = timed("take_subtree", || h.take_subtree(ids[1]).unwrap());
    assert_eq!((h.len(), taken.ids().len()), (1, all.len() - 1));
    timed("restore", || h.restore(taken).unwrap());
    check(&mut h, "restore");
    let mut other = HierarchyOf::<A>::new();
    let pairs = timed("append", || other.append(&h, None).unwrap());
    let wanted_last = wanted[wanted.len() - 1];
    assert_eq!(A::parts_of_world(&other.world(pairs[pairs.len() - 1].1).unwrap()), wanted_last);
    let taken = other.take_subtree(pairs[0].1).unwrap();
    assert_eq!(timed("discard", || other.discard(taken).unwrap()), all.len());
    timed("flatten", || h.flatten(root, Keep::World).unwrap());
    assert!(h.children(root).unwrap().eq(all[1..].iter().copied()));
    check(&mut h, "flatten");
    h.assert_well_formed();
}

#[test]
fn a_deep_chain_of_matrices_as_a_subtree() {
    on_a_small_stack(a_deep_chain_as_a_subtree::<Matrices>);
}

#[test]
fn a_deep_chain_of_components_as_a_subtree() {
    on_a_small_stack(a_deep_chain_as_a_subtree::<Components>);
}

/// The text of a chain grows with its nodes, not with the square of its depth.
#[test]
fn a_deep_chain_prints() {
    on_a_small_stack(|| {
        let (h, _) = chain::<Matrices>();
        let mut text = String::new();
        timed("Debug", || write!(text, "{h:?}").unwrap());
        assert_eq!(text.lines().count(), NODES + 1);
        assert!(text.len() < 300 * NODES, "{} bytes", text.len());
    });
}

/// G. Marsaglia's xorshift.
fn random(state: &mut u64, below: usize) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    ((*state >> 11) % below as u64) as usize
}

fn shuffled(seed: u64) -> Vec<usize> {
    let (mut state, mut order): (_, Vec<_>) = (seed, (0..NODES).collect());
    for end in (1..NODES).rev() {
        order.swap(end, random(&mut state, end + 1));
    }
    order
}

/// Parents behind their children: a chain, one far behind a few, any at all; and a chain in no order.
fn backward_shapes() -> Vec<(&'static str, Vec<Option<usize>>)> {
    let mut state = 0x2545_f491_4f6c_dd1d;
    let chain = (0..NODES).map(|i| (i + 1 < NODES).then_some(i + 1)).collect();
    let mut behind = |reach: usize| {
        let parent = |i: usize| (i + 1 < NODES).then(|| i + 1 + random(&mut state, reach.min(NODES - i - 1)));
        (0..NODES).map(parent).collect()
    };
    let (deep, bushy) = (behind(4), behind(NODES));
    let order = shuffled(5);
    let mut mixed = vec![None; NODES];
    order.windows(2).for_each(|pair| mixed[pair[1]] = Some(pair[0]));
    vec![
        ("backward chain", chain),
        ("backward deep tree", deep),
        ("backward bushy tree", bushy),
        ("mixed chain", mixed),
    ]
}

#[test]
fn lists_of_parents_in_any_order() {
    on_a_small_stack(|| {
        for (what, parents) in backward_shapes() {
            let locals: Vec<_> = (0..NODES).map(local).collect();
            let mut h = HierarchyOf::<Matrices>::new();
            let ids = timed(&format!("extend by a {what}"), || h.extend(None, &parents, &locals).unwrap());
            assert_worlds(&mut h, &ids, &parents, what);
            h.set_local(ids[NODES - 1], local(NODES - 1)).unwrap();
            assert_worlds(&mut h, &ids, &parents, "edit of the last entry");
        }
    });
}

#[test]
fn children_inserted_before_their_parents() {
    on_a_small_stack(|| {
        for (what, parents) in backward_shapes() {
            for (order, name) in [((0..NODES).collect(), "in order"), (shuffled(9), "shuffled")] {
                let mut h = HierarchyOf::<Matrices>::new();
                let ids: Vec<_> = (0..NODES).map(|i| h.add_root(local(i)).unwrap()).collect();
                timed(&format!("{what}: reparents {name}"), || hang(&mut h, &ids, &parents, &order));
                assert_worlds(&mut h, &ids, &parents, &format!("{what}: reparents {name}"));
                for i in [NODES - 1, 0, NODES / 2] {
                    h.set_local(ids[i], local(i)).unwrap();
                    timed("update after one edit", || h.update());
                }
            }
        }
    });
}

fn hang(h: &mut HierarchyOf<Matrices>, ids: &[NodeId], parents: &[Option<usize>], order: &Vec<usize>) {
    for &i in order {
        if let Some(parent) = parents[i] {
            h.reparent(ids[i], ids[parent], Keep::Local).unwrap();
        }
    }
}

/// An update after every insertion: what is sorted in between must be paid for by what is inserted.
#[test]
fn updates_between_insertions() {
    on_a_small_stack(|| {
        let mut h = HierarchyOf::<Matrices>::new();
        let mut ids = vec![h.add_root(local(0)).unwrap()];
        timed("growth of a chain, update each", || {
            for i in 1..NODES {
                ids.push(h.add_child(ids[i - 1], local(i)).unwrap());
                h.update();
            }
        });
        assert_worlds(&mut h, &ids, &chain_parents(), "growth");
    });
}
