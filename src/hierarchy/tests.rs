//! Structure, row order, marks and propagation, over an accumulation in which every mistake shows.

#[path = "../../tests/common/forest.rs"]
mod forest;
mod readers;
mod scripts;
mod shapes;
mod subtrees;

use super::{HierarchyOf, Keep};
use crate::accumulate::Accumulate;
use crate::accumulate::hash::{self, Hash, compose, pose};
use crate::{Error, NodeId};
use alloc::{collections::BTreeMap, vec, vec::Vec};
use forest::Forest;

/// A hierarchy next to a forest in which worlds are products down the path, and nothing is cached.
#[derive(Clone)]
struct Pair {
    h: HierarchyOf<Hash>,
    forest: Forest<u64>,
    /// For drawing nodes by number.
    live: Vec<NodeId>,
    dead: Vec<NodeId>,
    /// Taken out, and neither restored nor discarded.
    out: Vec<subtrees::Out>,
}

impl Pair {
    fn new() -> Self {
        Self { h: HierarchyOf::new(), forest: Forest::new(), live: Vec::new(), dead: Vec::new(), out: Vec::new() }
    }

    fn worlds(&self) -> BTreeMap<NodeId, u64> {
        let mut worlds = BTreeMap::new();
        for id in self.forest.pre_order() {
            let node = &self.forest.nodes[&id];
            let world = node.parent.map_or(node.value, |parent| compose(worlds[&parent], node.value));
            worlds.insert(id, world);
        }
        worlds
    }

    fn world(&self, id: NodeId) -> u64 {
        self.product(&self.forest.path(id))
    }

    fn product(&self, path: &[NodeId]) -> u64 {
        path.iter().fold(Hash::WIDE_IDENTITY, |world, id| compose(world, self.forest.nodes[id].value))
    }

    fn held(&self, id: NodeId) -> u64 {
        self.h.own(id.slot()).transform
    }

    /// Shape, invariants and every world: as read now, and as rows after an update of a copy.
    fn check(&self) {
        self.h.assert_well_formed();
        self.forest.assert_shape(&self.h);
        let worlds = self.worlds();
        let mut updated = self.h.clone();
        update(&mut updated);
        updated.assert_well_formed();
        #[cfg(feature = "rayon")]
        {
            let mut parallel = self.h.clone();
            assert_eq!(parallel.update_parallel().rows(), updated.worlds().unwrap().rows(), "rows by many threads");
        }
        for (&id, &world) in &worlds {
            assert_eq!(self.held(id), self.forest.nodes[&id].value, "local of {id:?}");
            assert_eq!(self.h.world(id), Ok(world), "lazily read world of {id:?}");
            let worlds = updated.worlds().unwrap();
            assert_eq!(worlds[id], world, "updated world of {id:?}");
            assert_eq!(worlds.id_of_row(worlds.row_of(id).unwrap()), Some(id));
        }
        let rows = updated.worlds().unwrap().rows();
        let used = (0..rows.len()).filter(|&row| updated.worlds().unwrap().id_of_row(row).is_some());
        assert_eq!(used.count(), worlds.len());
        self.dead.iter().rev().take(20).for_each(|&id| assert!(!self.h.contains(id) && self.h.world(id).is_err()));
        self.check_reserved();
    }

    fn insert(&mut self, parent: Option<NodeId>, index: usize, local: u64) -> NodeId {
        let id = self.h.insert_child_at(parent, index, local).unwrap();
        self.inserted(id, parent, index, local);
        id
    }

    fn inserted(&mut self, id: NodeId, parent: Option<NodeId>, index: usize, local: u64) {
        self.forest.insert(id, parent, index, local);
        self.live.push(id);
    }

    fn removed(&mut self, ids: &[NodeId]) {
        self.live.retain(|id| self.forest.nodes.contains_key(id));
        self.dead.extend(ids);
    }

    fn set(&mut self, id: NodeId, local: u64) {
        self.h.set_local(id, local).unwrap();
        self.forest.nodes.get_mut(&id).unwrap().value = local;
    }

    /// Reparents, or checks that the refusal is the one that is due.
    fn reparent(&mut self, id: NodeId, parent: Option<NodeId>, index: Option<usize>, keep: Keep) {
        let old = self.forest.parent(id);
        let count = self.forest.list(parent).len() - usize::from(parent == old);
        let got = match index {
            Some(index) => self.h.reparent_at(id, parent, index, keep),
            None => self.h.reparent(id, parent, keep),
        };
        let cycle = parent.is_some_and(|parent| self.forest.is_at_or_above(id, parent));
        let (from, to) = self.forest.diverging(old, parent);
        // An even factor has no inverse modulo a power of two.
        let flat = |id: &NodeId| (self.forest.nodes[id].value >> 32) % 2 == 0;
        let due = match index {
            Some(index) if index > count => "index",
            _ if cycle => "cycle",
            _ if keep != Keep::Local && to.iter().any(flat) => "singular",
            _ => "",
        };
        match got.map_err(Error::from) {
            Ok(previous) => {
                assert_eq!((previous, due), (old, ""));
                let wanted = compose(self.product(&from), self.forest.nodes[&id].value);
                self.forest.relocate(id, parent, index.unwrap_or(count));
                self.take_over(id, &to, wanted, keep);
            }
            Err(Error::OutOfRange(_)) => assert_eq!(due, "index"),
            Err(Error::Cycle(_)) => assert_eq!(due, "cycle"),
            Err(Error::SingularParent(_)) => assert_eq!(due, "singular"),
            Err(error) => panic!("{error:?}"),
        }
    }

    /// Takes over a local value that was solved for, once it has been seen to solve.
    fn take_over(&mut self, id: NodeId, to: &[NodeId], wanted: u64, keep: Keep) {
        if keep != Keep::Local {
            let solved = self.held(id);
            assert_eq!(compose(self.product(to), solved), wanted, "world of {id:?} was not kept");
            self.forest.nodes.get_mut(&id).unwrap().value = solved;
        }
    }

    fn promote(&mut self, id: NodeId, keep: Keep) {
        let own = self.forest.nodes[&id].value;
        let children = self.forest.nodes[&id].children.clone();
        self.h.remove_and_promote(id, keep).unwrap();
        self.forest.promote(id);
        for child in children {
            let wanted = compose(own, self.forest.nodes[&child].value);
            self.take_over(child, &[], wanted, keep);
        }
        self.removed(&[id]);
    }

    fn remove_subtree(&mut self, id: NodeId) {
        let removed = self.forest.remove_subtree(id);
        assert_eq!(self.h.remove_subtree(id), Ok(removed.len()));
        self.removed(&removed);
    }

    /// Updates, and checks that no more rows were computed than the bound that keeps updates linear.
    fn update(&mut self) {
        update(&mut self.h);
        assert!(self.h.worlds().is_some());
    }
}

/// The budget may be spent, and overrun by one sweep, before a sort; after it each row is due once.
fn update(h: &mut HierarchyOf<Hash>) -> usize {
    let rows = h.order.len();
    let before = hash::swept();
    h.update();
    let visits = hash::swept() - before;
    assert!(visits <= 4 * rows + 300, "{visits} rows were computed in an update of {rows}");
    visits
}

/// Numbers for scripts too long to be worth shrinking (G. Marsaglia's xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        ((self.next() >> 11) % n as u64) as usize
    }

    fn pose(&mut self) -> u64 {
        let bits = self.next();
        pose((bits >> 32) as u32 | 1, bits as u32)
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end + 1));
        }
    }
}
