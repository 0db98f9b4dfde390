//! How the world pose of a child follows from its parent's: the seam between structure and mathematics.

mod components;
#[cfg(test)]
pub(crate) mod hash;
mod matrices;
mod rank;
mod space3;

pub use components::Components;
pub use matrices::Matrices;

use crate::{NonFinite, NotRotation};
use core::{fmt::Debug, ops::Range};

mod sealed {
    #[allow(unnameable_types, reason = "nobody else is to name it")]
    pub trait Sealed {}
}
pub(crate) use sealed::Sealed;

/// A way to accumulate poses from the root down. Implemented by [`Matrices`] and [`Components`].
///
/// Topology, row order, dirty marks, propagation and change tracking know a pose only through this
/// trait. It is sealed: its methods are the crate's own and may change.
pub trait Accumulate: Sealed + Copy + Debug + Default + Send + Sync + 'static {
    /// The number type.
    type Scalar: Copy + Debug + PartialEq + PartialOrd + Send + Sync;
    /// Positions, directions and scales.
    type Vector: Copy + Debug + PartialEq + Send + Sync;
    /// Rotations.
    type Rotation: Copy + Debug + PartialEq + Send + Sync;
    /// The matrix type of the doors that take or give a matrix.
    type Affine: Copy + Debug + PartialEq + Send + Sync;
    /// What a user sets: position, rotation, scale.
    type Transform: Copy + Debug + PartialEq + Send + Sync;
    /// A matrix taken apart into a transform and shear.
    type Decomposed: Copy + Debug + PartialEq + Send + Sync;
    /// What [`world`](crate::HierarchyOf::world) returns.
    type World: Copy + Debug + PartialEq + Send + Sync;
    /// A stored world pose, as in [`Worlds::rows`](crate::Worlds::rows).
    type Row: Copy + Debug + PartialEq + Send + Sync;

    /// A stored local pose, in the form the sweep reads.
    #[doc(hidden)]
    type Local: Copy + Debug + PartialEq + Send + Sync;
    /// A pose in the precision that inverses are taken in.
    #[doc(hidden)]
    type Wide: Copy + Debug;

    /// The local and world rows of a removed node: all zero.
    #[doc(hidden)]
    const HOLE: (Self::Local, Self::Row);
    #[doc(hidden)]
    const WIDE_IDENTITY: Self::Wide;

    /// Checks the numbers of a transform, and normalises its rotation where it is a little off.
    #[doc(hidden)]
    fn admit<E: From<NonFinite> + From<NotRotation>>(transform: &Self::Transform) -> Result<Self::Transform, E>;
    #[doc(hidden)]
    fn is_finite(local: &Self::Local) -> bool;
    #[doc(hidden)]
    fn local_of(transform: &Self::Transform) -> Self::Local;
    /// The world row of a root.
    #[doc(hidden)]
    fn root(local: &Self::Local) -> Self::Row;
    /// The world row of a child.
    #[doc(hidden)]
    fn product(parent: &Self::Row, local: &Self::Local) -> Self::Row;
    /// For each row in order: `root` where the parent is no row, else `product`. Not generic where it
    /// is implemented, so that an unoptimised build of a user's crate does not slow it down.
    #[doc(hidden)]
    fn sweep(parents: &[u32], locals: &[Self::Local], worlds: &mut [Self::Row], rows: Range<usize>);
    #[doc(hidden)]
    fn world(row: &Self::Row) -> Self::World;

    #[doc(hidden)]
    fn widen(local: &Self::Local) -> Self::Wide;
    #[doc(hidden)]
    fn wide_product(parent: &Self::Wide, child: &Self::Wide) -> Self::Wide;
    /// Whether the own scale has an exact zero, or the own matrix is exactly rank-deficient.
    #[doc(hidden)]
    fn is_flat(own: &Own<Self>) -> bool;
    /// The own value `x` that solves `parent * x = wanted`, after rounding. `own` is what the node
    /// holds now: kept where it still solves it, and the hint for signs where not.
    #[doc(hidden)]
    fn solve(parent: &Self::Wide, wanted: &Self::Wide, own: &Own<Self>, shear: Shear) -> Result<Own<Self>, Misfit>;
}

/// What a node owns: its local value.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(unnameable_types, reason = "part of a sealed trait's hidden methods")]
pub struct Own<A: Accumulate> {
    /// As set; of a node that holds a matrix: the matrix taken apart, its shear left out.
    pub transform: A::Transform,
    /// The matrix, of a node that holds one.
    pub matrix: Option<A::Local>,
}

impl<A: Accumulate> Own<A> {
    pub(crate) fn trs(transform: A::Transform) -> Self {
        Self { transform, matrix: None }
    }

    pub(crate) fn local(&self) -> A::Local {
        self.matrix.unwrap_or_else(|| A::local_of(&self.transform))
    }
}

/// Whether a solution may hold shear.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(unnameable_types, reason = "part of a sealed trait's hidden methods")]
pub enum Shear {
    Allowed,
    Refused,
}

/// Why there is no own value that gives the wanted world pose.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(unnameable_types, reason = "part of a sealed trait's hidden methods")]
pub enum Misfit {
    /// The parent is singular; by how much the best local value misses.
    Singular(f32),
    /// The value shears and may not; by how much position, rotation and scale miss.
    Shear(f32),
    /// The value overflows.
    NonFinite,
}

/// The methods behind the doors that speak of vectors, rotations and matrices.
#[doc(hidden)]
#[allow(unnameable_types, reason = "bounds of public methods; sealed through Accumulate")]
pub trait Geometry: Accumulate {
    /// ±1, ±2, ±3 for ±x, ±y, ±z.
    const FORWARD: i8;
    const RIGHT: i8 = 1;
    const UP: i8 = 2;

    fn check_vector(v: Self::Vector) -> Result<Self::Vector, NonFinite>;
    fn admit_rotation<E: From<NonFinite> + From<NotRotation>>(r: Self::Rotation) -> Result<Self::Rotation, E>;
    fn position(t: &Self::Transform) -> Self::Vector;
    fn rotation(t: &Self::Transform) -> Self::Rotation;
    fn scale(t: &Self::Transform) -> Self::Vector;
    fn parts(d: &Self::Decomposed) -> Self::Transform;

    fn with_position(own: &Own<Self>, position: Self::Vector) -> Own<Self>;
    fn with_rotation(own: &Own<Self>, rotation: Self::Rotation) -> Own<Self>;
    fn with_scale(own: &Own<Self>, scale: Self::Vector) -> Own<Self>;
    /// Takes a matrix as the own value; `own` is the hint for signs.
    fn import(matrix: &Self::Affine, own: &Own<Self>) -> Result<Own<Self>, Misfit>;
    fn export(own: &Own<Self>) -> Self::Affine;
    /// The own value as position, rotation and scale, or what that would lose.
    fn as_trs(own: &Own<Self>) -> Result<Self::Transform, f32>;
    /// The own value without shear, and what that loses.
    fn drop_shear(own: &Own<Self>) -> (Self::Transform, f32);
    fn decompose_own(own: &Own<Self>) -> Self::Decomposed;

    fn matrix(world: &Self::World) -> Self::Affine;
    fn world_position(world: &Self::World) -> Self::Vector;
    /// The world pose taken apart, with the node's own scale as hint for signs.
    fn decompose_world(world: &Self::World, hint: &Self::Transform) -> Self::Decomposed;
    /// The unit image of an axis, numbered as above; `None` if it has no direction.
    fn world_axis(world: &Self::World, axis: i8) -> Option<Self::Vector>;
    fn inverse(world: &Self::World) -> Result<Self::Affine, f32>;

    fn widen_matrix(matrix: &Self::Affine, own: &Own<Self>) -> Result<Self::Wide, Misfit>;
    fn widen_transform(transform: &Self::Transform) -> Self::Wide;
    /// The own value whose world position under `parent` is `position`, all else kept.
    fn solve_position(parent: &Self::Wide, position: Self::Vector, own: &Own<Self>) -> Result<Own<Self>, Misfit>;
}

/// The largest misfit of a solved column, in units of its largest element, that still does its job:
/// 2⁻¹⁰ ≈ 0.001, far above rounding (2⁻²³) and far below a pose that visibly moved.
pub(crate) const MISFIT: f64 = 1.0 / 1024.0;

/// How far a solved position may be off, beyond [`MISFIT`] of its size, in units of the distance
/// between the parent's origin and the wanted position: subtracting two float32 positions and turning
/// the difference leaves at most `√3 u` of each, u = ε/2, and adding it back the same; 4 ε = 8 u.
pub(crate) const POSITION_MISFIT: f64 = 4.0 * f32::EPSILON as f64;

/// By how much a solved position misses, in units of its size, after what rounding alone explains.
pub(crate) fn position_misfit(off: f64, wanted: f64, origin: f64) -> f64 {
    if off <= POSITION_MISFIT * (wanted + origin) { 0.0 } else { off / wanted }
}

/// Whether a solution does its job.
pub(crate) fn fits(misfit: f64) -> bool {
    // Not `misfit > MISFIT`: NaN does not fit.
    misfit <= MISFIT
}

/// The larger of two, NaN above all.
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a >= b || a.is_nan() { a } else { b }
}
