//! Steps from node to node. No recursion and no stack: any depth takes the same memory.

use super::{NONE, Topology};
use alloc::vec::Vec;

/// Nodes in depth-first pre-order.
pub(crate) struct Shape {
    pub(crate) slots: Vec<u32>,
    /// How far before each its parent is; 0 for the tops, whose parent is not among them.
    pub(crate) up: Vec<u32>,
}

impl Topology {
    /// The next node in depth-first pre-order below `root`, after `at`; [`NONE`] at the end.
    pub(crate) fn next_in_subtree(&self, root: u32, at: u32) -> u32 {
        let first = self.links(at).first;
        if first == NONE { self.next_past(root, at) } else { first }
    }

    /// The next node in pre-order below `root` that is not below `at`.
    pub(crate) fn next_past(&self, root: u32, at: u32) -> u32 {
        let mut at = at;
        while at != root {
            let links = self.links(at);
            if links.next != NONE {
                return links.next;
            }
            at = links.parent;
            if at == NONE {
                break;
            }
        }
        NONE
    }

    /// The next node of the whole forest in pre-order.
    pub(crate) fn next_in_forest(&self, at: u32) -> u32 {
        self.next_in_subtree(NONE, at)
    }

    /// Where post-order below `root`, children before parents, starts.
    pub(crate) fn first_in_post_order(&self, root: u32) -> u32 {
        let mut at = root;
        while self.links(at).first != NONE {
            at = self.links(at).first;
        }
        at
    }

    /// The next node in post-order, up to and including `root`; [`NONE`] after it.
    pub(crate) fn next_in_post_order(&self, root: u32, at: u32) -> u32 {
        if at == root {
            return NONE;
        }
        let links = self.links(at);
        if links.next == NONE { links.parent } else { self.first_in_post_order(links.next) }
    }

    /// The subtree of a node; of [`NONE`]: the whole forest.
    pub(crate) fn shape(&self, root: u32) -> Shape {
        let mut shape = Shape { slots: Vec::new(), up: Vec::new() };
        let mut at = if root == NONE { self.ends(NONE).0 } else { root };
        while at != NONE {
            let parent = self.links(at).parent;
            let len = shape.slots.len();
            let up = if at == root || parent == NONE {
                0
            } else {
                // From the node before, up to the parent: all links together are climbed once.
                let mut place = len - 1;
                while shape.slots[place] != parent {
                    place -= shape.up[place] as usize;
                }
                (len - place) as u32
            };
            shape.slots.push(at);
            shape.up.push(up);
            at = self.next_in_subtree(root, at);
        }
        shape
    }
}
