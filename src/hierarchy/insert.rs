//! Doors that insert and remove nodes.

use super::local::Locals;
use super::{HierarchyOf, Keep};
use crate::accumulate::Accumulate;
use crate::topology::{NONE, traverse::Shape};
use crate::{
    ExtendError, Inherit, InsertError, LengthMismatch, NodeId, OutOfRange, ParentsCycle, ReparentError, StaleNode,
};
use alloc::{vec, vec::Vec};

impl<A: Accumulate> HierarchyOf<A> {
    /// Adds a node without a parent, after the last root. Its local pose is its world pose.
    ///
    /// Marks the node dirty. O(1), amortised.
    ///
    /// # Errors
    /// [`NonFinite`](crate::NonFinite), [`NotRotation`](crate::NotRotation); nothing changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::IDENTITY)?;
    /// assert_eq!(h.parent(root)?, None);
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn add_root(&mut self, mut local: A::Transform) -> Result<NodeId, InsertError> {
        A::admit::<InsertError>(&mut local)?;
        Ok(self.insert(NONE, NONE, local))
    }

    /// Adds a node after the last child of `parent`, with a local pose in the parent's space.
    ///
    /// Marks the node dirty. O(1), amortised.
    ///
    /// # Errors
    /// [`StaleNode`], [`NonFinite`](crate::NonFinite), [`NotRotation`](crate::NotRotation); nothing
    /// changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::IDENTITY)?;
    /// let child = h.add_child(root, Transform::IDENTITY)?;
    /// assert_eq!(h.parent(child)?, Some(root));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "append")]
    #[doc(alias = "addChild")]
    #[doc(alias = "AttachToComponent")]
    pub fn add_child(&mut self, parent: NodeId, mut local: A::Transform) -> Result<NodeId, InsertError> {
        let parent = self.topology.slot(parent)?;
        A::admit::<InsertError>(&mut local)?;
        Ok(self.insert(parent, NONE, local))
    }

    /// Adds a node as child number `index` of `parent`, or as root number `index` for `None`; those
    /// from there on move up by one. Local pose in the parent's space.
    ///
    /// Marks the node dirty. O(index), amortised.
    ///
    /// # Errors
    /// [`StaleNode`], [`NonFinite`](crate::NonFinite), [`NotRotation`](crate::NotRotation),
    /// [`OutOfRange`] if there are fewer than `index` children; nothing changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::IDENTITY)?;
    /// let second = h.insert_child_at(Some(root), 0, Transform::IDENTITY)?;
    /// let first = h.insert_child_at(Some(root), 0, Transform::IDENTITY)?;
    /// assert!(h.children(root)?.eq([first, second]));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn insert_child_at(
        &mut self,
        parent: impl Into<Option<NodeId>>,
        index: usize,
        mut local: A::Transform,
    ) -> Result<NodeId, InsertError> {
        let parent = self.topology.slot_or_none(parent.into())?;
        A::admit::<InsertError>(&mut local)?;
        let before = self.topology.child_at(parent, index, NONE).map_err(|max| OutOfRange { index, max })?;
        Ok(self.insert(parent, before, local))
    }

    /// Adds a node right before `sibling`, under the same parent. Local pose in that parent's space.
    ///
    /// Marks the node dirty. O(1), amortised.
    ///
    /// # Errors
    /// [`StaleNode`], [`NonFinite`](crate::NonFinite), [`NotRotation`](crate::NotRotation); nothing
    /// changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform};
    /// let mut h = Hierarchy::new();
    /// let second = h.add_root(Transform::IDENTITY)?;
    /// let first = h.insert_before(second, Transform::IDENTITY)?;
    /// let third = h.insert_after(second, Transform::IDENTITY)?;
    /// assert!(h.roots().eq([first, second, third]));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn insert_before(&mut self, sibling: NodeId, mut local: A::Transform) -> Result<NodeId, InsertError> {
        let before = self.topology.slot(sibling)?;
        A::admit::<InsertError>(&mut local)?;
        Ok(self.insert(self.topology.links(before).parent, before, local))
    }

    /// Adds a node right after `sibling`, under the same parent. Local pose in that parent's space.
    ///
    /// Marks the node dirty. O(1), amortised. Example: [`insert_before`](Self::insert_before).
    ///
    /// # Errors
    /// [`StaleNode`], [`NonFinite`](crate::NonFinite), [`NotRotation`](crate::NotRotation); nothing
    /// changed.
    pub fn insert_after(&mut self, sibling: NodeId, mut local: A::Transform) -> Result<NodeId, InsertError> {
        let after = self.topology.slot(sibling)?;
        A::admit::<InsertError>(&mut local)?;
        let links = self.topology.links(after);
        Ok(self.insert(links.parent, links.next, local))
    }

    fn insert(&mut self, parent: u32, before: u32, local: A::Transform) -> NodeId {
        if self.order.is_crowded() {
            self.optimize();
        }
        let slot = self.topology.allocate();
        self.topology.place(slot, parent, before);
        let row = self.order.push(slot, parent);
        self.locals.push(slot, &local);
        self.worlds.push();
        self.changes.resize(self.order.len());
        self.previous.resize(self.order.len());
        self.marks.resize(self.order.len());
        self.marks.set(row);
        self.topology.live(slot)
    }

    /// Adds many nodes at once, as loaders and prefabs do, and returns their ids in the same order.
    ///
    /// Entry `i` has the local pose `locals[i]` and hangs under entry `parents[i]`, which may come
    /// before or after it, or under `parent` where that is `None`. Children are in the order of
    /// entries, after those that `parent` has. Each entry without a parent in the list is stored as one run with all
    /// below it; under a `parent`, thousands of those are reason for an update to sort.
    ///
    /// Marks the new nodes dirty. O(entries), amortised.
    ///
    /// # Errors
    /// [`ExtendError`], which says which entry it is, of: [`StaleNode`], [`LengthMismatch`],
    /// [`NonFinite`](crate::NonFinite), [`NotRotation`](crate::NotRotation), [`OutOfRange`] for an entry's
    /// parent, [`ParentsCycle`]; nothing was added.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::Vec3};
    /// let mut h = Hierarchy::new();
    /// let mut ids = h.extend(None, &[Some(1), None, Some(1)], &[Transform::IDENTITY; 3])?;
    /// assert!(h.children(ids[1])?.eq([ids[0], ids[2]]));
    /// h.extend_into(ids[2], &[None], &[Transform::from_position(Vec3::X)], &mut ids)?;
    /// assert_eq!((h.parent(ids[3])?, h.world_position(ids[3])?), (Some(ids[2]), Vec3::X));
    ///
    /// let error = h.extend(None, &[None, None], &[Transform::IDENTITY, Transform::from_scale(Vec3::NAN)]);
    /// assert_eq!(error.unwrap_err().index, Some(1));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn extend(
        &mut self,
        parent: impl Into<Option<NodeId>>,
        parents: &[Option<usize>],
        locals: &[A::Transform],
    ) -> Result<Vec<NodeId>, ExtendError> {
        let mut ids = Vec::with_capacity(parents.len());
        self.extend_into(parent, parents, locals, &mut ids)?;
        Ok(ids)
    }

    /// As [`extend`](Self::extend), but appends the ids to a list, which may have the room already.
    ///
    /// Marks the new nodes dirty. O(entries), amortised. Example: [`extend`](Self::extend).
    ///
    /// # Errors
    /// Those of [`extend`](Self::extend); nothing was added, to `ids` neither.
    pub fn extend_into(
        &mut self,
        parent: impl Into<Option<NodeId>>,
        parents: &[Option<usize>],
        locals: &[A::Transform],
        ids: &mut Vec<NodeId>,
    ) -> Result<(), ExtendError> {
        let parent = self.topology.slot_or_none(parent.into())?;
        if parents.len() != locals.len() {
            return Err(LengthMismatch { left: parents.len(), right: locals.len() }.into());
        }
        let mut locals = locals.to_vec();
        for (index, local) in locals.iter_mut().enumerate() {
            A::admit::<InsertError>(local).map_err(|cause| ExtendError { index: Some(index), cause })?;
        }
        let order = pre_order(parents)?;

        self.make_room(locals.len());
        let slots: Vec<u32> = parents.iter().map(|_| self.topology.allocate()).collect();
        let mut place = vec![0; parents.len()];
        for (at, &entry) in order.iter().enumerate() {
            place[entry as usize] = at as u32;
        }
        let shape = Shape {
            slots: order.iter().map(|&entry| slots[entry as usize]).collect(),
            up: order
                .iter()
                .enumerate()
                .map(|(at, &entry)| parents[entry as usize].map_or(0, |above| at as u32 - place[above]))
                .collect(),
        };
        self.hang(&shape, (parent, NONE), |column, at| column.push(shape.slots[at], &locals[order[at] as usize]));
        ids.extend(slots.iter().map(|&slot| self.topology.live(slot)));
        Ok(())
    }

    /// Makes room for new nodes, without holes where there are too many of them.
    pub(super) fn make_room(&mut self, nodes: usize) {
        if self.order.is_crowded() {
            self.optimize();
        }
        self.reserve(nodes);
    }

    /// Hangs nodes without links and rows under `parent`, the tops before its child `before`, and gives
    /// them rows, as runs. `push` adds the local value of the node at that place of the shape.
    pub(super) fn hang(
        &mut self,
        shape: &Shape,
        (parent, before): (u32, u32),
        mut push: impl FnMut(&mut Locals<A>, usize),
    ) {
        for (at, (&slot, &up)) in shape.slots.iter().zip(&shape.up).enumerate() {
            match up {
                0 => self.topology.place(slot, parent, before),
                up => self.topology.place(slot, shape.slots[at - up as usize], NONE),
            }
        }
        let rows = self.order.push_runs(&shape.slots, &shape.up, parent);
        for at in 0..shape.slots.len() {
            push(&mut self.locals, at);
            self.worlds.push();
        }
        self.changes.resize(self.order.len());
        self.previous.resize(self.order.len());
        self.marks.resize(self.order.len());
        self.marks.set_range(rows);
    }

    /// Removes a node and everything below it, and returns how many nodes that were.
    ///
    /// Their ids become stale for good. Marks nothing dirty. O(removed).
    ///
    /// # Errors
    /// [`StaleNode`]; nothing changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::IDENTITY)?;
    /// let child = h.add_child(root, Transform::IDENTITY)?;
    /// let other = h.add_child(root, Transform::IDENTITY)?;
    /// assert_eq!(h.remove_subtree(child)?, 1);
    /// assert!(!h.contains(child) && h.contains(other));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "despawn")]
    #[doc(alias = "destroy")]
    pub fn remove_subtree(&mut self, id: NodeId) -> Result<usize, StaleNode> {
        let root = self.topology.slot(id)?;
        self.topology.cut(root);
        let before = self.len();
        // Children first: a released node's links are gone.
        let mut at = self.topology.first_in_post_order(root);
        while at != NONE {
            let next = self.topology.next_in_post_order(root, at);
            self.release(at);
            at = next;
        }
        Ok(before - self.len())
    }

    /// Removes everything below a node, and returns how many nodes that were. The node stays.
    ///
    /// Marks nothing dirty. O(removed).
    ///
    /// # Errors
    /// [`StaleNode`]; nothing changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::IDENTITY)?;
    /// let child = h.add_child(root, Transform::IDENTITY)?;
    /// h.add_child(child, Transform::IDENTITY)?;
    /// assert_eq!(h.remove_children(root)?, 2);
    /// assert_eq!(h.len(), 1);
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn remove_children(&mut self, id: NodeId) -> Result<usize, StaleNode> {
        let slot = self.topology.slot(id)?;
        let mut removed = 0;
        while let Some(child) = self.topology.id(self.topology.links(slot).first) {
            removed += self.remove_subtree(child)?;
        }
        Ok(removed)
    }

    /// Removes every node. All ids become stale; memory is kept. Subtrees that were
    /// [taken out](Self::take_subtree) before can still be restored. O(slots): as many as there ever were nodes at
    /// once.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::IDENTITY)?;
    /// h.clear();
    /// assert!(h.is_empty() && !h.contains(root));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn clear(&mut self) {
        let ids = self.order.slots().iter().filter_map(|&slot| self.topology.id(slot));
        self.changes.clear(ids, self.topology.slots());
        self.topology.clear();
        self.order.clear();
        self.locals.clear();
        self.worlds.clear();
        self.marks.clear();
        self.previous.clear();
        self.inherits.clear();
    }

    /// Removes a node and lets its children take its place among its siblings, in their order.
    ///
    /// With [`Keep::Local`] the children's local values stay and their worlds change; with
    /// [`Keep::World`] their worlds stay, shear included, and their locals become `own * local`.
    /// With [`Matrices`](crate::Matrices) that needs no inverse, so that a flat node goes as well as any
    /// other; [`Components`](crate::Components) do not associate, and take each child's world back into
    /// the parent's. So it is with a node that does not [inherit](Inherit) everything, and its children.
    /// Marks the children dirty. O(children); to keep worlds, times the depth.
    ///
    /// # Errors
    /// [`StaleNode`]; [`NotTrs`](crate::NotTrs) naming a child that would shear, with
    /// [`Keep::WorldTrs`]; [`NonFinite`](crate::NonFinite) if a child's new local value overflows; with
    /// `Components`, or where not everything is inherited, [`SingularParent`](crate::SingularParent) if the
    /// node's parent is flat, or one above it, or a new local value overflows; nothing changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Keep, Transform, glam::{Quat, Vec3}};
    /// let mut h = Hierarchy::new();
    /// let turned = Transform::new(Vec3::X, Quat::from_rotation_z(0.5), Vec3::new(2.0, 1.0, 1.0));
    /// let [group, last] = [(); 2].map(|()| h.add_root(turned).unwrap());
    /// let (a, b) = (h.add_child(group, turned)?, h.add_child(group, Transform::IDENTITY)?);
    /// let worlds = (h.world(a)?, h.world(b)?);
    /// h.remove_and_promote(group, Keep::World)?;
    /// assert!(h.roots().eq([a, b, last]));
    /// assert!(h.world(a)?.abs_diff_eq(worlds.0, 1e-6) && h.world(b)?.abs_diff_eq(worlds.1, 1e-6));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "bPromoteChildren")]
    pub fn remove_and_promote(&mut self, id: NodeId, keep: Keep) -> Result<(), ReparentError> {
        let slot = self.topology.slot(id)?;
        let parent = self.topology.links(slot).parent;
        let mut children = Vec::new();
        let mut child = self.topology.links(slot).first;
        while child != NONE {
            children.push((child, self.own_under(child, parent, self.inherit_of(child), keep)?));
            child = self.topology.links(child).next;
        }
        for (child, own) in &children {
            self.order.promote(*child, parent);
            self.trunk.outlive_move(self.order.row(*child), &self.order, &self.inherits);
            self.set_own(*child, own);
        }
        self.topology.replace_by_children(slot);
        self.release(slot);
        Ok(())
    }

    /// Gives back the slot and the row of a node that has been cut.
    fn release(&mut self, slot: u32) {
        self.vacate(slot);
        self.topology.release(slot);
    }

    /// Turns the row of a node that is about to go into a hole.
    pub(super) fn vacate(&mut self, slot: u32) {
        let row = self.order.vacate(slot);
        self.locals.vacate(row);
        self.worlds.vacate(row);
        self.previous.vacate(row);
        self.marks.unset(row);
        self.changes.remove(row, self.topology.live(slot), self.topology.slots());
        self.inherits.set(row, Inherit::ALL);
    }
}

/// The entries in depth-first pre-order: what is laid out as runs.
fn pre_order(parents: &[Option<usize>]) -> Result<Vec<u32>, ExtendError> {
    // Children as linked lists, built from the back so that they come out in the order of entries.
    let (mut first, mut next) = (vec![NONE; parents.len()], vec![NONE; parents.len()]);
    let mut top = NONE;
    for (entry, above) in parents.iter().enumerate().rev() {
        let head = match above {
            None => &mut top,
            Some(index) => {
                let out = OutOfRange { index: *index, max: parents.len() - 1 };
                first.get_mut(*index).ok_or_else(|| ExtendError { index: Some(entry), cause: out.into() })?
            }
        };
        next[entry] = *head;
        *head = entry as u32;
    }
    let mut order = Vec::with_capacity(parents.len());
    let mut at = top;
    while at != NONE {
        order.push(at);
        let mut up = at;
        at = first[at as usize];
        while at == NONE && up != NONE {
            at = next[up as usize];
            up = parents[up as usize].map_or(NONE, |above| above as u32);
        }
    }
    if order.len() == parents.len() {
        return Ok(order);
    }
    let mut reached = vec![false; parents.len()];
    order.iter().for_each(|&entry| reached[entry as usize] = true);
    let index = reached.iter().position(|&reached| !reached).unwrap_or(0);
    Err(ExtendError { index: Some(index), cause: ParentsCycle { index }.into() })
}
