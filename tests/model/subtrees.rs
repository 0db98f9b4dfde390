//! The steps that copy, flatten, take out and put back whole subtrees.

use super::*;
use posetree::Subtree;

type Nodes = Vec<(NodeId, forest::Node<Own>)>;

/// A subtree that is out, and what the plain forest had there, parents first.
pub(crate) type Out<A> = (Subtree<A>, Nodes);

impl<A: Kind> Pair<A> {
    fn nodes(&self, id: NodeId) -> Nodes {
        self.forest.subtree(id).into_iter().map(|id| (id, self.forest.nodes[&id].clone())).collect()
    }

    /// The copies hold what was copied; that they do to the bit is seen by the next check.
    fn copied(&mut self, pairs: &[(NodeId, NodeId)], nodes: &Nodes, parent: Option<NodeId>) -> Outcome {
        prop_assert_eq!(pairs.len(), nodes.len());
        for (at, ((old, node), pair)) in nodes.iter().zip(pairs).enumerate() {
            prop_assert_eq!(*old, pair.0);
            let above = nodes[..at].iter().position(|above| Some(above.0) == node.parent);
            let above = above.map_or(parent, |above| Some(pairs[above].1));
            self.forest.insert(pair.1, above, self.forest.list(above).len(), node.value);
            prop_assert!(self.h.is_dirty(pair.1).unwrap());
        }
        Ok(())
    }

    pub(crate) fn clone_subtree(&mut self, id: NodeId, parent: Option<NodeId>) -> Outcome {
        let nodes = self.nodes(id);
        let pairs = self.h.clone_subtree(id, parent).unwrap();
        self.copied(&pairs, &nodes, parent)
    }

    /// A copy of the whole of itself.
    pub(crate) fn append(&mut self, parent: Option<NodeId>) -> Outcome {
        let nodes = self.forest.roots.iter().flat_map(|&root| self.nodes(root)).collect();
        let pairs = self.h.append(&self.h.clone(), parent).unwrap();
        self.copied(&pairs, &nodes, parent)
    }

    pub(crate) fn flatten(&mut self, id: NodeId, keep: Keep) -> Outcome {
        let before = self.h.clone();
        let below = self.forest.subtree(id).split_off(1);
        // Where a node is solved for: not at all where it stays what and where it is.
        let (mut ids, mut wanted) = (Vec::new(), Vec::new());
        for &node in &below {
            let old = self.forest.parent(node);
            if old != Some(id) || A::reads_shear() && keep == Keep::WorldTrs {
                ids.push(node);
                wanted.push(A::below(&self.product(&self.ways(old, Some(id)).0), &self.local(node)));
            }
        }
        let to = if A::reads_shear() { vec![] } else { self.forest.path(id) };
        let result = self.h.flatten(id, keep);
        if let Some(error) = self.refused(&before, &result)? {
            return self.some_refused_rightly(error, &to, &wanted, keep);
        }
        for &node in &below {
            let stays = self.forest.parent(node) == Some(id);
            self.forest.relocate(node, Some(id), self.forest.list(Some(id)).len() - usize::from(stays));
        }
        self.all_solved(&ids, &to, &wanted, keep)
    }

    pub(crate) fn take(&mut self, id: NodeId) -> Outcome {
        let nodes = self.nodes(id);
        let dirty = nodes.iter().any(|node| self.h.is_dirty(node.0).unwrap());
        let clean = self.h.worlds().is_some();
        let subtree = self.h.take_subtree(id).unwrap();
        prop_assert!(dirty || self.h.worlds().is_some() == clean, "what goes out marks nothing");
        self.forest.remove_subtree(id);
        self.out.push((subtree, nodes));
        Ok(())
    }

    /// The last that was taken out, to its place or another.
    pub(crate) fn restore(&mut self, parent: Option<NodeId>, seed: u32) -> Outcome {
        let Some((subtree, nodes)) = self.out.pop() else { return Ok(()) };
        let (mut parent, mut index) = (parent, self.forest.list(parent).len());
        let old = subtree.parent();
        let gone = old.is_some_and(|old| !self.forest.nodes.contains_key(&old));
        let result = if seed % 2 == 0 {
            self.h.restore_under(subtree, parent)
        } else {
            (parent, index) = (old, subtree.index());
            self.h.restore(subtree)
        };
        match result {
            Ok(id) => prop_assert_eq!(id, nodes[0].0),
            Err(refused) => {
                match refused.error.into() {
                    Error::StaleNode(stale) => prop_assert!(gone && Some(stale.node) == old),
                    Error::OutOfRange(out) => prop_assert!(!gone && out.max == self.forest.list(old).len()),
                    error => prop_assert!(false, "{}", error),
                }
                self.out.push((refused.subtree, nodes));
                return Ok(());
            }
        }
        for (at, (id, node)) in nodes.into_iter().enumerate() {
            let above = if at == 0 { parent } else { node.parent };
            let index = if at == 0 { index } else { self.forest.list(above).len() };
            self.forest.insert(id, above, index, node.value);
            prop_assert!(self.h.is_dirty(id).unwrap());
        }
        Ok(())
    }

    pub(crate) fn discard(&mut self) -> Outcome {
        let Some((subtree, nodes)) = self.out.pop() else { return Ok(()) };
        prop_assert_eq!(self.h.discard(subtree).unwrap(), nodes.len());
        self.gone.extend(nodes.into_iter().map(|node| node.0));
        Ok(())
    }
}
