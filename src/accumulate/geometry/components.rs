//! Vectors, rotations and matrices where worlds are positions, rotations and scales.

use super::Geometry;
use crate::accumulate::space3::{self, Space3, aim, coincide, solve_affine, wide_rotation};
use crate::accumulate::{Accumulate, Chain, Components, Misfit, Own, components::Wide};
use crate::transform::decompose::{TRS_TOLERANCE, decompose_linear, quat_of};
use crate::{Decomposed, NonFinite, Transform};
use glam::{Affine3A, DAffine3, DMat3, DVec3, Quat, Vec3};

impl Geometry for Components {
    type Up = Vec3;
    type Shared = Space3;

    fn put_position(position: Vec3, transform: &mut Transform, local: &mut Transform) {
        transform.position = position;
        local.position = position;
    }

    fn with_position(own: &Own<Self>, position: Vec3) -> Own<Self> {
        Own::trs(own.transform.with_position(position))
    }

    fn with_rotation(own: &Own<Self>, rotation: Quat) -> Own<Self> {
        Own::trs(own.transform.with_rotation(rotation))
    }

    fn with_scale(own: &Own<Self>, scale: Vec3) -> Own<Self> {
        Own::trs(own.transform.with_scale(scale))
    }

    fn import(matrix: &Affine3A, own: &Own<Self>) -> Result<Own<Self>, Misfit> {
        if !matrix.is_finite() {
            return Err(Misfit::NonFinite);
        }
        let factors = decompose_linear(matrix.matrix3.as_dmat3(), own.transform.scale.as_dvec3());
        // A column can be too long for a scale although its elements are finite.
        if !factors.scale.as_vec3().is_finite() {
            return Err(Misfit::NonFinite);
        }
        let decomposed = Decomposed::new(&factors, matrix.translation.into());
        let residual = decomposed.residual();
        if residual <= TRS_TOLERANCE { Ok(Own::trs(decomposed.transform)) } else { Err(Misfit::Shear(residual)) }
    }

    fn export(own: &Own<Self>) -> Affine3A {
        own.transform.to_affine()
    }

    fn as_trs(own: &Own<Self>) -> Result<Transform, f32> {
        Ok(own.transform)
    }

    fn drop_shear(own: &Own<Self>) -> (Transform, f32) {
        (own.transform, 0.0)
    }

    fn decompose_own(own: &Own<Self>) -> Decomposed {
        Decomposed { transform: own.transform, shear: Vec3::ZERO }
    }

    fn moved_in_parent(own: &Own<Self>, by: Vec3) -> Own<Self> {
        Self::with_position(own, own.transform.position + by)
    }

    fn moved_in_local(own: &Own<Self>, by: Vec3) -> Own<Self> {
        Self::moved_in_parent(own, own.transform.rotation * by)
    }

    fn placed_in_local(own: &Own<Self>, position: Vec3) -> Own<Self> {
        Self::with_position(own, own.transform.transform_point(position))
    }

    fn turned_in_parent(own: &Own<Self>, by: Quat, about: Option<Vec3>) -> Own<Self> {
        let mut transform = own.transform;
        match about {
            Some(point) => transform.rotate_around(point, by),
            None => transform.rotate(by),
        }
        Own::trs(transform)
    }

    fn turned_in_local(own: &Own<Self>, by: Quat, about: Option<Vec3>) -> Own<Self> {
        let mut transform = own.transform;
        transform.rotate_local(by);
        if let Some(point) = about {
            // The point stays where it is: what the turn does to its offset is taken from the position.
            let moved = transform.transform_point(point) - own.transform.transform_point(point);
            transform.position -= moved;
        }
        Own::trs(transform)
    }

    fn moved_in_world(parent: &Chain<Self>, own: &Own<Self>, by: Vec3) -> Result<Own<Self>, Misfit> {
        Ok(Self::with_position(own, parent.solve_offset(own.transform.position, by.as_dvec3())?))
    }

    fn turned_in_world(
        parent: &Chain<Self>,
        own: &Own<Self>,
        by: Quat,
        about: Option<Vec3>,
    ) -> Result<Own<Self>, Misfit> {
        let (by, here) = (wide_rotation(by), world(parent, own));
        let turned = Self::with_rotation(own, parent.solve_rotation(by * here.rotation, own));
        let Some(point) = about.map(|point| point.as_dvec3()) else { return Ok(turned) };
        let arm = here.position - point;
        Ok(Self::with_position(&turned, parent.solve_offset(own.transform.position, by * arm - arm)?))
    }

    fn aimed(parent: &Chain<Self>, own: &Own<Self>, at: Vec3, up: Vec3) -> Result<Own<Self>, Misfit> {
        let (at, up, here) = (at.as_dvec3(), up.as_dvec3(), world(parent, own));
        let size = |v: DVec3| v.abs().max_element();
        let offset = size(parent.wide.scale * own.transform.position.as_dvec3());
        if coincide(here.position, at, offset + size(parent.wide.position) + size(at)) {
            return Err(Misfit::Degenerate);
        }
        let (from_forward, from_up) = (-DVec3::Z * here.scale.z, DVec3::Y * here.scale.y);
        let wanted = quat_of(&aim(from_forward, from_up, at - here.position, up)?);
        Ok(Self::with_rotation(own, parent.solve_rotation(wide_rotation(wanted), own)))
    }

    fn widen_matrix(matrix: &Affine3A, own: &Own<Self>) -> Result<Wide, Misfit> {
        Self::import(matrix, own).map(|own| Self::widen(&own.transform))
    }

    fn widen_transform(transform: &Transform) -> Wide {
        Self::widen(transform)
    }

    fn solve_position(parent: &Chain<Self>, own: &Own<Self>, position: Vec3) -> Result<Own<Self>, Misfit> {
        Ok(Self::with_position(own, parent.solve_position(position.as_dvec3())?))
    }

    fn solve_rotation(parent: &Chain<Self>, own: &Own<Self>, rotation: Quat) -> Result<Own<Self>, Misfit> {
        Ok(Self::with_rotation(own, parent.solve_rotation(wide_rotation(rotation), own)))
    }

    fn solve_scale(parent: &Chain<Self>, own: &Own<Self>, scale: Vec3) -> Result<Own<Self>, Misfit> {
        Ok(Self::with_scale(own, parent.solve_scale(scale.as_dvec3())?))
    }

    fn matrix(world: &Transform) -> Affine3A {
        world.to_affine()
    }

    fn wide_matrix(world: &Transform) -> DAffine3 {
        matrix(&Self::widen(world))
    }

    fn world_position(world: &Transform) -> Vec3 {
        world.position
    }

    fn decompose_world(world: &Transform, _: &Transform) -> Decomposed {
        Decomposed { transform: *world, shear: Vec3::ZERO }
    }

    fn check_scalar(t: f32) -> Result<f32, NonFinite> {
        space3::check_scalar(t)
    }

    fn interpolate(from: &Transform, to: &Transform, _: &Transform, t: f32) -> Transform {
        match t {
            0.0 => *from,
            1.0 => *to,
            t => from.lerp(*to, t),
        }
    }

    fn between(from: &Chain<Self>, to: &Chain<Self>) -> Result<Affine3A, Misfit> {
        Ok(solve_affine(to.flat, &matrix(&to.wide), &matrix(&from.wide))?.1)
    }
}

fn world(parent: &Chain<Components>, own: &Own<Components>) -> Wide {
    Components::wide_product(&parent.wide, &Components::widen(&own.transform))
}

/// `T * R * S` in float64.
fn matrix(pose: &Wide) -> DAffine3 {
    DAffine3 { matrix3: DMat3::from_quat(pose.rotation) * DMat3::from_diagonal(pose.scale), translation: pose.position }
}
