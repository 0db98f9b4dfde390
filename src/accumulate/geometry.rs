//! The seam of the doors that speak of vectors, rotations and matrices.

mod components;
mod components2;
mod matrices;
mod matrices2;

use super::{Accumulate, Chain, Misfit, Own};
use crate::{NonFinite, NotRotation};

/// What all ways of accumulating share in one kind of space: its vectors, rotations and matrices.
///
/// `Wide` is a world pose as a matrix in float64. A `Result<_, f32>` gives how far a singular one
/// misses, an `Option` whether the answer has a direction.
#[doc(hidden)]
#[allow(unnameable_types, reason = "bounds of public methods; sealed through Accumulate")]
pub trait Shared {
    type Vector: Copy;
    type Rotation: Copy;
    type Affine: Copy;
    type Transform: Copy;
    type Decomposed: Copy;
    type Up: Copy;
    type Wide: Copy;
    /// The matrix that goes to a skinning shader.
    type Skin: Copy;

    /// ±1, ±2, ±3 for ±x, ±y, ±z.
    const FORWARD: i8;
    const RIGHT: i8 = 1;
    const UP: i8 = 2;

    fn check_vector(v: Self::Vector) -> Result<Self::Vector, NonFinite>;
    fn check_up(up: Self::Up) -> Result<Self::Up, NonFinite>;
    fn admit_rotation<E: From<NonFinite> + From<NotRotation>>(r: Self::Rotation) -> Result<Self::Rotation, E>;
    fn position(t: &Self::Transform) -> Self::Vector;
    fn rotation(t: &Self::Transform) -> Self::Rotation;
    fn scale(t: &Self::Transform) -> Self::Vector;
    fn parts(d: &Self::Decomposed) -> Self::Transform;

    fn is_mirrored(world: &Self::Wide) -> bool;
    /// The unit image of an axis, numbered as above.
    fn axis(world: &Self::Wide, axis: i8) -> Option<Self::Vector>;
    fn inverse(world: &Self::Wide) -> Result<Self::Affine, f32>;
    fn map_point(world: &Self::Wide, point: Self::Vector) -> Self::Vector;
    fn map_vector(world: &Self::Wide, vector: Self::Vector) -> Self::Vector;
    fn map_direction(world: &Self::Wide, vector: Self::Vector) -> Option<Self::Vector>;
    fn map_normal(world: &Self::Wide, normal: Self::Vector) -> Result<Option<Self::Vector>, f32>;
    fn unmap_point(world: &Self::Wide, point: Self::Vector) -> Result<Self::Vector, f32>;
    fn unmap_vector(world: &Self::Wide, vector: Self::Vector) -> Result<Self::Vector, f32>;
    fn unmap_direction(world: &Self::Wide, vector: Self::Vector) -> Result<Option<Self::Vector>, f32>;
    fn unmap_normal(world: &Self::Wide, normal: Self::Vector) -> Result<Option<Self::Vector>, f32>;
    fn map_box(world: &Self::Wide, a: Self::Vector, b: Self::Vector) -> (Self::Vector, Self::Vector);
    fn joint_matrix(world: &Self::Wide, inverse_bind: &Self::Affine) -> Self::Skin;
}

/// What the doors that speak of vectors, rotations and matrices need of an [`Accumulate`]. Implemented
/// by [`Matrices`](crate::Matrices), [`Components`](crate::Components) and their twins in double precision and in
/// two dimensions.
///
/// The bound for code over all kinds of hierarchy; sealed, and its items are the crate's own.
///
/// ```
/// use posetree::{Geometry, HierarchyOf, LocalError, NodeId};
/// fn reset<A: Geometry>(h: &mut HierarchyOf<A>, id: NodeId, origin: A::Vector) -> Result<(), LocalError> {
///     h.set_position(id, origin)
/// }
/// # let mut h = posetree::Hierarchy::new();
/// # let id = h.add_root(posetree::Transform::from_position(posetree::glam::Vec3::X))?;
/// # reset(&mut h, id, posetree::glam::Vec3::ZERO)?;
/// # assert_eq!(h.position(id)?, posetree::glam::Vec3::ZERO);
/// # Ok::<(), posetree::Error>(())
/// ```
// All poses and arguments that come in are finite.
pub trait Geometry: Accumulate {
    /// What aiming needs besides a target: a direction in space, nothing in the plane.
    type Up: Copy;
    #[doc(hidden)]
    type Shared: Shared<
            Vector = Self::Vector,
            Rotation = Self::Rotation,
            Affine = Self::Affine,
            Transform = Self::Transform,
            Decomposed = Self::Decomposed,
            Up = Self::Up,
        >;

    // The own value.
    /// Writes a position into an own value as it is stored: a transform, and the local row made of it.
    #[doc(hidden)]
    fn put_position(position: Self::Vector, transform: &mut Self::Transform, local: &mut Self::Row);
    #[doc(hidden)]
    fn with_position(own: &Own<Self>, position: Self::Vector) -> Own<Self>;
    #[doc(hidden)]
    fn with_rotation(own: &Own<Self>, rotation: Self::Rotation) -> Own<Self>;
    #[doc(hidden)]
    fn with_scale(own: &Own<Self>, scale: Self::Vector) -> Own<Self>;
    /// Takes a matrix as the own value; `own` is the hint for signs.
    #[doc(hidden)]
    fn import(matrix: &Self::Affine, own: &Own<Self>) -> Result<Own<Self>, Misfit>;
    #[doc(hidden)]
    fn export(own: &Own<Self>) -> Self::Affine;
    /// The own value as position, rotation and scale, or what that would lose.
    #[doc(hidden)]
    fn as_trs(own: &Own<Self>) -> Result<Self::Transform, f32>;
    /// The own value without shear, and what that loses.
    #[doc(hidden)]
    fn drop_shear(own: &Own<Self>) -> (Self::Transform, f32);
    #[doc(hidden)]
    fn decompose_own(own: &Own<Self>) -> Self::Decomposed;

    // Spaces: arguments in the node's own frame, in the parent's, in the world's.
    /// `p + v`.
    #[doc(hidden)]
    fn moved_in_parent(own: &Own<Self>, by: Self::Vector) -> Own<Self>;
    /// `p + r v`.
    #[doc(hidden)]
    fn moved_in_local(own: &Own<Self>, by: Self::Vector) -> Own<Self>;
    /// `p + L v`.
    #[doc(hidden)]
    fn placed_in_local(own: &Own<Self>, position: Self::Vector) -> Own<Self>;
    /// `q r`, about a point of the parent's space, or in place.
    #[doc(hidden)]
    fn turned_in_parent(own: &Own<Self>, by: Self::Rotation, about: Option<Self::Vector>) -> Own<Self>;
    /// `r q`, about a point of the node's space, or in place.
    #[doc(hidden)]
    fn turned_in_local(own: &Own<Self>, by: Self::Rotation, about: Option<Self::Vector>) -> Own<Self>;
    #[doc(hidden)]
    fn moved_in_world(parent: &Chain<Self>, own: &Own<Self>, by: Self::Vector) -> Result<Own<Self>, Misfit>;
    /// World linear part `Rot(q) * linear`, about a world point, or in place.
    #[doc(hidden)]
    fn turned_in_world(
        parent: &Chain<Self>,
        own: &Own<Self>,
        by: Self::Rotation,
        about: Option<Self::Vector>,
    ) -> Result<Own<Self>, Misfit>;
    #[doc(hidden)]
    fn aimed(parent: &Chain<Self>, own: &Own<Self>, at: Self::Vector, up: Self::Up) -> Result<Own<Self>, Misfit>;

    // The own value from wanted world values.
    #[doc(hidden)]
    fn widen_matrix(matrix: &Self::Affine, own: &Own<Self>) -> Result<Self::Wide, Misfit>;
    #[doc(hidden)]
    fn widen_transform(transform: &Self::Transform) -> Self::Wide;
    #[doc(hidden)]
    fn solve_position(parent: &Chain<Self>, own: &Own<Self>, position: Self::Vector) -> Result<Own<Self>, Misfit>;
    #[doc(hidden)]
    fn solve_rotation(parent: &Chain<Self>, own: &Own<Self>, rotation: Self::Rotation) -> Result<Own<Self>, Misfit>;
    #[doc(hidden)]
    fn solve_scale(parent: &Chain<Self>, own: &Own<Self>, scale: Self::Vector) -> Result<Own<Self>, Misfit>;

    // World poses.
    #[doc(hidden)]
    fn matrix(world: &Self::World) -> Self::Affine;
    #[doc(hidden)]
    fn wide_matrix(world: &Self::World) -> <Self::Shared as Shared>::Wide;
    #[doc(hidden)]
    fn position_of(world: &Self::Row) -> Self::Vector;
    /// The world pose taken apart, with the node's own scale as hint for signs.
    #[doc(hidden)]
    fn decompose_world(world: &Self::World, hint: &Self::Transform) -> Self::Decomposed;
    #[doc(hidden)]
    fn check_scalar(t: Self::Scalar) -> Result<Self::Scalar, NonFinite>;
    /// The pose between two, which differ: at 0 the bits of `from`, at 1 those of `to`. `hint` as above.
    #[doc(hidden)]
    fn interpolate(from: &Self::World, to: &Self::World, hint: &Self::Transform, t: Self::Scalar) -> Self::World;
    /// As it is stored.
    #[doc(hidden)]
    fn row(world: &Self::World) -> Self::Row;
    /// `to⁻¹ * from`.
    #[doc(hidden)]
    fn between(from: &Chain<Self>, to: &Chain<Self>) -> Result<Self::Affine, Misfit>;
}
