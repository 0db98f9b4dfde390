//! Doors that move nodes to another parent or place.

use super::HierarchyOf;
use crate::accumulate::{Accumulate, Chain, Misfit, Own, Shear};
use crate::topology::NONE;
use crate::{Cycle, Inherit, NodeId, NonFinite, NotSibling, NotTrs, OutOfRange, ReparentError, SingularParent};
use alloc::vec::Vec;

/// What a node keeps when its parent changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Keep {
    /// The local value, bit for bit; the world pose follows the new parent.
    #[doc(alias = "KeepRelative")]
    Local,
    /// The world pose, every element of its matrix. If the new local value shears, the node holds it
    /// as a matrix.
    #[doc(alias = "worldPositionStays")]
    World,
    /// The world pose, held as position, rotation and scale; an error where these cannot hold it.
    WorldTrs,
}

impl<A: Accumulate> HierarchyOf<A> {
    /// Hangs a node, with everything below it, under another parent as its last child, or makes it the
    /// last root for `None`. Returns the parent it had. Under its own parent it becomes the last child.
    ///
    /// With [`Keep::World`] the new local value is, for [`Matrices`](crate::Matrices),
    /// `chain(new)⁻¹ * chain(old) * local`, the chains taken from the lowest common ancestor down, in
    /// float64, from the local values; for [`Components`](crate::Components) it is
    /// [`relative_to`](crate::Transform::relative_to) the new parent, both taken from the root down,
    /// because `combine` does not associate. With `P` and `W` the chain of the new parent and the
    /// wanted pose, what is stored obeys, element by element, `|P local - W| ≤ 2 ε |P||local|` (with `Components` part
    /// by part, each to within its own rounding; 8 ε in double precision, where float64 has no digits to spare, and
    /// both chains round by `2 ε` a level of the product of their sizes besides); and if it still misses the wanted
    /// pose, by more than 2⁻¹⁰ of a column's largest element, the parent counts as singular. (A position counts by its
    /// distance from the parent's or the world's origin, whichever is larger.)
    ///
    /// [`Keep::WorldTrs`] also takes a value whose matrix is off the exact one by what rounding a rotation
    /// explains, 16 ε of a column's largest element (32 ε in double precision in space).
    ///
    /// A node that does not [inherit](Inherit) everything, or has such a node on one of the two ways, is
    /// compared from the root down: `P` is then what it will inherit of its new parent. What it inherits
    /// stays as it is set. Nodes below that do not inherit everything hang under the component pose, which
    /// changes where position, rotation and scale cannot hold what is kept.
    ///
    /// Marks the node dirty, unless neither its parent nor its local value becomes another. O(depth).
    ///
    /// # Errors
    /// [`StaleNode`](crate::StaleNode) for either, [`Cycle`] if the new parent is the node or below it;
    /// with `World` and `WorldTrs` [`SingularParent`] if the chain of the new parent has an exact zero
    /// scale or no local value does the job; with `WorldTrs` [`NotTrs`]; [`NonFinite`] if the world pose
    /// overflows; nothing changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Keep, ReparentError, Transform, glam::{Quat, Vec3}};
    /// let mut h = Hierarchy::new();
    /// let quarter = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
    /// let hand = h.add_root(Transform::new(Vec3::new(3.0, 0.0, 0.0), quarter, Vec3::new(2.0, 1.0, 1.0)))?;
    /// let flat = h.add_root(Transform::from_scale(Vec3::new(1.0, 0.0, 1.0)))?;
    /// let cup = h.add_root(Transform::from_position(Vec3::new(3.0, 1.0, 0.0)))?;
    ///
    /// let world = h.world(cup)?;
    /// assert_eq!(h.reparent(cup, Some(hand), Keep::World)?, None);
    /// assert!(h.world(cup)?.abs_diff_eq(world, 1e-6));
    /// assert!(h.position(cup)?.abs_diff_eq(Vec3::new(0.5, 0.0, 0.0), 1e-6));
    ///
    /// assert!(matches!(h.reparent(cup, Some(flat), Keep::World), Err(ReparentError::SingularParent(_))));
    /// assert!(matches!(h.reparent(hand, Some(cup), Keep::World), Err(ReparentError::Cycle(_))));
    /// assert_eq!(h.parent(cup)?, Some(hand));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "set_parent")]
    #[doc(alias = "attach")]
    pub fn reparent(
        &mut self,
        id: NodeId,
        new_parent: impl Into<Option<NodeId>>,
        keep: Keep,
    ) -> Result<Option<NodeId>, ReparentError> {
        let node = self.topology.slot(id)?;
        let parent = self.topology.slot_or_none(new_parent.into())?;
        self.move_to(node, parent, NONE, keep)
    }

    /// As [`reparent`](Self::reparent), but as child (or root) number `index`, counted without the
    /// node itself.
    ///
    /// Marks dirty as `reparent` does. O(depth + index).
    ///
    /// # Errors
    /// Those of [`reparent`](Self::reparent), and [`OutOfRange`] if there are fewer than `index` other
    /// children; nothing changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Keep, Transform};
    /// let mut h = Hierarchy::new();
    /// let [a, b, c] = [(); 3].map(|()| h.add_root(Transform::IDENTITY).unwrap());
    /// h.reparent_at(c, None, 1, Keep::Local)?;
    /// assert!(h.roots().eq([a, c, b]));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "insertChild")]
    pub fn reparent_at(
        &mut self,
        id: NodeId,
        new_parent: impl Into<Option<NodeId>>,
        index: usize,
        keep: Keep,
    ) -> Result<Option<NodeId>, ReparentError> {
        let node = self.topology.slot(id)?;
        let parent = self.topology.slot_or_none(new_parent.into())?;
        let before = self.topology.child_at(parent, index, node).map_err(|max| OutOfRange { index, max })?;
        self.move_to(node, parent, before, keep)
    }

    /// Makes a node the last root, with everything below it. Returns the parent it had.
    ///
    /// Marks dirty as [`reparent`](Self::reparent) does. O(depth). Needs no inverse: a node leaves a flat parent as any
    /// other. A root has nothing to inherit, and what is set for it is there for when it gets a parent again.
    ///
    /// # Errors
    /// [`StaleNode`](crate::StaleNode); with `WorldTrs` [`NotTrs`]; [`NonFinite`] if the world pose
    /// overflows; nothing changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Keep, Transform, glam::{Quat, Vec3}};
    /// let mut h = Hierarchy::new();
    /// let turned = Transform::new(Vec3::X, Quat::from_rotation_z(0.5), Vec3::new(2.0, 1.0, 1.0));
    /// let hand = h.add_root(turned)?;
    /// let cup = h.add_child(hand, Transform::from_position(Vec3::Y))?;
    /// let world = h.world(cup)?;
    /// assert_eq!(h.detach(cup, Keep::World)?, Some(hand));
    /// assert!(h.roots().eq([hand, cup]) && h.world(cup)?.abs_diff_eq(world, 1e-6));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "unparent")]
    #[doc(alias = "DetachFromComponent")]
    #[doc(alias = "removeFromParent")]
    pub fn detach(&mut self, id: NodeId, keep: Keep) -> Result<Option<NodeId>, ReparentError> {
        self.reparent(id, None, keep)
    }

    /// Makes every child of a node a root, in order, after the roots there are; all or none.
    ///
    /// Marks the children dirty. O(depth · children).
    ///
    /// # Errors
    /// Those of [`detach`](Self::detach) for any of the children; nothing changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Keep, Transform, glam::{Quat, Vec3}};
    /// let mut h = Hierarchy::new();
    /// let turned = Transform::new(Vec3::X, Quat::from_rotation_z(0.5), Vec3::new(2.0, 1.0, 1.0));
    /// let root = h.add_root(turned)?;
    /// let (a, b) = (h.add_child(root, turned)?, h.add_child(root, Transform::IDENTITY)?);
    /// let worlds = (h.world(a)?, h.world(b)?);
    /// h.detach_children(root, Keep::World)?;
    /// assert!(h.roots().eq([root, a, b]));
    /// assert!(h.world(a)?.abs_diff_eq(worlds.0, 1e-6) && h.world(b)?.abs_diff_eq(worlds.1, 1e-6));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "DetachChildren")]
    pub fn detach_children(&mut self, id: NodeId, keep: Keep) -> Result<(), ReparentError> {
        let slot = self.topology.slot(id)?;
        let mut children = Vec::new();
        let mut child = self.topology.links(slot).first;
        while child != NONE {
            children.push((child, self.own_under(child, NONE, self.inherit_of(child), keep)?));
            child = self.topology.links(child).next;
        }
        for (child, own) in &children {
            self.commit_move(*child, NONE, NONE, own);
        }
        Ok(())
    }

    /// Moves a node right before one of its siblings. Changes no pose and marks nothing dirty. O(1).
    ///
    /// # Errors
    /// [`StaleNode`](crate::StaleNode) for either, [`NotSibling`]; nothing changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform};
    /// let mut h = Hierarchy::new();
    /// let [a, b, c] = [(); 3].map(|()| h.add_root(Transform::IDENTITY).unwrap());
    /// h.move_before(c, a)?;
    /// assert!(h.roots().eq([c, a, b]));
    /// h.move_after(c, a)?;
    /// assert!(h.roots().eq([a, c, b]));
    /// h.move_to_index(a, 2)?;
    /// assert!(h.roots().eq([c, b, a]));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn move_before(&mut self, id: NodeId, sibling: NodeId) -> Result<(), ReparentError> {
        let (node, before) = self.sibling_slots(id, sibling)?;
        if node != before {
            self.move_among_siblings(node, before);
        }
        Ok(())
    }

    /// Moves a node right after one of its siblings. Changes no pose and marks nothing dirty. O(1).
    /// Example: [`move_before`](Self::move_before).
    ///
    /// # Errors
    /// [`StaleNode`](crate::StaleNode) for either, [`NotSibling`]; nothing changed.
    pub fn move_after(&mut self, id: NodeId, sibling: NodeId) -> Result<(), ReparentError> {
        let (node, after) = self.sibling_slots(id, sibling)?;
        let before = self.topology.links(after).next;
        if node != after && node != before {
            self.move_among_siblings(node, before);
        }
        Ok(())
    }

    /// Moves a node to place `index` among its siblings, counted without the node itself. Changes no
    /// pose and marks nothing dirty. O(index). Example: [`move_before`](Self::move_before).
    ///
    /// # Errors
    /// [`StaleNode`](crate::StaleNode), [`OutOfRange`]; nothing changed.
    #[doc(alias = "SetSiblingIndex")]
    pub fn move_to_index(&mut self, id: NodeId, index: usize) -> Result<(), ReparentError> {
        let node = self.topology.slot(id)?;
        let parent = self.topology.links(node).parent;
        let before = self.topology.child_at(parent, index, node).map_err(|max| OutOfRange { index, max })?;
        self.move_among_siblings(node, before);
        Ok(())
    }

    fn sibling_slots(&self, node: NodeId, sibling: NodeId) -> Result<(u32, u32), ReparentError> {
        let slots = (self.topology.slot(node)?, self.topology.slot(sibling)?);
        if self.topology.links(slots.0).parent == self.topology.links(slots.1).parent {
            Ok(slots)
        } else {
            Err(NotSibling { node, sibling }.into())
        }
    }

    fn move_among_siblings(&mut self, node: u32, before: u32) {
        let parent = self.topology.links(node).parent;
        self.topology.cut(node);
        self.topology.place(node, parent, before);
    }

    fn move_to(&mut self, node: u32, parent: u32, before: u32, keep: Keep) -> Result<Option<NodeId>, ReparentError> {
        if parent != NONE && self.topology.is_at_or_above(node, parent) {
            return Err(Cycle { node: self.topology.live(node), parent: self.topology.live(parent) }.into());
        }
        let old = self.topology.links(node).parent;
        let own = self.own_under(node, parent, self.inherit_of(node), keep)?;
        self.commit_move(node, parent, before, &own);
        Ok(self.topology.id(old))
    }

    fn commit_move(&mut self, node: u32, parent: u32, before: u32, own: &Own<A>) {
        let stays = self.topology.links(node).parent == parent;
        self.topology.cut(node);
        self.topology.place(node, parent, before);
        if !stays {
            self.order.reparent(node, parent);
            self.trunk.outlive_move(self.order.row(node), &self.order, &self.inherits);
        }
        // Under its own parent a node that keeps its value keeps its world too, and is not marked.
        if !stays || *own != self.own(node) {
            self.set_own(node, own);
        }
    }

    /// The own value that a node is to have under another parent, or inheriting other parts.
    pub(super) fn own_under(
        &self,
        node: u32,
        parent: u32,
        inherit: Inherit,
        keep: Keep,
    ) -> Result<Own<A>, ReparentError> {
        let own = self.own(node);
        let old = (self.topology.links(node).parent, self.inherit_of(node));
        // A root has nothing to inherit.
        let stays = old.0 == parent && (old.1 == inherit || parent == NONE);
        let shear = match keep {
            Keep::World if !stays => Shear::Allowed,
            Keep::WorldTrs => Shear::Refused,
            Keep::Local | Keep::World => return Ok(own),
        };
        let top = match old.1 {
            _ if stays => parent,
            Inherit::ALL if inherit == Inherit::ALL => self.top(old.0, parent),
            _ => NONE,
        };
        let wanted = self.frame((old.0, top), old.1).below(&own);
        let solved = self.frame((parent, top), inherit).solve(&wanted, &own, shear);
        // With nothing inherited there is nothing to invert.
        let top = if inherit == Inherit::NONE { parent } else { top };
        solved.map_err(|misfit| self.refusal(misfit, node, (parent, top)))
    }

    /// The node from which two poses are compared: the lowest that gives what reading gives.
    pub(super) fn top(&self, a: u32, b: u32) -> u32 {
        if !A::ASSOCIATIVE && a != b {
            return NONE;
        }
        let top = self.topology.common(a, b);
        if self.is_cut_off(a, top) || self.is_cut_off(b, top) { NONE } else { top }
    }

    /// The product of the local poses from below `top` down to `slot`, in float64. From a node that does
    /// not inherit everything on it is seen from the world, and `top` must be none.
    pub(super) fn chain(&self, slot: u32, top: u32) -> Chain<A> {
        let (mut wide, mut flat, mut conformal) = (A::WIDE_IDENTITY, false, true);
        let mut path = Vec::new();
        let mut at = slot;
        while at != top {
            let (own, row) = (self.own(at), self.order.row(at));
            flat |= A::is_flat(&own);
            conformal &= A::is_conformal(&own);
            let (mut local, mut next) = (A::widen(self.locals.row(row)), self.topology.links(at).parent);
            if self.inherits.is_reduced(row) {
                let frame = self.frame_of(at);
                local = frame.below(&own);
                flat |= frame.chain().flat;
                conformal &= frame.chain().conformal;
                next = top;
            }
            path.push(local);
            at = next;
        }
        // In the order of reading: what over- or underflows on the way down has done so in the world too.
        for local in path.iter().rev() {
            wide = A::wide_product(&wide, local);
        }
        Chain { wide, flat, conformal }
    }

    /// The error for a pose that `node` cannot have under `parent`, both seen from `top`.
    pub(super) fn refusal<E>(&self, misfit: Misfit, node: u32, (parent, top): (u32, u32)) -> E
    where
        E: From<SingularParent> + From<NotTrs> + From<NonFinite>,
    {
        match misfit {
            // With nothing between to invert, the pose itself overflows.
            Misfit::Singular(_) if parent == top => NonFinite.into(),
            Misfit::Singular(residual) => SingularParent { parent: self.topology.live(parent), residual }.into(),
            Misfit::Shear(residual) => NotTrs { node: self.topology.live(node), residual }.into(),
            Misfit::NonFinite | Misfit::Degenerate => NonFinite.into(),
        }
    }
}
