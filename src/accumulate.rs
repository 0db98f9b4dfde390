//! How the world pose of a child follows from its parent's: the seam between structure and mathematics.

mod components;
mod components2;
pub(crate) mod geometry;
#[cfg(test)]
pub(crate) mod hash;
mod matrices;
mod matrices2;
mod poses;
mod space2;
mod space3;
pub(crate) mod sweep;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests2;

pub use components::{Components, DComponents};
pub use components2::{Components2, DComponents2};
pub use geometry::Geometry;
pub use matrices::{DMatrices, Matrices};
pub use matrices2::{DMatrices2, Matrices2};

use crate::{Inherit, NonFinite, NotRotation};
use core::{fmt::Debug, ops::Range};
use glam::BVec4A;

mod sealed {
    #[allow(unnameable_types, reason = "nobody else is to name it")]
    pub trait Sealed {}
}
pub(crate) use sealed::Sealed;

/// A way to accumulate poses from the root down. Implemented by [`Matrices`] and [`Components`], in double
/// precision by [`DMatrices`] and [`DComponents`], and in two dimensions by [`Matrices2`], [`Components2`],
/// [`DMatrices2`] and [`DComponents2`].
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
    /// A stored world pose, as in [`Worlds::rows`](crate::Worlds::rows). Local poses are stored alike, in the
    /// form that the sweep reads.
    type Row: Copy + Debug + PartialEq + Send + Sync;

    /// A pose in the precision that inverses are taken in.
    #[doc(hidden)]
    type Wide: Copy + Debug;
    /// Position, rotation and scale in that precision, accumulated one by one.
    #[doc(hidden)]
    type Pose: Copy + Debug;

    /// The row of a removed node: all zero.
    #[doc(hidden)]
    const HOLE: Self::Row;
    #[doc(hidden)]
    const WIDE_IDENTITY: Self::Wide;
    /// Whether products associate, so that two poses can be compared from a common ancestor down. Where
    /// they do not, only what is accumulated from the root down is what reading gives.
    #[doc(hidden)]
    const ASSOCIATIVE: bool;

    /// Whether a transform is admitted as it is, by a test that nearly all of those pass.
    #[doc(hidden)]
    fn is_plain(transform: &Self::Transform) -> bool;
    /// Checks the numbers of a transform, and normalises its rotation where it is a little off: in
    /// place, because a copy made in pieces and read back whole stalls for longer than the check takes.
    #[doc(hidden)]
    fn admit<E: From<NonFinite> + From<NotRotation>>(transform: &mut Self::Transform) -> Result<(), E>;
    #[doc(hidden)]
    fn is_finite(local: &Self::Row) -> bool;
    /// Whether two rows are the same to the bit, signs of zeros included, with every NaN like every other: worlds of
    /// finite locals can overflow, and which of its bits `inf - inf` has depends on the order in which the compiler
    /// gives the processor what it adds.
    #[doc(hidden)]
    fn same_bits(a: &Self::Row, b: &Self::Row) -> bool;
    #[doc(hidden)]
    fn local_of(transform: &Self::Transform) -> Self::Row;
    /// The world row of a root.
    #[doc(hidden)]
    fn root(local: &Self::Row) -> Self::Row;
    /// The world row of a child.
    #[doc(hidden)]
    fn product(parent: &Self::Row, local: &Self::Row) -> Self::Row;
    /// The same, for loops that hold the mask of the last lane.
    #[doc(hidden)]
    #[inline(always)]
    fn masked_product(_last_lane: BVec4A, parent: &Self::Row, local: &Self::Row) -> Self::Row {
        Self::product(parent, local)
    }
    /// For each row of two lanes, each in order, by turns: `root` where the parent is no row, else `product`. The
    /// first lane is no longer than the second. Rows whose bit is set in `cuts`, 64 to a word, stay. Not generic
    /// where it is implemented, so that an unoptimised build of a user's crate does not slow it down.
    #[doc(hidden)]
    fn sweep(parents: &[u32], locals: &[Self::Row], worlds: &mut [Self::Row], lanes: [Range<usize>; 2], cuts: &[u64]);
    /// Worlds of rows each of which is the child of the one before; the first one's parent is `above`.
    #[doc(hidden)]
    fn sweep_chain(above: &Self::Row, locals: &[Self::Row], worlds: &mut [Self::Row]);
    /// Worlds of children of one parent.
    #[doc(hidden)]
    fn sweep_siblings(parent: &Self::Row, locals: &[Self::Row], worlds: &mut [Self::Row]);
    /// As [`sweep`](Self::sweep), for those of the 64 rows from `start` on whose bit is set.
    #[doc(hidden)]
    fn sweep_bits(parents: &[u32], locals: &[Self::Row], worlds: &mut [Self::Row], start: usize, rows: u64);
    /// A sweep of rows of one piece: `worlds` holds that from `start` on, and parents that are not there are found
    /// `outside`.
    #[cfg(feature = "rayon")]
    #[doc(hidden)]
    fn sweep_piece<'w>(
        parents: &[u32],
        locals: &[Self::Row],
        worlds: &mut [Self::Row],
        start: usize,
        lanes: [Range<usize>; 2],
        cuts: &[u64],
        outside: &dyn Fn(u32) -> Option<&'w Self::Row>,
    );
    #[doc(hidden)]
    fn world(row: &Self::Row) -> Self::World;

    // Nodes that do not inherit everything: the formulas are those of `Inherit`.
    /// The component pose of a child that inherits these parts of its parent's. A root's is its transform.
    #[doc(hidden)]
    fn combined(parent: &Self::Transform, inherit: Inherit, child: &Self::Transform) -> Self::Transform;
    /// The component poses of some places, in that order: a root's where the place above is none. Not generic
    /// where it is implemented, as sweeps are not.
    #[doc(hidden)]
    fn pose(
        above: &[u32],
        inherits: &[Inherit],
        transforms: &[Self::Transform],
        poses: &mut [Self::Transform],
        places: &[u32],
    );
    /// The world row of a child that inherits these parts of its parent's component pose.
    #[doc(hidden)]
    fn hung(parent: &Self::Transform, inherit: Inherit, local: &Self::Row) -> Self::Row;
    /// The world rows of nodes, each from its local row and the component pose in the place above it, if there is one.
    #[doc(hidden)]
    fn hang(
        rows: &[u32],
        above: &[u32],
        inherits: &[Inherit],
        locals: &[Self::Row],
        poses: &[Self::Transform],
        worlds: &mut [Self::Row],
    );
    #[doc(hidden)]
    fn widen_pose(transform: &Self::Transform) -> Self::Pose;
    /// As [`combined`](Self::combined).
    #[doc(hidden)]
    fn wide_combined(parent: &Self::Pose, inherit: Inherit, child: &Self::Pose) -> Self::Pose;
    /// What is left of a parent's component pose for a child that inherits these parts; the parts that are
    /// off are the identity's.
    #[doc(hidden)]
    fn frame(parent: &Self::Pose, inherit: Inherit) -> Chain<Self>;
    /// A frame with its origin moved to the position of a pose.
    #[doc(hidden)]
    fn centred(frame: &Self::Wide, at: &Self::Wide) -> Self::Wide;
    /// The own value with its position replaced by that of a pose.
    #[doc(hidden)]
    fn placed(own: &Own<Self>, at: &Self::Wide) -> Own<Self>;

    #[doc(hidden)]
    fn widen(local: &Self::Row) -> Self::Wide;
    #[doc(hidden)]
    fn wide_product(parent: &Self::Wide, child: &Self::Wide) -> Self::Wide;
    /// Whether the own scale has an exact zero, or the own matrix is exactly rank-deficient.
    #[doc(hidden)]
    fn is_flat(own: &Own<Self>) -> bool;
    /// Whether the own value is a rotation or reflection times one factor, but for rounding.
    #[doc(hidden)]
    fn is_conformal(own: &Own<Self>) -> bool;
    /// The own value `x` that solves `parent * x = wanted`, after rounding. `own` is what the node
    /// holds now: kept where it still solves it, and the hint for signs where not.
    #[doc(hidden)]
    fn solve(parent: &Chain<Self>, wanted: &Self::Wide, own: &Own<Self>, shear: Shear) -> Result<Own<Self>, Misfit>;
}

/// The body of every `same_bits`.
macro_rules! same_numbers {
    ($a:expr, $b:expr) => {
        $a.into_iter().zip($b).all(|(a, b)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan())
    };
}
use same_numbers;

/// The product of the local poses from one node down to another.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
#[allow(unnameable_types, reason = "part of a sealed trait's hidden methods")]
pub struct Chain<A: Accumulate> {
    pub wide: A::Wide,
    /// Whether a node in it is exactly flat, which the product hides in rounding noise.
    pub flat: bool,
    /// Whether all nodes in it are rotations or reflections times one factor, which the rounding of many
    /// matrices hides.
    pub conformal: bool,
}

/// What a node owns: its local value.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
#[allow(unnameable_types, reason = "part of a sealed trait's hidden methods")]
pub struct Own<A: Accumulate> {
    /// As set; of a node that holds a matrix: the matrix taken apart, its shear left out.
    pub transform: A::Transform,
    /// The matrix, of a node that holds one.
    pub matrix: Option<A::Row>,
}

impl<A: Accumulate> PartialEq for Own<A> {
    fn eq(&self, other: &Self) -> bool {
        self.transform == other.transform && self.matrix == other.matrix
    }
}

impl<A: Accumulate> Own<A> {
    pub(crate) fn trs(transform: A::Transform) -> Self {
        Self { transform, matrix: None }
    }

    pub(crate) fn local(&self) -> A::Row {
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
    /// The arguments leave the value open.
    Degenerate,
}

/// The largest misfit of a solved column, in units of its largest element, that still does its job:
/// 2⁻¹⁰ ≈ 0.001, far above rounding (2⁻²³) and far below a pose that visibly moved.
pub(crate) const MISFIT: f64 = 1.0 / 1024.0;

/// Whether a solution does its job.
pub(crate) fn fits(misfit: f64) -> bool {
    misfit <= MISFIT
}

/// The larger of two misfits. NaN, from a value that overflowed, is an infinite one.
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    let [a, b] = [a, b].map(|misfit| if misfit.is_nan() { f64::INFINITY } else { misfit });
    a.max(b)
}
