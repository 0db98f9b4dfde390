//! Worlds as products of affine matrices.
//!
//! Rows are 3x4 and row-major, so that one row of a product is three scaled rows of the local matrix
//! and one lane added: whole vectors throughout, and a parent is loaded at the width it was stored.

use super::space3::{self, misfit, solve_affine};
use super::sweep::LAST_LANE;
use super::{
    Accumulate, Chain, Components, DComponents, Geometry as _, Misfit, Own, Sealed, Shear, components, fits,
    same_numbers,
};
use crate::transform::decompose::decompose_linear;
use crate::transform::precision::{Precision, Widen};
use crate::transform::rank::is_rank_deficient;
use crate::{DDecomposed, DTransform, Decomposed, Inherit, NonFinite, NotRotation, Transform};
use core::ops::Range;
use glam::{Affine3A, BVec4A, DAffine3, DMat3, DQuat, DVec3, Mat3A, Mat4, Quat, Vec3, Vec3A, Vec4, Vec4Swizzles};

/// World poses are products of affine matrices: `world = parent_world * local`.
///
/// Exact under any parent; a child below a parent with rotation and non-uniform scale may shear. This
/// is what glTF, USD, Godot, Unity, three.js and Bevy do.
///
/// A row of [`Worlds::rows`](crate::Worlds::rows) is a 3x4 matrix, row-major, as instance buffers
/// take it: `[x_axis.x, y_axis.x, z_axis.x, translation.x]` and so on.
///
/// ```
/// use posetree::{Hierarchy, Transform, glam::{Quat, Vec3}};
/// let mut h = Hierarchy::new();
/// let wide = h.add_root(Transform::from_scale(Vec3::new(4.0, 1.0, 1.0)))?;
/// let turned = h.add_child(wide, Transform::from_rotation(Quat::from_rotation_z(0.7)))?;
/// assert!(h.world_decomposed(turned)?.shear.x.abs() > 1.0);
/// # Ok::<(), posetree::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Matrices;

/// [`Matrices`] in double precision: world poses are products of affine matrices in float64.
///
/// For worlds in which float32 runs out of digits; see [`DHierarchy`](crate::DHierarchy). A row of
/// [`Worlds::rows`](crate::Worlds::rows) is a 3x4 matrix, row-major, of 96 bytes.
///
/// ```
/// use posetree::{DHierarchy, DTransform, glam::{DQuat, DVec3}};
/// let mut h = DHierarchy::new();
/// let wide = h.add_root(DTransform::from_scale(DVec3::new(4.0, 1.0, 1.0)))?;
/// let turned = h.add_child(wide, DTransform::from_rotation(DQuat::from_rotation_z(0.7)))?;
/// assert!(h.world_decomposed(turned)?.shear.x.abs() > 1.0);
/// # Ok::<(), posetree::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DMatrices;

/// A 3x4 matrix, row-major.
pub(crate) type Rows<T> = [[T; 4]; 3];

#[inline(always)]
fn product_single(last_lane: BVec4A, parent: &Rows<f32>, local: &Rows<f32>) -> Rows<f32> {
    let [x, y, z] = [Vec4::from_array(local[0]), Vec4::from_array(local[1]), Vec4::from_array(local[2])];
    parent.map(|row| {
        let p = Vec4::from_array(row);
        // Two sums that do not wait for each other: along a chain that is a quarter of the time.
        ((x * p.xxxx() + y * p.yyyy()) + (z * p.zzzz() + Vec4::select(last_lane, p, Vec4::ZERO))).to_array()
    })
}

/// Written out, because then every two neighbours become one vector of two lanes, without a scalar among them.
#[inline(always)]
fn product_double(_: BVec4A, parent: &Rows<f64>, [x, y, z]: &Rows<f64>) -> Rows<f64> {
    let row = |[a, b, c, d]: [f64; 4]| {
        [
            (x[0] * a + y[0] * b) + (z[0] * c + 0.0),
            (x[1] * a + y[1] * b) + (z[1] * c + 0.0),
            (x[2] * a + y[2] * b) + (z[2] * c + 0.0),
            (x[3] * a + y[3] * b) + (z[3] * c + d),
        ]
    };
    [row(parent[0]), row(parent[1]), row(parent[2])]
}

/// `T * R * S`, with the bits of [`Transform::to_affine`]: the same products and sums, but of whole vectors, in the
/// layout of rows. Elements are computed by diagonals: of the three that lie one below the other to the right, each is
/// the same expression of x, y and z in turn.
#[inline]
fn rows_single(transform: &Transform) -> Rows<f32> {
    let (q, p, s) = (Vec4::from(transform.rotation), transform.position.extend(0.0), transform.scale.extend(0.0));
    let twice = q + q;
    let (squares, products, turns) = (q * twice, q * twice.yzxw(), q.wwww() * twice.zxyw());
    // The main diagonal, the one above it and the one below it.
    let a = (Vec4::ONE - (squares.yzxw() + squares.zxyw())) * s;
    let b = (products - turns) * s.yzxw();
    let c = ((products + turns) * s).zxyw();
    let m = Mat4::from_cols(a, b, c, p).transpose();
    [m.x_axis.to_array(), m.y_axis.zxyw().to_array(), m.z_axis.yzxw().to_array()]
}

#[inline]
fn rows_double(transform: &DTransform) -> Rows<f64> {
    DMatrices::to_rows(&transform.to_affine())
}

#[inline]
fn columns_single(&[x, y, z]: &Rows<f32>) -> [Vec3A; 4] {
    let m = Mat4::from_cols_array_2d(&[x, y, z, [0.0; 4]]).transpose();
    [m.x_axis, m.y_axis, m.z_axis, m.w_axis].map(Vec3A::from_vec4)
}

#[inline]
fn columns_double(&[x, y, z]: &Rows<f64>) -> [DVec3; 4] {
    [0, 1, 2, 3].map(|column| DVec3::new(x[column], y[column], z[column]))
}

/// Writes the accumulation of one precision.
macro_rules! matrices3 {
    (
        $Name:ident, $Components:ident, $product:ident, $Float:ident, $Vec3:ident, $Quat:ident, $Transform:ident, $Decomposed:ident,
        $Affine:ident { $Mat3:ident, $columns:ident, $rows:ident }
    ) => {
        impl Sealed for $Name {}

        impl Accumulate for $Name {
            type Scalar = $Float;
            type Vector = $Vec3;
            type Rotation = $Quat;
            type Affine = $Affine;
            type Transform = $Transform;
            type Decomposed = $Decomposed;
            type World = $Affine;
            type Row = Rows<$Float>;
            type Wide = DAffine3;
            type Pose = components::Wide;

            const HOLE: Rows<$Float> = [[0.0; 4]; 3];
            const WIDE_IDENTITY: DAffine3 = DAffine3::IDENTITY;
            const ASSOCIATIVE: bool = true;

            #[inline(always)]
            fn is_plain(transform: &$Transform) -> bool {
                $Float::is_plain(transform)
            }

            fn admit<E: From<NonFinite> + From<NotRotation>>(transform: &mut $Transform) -> Result<(), E> {
                $Float::admit_transform(transform)
            }

            fn is_finite(local: &Rows<$Float>) -> bool {
                local.iter().flatten().all(|element| element.is_finite())
            }

            fn same_bits(a: &Rows<$Float>, b: &Rows<$Float>) -> bool {
                same_numbers!(a.as_flattened(), b.as_flattened())
            }

            #[inline]
            fn local_of(transform: &$Transform) -> Rows<$Float> {
                $rows(transform)
            }

            fn root(local: &Rows<$Float>) -> Rows<$Float> {
                *local
            }

            #[inline]
            fn product(parent: &Rows<$Float>, local: &Rows<$Float>) -> Rows<$Float> {
                $product(LAST_LANE, parent, local)
            }

            #[inline(always)]
            fn masked_product(last_lane: BVec4A, parent: &Rows<$Float>, local: &Rows<$Float>) -> Rows<$Float> {
                $product(last_lane, parent, local)
            }

            super::sweep::sweeps!(Rows<$Float>);
            super::poses::poses!(Rows<$Float>);

            #[inline]
            fn world(row: &Rows<$Float>) -> $Affine {
                Self::to_affine(row)
            }

            #[inline(always)]
            fn combined(parent: &$Transform, inherit: Inherit, child: &$Transform) -> $Transform {
                $Components::combined(parent, inherit, child)
            }

            #[inline(always)]
            fn hung(parent: &$Transform, inherit: Inherit, local: &Rows<$Float>) -> Rows<$Float> {
                let mut world = Self::product(&Self::local_of(&$Components::reduced(parent, inherit)), local);
                if !inherit.position {
                    world.iter_mut().zip(local).for_each(|(world, local)| world[3] = local[3]);
                }
                world
            }

            fn widen_pose(transform: &$Transform) -> components::Wide {
                $Components::widen(transform)
            }

            fn wide_combined(
                parent: &components::Wide,
                inherit: Inherit,
                child: &components::Wide,
            ) -> components::Wide {
                $Components::wide_combined(parent, inherit, child)
            }

            fn frame(parent: &components::Wide, inherit: Inherit) -> Chain<Self> {
                let Chain { wide: frame, flat, conformal } = $Components::frame(parent, inherit);
                let wide = DAffine3::from_scale_rotation_translation(frame.scale, frame.rotation, frame.position);
                Chain { wide, flat, conformal }
            }

            fn centred(frame: &DAffine3, at: &DAffine3) -> DAffine3 {
                DAffine3 { translation: at.translation, ..*frame }
            }

            fn placed(own: &Own<Self>, at: &DAffine3) -> Own<Self> {
                Self::with_position(own, $Vec3::narrow(at.translation))
            }

            fn widen(local: &Rows<$Float>) -> DAffine3 {
                Self::to_affine(local).widen()
            }

            fn wide_product(parent: &DAffine3, child: &DAffine3) -> DAffine3 {
                *parent * *child
            }

            fn is_flat(own: &Own<Self>) -> bool {
                let has_zero = own.transform.scale.cmpeq($Vec3::ZERO).any();
                // A zero scale of a matrix that shears is a zero up to the rounding of its elements.
                has_zero || own.matrix.is_some_and(|local| is_rank_deficient(Self::widen(&local).matrix3))
            }

            fn is_conformal(own: &Own<Self>) -> bool {
                own.matrix.is_none() && space3::is_uniform::<$Float>(own.transform.scale)
            }

            fn solve(
                parent: &Chain<Self>,
                wanted: &DAffine3,
                own: &Own<Self>,
                shear: Shear,
            ) -> Result<Own<Self>, Misfit> {
                let (exact, matrix) = solve_affine::<$Float>(parent.flat, &parent.wide, wanted)?;
                let (parent, matrix) = (&parent.wide, Self::to_rows(&matrix));
                if matrix == own.local() && (shear == Shear::Allowed || own.matrix.is_none()) {
                    return Ok(*own);
                }
                let transform = Self::without_shear(&exact, own);
                let local = Self::local_of(&transform);
                // The law allows more than a solution may miss where a parent cancels nearly all of what it adds up.
                let fits = fits(misfit::<$Float>(parent, &Self::widen(&local), wanted));
                let lawful = fits && within_rounding::<$Float>(parent, &Self::widen(&local), wanted);
                if shear == Shear::Refused && !lawful {
                    // Beyond the law, what is left out must be no more than the rounding of a rotation.
                    let residual = Self::difference(&local, &matrix);
                    if residual > $Float::TRS_TOLERANCE || !fits {
                        return Err(Misfit::Shear(residual as f32));
                    }
                }
                let holds = lawful || shear == Shear::Refused;
                Ok(Own { transform, matrix: (!holds).then_some(matrix) })
            }
        }

        impl $Name {
            pub(crate) fn to_rows(m: &$Affine) -> Rows<$Float> {
                let [x, y, z, t] = [m.matrix3.x_axis, m.matrix3.y_axis, m.matrix3.z_axis, m.translation];
                [[x.x, y.x, z.x, t.x], [x.y, y.y, z.y, t.y], [x.z, y.z, z.z, t.z]]
            }

            #[inline]
            pub(crate) fn to_affine(rows: &Rows<$Float>) -> $Affine {
                // In whole vectors: element by element takes three times as long.
                let [x, y, z, t] = $columns(rows);
                $Affine { matrix3: $Mat3::from_cols(x, y, z), translation: t }
            }

            /// Position, rotation and scale of a matrix, its shear left out.
            fn without_shear(exact: &DAffine3, own: &Own<Self>) -> $Transform {
                let factors = decompose_linear(exact.matrix3, own.transform.scale.widen());
                $Decomposed::new(&factors, $Vec3::narrow(exact.translation)).transform
            }

            /// How far two matrices are apart: the worst column, in units of its largest element in `b`.
            pub(super) fn difference(a: &Rows<$Float>, b: &Rows<$Float>) -> f64 {
                let (a, b) = (Self::to_affine(a).matrix3, Self::to_affine(b).matrix3);
                let mut worst: $Float = 0.0;
                for i in 0..3 {
                    let off = (a.col(i) - b.col(i)).abs().max_element();
                    if off > 0.0 {
                        // Below the normal numbers rounding is not relative any more.
                        worst = worst.max(off / b.col(i).abs().max_element().max($Float::MIN_POSITIVE));
                    }
                }
                worst.widen()
            }
        }
    };
}

matrices3!(
    Matrices,
    Components,
    product_single,
    f32,
    Vec3,
    Quat,
    Transform,
    Decomposed,
    Affine3A { Mat3A, columns_single, rows_single }
);
matrices3!(
    DMatrices,
    DComponents,
    product_double,
    f64,
    DVec3,
    DQuat,
    DTransform,
    DDecomposed,
    DAffine3 { DMat3, columns_double, rows_double }
);

/// The law of a solution: [`Precision::LAW`], element by element.
fn within_rounding<P: Precision>(parent: &DAffine3, x: &DAffine3, wanted: &DAffine3) -> bool {
    let absolute = |m: &DAffine3| DAffine3 { matrix3: m.matrix3.abs(), translation: m.translation.abs() };
    let reached = *parent * *x;
    let allowed = absolute(parent) * absolute(x);
    let within = |got: DVec3, want: DVec3, size: DVec3| (got - want).abs().cmple(P::LAW * size).all();
    (0..3).all(|i| within(reached.matrix3.col(i), wanted.matrix3.col(i), allowed.matrix3.col(i)))
        && within(reached.translation, wanted.translation, allowed.translation)
}
