//! What both ways of accumulating share in two dimensions of either precision: solving in float64, and
//! mapping through a world pose.

use super::geometry::Shared;
use super::{MISFIT, Misfit, fits, larger};
use crate::transform::precision::Widen;
use crate::transform::precision::power_of_two_near_reciprocal;
use crate::transform::rank::difference_of_products;
use crate::transform2::decompose::{Factors, decompose_linear};
use crate::transform2::precision::Precision2;
use crate::{DDecomposed2, DTransform2, Decomposed2, NonFinite, NotRotation, Transform2};
use glam::{Affine2, DAffine2, DMat2, DMat3, DMat4, DVec2, DVec3, DVec4, Mat4, Vec2};

const _: () = assert!(MISFIT > f32::POSITION_MISFIT, "rounding must not look like a misfit");

/// Calls a macro for each precision with the names of its types.
macro_rules! for_each_precision {
    ($stamp:ident) => {
        $stamp!(f32: Matrices2, Components2, Space2, Vec2, Affine2, Transform2, Decomposed2, Mat4, as_mat4);
        $stamp!(f64: DMatrices2, DComponents2, DSpace2, DVec2, DAffine2, DTransform2, DDecomposed2, DMat4, clone);
    };
}
pub(super) use for_each_precision;

/// Whether a scale is one factor on both axes, but for rounding; signs aside.
pub(super) fn is_uniform<P: Precision2>(scale: P::Vector) -> bool {
    let size = scale.widen().abs();
    size.max_element() - size.min_element() <= P::TRS_TOLERANCE * size.max_element()
}

/// A solution in float64, and rounded.
pub(super) type Solved<P> = (DAffine2, <P as Precision2>::Affine);

/// `parent⁻¹ * wanted`, in float64 and rounded, or how far that misses.
pub(super) fn solve_affine<P: Precision2>(
    flat: bool,
    parent: &DAffine2,
    wanted: &DAffine2,
) -> Result<Solved<P>, Misfit> {
    if flat {
        return Err(Misfit::Singular(f32::INFINITY));
    }
    let (linear, DMat2 { x_axis, y_axis }) = (parent.matrix2, wanted.matrix2);
    let exact = DAffine2::from_cols(
        solve(linear, x_axis),
        solve(linear, y_axis),
        solve(linear, wanted.translation - parent.translation),
    );
    let rounded = P::Affine::narrow(exact);
    let misfit = misfit::<P>(parent, &rounded.widen(), wanted);
    if fits(misfit) && rounded.widen().is_finite() {
        Ok((exact, rounded))
    } else {
        Err(Misfit::Singular(misfit as f32))
    }
}

/// The point `x` for which `parent * x = wanted`, rounded, or how far that misses.
pub(super) fn solve_point<P: Precision2>(flat: bool, parent: &DAffine2, wanted: DVec2) -> Result<P::Vector, Misfit> {
    if flat {
        return Err(Misfit::Singular(f32::INFINITY));
    }
    placed::<P>(parent, solve(parent.matrix2, wanted - parent.translation), wanted)
}

/// The point that is off `from` by `by` once the parent maps both. Far from its origin more exact than
/// to solve for the sum, and exact for no offset.
pub(super) fn solve_offset<P: Precision2>(
    flat: bool,
    parent: &DAffine2,
    from: DVec2,
    by: DVec2,
) -> Result<P::Vector, Misfit> {
    if flat {
        return Err(Misfit::Singular(f32::INFINITY));
    }
    placed::<P>(parent, from + solve(parent.matrix2, by), parent.transform_point2(from) + by)
}

/// A solved point, if the parent maps it to the wanted one.
fn placed<P: Precision2>(parent: &DAffine2, point: DVec2, wanted: DVec2) -> Result<P::Vector, Misfit> {
    let point = P::Vector::narrow(point);
    let reached = parent.transform_point2(point.widen());
    let misfit = position_misfit::<P>(reached, wanted, parent.translation);
    if fits(misfit) && point.widen().is_finite() { Ok(point) } else { Err(Misfit::Singular(misfit as f32)) }
}

/// The `x` for which `m x = v`, each element to within `5 u` of itself, `u = 2⁻⁵³`, however thin `m` is: by
/// Cramer's rule, whose determinants come out to within `2 u` of themselves. Not finite where `m` is
/// singular. Columns and `v` are brought near one by powers of two, which changes no digit.
pub(super) fn solve(m: DMat2, v: DVec2) -> DVec2 {
    let unit = |v: DVec2| power_of_two_near_reciprocal(v.abs().max_element());
    let cross = |a: DVec2, b: DVec2| difference_of_products(a.x, b.y, a.y, b.x);
    let (x_unit, y_unit, v_unit) = (unit(m.x_axis), unit(m.y_axis), unit(v));
    let (x, y, v) = (m.x_axis * x_unit, m.y_axis * y_unit, v * v_unit);
    let determinant = cross(x, y);
    DVec2::new(cross(v, y) / determinant * x_unit / v_unit, cross(x, v) / determinant * y_unit / v_unit)
}

/// How far `parent * x` misses `wanted`: the worst column, in units of its largest element.
pub(super) fn misfit<P: Precision2>(parent: &DAffine2, x: &DAffine2, wanted: &DAffine2) -> f64 {
    let reached = *parent * *x;
    let column = |i: usize| {
        let off = (reached.matrix2.col(i) - wanted.matrix2.col(i)).abs().max_element();
        if off <= P::SMALLEST { 0.0 } else { off / wanted.matrix2.col(i).abs().max_element() }
    };
    let position = position_misfit::<P>(reached.translation, wanted.translation, parent.translation);
    larger(larger(column(0), column(1)), position)
}

/// By how much a solved position misses, beyond what rounding alone explains: in units of its distance
/// from the world's origin or from the parent's, whichever is larger, because a position near the former
/// is a difference of large numbers that nothing relates to its own size.
pub(super) fn position_misfit<P: Precision2>(reached: DVec2, wanted: DVec2, origin: DVec2) -> f64 {
    let [off, from_world, from_parent, origin] =
        [reached - wanted, wanted, wanted - origin, origin].map(|v| v.abs().max_element());
    if off <= P::SMALLEST.max(P::POSITION_MISFIT * from_world + P::POSITION_MISFIT * origin) {
        return 0.0;
    }
    larger(0.0, off / from_world.max(from_parent))
}

/// By how much a solved scale misses, in units of the wanted one.
pub(super) fn scale_misfit<P: Precision2>(reached: DVec2, wanted: DVec2) -> f64 {
    let component = |i: usize| {
        let off = (reached[i] - wanted[i]).abs();
        if off <= P::SMALLEST { 0.0 } else { off / wanted[i].abs() }
    };
    larger(component(0), component(1))
}

/// The unit vector along `v`; `None` if it has no direction. Divides by the largest element first: the
/// square of a tiny vector would underflow, of a large one overflow.
pub(super) fn unit(v: DVec2) -> Option<DVec2> {
    (v / v.abs().max_element()).try_normalize()
}

/// The angle at which an axis points whose image, `scale` times it, is to point along `forward`.
pub(super) fn aim(forward: DVec2, scale: f64) -> Result<f64, Misfit> {
    let along = unit(forward).filter(|_| scale != 0.0).ok_or(Misfit::Degenerate)?;
    Ok((along * scale.signum() + 0.0).to_angle())
}

/// Whether a target is on the eye as far as positions of this precision can tell: `size` is the sum of the
/// magnitudes that went into both, and reading one of them rounded each of its terms.
pub(super) fn coincide<P: Precision2>(eye: DVec2, target: DVec2, size: f64) -> bool {
    (target - eye).abs().max_element() <= P::POSITION_MISFIT * size
}

/// The error of a solution through a world pose, as how far it misses.
fn residual<T>(solved: Result<T, Misfit>) -> Result<T, f32> {
    solved.map_err(|misfit| match misfit {
        Misfit::Singular(residual) | Misfit::Shear(residual) => residual,
        Misfit::NonFinite | Misfit::Degenerate => f32::INFINITY,
    })
}

/// How much of the thinnest side of a product, `U_ii` of `R U`, one rounding of what it adds up would hide:
/// beyond [`MISFIT`] whether it has that side at all is noise. Zero columns count as hidden.
pub(super) fn hidden_below<P: Precision2>(parent: DMat2, child: DMat2) -> f64 {
    hidden_by::<P>(parent * child, parent.abs() * child.abs())
}

/// The same of a matrix, of which its columns are rounded.
fn hidden<P: Precision2>(linear: DMat2) -> f64 {
    hidden_by::<P>(linear, linear)
}

/// What is off in the first column turns the axes, and the second side by as much of what it has along the first.
fn hidden_by<P: Precision2>(linear: DMat2, size: DMat2) -> f64 {
    // In powers of two, so that no square over- or underflows.
    let unit = |i: usize| power_of_two_near_reciprocal(size.col(i).abs().max_element());
    let [linear, size] = [linear, size].map(|m| DMat2::from_cols(m.x_axis * unit(0), m.y_axis * unit(1)));
    let Factors { scale, shear, .. } = decompose_linear(linear, DVec2::ONE);
    let (sides, shear) = (scale.abs(), shear.abs());
    let rounding = |i: usize| 0.5 * P::EPSILON * size.col(i).length();
    let noise = |off: f64, side: f64| if side == 0.0 { f64::INFINITY } else { off / side };
    let x = noise(rounding(0), sides.x);
    larger(x, noise(rounding(1) + shear * x, sides.y))
}

/// Refuses a matrix whose image is a line or a point, as far as its rounding can tell.
fn refuse_flat<P: Precision2>(linear: DMat2) -> Result<(), f32> {
    let hidden = hidden::<P>(linear);
    if fits(hidden) { Ok(()) } else { Err(hidden as f32) }
}

/// As 4x4, in which Z stays as it is.
fn in_space(m: &DAffine2) -> DMat4 {
    let column = |v: DVec2| DVec4::new(v.x, v.y, 0.0, 0.0);
    DMat4::from_cols(column(m.matrix2.x_axis), column(m.matrix2.y_axis), DVec4::Z, column(m.translation) + DVec4::W)
}

/// The linear part as 3x3, of the same determinant.
pub(super) fn with_depth(m: DMat2) -> DMat3 {
    DMat3::from_cols(m.x_axis.extend(0.0), m.y_axis.extend(0.0), DVec3::Z)
}

macro_rules! space2 {
    (
        $f:ident: $Matrices:ident, $Components:ident, $Space:ident, $Vector:ident, $Affine:ident,
        $Transform:ident, $Decomposed:ident, $Mat4:ident, $as_mat4:ident
    ) => {
        #[doc = concat!("Two dimensions of ", stringify!($f), ".")]
        #[doc(hidden)]
        #[derive(Clone, Copy, Debug)]
        #[allow(unnameable_types, reason = "an associated type of a sealed trait")]
        pub struct $Space;

        impl Shared for $Space {
            type Vector = $Vector;
            type Rotation = $f;
            type Affine = $Affine;
            type Transform = $Transform;
            type Decomposed = $Decomposed;
            type Up = ();
            type Wide = DAffine2;
            /// The 4x4 that every graphics interface takes as it is, where a 3x3 would need padding; Z passes
            /// through, so that layers stay in order.
            type Skin = $Mat4;

            const FORWARD: i8 = 1;

            fn check_vector(v: $Vector) -> Result<$Vector, NonFinite> {
                if v.is_finite() { Ok(v) } else { Err(NonFinite) }
            }

            fn check_up((): ()) -> Result<(), NonFinite> {
                Ok(())
            }

            fn admit_rotation<E: From<NonFinite> + From<NotRotation>>(r: $f) -> Result<$f, E> {
                if r.is_finite() { Ok(r) } else { Err(NonFinite.into()) }
            }

            fn position(t: &$Transform) -> $Vector {
                t.position
            }

            fn rotation(t: &$Transform) -> $f {
                t.rotation
            }

            fn scale(t: &$Transform) -> $Vector {
                t.scale
            }

            fn parts(d: &$Decomposed) -> $Transform {
                d.transform
            }

            fn is_mirrored(world: &DAffine2) -> bool {
                refuse_flat::<$f>(world.matrix2).is_ok() && decompose_linear(world.matrix2, DVec2::ONE).scale.x < 0.0
            }

            fn axis(world: &DAffine2, axis: i8) -> Option<$Vector> {
                let column = world.matrix2.col(usize::from(axis.unsigned_abs()) - 1);
                unit(column * f64::from(axis.signum())).map(Widen::narrow)
            }

            fn inverse(world: &DAffine2) -> Result<$Affine, f32> {
                residual(solve_affine::<$f>(false, world, &DAffine2::IDENTITY)).map(|(_, rounded)| rounded)
            }

            fn map_point(world: &DAffine2, point: $Vector) -> $Vector {
                Widen::narrow(world.transform_point2(point.widen()))
            }

            fn map_vector(world: &DAffine2, vector: $Vector) -> $Vector {
                Widen::narrow(world.transform_vector2(vector.widen()))
            }

            fn map_direction(world: &DAffine2, vector: $Vector) -> Option<$Vector> {
                unit(world.transform_vector2(vector.widen())).map(Widen::narrow)
            }

            /// Along `M⁻ᵀ n`, whose sign a mirroring `M` keeps right by itself.
            fn map_normal(world: &DAffine2, normal: $Vector) -> Result<Option<$Vector>, f32> {
                refuse_flat::<$f>(world.matrix2)?;
                Ok(unit(solve(world.matrix2.transpose(), normal.widen())).map(Widen::narrow))
            }

            fn unmap_point(world: &DAffine2, point: $Vector) -> Result<$Vector, f32> {
                residual(solve_point::<$f>(false, world, point.widen()))
            }

            fn unmap_vector(world: &DAffine2, vector: $Vector) -> Result<$Vector, f32> {
                residual(solve_point::<$f>(false, &DAffine2::from_mat2(world.matrix2), vector.widen()))
            }

            fn unmap_direction(world: &DAffine2, vector: $Vector) -> Result<Option<$Vector>, f32> {
                let Some(wanted) = unit(vector.widen()) else { return Ok(None) };
                let solved = $Vector::narrow(unit(solve(world.matrix2, wanted)).unwrap_or(DVec2::ZERO));
                let reached = unit(world.matrix2 * solved.widen()).unwrap_or(DVec2::ZERO);
                let misfit = (reached - wanted).abs().max_element();
                if fits(misfit) { Ok(Some(solved)) } else { Err(misfit as f32) }
            }

            /// Along `Mᵀ n`.
            fn unmap_normal(world: &DAffine2, normal: $Vector) -> Result<Option<$Vector>, f32> {
                refuse_flat::<$f>(world.matrix2)?;
                Ok(unit(world.matrix2.transpose() * normal.widen()).map(Widen::narrow))
            }

            /// Each axis takes the smaller and the larger of the two products of each element, as in space.
            fn map_box(world: &DAffine2, a: $Vector, b: $Vector) -> ($Vector, $Vector) {
                let (mut low, mut high) = (world.translation, world.translation);
                for i in 0..2 {
                    let column = world.matrix2.col(i);
                    let (p, q) = (column * a[i].widen(), column * b[i].widen());
                    low += p.min(q);
                    high += p.max(q);
                }
                (Widen::narrow(low), Widen::narrow(high))
            }

            fn joint_matrix(world: &DAffine2, inverse_bind: &$Affine) -> $Mat4 {
                in_space(&(*world * inverse_bind.widen())).$as_mat4()
            }
        }
    };
}
for_each_precision!(space2);
