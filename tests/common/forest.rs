//! A forest kept the plain way, lists of children in a map, and its comparison with a hierarchy.
//!
//! Shared by the tests inside the crate and those outside: what includes it has `Accumulate`,
//! `HierarchyOf` and `NodeId` in scope.

use super::{Accumulate, HierarchyOf, NodeId};
use alloc::{collections::BTreeMap, collections::VecDeque, vec, vec::Vec};

#[derive(Clone, Debug)]
pub(crate) struct Node<V> {
    pub(crate) parent: Option<NodeId>,
    pub(crate) children: Vec<NodeId>,
    pub(crate) value: V,
}

#[derive(Clone, Debug)]
pub(crate) struct Forest<V> {
    pub(crate) roots: Vec<NodeId>,
    pub(crate) nodes: BTreeMap<NodeId, Node<V>>,
}

impl<V> Forest<V> {
    pub(crate) fn new() -> Self {
        Self { roots: Vec::new(), nodes: BTreeMap::new() }
    }

    pub(crate) fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.nodes[&id].parent
    }

    /// Children of a node, or the roots.
    pub(crate) fn list(&self, parent: Option<NodeId>) -> &[NodeId] {
        parent.map_or(&self.roots, |parent| &self.nodes[&parent].children)
    }

    fn list_mut(&mut self, parent: Option<NodeId>) -> &mut Vec<NodeId> {
        match parent {
            Some(parent) => &mut self.nodes.get_mut(&parent).unwrap().children,
            None => &mut self.roots,
        }
    }

    pub(crate) fn index(&self, id: NodeId) -> usize {
        self.list(self.parent(id)).iter().position(|&sibling| sibling == id).unwrap()
    }

    pub(crate) fn insert(&mut self, id: NodeId, parent: Option<NodeId>, index: usize, value: V) {
        self.list_mut(parent).insert(index, id);
        let new = self.nodes.insert(id, Node { parent, children: Vec::new(), value });
        assert!(new.is_none(), "{id:?} was handed out twice");
    }

    pub(crate) fn relocate(&mut self, id: NodeId, parent: Option<NodeId>, index: usize) {
        self.cut(id);
        self.list_mut(parent).insert(index, id);
        self.nodes.get_mut(&id).unwrap().parent = parent;
    }

    fn cut(&mut self, id: NodeId) {
        let index = self.index(id);
        self.list_mut(self.parent(id)).remove(index);
    }

    /// Returns what was removed.
    pub(crate) fn remove_subtree(&mut self, id: NodeId) -> Vec<NodeId> {
        let removed = self.subtree(id);
        self.cut(id);
        removed.iter().for_each(|id| drop(self.nodes.remove(id)));
        removed
    }

    pub(crate) fn promote(&mut self, id: NodeId) {
        let (parent, index) = (self.parent(id), self.index(id));
        self.cut(id);
        let children = self.nodes.remove(&id).unwrap().children;
        for child in &children {
            self.nodes.get_mut(child).unwrap().parent = parent;
        }
        self.list_mut(parent).splice(index..index, children);
    }

    /// From the root down to the node, both included.
    pub(crate) fn path(&self, id: NodeId) -> Vec<NodeId> {
        let mut path = vec![id];
        while let Some(parent) = self.parent(path[path.len() - 1]) {
            path.push(parent);
        }
        path.reverse();
        path
    }

    pub(crate) fn is_at_or_above(&self, above: NodeId, id: NodeId) -> bool {
        self.path(id).contains(&above)
    }

    /// The nodes below the lowest common ancestor down to each of the two.
    pub(crate) fn diverging(&self, a: Option<NodeId>, b: Option<NodeId>) -> (Vec<NodeId>, Vec<NodeId>) {
        let (a, b) = (a.map_or(vec![], |a| self.path(a)), b.map_or(vec![], |b| self.path(b)));
        let shared = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
        (a[shared..].to_vec(), b[shared..].to_vec())
    }

    /// A node and what is below it, parents first.
    pub(crate) fn subtree(&self, id: NodeId) -> Vec<NodeId> {
        let (mut order, mut open) = (Vec::new(), vec![id]);
        while let Some(id) = open.pop() {
            order.push(id);
            open.extend(self.nodes[&id].children.iter().rev());
        }
        order
    }

    /// All nodes, parents first.
    pub(crate) fn pre_order(&self) -> Vec<NodeId> {
        self.roots.iter().flat_map(|&root| self.subtree(root)).collect()
    }

    fn breadth_first(&self, id: NodeId) -> Vec<NodeId> {
        let (mut order, mut open) = (Vec::new(), VecDeque::from([id]));
        while let Some(id) = open.pop_front() {
            order.push(id);
            open.extend(&self.nodes[&id].children);
        }
        order
    }

    /// Children before parents. A mirrored pre-order, backwards.
    fn post_order(&self, id: NodeId) -> Vec<NodeId> {
        let (mut order, mut open) = (Vec::new(), vec![id]);
        while let Some(id) = open.pop() {
            order.push(id);
            open.extend(&self.nodes[&id].children);
        }
        order.reverse();
        order
    }

    /// Asserts that a hierarchy has exactly this shape, whichever door one asks at.
    pub(crate) fn assert_shape<A: Accumulate>(&self, h: &HierarchyOf<A>) {
        assert_eq!((h.len(), h.is_empty()), (self.nodes.len(), self.nodes.is_empty()));
        assert!(h.roots().eq(self.roots.iter().copied()), "roots");
        assert!(h.roots().rev().eq(self.roots.iter().rev().copied()), "roots from the back");
        for (&id, node) in &self.nodes {
            assert!(h.contains(id));
            assert_eq!(h.parent(id).unwrap(), node.parent, "parent of {id:?}");
            let children = || node.children.iter().copied();
            assert!(h.children(id).unwrap().eq(children()), "children of {id:?}");
            assert!(h.children(id).unwrap().rev().eq(children().rev()), "children of {id:?} from the back");
            assert_eq!(h.first_child(id).unwrap(), children().next());
            assert_eq!(h.last_child(id).unwrap(), children().next_back());
        }
    }

    /// As above, for what costs more than the node: neighbours, depths and walks from it.
    pub(crate) fn assert_walks<A: Accumulate>(&self, h: &HierarchyOf<A>, id: NodeId) {
        let (path, siblings, index) = (self.path(id), self.list(self.parent(id)), self.index(id));
        let children = &self.nodes[&id].children;
        assert_eq!(h.depth(id).unwrap(), path.len() - 1, "depth of {id:?}");
        assert_eq!(h.root_of(id).unwrap(), path[0]);
        assert!(h.ancestors(id).unwrap().eq(path.iter().rev().skip(1).copied()), "ancestors of {id:?}");
        assert_eq!(h.sibling_index(id).unwrap(), index);
        assert!(h.siblings(id).unwrap().eq(siblings.iter().copied().filter(|&other| other != id)));
        assert_eq!(h.next_sibling(id).unwrap(), siblings.get(index + 1).copied());
        assert_eq!(h.prev_sibling(id).unwrap(), index.checked_sub(1).map(|index| siblings[index]));
        assert_eq!(h.child_count(id).unwrap(), children.len());
        assert_eq!(h.nth_child(id, children.len()).unwrap(), None);
        let subtree = self.subtree(id);
        assert!(h.subtree(id).unwrap().eq(subtree.iter().copied()), "subtree of {id:?}");
        assert!(h.descendants(id).unwrap().eq(subtree[1..].iter().copied()), "descendants of {id:?}");
        assert!(h.post_order(id).unwrap().eq(self.post_order(id)), "post-order of {id:?}");
        assert!(h.breadth_first(id).unwrap().eq(self.breadth_first(id)), "levels of {id:?}");
        let leaves = subtree.iter().copied().filter(|id| self.nodes[id].children.is_empty());
        assert!(h.leaves(id).unwrap().eq(leaves), "leaves of {id:?}");
        for pair in subtree.windows(2) {
            assert_eq!(h.next_in_subtree(id, pair[0]).unwrap(), Some(pair[1]));
        }
        assert_eq!(h.next_in_subtree(id, subtree[subtree.len() - 1]).unwrap(), None);
    }

    /// As above, for a pair.
    pub(crate) fn assert_relation<A: Accumulate>(&self, h: &HierarchyOf<A>, a: NodeId, b: NodeId) {
        assert_eq!(h.is_ancestor_of(a, b).unwrap(), a != b && self.is_at_or_above(a, b));
        let shared = self.path(a).into_iter().zip(self.path(b)).take_while(|(a, b)| a == b).last();
        assert_eq!(h.common_ancestor(a, b).unwrap(), shared.map(|(a, _)| a));
    }
}
