//! What both ways of accumulating share in three dimensions of float32.

use super::{MISFIT, fits, larger};
use crate::{NonFinite, NotRotation, Transform};
use glam::{Affine3A, DAffine3, DMat3, DVec3, Quat, Vec3};

/// A quaternion whose length is off by more than this is no rotation.
const ROTATION_TOLERANCE: f32 = 0.01;

/// What is stored as given: rounding a unit quaternion leaves `|len² - 1| ≤ 2 u` from the components,
/// u = ε/2, and glam's own normalisation adds about as much in the root and the division. Storing what
/// is within 4 ε as it is keeps the bits of a value that was read here and is set back.
const UNIT_TOLERANCE: f32 = 4.0 * f32::EPSILON;

pub(crate) fn admit_rotation<E: From<NonFinite> + From<NotRotation>>(rotation: Quat) -> Result<Quat, E> {
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

pub(crate) fn admit_transform<E: From<NonFinite> + From<NotRotation>>(transform: &Transform) -> Result<Transform, E> {
    if !transform.position.is_finite() || !transform.scale.is_finite() {
        return Err(NonFinite.into());
    }
    let transform = Transform { rotation: admit_rotation::<E>(transform.rotation)?, ..*transform };
    // A scale at the end of the range times a rotation that is a last bit too long overflows.
    if transform.scale.abs().max_element() > f32::MAX / 2.0 && !transform.to_affine().is_finite() {
        return Err(NonFinite.into());
    }
    Ok(transform)
}

pub(crate) fn check_vector(v: Vec3) -> Result<Vec3, NonFinite> {
    if v.is_finite() { Ok(v) } else { Err(NonFinite) }
}

/// The unit vector along a column, or against it where `axis` is negative.
pub(crate) fn unit_axis(column: Vec3, axis: i8) -> Option<Vec3> {
    let size = column.abs().max_element();
    // Dividing first: the square of a tiny column would underflow, of a large one overflow.
    let direction = (column / size).try_normalize()?;
    Some(direction * f32::from(axis.signum()))
}

/// The inverse of a world matrix in float32, or how far the best one misses: the worst column of
/// `world * inverse`, in units of the identity's.
pub(crate) fn inverse(world: &DAffine3) -> Result<Affine3A, f32> {
    let linear = world.matrix3.inverse();
    let exact = DAffine3 { matrix3: linear, translation: -(linear * world.translation) };
    let rounded = exact.as_affine3a();
    let wide = DMat3::from_cols(
        rounded.matrix3.x_axis.as_dvec3(),
        rounded.matrix3.y_axis.as_dvec3(),
        rounded.matrix3.z_axis.as_dvec3(),
    );
    let off = (world.matrix3 * wide - DMat3::IDENTITY).abs();
    let misfit = off.to_cols_array().into_iter().fold(0.0, larger);
    if fits(misfit) && rounded.is_finite() { Ok(rounded) } else { Err(misfit as f32) }
}

/// How far two scales are apart, in units of the wanted one.
pub(crate) fn scale_misfit(got: DVec3, wanted: DVec3) -> f64 {
    let off = |i: usize| {
        let off = (got[i] - wanted[i]).abs();
        if off == 0.0 { 0.0 } else { off / wanted[i].abs() }
    };
    larger(larger(off(0), off(1)), off(2))
}

const _: () = assert!(MISFIT > f32::EPSILON as f64, "rounding must not look like a misfit");
