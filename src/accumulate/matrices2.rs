//! Worlds as products of affine matrices of the plane.
//!
//! Rows are the first two of the 3x4 matrix of space, row-major: `[x_axis.x, y_axis.x, 0, translation.x]`.
//! So they are whole vectors of four, and what takes instances of space takes them with a third row
//! `[0, 0, 1, 0]`. Measured against 2x3 without the zeros, the product in a sweep takes 2.7 ns against 6.8
//! among 10 000 nodes and 4.8 against 6.2 among a million, although a quarter of the bytes is zeros; in
//! float64, where a vector of four is two registers, both are equal as long as the rows lie in a cache.

use super::space2::{self, for_each_precision, misfit, solve_affine, with_depth};
use super::sweep::LAST_LANE;
use super::{Accumulate, Chain, Components2, DComponents2, Geometry as _, Misfit, Own, Sealed, Shear, fits};
use crate::transform::precision::Widen;
use crate::transform::rank::is_rank_deficient;
use crate::transform2::decompose::decompose_linear;
use crate::transform2::precision::Precision2;
use crate::{DDecomposed2, DTransform2, Decomposed2, Inherit, NonFinite, NotRotation, Transform2};
use core::ops::Range;
use glam::{Affine2, BVec4A, DAffine2, DMat2, DVec2, Vec2, Vec4, Vec4Swizzles};

/// The first two rows of a 3x4 matrix, row-major.
pub(crate) type Rows2<F> = [[F; 4]; 2];

macro_rules! matrices2 {
    (
        $f:ident: $Matrices:ident, $Components:ident, $Space:ident, $Vector:ident, $Affine:ident,
        $Transform:ident, $Decomposed:ident, $Mat4:ident, $as_mat4:ident
    ) => {
        #[doc = concat!("World poses are products of affine matrices of the plane, in ", stringify!($f), ": `world = parent_world * local`.")]
        ///
        /// Exact under any parent; a child below a parent with rotation and non-uniform scale may shear.
        ///
        #[doc = concat!("A row of [`Worlds::rows`](crate::Worlds::rows) is `[[", stringify!($f), "; 4]; 2]`: the first two rows of a 3x4 matrix as instance")]
        /// buffers take it, row-major, `[x_axis.x, y_axis.x, 0.0, translation.x]` and the same with `y`. The third
        /// would be `[0.0, 0.0, 1.0, 0.0]`. Skinning matrices, from
        /// [`write_joint_matrices`](crate::HierarchyOf::write_joint_matrices), are 4x4 and leave Z as it is.
        ///
        /// ```
        #[doc = concat!("use posetree::{HierarchyOf, ", stringify!($Matrices), ", ", stringify!($Transform), ", glam::", stringify!($Vector), "};")]
        #[doc = concat!("let mut h = HierarchyOf::<", stringify!($Matrices), ">::new();")]
        #[doc = concat!("let wide = h.add_root(", stringify!($Transform), "::new(", stringify!($Vector), "::Y, 0.0, ", stringify!($Vector), "::new(4.0, 1.0)))?;")]
        #[doc = concat!("let turned = h.add_child(wide, ", stringify!($Transform), "::from_rotation(0.7))?;")]
        /// assert!(h.world_decomposed(turned)?.shear.abs() > 1.0);
        /// assert_eq!(h.update()[wide], [[4.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0]]);
        /// # Ok::<(), posetree::Error>(())
        /// ```
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $Matrices;

        impl Sealed for $Matrices {}

        impl Accumulate for $Matrices {
            type Scalar = $f;
            type Vector = $Vector;
            type Rotation = $f;
            type Affine = $Affine;
            type Transform = $Transform;
            type Decomposed = $Decomposed;
            type World = $Affine;
            type Row = [[$f; 4]; 2];
            type Wide = DAffine2;
            type Pose = DTransform2;

            const HOLE: Rows2<$f> = [[0.0; 4]; 2];
            const WIDE_IDENTITY: DAffine2 = DAffine2::IDENTITY;
            const ASSOCIATIVE: bool = true;

            #[inline(always)]
            fn is_plain(transform: &$Transform) -> bool {
                transform.is_finite()
            }

            fn admit<E: From<NonFinite> + From<NotRotation>>(transform: &mut $Transform) -> Result<(), E> {
                if transform.is_finite() { Ok(()) } else { Err(NonFinite.into()) }
            }

            fn is_finite(local: &Rows2<$f>) -> bool {
                local.iter().flatten().all(|element| element.is_finite())
            }

            fn same_bits(a: &Rows2<$f>, b: &Rows2<$f>) -> bool {
                super::same_numbers!(a.as_flattened(), b.as_flattened())
            }

            #[inline]
            fn local_of(transform: &$Transform) -> Rows2<$f> {
                Self::rows(&transform.to_affine())
            }

            fn root(local: &Rows2<$f>) -> Rows2<$f> {
                *local
            }

            #[inline]
            fn product(parent: &Rows2<$f>, local: &Rows2<$f>) -> Rows2<$f> {
                <$f as Product>::product(LAST_LANE, parent, local)
            }

            #[inline(always)]
            fn masked_product(last_lane: BVec4A, parent: &Rows2<$f>, local: &Rows2<$f>) -> Rows2<$f> {
                <$f as Product>::product(last_lane, parent, local)
            }

            super::sweep::sweeps!(Rows2<$f>);
            super::poses::poses!(Rows2<$f>);

            #[inline]
            fn world(row: &Rows2<$f>) -> $Affine {
                Self::affine(row)
            }

            #[inline(always)]
            fn combined(parent: &$Transform, inherit: Inherit, child: &$Transform) -> $Transform {
                $Components::combined(parent, inherit, child)
            }

            #[inline(always)]
            fn hung(parent: &$Transform, inherit: Inherit, local: &Rows2<$f>) -> Rows2<$f> {
                let mut world = Self::product(&Self::local_of(&$Components::reduced(parent, inherit)), local);
                if !inherit.position {
                    world.iter_mut().zip(local).for_each(|(world, local)| world[3] = local[3]);
                }
                world
            }

            fn widen_pose(transform: &$Transform) -> DTransform2 {
                $Components::widen(transform)
            }

            fn wide_combined(parent: &DTransform2, inherit: Inherit, child: &DTransform2) -> DTransform2 {
                $Components::wide_combined(parent, inherit, child)
            }

            fn frame(parent: &DTransform2, inherit: Inherit) -> Chain<Self> {
                let Chain { wide: frame, flat, conformal } = $Components::frame(parent, inherit);
                let wide = DAffine2::from_scale_angle_translation(frame.scale, frame.rotation, frame.position);
                Chain { wide, flat, conformal }
            }

            fn centred(frame: &DAffine2, at: &DAffine2) -> DAffine2 {
                DAffine2 { translation: at.translation, ..*frame }
            }

            fn placed(own: &Own<Self>, at: &DAffine2) -> Own<Self> {
                Self::with_position(own, $Vector::narrow(at.translation))
            }

            fn widen(local: &Rows2<$f>) -> DAffine2 {
                Self::affine(local).widen()
            }

            fn wide_product(parent: &DAffine2, child: &DAffine2) -> DAffine2 {
                *parent * *child
            }

            fn is_flat(own: &Own<Self>) -> bool {
                let has_zero = own.transform.scale.cmpeq($Vector::ZERO).any();
                // A zero scale of a matrix that shears is a zero up to the rounding of its elements.
                has_zero || own.matrix.is_some_and(|local| is_rank_deficient(with_depth(Self::widen(&local).matrix2)))
            }

            fn is_conformal(own: &Own<Self>) -> bool {
                own.matrix.is_none() && space2::is_uniform::<$f>(own.transform.scale)
            }

            fn solve(parent: &Chain<Self>, wanted: &DAffine2, own: &Own<Self>, shear: Shear) -> Result<Own<Self>, Misfit> {
                let (exact, matrix) = solve_affine::<$f>(parent.flat, &parent.wide, wanted)?;
                let (parent, matrix) = (&parent.wide, Self::rows(&matrix));
                if matrix == own.local() && (shear == Shear::Allowed || own.matrix.is_none()) {
                    return Ok(*own);
                }
                let factors = decompose_linear(exact.matrix2, own.transform.scale.widen());
                let transform = $Decomposed::new(&factors, Widen::narrow(exact.translation)).transform;
                let local = Self::widen(&Self::local_of(&transform));
                // The law allows more than a solution may miss where a parent cancels nearly all of what it adds up.
                let fits = fits(misfit::<$f>(parent, &local, wanted));
                let lawful = fits && within_rounding::<$f>(parent, &local, wanted);
                if shear == Shear::Refused && !lawful {
                    // Beyond the law, what is left out must be no more than the rounding of a rotation.
                    let residual = difference::<$f>(local.matrix2, Self::widen(&matrix).matrix2);
                    if residual > <$f as Precision2>::TRS_TOLERANCE || !fits {
                        return Err(Misfit::Shear(residual as f32));
                    }
                }
                let holds = lawful || shear == Shear::Refused;
                Ok(Own { transform, matrix: (!holds).then_some(matrix) })
            }
        }

        impl $Matrices {
            pub(super) fn rows(m: &$Affine) -> Rows2<$f> {
                let [x, y, t] = [m.matrix2.x_axis, m.matrix2.y_axis, m.translation];
                [[x.x, y.x, 0.0, t.x], [x.y, y.y, 0.0, t.y]]
            }

            pub(super) fn affine(rows: &Rows2<$f>) -> $Affine {
                let column = |i: usize| $Vector::new(rows[0][i], rows[1][i]);
                $Affine::from_cols(column(0), column(1), column(3))
            }
        }
    };
}
for_each_precision!(matrices2);

/// The product of rows as each precision does it best.
trait Product: Sized {
    fn product(last_lane: BVec4A, parent: &Rows2<Self>, local: &Rows2<Self>) -> Rows2<Self>;
}

impl Product for f32 {
    #[inline(always)]
    fn product(last_lane: BVec4A, parent: &Rows2<f32>, local: &Rows2<f32>) -> Rows2<f32> {
        let (x, y) = (Vec4::from_array(local[0]), Vec4::from_array(local[1]));
        parent.map(|row| {
            let p = Vec4::from_array(row);
            (x * p.xxxx() + y * p.yyyy() + Vec4::select(last_lane, p, Vec4::ZERO)).to_array()
        })
    }
}

impl Product for f64 {
    #[inline(always)]
    fn product(_: BVec4A, parent: &Rows2<f64>, local: &Rows2<f64>) -> Rows2<f64> {
        let [x, y] = local;
        parent.map(|p| {
            let sum = |i: usize| x[i] * p[0] + y[i] * p[1];
            [sum(0), sum(1), 0.0, sum(3) + p[3]]
        })
    }
}

/// The law of a solution, [`Precision2::LAW`].
fn within_rounding<P: Precision2>(parent: &DAffine2, x: &DAffine2, wanted: &DAffine2) -> bool {
    let absolute = |m: &DAffine2| DAffine2 { matrix2: m.matrix2.abs(), translation: m.translation.abs() };
    let reached = *parent * *x;
    let allowed = absolute(parent) * absolute(x);
    let within = |got: DVec2, want: DVec2, size: DVec2| (got - want).abs().cmple(P::LAW * size).all();
    (0..2).all(|i| within(reached.matrix2.col(i), wanted.matrix2.col(i), allowed.matrix2.col(i)))
        && within(reached.translation, wanted.translation, allowed.translation)
}

/// How far two matrices are apart: the worst column, in units of its largest element in `b`.
pub(super) fn difference<P: Precision2>(a: DMat2, b: DMat2) -> f64 {
    let column = |i: usize| {
        let off = (a.col(i) - b.col(i)).abs().max_element();
        // Below the normal numbers rounding is not relative any more.
        if off > 0.0 { off / b.col(i).abs().max_element().max(P::SMALLEST) } else { 0.0 }
    };
    column(0).max(column(1))
}
