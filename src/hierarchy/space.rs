//! Doors that move, turn and aim nodes in a space of one's choice.

use super::HierarchyOf;
use super::inherit::Frame;
use crate::accumulate::geometry::Shared as _;
use crate::accumulate::{Geometry, Misfit, Own};
use crate::{Degenerate, NodeId, WorldError};

/// The frame in which the arguments of a door are given.
///
/// There is no scaling in a space: a scale acts along the own axes. What a gizmo wants that stretches along world axes,
/// or about a point, is a product, and goes in by [`set_world`](crate::HierarchyOf::set_world): `stretching * world`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Space {
    /// The node's own.
    #[doc(alias = "Self")]
    Local,
    /// The parent's, in which the local value is given. Of a root: the world. Of a node that does not
    /// [inherit](crate::Inherit) everything: what is left of the parent's.
    Parent,
    /// The world.
    World,
}

impl<A: Geometry> HierarchyOf<A> {
    /// Moves a node by an offset given in a space; rotation, scale and shear keep their bits.
    ///
    /// With `p` and `r` the own position and rotation: [`Space::Local`] `p += r v`, in parent units, the
    /// own scale not applied; [`Space::Parent`] `p += v`; [`Space::World`] moves the world position by
    /// `v`. Of a node that does not [inherit](crate::Inherit) the position `p` is given in the world, and
    /// [`Space::Local`] is `p += F r v`, `F` what it inherits of the rest: along its own axes all the same.
    /// Marks the node dirty. O(1), in world space (and in the last case) O(depth).
    ///
    /// # Errors
    /// [`StaleNode`](crate::StaleNode); [`NonFinite`](crate::NonFinite), also if the sum overflows; in
    /// world space [`SingularParent`](crate::SingularParent); nothing changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Space, Transform, glam::{Quat, Vec3}};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::from_scale(Vec3::splat(2.0)))?;
    /// let child = h.add_child(root, Transform::from_rotation(Quat::from_rotation_z(std::f32::consts::FRAC_PI_2)))?;
    /// h.translate(child, Vec3::X, Space::Local)?;
    /// assert!(h.position(child)?.abs_diff_eq(Vec3::Y, 1e-6));
    /// h.translate(child, 2.0 * Vec3::X, Space::World)?;
    /// assert!(h.position(child)?.abs_diff_eq(Vec3::new(1.0, 1.0, 0.0), 1e-6));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "AddLocalOffset")]
    #[doc(alias = "translateOnAxis")]
    pub fn translate(&mut self, id: NodeId, offset: A::Vector, space: Space) -> Result<(), WorldError> {
        self.topology.slot(id)?;
        let offset = A::Shared::check_vector(offset)?;
        self.edit_in(id, |h, slot, own| match space {
            Space::Local => Some(h.edited_in_own(slot, own, |own| A::moved_in_local(own, offset))),
            Space::Parent => Some(A::moved_in_parent(own, offset)),
            Space::World => None,
        })
        .unwrap_or_else(|| self.edit_in_world(id, |frame, own| A::moved_in_world(&frame.of_position(), own, offset)))
    }

    /// Puts a node at a point given in a space; rotation, scale and shear keep their bits.
    ///
    /// [`Space::Local`]: at the point that has these coordinates in the node as it is now, `p + L v`
    /// with `L` the linear part of the local value (`p + F L v` in the case of
    /// [`translate`](Self::translate)); [`Space::Parent`]: sets the local position;
    /// [`Space::World`]: sets the world position. Marks the node dirty. O(1), in world space O(depth).
    ///
    /// # Errors
    /// [`StaleNode`](crate::StaleNode); [`NonFinite`](crate::NonFinite), also if the sum overflows; in
    /// world space [`SingularParent`](crate::SingularParent); nothing changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Space, Transform, glam::Vec3};
    /// let mut h = Hierarchy::new();
    /// let id = h.add_root(Transform::from_position(Vec3::X).with_scale(Vec3::splat(2.0)))?;
    /// h.set_position_in(id, Vec3::Y, Space::Local)?;
    /// assert_eq!(h.position(id)?, Vec3::new(1.0, 2.0, 0.0));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn set_position_in(&mut self, id: NodeId, position: A::Vector, space: Space) -> Result<(), WorldError> {
        self.topology.slot(id)?;
        let position = A::Shared::check_vector(position)?;
        self.edit_in(id, |h, slot, own| match space {
            Space::Local => Some(h.edited_in_own(slot, own, |own| A::placed_in_local(own, position))),
            Space::Parent => Some(A::with_position(own, position)),
            Space::World => None,
        })
        .unwrap_or_else(|| self.edit_in_world(id, |frame, own| A::solve_position(&frame.of_position(), own, position)))
    }

    /// Turns a node in place by a rotation given in a space; the position keeps its bits, and so does the scale
    /// but in [`Space::World`] under uneven scale.
    ///
    /// With `r` the own rotation: [`Space::Local`] `r = r q`; [`Space::Parent`] `r = q r`;
    /// [`Space::World`] makes the world's linear part `Rot(q) * linear`. Under a parent that is a
    /// rotation or reflection times one factor that is a rotation of `r` too, and the scale keeps its
    /// bits; under any other it is exact all the same, and the node may hold shear afterwards: to keep it a
    /// transform, set the world rotation to `q` times what it is. (With
    /// [`Components`](crate::Components) it always is a rotation of `r`.) The rotation is normalised, an angle
    /// wrapped to (-π, π], each time, so that any number of calls leaves it one. Marks the node dirty.
    /// O(1), in world space O(depth).
    ///
    /// # Errors
    /// [`StaleNode`](crate::StaleNode), [`NonFinite`](crate::NonFinite),
    /// [`NotRotation`](crate::NotRotation); in world space [`SingularParent`](crate::SingularParent);
    /// nothing changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Space, Transform, glam::{Quat, Vec3}};
    /// let mut h = Hierarchy::new();
    /// let (x, y, z) = (Quat::from_rotation_x(0.3), Quat::from_rotation_y(0.4), Quat::from_rotation_z(0.5));
    /// let root = h.add_root(Transform::from_rotation(x))?;
    /// let child = h.add_child(root, Transform::from_position(Vec3::X))?;
    /// for (space, world) in [(Space::Local, x * y * z), (Space::Parent, x * z * y), (Space::World, z * x * y)] {
    ///     h.set_rotation(child, y)?;
    ///     h.rotate(child, z, space)?;
    ///     assert!(h.world_rotation(child)?.abs_diff_eq(world, 1e-6));
    ///     assert_eq!(h.position(child)?, Vec3::X);
    /// }
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "rotateOnWorldAxis")]
    #[doc(alias = "AddLocalRotation")]
    pub fn rotate(&mut self, id: NodeId, rotation: A::Rotation, space: Space) -> Result<(), WorldError> {
        self.turn(id, None, rotation, space)
    }

    /// Turns a node about a point, both given in a space, as if the point were a hinge.
    ///
    /// The rotation acts as in [`rotate`](Self::rotate), and the position moves so that the point, seen
    /// from the node, stays where it is. In [`Space::Local`] the point is in the node's own coordinates,
    /// own scale applied. (One exception: [`Space::Parent`] of a node that does not
    /// [inherit](crate::Inherit) the position is the world for point and position and what it inherits for the
    /// rotation, and each turns in its own.) Marks the node dirty. O(1), in world space O(depth).
    ///
    /// # Errors
    /// [`StaleNode`](crate::StaleNode); [`NonFinite`](crate::NonFinite), also if the result overflows;
    /// [`NotRotation`](crate::NotRotation); in world space [`SingularParent`](crate::SingularParent);
    /// nothing changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Space, Transform, glam::{Quat, Vec3}};
    /// let mut h = Hierarchy::new();
    /// let house = h.add_root(Transform::from_position(Vec3::Z))?;
    /// let door = h.add_child(house, Transform::from_position(Vec3::X))?;
    /// let (hinge, quarter) = (2.0 * Vec3::X + Vec3::Z, Quat::from_rotation_y(std::f32::consts::FRAC_PI_2));
    /// h.rotate_around(door, hinge, quarter, Space::World)?;
    /// assert!(h.world_position(door)?.abs_diff_eq(hinge + Vec3::Z, 1e-6));
    /// assert!(h.world_rotation(door)?.abs_diff_eq(quarter, 1e-6));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "RotateAround")]
    #[doc(alias = "pivot")]
    pub fn rotate_around(
        &mut self,
        id: NodeId,
        point: A::Vector,
        rotation: A::Rotation,
        space: Space,
    ) -> Result<(), WorldError> {
        self.turn(id, Some(point), rotation, space)
    }

    fn turn(
        &mut self,
        id: NodeId,
        about: Option<A::Vector>,
        rotation: A::Rotation,
        space: Space,
    ) -> Result<(), WorldError> {
        self.topology.slot(id)?;
        let about = about.map(A::Shared::check_vector).transpose()?;
        let rotation = A::Shared::admit_rotation::<WorldError>(rotation)?;
        self.edit_in(id, |h, slot, own| match space {
            Space::Local if about.is_none() => Some(A::turned_in_local(own, rotation, None)),
            Space::Local => Some(h.edited_in_own(slot, own, |own| A::turned_in_local(own, rotation, about))),
            Space::Parent => Some(A::turned_in_parent(own, rotation, about)),
            Space::World => None,
        })
        .unwrap_or_else(|| self.edit_in_world(id, |frame, own| turned_in_world(frame, own, rotation, about)))
    }

    /// Turns a node so that the world ray from its position along the image of its -Z axis passes
    /// through a world point, with its +Y axis as near to the world direction `world_up` as that leaves.
    ///
    /// In two dimensions, where there is no up to choose, it is [`aim_at`](Self::aim_at). Position, scale
    /// and shear stay. With [`Matrices`](crate::Matrices) it aims in the parent's space, where target and
    /// up are mapped to, so that the ray is right under rotated, scaled, mirrored and sheared parents;
    /// with [`Components`](crate::Components) `r = r_p⁻¹ lookRotation(target - world_position)`. To aim the +Z
    /// axis, look at `2 * world_position - target`. Marks the node dirty. O(depth).
    ///
    /// # Errors
    /// [`StaleNode`](crate::StaleNode), [`NonFinite`](crate::NonFinite);
    /// [`Degenerate`] if the target is on the node, up has no length or is along the
    /// view, or the node's Z axis is scaled to nothing; [`SingularParent`](crate::SingularParent);
    /// nothing changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::{Quat, Vec3}};
    /// let mut h = Hierarchy::new();
    /// let wide = Transform::from_scale(Vec3::new(3.0, 1.0, 1.0)).with_rotation(Quat::from_rotation_y(0.3));
    /// let root = h.add_root(wide)?;
    /// let camera = h.add_child(root, Transform::from_position(Vec3::X))?;
    /// h.look_at(camera, Vec3::new(0.0, 2.0, -5.0), Vec3::Y)?;
    /// let view = (Vec3::new(0.0, 2.0, -5.0) - h.world_position(camera)?).normalize();
    /// assert!(h.world_forward(camera)?.abs_diff_eq(view, 1e-6));
    /// // Its up leans with the view, and to no side.
    /// let up = h.world_up(camera)?;
    /// assert!(up.y > 0.0 && up.dot(view.cross(Vec3::Y)).abs() < 1e-6);
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "lookAt")]
    #[doc(alias = "aim")]
    pub fn look_at(&mut self, id: NodeId, target: A::Vector, world_up: A::Up) -> Result<(), WorldError> {
        self.topology.slot(id)?;
        let target = A::Shared::check_vector(target)?;
        let up = A::Shared::check_up(world_up)?;
        // Where nodes above lie far out and back, reading is off by more than the sizes in float64 show.
        if target == self.world_position(id)? {
            return Err(Degenerate.into());
        }
        self.edit_in_world(id, |frame, own| frame.edit(own, |parent, own| A::aimed(parent, own, target, up)))
    }

    /// What becomes of an own value by an edit given in the node's own axes. Where its position is given in the
    /// world's and the rest is not, it follows them as they are there.
    fn edited_in_own(&self, slot: u32, own: &Own<A>, edit: impl FnOnce(&Own<A>) -> Own<A>) -> Own<A> {
        if self.inherit_of(slot).position { edit(own) } else { self.frame_of(slot).edit_in_own(own, edit) }
    }

    /// Commits what `edit` makes of the own value; `None` if it makes nothing of it.
    fn edit_in(
        &mut self,
        id: NodeId,
        edit: impl FnOnce(&Self, u32, &Own<A>) -> Option<Own<A>>,
    ) -> Option<Result<(), WorldError>> {
        let slot = match self.topology.slot(id) {
            Ok(slot) => slot,
            Err(stale) => return Some(Err(stale.into())),
        };
        let own = edit(self, slot, &self.own(slot))?;
        Some(if A::is_finite(&own.local()) {
            self.set_own(slot, &own);
            Ok(())
        } else {
            Err(crate::NonFinite.into())
        })
    }
}

impl<A: Geometry<Up = ()>> HierarchyOf<A> {
    /// Turns a node of two dimensions so that the world ray from its position along the image of its +X
    /// axis passes through a world point.
    ///
    /// Position, scale and shear stay; a node mirrored along X is turned the other way about, because it is
    /// the image that aims. With matrices it aims in the parent's space, to which the target is mapped, so
    /// that the ray is right under rotated, scaled, mirrored and sheared parents; with components
    /// `r = angle(target - world_position) - r_p`. The angle is in (-π, π]. Marks the node dirty. O(depth).
    ///
    /// # Errors
    /// [`StaleNode`](crate::StaleNode), [`NonFinite`](crate::NonFinite); [`Degenerate`] if the target is on
    /// the node, or its X axis is scaled to nothing; [`SingularParent`](crate::SingularParent); nothing
    /// changed.
    ///
    /// ```
    /// use posetree::{Hierarchy2, Transform2, glam::Vec2};
    /// let mut h = Hierarchy2::new();
    /// let tank = h.add_root(Transform2::new(Vec2::Y, 0.3, Vec2::new(3.0, 1.0)))?;
    /// let turret = h.add_child(tank, Transform2::from_position(Vec2::X))?;
    /// h.aim_at(turret, Vec2::new(0.0, -5.0))?;
    /// let ray = (Vec2::new(0.0, -5.0) - h.world_position(turret)?).normalize();
    /// assert!(h.world_forward(turret)?.abs_diff_eq(ray, 1e-6));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "look_at")]
    #[doc(alias = "lookAt")]
    pub fn aim_at(&mut self, id: NodeId, target: A::Vector) -> Result<(), WorldError> {
        self.look_at(id, target, ())
    }
}

/// World linear part `Rot(q) * linear`, about a world point, or in place.
fn turned_in_world<A: Geometry>(
    frame: &Frame<A>,
    own: &Own<A>,
    by: A::Rotation,
    about: Option<A::Vector>,
) -> Result<Own<A>, Misfit> {
    if frame.has_position() || about.is_none() {
        return frame.edit(own, |parent, own| A::turned_in_world(parent, own, by, about));
    }
    // Position and the rest are given in two frames, and turned each in its own.
    let turned = frame.edit(own, |parent, own| A::turned_in_world(parent, own, by, None))?;
    let moved = A::turned_in_world(&frame.of_position(), own, by, about)?;
    Ok(A::with_position(&turned, A::Shared::position(&moved.transform)))
}
