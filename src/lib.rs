//! A transform hierarchy: nodes with local poses, cached world poses, and reparenting that keeps either.
//!
//! Setting a local value marks the node, [`update`](HierarchyOf::update) computes the world poses of what is marked and
//! all below it, and [`world`](HierarchyOf::world) reads them; before an update it computes the one that is asked for.
//!
//! ```
//! use posetree::{Hierarchy, Keep, Transform, glam::Vec3};
//! let mut h = Hierarchy::new();
//! let table = h.add_root(Transform::from_position(Vec3::new(2.0, 1.0, 0.0)))?;
//! let cup = h.add_child(table, Transform::from_position(Vec3::new(0.0, 0.1, 0.0)))?;
//! let hand = h.add_root(Transform::from_position(Vec3::new(2.0, 1.5, 0.0)))?;
//!
//! h.reparent(cup, hand, Keep::World)?;
//! h.set_position(hand, Vec3::ZERO)?;
//! assert!(h.world_position(cup)?.abs_diff_eq(Vec3::new(0.0, -0.4, 0.0), 1e-6));
//! # Ok::<(), posetree::Error>(())
//! ```
//!
//! # Conventions
//!
//! Column vectors, `world = parent_world * local`, a local matrix is `T * R * S`. Right-handed, +Y up, forward is -Z,
//! angles in radians, quaternions unit. Positions are in parent units, and a world position in world units.
//!
//! ```
//! use posetree::{Hierarchy, Transform, glam::{Affine3A, EulerRot, Quat, Vec3}};
//! let mut h = Hierarchy::new();
//! let parent = Transform::new(Vec3::X, Quat::from_rotation_y(0.5), Vec3::new(1.0, 2.0, 1.0));
//! // Euler angles are converted where a person types them, and never stored.
//! let local = Transform::from_rotation(Quat::from_euler(EulerRot::YXZ, 0.1, 0.2, 0.3));
//! let root = h.add_root(parent)?;
//! let child = h.add_child(root, local)?;
//!
//! let t = Affine3A::from_translation(parent.position);
//! let r = Affine3A::from_quat(parent.rotation);
//! let s = Affine3A::from_scale(parent.scale);
//! assert!(h.world(root)?.abs_diff_eq(t * r * s, 1e-6));
//! assert!(h.world(child)?.abs_diff_eq(t * r * s * local.to_affine(), 1e-6));
//! assert!(h.world_forward(child)?.abs_diff_eq((h.world(child)?.matrix3 * -Vec3::Z).normalize(), 1e-6));
//! # Ok::<(), posetree::Error>(())
//! ```
//!
//! In two dimensions +X is right and forward, +Y is up, and a rotation is an angle in radians, from X towards Y:
//! counterclockwise where Y points up. An angle stays as it is set, and what turns a node wraps it to (-π, π].
//!
//! ```
//! use posetree::{Hierarchy2, Transform2, glam::{Affine2, Vec2}};
//! let mut h = Hierarchy2::new();
//! let local = Transform2::new(Vec2::new(3.0, 1.0), 0.5, Vec2::new(2.0, 1.0));
//! let root = h.add_root(local)?;
//! let t = Affine2::from_translation(local.position);
//! let r = Affine2::from_angle(local.rotation);
//! let s = Affine2::from_scale(local.scale);
//! assert!(h.world(root)?.abs_diff_eq(t * r * s, 1e-6));
//! assert!(h.world_forward(root)?.abs_diff_eq(Vec2::new(0.5_f32.cos(), 0.5_f32.sin()), 1e-6));
//! # Ok::<(), posetree::Error>(())
//! ```
//!
//! # Two ways to accumulate
//!
//! [`Hierarchy`] multiplies matrices, as most engines and formats do: exact under any parent, and a child under a
//! parent with rotation and uneven scale may shear. [`ComponentHierarchy`] accumulates position, rotation and scale one
//! by one ([`Transform::combine`]), as Unreal-style transforms do: nothing ever shears. Under uneven scale they differ.
//!
//! ```
//! use posetree::{ComponentHierarchy, Hierarchy, Transform, glam::{Quat, Vec3}};
//! let wide = Transform::from_scale(Vec3::new(4.0, 1.0, 1.0));
//! let turned = Transform::from_rotation(Quat::from_rotation_z(std::f32::consts::FRAC_PI_2));
//! let (mut h, mut c) = (Hierarchy::new(), ComponentHierarchy::new());
//! let root = h.add_root(wide)?;
//! let child = h.add_child(root, turned)?;
//! let c_root = c.add_root(wide)?;
//! let c_child = c.add_child(c_root, turned)?;
//! // The child's X axis points up: matrices stretch sideways all the same, components along the child's X.
//! assert!(h.local_to_world_vector(child, Vec3::X)?.abs_diff_eq(Vec3::Y, 1e-6));
//! assert!(c.local_to_world_vector(c_child, Vec3::X)?.abs_diff_eq(4.0 * Vec3::Y, 1e-6));
//! # Ok::<(), posetree::Error>(())
//! ```
//!
//! Code over both is generic over [`Geometry`].
//!
//! # Precision and dimensions
//!
//! Both ways come in two precisions, in space and in the plane, with the same doors:
//!
//! | | float32 | float64 |
//! |---|---|---|
//! | matrices | [`Hierarchy`], [`Hierarchy2`] | [`DHierarchy`], [`DHierarchy2`] |
//! | position, rotation, scale | [`ComponentHierarchy`], [`ComponentHierarchy2`] | [`DComponentHierarchy`], [`DComponentHierarchy2`] |
//! | a value | [`Transform`], [`Transform2`] | [`DTransform`], [`DTransform2`] |
//! | a matrix taken apart | [`decompose()`], [`decompose2`] | [`ddecompose`], [`ddecompose2`] |
//!
//! float32 is what graphics cards take, and solves and inverts in float64 inside, so that it loses its last digit at
//! most. Numbers of it are a millimetre apart at 10 km from the origin: for larger worlds take float64, and round what
//! is drawn relative to the camera ([`DHierarchy`] shows how). An update takes 1.2 to 1.7 times as long.
//!
//! # What a child inherits
//!
//! Its parent's whole world pose, unless [`set_inherit`](HierarchyOf::set_inherit) says otherwise: a HUD that keeps its
//! size, a name tag that stays upright, a trail that stays where it is. [`Inherit`] has the formulas.
//!
//! ```
//! use posetree::{Hierarchy, Inherit, Keep, Transform, glam::Vec3};
//! let mut h = Hierarchy::new();
//! let ship = h.add_root(Transform::from_uniform_scale(50.0))?;
//! let hud = h.add_child(ship, Transform::from_position(Vec3::Y))?;
//! h.set_inherit(hud, Inherit { scale: false, ..Inherit::ALL }, Keep::Local)?;
//! assert_eq!((h.world_position(hud)?, h.world_scale(hud)?), (Vec3::Y, Vec3::ONE));
//! # Ok::<(), posetree::Error>(())
//! ```
//!
//! # Freshness
//!
//! Every getter on `&self` is right at once after any edit. `update()` decides what reads cost, never whether they are
//! right. Contiguous rows are only handed out by [`Worlds`], which exists only while nothing is dirty.
//!
//! # Changes
//!
//! [`Worlds`] also tells what changed since any [`Version`] that a reader has kept: nodes, ranges of rows, and removed
//! nodes, to as many readers as there are, each at its own pace. Here a renderer copies into its instance buffer what
//! is new, and not the rest:
//!
//! ```
//! use posetree::{Hierarchy, Transform, Version, Worlds, glam::Vec3};
//!
//! #[derive(Default)]
//! struct Instances {
//!     buffer: Vec<[[f32; 4]; 3]>,
//!     seen: Version,
//!     copied: usize,
//! }
//!
//! impl Instances {
//!     fn upload(&mut self, worlds: Worlds) {
//!         self.buffer.resize(worlds.rows().len(), [[0.0; 4]; 3]);
//!         for rows in worlds.changed_rows_since(self.seen) {
//!             self.copied += rows.len();
//!             self.buffer[rows.clone()].copy_from_slice(&worlds.rows()[rows]);
//!         }
//!         self.seen = worlds.version();
//!     }
//! }
//!
//! let mut h = Hierarchy::new();
//! let nodes: Vec<_> = (0..5_000).map(|_| h.add_root(Transform::IDENTITY)).collect::<Result<_, _>>()?;
//! let mut instances = Instances::default();
//! instances.upload(h.update());
//! assert_eq!(instances.copied, 5_000); // to a new reader everything is new
//!
//! h.set_position(nodes[3], Vec3::X)?;
//! h.remove_subtree(nodes[4_000])?; // draws as nothing
//! instances.upload(h.update());
//! assert_eq!(instances.copied, 5_002);
//! assert_eq!(instances.buffer, h.update().rows());
//! # Ok::<(), posetree::Error>(())
//! ```
//!
//! [`track_previous`](HierarchyOf::track_previous) keeps the world poses of the update before, for motion vectors and
//! for drawing between the fixed steps of a simulation.
//!
//! # Errors
//!
//! One type per cause, one enum per family of operations, and [`enum@Error`] for code that mixes them. (Values without
//! a hierarchy have [`TransformError`].) An error leaves every bit as it was. Checks come in this order: stale id,
//! numbers, index, cycle, singular parent, result. The panics are indexing [`Worlds`] or a [`NodeMap`] with an id that
//! has nothing there, running out of memory, of 2³² - 1 nodes or of 2³² hierarchies from which something was taken out,
//! and [`assert_well_formed`](HierarchyOf::assert_well_formed), which is there for that.
//!
//! No infinity or NaN gets in. The products of large finite values may overflow all the same: then that is what a world
//! pose holds, and what needs its inverse is refused.
//!
//! # Performance
//!
//! Call `update` once a frame, after the edits and before the reads: from then on a read takes a few loads, and rows
//! lie side by side. In between reads are right too, but multiply down from the topmost dirty node above, each time.
//!
//! Rows lie depth first, so that a subtree is one stretch of memory, and an update sweeps what is dirty in line: 3 to
//! 5 ns a node. Edits move no row (but an insertion drops empty rows where more than half are). What they leave
//! elsewhere, a *stray*, costs an update 0.2 to 1 µs each time that it comes to one, and so now and then an update
//! sorts: when strays have cost as much, or there are so many that sorting them in would take longer, or half of the
//! rows are empty. That takes as long as five to twelve linear updates, and up to thirteen right after everything was
//! built children first. `optimize` sorts at a time of your choice. A sort changes no value and no id; rows get new
//! numbers, which [`Worlds::changed_rows_since`] tells by giving all of them.
//!
//! A node takes 194 bytes, in vectors that grow by doubling; `reserve` and `shrink_to_fit` see to that. The
//! repository's README compares with other hierarchies, and says how to run that.
//!
//! What does not scale: reads of deep nodes while something is dirty, one by one (call `update` first); one long
//! chain, whose products wait for each other; setting everything in another order than that of the tree, a cache miss
//! each; and thousands of reparents a frame, each of which makes a stray.
//!
//! | operation | cost |
//! |---|---|
//! | `local` and what reads it, setters of local values; `set_locals` | O(1); O(entries) |
//! | `world` and what reads it | four loads while nothing is dirty, else O(depth) |
//! | [`Worlds`]: by id or row | O(1) |
//! | `world_inverse`, `world_to_local_*`, normals, `is_mirrored` | O(depth), to see flat nodes that rounding hides |
//! | [`WorldInverses`] | O(1) for what rests, and what has changed once an update |
//! | world setters, `Space::World`, `look_at`, `aim_at`, `transform_between` | O(depth) |
//! | `write_joint_matrices` | as `world`, for each joint |
//! | `is_dirty` | O(depth) while anything is dirty |
//! | `add_root`, `add_child`, `insert_before`, `insert_after` | O(1), amortised |
//! | `insert_child_at` | O(index), amortised |
//! | `extend` | O(entries), amortised |
//! | `clone_subtree`, `append`, `append_subtree` | O(copied), amortised |
//! | `take_subtree`, `restore`, `discard` | O(subtree); where it was: and O(siblings before) |
//! | `flatten` | O(subtree) |
//! | `reparent`, `detach` with `Keep::Local` | O(depth), for the cycle check; O(1) for a leaf |
//! | `reparent`, `detach` with `Keep::World` | O(depth); `detach_children`: for each child |
//! | `move_before`, `move_after`; `move_to_index` | O(1); O(index) |
//! | `set_inherit` | O(1), to keep the world O(depth) |
//! | a node that does not inherit everything, in an `update` | O(depth), less what its way up shares with those of others |
//! | `remove_subtree`, `remove_children`; `clear` | O(removed); O(slots), as many as there ever were nodes at once |
//! | `remove_and_promote` | O(children); to keep worlds, times the depth |
//! | [`NodeMap`] | O(1) by id; to go through all, O(slots) |
//! | walks | O(1) a step |
//! | `depth`, `root_of`, `is_ancestor_of`, `common_ancestor` | O(depth) |
//! | `child_count`, `nth_child`, `sibling_index` | O(siblings walked) |
//! | `update`, `update_within_step`, `update_parallel` | what is dirty and below it; now and then a sort, O(nodes) |
//! | `changed_since`, `changed_rows_since` | what changed, within 64 rows around it, and 1/4096 of the rest |
//! | `removed_since` | O(removed since) |
//! | `world_previous`; `world_interpolated` | as `world`; and two decompositions, some 600 ns, for what moved |
//! | [`Worlds::write_interpolated`] | O(rows), and that for each that moved |
//! | `track_previous` | O(nodes); while on, a row a node, and a copy for each computed |
//! | `optimize`, `shrink_to_fit`, `clone` | O(nodes) |
//! | `to_string`, `tree`, `to_dot` | O(nodes printed) |
//!
//! # Features
//!
//! - `std` (default): the standard library's mathematics. Without it the crate is `no_std` + `alloc` and glam uses
//!   libm.
//! - `rayon`: [`update_parallel`](HierarchyOf#method.update_parallel), one update on all threads of the pool.
//! - `simd`: sweeps in the vectors of newer x86-64 processors (AVX2), found out at run time, with the same bits.
//! - `serde`: values and hierarchies in any format, with ids that stay valid; [the
//!   format](HierarchyOf#impl-Serialize-for-HierarchyOf<A>).
//! - `approx`: comparison of transforms to within a tolerance; `q` and `-q` are equal.
//! - `mint`: transforms to and from mint's matrices, and glam's types to and from mint's.
//! - `proptest`: `strategies`, for property tests: transforms, hierarchies, edits.
//!
//! # When not to use it
//!
//! For a fixed skeleton that is evaluated whole each frame, an array of parents in depth-first order is enough. Where
//! transforms must be components of an ECS, keep ids of this hierarchy as the component. There are no pivots, no
//! constraints and no names: those belong to what is built on it, and [`NodeMap`] keeps such things beside the nodes.
//!
//! # Versions
//!
//! glam 0.34 is part of the interface and re-exported as [`glam`]. Rust 1.85.
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;

mod accumulate;
mod error;
mod features;
mod hierarchy;
mod inherit;
mod node_id;
pub mod node_map;
mod topology;
mod transform;
mod transform2;

pub use accumulate::{
    Accumulate, Components, Components2, DComponents, DComponents2, DMatrices, DMatrices2, Geometry, Matrices,
    Matrices2,
};
pub use error::{
    Cycle, Degenerate, Error, ExtendError, InsertError, LengthMismatch, LocalError, NonFinite, NotReserved,
    NotRotation, NotSibling, NotTracked, NotTrs, OutOfRange, ParentsCycle, ReparentError, RestoreError, SetLocalsError,
    SingularParent, StaleNode, TransformError, WorldError,
};
#[cfg(feature = "proptest")]
#[cfg_attr(docsrs, doc(cfg(feature = "proptest")))]
#[doc(inline)]
pub use features::proptest as strategies;
pub use glam;
pub use hierarchy::{
    Ancestors, BreadthFirst, ChangedNodes, ChangedRows, Children, ComponentHierarchy, ComponentHierarchy2,
    DComponentHierarchy, DComponentHierarchy2, DHierarchy, DHierarchy2, Descendants, Hierarchy, Hierarchy2,
    HierarchyOf, Ids, Keep, Leaves, LocalValue, PostOrder, RemovedNodes, Roots, Siblings, Space, Subtree, SubtreeNodes,
    SubtreeRefused, Tree, Version, WorldInverses, Worlds,
};
pub use inherit::Inherit;
pub use node_id::NodeId;
pub use node_map::NodeMap;
pub use transform::{
    DDecomposed, DTransform, Decomposed, Transform, ddecompose, ddecompose_with_hint, decompose, decompose_with_hint,
};
pub use transform2::{
    DDecomposed2, DTransform2, Decomposed2, Transform2, ddecompose2, ddecompose2_with_hint, decompose2,
    decompose2_with_hint,
};

/// The README's example, tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
