//! What a hierarchy is made of, taken out and put together again under the same ids.

use super::HierarchyOf;
use crate::accumulate::{Accumulate, Own};
use crate::topology::{BadId, Topology};
use crate::{Inherit, NodeId};
use alloc::vec::Vec;

impl<A: Accumulate> HierarchyOf<A> {
    /// Each node with its parent, its own value and what it inherits, depth first.
    pub(crate) fn records(&self) -> impl Iterator<Item = (NodeId, Option<NodeId>, Own<A>, Inherit)> + '_ {
        self.ids().map(|id| {
            let slot = id.slot();
            (id, self.topology.id(self.topology.links(slot).parent), self.own(slot), self.inherit_of(slot))
        })
    }

    /// The last id of every slot without a node, in the order in which the slots are used again.
    pub(crate) fn spent_ids(&self) -> Vec<NodeId> {
        self.topology.spent()
    }

    /// No nodes yet. The next ones get these ids in this order, and the slots of `spent` come after them;
    /// all of `ids` are to be used before anything else is done.
    pub(crate) fn handing_out(ids: &[NodeId], spent: &[NodeId]) -> Result<Self, BadId> {
        Ok(Self { topology: Topology::handing_out(ids, spent)?, ..Self::new() })
    }

    /// Gives a node that is there an own value that has been checked.
    pub(crate) fn restore_own(&mut self, id: NodeId, own: &Own<A>) {
        self.set_own(id.slot(), own);
    }

    /// Of a node that is there and waits for an update.
    pub(crate) fn restore_inherit(&mut self, id: NodeId, inherit: Inherit) {
        self.inherits.set(self.order.row(id.slot()), inherit);
    }
}
