//! Vectors, rotations and matrices where worlds are products of matrices.

use super::Geometry;
use crate::accumulate::matrices::Rows;
use crate::accumulate::space3::{
    Factors, Space3, aim, coincide, hidden_below, scale_misfit, solve_affine, solve_offset, solve_point, unit,
    wide_rotation,
};
use crate::accumulate::{Accumulate, Chain, DMatrices, MISFIT, Matrices, Misfit, Own, Shear, fits, larger};
use crate::transform::decompose::{decompose_linear, quat_of, shear_under, upper};
use crate::transform::precision::{Precision, Widen, power_of_two_near_reciprocal};
use crate::{DDecomposed, DTransform, Decomposed, NonFinite, Transform, ddecompose_with_hint, decompose_with_hint};
use glam::{Affine3A, DAffine3, DMat3, DQuat, DVec3, Quat, Vec3};

/// Writes the geometry of one precision.
macro_rules! matrices3 {
    (
        $Name:ident, $Float:ident, $Vec3:ident, $Quat:ident, $Transform:ident, $Decomposed:ident, $Affine:ident,
        $decompose_with_hint:ident
    ) => {
        impl Geometry for $Name {
            type Up = $Vec3;
            type Shared = Space3<$Float>;

            #[inline]
            fn put_position(position: $Vec3, transform: &mut $Transform, local: &mut Rows<$Float>) {
                transform.position = position;
                for (row, p) in local.iter_mut().zip(position.to_array()) {
                    row[3] = p;
                }
            }

            fn with_position(own: &Own<Self>, position: $Vec3) -> Own<Self> {
                let mut own = *own;
                match &mut own.matrix {
                    Some(local) => Self::put_position(position, &mut own.transform, local),
                    None => own.transform.position = position,
                }
                own
            }

            #[inline]
            fn with_rotation(own: &Own<Self>, rotation: $Quat) -> Own<Self> {
                match own.matrix {
                    None => Own::trs(own.transform.with_rotation(rotation)),
                    Some(_) => Self::with_factors(own, |transform| transform.rotation = rotation),
                }
            }

            #[inline]
            fn with_scale(own: &Own<Self>, scale: $Vec3) -> Own<Self> {
                match own.matrix {
                    None => Own::trs(own.transform.with_scale(scale)),
                    Some(_) => Self::with_factors(own, |transform| transform.scale = scale),
                }
            }

            fn import(matrix: &$Affine, own: &Own<Self>) -> Result<Own<Self>, Misfit> {
                if !matrix.is_finite() {
                    return Err(Misfit::NonFinite);
                }
                let transform = $decompose_with_hint(matrix, own.transform.scale).transform;
                Ok(Own { transform, matrix: Some(Self::to_rows(matrix)) })
            }

            fn export(own: &Own<Self>) -> $Affine {
                Self::to_affine(&own.local())
            }

            fn as_trs(own: &Own<Self>) -> Result<$Transform, f32> {
                let residual = Self::shear_of(own);
                if residual <= $Float::TRS_TOLERANCE { Ok(own.transform) } else { Err(residual as f32) }
            }

            fn drop_shear(own: &Own<Self>) -> ($Transform, f32) {
                (own.transform, Self::shear_of(own) as f32)
            }

            fn decompose_own(own: &Own<Self>) -> $Decomposed {
                match own.matrix {
                    None => $Decomposed { transform: own.transform, shear: $Vec3::ZERO },
                    // With the rotation and scale that are there, not taken apart anew: where a scale is zero the
                    // matrix alone does not tell its axes, and shear would turn into rotation.
                    Some(local) => $Decomposed {
                        transform: own.transform,
                        shear: shear_under::<$Float>(own.transform.rotation, Self::widen(&local).matrix3),
                    },
                }
            }

            fn moved_in_parent(own: &Own<Self>, by: $Vec3) -> Own<Self> {
                Self::with_position(own, own.transform.position + by)
            }

            fn moved_in_local(own: &Own<Self>, by: $Vec3) -> Own<Self> {
                Self::moved_in_parent(own, own.transform.rotation * by)
            }

            fn placed_in_local(own: &Own<Self>, position: $Vec3) -> Own<Self> {
                Self::with_position(own, $Vec3::narrow(Self::own_point(own, position)))
            }

            fn turned_in_parent(own: &Own<Self>, by: $Quat, about: Option<$Vec3>) -> Own<Self> {
                let mut transform = own.transform;
                match about {
                    Some(point) => transform.rotate_around(point, by),
                    None => transform.rotate(by),
                }
                Self::with_position(&Self::with_rotation(own, transform.rotation), transform.position)
            }

            fn turned_in_local(own: &Own<Self>, by: $Quat, about: Option<$Vec3>) -> Own<Self> {
                let mut transform = own.transform;
                transform.rotate_local(by);
                let turned = Self::with_rotation(own, transform.rotation);
                // The point stays where it is: what the turn does to its offset is taken from the position.
                match about {
                    Some(point) => {
                        let moved = Self::own_point(&turned, point) - Self::own_point(own, point);
                        Self::with_position(&turned, $Vec3::narrow(own.transform.position.widen() - moved))
                    }
                    None => turned,
                }
            }

            fn moved_in_world(parent: &Chain<Self>, own: &Own<Self>, by: $Vec3) -> Result<Own<Self>, Misfit> {
                let position = solve_offset::<$Float>(parent.flat, &parent.wide, own.transform.position, by.widen())?;
                Ok(Self::with_position(own, position))
            }

            fn turned_in_world(
                parent: &Chain<Self>,
                own: &Own<Self>,
                by: $Quat,
                about: Option<$Vec3>,
            ) -> Result<Own<Self>, Misfit> {
                let by = wide_rotation(by);
                let here = Self::eye(parent, own);
                let offset = about.map_or(DVec3::ZERO, |point| {
                    let arm = here - point.widen();
                    by * arm - arm
                });
                let turned = match in_parent::<$Float>(parent.wide.matrix3, parent.conformal && !parent.flat, by) {
                    Some(by) => {
                        let turned = (by * wide_rotation(own.transform.rotation)).normalize();
                        Self::with_rotation(own, $Quat::narrow(turned))
                    }
                    None => {
                        let linear = DMat3::from_quat(by) * parent.wide.matrix3 * Self::widen(&own.local()).matrix3;
                        Self::solve(
                            parent,
                            &DAffine3 { matrix3: linear, translation: here + offset },
                            own,
                            Shear::Allowed,
                        )?
                    }
                };
                let position = match about {
                    None => own.transform.position,
                    Some(_) => solve_offset::<$Float>(parent.flat, &parent.wide, own.transform.position, offset)?,
                };
                Ok(Self::with_position(&turned, position))
            }

            /// In the parent's space the node's linear part is `R U`, and `-R U e_z` is to point at the target:
            /// `R` turns `-U e_z` there, and `U e_y` as near to up as that leaves it.
            fn aimed(parent: &Chain<Self>, own: &Own<Self>, at: $Vec3, up: $Vec3) -> Result<Own<Self>, Misfit> {
                let (at, up) = (at.widen(), up.widen());
                let (here, eye) = (own.transform.position.widen(), Self::eye(parent, own));
                let size = |v: DVec3| v.abs().max_element();
                let magnitude = size(parent.wide.matrix3.abs() * here.abs()) + size(parent.wide.translation) + size(at);
                if coincide::<$Float>(eye, at, magnitude) {
                    return Err(Misfit::Degenerate);
                }
                if parent.flat {
                    return Err(Misfit::Singular(f32::INFINITY));
                }
                let parent_linear = Factors::of(parent.wide.matrix3);
                let upper = Self::upper_of(own);
                let rotation =
                    aim::<$Float>(-upper.z_axis, upper.y_axis, parent_linear.solve(at - eye), parent_linear.solve(up))?;
                let rotation = $Float::nearer(quat_of::<$Float>(&rotation), own.transform.rotation);
                let aimed = Self::with_rotation(own, rotation);
                let forward = -Self::widen(&aimed.local()).matrix3.z_axis;
                let misfit = match (unit(parent.wide.matrix3 * forward), unit(at - eye)) {
                    (Some(reached), Some(wanted)) => (reached - wanted).abs().max_element(),
                    _ => f64::INFINITY,
                };
                if fits(misfit) { Ok(aimed) } else { Err(Misfit::Singular(misfit as f32)) }
            }

            fn widen_matrix(matrix: &$Affine, _: &Own<Self>) -> Result<DAffine3, Misfit> {
                if matrix.is_finite() { Ok(matrix.widen()) } else { Err(Misfit::NonFinite) }
            }

            fn widen_transform(transform: &$Transform) -> DAffine3 {
                Self::widen(&Self::local_of(transform))
            }

            fn solve_position(parent: &Chain<Self>, own: &Own<Self>, position: $Vec3) -> Result<Own<Self>, Misfit> {
                Ok(Self::with_position(own, solve_point::<$Float>(parent.flat, &parent.wide, position.widen())?))
            }

            /// The world's linear part is to be `V U` with `U` upper triangular. With the node's own `R U'` that
            /// says `P R = V (U U'⁻¹)`, so that `Vᵀ P = (upper triangular) Rᵀ`: an RQ factorisation, whose `Rᵀ`
            /// is Gram-Schmidt on the rows of `Vᵀ P` from the last one up. Row `k` of `Vᵀ P` is `Pᵀ v_k`. The
            /// first axis completes a right-handed basis, which puts a mirroring parent's sign on X, where
            /// decomposition looks for it. Neither an inverse nor the own scale is needed.
            fn solve_rotation(parent: &Chain<Self>, own: &Own<Self>, rotation: $Quat) -> Result<Own<Self>, Misfit> {
                let singular = Misfit::Singular(f32::INFINITY);
                if parent.flat {
                    return Err(singular);
                }
                let wanted = DMat3::from_quat(wide_rotation(rotation));
                let to_rows = parent.wide.matrix3.transpose();
                let z = unit(to_rows * wanted.z_axis).ok_or(singular)?;
                let row = unit(to_rows * wanted.y_axis).ok_or(singular)?;
                let across = unit(row - z * z.dot(row)).ok_or(singular)?;
                let y = unit(across - z * z.dot(across)).ok_or(singular)?;
                let rotation =
                    $Float::nearer(quat_of::<$Float>(&DMat3::from_cols(y.cross(z), y, z)), own.transform.rotation);

                // As it will be read: its rounded matrix too.
                let turned = Self::widen(&Self::local_of(&$Transform::from_rotation(rotation))).matrix3;
                let off = decompose_linear(parent.wide.matrix3 * turned, DVec3::ONE).rotation - wanted;
                let hidden = hidden_below::<$Float>(parent.wide.matrix3, turned);
                let misfit = off.to_cols_array().into_iter().map(f64::abs).fold(hidden, larger);
                if fits(misfit) { Ok(Self::with_rotation(own, rotation)) } else { Err(Misfit::Singular(misfit as f32)) }
            }

            /// The world's linear part is `P R U'`, with `P R = Q U`; its scale is the product of the diagonals.
            fn solve_scale(parent: &Chain<Self>, own: &Own<Self>, scale: $Vec3) -> Result<Own<Self>, Misfit> {
                if parent.flat {
                    return Err(Misfit::Singular(f32::INFINITY));
                }
                let turned = Self::widen(&Self::local_of(&$Transform::from_rotation(own.transform.rotation)));
                let linear = parent.wide.matrix3 * turned.matrix3;
                let factors = decompose_linear(linear, DVec3::ONE).scale;
                let solved = $Vec3::narrow(scale.widen() / factors);
                let hidden = hidden_below::<$Float>(parent.wide.matrix3, turned.matrix3);
                // A quotient may underflow too.
                let reached = factors * solved.widen();
                let misfit = larger(hidden, scale_misfit::<$Float>(reached, scale.widen()));
                if fits(misfit) && solved.is_finite() {
                    Ok(Self::with_scale(own, solved))
                } else {
                    Err(Misfit::Singular(misfit.max(MISFIT) as f32))
                }
            }

            fn matrix(world: &$Affine) -> $Affine {
                *world
            }

            fn wide_matrix(world: &$Affine) -> DAffine3 {
                world.widen()
            }

            #[inline]
            fn position_of(world: &Rows<$Float>) -> $Vec3 {
                world.map(|row| row[3]).into()
            }

            fn decompose_world(world: &$Affine, hint: &$Transform) -> $Decomposed {
                $decompose_with_hint(world, hint.scale)
            }

            fn check_scalar(t: $Float) -> Result<$Float, NonFinite> {
                if t.is_finite() { Ok(t) } else { Err(NonFinite) }
            }

            fn interpolate(from: &$Affine, to: &$Affine, hint: &$Transform, t: $Float) -> $Affine {
                match t {
                    0.0 => *from,
                    1.0 => *to,
                    _ if from == to => *to,
                    t => {
                        let [mut from, mut to] = [from, to].map(|world| Self::decompose_world(world, hint));
                        Self::complete_like(&mut from.transform, to.transform.rotation);
                        Self::complete_like(&mut to.transform, from.transform.rotation);
                        let transform = from.transform.lerp(to.transform, t);
                        $Decomposed { transform, shear: from.shear.lerp(to.shear, t) }.recompose()
                    }
                }
            }

            fn row(world: &$Affine) -> Rows<$Float> {
                Self::to_rows(world)
            }

            fn between(from: &Chain<Self>, to: &Chain<Self>) -> Result<$Affine, Misfit> {
                Ok(solve_affine::<$Float>(to.flat, &to.wide, &from.wide)?.1)
            }
        }

        impl $Name {
            /// Turns what a scale of zero leaves open of a rotation to where it is closest to another: what grows from
            /// nothing, or out of a line, does not turn on the way.
            fn complete_like(parts: &mut $Transform, other: $Quat) {
                let known = match parts.scale.to_array().map(|scale| scale != 0.0) {
                    [false, false, false] => {
                        parts.rotation = other;
                        return;
                    }
                    [true, false, false] => DVec3::X,
                    [false, true, false] => DVec3::Y,
                    [false, false, true] => DVec3::Z,
                    // Two axes determine the third.
                    _ => return,
                };
                let (other, own) = (wide_rotation(other), wide_rotation(parts.rotation));
                parts.rotation = $Quat::narrow((arc(other * known, own * known) * other).normalize());
            }

            /// What holding the own matrix as position, rotation and scale would lose.
            fn shear_of(own: &Own<Self>) -> f64 {
                own.matrix.map_or(0.0, |local| Self::difference(&Self::local_of(&own.transform), &local))
            }

            /// Changes a factor of an own matrix, which keeps its shear, unless that is rounding only.
            fn with_factors(own: &Own<Self>, change: impl FnOnce(&mut $Transform)) -> Own<Self> {
                let mut decomposed = Self::decompose_own(own);
                change(&mut decomposed.transform);
                let shears = Self::as_trs(own).is_err();
                Own { transform: decomposed.transform, matrix: shears.then(|| Self::to_rows(&decomposed.recompose())) }
            }

            /// `U` of the own value, whose linear part is `R U`.
            fn upper_of(own: &Own<Self>) -> DMat3 {
                let $Decomposed { transform, shear } = Self::decompose_own(own);
                upper(transform.scale.widen(), shear.widen())
            }

            /// A point of the node's space in its parent's.
            fn own_point(own: &Own<Self>, point: $Vec3) -> DVec3 {
                Self::widen(&own.local()).transform_point3(point.widen())
            }

            /// The world position.
            fn eye(parent: &Chain<Self>, own: &Own<Self>) -> DVec3 {
                parent.wide.transform_point3(own.transform.position.widen())
            }
        }
    };
}

matrices3!(Matrices, f32, Vec3, Quat, Transform, Decomposed, Affine3A, decompose_with_hint);
matrices3!(DMatrices, f64, DVec3, DQuat, DTransform, DDecomposed, DAffine3, ddecompose_with_hint);

/// The shortest rotation from one unit vector to another. Unlike glam's it tells apart what is nearly the same or
/// nearly opposite, which there is off by up to 2√ε.
fn arc(from: DVec3, to: DVec3) -> DQuat {
    let cross = from.cross(to);
    // Of nearly opposite vectors the cross product is mostly rounding, which may point along them.
    let axis = cross - from * from.dot(cross);
    // 1 + cos, without cancelling.
    let w = 0.5 * (from + to).length_squared();
    if axis.length() <= 4.0 * f64::EPSILON && w < 1.0 {
        return DQuat::from_vec4(from.any_orthonormal_vector().extend(0.0));
    }
    DQuat::from_vec4(axis.extend(w)).normalize()
}

/// A world rotation as seen from a parent, where the parent is a rotation or reflection `O` times one
/// factor: `Oᵀ Rot(a) O = Rot(det(O) Oᵀ a)`. `None` under any other parent, where it shears.
fn in_parent<P: Precision>(linear: DMat3, is_conformal: bool, by: DQuat) -> Option<DQuat> {
    // Times a power of two, so that neither squares nor the determinant over- or underflow.
    let largest = linear.to_cols_array().into_iter().map(f64::abs).fold(0.0, f64::max);
    let linear = linear * power_of_two_near_reciprocal(largest);
    let factor = if is_conformal { linear.x_axis.length().recip() } else { unit_factor::<P>(linear)? };
    let axis = DVec3::new(by.x, by.y, by.z);
    let axis = linear.transpose() * axis * (factor * linear.determinant().signum());
    Some(DQuat::from_xyzw(axis.x, axis.y, axis.z, by.w).normalize())
}

/// What brings all columns to length one, if they are equally long and at right angles.
fn unit_factor<P: Precision>(linear: DMat3) -> Option<f64> {
    let factor = linear.x_axis.length().recip();
    let gram = (linear * factor).transpose() * (linear * factor);
    let off = (gram - DMat3::IDENTITY).to_cols_array().into_iter().map(f64::abs).fold(0.0, larger);
    (off <= P::CONFORMAL).then_some(factor)
}
