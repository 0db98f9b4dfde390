//! Reserved slots: those of nodes that have been taken out and may come back under their ids.
//!
//! A reserved slot has the generation after its node's, as a free one has, so that every door refuses the
//! id; but it is not in the free list, and its links hold the [`Ticket`] of the taking instead.

use super::links::Links;
use super::{NONE, Topology};
use crate::NodeId;
use core::sync::atomic::{AtomicU32, Ordering};

/// Names one taking, among all of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket {
    hierarchy: u32,
    number: u64,
}

/// Where tickets come from. A copy is another hierarchy, and draws other ones.
#[derive(Debug, Default)]
pub(super) struct Tickets {
    /// 0 until the first ticket.
    hierarchy: u32,
    drawn: u64,
}

impl Clone for Tickets {
    fn clone(&self) -> Self {
        Self::new()
    }
}

impl Tickets {
    pub(super) const fn new() -> Self {
        Self { hierarchy: 0, drawn: 0 }
    }

    /// # Panics
    /// If 2³² - 1 hierarchies of this process have drawn tickets.
    fn draw(&mut self) -> Ticket {
        static LAST: AtomicU32 = AtomicU32::new(0);
        if self.hierarchy == 0 {
            let last = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| last.checked_add(1));
            self.hierarchy = last.expect("capacity overflow: fewer than 2^32 - 1 hierarchies take subtrees out") + 1;
        }
        self.drawn += 1;
        Ticket { hierarchy: self.hierarchy, number: self.drawn }
    }
}

impl Ticket {
    /// No live or free slot is its own parent.
    fn links(self, slot: u32) -> Links {
        let (high, low) = ((self.number >> 32) as u32, self.number as u32);
        Links { parent: slot, first: self.hierarchy, last: NONE, prev: high, next: low }
    }
}

impl Topology {
    pub(crate) fn draw_ticket(&mut self) -> Ticket {
        self.tickets.draw()
    }

    /// Reserves the slot of a live node under its id; the caller has cut it, or one above it, out of the
    /// links.
    pub(crate) fn reserve_slot(&mut self, slot: u32, ticket: Ticket) {
        self.len -= 1;
        let generation = &mut self.generations[slot as usize];
        *generation = generation.wrapping_add(1);
        self.links[slot as usize] = ticket.links(slot);
    }

    /// Whether an id is reserved, under that ticket.
    pub(crate) fn is_reserved_by(&self, id: NodeId, ticket: Ticket) -> bool {
        self.is_reserved(id) && self.links(id.slot()) == ticket.links(id.slot())
    }

    pub(crate) fn is_reserved(&self, id: NodeId) -> bool {
        self.generations.get(id.slot() as usize) == Some(&id.generation().wrapping_add(1))
            && self.is_slot_reserved(id.slot())
    }

    pub(super) fn is_slot_reserved(&self, slot: u32) -> bool {
        self.links(slot).parent == slot
    }

    /// Lets the node of a reserved slot live again, without links.
    pub(crate) fn revive(&mut self, slot: u32) {
        self.len += 1;
        self.links[slot as usize] = Links::DETACHED;
        let generation = &mut self.generations[slot as usize];
        *generation = generation.wrapping_sub(1);
    }

    /// Gives a reserved slot back for other nodes.
    pub(crate) fn free_reserved(&mut self, slot: u32) {
        self.free_slot(slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one() -> (Topology, u32, NodeId) {
        let mut topology = Topology::new();
        let slot = topology.allocate();
        (topology.clone(), slot, topology.live(slot))
    }

    #[test]
    fn a_reserved_slot_comes_back_under_its_id() {
        let (mut topology, slot, id) = one();
        let ticket = topology.draw_ticket();
        topology.reserve_slot(slot, ticket);
        assert!(!topology.contains(id) && topology.is_reserved_by(id, ticket) && topology.id(slot).is_none());
        assert_ne!(topology.allocate(), slot, "a reserved slot is not handed out");
        topology.revive(slot);
        assert!(topology.contains(id) && !topology.is_reserved(id));
    }

    #[test]
    fn no_two_takings_have_one_ticket() {
        let (mut topology, slot, id) = one();
        let ticket = topology.draw_ticket();
        topology.reserve_slot(slot, ticket);
        let mut copy = topology.clone();
        assert!(copy.is_reserved_by(id, ticket));
        for topology in [&mut topology, &mut copy, &mut Topology::new()] {
            let other = topology.draw_ticket();
            assert_ne!(other, ticket);
            assert!(!topology.is_reserved_by(id, other));
        }
        assert_ne!(topology.draw_ticket(), copy.draw_ticket());
    }

    /// The generation after the last one is that of retired slots.
    #[test]
    fn a_slot_of_the_last_generation_comes_back_or_is_retired() {
        let (mut topology, slot, _) = one();
        topology.generations[slot as usize] = u32::MAX;
        topology.place(slot, NONE, NONE);
        let last = topology.live(slot);
        for _ in 0..2 {
            let ticket = topology.draw_ticket();
            topology.cut(slot);
            topology.reserve_slot(slot, ticket);
            topology.assert_well_formed();
            assert!(!topology.contains(last) && topology.is_reserved_by(last, ticket));
            topology.revive(slot);
            topology.place(slot, NONE, NONE);
            topology.assert_well_formed();
            assert!(topology.contains(last));
        }
        let ticket = topology.draw_ticket();
        topology.cut(slot);
        topology.reserve_slot(slot, ticket);
        topology.free_reserved(slot);
        topology.assert_well_formed();
        assert!(!topology.is_reserved(last));
        assert_ne!(topology.allocate(), slot, "a retired slot is never handed out again");
    }
}
