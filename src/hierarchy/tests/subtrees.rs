//! Steps of the scripts that copy, flatten, take out and put back, and what reserved ids must not do.

use super::*;
use crate::{NotReserved, OutOfRange, RestoreError, StaleNode, Subtree};
use alloc::collections::BTreeSet;

/// A subtree that is out, and what the plain forest had there, parents first.
#[derive(Clone)]
pub(super) struct Out {
    subtree: Subtree<Hash>,
    nodes: Vec<(NodeId, forest::Node<u64>)>,
    inherits: BTreeMap<NodeId, Inherit>,
    place: (Option<NodeId>, usize),
}

impl Out {
    pub(super) fn ids(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.nodes.iter().map(|node| node.0)
    }
}

impl Pair {
    /// Copies in the plain forest what `nodes` hold, parents first, under `parent`.
    fn copied(
        &mut self,
        pairs: &[(NodeId, NodeId)],
        nodes: &[(NodeId, forest::Node<u64>)],
        inherits: &BTreeMap<NodeId, Inherit>,
        parent: Option<NodeId>,
    ) {
        assert!(pairs.iter().map(|pair| pair.0).eq(nodes.iter().map(|node| node.0)), "what was copied, in which order");
        let new: BTreeMap<_, _> = pairs.iter().copied().collect();
        for (&(_, id), (_, node)) in pairs.iter().zip(nodes) {
            let above = node.parent.and_then(|above| new.get(&above).copied()).or(parent);
            self.inserted(id, above, self.forest.list(above).len(), node.value);
        }
        let copies = pairs.iter().filter_map(|(old, new)| Some((*new, *inherits.get(old)?)));
        self.inherits.extend(copies);
        let run = |&(_, id): &(NodeId, NodeId)| self.h.order.run(self.h.order.row(id.slot())).is_some();
        assert!(pairs.iter().all(run), "copies are stored as runs");
    }

    pub(super) fn clone_subtree(&mut self, id: NodeId, parent: Option<NodeId>) {
        let nodes = cut_out(&self.forest, id);
        let pairs = self.h.clone_subtree(id, parent).unwrap();
        self.copied(&pairs, &nodes, &self.inherits.clone(), parent);
    }

    pub(super) fn append(&mut self, other: &Pair, parent: Option<NodeId>) {
        let nodes: Vec<_> = other.forest.roots.iter().flat_map(|&root| cut_out(&other.forest, root)).collect();
        let pairs = self.h.append(&other.h, parent).unwrap();
        self.copied(&pairs, &nodes, &other.inherits, parent);
    }

    pub(super) fn append_subtree(&mut self, other: &Pair, id: NodeId, parent: Option<NodeId>) {
        let nodes = cut_out(&other.forest, id);
        let pairs = self.h.append_subtree(&other.h, id, parent).unwrap();
        self.copied(&pairs, &nodes, &other.inherits, parent);
    }

    pub(super) fn flatten(&mut self, id: NodeId, keep: Keep) {
        let below = self.forest.subtree(id).split_off(1);
        let changes: Vec<_> = below.iter().map(|&node| self.change(node, Some(id), self.inherit(node))).collect();
        let moved: Vec<_> = below.iter().map(|&node| self.forest.parent(node) != Some(id)).collect();
        let dirty = self.h.is_dirty(id).unwrap();
        let old: Vec<_> = below.iter().map(|&node| self.h.is_dirty(node).unwrap()).collect();
        let due = keep == Keep::Local || changes.iter().all(|change| change.solvable);
        assert_eq!(self.h.flatten(id, keep).is_ok(), due);
        if !due {
            return;
        }
        for (at, &node) in below.iter().enumerate() {
            assert_eq!(self.h.is_dirty(node).unwrap(), moved[at] || dirty || old[at], "mark of {node:?}");
            self.forest.relocate(node, Some(id), self.forest.list(Some(id)).len() - usize::from(!moved[at]));
            if moved[at] {
                self.take_over(&changes[at], keep);
            }
        }
    }

    pub(super) fn take(&mut self, id: NodeId) {
        let place = (self.forest.parent(id), self.forest.index(id));
        let nodes = cut_out(&self.forest, id);
        let subtree = self.h.take_subtree(id).unwrap();
        assert_eq!((subtree.root(), subtree.parent(), subtree.index()), (id, place.0, place.1));
        assert!(subtree.ids().eq(nodes.iter().map(|node| node.0)));
        self.forest.remove_subtree(id);
        self.live.retain(|id| self.forest.nodes.contains_key(id));
        let (inherits, stay) =
            core::mem::take(&mut self.inherits).into_iter().partition(|(id, _)| !self.forest.nodes.contains_key(id));
        self.inherits = stay;
        self.out.push(Out { subtree, nodes, inherits, place });
    }

    /// Puts one back, or checks that the refusal is the one that is due and gives the subtree back.
    pub(super) fn restore(&mut self, a: u32, parent: Option<NodeId>, how: u32) {
        if self.out.is_empty() {
            return;
        }
        let Out { subtree, nodes, inherits, place } = self.out.swap_remove(a as usize % self.out.len());
        let copy = subtree.clone();
        let (parent, index) = match how % 3 {
            0 => (place.0, Some(place.1)),
            1 => (parent, None),
            _ => (parent, Some(a as usize % (self.forest.list(parent).len() + 2))),
        };
        let got = match how % 3 {
            0 => self.h.restore(subtree),
            1 => self.h.restore_under(subtree, parent),
            _ => self.h.restore_at(subtree, parent, index.unwrap()),
        };
        let count =
            parent.is_none_or(|parent| self.forest.nodes.contains_key(&parent)).then(|| self.forest.list(parent).len());
        match (got, count) {
            (Ok(id), Some(count)) if index.is_none_or(|index| index <= count) => {
                assert_eq!(id, nodes[0].0);
                self.restored(nodes, parent, index.unwrap_or(count));
                self.inherits.extend(inherits);
                self.refuse(copy);
            }
            (Err(refused), count) => {
                let due = match count {
                    None => RestoreError::StaleNode(StaleNode { node: parent.unwrap() }),
                    Some(max) => RestoreError::OutOfRange(OutOfRange { index: index.unwrap(), max }),
                };
                assert!(index.is_none_or(|index| count.is_none_or(|count| index > count)));
                assert_eq!(refused.error, due);
                assert!(refused.subtree.ids().eq(copy.ids()));
                self.out.push(Out { subtree: refused.subtree, nodes, inherits, place });
            }
            (Ok(id), count) => panic!("{id:?} went under {parent:?} at {index:?} of {count:?}"),
        }
    }

    fn restored(&mut self, nodes: Vec<(NodeId, forest::Node<u64>)>, parent: Option<NodeId>, index: usize) {
        let top = nodes[0].0;
        for (at, (id, node)) in nodes.into_iter().enumerate() {
            let (above, index) = match at {
                0 => (parent, index),
                _ => (node.parent, self.forest.list(node.parent).len()),
            };
            self.inserted(id, above, index, node.value);
        }
        assert!(self.h.order.run(self.h.order.row(top.slot())).is_some(), "what was restored is a run");
    }

    /// A subtree that is none any more is refused by all, and comes back.
    fn refuse(&mut self, subtree: Subtree<Hash>) {
        let error = RestoreError::NotReserved(NotReserved { node: subtree.root() });
        let refused = self.h.restore(subtree).unwrap_err();
        assert_eq!(refused.error, error);
        let refused = self.h.restore_under(refused.subtree, None).unwrap_err();
        assert_eq!(refused.error, error);
        let refused = self.h.restore_at(refused.subtree, None, usize::MAX).unwrap_err();
        assert_eq!(refused.error, error);
        assert_eq!(self.h.discard(refused.subtree).unwrap_err().error, error);
    }

    pub(super) fn discard(&mut self, a: u32) {
        if self.out.is_empty() {
            return;
        }
        let Out { subtree, nodes, .. } = self.out.swap_remove(a as usize % self.out.len());
        let copy = subtree.clone();
        assert_eq!(self.h.discard(subtree).unwrap(), nodes.len());
        self.dead.extend(nodes.iter().map(|node| node.0));
        self.refuse(copy);
    }

    /// Ids of the same slots and generations, taken out of another hierarchy.
    pub(super) fn refuse_a_strangers(&mut self) {
        let mut other = self.h.clone();
        if let Some(root) = &self.forest.roots.last().copied() {
            let stranger = other.take_subtree(*root).unwrap();
            self.refuse(stranger.clone());
            let own = self.h.clone().take_subtree(*root).unwrap();
            assert_eq!(other.restore(own).unwrap_err().error, NotReserved { node: *root }.into());
            assert_eq!(other.restore(stranger).unwrap(), *root);
        }
        // What was out before the copy goes into either.
        if let Some(out) = self.out.last() {
            assert_eq!(other.restore_under(out.subtree.clone(), None).unwrap(), out.nodes[0].0);
            other.assert_well_formed();
        }
    }

    /// Reserved are exactly the ids that are out.
    pub(super) fn check_reserved(&self) {
        let out: BTreeSet<_> = self.out.iter().flat_map(Out::ids).collect();
        for &id in &out {
            assert!(self.h.is_reserved(id) && !self.h.contains(id), "{id:?} is not reserved");
            assert_eq!(self.h.world(id), Err(StaleNode { node: id }));
        }
        assert!(self.live.iter().chain(self.dead.iter().rev().take(20)).all(|&id| !self.h.is_reserved(id)));
    }
}

/// A node and what is below it, parents first, children in order.
fn cut_out(forest: &Forest<u64>, id: NodeId) -> Vec<(NodeId, forest::Node<u64>)> {
    forest.subtree(id).into_iter().map(|id| (id, forest.nodes[&id].clone())).collect()
}

/// A tree of random parents, sorted and updated.
fn tree(random: &mut Random, nodes: usize) -> (Pair, Vec<NodeId>) {
    let mut pair = Pair::new();
    let ids = (0..nodes).fold(Vec::new(), |mut ids: Vec<NodeId>, at| {
        let parent = (at > 0).then(|| ids[random.below(at)]);
        ids.push(pair.insert(parent, 0, random.pose()));
        ids
    });
    pair.h.optimize();
    pair.update();
    (pair, ids)
}

/// What comes in is dirty, and nothing else; and it is one run, so that each row is computed once.
#[test]
fn what_comes_in_costs_its_own_rows() {
    let mut random = Random(17);
    let (mut pair, ids) = tree(&mut random, 3_000);
    let (other, _) = tree(&mut random, 50);
    for round in 0..200 {
        let (id, parent) = (ids[1 + random.below(ids.len() - 1)], ids[0]);
        let size = pair.forest.subtree(id).len();
        let cost = match round % 4 {
            0 => {
                pair.clone_subtree(id, Some(parent));
                size
            }
            1 => {
                pair.append(&other, Some(parent));
                50
            }
            _ => {
                pair.take(id);
                assert!(pair.h.worlds().is_some(), "what goes out makes nothing dirty");
                pair.restore(0, None, 0);
                size
            }
        };
        let visits = update(&mut pair.h);
        assert_eq!(visits, cost, "rows computed in round {round}");
    }
    pair.check();
}

/// Scatters nothing, and marks what moved.
#[test]
fn a_flat_subtree_is_swept_as_it_was() {
    let mut random = Random(19);
    for round in 0..100 {
        let (mut pair, ids) = tree(&mut random, 300);
        let id = ids[random.below(60)];
        let below = pair.forest.subtree(id).len() - 1;
        let children = pair.forest.list(Some(id)).len();
        let seen = pair.h.worlds().unwrap().version();
        pair.flatten(id, [Keep::Local, Keep::World, Keep::WorldTrs][round % 3]);
        let runs = pair.live.iter().filter(|id| pair.h.order.run(pair.h.order.row(id.slot())).is_some());
        assert_eq!(runs.count(), pair.live.len(), "scattered nodes");
        let swept = update(&mut pair.h);
        // The children lie between.
        assert!((below - children..=below).contains(&swept), "{swept} rows were computed");
        assert_eq!(pair.h.worlds().unwrap().changed_since(seen).count(), below - children);
        pair.check();
    }
}

/// A subtree under itself, and under its own descendants, again and again.
#[test]
fn a_copy_below_itself_holds_what_was_there_before() {
    let mut random = Random(23);
    let (mut pair, ids) = tree(&mut random, 5);
    for at in 0..6 {
        let size = pair.live.len();
        let last = pair.live[random.below(size)];
        pair.clone_subtree(ids[0], Some(if at % 2 == 0 { last } else { ids[0] }));
        assert_eq!(pair.live.len(), 2 * size);
        pair.check();
    }
}

/// Holes that outnumber nodes are dropped before anything is laid out: rows change under what is copied.
#[test]
fn what_comes_in_compacts_first() {
    let mut random = Random(37);
    for round in 0..30 {
        let (mut pair, ids) = tree(&mut random, 400);
        let id = *ids.iter().find(|&&id| (20..60).contains(&pair.forest.subtree(id).len())).unwrap();
        let out = (round % 3 == 0).then(|| pair.forest.list(Some(id))[0]);
        out.into_iter().for_each(|id| pair.take(id));
        for &other in &ids {
            if pair.h.contains(other)
                && !pair.forest.is_at_or_above(other, id)
                && !pair.forest.is_at_or_above(id, other)
            {
                pair.remove_subtree(other);
            }
        }
        pair.update();
        assert!(pair.h.order.is_crowded());
        match round % 3 {
            0 => pair.restore(0, None, 0),
            1 => pair.clone_subtree(id, Some(id)),
            _ => pair.append(&pair.clone(), Some(id)),
        }
        assert_eq!(pair.h.order.len(), pair.live.len(), "holes");
        pair.check();
    }
}

/// What `clear` removes does not come back; what was out before does.
#[test]
fn reserved_ids_outlive_clear() {
    let mut random = Random(29);
    let (mut pair, ids) = tree(&mut random, 40);
    let id = *ids.iter().find(|&&id| pair.forest.subtree(id).len() == 3).unwrap();
    pair.take(id);
    pair.h.clear();
    pair.forest = Forest::new();
    let removed = core::mem::take(&mut pair.live);
    pair.removed(&removed);
    pair.check();
    for _ in 0..60 {
        pair.insert(None, 0, random.pose());
    }
    pair.check();
    pair.restore(0, None, 0);
    assert_eq!(pair.out.len(), 1, "its parent is gone");
    pair.restore(0, None, 1);
    pair.check();
    assert_eq!(pair.live.len(), 63);
}

/// Undo and redo, last in, first out: all comes back in its place.
#[test]
fn what_is_taken_out_last_comes_back_first() {
    let mut random = Random(31);
    let (mut pair, ids) = tree(&mut random, 200);
    let (shape, worlds) = (pair.forest.pre_order(), pair.worlds());
    for _ in 0..20 {
        for _ in 0..30 {
            let at = ids[random.below(ids.len())];
            if pair.h.contains(at) {
                pair.take(at);
                pair.insert(None, 0, random.pose());
                let new = *pair.live.last().unwrap();
                pair.remove_subtree(new);
            }
        }
        pair.check();
        while let Some(last) = pair.out.len().checked_sub(1) {
            pair.restore(last as u32, None, 0);
        }
        pair.check();
        assert_eq!((pair.forest.pre_order(), pair.worlds()), (shape.clone(), worlds.clone()));
    }
}
