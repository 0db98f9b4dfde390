//! Random edits, small ones drawn by proptest and long ones from a seed.

use super::*;
use crate::StaleNode;
use crate::features::proptest::{self as strategies, Shape};
use proptest::prelude::*;

/// What is done, and numbers from which the nodes, places and values for it are picked.
pub(super) type Step = (u8, u32, u32, u32);

pub(super) const KINDS: u8 = 44;

/// So many nodes that copying what there is would make a script slow.
const MANY: usize = 4_000;

fn keep(n: u32) -> Keep {
    [Keep::Local, Keep::World, Keep::WorldTrs][n as usize % 3]
}

/// Flat once in eight.
fn local(n: u32) -> u64 {
    let bits = u64::from(n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    pose((bits >> 32) as u32 | u32::from(n % 8 != 0), bits as u32 ^ n)
}

/// Everything half the time, so that nodes lose and regain what they inherit.
fn inherit(n: u32) -> Inherit {
    let bits = if n % 2 == 0 { 7 } else { n / 2 % 8 };
    Inherit { position: bits & 1 != 0, rotation: bits & 2 != 0, scale: bits & 4 != 0 }
}

impl Pair {
    pub(super) fn pick(&self, n: u32) -> Option<NodeId> {
        (!self.live.is_empty()).then(|| self.live[n as usize % self.live.len()])
    }

    /// A node, or, once in six, none.
    fn pick_parent(&self, n: u32) -> Option<NodeId> {
        if n % 6 == 0 { None } else { self.pick(n / 6) }
    }

    pub(super) fn step(&mut self, (kind, a, b, c): Step) {
        let parent = self.pick_parent(b);
        let Some(id) = self.pick(a) else {
            self.insert(None, 0, local(c));
            return;
        };
        match kind % KINDS {
            0..=2 => {
                let id = match parent {
                    Some(parent) => self.h.add_child(parent, local(c)),
                    None => self.h.add_root(local(c)),
                };
                let index = self.forest.list(parent).len();
                self.inserted(id.unwrap(), parent, index, local(c));
            }
            3 => {
                let index = a as usize % (self.forest.list(parent).len() + 1);
                self.insert(parent, index, local(c));
            }
            4 => {
                let new = self.h.insert_before(id, local(c)).unwrap();
                self.inserted(new, self.forest.parent(id), self.forest.index(id), local(c));
            }
            5 => {
                let new = self.h.insert_after(id, local(c)).unwrap();
                self.inserted(new, self.forest.parent(id), self.forest.index(id) + 1, local(c));
            }
            6 | 7 => self.extend(parent, a, c),
            8 => self.remove_subtree(id),
            9 => {
                let removed: Vec<_> = self.forest.subtree(id).split_off(1);
                for child in self.forest.list(Some(id)).to_vec() {
                    self.forest.remove_subtree(child);
                }
                assert_eq!(self.h.remove_children(id), Ok(removed.len()));
                self.removed(&removed);
            }
            10 | 11 => self.promote(id, keep(c)),
            12..=16 => self.reparent(id, parent, None, keep(c)),
            17 => self.reparent(id, parent, Some(a as usize % (self.forest.list(parent).len() + 2)), keep(c)),
            18 => {
                let (old, change) = (self.forest.parent(id), self.change(id, None, self.inherit(id)));
                assert_eq!(self.h.detach(id, keep(c)), Ok(old));
                let index = self.forest.roots.len() - usize::from(old.is_none());
                self.forest.relocate(id, None, index);
                self.take_over(&change, keep(c));
            }
            19 => {
                let children = self.forest.list(Some(id)).to_vec();
                let change = |&child: &NodeId| self.change(child, None, self.inherit(child));
                let changes: Vec<_> = children.iter().map(change).collect();
                self.h.detach_children(id, keep(c)).unwrap();
                for change in changes {
                    self.forest.relocate(change.id, None, self.forest.roots.len());
                    self.take_over(&change, keep(c));
                }
            }
            20 | 21 => self.move_among_siblings(id, b, c),
            22..=25 => self.set(id, local(c)),
            26 => {
                let values: Vec<_> = (0..c % 8)
                    .map(|n| (self.live[a.wrapping_add(n) as usize % self.live.len()], local(c ^ n)))
                    .collect();
                self.h.set_locals(&values).unwrap();
                for (id, local) in values {
                    self.forest.nodes.get_mut(&id).unwrap().value = local;
                }
            }
            27 | 28 => self.update(),
            29 => {
                if c % 2 == 0 {
                    self.h.optimize();
                } else {
                    self.h.shrink_to_fit();
                }
            }
            30 => self.h = self.h.clone(),
            32 | 33 if self.live.len() + self.forest.subtree(id).len() < MANY => self.clone_subtree(id, parent),
            34 => self.flatten(id, keep(c)),
            35 | 36 if self.out.len() < 8 => self.take(id),
            37 | 38 => self.restore(a, parent, c),
            39 => self.discard(a),
            40 if c % 4 == 0 => self.refuse_a_strangers(),
            40 if self.live.len() < 40 => self.append(&self.clone(), parent),
            40 => {
                let mut other = Pair::new();
                (0..8).for_each(|n| other.step((n, a ^ n as u32, b, c ^ n as u32)));
                match other.pick(b) {
                    Some(id) if c % 2 == 0 => self.append_subtree(&other, id, parent),
                    _ => self.append(&other, parent),
                }
            }
            41.. => self.set_inherit(id, inherit(b), keep(c)),
            32.. => {}
            _ if c % 16 == 0 => {
                self.h.clear();
                self.forest = Forest::new();
                let removed = core::mem::take(&mut self.live);
                self.removed(&removed);
            }
            _ => self.use_stale(a, id, keep(c)),
        }
    }

    /// Parents in any order, and lists with a cycle among them.
    fn extend(&mut self, parent: Option<NodeId>, seed: u32, c: u32) {
        let mut random = Random(u64::from(seed) << 32 | u64::from(c) | 1);
        let count = random.below(6);
        let mut names: Vec<_> = (0..count).collect();
        random.shuffle(&mut names);
        let mut parents = vec![None; count];
        for at in 1..count {
            parents[names[at]] = (random.below(4) != 0).then(|| names[random.below(at)]);
        }
        let locals: Vec<_> = (0..count).map(|_| local(random.next() as u32)).collect();
        if count > 0 && seed % 4 == 0 {
            let mut wrong = parents.clone();
            wrong[names[0]] = Some(names[count - 1]);
            if !leads_to_top(&wrong, names[0]) {
                let refused = self.h.extend(parent, &wrong, &locals).unwrap_err();
                assert!(matches!(refused.cause, crate::InsertError::ParentsCycle(_)));
                assert!(!leads_to_top(&wrong, refused.index.unwrap()));
            }
            wrong[names[0]] = Some(count);
            assert_eq!(self.h.extend(parent, &wrong, &locals).unwrap_err().index, Some(names[0]));
        }
        let ids = self.h.extend(parent, &parents, &locals).unwrap();
        // A parent must be in the forest before its children: in the order in which they were made up.
        let place = self.forest.list(parent).len();
        for &name in &names {
            let above = parents[name].map_or(parent, |above| Some(ids[above]));
            self.inserted(ids[name], above, self.forest.list(above).len(), locals[name]);
        }
        // Children come in the order of entries.
        let rank = |id: &NodeId| ids.iter().position(|other| other == id);
        match parent {
            Some(parent) => self.forest.nodes.get_mut(&parent).unwrap().children[place..].sort_by_key(rank),
            None => self.forest.roots[place..].sort_by_key(rank),
        }
        for id in &ids {
            self.forest.nodes.get_mut(id).unwrap().children.sort_by_key(rank);
        }
    }

    fn move_among_siblings(&mut self, id: NodeId, b: u32, c: u32) {
        let parent = self.forest.parent(id);
        let siblings = self.forest.list(parent);
        let index = b as usize % (siblings.len() + 1);
        let dirty = self.h.worlds().is_none();
        if c % 3 == 0 {
            let moved = self.h.move_to_index(id, index);
            assert_eq!(moved.is_ok(), index < siblings.len());
            if moved.is_ok() {
                self.forest.relocate(id, parent, index);
            }
        } else {
            let sibling = siblings[index.min(siblings.len() - 1)];
            let after = c % 3 == 1;
            if after { self.h.move_after(id, sibling) } else { self.h.move_before(id, sibling) }.unwrap();
            if sibling != id {
                let from = self.forest.index(id);
                let at = self.forest.index(sibling);
                self.forest.relocate(id, parent, at - usize::from(from < at) + usize::from(after));
            }
            if let Some(&stranger) = self.live.iter().find(|&&other| self.forest.parent(other) != parent) {
                assert!(self.h.move_after(id, stranger).is_err());
            }
        }
        assert_eq!(self.h.worlds().is_none(), dirty, "the order of siblings changes no pose");
    }

    fn use_stale(&mut self, a: u32, id: NodeId, keep: Keep) {
        let out: Vec<_> = self.out.iter().flat_map(|out| out.ids()).collect();
        let stale = if a % 2 == 0 && !out.is_empty() { &out } else { &self.dead };
        if stale.is_empty() {
            return;
        }
        let node = stale[a as usize / 2 % stale.len()];
        let (h, stale) = (&mut self.h, StaleNode { node });
        assert_eq!(h.add_child(node, u64::MAX), Err(stale.into()));
        assert_eq!(h.insert_child_at(node, 9, u64::MAX), Err(stale.into()));
        assert_eq!(h.insert_before(node, 1), Err(stale.into()));
        assert_eq!(h.insert_after(node, 1), Err(stale.into()));
        assert_eq!(h.extend(node, &[], &[]), Err(stale.into()));
        assert_eq!(h.remove_subtree(node), Err(stale));
        assert_eq!(h.remove_children(node), Err(stale));
        assert_eq!(h.remove_and_promote(node, keep), Err(stale.into()));
        assert_eq!(h.reparent(node, id, keep), Err(stale.into()));
        assert_eq!(h.reparent(id, node, keep), Err(stale.into()));
        assert_eq!(h.reparent_at(id, node, 99, keep), Err(stale.into()));
        assert_eq!(h.detach(node, keep), Err(stale.into()));
        assert_eq!(h.detach_children(node, keep), Err(stale.into()));
        assert_eq!(h.move_before(node, id), Err(stale.into()));
        assert_eq!(h.move_after(id, node), Err(stale.into()));
        assert_eq!(h.move_to_index(node, 99), Err(stale.into()));
        assert_eq!(h.set_local(node, u64::MAX), Err(stale.into()));
        assert_eq!(h.clone_subtree(node, id), Err(stale));
        assert_eq!(h.clone_subtree(id, node), Err(stale));
        assert_eq!(h.append(&HierarchyOf::new(), node), Err(stale));
        assert_eq!(h.append_subtree(&h.clone(), node, id), Err(stale));
        assert_eq!(h.append_subtree(&h.clone(), id, node), Err(stale));
        assert_eq!(h.flatten(node, keep), Err(stale.into()));
        assert_eq!(h.take_subtree(node).unwrap_err(), stale);
        assert_eq!(h.world(node), Err(stale));
        assert_eq!(h.is_dirty(node), Err(stale));
        assert_eq!(h.inherit(node), Err(stale));
        assert_eq!(h.set_inherit(node, Inherit::NONE, keep), Err(stale.into()));
    }
}

/// Whether going up from an entry ends.
fn leads_to_top(parents: &[Option<usize>], entry: usize) -> bool {
    let mut at = Some(entry);
    for _ in 0..=parents.len() {
        let Some(entry) = at else { return true };
        at = parents[entry];
    }
    false
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn short_scripts(steps in prop::collection::vec(any::<Step>(), 1..60)) {
        let mut pair = Pair::new();
        for step in steps {
            pair.step(step);
            pair.check();
            for &id in &pair.live {
                pair.forest.assert_walks(&pair.h, id);
            }
            if let (Some(a), Some(b)) = (pair.pick(step.1), pair.pick(step.2)) {
                pair.forest.assert_relation(&pair.h, a, b);
            }
        }
    }
}

/// Grows to thousands of nodes, with more removals later on, so that rows are compacted, strays add up and
/// updates are sorts.
fn long_script(seed: u64, steps: usize, quiet: &[u8]) {
    let mut random = Random(seed);
    let mut pair = Pair::new();
    for at in 0..steps {
        let mut kind = random.next() as u8 % KINDS;
        // What removes whole subtrees would keep the forest small; it gets its turn at times.
        let thinning = at % 1000 > 900;
        if kind == 31 || !thinning && matches!(kind, 8 | 9 | 39) || quiet.contains(&kind) {
            kind = [0, 6, 7, 22][random.below(4)];
        }
        let n = [(); 3].map(|()| random.next() as u32);
        pair.step((kind, n[0], n[1], n[2]));
        if let Some(id) = pair.pick(n[1]) {
            assert_eq!(pair.h.world(id), Ok(pair.world(id)), "lazily read world of {id:?} in step {at}");
        }
        if at % 250 == 249 {
            pair.check();
        }
    }
    pair.check();
    for n in 0..50 {
        let (Some(a), Some(b)) = (pair.pick(n), pair.pick(n * 7)) else { continue };
        pair.forest.assert_walks(&pair.h, a);
        pair.forest.assert_relation(&pair.h, a, b);
    }
}

#[test]
fn long_scripts_of_everything() {
    long_script(0x2545_f491_4f6c_dd1d, 6_000, &[]);
}

#[test]
fn long_scripts_with_few_updates() {
    long_script(0x9e37_79b9_7f4a_7c15, 6_000, &[27, 29]);
}

#[test]
fn long_scripts_that_never_sort_by_request() {
    long_script(0xd134_2543_de82_ef95, 6_000, &[29, 18, 19]);
}

/// A product of locals from the root down, begun anew under the component pose where not everything is inherited.
fn accumulated(h: &HierarchyOf<Hash>, id: NodeId) -> u64 {
    let above: Vec<_> = h.ancestors(id).unwrap().collect();
    let mut path = above.into_iter().rev().chain([id]);
    let own = |id: NodeId| h.own(id.slot()).transform;
    let root = own(path.next().unwrap());
    let (world, _) = path.fold((root, root), |(world, pose), id| {
        let inherit = h.inherit(id).unwrap();
        let hung = hung(reduced(pose, inherit), inherit, own(id));
        (if inherit == Inherit::ALL { compose(world, own(id)) } else { hung }, twist(hung))
    });
    world
}

proptest! {
    /// The edits that are published for the tests of others, here over the accumulation that hides nothing.
    #[test]
    fn published_edits_leave_no_stale_row(
        mut h in strategies::hierarchies::<Hash>(Shape::Random, 0..40, any::<u32>().prop_map(local)),
        edits in prop::collection::vec(strategies::edits(any::<u32>().prop_map(local)), 1..60),
    ) {
        for edit in edits {
            let before = alloc::format!("{h:?}");
            if edit.apply(&mut h).is_err() {
                prop_assert_eq!(alloc::format!("{h:?}"), before);
            }
            h.assert_well_formed();
            let mut updated = h.clone();
            let worlds = updated.update();
            for id in h.roots().flat_map(|root| h.subtree(root).unwrap()) {
                let world = accumulated(&h, id);
                prop_assert_eq!((h.world(id).unwrap(), worlds[id]), (world, world), "{:?} of {:?}", id, h);
            }
        }
    }
}
