//! Structure, row order, marks and propagation, over an accumulation in which every mistake shows.

#[path = "../../tests/common/forest.rs"]
mod forest;
mod inherit;
mod readers;
mod scripts;
mod shapes;
mod strays;
mod subtrees;

use super::{HierarchyOf, Keep};
use crate::accumulate::Accumulate;
use crate::accumulate::hash::{self, Hash, compose, hung, pose, reduced, twist};
use crate::{Error, Inherit, NodeId};
use alloc::{collections::BTreeMap, vec, vec::Vec};
use forest::Forest;

/// A hierarchy next to a forest in which worlds are products down the path, and nothing is cached.
#[derive(Clone)]
struct Pair {
    h: HierarchyOf<Hash>,
    forest: Forest<u64>,
    /// Of nodes that do not inherit everything.
    inherits: BTreeMap<NodeId, Inherit>,
    /// For drawing nodes by number.
    live: Vec<NodeId>,
    dead: Vec<NodeId>,
    /// Taken out, and neither restored nor discarded.
    out: Vec<subtrees::Out>,
}

/// What a node is to hang under, and the pose it is to have there.
struct Change {
    id: NodeId,
    frame: u64,
    inherit: Inherit,
    wanted: u64,
    solvable: bool,
}

impl Pair {
    fn new() -> Self {
        let (forest, inherits) = (Forest::new(), BTreeMap::new());
        Self { h: HierarchyOf::new(), forest, inherits, live: Vec::new(), dead: Vec::new(), out: Vec::new() }
    }

    fn worlds(&self) -> BTreeMap<NodeId, u64> {
        let (mut worlds, mut poses) = (BTreeMap::new(), BTreeMap::new());
        for id in self.forest.pre_order() {
            let above = self.forest.parent(id).map(|parent| (worlds[&parent], poses[&parent]));
            let (world, pose) = self.below(above, id);
            worlds.insert(id, world);
            poses.insert(id, pose);
        }
        worlds
    }

    fn inherit(&self, id: NodeId) -> Inherit {
        self.inherits.get(&id).copied().unwrap_or_default()
    }

    /// World and component pose of a node from those of its parent.
    fn below(&self, above: Option<(u64, u64)>, id: NodeId) -> (u64, u64) {
        let (value, inherit) = (self.forest.nodes[&id].value, self.inherit(id));
        let Some((world, pose)) = above else { return (value, value) };
        let frame = if inherit == Inherit::ALL { world } else { reduced(pose, inherit) };
        (hung(frame, inherit, value), twist(hung(reduced(pose, inherit), inherit, value)))
    }

    fn pose(&self, id: NodeId) -> (u64, u64) {
        self.forest.path(id).into_iter().fold(None, |above, id| Some(self.below(above, id))).unwrap()
    }

    fn world(&self, id: NodeId) -> u64 {
        self.pose(id).0
    }

    /// What a node hangs under that inherits this much of a parent, seen from the world, and whether that
    /// can be solved for: an even factor has no inverse modulo a power of two.
    fn frame(&self, parent: Option<NodeId>, inherit: Inherit) -> (u64, bool) {
        let Some(parent) = parent else { return (Hash::WIDE_IDENTITY, true) };
        let (world, pose) = self.pose(parent);
        if inherit == Inherit::ALL {
            return (world, world >> 32 & 1 == 1);
        }
        let frame = reduced(pose, inherit);
        (frame, frame >> 32 & 1 == 1)
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
            // Not that of the processors, of which there may be one.
            static POOLS: std::sync::OnceLock<[rayon::ThreadPool; 2]> = std::sync::OnceLock::new();
            let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for pool in POOLS.get_or_init(|| [2, 5].map(pool)) {
                let mut parallel = self.h.clone();
                pool.install(|| parallel.update_parallel());
                assert_eq!(parallel.worlds().unwrap().rows(), updated.worlds().unwrap().rows(), "by many threads");
            }
        }
        for (&id, &world) in &worlds {
            assert_eq!(self.held(id), self.forest.nodes[&id].value, "local of {id:?}");
            assert_eq!(self.h.inherit(id), Ok(self.inherit(id)));
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
        self.inherits.retain(|id, _| self.forest.nodes.contains_key(id));
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
        let change = (!cycle).then(|| self.change(id, parent, self.inherit(id)));
        let due = match (index, &change) {
            (Some(index), _) if index > count => "index",
            (_, None) => "cycle",
            (_, Some(change)) if keep != Keep::Local && !change.solvable => "singular",
            _ => "",
        };
        match got.map_err(Error::from) {
            Ok(previous) => {
                assert_eq!((previous, due), (old, ""));
                self.forest.relocate(id, parent, index.unwrap_or(count));
                self.take_over(&change.unwrap(), keep);
            }
            Err(Error::OutOfRange(_)) => assert_eq!(due, "index"),
            Err(Error::Cycle(_)) => assert_eq!(due, "cycle"),
            Err(Error::SingularParent(_)) => assert_eq!(due, "singular"),
            Err(error) => panic!("{error:?}"),
        }
    }

    /// What is due, before it is done, if a node is to hang under another parent or inherit other parts, and
    /// to keep its world: seen from the lowest node from which all is a product.
    fn change(&self, id: NodeId, parent: Option<NodeId>, inherit: Inherit) -> Change {
        let (old, was) = (self.forest.parent(id), self.inherit(id));
        let value = self.forest.nodes[&id].value;
        let stays = old == parent && (was == inherit || parent.is_none());
        let (from, to) = self.forest.diverging(old, parent);
        let is_product = was == Inherit::ALL && inherit == Inherit::ALL;
        if stays || is_product && !from.iter().chain(&to).any(|id| self.inherits.contains_key(id)) {
            let flat = |id: &NodeId| (self.forest.nodes[id].value >> 32) % 2 == 0;
            let (frame, wanted) = (self.product(&to), compose(self.product(&from), value));
            return Change { id, frame, inherit: Inherit::ALL, wanted, solvable: !to.iter().any(flat) };
        }
        let (frame, solvable) = self.frame(parent, inherit);
        let inherit = if parent.is_none() { Inherit::ALL } else { inherit };
        Change { id, frame, inherit, wanted: self.world(id), solvable }
    }

    /// Takes over a local value that was solved for, once it has been seen to solve.
    fn take_over(&mut self, change: &Change, keep: Keep) {
        if keep != Keep::Local {
            let (id, solved) = (change.id, self.held(change.id));
            let got = hung(change.frame, change.inherit, solved);
            assert_eq!(got, change.wanted, "world of {id:?} was not kept");
            self.forest.nodes.get_mut(&id).unwrap().value = solved;
        }
    }

    fn set_inherit(&mut self, id: NodeId, inherit: Inherit, keep: Keep) {
        let change = self.change(id, self.forest.parent(id), inherit);
        match self.h.set_inherit(id, inherit, keep) {
            Ok(()) => {
                assert!(change.solvable || keep == Keep::Local);
                self.inherits.insert(id, inherit);
                self.inherits.retain(|_, inherit| *inherit != Inherit::ALL);
                self.take_over(&change, keep);
            }
            Err(error) => {
                assert!(matches!(error, crate::ReparentError::SingularParent(_)), "{error:?}");
                assert!(!change.solvable && keep != Keep::Local);
            }
        }
        assert_eq!(self.h.inherit(id), Ok(self.inherit(id)));
    }

    fn promote(&mut self, id: NodeId, keep: Keep) {
        let parent = self.forest.parent(id);
        let children = self.forest.nodes[&id].children.iter();
        let changes: Vec<_> = children.map(|&child| self.change(child, parent, self.inherit(child))).collect();
        let due = keep == Keep::Local || changes.iter().all(|change| change.solvable);
        assert_eq!(self.h.remove_and_promote(id, keep).is_ok(), due);
        if due {
            self.forest.promote(id);
            changes.iter().for_each(|change| self.take_over(change, keep));
            self.removed(&[id]);
        }
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

/// Each row below what is dirty is taken once. What is swept besides lies between such rows, where to sweep on is
/// quicker than to begin anew: a handful in these tests, and never once more all there is.
///
/// Of component poses, as many as there are rows may be taken one by one before that makes a trunk pay, those of one
/// more way down, and then all again with the trunk.
fn update(h: &mut HierarchyOf<Hash>) -> usize {
    let rows = h.order.len();
    let before = (hash::swept(), hash::posed());
    h.update();
    let (visits, poses) = (hash::swept() - before.0, hash::posed() - before.1);
    assert!(visits <= 2 * rows + 300, "{visits} rows were computed in an update of {rows}");
    assert!(poses <= 3 * rows + 800, "{poses} component poses were computed in an update of {rows}");
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
