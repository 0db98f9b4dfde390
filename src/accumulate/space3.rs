//! What both ways of accumulating share in three dimensions, of either precision: solving in float64, and mapping
//! through a world pose.

use super::geometry::Shared;
use super::{MISFIT, Misfit, fits, larger};
use crate::transform::decompose::{self, decompose_linear};
use crate::transform::precision::{Precision, Widen, near_one, power_of_two_near_reciprocal};
use crate::transform::rank::determinant;
use crate::{NonFinite, NotRotation};
use core::marker::PhantomData;
use glam::{DAffine3, DMat3, DQuat, DVec3};

const _: () = assert!(MISFIT > f32::POSITION_MISFIT, "rounding must not look like a misfit");

/// Whether a scale is one factor on all axes, but for rounding; signs aside.
pub(super) fn is_uniform<P: Precision>(scale: P::Vector) -> bool {
    let size = scale.widen().abs();
    size.max_element() - size.min_element() <= P::TRS_TOLERANCE * size.max_element()
}

/// A quaternion in float64, unit to that precision.
pub(super) fn wide_rotation(rotation: impl Widen<Wide = DQuat>) -> DQuat {
    rotation.widen().normalize()
}

/// `parent⁻¹ * wanted`, in float64 and rounded, or how far that misses.
pub(super) fn solve_affine<P: Precision>(
    flat: bool,
    parent: &DAffine3,
    wanted: &DAffine3,
) -> Result<(DAffine3, P::Affine), Misfit> {
    if flat {
        return Err(Misfit::Singular(f32::INFINITY));
    }
    let exact = divide(parent, wanted);
    let rounded = P::Affine::narrow(exact);
    let misfit = misfit::<P>(parent, &rounded.widen(), wanted);
    if fits(misfit) && rounded.widen().is_finite() {
        Ok((exact, rounded))
    } else {
        Err(Misfit::Singular(misfit as f32))
    }
}

/// The point `x` for which `parent * x = wanted`, in float64 and rounded, or how far that misses.
pub(super) fn solve_point<P: Precision>(flat: bool, parent: &DAffine3, wanted: DVec3) -> Result<P::Vector, Misfit> {
    if flat {
        return Err(Misfit::Singular(f32::INFINITY));
    }
    let target = DAffine3 { matrix3: DMat3::ZERO, translation: wanted };
    placed::<P>(parent, divide(parent, &target).translation, wanted)
}

/// The point that is off `from` by `by` once the parent maps both. Far from its origin more exact than
/// to solve for the sum, and exact for no offset.
pub(super) fn solve_offset<P: Precision>(
    flat: bool,
    parent: &DAffine3,
    from: P::Vector,
    by: DVec3,
) -> Result<P::Vector, Misfit> {
    if flat {
        return Err(Misfit::Singular(f32::INFINITY));
    }
    let linear = DAffine3 { matrix3: parent.matrix3, translation: DVec3::ZERO };
    let offset = divide(&linear, &DAffine3 { matrix3: DMat3::ZERO, translation: by }).translation;
    let from = from.widen();
    placed::<P>(parent, from + offset, parent.transform_point3(from) + by)
}

/// A solved point, rounded, if the parent maps it to the wanted one.
fn placed<P: Precision>(parent: &DAffine3, point: DVec3, wanted: DVec3) -> Result<P::Vector, Misfit> {
    let point = P::Vector::narrow(point);
    let misfit = position_misfit::<P>(parent.transform_point3(point.widen()), wanted, parent.translation);
    if fits(misfit) && point.widen().is_finite() { Ok(point) } else { Err(Misfit::Singular(misfit as f32)) }
}

/// `parent⁻¹ * wanted`.
fn divide(parent: &DAffine3, wanted: &DAffine3) -> DAffine3 {
    let factors = Factors::of(parent.matrix3);
    let DMat3 { x_axis, y_axis, z_axis } = wanted.matrix3;
    DAffine3 {
        matrix3: DMat3::from_cols(factors.solve(x_axis), factors.solve(y_axis), factors.solve(z_axis)),
        translation: factors.solve(wanted.translation - parent.translation),
    }
}

/// A matrix with its rows in another order, as a lower times an upper triangular one, for solving.
///
/// Gauss's elimination with pivots, and not the inverse by cofactors, whose determinant is noise where
/// a matrix is some 10⁸ times longer than thick: what this misses stays at rounding of `|m||x|`. Which of
/// the vectors that solve it to within float64 is found is open where a side is thinner than about 2⁻⁴⁰ of
/// its column.
pub(super) struct Factors {
    m: DMat3,
    /// The upper one, and below its diagonal the lower one without its own, which is all ones.
    rows: [[f64; 3]; 3],
    order: [usize; 3],
}

impl Factors {
    pub(super) fn of(m: DMat3) -> Self {
        let (mut rows, mut order) = (m.transpose().to_cols_array_2d(), [0, 1, 2]);
        for at in 0..2 {
            for below in at + 1..3 {
                if rows[below][at].abs() > rows[at][at].abs() {
                    rows.swap(at, below);
                    order.swap(at, below);
                }
            }
            let [x, y, z] = rows[at];
            for row in &mut rows[at + 1..] {
                // A column that is zero from here on is dealt with: its pivot makes the solution infinite.
                let factor = if row[at] == 0.0 { 0.0 } else { row[at] / [x, y, z][at] };
                row[at] = factor;
                if at == 0 {
                    row[1] -= factor * y;
                }
                row[2] -= factor * z;
            }
        }
        Self { m, rows, order }
    }

    /// The `x` for which `m x = v`; not finite where `m` is singular. What the first answer misses is
    /// solved for and added, which leaves the error at rounding row by row, also where rows differ much
    /// in size.
    pub(super) fn solve(&self, v: DVec3) -> DVec3 {
        let x = self.substitute(v);
        x + self.substitute(v - self.m * x)
    }

    fn substitute(&self, v: DVec3) -> DVec3 {
        let [[a, b, c], [d, e, f], [g, h, i]] = self.rows;
        let [x, y, z] = self.order.map(|row| v[row]);
        let y = y - d * x;
        let z = (z - g * x - h * y) / i;
        let y = (y - f * z) / e;
        DVec3::new((x - b * y - c * z) / a, y, z)
    }
}

/// How far `parent * x` misses `wanted`: the worst column, in units of its largest element.
pub(super) fn misfit<P: Precision>(parent: &DAffine3, x: &DAffine3, wanted: &DAffine3) -> f64 {
    let reached = *parent * *x;
    let column = |i: usize| {
        let off = (reached.matrix3.col(i) - wanted.matrix3.col(i)).abs().max_element();
        if off <= P::SMALLEST { 0.0 } else { off / wanted.matrix3.col(i).abs().max_element() }
    };
    let linear = larger(larger(column(0), column(1)), column(2));
    larger(linear, position_misfit::<P>(reached.translation, wanted.translation, parent.translation))
}

/// By how much a solved position misses, beyond what rounding alone explains: in units of its distance
/// from the world's origin or from the parent's, whichever is larger, because a position near the former
/// is a difference of large numbers that nothing relates to its own size.
pub(super) fn position_misfit<P: Precision>(reached: DVec3, wanted: DVec3, origin: DVec3) -> f64 {
    let [off, from_world, from_parent, origin] =
        [reached - wanted, wanted, wanted - origin, origin].map(|v| v.abs().max_element());
    if off <= P::SMALLEST.max(P::POSITION_MISFIT * from_world + P::POSITION_MISFIT * origin) {
        return 0.0;
    }
    larger(0.0, off / from_world.max(from_parent))
}

/// By how much a solved scale misses, in units of the wanted one.
pub(super) fn scale_misfit<P: Precision>(reached: DVec3, wanted: DVec3) -> f64 {
    let component = |i: usize| {
        let off = (reached[i] - wanted[i]).abs();
        if off <= P::SMALLEST { 0.0 } else { off / wanted[i].abs() }
    };
    larger(larger(component(0), component(1)), component(2))
}

/// The unit vector along `v`; `None` if it has no direction. Divides by the largest element first: the
/// square of a tiny vector would underflow, of a large one overflow.
pub(super) fn unit(v: DVec3) -> Option<DVec3> {
    (v / v.abs().max_element()).try_normalize()
}

/// Right-handed axes: the first along `forward`, the second as near to `up` as can be. `None` if
/// either has no direction, or they have the same.
pub(super) fn frame<P: Precision>(forward: DVec3, up: DVec3) -> Option<DMat3> {
    let (forward, up) = (unit(forward)?, unit(up)?);
    let across = up - forward * forward.dot(up);
    if across.length() <= P::PARALLEL {
        return None;
    }
    let across = across.normalize();
    Some(DMat3::from_cols(forward, across, forward.cross(across)))
}

/// The rotation that turns `from_forward` to `forward` and, about it, `from_up` towards `up`.
/// `from_up` gives way to another axis where it is along `from_forward`.
pub(super) fn aim<P: Precision>(
    from_forward: DVec3,
    from_up: DVec3,
    forward: DVec3,
    up: DVec3,
) -> Result<DMat3, Misfit> {
    let own = [from_up, DVec3::Y, DVec3::Z].into_iter().find_map(|up| frame::<P>(from_forward, up));
    match (frame::<P>(forward, up), own) {
        (Some(wanted), Some(own)) => Ok(wanted * own.transpose()),
        _ => Err(Misfit::Degenerate),
    }
}

/// Whether a target is on the eye as far as rounded positions can tell: `size` is the sum of the
/// magnitudes that went into both, and reading one of them rounded each of its terms.
pub(super) fn coincide<P: Precision>(eye: DVec3, target: DVec3, size: f64) -> bool {
    (target - eye).abs().max_element() <= P::POSITION_MISFIT * size
}

/// The error of a solution through a world pose, as how far it misses.
fn residual<T>(solved: Result<T, Misfit>) -> Result<T, f32> {
    solved.map_err(|misfit| match misfit {
        Misfit::Singular(residual) | Misfit::Shear(residual) => residual,
        Misfit::NonFinite | Misfit::Degenerate => f32::INFINITY,
    })
}

/// Each column times a power of two that brings its largest element near one: no digit changes, and no square over-
/// or underflows.
fn columns_near_one(linear: DMat3) -> DMat3 {
    let DMat3 { x_axis, y_axis, z_axis } = linear;
    DMat3::from_cols(near_one(x_axis), near_one(y_axis), near_one(z_axis))
}

/// How much of the thinnest side of a product, `U_ii` of `R U`, one rounding of what it adds up would hide:
/// beyond [`MISFIT`] whether it has that side at all is noise. Zero columns count as hidden.
pub(super) fn hidden_below<P: Precision>(parent: DMat3, child: DMat3) -> f64 {
    let (linear, size) = (parent * child, parent.abs() * child.abs());
    let unit = |i: usize| power_of_two_near_reciprocal(size.col(i).abs().max_element());
    let scaled = |m: DMat3| DMat3::from_cols(m.x_axis * unit(0), m.y_axis * unit(1), m.z_axis * unit(2));
    hidden_by::<P>(scaled(linear), scaled(size))
}

/// The same of a matrix, of which its columns are rounded.
pub(super) fn hidden<P: Precision>(linear: DMat3) -> f64 {
    let linear = columns_near_one(linear);
    hidden_by::<P>(linear, linear)
}

/// What is off in a column turns its axis, and the sides of later columns by as much of what they have along that.
fn hidden_by<P: Precision>(linear: DMat3, size: DMat3) -> f64 {
    let decompose::Factors { scale, shear, .. } = decompose_linear(linear, DVec3::ONE);
    let (sides, shear) = (scale.abs(), shear.abs());
    let rounding = |i: usize| 0.5 * P::EPSILON * size.col(i).length();
    let noise = |off: f64, side: f64| if side == 0.0 { f64::INFINITY } else { off / side };
    let x = noise(rounding(0), sides.x);
    let y = noise(rounding(1) + shear.x * x, sides.y);
    let z = noise(rounding(2) + shear.y * x + shear.z * y, sides.z);
    larger(larger(x, y), z)
}

/// Refuses a matrix whose image is a plane, a line or a point, as far as its rounding can tell.
fn refuse_flat<P: Precision>(linear: DMat3) -> Result<(), f32> {
    let hidden = hidden::<P>(linear);
    if fits(hidden) { Ok(()) } else { Err(hidden as f32) }
}

fn rounded<P: Precision>(direction: Option<DVec3>) -> Option<P::Vector> {
    direction.map(P::Vector::narrow)
}

/// Three dimensions of one precision.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
#[allow(unnameable_types, reason = "an associated type of a sealed trait")]
pub struct Space3<P>(PhantomData<P>);

impl<P: Precision> Shared for Space3<P> {
    type Vector = P::Vector;
    type Rotation = P::Rotation;
    type Affine = P::Affine;
    type Transform = P::Transform;
    type Decomposed = P::Decomposed;
    type Up = P::Vector;
    type Wide = DAffine3;
    type Skin = P::Mat4;

    const FORWARD: i8 = -3;

    fn check_vector(v: P::Vector) -> Result<P::Vector, NonFinite> {
        if P::is_finite(v) { Ok(v) } else { Err(NonFinite) }
    }

    fn check_up(up: P::Vector) -> Result<P::Vector, NonFinite> {
        Self::check_vector(up)
    }

    fn admit_rotation<E: From<NonFinite> + From<NotRotation>>(r: P::Rotation) -> Result<P::Rotation, E> {
        P::admit_rotation(r)
    }

    fn position(t: &P::Transform) -> P::Vector {
        P::parts(t).0
    }

    fn rotation(t: &P::Transform) -> P::Rotation {
        P::parts(t).1
    }

    fn scale(t: &P::Transform) -> P::Vector {
        P::parts(t).2
    }

    fn parts(d: &P::Decomposed) -> P::Transform {
        P::transform_of(d)
    }

    fn is_mirrored(world: &DAffine3) -> bool {
        // In float64 two thin sides make a determinant far below its rounding: this one is exact.
        refuse_flat::<P>(world.matrix3).is_ok() && determinant(world.matrix3) < 0.0
    }

    fn axis(world: &DAffine3, axis: i8) -> Option<P::Vector> {
        let column = world.matrix3.col(usize::from(axis.unsigned_abs()) - 1);
        rounded::<P>(unit(column * f64::from(axis.signum())))
    }

    fn inverse(world: &DAffine3) -> Result<P::Affine, f32> {
        residual(solve_affine::<P>(false, world, &DAffine3::IDENTITY)).map(|(_, rounded)| rounded)
    }

    fn map_point(world: &DAffine3, point: P::Vector) -> P::Vector {
        P::Vector::narrow(world.transform_point3(point.widen()))
    }

    fn map_vector(world: &DAffine3, vector: P::Vector) -> P::Vector {
        P::Vector::narrow(world.transform_vector3(vector.widen()))
    }

    fn map_direction(world: &DAffine3, vector: P::Vector) -> Option<P::Vector> {
        rounded::<P>(unit(world.transform_vector3(vector.widen())))
    }

    /// Along `M⁻ᵀ n`, whose sign a mirroring `M` keeps right by itself.
    fn map_normal(world: &DAffine3, normal: P::Vector) -> Result<Option<P::Vector>, f32> {
        refuse_flat::<P>(world.matrix3)?;
        Ok(rounded::<P>(unit(Factors::of(world.matrix3.transpose()).solve(normal.widen()))))
    }

    fn unmap_point(world: &DAffine3, point: P::Vector) -> Result<P::Vector, f32> {
        residual(solve_point::<P>(false, world, point.widen()))
    }

    fn unmap_vector(world: &DAffine3, vector: P::Vector) -> Result<P::Vector, f32> {
        let linear = DAffine3 { matrix3: world.matrix3, translation: DVec3::ZERO };
        residual(solve_point::<P>(false, &linear, vector.widen()))
    }

    fn unmap_direction(world: &DAffine3, vector: P::Vector) -> Result<Option<P::Vector>, f32> {
        let Some(wanted) = unit(vector.widen()) else { return Ok(None) };
        let solved =
            rounded::<P>(unit(Factors::of(world.matrix3).solve(wanted))).unwrap_or(P::Vector::narrow(DVec3::ZERO));
        let reached = unit(world.matrix3 * solved.widen()).unwrap_or(DVec3::ZERO);
        let misfit = (reached - wanted).abs().max_element();
        if fits(misfit) { Ok(Some(solved)) } else { Err(misfit as f32) }
    }

    /// Along `Mᵀ n`.
    fn unmap_normal(world: &DAffine3, normal: P::Vector) -> Result<Option<P::Vector>, f32> {
        refuse_flat::<P>(world.matrix3)?;
        Ok(rounded::<P>(unit(world.matrix3.transpose() * normal.widen())))
    }

    /// Each axis takes the smaller and the larger of the two products of each element (J. Arvo,
    /// "Transforming axis-aligned bounding boxes", Graphics Gems, 1990).
    fn map_box(world: &DAffine3, a: P::Vector, b: P::Vector) -> (P::Vector, P::Vector) {
        let (mut low, mut high) = (world.translation, world.translation);
        let (a, b) = (a.widen(), b.widen());
        for i in 0..3 {
            let (p, q) = (world.matrix3.col(i) * a[i], world.matrix3.col(i) * b[i]);
            low += p.min(q);
            high += p.max(q);
        }
        (P::Vector::narrow(low), P::Vector::narrow(high))
    }

    fn joint_matrix(world: &DAffine3, inverse_bind: &P::Affine) -> P::Mat4 {
        P::to_mat4(P::Affine::narrow(*world * inverse_bind.widen()))
    }
}
