//! What a node inherits of its parent.

/// Which parts of its parent's world pose a node inherits; all of them, unless it is told otherwise.
///
/// A node that inherits all hangs under its parent's world exactly as it is, shear included. Otherwise it
/// hangs under its parent's **component pose**, the positions, rotations and scales of the nodes above
/// accumulated one by one as [`Transform::combine`](crate::Transform::combine) does it, with either kind of
/// hierarchy: with position `p`, rotation `r` and scale `s` of that pose, and the node's local position `q`
/// and local linear part `L`, its world has
///
/// - the position `p + r(s * q)`, or `q` where position is off: it is given in world coordinates;
/// - the linear part `r s L`.
///
/// Rotation off leaves out `r` and scale off leaves out `s`, in both lines. With
/// [`Components`](crate::Components) there are no matrices, and the second line reads: the rotation is
/// `r` times the node's own, the scale `s` times its own. What the node has below it hangs under its
/// world as usual.
///
/// So the offset from the parent is reduced as the node itself is. To have it turned and scaled by the parent all the
/// same, as where engines call only a node's own rotation or scale absolute, put it in a node between, and the reduced
/// node at that one's origin.
///
/// Nothing is taken apart for this: shear above is left out, signs of scale stay as they were typed, and a
/// scale that goes through zero makes nothing jump. The component pose of a node is
/// `C = combine(C(parent), transform)`, reduced in the same way where that node does not inherit everything
/// itself; `transform` is its position, rotation and scale, of a node that holds a matrix those of
/// [`local_decomposed`](crate::HierarchyOf::local_decomposed). With [`Matrices`](crate::Matrices) it differs
/// from the world where that shears.
///
/// ```
/// use posetree::{Hierarchy, Inherit, Keep, Transform, glam::{Quat, Vec3}};
/// let mut h = Hierarchy::new();
/// let quarter = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
/// let ship = h.add_root(Transform::new(Vec3::new(5.0, 0.0, 0.0), quarter, Vec3::splat(2.0)))?;
/// let at = Transform::from_position(Vec3::X);
///
/// // A HUD keeps its size, and its distance, whatever the scale of the ship.
/// let hud = h.add_child(ship, at)?;
/// h.set_inherit(hud, Inherit { scale: false, ..Inherit::ALL }, Keep::Local)?;
/// assert!(h.world_position(hud)?.abs_diff_eq(Vec3::new(5.0, 1.0, 0.0), 1e-6));
/// assert!(h.world_scale(hud)?.abs_diff_eq(Vec3::ONE, 1e-6));
///
/// // A name tag stays upright, and on the same side.
/// let tag = h.add_child(ship, at)?;
/// h.set_inherit(tag, Inherit { rotation: false, ..Inherit::ALL }, Keep::Local)?;
/// assert_eq!(h.world_position(tag)?, Vec3::new(7.0, 0.0, 0.0));
/// assert_eq!(h.world_rotation(tag)?, Quat::IDENTITY);
///
/// // A trail stays where it is in the world, and turns and grows with the ship.
/// let trail = h.add_child(ship, at)?;
/// h.set_inherit(trail, Inherit { position: false, ..Inherit::ALL }, Keep::Local)?;
/// h.set_position(ship, Vec3::new(-20.0, 3.0, 0.0))?;
/// assert_eq!(h.world_position(trail)?, Vec3::X);
/// assert!(h.world_rotation(trail)?.abs_diff_eq(quarter, 1e-6));
/// # Ok::<(), posetree::Error>(())
/// ```
#[doc(alias = "bAbsoluteLocation")]
#[doc(alias = "top_level")]
#[doc(alias = "inherit_scale")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Inherit {
    /// The position of the parent. Off: the node's own is given in world coordinates.
    pub position: bool,
    /// The rotation of the parent. Off: neither the node nor its offset from the parent is turned.
    pub rotation: bool,
    /// The scale of the parent. Off: neither the node nor its offset from the parent is scaled.
    pub scale: bool,
}

impl Inherit {
    /// Everything: what every node does at first.
    pub const ALL: Self = Self { position: true, rotation: true, scale: true };
    /// Nothing: the local value is the world pose. The node still goes where its parent goes in the tree.
    pub const NONE: Self = Self { position: false, rotation: false, scale: false };
}

impl Default for Inherit {
    /// [`Inherit::ALL`].
    fn default() -> Self {
        Self::ALL
    }
}
