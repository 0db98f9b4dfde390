//! The hierarchy: its columns, and how much memory they have.

mod bits;
mod caches;
mod changes;
mod check;
mod convert;
mod dirty;
mod inherit;
mod insert;
mod inverses;
mod local;
mod order;
mod pieces;
mod previous;
mod print;
mod propagate;
mod refresh;
mod reparent;
#[cfg(feature = "serde")]
mod save;
mod space;
mod stretch;
mod subtree;
#[cfg(test)]
mod tests;
mod trunk;
mod walk;
mod world;
mod worlds;

pub use changes::{ChangedNodes, ChangedRows, RemovedNodes, Version};
pub use inverses::WorldInverses;
pub use local::LocalValue;
pub use print::Tree;
pub use reparent::Keep;
pub use space::Space;
#[cfg(feature = "rayon")]
pub(crate) use stretch::{Columns, WORTH_SHARING, Window};
pub use subtree::{Subtree, SubtreeRefused};
pub use walk::{Ancestors, BreadthFirst, Children, Descendants, Ids, Leaves, PostOrder, Roots, Siblings, SubtreeNodes};
pub use worlds::Worlds;

use crate::accumulate::{
    Accumulate, Components, Components2, DComponents, DComponents2, DMatrices, DMatrices2, Matrices, Matrices2, Own,
};
use crate::topology::{NONE, Topology};
use crate::{Inherit, NodeId, StaleNode};
use changes::Changes;
use core::fmt;
use dirty::Marks;
use inherit::Inherits;
use local::Locals;
use order::Order;
use previous::Previous;
use refresh::WorldRows;
use trunk::Trunk;

/// A forest of nodes with local poses and cached world poses, whose worlds are products of matrices.
///
/// This is the way of glTF, USD, Godot, Unity, three.js and Bevy. See [`HierarchyOf`] for the doors
/// and [`Matrices`] for the mathematics.
pub type Hierarchy = HierarchyOf<Matrices>;

/// A forest of nodes whose worlds are positions, rotations and scales accumulated one by one.
///
/// This is the way of Unreal's transforms. See [`HierarchyOf`] for the doors and [`Components`] for
/// the mathematics.
pub type ComponentHierarchy = HierarchyOf<Components>;

/// [`Hierarchy`] in double precision: for worlds so large that float32 runs out of digits.
///
/// All doors are the same, with [`DTransform`](crate::DTransform), `DVec3`, `DQuat` and `DAffine3`. A node takes 128
/// bytes more. What a graphics card takes is float32: round relative to the camera, whose own position is taken away
/// before. [`transform_between`](HierarchyOf::transform_between) does that, from the nearest common ancestor down.
///
/// ```
/// use posetree::{DHierarchy, DTransform, glam::{Affine3A, DVec3, Vec3}};
/// let mut h = DHierarchy::new();
/// let ship = h.add_root(DTransform::from_position(DVec3::new(1.5e9, 0.0, -4.2e9)))?;
/// let camera = h.add_child(ship, DTransform::from_position(DVec3::new(0.0, 2.0, 8.0)))?;
/// let lamp = h.add_child(ship, DTransform::from_position(DVec3::new(0.001, 2.0, 0.0)))?;
/// // A millimetre at four million kilometres.
/// let apart = h.world_position(lamp)? - h.world_position(camera)?;
/// assert!(apart.abs_diff_eq(DVec3::new(0.001, 0.0, -8.0), 1e-6));
/// // The model-view matrix, rounded last.
/// let model_view: Affine3A = h.transform_between(lamp, camera)?.as_affine3a();
/// assert_eq!(model_view.translation, Vec3::new(0.001, 0.0, -8.0).into());
/// // All rows for a buffer, in world axes, with the eye at the origin.
/// let eye = h.world_position(camera)?;
/// let worlds = h.update();
/// let drawn: Vec<[[f32; 4]; 3]> = worlds
///     .rows()
///     .iter()
///     .map(|row| std::array::from_fn(|axis| {
///         let [x, y, z, at] = row[axis];
///         [x as f32, y as f32, z as f32, (at - eye[axis]) as f32]
///     }))
///     .collect();
/// assert_eq!(drawn[worlds.row_of(lamp)?][2], [0.0, 0.0, 1.0, -8.0]);
/// # Ok::<(), posetree::Error>(())
/// ```
#[doc(alias = "large world")]
#[doc(alias = "floating origin")]
pub type DHierarchy = HierarchyOf<DMatrices>;

/// [`ComponentHierarchy`] in double precision. See [`DHierarchy`] for what that is good for.
pub type DComponentHierarchy = HierarchyOf<DComponents>;

/// A forest of nodes in two dimensions, whose worlds are products of matrices.
///
/// Every door of [`HierarchyOf`], with [`Vec2`](glam::Vec2) for vectors, an angle in radians for rotations,
/// [`Affine2`](glam::Affine2) for matrices and [`Transform2`](crate::Transform2) for local values. See
/// [`Matrices2`] for rows and skinning.
///
/// ```
/// use posetree::{Hierarchy2, Keep, Transform2, glam::Vec2};
/// let mut h = Hierarchy2::new();
/// let hand = h.add_root(Transform2::new(Vec2::X, std::f32::consts::FRAC_PI_2, Vec2::ONE))?;
/// let cup = h.add_root(Transform2::from_position(Vec2::new(1.0, 2.0)))?;
/// h.reparent(cup, hand, Keep::World)?;
/// assert!(h.position(cup)?.abs_diff_eq(2.0 * Vec2::X, 1e-6));
/// h.set_rotation(hand, 0.0)?;
/// assert!(h.world_position(cup)?.abs_diff_eq(Vec2::new(3.0, 0.0), 1e-6));
/// # Ok::<(), posetree::Error>(())
/// ```
#[doc(alias = "Node2D")]
pub type Hierarchy2 = HierarchyOf<Matrices2>;

/// A forest of nodes in two dimensions, whose worlds are positions, angles and scales accumulated one by
/// one. As [`Hierarchy2`] otherwise.
///
/// ```
/// use posetree::{ComponentHierarchy2, Transform2, glam::Vec2};
/// let mut h = ComponentHierarchy2::new();
/// let root = h.add_root(Transform2::new(Vec2::ZERO, 3.0, Vec2::new(4.0, 1.0)))?;
/// let child = h.add_child(root, Transform2::new(Vec2::ZERO, 3.0, Vec2::ONE))?;
/// assert_eq!(h.world_scale(child)?, Vec2::new(4.0, 1.0));
/// assert!((h.world_rotation(child)? - (6.0 - std::f32::consts::TAU)).abs() < 1e-6);
/// # Ok::<(), posetree::Error>(())
/// ```
pub type ComponentHierarchy2 = HierarchyOf<Components2>;

/// [`Hierarchy2`] in float64: for maps and plans whose coordinates are large against what must be told
/// apart.
///
/// Inverses are solved for in float64 too, which has no further digits here: bounds that are in units of
/// float32's ε otherwise are some times larger, in units of float64's. A solved local value obeys
/// `|P local - W| ≤ 8 ε |P||local|`.
///
/// ```
/// use posetree::{DHierarchy2, DTransform2, glam::DVec2};
/// let mut h = DHierarchy2::new();
/// let city = h.add_root(DTransform2::from_position(DVec2::new(4e6, 5e6)))?;
/// let nail = h.add_child(city, DTransform2::from_position(DVec2::new(0.125, 1e-6)))?;
/// assert!((h.world_position(nail)? - DVec2::new(4e6, 5e6)).abs_diff_eq(DVec2::new(0.125, 1e-6), 1e-9));
/// # Ok::<(), posetree::Error>(())
/// ```
pub type DHierarchy2 = HierarchyOf<DMatrices2>;

/// [`ComponentHierarchy2`] in float64.
///
/// ```
/// use posetree::{DComponentHierarchy2, DTransform2, glam::DVec2};
/// let mut h = DComponentHierarchy2::new();
/// let root = h.add_root(DTransform2::from_scale(DVec2::new(4.0, 1.0)))?;
/// let child = h.add_child(root, DTransform2::from_position(DVec2::new(1e9, 1.0)))?;
/// assert_eq!(h.world(child)?.position, DVec2::new(4e9, 1.0));
/// # Ok::<(), posetree::Error>(())
/// ```
pub type DComponentHierarchy2 = HierarchyOf<DComponents2>;

/// A forest of nodes, each with a local pose in its parent's space and a cached world pose.
///
/// Write [`Hierarchy`] or [`ComponentHierarchy`], which say how poses accumulate, [`DHierarchy`] or
/// [`DComponentHierarchy`] in double precision, and in two dimensions [`Hierarchy2`], [`ComponentHierarchy2`],
/// [`DHierarchy2`] or [`DComponentHierarchy2`].
///
/// - **Reads are never stale.** A getter on `&self` is right at once after any edit: while something
///   is dirty it multiplies down the path from the topmost dirty ancestor, which costs O(depth);
///   when nothing is dirty it is four loads.
/// - **[`update`](Self::update) makes reads cheap** and costs what changed. It never decides whether
///   they are right.
/// - **An error changes nothing**, not one bit.
/// - **The same edits give the same bits**, read lazily or after an update, before and after a re-sort.
///
/// ```
/// use posetree::{Hierarchy, Transform, glam::Vec3};
/// let mut h = Hierarchy::new();
/// let arm = h.add_root(Transform::from_position(Vec3::new(1.0, 0.0, 0.0)))?;
/// let hand = h.add_child(arm, Transform::from_position(Vec3::new(0.0, 2.0, 0.0)))?;
/// assert_eq!(h.world_position(hand)?, Vec3::new(1.0, 2.0, 0.0));
/// h.set_position(arm, Vec3::new(5.0, 0.0, 0.0))?;
/// assert_eq!(h.world_position(hand)?, Vec3::new(5.0, 2.0, 0.0)); // no update needed
/// let worlds = h.update();
/// assert_eq!(worlds[hand][0][3], 5.0);
/// # Ok::<(), posetree::Error>(())
/// ```
#[doc(alias = "scene graph")]
#[doc(alias = "SceneTree")]
#[doc(alias = "transform tree")]
#[derive(Clone)]
pub struct HierarchyOf<A: Accumulate> {
    topology: Topology,
    order: Order,
    locals: Locals<A>,
    worlds: WorldRows<A>,
    marks: Marks,
    changes: Changes,
    previous: Previous<A>,
    inherits: Inherits,
    trunk: Trunk<A>,
}

impl<A: Accumulate> HierarchyOf<A> {
    /// Makes an empty hierarchy. Allocates nothing.
    #[must_use]
    pub fn new() -> Self {
        Self {
            topology: Topology::new(),
            order: Order::default(),
            locals: Locals::new(),
            worlds: WorldRows::new(),
            marks: Marks::default(),
            changes: Changes::default(),
            previous: Previous::new(),
            inherits: Inherits::default(),
            trunk: Trunk::new(),
        }
    }

    /// Makes an empty hierarchy with room for `nodes`.
    ///
    /// ```
    /// let mut h = posetree::Hierarchy::with_capacity(1000);
    /// h.reserve(1000);
    /// assert!(h.is_empty());
    /// ```
    #[must_use]
    pub fn with_capacity(nodes: usize) -> Self {
        let mut hierarchy = Self::new();
        hierarchy.reserve(nodes);
        hierarchy
    }

    /// Makes room for `additional` more nodes. Example: [`with_capacity`](Self::with_capacity).
    ///
    /// # Panics
    /// If that is more memory than can be addressed.
    pub fn reserve(&mut self, additional: usize) {
        self.topology.reserve(additional);
        self.order.reserve(additional);
        self.locals.reserve(additional);
        self.worlds.reserve(additional);
        self.marks.reserve(self.order.len() + additional);
        self.changes.reserve(additional);
        self.previous.reserve(additional);
    }

    /// Gives unused memory back, after sorting all rows as [`optimize`](Self::optimize) does, which drops those of
    /// removed nodes: rows get new numbers, of which readers of rows are told. What is kept for the next nodes in the
    /// slots of removed ones, 77 bytes each, stays. Changes no value and no id. O(nodes).
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform};
    /// let mut h = Hierarchy::new();
    /// let first = h.add_root(Transform::IDENTITY)?;
    /// let second = h.add_root(Transform::IDENTITY)?;
    /// h.remove_subtree(first)?;
    /// assert_eq!(h.update().row_of(second)?, 1);
    /// h.shrink_to_fit();
    /// assert_eq!(h.update().row_of(second)?, 0);
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn shrink_to_fit(&mut self) {
        self.optimize();
        self.topology.shrink_to_fit();
        self.order.shrink_to_fit();
        self.locals.shrink_to_fit();
        self.worlds.shrink_to_fit();
        self.marks.shrink_to_fit();
        self.changes.shrink_to_fit();
        self.previous.shrink_to_fit();
        self.inherits.shrink_to_fit();
        self.trunk = Trunk::new();
    }

    /// The number of nodes.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::IDENTITY)?;
    /// h.add_child(root, Transform::IDENTITY)?;
    /// assert_eq!(h.len(), 2);
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.topology.len()
    }

    /// Whether there are no nodes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the id names a node that lives in this hierarchy.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::IDENTITY)?;
    /// assert!(h.contains(root));
    /// h.clear();
    /// assert!(!h.contains(root));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[must_use]
    pub fn contains(&self, id: NodeId) -> bool {
        self.topology.contains(id)
    }

    /// Slot and row of a live node.
    #[inline]
    fn at(&self, id: NodeId) -> Result<(u32, u32), StaleNode> {
        let slot = self.topology.slot(id)?;
        Ok((slot, self.order.row(slot)))
    }

    #[inline]
    fn own(&self, slot: u32) -> Own<A> {
        self.locals.own(slot, self.order.row(slot))
    }

    /// The one door by which a node's own value changes. What is passed in has been checked.
    fn set_own(&mut self, slot: u32, own: &Own<A>) {
        let row = self.order.row(slot);
        self.locals.set(slot, row, own);
        self.touch(slot, row);
    }

    /// After every change of a node's own value.
    #[inline(always)]
    fn touch(&mut self, slot: u32, row: u32) {
        if !self.trunk.is_empty() {
            self.trunk.set(row, self.locals.transform(slot));
        }
        self.marks.set(row);
    }
}

impl<A: Accumulate> Default for HierarchyOf<A> {
    fn default() -> Self {
        Self::new()
    }
}

impl<A: Accumulate> fmt::Debug for HierarchyOf<A> {
    /// A line a node, in depth-first order: id, parent, local value. Not indented, because the depth of
    /// a hierarchy has no bound.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = core::any::type_name::<A>().rsplit("::").next().unwrap_or_default();
        write!(f, "HierarchyOf<{kind}> with {} nodes", self.len())?;
        let mut at = self.topology.ends(NONE).0;
        while at != NONE {
            let own = self.own(at);
            write!(f, "\n{:?}", self.topology.live(at))?;
            if let Some(parent) = self.topology.id(self.topology.links(at).parent) {
                write!(f, " in {parent:?}")?;
            }
            if self.inherit_of(at) != Inherit::ALL {
                write!(f, " {:?}", self.inherit_of(at))?;
            }
            match own.matrix {
                Some(matrix) => write!(f, " {matrix:?}")?,
                None => write!(f, " {:?}", own.transform)?,
            }
            at = self.topology.next_in_forest(at);
        }
        Ok(())
    }
}
