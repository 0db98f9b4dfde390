//! Vectors, rotations and matrices where worlds are positions, rotations and scales.

use super::Geometry;
use crate::accumulate::space3::{Space3, aim, coincide, solve_affine, wide_rotation};
use crate::accumulate::{Accumulate, Chain, Components, DComponents, Misfit, Own, components::Wide};
use crate::transform::decompose::{decompose_linear, quat_of};
use crate::transform::precision::{Precision, Widen};
use crate::{DDecomposed, DTransform, Decomposed, NonFinite, Transform};
use glam::{Affine3A, DAffine3, DMat3, DQuat, DVec3, Quat, Vec3};

/// Writes the geometry of one precision.
macro_rules! components3 {
    (
        $Name:ident, $Float:ident, $Vec3:ident, $Quat:ident, $Transform:ident, $Decomposed:ident, $Affine:ident
    ) => {
        impl Geometry for $Name {
            type Up = $Vec3;
            type Shared = Space3<$Float>;

            #[inline]
            fn put_position(position: $Vec3, transform: &mut $Transform, local: &mut $Transform) {
                transform.position = position;
                local.position = position;
            }

            fn with_position(own: &Own<Self>, position: $Vec3) -> Own<Self> {
                Own::trs(own.transform.with_position(position))
            }

            #[inline]
            fn with_rotation(own: &Own<Self>, rotation: $Quat) -> Own<Self> {
                Own::trs(own.transform.with_rotation(rotation))
            }

            #[inline]
            fn with_scale(own: &Own<Self>, scale: $Vec3) -> Own<Self> {
                Own::trs(own.transform.with_scale(scale))
            }

            fn import(matrix: &$Affine, own: &Own<Self>) -> Result<Own<Self>, Misfit> {
                if !matrix.is_finite() {
                    return Err(Misfit::NonFinite);
                }
                let factors = decompose_linear(matrix.widen().matrix3, own.transform.scale.widen());
                // A column can be too long for a scale although its elements are finite.
                if !$Vec3::narrow(factors.scale).is_finite() {
                    return Err(Misfit::NonFinite);
                }
                let decomposed = $Decomposed::new(&factors, matrix.translation.into());
                let residual = decomposed.residual();
                if residual.widen() <= $Float::TRS_TOLERANCE {
                    Ok(Own::trs(decomposed.transform))
                } else {
                    Err(Misfit::Shear(f32::narrow(residual.widen())))
                }
            }

            fn export(own: &Own<Self>) -> $Affine {
                own.transform.to_affine()
            }

            fn as_trs(own: &Own<Self>) -> Result<$Transform, f32> {
                Ok(own.transform)
            }

            fn drop_shear(own: &Own<Self>) -> ($Transform, f32) {
                (own.transform, 0.0)
            }

            fn decompose_own(own: &Own<Self>) -> $Decomposed {
                $Decomposed { transform: own.transform, shear: $Vec3::ZERO }
            }

            fn moved_in_parent(own: &Own<Self>, by: $Vec3) -> Own<Self> {
                Self::with_position(own, own.transform.position + by)
            }

            fn moved_in_local(own: &Own<Self>, by: $Vec3) -> Own<Self> {
                Self::moved_in_parent(own, own.transform.rotation * by)
            }

            fn placed_in_local(own: &Own<Self>, position: $Vec3) -> Own<Self> {
                Self::with_position(own, own.transform.transform_point(position))
            }

            fn turned_in_parent(own: &Own<Self>, by: $Quat, about: Option<$Vec3>) -> Own<Self> {
                let mut transform = own.transform;
                match about {
                    Some(point) => transform.rotate_around(point, by),
                    None => transform.rotate(by),
                }
                Own::trs(transform)
            }

            fn turned_in_local(own: &Own<Self>, by: $Quat, about: Option<$Vec3>) -> Own<Self> {
                let mut transform = own.transform;
                transform.rotate_local(by);
                if let Some(point) = about {
                    // The point stays where it is: what the turn does to its offset is taken from the position.
                    let moved = transform.transform_point(point) - own.transform.transform_point(point);
                    transform.position -= moved;
                }
                Own::trs(transform)
            }

            fn moved_in_world(parent: &Chain<Self>, own: &Own<Self>, by: $Vec3) -> Result<Own<Self>, Misfit> {
                Ok(Self::with_position(own, parent.solve_offset(own.transform.position, by.widen())?))
            }

            fn turned_in_world(
                parent: &Chain<Self>,
                own: &Own<Self>,
                by: $Quat,
                about: Option<$Vec3>,
            ) -> Result<Own<Self>, Misfit> {
                let (by, here) = (wide_rotation(by), Self::wide_world(parent, own));
                let turned = Self::with_rotation(own, parent.solve_rotation(by * here.rotation, own));
                let Some(point) = about.map(|point| point.widen()) else { return Ok(turned) };
                let arm = here.position - point;
                Ok(Self::with_position(&turned, parent.solve_offset(own.transform.position, by * arm - arm)?))
            }

            fn aimed(parent: &Chain<Self>, own: &Own<Self>, at: $Vec3, up: $Vec3) -> Result<Own<Self>, Misfit> {
                let (at, up, here) = (at.widen(), up.widen(), Self::wide_world(parent, own));
                let size = |v: DVec3| v.abs().max_element();
                let offset = size(parent.wide.scale * own.transform.position.widen());
                if coincide::<$Float>(here.position, at, offset + size(parent.wide.position) + size(at)) {
                    return Err(Misfit::Degenerate);
                }
                let (from_forward, from_up) = (-DVec3::Z * here.scale.z, DVec3::Y * here.scale.y);
                let wanted = quat_of::<$Float>(&aim::<$Float>(from_forward, from_up, at - here.position, up)?);
                Ok(Self::with_rotation(own, parent.solve_rotation(wide_rotation(wanted), own)))
            }

            fn widen_matrix(matrix: &$Affine, own: &Own<Self>) -> Result<Wide, Misfit> {
                Self::import(matrix, own).map(|own| Self::widen(&own.transform))
            }

            fn widen_transform(transform: &$Transform) -> Wide {
                Self::widen(transform)
            }

            fn solve_position(parent: &Chain<Self>, own: &Own<Self>, position: $Vec3) -> Result<Own<Self>, Misfit> {
                Ok(Self::with_position(own, parent.solve_position(position.widen())?))
            }

            fn solve_rotation(parent: &Chain<Self>, own: &Own<Self>, rotation: $Quat) -> Result<Own<Self>, Misfit> {
                Ok(Self::with_rotation(own, parent.solve_rotation(wide_rotation(rotation), own)))
            }

            fn solve_scale(parent: &Chain<Self>, own: &Own<Self>, scale: $Vec3) -> Result<Own<Self>, Misfit> {
                Ok(Self::with_scale(own, parent.solve_scale(scale.widen())?))
            }

            fn matrix(world: &$Transform) -> $Affine {
                world.to_affine()
            }

            fn wide_matrix(world: &$Transform) -> DAffine3 {
                matrix(&Self::widen(world))
            }

            #[inline]
            fn position_of(world: &$Transform) -> $Vec3 {
                world.position
            }

            fn decompose_world(world: &$Transform, _: &$Transform) -> $Decomposed {
                $Decomposed { transform: *world, shear: $Vec3::ZERO }
            }

            fn check_scalar(t: $Float) -> Result<$Float, NonFinite> {
                if t.is_finite() { Ok(t) } else { Err(NonFinite) }
            }

            fn interpolate(from: &$Transform, to: &$Transform, _: &$Transform, t: $Float) -> $Transform {
                match t {
                    0.0 => *from,
                    1.0 => *to,
                    _ if from == to => *to,
                    t => from.lerp(*to, t),
                }
            }

            fn row(world: &$Transform) -> $Transform {
                *world
            }

            fn between(from: &Chain<Self>, to: &Chain<Self>) -> Result<$Affine, Misfit> {
                Ok(solve_affine::<$Float>(to.flat, &matrix(&to.wide), &matrix(&from.wide))?.1)
            }
        }

        impl $Name {
            fn wide_world(parent: &Chain<Self>, own: &Own<Self>) -> Wide {
                Self::wide_product(&parent.wide, &Self::widen(&own.transform))
            }
        }
    };
}

components3!(Components, f32, Vec3, Quat, Transform, Decomposed, Affine3A);
components3!(DComponents, f64, DVec3, DQuat, DTransform, DDecomposed, DAffine3);

/// `T * R * S` in float64.
fn matrix(pose: &Wide) -> DAffine3 {
    DAffine3 { matrix3: DMat3::from_quat(pose.rotation) * DMat3::from_diagonal(pose.scale), translation: pose.position }
}
