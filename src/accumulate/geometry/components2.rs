//! Vectors, angles and matrices where worlds are positions, angles and scales.

use super::Geometry;
use crate::accumulate::components2::{solve_offset, solve_position, solve_scale};
use crate::accumulate::space2::{DSpace2, Space2, aim, coincide, for_each_precision, solve_affine};
use crate::accumulate::{Accumulate, Chain, Components2, DComponents2, Misfit, Own};
use crate::transform::precision::Widen;
use crate::transform2::decompose::{decompose_linear, direction};
use crate::transform2::precision::{Precision2, sum_of_angles};
use crate::{DDecomposed2, DTransform2, Decomposed2, NonFinite, Transform2};
use glam::{Affine2, DAffine2, DVec2, Vec2};

macro_rules! components2 {
    (
        $f:ident: $Matrices:ident, $Components:ident, $Space:ident, $Vector:ident, $Affine:ident,
        $Transform:ident, $Decomposed:ident, $Mat4:ident, $as_mat4:ident
    ) => {
        impl Geometry for $Components {
            type Up = ();
            type Shared = $Space;

            #[inline]
            fn put_position(position: $Vector, transform: &mut $Transform, local: &mut $Transform) {
                transform.position = position;
                local.position = position;
            }

            fn with_position(own: &Own<Self>, position: $Vector) -> Own<Self> {
                Own::trs(own.transform.with_position(position))
            }

            #[inline]
            fn with_rotation(own: &Own<Self>, rotation: $f) -> Own<Self> {
                Own::trs(own.transform.with_rotation(rotation))
            }

            #[inline]
            fn with_scale(own: &Own<Self>, scale: $Vector) -> Own<Self> {
                Own::trs(own.transform.with_scale(scale))
            }

            fn import(matrix: &$Affine, own: &Own<Self>) -> Result<Own<Self>, Misfit> {
                if !matrix.is_finite() {
                    return Err(Misfit::NonFinite);
                }
                let factors = decompose_linear(matrix.widen().matrix2, own.transform.scale.widen());
                // A column can be too long for a scale although its elements are finite.
                if !$Vector::narrow(factors.scale).is_finite() {
                    return Err(Misfit::NonFinite);
                }
                let decomposed = $Decomposed::new(&factors, matrix.translation);
                let residual = decomposed.residual().widen();
                if residual <= <$f as Precision2>::TRS_TOLERANCE {
                    Ok(Own::trs(decomposed.transform))
                } else {
                    Err(Misfit::Shear(residual as f32))
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
                $Decomposed { transform: own.transform, shear: 0.0 }
            }

            fn moved_in_parent(own: &Own<Self>, by: $Vector) -> Own<Self> {
                Self::with_position(own, own.transform.position + by)
            }

            fn moved_in_local(own: &Own<Self>, by: $Vector) -> Own<Self> {
                Self::moved_in_parent(own, own.transform.transform_direction(by))
            }

            fn placed_in_local(own: &Own<Self>, position: $Vector) -> Own<Self> {
                Self::with_position(own, own.transform.transform_point(position))
            }

            fn turned_in_parent(own: &Own<Self>, by: $f, about: Option<$Vector>) -> Own<Self> {
                let mut transform = own.transform;
                match about {
                    Some(point) => transform.rotate_around(point, by),
                    None => transform.rotate(by),
                }
                Own::trs(transform)
            }

            fn turned_in_local(own: &Own<Self>, by: $f, about: Option<$Vector>) -> Own<Self> {
                let mut transform = own.transform;
                transform.rotate(by);
                if let Some(point) = about {
                    // The point stays where it is: what the turn does to its offset is taken from the position.
                    let moved = transform.transform_point(point) - own.transform.transform_point(point);
                    transform.position -= moved;
                }
                Own::trs(transform)
            }

            fn moved_in_world(parent: &Chain<Self>, own: &Own<Self>, by: $Vector) -> Result<Own<Self>, Misfit> {
                let from = own.transform.position.widen();
                Ok(Self::with_position(own, solve_offset::<$f>(&parent.wide, from, by.widen())?))
            }

            fn turned_in_world(
                parent: &Chain<Self>,
                own: &Own<Self>,
                by: $f,
                about: Option<$Vector>,
            ) -> Result<Own<Self>, Misfit> {
                // The parent's angle is there before and after.
                let turned = Self::turned_in_parent(own, by, None);
                let Some(point) = about else { return Ok(turned) };
                let from = own.transform.position.widen();
                let arm = parent.wide.transform_point(from) - point.widen();
                let offset = direction(by.widen()).rotate(arm) - arm;
                Ok(Self::with_position(&turned, solve_offset::<$f>(&parent.wide, from, offset)?))
            }

            fn aimed(parent: &Chain<Self>, own: &Own<Self>, at: $Vector, (): ()) -> Result<Own<Self>, Misfit> {
                let (at, here) = (at.widen(), Self::wide_product(&parent.wide, &Self::widen(&own.transform)));
                let size = |v: DVec2| v.abs().max_element();
                let offset = size(parent.wide.scale * own.transform.position.widen());
                if coincide::<$f>(here.position, at, offset + size(parent.wide.position) + size(at)) {
                    return Err(Misfit::Degenerate);
                }
                let wanted = aim(at - here.position, here.scale.x)?;
                Ok(Self::with_rotation(own, <$f as Precision2>::angle(wanted - parent.wide.rotation)))
            }

            fn widen_matrix(matrix: &$Affine, own: &Own<Self>) -> Result<DTransform2, Misfit> {
                Self::import(matrix, own).map(|own| Self::widen(&own.transform))
            }

            fn widen_transform(transform: &$Transform) -> DTransform2 {
                Self::widen(transform)
            }

            fn solve_position(parent: &Chain<Self>, own: &Own<Self>, position: $Vector) -> Result<Own<Self>, Misfit> {
                Ok(Self::with_position(own, solve_position::<$f>(&parent.wide, position.widen())?))
            }

            fn solve_rotation(parent: &Chain<Self>, own: &Own<Self>, rotation: $f) -> Result<Own<Self>, Misfit> {
                let own_rotation = sum_of_angles(rotation.widen(), -parent.wide.rotation);
                Ok(Self::with_rotation(own, <$f as Precision2>::angle(own_rotation)))
            }

            fn solve_scale(parent: &Chain<Self>, own: &Own<Self>, scale: $Vector) -> Result<Own<Self>, Misfit> {
                Ok(Self::with_scale(own, solve_scale::<$f>(&parent.wide, scale.widen())?))
            }

            fn matrix(world: &$Transform) -> $Affine {
                world.to_affine()
            }

            fn wide_matrix(world: &$Transform) -> DAffine2 {
                Self::widen(world).to_affine()
            }

            #[inline]
            fn position_of(world: &$Transform) -> $Vector {
                world.position
            }

            fn decompose_world(world: &$Transform, _: &$Transform) -> $Decomposed {
                $Decomposed { transform: *world, shear: 0.0 }
            }

            fn check_scalar(t: $f) -> Result<$f, NonFinite> {
                if t.is_finite() { Ok(t) } else { Err(NonFinite) }
            }

            fn interpolate(from: &$Transform, to: &$Transform, _: &$Transform, t: $f) -> $Transform {
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
                Ok(solve_affine::<$f>(to.flat, &to.wide.to_affine(), &from.wide.to_affine())?.1)
            }
        }
    };
}
for_each_precision!(components2);
