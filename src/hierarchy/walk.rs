//! Doors that walk the tree. Iterative at any depth; ids come out as they are asked for.

use super::HierarchyOf;
use crate::accumulate::Accumulate;
use crate::topology::{NONE, Topology};
use crate::{NodeId, StaleNode};
use alloc::collections::VecDeque;
use core::iter::FusedIterator;

impl<A: Accumulate> HierarchyOf<A> {
    /// The parent; `None` for a root.
    ///
    /// # Errors
    /// [`StaleNode`].
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::IDENTITY)?;
    /// let child = h.add_child(root, Transform::IDENTITY)?;
    /// assert_eq!((h.parent(root)?, h.parent(child)?), (None, Some(root)));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "get_parent")]
    pub fn parent(&self, id: NodeId) -> Result<Option<NodeId>, StaleNode> {
        Ok(self.topology.id(self.topology.links(self.topology.slot(id)?).parent))
    }

    /// The first child; `None` for a leaf. Example: [`sibling_index`](Self::sibling_index).
    ///
    /// # Errors
    /// [`StaleNode`].
    pub fn first_child(&self, id: NodeId) -> Result<Option<NodeId>, StaleNode> {
        Ok(self.topology.id(self.topology.links(self.topology.slot(id)?).first))
    }

    /// The last child; `None` for a leaf. Example: [`sibling_index`](Self::sibling_index).
    ///
    /// # Errors
    /// [`StaleNode`].
    pub fn last_child(&self, id: NodeId) -> Result<Option<NodeId>, StaleNode> {
        Ok(self.topology.id(self.topology.links(self.topology.slot(id)?).last))
    }

    /// The sibling right after the node; for a root: the next root. Example: [`sibling_index`](Self::sibling_index).
    ///
    /// # Errors
    /// [`StaleNode`].
    pub fn next_sibling(&self, id: NodeId) -> Result<Option<NodeId>, StaleNode> {
        Ok(self.topology.id(self.topology.links(self.topology.slot(id)?).next))
    }

    /// The sibling right before the node; for a root: the previous root.
    /// Example: [`sibling_index`](Self::sibling_index).
    ///
    /// # Errors
    /// [`StaleNode`].
    pub fn prev_sibling(&self, id: NodeId) -> Result<Option<NodeId>, StaleNode> {
        Ok(self.topology.id(self.topology.links(self.topology.slot(id)?).prev))
    }

    /// The node after `at` in depth-first pre-order below `root`; `None` at the end. A cursor, for
    /// walks during which the tree is edited.
    ///
    /// `at` must be `root` or below it; from elsewhere the walk goes on through the forest, up to its end or `root`'s.
    ///
    /// # Errors
    /// [`StaleNode`] for either.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::Vec3};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::IDENTITY)?;
    /// let child = h.add_child(root, Transform::IDENTITY)?;
    /// let mut at = Some(root);
    /// while let Some(id) = at {
    ///     h.set_position(id, Vec3::X)?;
    ///     at = h.next_in_subtree(root, id)?;
    /// }
    /// assert_eq!(h.world_position(child)?.x, 2.0);
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn next_in_subtree(&self, root: NodeId, at: NodeId) -> Result<Option<NodeId>, StaleNode> {
        let root = self.topology.slot(root)?;
        let at = self.topology.slot(at)?;
        Ok(self.topology.id(self.topology.next_in_subtree(root, at)))
    }

    /// Number of ancestors: 0 for a root. O(depth). Example: [`is_ancestor_of`](Self::is_ancestor_of).
    ///
    /// # Errors
    /// [`StaleNode`].
    pub fn depth(&self, id: NodeId) -> Result<usize, StaleNode> {
        Ok(self.topology.depth(self.topology.slot(id)?))
    }

    /// The root above the node, or the node if it is one. O(depth). Example: [`is_ancestor_of`](Self::is_ancestor_of).
    ///
    /// # Errors
    /// [`StaleNode`].
    #[doc(alias = "root_ancestor")]
    pub fn root_of(&self, id: NodeId) -> Result<NodeId, StaleNode> {
        Ok(self.ancestors(id)?.last().unwrap_or(id))
    }

    /// Whether `a` is a parent of `b`, or a parent of one of its ancestors. Strict: not of itself.
    /// O(depth).
    ///
    /// # Errors
    /// [`StaleNode`] for either.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::IDENTITY)?;
    /// let child = h.add_child(root, Transform::IDENTITY)?;
    /// assert!(h.is_ancestor_of(root, child)?);
    /// assert!(!h.is_ancestor_of(root, root)? && !h.is_ancestor_of(child, root)?);
    /// let below = h.add_child(child, Transform::IDENTITY)?;
    /// assert!(h.is_ancestor_of(root, below)?);
    /// assert_eq!((h.depth(below)?, h.root_of(below)?), (2, root));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "IsChildOf")]
    #[doc(alias = "isDescendantOf")]
    pub fn is_ancestor_of(&self, a: NodeId, b: NodeId) -> Result<bool, StaleNode> {
        let (a, b) = (self.topology.slot(a)?, self.topology.slot(b)?);
        Ok(a != b && self.topology.is_at_or_above(a, b))
    }

    /// The deepest node that is, or is above, both; `None` if they have different roots. O(depth).
    ///
    /// # Errors
    /// [`StaleNode`] for either.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::IDENTITY)?;
    /// let (a, b) = (h.add_child(root, Transform::IDENTITY)?, h.add_child(root, Transform::IDENTITY)?);
    /// let below = h.add_child(a, Transform::IDENTITY)?;
    /// assert_eq!(h.common_ancestor(below, b)?, Some(root));
    /// assert_eq!(h.common_ancestor(below, a)?, Some(a));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "lowest common ancestor")]
    pub fn common_ancestor(&self, a: NodeId, b: NodeId) -> Result<Option<NodeId>, StaleNode> {
        let (a, b) = (self.topology.slot(a)?, self.topology.slot(b)?);
        Ok(self.topology.id(self.topology.common(a, b)))
    }

    /// Number of children. O(children). Example: [`sibling_index`](Self::sibling_index).
    ///
    /// # Errors
    /// [`StaleNode`].
    #[doc(alias = "childCount")]
    #[doc(alias = "get_child_count")]
    pub fn child_count(&self, id: NodeId) -> Result<usize, StaleNode> {
        Ok(self.children(id)?.count())
    }

    /// Child number `index`; `None` if there are fewer. O(index). Example: [`sibling_index`](Self::sibling_index).
    ///
    /// # Errors
    /// [`StaleNode`].
    #[doc(alias = "GetChild")]
    pub fn nth_child(&self, id: NodeId, index: usize) -> Result<Option<NodeId>, StaleNode> {
        Ok(self.children(id)?.nth(index))
    }

    /// How many siblings come before the node; for a root: how many roots. O(index).
    ///
    /// # Errors
    /// [`StaleNode`].
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::IDENTITY)?;
    /// let (a, b) = (h.add_child(root, Transform::IDENTITY)?, h.add_child(root, Transform::IDENTITY)?);
    /// assert_eq!((h.sibling_index(a)?, h.sibling_index(b)?, h.child_count(root)?), (0, 1, 2));
    /// assert_eq!((h.nth_child(root, 1)?, h.nth_child(root, 2)?), (Some(b), None));
    /// assert_eq!((h.first_child(root)?, h.last_child(root)?), (Some(a), Some(b)));
    /// assert_eq!((h.next_sibling(a)?, h.prev_sibling(a)?), (Some(b), None));
    /// assert_eq!((h.next_sibling(b)?, h.prev_sibling(b)?), (None, Some(a)));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "GetSiblingIndex")]
    #[doc(alias = "get_index")]
    pub fn sibling_index(&self, id: NodeId) -> Result<usize, StaleNode> {
        let mut at = self.topology.links(self.topology.slot(id)?).prev;
        let mut index = 0;
        while at != NONE {
            index += 1;
            at = self.topology.links(at).prev;
        }
        Ok(index)
    }

    /// All nodes, depth first, parents before children, in the order of the roots.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform};
    /// let mut h = Hierarchy::new();
    /// let a = h.add_root(Transform::IDENTITY)?;
    /// let b = h.add_root(Transform::IDENTITY)?;
    /// let below = h.add_child(a, Transform::IDENTITY)?;
    /// assert!(h.ids().eq([a, below, b]));
    /// assert_eq!(h.ids().len(), 3);
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "iter")]
    #[doc(alias = "nodes")]
    #[doc(alias = "traverse")]
    #[must_use]
    pub fn ids(&self) -> Ids<'_> {
        let nodes = PreOrder { topology: &self.topology, root: NONE, at: self.topology.ends(NONE).0 };
        Ids { nodes, left: self.len() }
    }

    /// The nodes without a parent, in order. From both ends. Example: [`siblings`](Self::siblings).
    #[must_use]
    pub fn roots(&self) -> Roots<'_> {
        Roots(self.list(NONE))
    }

    /// The children of a node, in order. From both ends. Example: [`siblings`](Self::siblings).
    ///
    /// # Errors
    /// [`StaleNode`].
    #[doc(alias = "get_children")]
    pub fn children(&self, id: NodeId) -> Result<Children<'_>, StaleNode> {
        Ok(Children(self.list(self.topology.slot(id)?)))
    }

    /// The other children of the node's parent, in order; for a root: the other roots. From both ends.
    ///
    /// # Errors
    /// [`StaleNode`].
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::IDENTITY)?;
    /// let [a, b, c] = [(); 3].map(|()| h.add_child(root, Transform::IDENTITY).unwrap());
    /// assert!(h.siblings(b)?.eq([a, c]) && h.siblings(b)?.rev().eq([c, a]));
    /// assert!(h.children(root)?.eq([a, b, c]) && h.children(root)?.rev().eq([c, b, a]));
    /// let last = h.add_root(Transform::IDENTITY)?;
    /// assert!(h.roots().eq([root, last]) && h.roots().rev().eq([last, root]));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn siblings(&self, id: NodeId) -> Result<Siblings<'_>, StaleNode> {
        let list = self.list(self.topology.links(self.topology.slot(id)?).parent);
        Ok(Siblings { list, except: id })
    }

    /// The parent, its parent, and so on up to the root; the node itself excluded.
    /// Example: [`descendants`](Self::descendants).
    ///
    /// # Errors
    /// [`StaleNode`].
    pub fn ancestors(&self, id: NodeId) -> Result<Ancestors<'_>, StaleNode> {
        Ok(Ancestors { topology: &self.topology, at: self.topology.links(self.topology.slot(id)?).parent })
    }

    /// Everything below a node, depth first, parents before children; the node itself excluded.
    ///
    /// # Errors
    /// [`StaleNode`].
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::IDENTITY)?;
    /// let a = h.add_child(root, Transform::IDENTITY)?;
    /// let b = h.add_child(root, Transform::IDENTITY)?;
    /// let below = h.add_child(a, Transform::IDENTITY)?;
    /// assert!(h.descendants(root)?.eq([a, below, b]));
    /// assert!(h.subtree(root)?.eq([root, a, below, b]));
    /// assert!(h.post_order(root)?.eq([below, a, b, root]));
    /// assert!(h.breadth_first(root)?.eq([root, a, b, below]));
    /// assert!(h.leaves(root)?.eq([below, b]));
    /// assert!(h.ancestors(below)?.eq([a, root]));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn descendants(&self, id: NodeId) -> Result<Descendants<'_>, StaleNode> {
        let root = self.topology.slot(id)?;
        let at = self.topology.next_in_subtree(root, root);
        Ok(Descendants(PreOrder { topology: &self.topology, root, at }))
    }

    /// A node and everything below it, depth first, parents before children.
    /// Example: [`descendants`](Self::descendants).
    ///
    /// # Errors
    /// [`StaleNode`].
    pub fn subtree(&self, id: NodeId) -> Result<SubtreeNodes<'_>, StaleNode> {
        let root = self.topology.slot(id)?;
        Ok(SubtreeNodes(PreOrder { topology: &self.topology, root, at: root }))
    }

    /// Everything below a node and the node last, depth first, children before parents.
    /// Example: [`descendants`](Self::descendants).
    ///
    /// # Errors
    /// [`StaleNode`].
    pub fn post_order(&self, id: NodeId) -> Result<PostOrder<'_>, StaleNode> {
        let root = self.topology.slot(id)?;
        let at = self.topology.first_in_post_order(root);
        Ok(PostOrder { topology: &self.topology, root, at })
    }

    /// A node and everything below it, level by level. Memory: the widest level.
    /// Example: [`descendants`](Self::descendants).
    ///
    /// # Errors
    /// [`StaleNode`].
    pub fn breadth_first(&self, id: NodeId) -> Result<BreadthFirst<'_>, StaleNode> {
        let root = self.topology.slot(id)?;
        Ok(BreadthFirst { topology: &self.topology, queue: VecDeque::from([root]) })
    }

    /// The nodes without children at or below a node, in depth-first order.
    /// Example: [`descendants`](Self::descendants).
    ///
    /// # Errors
    /// [`StaleNode`].
    pub fn leaves(&self, id: NodeId) -> Result<Leaves<'_>, StaleNode> {
        let root = self.topology.slot(id)?;
        Ok(Leaves(PreOrder { topology: &self.topology, root, at: root }))
    }

    fn list(&self, parent: u32) -> List<'_> {
        let (front, back) = self.topology.ends(parent);
        List { topology: &self.topology, front, back }
    }
}

/// Siblings that have not come out yet: from `front` to `back`, both included; `NONE` when done.
#[derive(Clone, Debug)]
struct List<'a> {
    topology: &'a Topology,
    front: u32,
    back: u32,
}

impl List<'_> {
    fn take(&mut self, at: u32) -> Option<NodeId> {
        let id = self.topology.id(at)?;
        if self.front == self.back {
            (self.front, self.back) = (NONE, NONE);
        } else if at == self.front {
            self.front = self.topology.links(at).next;
        } else {
            self.back = self.topology.links(at).prev;
        }
        Some(id)
    }
}

#[derive(Clone, Debug)]
struct PreOrder<'a> {
    topology: &'a Topology,
    root: u32,
    at: u32,
}

impl PreOrder<'_> {
    fn next(&mut self) -> Option<NodeId> {
        let id = self.topology.id(self.at)?;
        self.at = self.topology.next_in_subtree(self.root, self.at);
        Some(id)
    }
}

/// All nodes of a hierarchy, in pre-order. Made by [`HierarchyOf::ids`].
#[derive(Clone, Debug)]
pub struct Ids<'a> {
    nodes: PreOrder<'a>,
    left: usize,
}

/// The roots of a hierarchy, in order. Made by [`HierarchyOf::roots`].
#[derive(Clone, Debug)]
pub struct Roots<'a>(List<'a>);

/// The children of a node, in order. Made by [`HierarchyOf::children`].
#[derive(Clone, Debug)]
pub struct Children<'a>(List<'a>);

/// The siblings of a node, in order. Made by [`HierarchyOf::siblings`].
#[derive(Clone, Debug)]
pub struct Siblings<'a> {
    list: List<'a>,
    except: NodeId,
}

/// The ancestors of a node, from its parent up. Made by [`HierarchyOf::ancestors`].
#[derive(Clone, Debug)]
pub struct Ancestors<'a> {
    topology: &'a Topology,
    at: u32,
}

/// What is below a node, in pre-order. Made by [`HierarchyOf::descendants`].
#[derive(Clone, Debug)]
pub struct Descendants<'a>(PreOrder<'a>);

/// A node and what is below it, in pre-order. Made by [`HierarchyOf::subtree`].
#[derive(Clone, Debug)]
pub struct SubtreeNodes<'a>(PreOrder<'a>);

/// The leaves at or below a node. Made by [`HierarchyOf::leaves`].
#[derive(Clone, Debug)]
pub struct Leaves<'a>(PreOrder<'a>);

/// A node and what is below it, in post-order. Made by [`HierarchyOf::post_order`].
#[derive(Clone, Debug)]
pub struct PostOrder<'a> {
    topology: &'a Topology,
    root: u32,
    at: u32,
}

/// A node and what is below it, level by level. Made by [`HierarchyOf::breadth_first`].
#[derive(Clone, Debug)]
pub struct BreadthFirst<'a> {
    topology: &'a Topology,
    queue: VecDeque<u32>,
}

macro_rules! iterators {
    ($($name:ident, $self:ident => $next:expr;)+) => {$(
        impl Iterator for $name<'_> {
            type Item = NodeId;

            fn next(&mut self) -> Option<NodeId> {
                let $self = self;
                $next
            }
        }

        impl FusedIterator for $name<'_> {}
    )+};
}

iterators! {
    Roots, iter => iter.0.take(iter.0.front);
    Children, iter => iter.0.take(iter.0.front);
    Siblings, iter => match iter.list.take(iter.list.front)? {
        id if id == iter.except => iter.list.take(iter.list.front),
        id => Some(id),
    };
    Ancestors, iter => {
        let id = iter.topology.id(iter.at)?;
        iter.at = iter.topology.links(iter.at).parent;
        Some(id)
    };
    Descendants, iter => iter.0.next();
    SubtreeNodes, iter => iter.0.next();
    Leaves, iter => loop {
        let at = iter.0.at;
        let id = iter.0.next()?;
        if iter.0.topology.links(at).first == NONE {
            break Some(id);
        }
    };
    PostOrder, iter => {
        let id = iter.topology.id(iter.at)?;
        iter.at = iter.topology.next_in_post_order(iter.root, iter.at);
        Some(id)
    };
    BreadthFirst, iter => {
        let at = iter.queue.pop_front()?;
        let mut child = iter.topology.links(at).first;
        while child != NONE {
            iter.queue.push_back(child);
            child = iter.topology.links(child).next;
        }
        iter.topology.id(at)
    };
}

impl Iterator for Ids<'_> {
    type Item = NodeId;

    fn next(&mut self) -> Option<NodeId> {
        let id = self.nodes.next()?;
        self.left -= 1;
        Some(id)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Ids<'_> {}
impl FusedIterator for Ids<'_> {}

impl DoubleEndedIterator for Siblings<'_> {
    fn next_back(&mut self) -> Option<NodeId> {
        match self.list.take(self.list.back)? {
            id if id == self.except => self.list.take(self.list.back),
            id => Some(id),
        }
    }
}

impl DoubleEndedIterator for Roots<'_> {
    fn next_back(&mut self) -> Option<NodeId> {
        self.0.take(self.0.back)
    }
}

impl DoubleEndedIterator for Children<'_> {
    fn next_back(&mut self) -> Option<NodeId> {
        self.0.take(self.0.back)
    }
}
