//! What both ways of accumulating share in three dimensions of float32: numbers at the door, solving
//! in float64, and mapping through a world pose.

use super::geometry::Shared;
use super::{MISFIT, Misfit, fits, larger};
use crate::transform::decompose::{TRS_TOLERANCE, decompose_linear};
use crate::{Decomposed, NonFinite, NotRotation, Transform};
use glam::{Affine3A, DAffine3, DMat3, DQuat, DVec3, Mat4, Quat, Vec3};

/// A quaternion whose length is off by more than this is no rotation.
const ROTATION_TOLERANCE: f32 = 0.01;

/// What is stored as given: rounding a unit quaternion leaves `|len² - 1| ≤ 2 u` from the components,
/// u = ε/2, and glam's own normalisation adds about as much in the root and the division. Storing what
/// is within 4 ε as it is keeps the bits of a value that was read here and is set back.
const UNIT_TOLERANCE: f32 = 4.0 * f32::EPSILON;

/// How far a solved position may be off, beyond [`MISFIT`] of its size, in units of the distances of
/// the parent's origin and of the wanted position: subtracting two float32 positions and turning the
/// difference leaves at most `√3 u` of each, u = ε/2, and adding it back the same; 4 ε = 8 u.
const POSITION_MISFIT: f64 = 4.0 * f32::EPSILON as f64;

/// Below the normal numbers of float32 rounding is not relative to a number's size, and misses nothing
/// that float32 could hold.
const SMALLEST: f64 = f32::MIN_POSITIVE as f64;

/// Two directions whose sine is below this are parallel as far as float32 can tell.
const PARALLEL: f64 = 8.0 * f32::EPSILON as f64;

const _: () = assert!(MISFIT > POSITION_MISFIT, "rounding must not look like a misfit");

pub(super) fn admit_rotation<E: From<NonFinite> + From<NotRotation>>(rotation: Quat) -> Result<Quat, E> {
    if !rotation.is_finite() {
        return Err(NonFinite.into());
    }
    let length_squared = rotation.length_squared();
    if (length_squared - 1.0).abs() <= UNIT_TOLERANCE {
        return Ok(rotation);
    }
    let length = rotation.length();
    if (length - 1.0).abs() <= ROTATION_TOLERANCE {
        Ok(rotation.normalize())
    } else {
        Err(NotRotation { length }.into())
    }
}

#[inline]
pub(super) fn admit_transform<E: From<NonFinite> + From<NotRotation>>(transform: &mut Transform) -> Result<(), E> {
    if !transform.position.is_finite() || !transform.scale.is_finite() {
        return Err(NonFinite.into());
    }
    let rotation = admit_rotation::<E>(transform.rotation)?;
    if overflows(transform.scale, rotation) {
        return Err(NonFinite.into());
    }
    transform.rotation = rotation;
    Ok(())
}

pub(super) fn check_scalar(t: f32) -> Result<f32, NonFinite> {
    if t.is_finite() { Ok(t) } else { Err(NonFinite) }
}

/// Whether the transform and its matrix are finite.
pub(super) fn is_finite(transform: &Transform) -> bool {
    transform.is_finite() && !overflows(transform.scale, transform.rotation)
}

/// A scale at the end of the range times a rotation that is a last bit too long overflows.
fn overflows(scale: Vec3, rotation: Quat) -> bool {
    scale.abs().max_element() > f32::MAX / 2.0
        && !Transform::from_rotation(rotation).with_scale(scale).to_affine().is_finite()
}

/// Whether a scale is one factor on all axes, but for rounding; signs aside.
pub(super) fn is_uniform(scale: Vec3) -> bool {
    let size = scale.abs();
    size.max_element() - size.min_element() <= TRS_TOLERANCE * size.max_element()
}

/// A quaternion in float64, unit to that precision.
pub(super) fn wide_rotation(rotation: Quat) -> DQuat {
    rotation.as_dquat().normalize()
}

/// q and -q turn alike: the one nearer to what a node holds, so that nothing spins between the two.
pub(super) fn nearer(rotation: Quat, held: Quat) -> Quat {
    if rotation.dot(held) < 0.0 { -rotation } else { rotation }
}

pub(super) fn wide_affine(m: &Affine3A) -> DAffine3 {
    let [x, y, z, t] = [m.matrix3.x_axis, m.matrix3.y_axis, m.matrix3.z_axis, m.translation].map(|c| c.as_dvec3());
    DAffine3 { matrix3: DMat3::from_cols(x, y, z), translation: t }
}

/// `parent⁻¹ * wanted`, in float64 and rounded, or how far that misses.
pub(super) fn solve_affine(flat: bool, parent: &DAffine3, wanted: &DAffine3) -> Result<(DAffine3, Affine3A), Misfit> {
    if flat {
        return Err(Misfit::Singular(f32::INFINITY));
    }
    let exact = divide(parent, wanted);
    let rounded = exact.as_affine3a();
    let misfit = misfit(parent, &wide_affine(&rounded), wanted);
    if fits(misfit) && rounded.is_finite() { Ok((exact, rounded)) } else { Err(Misfit::Singular(misfit as f32)) }
}

/// The point `x` for which `parent * x = wanted`, in float64 and rounded, or how far that misses.
pub(super) fn solve_point(flat: bool, parent: &DAffine3, wanted: DVec3) -> Result<Vec3, Misfit> {
    if flat {
        return Err(Misfit::Singular(f32::INFINITY));
    }
    let target = DAffine3 { matrix3: DMat3::ZERO, translation: wanted };
    placed(parent, divide(parent, &target).translation.as_vec3(), wanted)
}

/// The point that is off `from` by `by` once the parent maps both. Far from its origin more exact than
/// to solve for the sum, and exact for no offset.
pub(super) fn solve_offset(flat: bool, parent: &DAffine3, from: Vec3, by: DVec3) -> Result<Vec3, Misfit> {
    if flat {
        return Err(Misfit::Singular(f32::INFINITY));
    }
    let linear = DAffine3 { matrix3: parent.matrix3, translation: DVec3::ZERO };
    let offset = divide(&linear, &DAffine3 { matrix3: DMat3::ZERO, translation: by }).translation;
    let from = from.as_dvec3();
    placed(parent, (from + offset).as_vec3(), parent.transform_point3(from) + by)
}

/// A solved point, if the parent maps it to the wanted one.
fn placed(parent: &DAffine3, point: Vec3, wanted: DVec3) -> Result<Vec3, Misfit> {
    let misfit = position_misfit(parent.transform_point3(point.as_dvec3()), wanted, parent.translation);
    if fits(misfit) && point.is_finite() { Ok(point) } else { Err(Misfit::Singular(misfit as f32)) }
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
pub(super) fn misfit(parent: &DAffine3, x: &DAffine3, wanted: &DAffine3) -> f64 {
    let reached = *parent * *x;
    let column = |i: usize| {
        let off = (reached.matrix3.col(i) - wanted.matrix3.col(i)).abs().max_element();
        if off <= SMALLEST { 0.0 } else { off / wanted.matrix3.col(i).abs().max_element() }
    };
    let linear = larger(larger(column(0), column(1)), column(2));
    larger(linear, position_misfit(reached.translation, wanted.translation, parent.translation))
}

/// By how much a solved position misses, beyond what rounding alone explains: in units of its distance
/// from the world's origin or from the parent's, whichever is larger, because a position near the former
/// is a difference of large numbers that nothing relates to its own size.
pub(super) fn position_misfit(reached: DVec3, wanted: DVec3, origin: DVec3) -> f64 {
    let [off, from_world, from_parent, origin] =
        [reached - wanted, wanted, wanted - origin, origin].map(|v| v.abs().max_element());
    if off <= SMALLEST.max(POSITION_MISFIT * (from_world + origin)) {
        return 0.0;
    }
    larger(0.0, off / from_world.max(from_parent))
}

/// By how much a solved scale misses, in units of the wanted one.
pub(super) fn scale_misfit(reached: DVec3, wanted: DVec3) -> f64 {
    let component = |i: usize| {
        let off = (reached[i] - wanted[i]).abs();
        if off <= SMALLEST { 0.0 } else { off / wanted[i].abs() }
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
pub(super) fn frame(forward: DVec3, up: DVec3) -> Option<DMat3> {
    let (forward, up) = (unit(forward)?, unit(up)?);
    let across = up - forward * forward.dot(up);
    if across.length() <= PARALLEL {
        return None;
    }
    let across = across.normalize();
    Some(DMat3::from_cols(forward, across, forward.cross(across)))
}

/// The rotation that turns `from_forward` to `forward` and, about it, `from_up` towards `up`.
/// `from_up` gives way to another axis where it is along `from_forward`.
pub(super) fn aim(from_forward: DVec3, from_up: DVec3, forward: DVec3, up: DVec3) -> Result<DMat3, Misfit> {
    let own = [from_up, DVec3::Y, DVec3::Z].into_iter().find_map(|up| frame(from_forward, up));
    match (frame(forward, up), own) {
        (Some(wanted), Some(own)) => Ok(wanted * own.transpose()),
        _ => Err(Misfit::Degenerate),
    }
}

/// Whether a target is on the eye as far as float32 positions can tell: `size` is the sum of the
/// magnitudes that went into both, and reading one of them rounded each of its terms.
pub(super) fn coincide(eye: DVec3, target: DVec3, size: f64) -> bool {
    (target - eye).abs().max_element() <= POSITION_MISFIT * size
}

/// The error of a solution through a world pose, as how far it misses.
fn residual<T>(solved: Result<T, Misfit>) -> Result<T, f32> {
    solved.map_err(|misfit| match misfit {
        Misfit::Singular(residual) | Misfit::Shear(residual) => residual,
        Misfit::NonFinite | Misfit::Degenerate => f32::INFINITY,
    })
}

/// How much of a linear part's thinnest side, `U_ii` of `R U`, one rounding of its columns would hide:
/// beyond [`MISFIT`] whether it has that side at all is noise. Zero columns count as hidden.
pub(super) fn hidden(linear: DMat3) -> f64 {
    let sides = decompose_linear(linear, DVec3::ONE).scale.abs();
    let noise = |i: usize| {
        let rounding = 0.5 * f64::from(f32::EPSILON) * linear.col(i).length();
        if sides[i] == 0.0 { f64::INFINITY } else { rounding / sides[i] }
    };
    larger(larger(noise(0), noise(1)), noise(2))
}

/// Refuses a matrix whose image is a plane, a line or a point, as far as its rounding can tell.
fn refuse_flat(linear: DMat3) -> Result<(), f32> {
    let hidden = hidden(linear);
    if fits(hidden) { Ok(()) } else { Err(hidden as f32) }
}

fn rounded(direction: Option<DVec3>) -> Option<Vec3> {
    direction.map(|direction| direction.as_vec3())
}

/// Three dimensions of float32.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
#[allow(unnameable_types, reason = "an associated type of a sealed trait")]
pub struct Space3;

impl Shared for Space3 {
    type Vector = Vec3;
    type Rotation = Quat;
    type Affine = Affine3A;
    type Transform = Transform;
    type Decomposed = Decomposed;
    type Up = Vec3;
    type Wide = DAffine3;
    type Skin = Mat4;

    const FORWARD: i8 = -3;

    fn check_vector(v: Vec3) -> Result<Vec3, NonFinite> {
        if v.is_finite() { Ok(v) } else { Err(NonFinite) }
    }

    fn check_up(up: Vec3) -> Result<Vec3, NonFinite> {
        Self::check_vector(up)
    }

    fn admit_rotation<E: From<NonFinite> + From<NotRotation>>(r: Quat) -> Result<Quat, E> {
        admit_rotation(r)
    }

    fn position(t: &Transform) -> Vec3 {
        t.position
    }

    fn rotation(t: &Transform) -> Quat {
        t.rotation
    }

    fn scale(t: &Transform) -> Vec3 {
        t.scale
    }

    fn parts(d: &Decomposed) -> Transform {
        d.transform
    }

    fn is_mirrored(world: &DAffine3) -> bool {
        refuse_flat(world.matrix3).is_ok() && world.matrix3.determinant() < 0.0
    }

    fn axis(world: &DAffine3, axis: i8) -> Option<Vec3> {
        let column = world.matrix3.col(usize::from(axis.unsigned_abs()) - 1);
        rounded(unit(column * f64::from(axis.signum())))
    }

    fn inverse(world: &DAffine3) -> Result<Affine3A, f32> {
        residual(solve_affine(false, world, &DAffine3::IDENTITY)).map(|(_, rounded)| rounded)
    }

    fn map_point(world: &DAffine3, point: Vec3) -> Vec3 {
        world.transform_point3(point.as_dvec3()).as_vec3()
    }

    fn map_vector(world: &DAffine3, vector: Vec3) -> Vec3 {
        world.transform_vector3(vector.as_dvec3()).as_vec3()
    }

    fn map_direction(world: &DAffine3, vector: Vec3) -> Option<Vec3> {
        rounded(unit(world.transform_vector3(vector.as_dvec3())))
    }

    /// Along `M⁻ᵀ n`, whose sign a mirroring `M` keeps right by itself.
    fn map_normal(world: &DAffine3, normal: Vec3) -> Result<Option<Vec3>, f32> {
        refuse_flat(world.matrix3)?;
        Ok(rounded(unit(Factors::of(world.matrix3.transpose()).solve(normal.as_dvec3()))))
    }

    fn unmap_point(world: &DAffine3, point: Vec3) -> Result<Vec3, f32> {
        residual(solve_point(false, world, point.as_dvec3()))
    }

    fn unmap_vector(world: &DAffine3, vector: Vec3) -> Result<Vec3, f32> {
        let linear = DAffine3 { matrix3: world.matrix3, translation: DVec3::ZERO };
        residual(solve_point(false, &linear, vector.as_dvec3()))
    }

    fn unmap_direction(world: &DAffine3, vector: Vec3) -> Result<Option<Vec3>, f32> {
        let Some(wanted) = unit(vector.as_dvec3()) else { return Ok(None) };
        let solved = rounded(unit(Factors::of(world.matrix3).solve(wanted))).unwrap_or(Vec3::ZERO);
        let reached = unit(world.matrix3 * solved.as_dvec3()).unwrap_or(DVec3::ZERO);
        let misfit = (reached - wanted).abs().max_element();
        if fits(misfit) { Ok(Some(solved)) } else { Err(misfit as f32) }
    }

    /// Along `Mᵀ n`.
    fn unmap_normal(world: &DAffine3, normal: Vec3) -> Result<Option<Vec3>, f32> {
        refuse_flat(world.matrix3)?;
        Ok(rounded(unit(world.matrix3.transpose() * normal.as_dvec3())))
    }

    /// Each axis takes the smaller and the larger of the two products of each element (J. Arvo,
    /// "Transforming axis-aligned bounding boxes", Graphics Gems, 1990).
    fn map_box(world: &DAffine3, a: Vec3, b: Vec3) -> (Vec3, Vec3) {
        let (mut low, mut high) = (world.translation, world.translation);
        for i in 0..3 {
            let (p, q) = (world.matrix3.col(i) * f64::from(a[i]), world.matrix3.col(i) * f64::from(b[i]));
            low += p.min(q);
            high += p.max(q);
        }
        (low.as_vec3(), high.as_vec3())
    }

    fn joint_matrix(world: &DAffine3, inverse_bind: &Affine3A) -> Mat4 {
        Mat4::from((*world * wide_affine(inverse_bind)).as_affine3a())
    }
}
