//! Worlds as positions, rotations and scales, each accumulated by itself.

use super::{Accumulate, Geometry, Misfit, Own, Sealed, Shear, fits, larger, position_misfit, space3};
use crate::transform::decompose::TRS_TOLERANCE;
use crate::{Decomposed, NonFinite, NotRotation, Transform, decompose_with_hint};
use core::ops::Range;
use glam::{Affine3A, DAffine3, DMat3, DQuat, DVec3, Quat, Vec3};

/// World poses are [`Transform`]s: `world = parent_world.combine(local)`, part by part.
///
/// Never shears: a parent's scale factors act along the child's own axes. This is what Unreal's
/// transforms do. The rotation is renormalised at every level, so that depth does not wear it out.
///
/// A row of [`Worlds::rows`](crate::Worlds::rows) is a [`Transform`].
///
/// ```
/// use posetree::{ComponentHierarchy, Transform, glam::{Quat, Vec3}};
/// let mut h = ComponentHierarchy::new();
/// let wide = h.add_root(Transform::from_scale(Vec3::new(4.0, 1.0, 1.0)))?;
/// let turned = h.add_child(wide, Transform::from_rotation(Quat::from_rotation_z(0.7)))?;
/// assert_eq!(h.world(turned)?.scale, Vec3::new(4.0, 1.0, 1.0));
/// # Ok::<(), posetree::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Components;

/// A transform in float64, its rotation unit to that precision.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(unnameable_types, reason = "an associated type of a sealed trait")]
pub struct Wide {
    position: DVec3,
    rotation: DQuat,
    scale: DVec3,
}

impl Sealed for Components {}

impl Accumulate for Components {
    type Scalar = f32;
    type Vector = Vec3;
    type Rotation = Quat;
    type Affine = Affine3A;
    type Transform = Transform;
    type Decomposed = Decomposed;
    type World = Transform;
    type Row = Transform;
    type Local = Transform;
    type Wide = Wide;

    const HOLE: (Transform, Transform) = {
        let zero = Transform::new(Vec3::ZERO, Quat::from_xyzw(0.0, 0.0, 0.0, 0.0), Vec3::ZERO);
        (zero, zero)
    };
    const WIDE_IDENTITY: Wide = Wide { position: DVec3::ZERO, rotation: DQuat::IDENTITY, scale: DVec3::ONE };

    fn admit<E: From<NonFinite> + From<NotRotation>>(transform: &Transform) -> Result<Transform, E> {
        space3::admit_transform(transform)
    }

    fn is_finite(local: &Transform) -> bool {
        local.is_finite()
    }

    fn local_of(transform: &Transform) -> Transform {
        *transform
    }

    fn root(local: &Transform) -> Transform {
        *local
    }

    #[inline]
    fn product(parent: &Transform, local: &Transform) -> Transform {
        let mut world = parent.combine(*local);
        // One Newton step towards length one: exact to the square of an error of a few last bits.
        world.rotation = world.rotation * (1.5 - 0.5 * world.rotation.length_squared());
        world
    }

    fn sweep(parents: &[u32], locals: &[Transform], worlds: &mut [Transform], rows: Range<usize>) {
        sweep(parents, locals, worlds, rows);
    }

    fn world(row: &Transform) -> Transform {
        *row
    }

    fn widen(local: &Transform) -> Wide {
        Wide {
            position: local.position.as_dvec3(),
            rotation: local.rotation.as_dquat().normalize(),
            scale: local.scale.as_dvec3(),
        }
    }

    fn wide_product(parent: &Wide, child: &Wide) -> Wide {
        Wide {
            position: parent.position + parent.rotation * (parent.scale * child.position),
            rotation: parent.rotation * child.rotation,
            scale: parent.scale * child.scale,
        }
    }

    fn is_flat(own: &Own<Self>) -> bool {
        own.transform.scale.cmpeq(Vec3::ZERO).any()
    }

    fn solve(parent: &Wide, wanted: &Wide, own: &Own<Self>, _: Shear) -> Result<Own<Self>, Misfit> {
        let exact = Wide {
            position: solve_position(parent, wanted.position),
            rotation: (parent.rotation.inverse() * wanted.rotation).normalize(),
            scale: wanted.scale / parent.scale,
        };
        // q and -q turn alike: the one nearer to what the node holds keeps a round trip exact.
        let held = own.transform.rotation.as_dquat();
        let rotation = if exact.rotation.dot(held) < 0.0 { -exact.rotation } else { exact.rotation };
        let transform = Transform {
            position: exact.position.as_vec3(),
            rotation: rotation.as_quat(),
            scale: exact.scale.as_vec3(),
        };
        let reached = Self::wide_product(parent, &Self::widen(&transform));
        let misfit = larger(
            space3::scale_misfit(reached.scale, wanted.scale),
            misfit_of_position(parent, reached.position, wanted.position),
        );
        if !fits(misfit) || !transform.is_finite() {
            return Err(Misfit::Singular(misfit as f32));
        }
        Ok(Own::trs(transform))
    }
}

#[inline(never)]
fn sweep(parents: &[u32], locals: &[Transform], worlds: &mut [Transform], rows: Range<usize>) {
    let parents = &parents[rows.clone()];
    let locals = &locals[rows.clone()];
    for ((row, &parent), local) in rows.zip(parents).zip(locals) {
        let world = match worlds.get(parent as usize) {
            Some(parent) => Components::product(parent, local),
            None => *local,
        };
        worlds[row] = world;
    }
}

fn solve_position(parent: &Wide, wanted: DVec3) -> DVec3 {
    (parent.rotation.inverse() * (wanted - parent.position)) / parent.scale
}

fn misfit_of_position(parent: &Wide, reached: DVec3, wanted: DVec3) -> f64 {
    position_misfit(
        (reached - wanted).abs().max_element(),
        wanted.abs().max_element(),
        parent.position.abs().max_element(),
    )
}

impl Geometry for Components {
    const FORWARD: i8 = -3;

    fn check_vector(v: Vec3) -> Result<Vec3, NonFinite> {
        space3::check_vector(v)
    }

    fn admit_rotation<E: From<NonFinite> + From<NotRotation>>(r: Quat) -> Result<Quat, E> {
        space3::admit_rotation(r)
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
        let decomposed = decompose_with_hint(matrix, own.transform.scale);
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

    fn matrix(world: &Transform) -> Affine3A {
        world.to_affine()
    }

    fn world_position(world: &Transform) -> Vec3 {
        world.position
    }

    fn decompose_world(world: &Transform, _: &Transform) -> Decomposed {
        Decomposed { transform: *world, shear: Vec3::ZERO }
    }

    fn world_axis(world: &Transform, axis: i8) -> Option<Vec3> {
        let index = usize::from(axis.unsigned_abs()) - 1;
        let mut column = Vec3::ZERO;
        column[index] = world.scale[index];
        space3::unit_axis(column, axis).map(|direction| world.rotation * direction)
    }

    fn inverse(world: &Transform) -> Result<Affine3A, f32> {
        let wide = Self::widen(world);
        let linear = DMat3::from_quat(wide.rotation) * DMat3::from_diagonal(wide.scale);
        space3::inverse(&DAffine3 { matrix3: linear, translation: wide.position })
    }

    fn widen_matrix(matrix: &Affine3A, own: &Own<Self>) -> Result<Wide, Misfit> {
        Self::import(matrix, own).map(|own| Self::widen(&own.transform))
    }

    fn widen_transform(transform: &Transform) -> Wide {
        Self::widen(transform)
    }

    fn solve_position(parent: &Wide, position: Vec3, own: &Own<Self>) -> Result<Own<Self>, Misfit> {
        let wanted = position.as_dvec3();
        let position = solve_position(parent, wanted).as_vec3();
        let reached = parent.position + parent.rotation * (parent.scale * position.as_dvec3());
        let misfit = misfit_of_position(parent, reached, wanted);
        if !fits(misfit) || !position.is_finite() {
            return Err(Misfit::Singular(misfit as f32));
        }
        Ok(Self::with_position(own, position))
    }
}
