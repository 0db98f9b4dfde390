//! Doors that copy, flatten, take out and put back whole subtrees.

use super::{HierarchyOf, Keep};
use crate::accumulate::{Accumulate, Matrices, Own, Shear};
use crate::topology::{NONE, reserved::Ticket, traverse::Shape};
use crate::{Error, Inherit, NodeId, NotReserved, OutOfRange, ReparentError, RestoreError, StaleNode};
use alloc::{vec, vec::Vec};

/// A subtree that was taken out of a hierarchy, which keeps its ids reserved. Made by
/// [`HierarchyOf::take_subtree`].
///
/// It goes back with [`restore`](HierarchyOf::restore), or for good with [`discard`](HierarchyOf::discard).
/// A copy counts as the same: once one is back or discarded, the others are refused. Where all are
/// dropped without either, the ids stay reserved as long as the hierarchy lives, which costs the memory
/// of their slots.
#[derive(Clone, Debug)]
#[must_use = "restore it or discard it: its ids stay reserved"]
pub struct Subtree<A: Accumulate = Matrices> {
    ticket: Ticket,
    parent: Option<NodeId>,
    index: usize,
    /// In pre-order.
    nodes: Vec<Taken<A>>,
}

#[derive(Clone, Copy, Debug)]
struct Taken<A: Accumulate> {
    id: NodeId,
    /// How far before it its parent is; 0 for the top.
    up: u32,
    own: Own<A>,
    inherit: Inherit,
}

impl<A: Accumulate> Subtree<A> {
    /// The top node.
    #[must_use]
    pub fn root(&self) -> NodeId {
        self.nodes[0].id
    }

    /// All nodes, in depth-first order: the top one first.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + Clone + '_ {
        self.nodes.iter().map(|node| node.id)
    }

    /// The parent from under which it was taken; `None` if it was a root.
    #[must_use]
    pub fn parent(&self) -> Option<NodeId> {
        self.parent
    }

    /// Which child of that parent it was, or which root.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }
}

/// A subtree that was not restored or discarded, and why.
///
/// Turns into [`RestoreError`] and [`Error`] by `?`, which drops the subtree.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{error}")]
pub struct SubtreeRefused<A: Accumulate = Matrices> {
    /// What was passed in.
    pub subtree: Subtree<A>,
    /// Why it was refused.
    pub error: RestoreError,
}

impl<A: Accumulate> From<SubtreeRefused<A>> for RestoreError {
    fn from(refused: SubtreeRefused<A>) -> Self {
        refused.error
    }
}

impl<A: Accumulate> From<SubtreeRefused<A>> for Error {
    fn from(refused: SubtreeRefused<A>) -> Self {
        refused.error.into()
    }
}

impl<A: Accumulate> HierarchyOf<A> {
    /// Copies a node and everything below it under `parent`, after its last child, or after the last root
    /// for `None`. Returns each node with its copy, in depth-first order: the top ones first.
    ///
    /// Local values are copied bit for bit, matrices as matrices, children in their order, and what each
    /// [inherits](Inherit) with them. Copied is what was there before: `parent` may be the node itself, or below
    /// it. The copies are stored as one run.
    /// Marks them dirty. O(copied), amortised.
    ///
    /// # Errors
    /// [`StaleNode`] for either; nothing changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Inherit, Keep, NodeMap, Transform, glam::{Affine3A, Mat3, Vec3}};
    /// let mut h = Hierarchy::new();
    /// let lamp = h.add_root(Transform::from_position(Vec3::X))?;
    /// let bulb = h.add_child(lamp, Transform::IDENTITY)?;
    /// let sheared = Mat3::from_cols(Vec3::X, Vec3::new(0.5, 1.0, 0.0), Vec3::Z);
    /// h.set_local_matrix(bulb, Affine3A::from_mat3_translation(sheared, Vec3::Y))?;
    /// h.set_inherit(bulb, Inherit { scale: false, ..Inherit::ALL }, Keep::Local)?;
    /// let copies = h.clone_subtree(lamp, None)?;
    /// let (_, new_lamp) = copies[0];
    /// h.set_position(new_lamp, Vec3::Z)?;
    ///
    /// // What is asked for by node: collected into a map.
    /// let copies: NodeMap<_> = copies.into_iter().collect();
    /// assert_eq!(h.world_position(copies[bulb])?, Vec3::new(0.0, 1.0, 1.0));
    /// assert_eq!(h.world_position(bulb)?, Vec3::new(1.0, 1.0, 0.0));
    /// assert_eq!(h.local_matrix(copies[bulb])?, h.local_matrix(bulb)?);
    /// assert_eq!(h.inherit(copies[bulb])?, h.inherit(bulb)?);
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "instantiate")]
    #[doc(alias = "duplicate")]
    pub fn clone_subtree(
        &mut self,
        id: NodeId,
        parent: impl Into<Option<NodeId>>,
    ) -> Result<Vec<(NodeId, NodeId)>, StaleNode> {
        let top = self.topology.slot(id)?;
        let parent = self.topology.slot_or_none(parent.into())?;
        let from = self.topology.shape(top);
        self.make_room(from.slots.len());
        let rows: Vec<u32> = from.slots.iter().map(|&slot| self.order.row(slot)).collect();
        let old: Vec<NodeId> = from.slots.iter().map(|&slot| self.topology.live(slot)).collect();
        let inherits: Vec<Inherit> = rows.iter().map(|&row| self.inherits.get(row)).collect();
        let new = self.allocate(&from);
        self.hang(&new, (parent, NONE), |locals, at| {
            let (transform, is_matrix, local) = locals.parts(from.slots[at], rows[at]);
            locals.push_parts(new.slots[at], (&{ *transform }, is_matrix, &{ *local }));
        });
        self.put_inherits(&new, inherits);
        Ok(self.with_ids(old, &new))
    }

    /// Copies all nodes of another hierarchy under `parent`, its roots after the last child there, or
    /// after the last root for `None`. Returns each of its nodes with its copy, in depth-first order.
    ///
    /// Local values are copied bit for bit, matrices as matrices, children in their order. The copies are
    /// stored as runs. Marks them dirty. O(copied), amortised.
    ///
    /// # Errors
    /// [`StaleNode`] for `parent`; nothing changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Inherit, Keep, Transform, glam::{Affine3A, Mat3, Vec3}};
    /// let mut prefab = Hierarchy::new();
    /// let wheel = prefab.add_root(Transform::from_position(Vec3::Y))?;
    /// let hub = prefab.add_child(wheel, Transform::IDENTITY)?;
    /// let sheared = Mat3::from_cols(Vec3::X, Vec3::new(0.5, 1.0, 0.0), Vec3::Z);
    /// prefab.set_local_matrix(hub, Affine3A::from_mat3(sheared))?;
    /// prefab.set_inherit(hub, Inherit { scale: false, ..Inherit::ALL }, Keep::Local)?;
    /// let mut h = Hierarchy::new();
    /// let car = h.add_root(Transform::from_position(Vec3::X))?;
    /// let copies = h.append(&prefab, car)?;
    /// let [(_, new_wheel), (_, new_hub)] = copies[..] else { unreachable!() };
    /// assert_eq!(copies, [(wheel, new_wheel), (hub, new_hub)]);
    /// assert!(h.descendants(car)?.eq([new_wheel, new_hub]));
    /// assert_eq!(h.world_position(new_hub)?, Vec3::new(1.0, 1.0, 0.0));
    /// assert_eq!(h.local_matrix(new_hub)?, prefab.local_matrix(hub)?);
    /// assert_eq!(h.inherit(new_hub)?, prefab.inherit(hub)?);
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "merge")]
    pub fn append(
        &mut self,
        other: &Self,
        parent: impl Into<Option<NodeId>>,
    ) -> Result<Vec<(NodeId, NodeId)>, StaleNode> {
        let parent = self.topology.slot_or_none(parent.into())?;
        Ok(self.copy_from(other, &other.topology.shape(NONE), parent))
    }

    /// Copies a node of another hierarchy and everything below it under `parent`, as [`append`](Self::append) copies
    /// all: from a library of prefabs, or a clipboard.
    ///
    /// # Errors
    /// [`StaleNode`] for `id`, in the other hierarchy, and for `parent` in this one; nothing changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::Vec3};
    /// let mut library = Hierarchy::new();
    /// let lamp = library.add_root(Transform::from_position(Vec3::X))?;
    /// let bulb = library.add_child(lamp, Transform::from_position(Vec3::Y))?;
    /// library.add_root(Transform::IDENTITY)?; // is not copied
    /// let mut h = Hierarchy::new();
    /// let room = h.add_root(Transform::from_position(Vec3::Z))?;
    /// let copies = h.append_subtree(&library, lamp, room)?;
    /// assert!(copies.iter().map(|&(old, _)| old).eq([lamp, bulb]));
    /// assert_eq!(h.world_position(copies[1].1)?, Vec3::ONE);
    /// assert_eq!(h.len(), 3);
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "Instantiate")]
    pub fn append_subtree(
        &mut self,
        other: &Self,
        id: NodeId,
        parent: impl Into<Option<NodeId>>,
    ) -> Result<Vec<(NodeId, NodeId)>, StaleNode> {
        let top = other.topology.slot(id)?;
        let parent = self.topology.slot_or_none(parent.into())?;
        Ok(self.copy_from(other, &other.topology.shape(top), parent))
    }

    fn copy_from(&mut self, other: &Self, from: &Shape, parent: u32) -> Vec<(NodeId, NodeId)> {
        self.make_room(from.slots.len());
        let old = from.slots.iter().map(|&slot| other.topology.live(slot)).collect();
        let new = self.allocate(from);
        self.hang(&new, (parent, NONE), |locals, at| {
            let slot = from.slots[at];
            locals.push_parts(new.slots[at], other.locals.parts(slot, other.order.row(slot)));
        });
        self.put_inherits(&new, from.slots.iter().map(|&slot| other.inherit_of(slot)));
        self.with_ids(old, &new)
    }

    /// Of nodes that have just got their rows, and are marked.
    fn put_inherits(&mut self, shape: &Shape, inherits: impl IntoIterator<Item = Inherit>) {
        for (&slot, inherit) in shape.slots.iter().zip(inherits) {
            self.inherits.set(self.order.row(slot), inherit);
        }
    }

    /// New slots in the shape of others.
    fn allocate(&mut self, shape: &Shape) -> Shape {
        Shape { slots: shape.slots.iter().map(|_| self.topology.allocate()).collect(), up: shape.up.clone() }
    }

    fn with_ids(&self, old: Vec<NodeId>, new: &Shape) -> Vec<(NodeId, NodeId)> {
        old.into_iter().zip(new.slots.iter().map(|&slot| self.topology.live(slot))).collect()
    }

    /// Makes everything below a node its direct children, in depth-first order; all or none.
    ///
    /// With [`Keep::World`] world poses stay, shear included, and a local value becomes the product of
    /// those from below the node down. With [`Matrices`] that needs no inverse;
    /// [`Components`](crate::Components) do not associate, and take each world back into the node's. With
    /// [`Keep::Local`] local values stay. Nodes that were children before keep their local values in any
    /// case, and are not marked (but with [`Keep::WorldTrs`] their matrices become transforms, where they hold any);
    /// all others are marked dirty. O(subtree); with `Components`, plus O(depth); times the
    /// depth if a node in it does not [inherit](Inherit) everything.
    ///
    /// # Errors
    /// [`StaleNode`]; with [`Keep::WorldTrs`] [`NotTrs`](crate::NotTrs) naming the first node that shears,
    /// also of those that were children before; [`NonFinite`](crate::NonFinite) if a new local value
    /// overflows. With `Components`, or where not everything is inherited, if something is to move:
    /// [`SingularParent`](crate::SingularParent) if the node is flat or one above it, or a new local value
    /// overflows. Nothing changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Keep, Transform, glam::{Quat, Vec3}};
    /// let mut h = Hierarchy::new();
    /// let turned = Transform::new(Vec3::X, Quat::from_rotation_z(0.5), Vec3::new(2.0, 1.0, 1.0));
    /// let arm = h.add_root(turned)?;
    /// let hand = h.add_child(arm, turned)?;
    /// let finger = h.add_child(hand, Transform::from_position(Vec3::Y))?;
    /// let world = h.world(finger)?;
    /// h.flatten(arm, Keep::World)?;
    /// assert!(h.children(arm)?.eq([hand, finger]));
    /// assert!(h.world(finger)?.abs_diff_eq(world, 1e-6));
    /// assert_eq!(h.local(hand)?, turned);
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn flatten(&mut self, id: NodeId, keep: Keep) -> Result<(), ReparentError> {
        let top = self.topology.slot(id)?;
        let shape = self.topology.shape(top);
        let owns = self.owns_when_flat(top, &shape, keep)?;
        self.order.flatten(&shape.slots);
        self.trunk.outlive_move(self.order.row(top), &self.order, &self.inherits);
        for (&slot, own) in shape.slots[1..].iter().zip(&owns) {
            let stays = self.topology.links(slot).parent == top;
            self.topology.cut(slot);
            self.topology.place(slot, top, NONE);
            if !stays || *own != self.own(slot) {
                self.set_own(slot, own);
            }
        }
        Ok(())
    }

    /// The own values of all below the top, as its children. Poses are accumulated down the shape, for it
    /// to take no more than a product and a solution a node.
    fn owns_when_flat(&self, top: u32, shape: &Shape, keep: Keep) -> Result<Vec<Own<A>>, ReparentError> {
        let shear = match keep {
            Keep::Local => return Ok(shape.slots[1..].iter().map(|&slot| self.own(slot)).collect()),
            Keep::World => Shear::Allowed,
            Keep::WorldTrs => Shear::Refused,
        };
        if shape.slots[1..].iter().any(|&slot| self.inherits.is_reduced(self.order.row(slot))) {
            // Not what is above it alone decides where such a node is, and what is below it: each by itself.
            let own_when_flat = |&slot: &u32| {
                let own = self.own(slot);
                let stays = self.topology.links(slot).parent == top;
                if stays && (own.matrix.is_none() || shear == Shear::Allowed) {
                    return Ok(own);
                }
                self.own_under(slot, top, self.inherit_of(slot), keep)
            };
            return shape.slots[1..].iter().map(own_when_flat).collect();
        }
        let from = if A::ASSOCIATIVE { top } else { NONE };
        let parent = self.chain(top, from);
        let mut poses = vec![parent.wide];
        let mut owns = Vec::with_capacity(shape.slots.len());
        for (at, &slot) in shape.slots.iter().enumerate().skip(1) {
            let above = at - shape.up[at] as usize;
            let own = self.own(slot);
            let pose = A::wide_product(&poses[above], &A::widen(self.locals.row(self.order.row(slot))));
            let stays = above == 0 && (own.matrix.is_none() || shear == Shear::Allowed);
            owns.push(if stays {
                own
            } else {
                let solved = A::solve(&parent, &pose, &own, shear);
                solved.map_err(|misfit| self.refusal::<ReparentError>(misfit, slot, (top, from)))?
            });
            poses.push(pose);
        }
        Ok(owns)
    }

    /// Takes a node and everything below it out, as a value that can be put back under the same ids: for
    /// undo, pools, and what is hidden for a while.
    ///
    /// Until then the ids are *reserved*: every door refuses them as stale, and no new node gets them.
    /// [`clear`](Self::clear) leaves them reserved, and a clone of the hierarchy has them reserved too.
    /// Readers of [changes](crate::Worlds::removed_since) are told of a removal, and of a change where it is
    /// back. Marks nothing dirty. O(taken), and O(siblings before it) to remember its place.
    ///
    /// # Errors
    /// [`StaleNode`]; nothing changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::Vec3};
    /// let mut h = Hierarchy::new();
    /// let table = h.add_root(Transform::from_position(Vec3::X))?;
    /// let cup = h.add_child(table, Transform::from_position(Vec3::Y))?;
    /// let plate = h.add_child(table, Transform::IDENTITY)?;
    ///
    /// let taken = h.take_subtree(cup)?;
    /// assert!(!h.contains(cup) && h.is_reserved(cup));
    /// h.restore(taken)?;
    /// assert_eq!(h.world_position(cup)?, Vec3::new(1.0, 1.0, 0.0));
    /// assert!(h.children(table)?.eq([cup, plate]));
    ///
    /// let taken = h.take_subtree(cup)?;
    /// h.restore_at(taken, None, 0)?; // before the table
    /// assert!(h.roots().eq([cup, table]));
    ///
    /// let taken = h.take_subtree(cup)?;
    /// assert_eq!(h.discard(taken)?, 1); // gone for good
    /// assert!(!h.is_reserved(cup));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn take_subtree(&mut self, id: NodeId) -> Result<Subtree<A>, StaleNode> {
        let top = self.topology.slot(id)?;
        let shape = self.topology.shape(top);
        let nodes = shape.slots.iter().zip(&shape.up);
        let subtree = Subtree {
            parent: self.parent(id)?,
            index: self.sibling_index(id)?,
            nodes: nodes
                .map(|(&slot, &up)| Taken {
                    id: self.topology.live(slot),
                    up,
                    own: self.own(slot),
                    inherit: self.inherit_of(slot),
                })
                .collect(),
            ticket: self.topology.draw_ticket(),
        };
        self.topology.cut(top);
        for &slot in &shape.slots {
            self.vacate(slot);
            self.topology.reserve_slot(slot, subtree.ticket);
        }
        Ok(subtree)
    }

    /// Puts a taken subtree back where it was: under the same parent, as the same child. Its ids are
    /// valid again, local values keep their bits. Returns its top node.
    ///
    /// Goes into the hierarchy that it was taken out of, and into copies of that which were made since.
    /// Stored as one run. Marks its nodes dirty. O(subtree), and O(siblings before its place), amortised.
    /// Example: [`take_subtree`](Self::take_subtree).
    ///
    /// # Errors
    /// Those of [`restore_at`](Self::restore_at), for the parent and index that it had; nothing changed,
    /// and the error gives the subtree back.
    pub fn restore(&mut self, subtree: Subtree<A>) -> Result<NodeId, SubtreeRefused<A>> {
        let (parent, index) = (subtree.parent, subtree.index);
        self.restore_at(subtree, parent, index)
    }

    /// As [`restore`](Self::restore), but as the last child of `parent`, or the last root for `None`.
    ///
    /// Marks its nodes dirty. O(subtree), amortised.
    ///
    /// # Errors
    /// [`NotReserved`], [`StaleNode`] for `parent`; nothing changed, and the error gives the subtree back.
    ///
    /// ```
    /// use posetree::{Hierarchy, RestoreError, Transform};
    /// let mut h = Hierarchy::new();
    /// let table = h.add_root(Transform::IDENTITY)?;
    /// let cup = h.add_child(table, Transform::IDENTITY)?;
    /// let taken = h.take_subtree(cup)?;
    /// h.remove_subtree(table)?;
    ///
    /// let refused = h.restore(taken).unwrap_err();
    /// assert!(matches!(refused.error, RestoreError::StaleNode(stale) if stale.node == table));
    /// h.restore_under(refused.subtree, None)?;
    /// assert_eq!(h.parent(cup)?, None);
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn restore_under(
        &mut self,
        subtree: Subtree<A>,
        parent: impl Into<Option<NodeId>>,
    ) -> Result<NodeId, SubtreeRefused<A>> {
        self.put_back(subtree, parent.into(), None)
    }

    /// As [`restore`](Self::restore), but as child number `index` of `parent`, or as root number `index`
    /// for `None`.
    ///
    /// Marks its nodes dirty. O(subtree + index), amortised. Example: [`take_subtree`](Self::take_subtree).
    ///
    /// # Errors
    /// [`NotReserved`] if it was restored or discarded before, or is another hierarchy's; [`StaleNode`] for
    /// `parent`, [`OutOfRange`] if that has fewer than `index` children; nothing changed, and the error
    /// gives the subtree back.
    pub fn restore_at(
        &mut self,
        subtree: Subtree<A>,
        parent: impl Into<Option<NodeId>>,
        index: usize,
    ) -> Result<NodeId, SubtreeRefused<A>> {
        self.put_back(subtree, parent.into(), Some(index))
    }

    /// At the end for no index.
    fn put_back(
        &mut self,
        subtree: Subtree<A>,
        parent: Option<NodeId>,
        index: Option<usize>,
    ) -> Result<NodeId, SubtreeRefused<A>> {
        let (parent, before) = match self.place_of(&subtree, parent, index) {
            Ok(place) => place,
            Err(error) => return Err(SubtreeRefused { subtree, error }),
        };
        self.make_room(subtree.nodes.len());
        let shape = Shape {
            slots: subtree.nodes.iter().map(|node| node.id.slot()).collect(),
            up: subtree.nodes.iter().map(|node| node.up).collect(),
        };
        shape.slots.iter().for_each(|&slot| self.topology.revive(slot));
        self.hang(&shape, (parent, before), |locals, at| {
            let Own { transform, matrix } = &subtree.nodes[at].own;
            let local = matrix.unwrap_or_else(|| A::local_of(transform));
            locals.push_parts(shape.slots[at], (transform, matrix.is_some(), &local));
        });
        self.put_inherits(&shape, subtree.nodes.iter().map(|node| node.inherit));
        Ok(subtree.root())
    }

    /// The slot of the parent, and the child before which a subtree goes.
    fn place_of(
        &self,
        subtree: &Subtree<A>,
        parent: Option<NodeId>,
        index: Option<usize>,
    ) -> Result<(u32, u32), RestoreError> {
        self.assure_reserved(subtree)?;
        let parent = self.topology.slot_or_none(parent)?;
        let before = match index {
            Some(index) => self.topology.child_at(parent, index, NONE).map_err(|max| OutOfRange { index, max })?,
            None => NONE,
        };
        Ok((parent, before))
    }

    fn assure_reserved(&self, subtree: &Subtree<A>) -> Result<(), NotReserved> {
        // All nodes of a taking share their ticket, and come back or go together.
        let reserved = subtree.nodes.iter().all(|node| self.topology.is_reserved_by(node.id, subtree.ticket));
        if reserved { Ok(()) } else { Err(NotReserved { node: subtree.root() }) }
    }

    /// Gives the ids of a taken subtree up, and returns how many nodes that were: they are stale for good.
    ///
    /// Marks nothing dirty. O(subtree). Example: [`take_subtree`](Self::take_subtree).
    ///
    /// # Errors
    /// [`NotReserved`] if it was restored or discarded before, or is another hierarchy's; nothing changed,
    /// and the error gives the subtree back.
    pub fn discard(&mut self, subtree: Subtree<A>) -> Result<usize, SubtreeRefused<A>> {
        if let Err(error) = self.assure_reserved(&subtree) {
            return Err(SubtreeRefused { subtree, error: error.into() });
        }
        // Backwards, so that new nodes get the slots in the order of the old ones.
        subtree.nodes.iter().rev().for_each(|node| self.topology.free_reserved(node.id.slot()));
        Ok(subtree.nodes.len())
    }

    /// Whether the id is one of a subtree that was [taken out](Self::take_subtree) and is neither restored
    /// nor discarded. Such ids are not [contained](Self::contains). O(1).
    ///
    /// ```
    /// use posetree::{Hierarchy, NodeMap, Transform};
    /// let mut h = Hierarchy::new();
    /// let id = h.add_root(Transform::IDENTITY)?;
    /// let mut names = NodeMap::from_iter([(id, "cup")]);
    /// let taken = h.take_subtree(id)?;
    /// // Data of nodes that may come back stays.
    /// names.retain(|id, _| h.contains(id) || h.is_reserved(id));
    /// h.restore(taken)?;
    /// assert_eq!(names[id], "cup");
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[must_use]
    pub fn is_reserved(&self, id: NodeId) -> bool {
        self.topology.is_reserved(id)
    }
}
