//! Parent, child and sibling links. [`Topology::join`] is the one routine that writes sibling links.

use super::{NONE, Topology};

/// One slot's links; [`NONE`] where there is no such node. A root's siblings are the other roots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Links {
    pub(crate) parent: u32,
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) prev: u32,
    pub(crate) next: u32,
}

impl Links {
    pub(super) const DETACHED: Self = Self { parent: NONE, first: NONE, last: NONE, prev: NONE, next: NONE };
}

impl Topology {
    pub(crate) fn links(&self, slot: u32) -> Links {
        self.links[slot as usize]
    }

    /// First and last child; of [`NONE`]: first and last root.
    pub(crate) fn ends(&self, parent: u32) -> (u32, u32) {
        match self.links.get(parent as usize) {
            Some(links) => (links.first, links.last),
            None => (self.first_root, self.last_root),
        }
    }

    /// Makes `left` and `right` neighbours under `parent`. [`NONE`] stands for that end of the list.
    fn join(&mut self, parent: u32, left: u32, right: u32) {
        let (first, last) = match self.links.get_mut(parent as usize) {
            Some(links) => (&mut links.first, &mut links.last),
            None => (&mut self.first_root, &mut self.last_root),
        };
        if left == NONE {
            *first = right;
        }
        if right == NONE {
            *last = left;
        }
        if left != NONE {
            self.links[left as usize].next = right;
        }
        if right != NONE {
            self.links[right as usize].prev = left;
        }
    }

    /// Takes a node, with its subtree, out of its siblings. It must be placed or released next.
    pub(crate) fn cut(&mut self, node: u32) {
        let Links { parent, prev, next, .. } = self.links(node);
        self.join(parent, prev, next);
    }

    /// Hangs a node that was cut or allocated under `parent`, before its child `before`, or last.
    pub(crate) fn place(&mut self, node: u32, parent: u32, before: u32) {
        let left = if before == NONE { self.ends(parent).1 } else { self.links(before).prev };
        self.links[node as usize].parent = parent;
        self.join(parent, left, node);
        self.join(parent, node, before);
    }

    /// Cuts a node and lets its children take its place, in their order. It must be released next.
    pub(crate) fn replace_by_children(&mut self, node: u32) {
        let Links { parent, first, last, prev, next } = self.links(node);
        if first == NONE {
            return self.cut(node);
        }
        let mut child = first;
        while child != NONE {
            let links = &mut self.links[child as usize];
            links.parent = parent;
            child = links.next;
        }
        self.join(parent, prev, first);
        self.join(parent, last, next);
        (self.links[node as usize].first, self.links[node as usize].last) = (NONE, NONE);
    }

    /// The child of `parent` (or root, for [`NONE`]) before which a node at `index` goes: [`NONE`] at
    /// the end, `Err(count)` beyond. `skip` is a child that does not count.
    pub(crate) fn child_at(&self, parent: u32, index: usize, skip: u32) -> Result<u32, usize> {
        let mut count = 0;
        let mut at = self.ends(parent).0;
        while at != NONE {
            if at != skip {
                if count == index {
                    return Ok(at);
                }
                count += 1;
            }
            at = self.links(at).next;
        }
        if index == count { Ok(NONE) } else { Err(count) }
    }

    /// Whether `ancestor` is above `node`, or is it.
    pub(crate) fn is_at_or_above(&self, ancestor: u32, node: u32) -> bool {
        // A node without children is above nothing; this keeps building a deep chain linear.
        if self.links(ancestor).first == NONE {
            return ancestor == node;
        }
        let mut at = node;
        while at != NONE {
            if at == ancestor {
                return true;
            }
            at = self.links(at).parent;
        }
        false
    }

    /// Number of nodes above, not counting itself; of [`NONE`]: one less than a root's, wrapping.
    pub(crate) fn depth(&self, node: u32) -> usize {
        let mut depth = 0;
        let mut at = self.links(node).parent;
        while at != NONE {
            depth += 1;
            at = self.links(at).parent;
        }
        depth
    }

    /// The deepest node that is at or above both; [`NONE`] if they share none, or if one is [`NONE`].
    pub(crate) fn common(&self, a: u32, b: u32) -> u32 {
        if a == NONE || b == NONE {
            return NONE;
        }
        let (mut a, mut b) = (a, b);
        let (mut depth_a, mut depth_b) = (self.depth(a), self.depth(b));
        while a != b {
            if depth_a >= depth_b {
                a = self.links(a).parent;
                depth_a = depth_a.wrapping_sub(1);
            } else {
                b = self.links(b).parent;
                depth_b -= 1;
            }
            if depth_a == usize::MAX {
                // Both were roots: `a` went above its root first.
                return NONE;
            }
        }
        a
    }
}
