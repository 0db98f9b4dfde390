//! Slots, generations, the free list: which nodes exist. Never names a math type.

pub(crate) mod links;
pub(crate) mod reserved;
pub(crate) mod traverse;

use crate::{NodeId, StaleNode};
use alloc::vec::Vec;
use links::Links;
use reserved::Tickets;

/// The index that stands for "no node" in every link and row.
pub(crate) const NONE: u32 = u32::MAX;

/// The shape of the forest.
///
/// A slot's generation is odd while a node lives in it and even while it is free or
/// [reserved], so that an id, whose generation is odd, is valid exactly if the two are
/// equal. A slot whose odd generation cannot be raised any more goes to generation 0 and is never handed
/// out again: it is retired.
#[derive(Clone, Debug)]
pub(crate) struct Topology {
    generations: Vec<u32>,
    links: Vec<Links>,
    /// First free slot; the others follow through `Links::next`.
    free: u32,
    first_root: u32,
    last_root: u32,
    len: u32,
    tickets: Tickets,
}

/// Why ids cannot be handed out.
#[cfg(feature = "serde")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadId {
    #[error("{id:?} names slot {} of {slots}; list every slot, with its node or as removed", id.slot())]
    Beyond { id: NodeId, slots: usize },
    #[error("the slot of {id:?} is listed twice")]
    Twice { id: NodeId },
}

impl Topology {
    pub(crate) const fn new() -> Self {
        Self {
            generations: Vec::new(),
            links: Vec::new(),
            free: NONE,
            first_root: NONE,
            last_root: NONE,
            len: 0,
            tickets: Tickets::new(),
        }
    }

    pub(crate) fn reserve(&mut self, additional: usize) {
        self.generations.reserve(additional);
        self.links.reserve(additional);
    }

    pub(crate) fn shrink_to_fit(&mut self) {
        self.generations.shrink_to_fit();
        self.links.shrink_to_fit();
    }

    /// Live nodes.
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    /// Slots, live or not.
    pub(crate) fn slots(&self) -> usize {
        self.generations.len()
    }

    pub(crate) fn contains(&self, id: NodeId) -> bool {
        self.generations.get(id.slot() as usize) == Some(&id.generation())
    }

    /// The slot of a live node.
    pub(crate) fn slot(&self, node: NodeId) -> Result<u32, StaleNode> {
        if self.contains(node) { Ok(node.slot()) } else { Err(StaleNode { node }) }
    }

    /// The slot of a live node, or [`NONE`] for none.
    pub(crate) fn slot_or_none(&self, node: Option<NodeId>) -> Result<u32, StaleNode> {
        node.map_or(Ok(NONE), |node| self.slot(node))
    }

    /// The id of the node in a live slot; `None` for [`NONE`] and for slots that are not live.
    pub(crate) fn id(&self, slot: u32) -> Option<NodeId> {
        let generation = *self.generations.get(slot as usize)?;
        if generation % 2 == 1 { NodeId::new(slot, generation) } else { None }
    }

    /// The id of the node in a slot that is known to be live.
    pub(crate) fn live(&self, slot: u32) -> NodeId {
        self.id(slot).expect("links lead to live slots")
    }

    /// Takes a slot for a node without links.
    ///
    /// # Panics
    /// If 2³² - 1 slots are in use.
    pub(crate) fn allocate(&mut self) -> u32 {
        let slot = self.free;
        if slot == NONE {
            let slot = u32::try_from(self.generations.len()).unwrap_or(NONE);
            assert!(slot != NONE, "capacity overflow: a hierarchy holds at most 2^32 - 1 nodes");
            self.generations.push(1);
            self.links.push(Links::DETACHED);
            self.len += 1;
            return slot;
        }
        self.free = self.links[slot as usize].next;
        self.links[slot as usize] = Links::DETACHED;
        self.generations[slot as usize] += 1;
        self.len += 1;
        slot
    }

    /// Gives a slot back; the caller has cut it out of the links.
    pub(crate) fn release(&mut self, slot: u32) {
        self.len -= 1;
        let generation = &mut self.generations[slot as usize];
        *generation = generation.wrapping_add(1);
        self.free_slot(slot);
    }

    /// Puts a slot that is neither live nor free any more into the free list, or retires it.
    fn free_slot(&mut self, slot: u32) {
        self.links[slot as usize] = Links::DETACHED;
        if self.generations[slot as usize] != 0 {
            self.push_free(slot);
        }
    }

    fn push_free(&mut self, slot: u32) {
        self.links[slot as usize].next = self.free;
        self.free = slot;
    }

    /// Releases every node. Reserved slots stay reserved.
    pub(crate) fn clear(&mut self) {
        (self.first_root, self.last_root) = (NONE, NONE);
        for slot in (0..self.generations.len() as u32).rev() {
            if self.generations[slot as usize] % 2 == 1 {
                self.release(slot);
            }
        }
    }

    /// The last id of every slot without a node: of the free ones in the order in which they are handed out
    /// again, then of the others.
    #[cfg(feature = "serde")]
    pub(crate) fn spent(&self) -> Vec<NodeId> {
        let mut listed = alloc::vec![false; self.slots()];
        let mut spent = Vec::with_capacity(self.slots() - self.len());
        let mut at = self.free;
        while at != NONE {
            listed[at as usize] = true;
            spent.push(at);
            at = self.links(at).next;
        }
        spent.extend((0..self.slots() as u32).filter(|&slot| !listed[slot as usize] && self.id(slot).is_none()));
        let last = |slot| NodeId::new(slot, self.generations[slot as usize].wrapping_sub(1));
        spent.into_iter().filter_map(last).collect()
    }

    /// No nodes, and slots from which [`allocate`](Self::allocate) takes these ids in this order, and then
    /// those of `spent` with their next generation. All ids must be allocated; each slot must come once.
    #[cfg(feature = "serde")]
    pub(crate) fn handing_out(ids: &[NodeId], spent: &[NodeId]) -> Result<Self, BadId> {
        let slots = ids.len() + spent.len();
        let mut listed = alloc::vec![false; slots];
        for &id in ids.iter().chain(spent) {
            match listed.get_mut(id.slot() as usize) {
                None => return Err(BadId::Beyond { id, slots }),
                Some(true) => return Err(BadId::Twice { id }),
                Some(listed) => *listed = true,
            }
        }
        let mut topology = Self::new();
        topology.generations = alloc::vec![0; slots];
        topology.links = alloc::vec![Links::DETACHED; slots];
        // The list is built from its end.
        for id in spent.iter().rev() {
            topology.generations[id.slot() as usize] = id.generation().wrapping_add(1);
            topology.free_slot(id.slot());
        }
        for id in ids.iter().rev() {
            topology.generations[id.slot() as usize] = id.generation() - 1;
            topology.push_free(id.slot());
        }
        Ok(topology)
    }

    /// Asserts that links agree in both directions, that every live node hangs under a root exactly once,
    /// and that every other slot is exactly one of free, reserved and retired.
    pub(crate) fn assert_well_formed(&self) {
        let mut seen = alloc::vec![false; self.slots()];
        let mut reached = 0;
        let mut at = self.first_root;
        assert_eq!(self.ends(NONE), (self.first_root, self.last_root));
        while at != NONE {
            assert!(!seen[at as usize], "slot {at} is reached twice");
            seen[at as usize] = true;
            reached += 1;
            assert!(self.id(at).is_some(), "slot {at} is linked but not live");
            let links = self.links[at as usize];
            let (first, last) = self.ends(links.parent);
            let previous_next = if links.prev == NONE { first } else { self.links[links.prev as usize].next };
            let next_previous = if links.next == NONE { last } else { self.links[links.next as usize].prev };
            assert_eq!((previous_next, next_previous), (at, at), "siblings of slot {at} disagree");
            assert_eq!(links.first == NONE, links.last == NONE, "ends of slot {at} disagree");
            if links.first != NONE {
                assert_eq!(self.links[links.first as usize].parent, at, "first child of slot {at}");
                assert_eq!(self.links[links.last as usize].parent, at, "last child of slot {at}");
            }
            if links.next != NONE {
                assert_eq!(self.links[links.next as usize].parent, links.parent, "parent of {at}'s sibling");
            }
            at = self.next_in_forest(at);
        }
        assert_eq!(reached, self.len(), "nodes reached from the roots");
        let live = self.generations.iter().filter(|&g| g % 2 == 1).count();
        assert_eq!(live, self.len(), "live generations");
        let mut at = self.free;
        while at != NONE {
            assert!(!seen[at as usize], "slot {at} is live or reached twice, and in the free list");
            seen[at as usize] = true;
            let generation = self.generations[at as usize];
            assert!(generation % 2 == 0 && generation != 0, "slot {at} in the free list has generation {generation}");
            assert!(!self.is_slot_reserved(at), "slot {at} is free and reserved");
            at = self.links[at as usize].next;
        }
        for slot in (0..self.slots() as u32).filter(|&slot| !seen[slot as usize]) {
            let generation = self.generations[slot as usize];
            assert_eq!(generation % 2, 0, "slot {slot} is live and not reached");
            let retired = generation == 0 && self.links(slot) == Links::DETACHED;
            assert!(retired || self.is_slot_reserved(slot), "slot {slot} is not free, reserved or retired");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_whose_generations_are_used_up_is_retired() {
        let mut topology = Topology::new();
        let slot = topology.allocate();
        topology.generations[slot as usize] = u32::MAX;
        topology.place(slot, NONE, NONE);
        let last = topology.live(slot);
        topology.cut(slot);
        topology.release(slot);
        assert!(!topology.contains(last));
        assert_eq!(topology.id(slot), None);
        assert_ne!(topology.allocate(), slot, "a retired slot is never handed out again");
    }

    #[test]
    fn a_reused_slot_gets_a_new_generation() {
        let mut topology = Topology::new();
        let slot = topology.allocate();
        let old = topology.live(slot);
        topology.release(slot);
        assert_eq!(topology.allocate(), slot);
        assert_ne!(topology.live(slot), old);
        assert_eq!(topology.slot(old), Err(StaleNode { node: old }));
    }
}
