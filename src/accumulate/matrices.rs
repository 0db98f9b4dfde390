//! Worlds as products of affine matrices.
//!
//! Rows are 3x4 and row-major, so that one row of a product is three scaled rows of the local matrix
//! and one lane added: whole vectors throughout, and a parent is loaded at the width it was stored.

use super::rank::is_rank_deficient;
use super::{Accumulate, Geometry, Misfit, Own, Sealed, Shear, fits, larger, position_misfit, space3};
use crate::transform::decompose::{TRS_TOLERANCE, decompose_linear};
use crate::{Decomposed, NonFinite, NotRotation, Transform, decompose_with_hint};
use core::ops::Range;
use glam::{Affine3A, BVec4A, DAffine3, DMat3, DVec3, Mat3A, Quat, Vec3, Vec3A, Vec4, Vec4Swizzles};

/// World poses are products of affine matrices: `world = parent_world * local`.
///
/// Exact under any parent; a child below a parent with rotation and non-uniform scale may shear. This
/// is what glTF, USD, Godot, Unity, three.js and Bevy do.
///
/// A row of [`Worlds::rows`](crate::Worlds::rows) is a 3x4 matrix, row-major, as instance buffers
/// take it: `[x_axis.x, y_axis.x, z_axis.x, translation.x]` and so on.
///
/// ```
/// use posetree::{Hierarchy, Transform, glam::{Quat, Vec3}};
/// let mut h = Hierarchy::new();
/// let wide = h.add_root(Transform::from_scale(Vec3::new(4.0, 1.0, 1.0)))?;
/// let turned = h.add_child(wide, Transform::from_rotation(Quat::from_rotation_z(0.7)))?;
/// assert!(h.world_decomposed(turned)?.shear.x.abs() > 1.0);
/// # Ok::<(), posetree::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Matrices;

/// A 3x4 matrix, row-major.
pub(crate) type Rows = [[f32; 4]; 3];

impl Sealed for Matrices {}

impl Accumulate for Matrices {
    type Scalar = f32;
    type Vector = Vec3;
    type Rotation = Quat;
    type Affine = Affine3A;
    type Transform = Transform;
    type Decomposed = Decomposed;
    type World = Affine3A;
    type Row = Rows;
    type Local = Rows;
    type Wide = DAffine3;

    const HOLE: (Rows, Rows) = ([[0.0; 4]; 3], [[0.0; 4]; 3]);
    const WIDE_IDENTITY: DAffine3 = DAffine3::IDENTITY;

    fn admit<E: From<NonFinite> + From<NotRotation>>(transform: &Transform) -> Result<Transform, E> {
        space3::admit_transform(transform)
    }

    fn is_finite(local: &Rows) -> bool {
        local.iter().flatten().all(|element| element.is_finite())
    }

    fn local_of(transform: &Transform) -> Rows {
        rows(&transform.to_affine())
    }

    fn root(local: &Rows) -> Rows {
        *local
    }

    #[inline]
    fn product(parent: &Rows, local: &Rows) -> Rows {
        let [x, y, z] = [Vec4::from_array(local[0]), Vec4::from_array(local[1]), Vec4::from_array(local[2])];
        let last = BVec4A::new(false, false, false, true);
        parent.map(|row| {
            let p = Vec4::from_array(row);
            (x * p.xxxx() + y * p.yyyy() + z * p.zzzz() + Vec4::select(last, p, Vec4::ZERO)).to_array()
        })
    }

    fn sweep(parents: &[u32], locals: &[Rows], worlds: &mut [Rows], rows: Range<usize>) {
        sweep(parents, locals, worlds, rows);
    }

    fn world(row: &Rows) -> Affine3A {
        affine(row)
    }

    fn widen(local: &Rows) -> DAffine3 {
        let row = |i: usize| DVec3::new(local[i][0].into(), local[i][1].into(), local[i][2].into());
        DAffine3 {
            matrix3: DMat3::from_cols(row(0), row(1), row(2)).transpose(),
            translation: DVec3::new(local[0][3].into(), local[1][3].into(), local[2][3].into()),
        }
    }

    fn wide_product(parent: &DAffine3, child: &DAffine3) -> DAffine3 {
        *parent * *child
    }

    fn is_flat(own: &Own<Self>) -> bool {
        match own.matrix {
            None => own.transform.scale.cmpeq(Vec3::ZERO).any(),
            Some(local) => is_rank_deficient(Self::widen(&local).matrix3),
        }
    }

    fn solve(parent: &DAffine3, wanted: &DAffine3, own: &Own<Self>, shear: Shear) -> Result<Own<Self>, Misfit> {
        let exact = solve(parent, wanted);
        let matrix = narrow(&exact);
        let misfit = misfit(parent, &Self::widen(&matrix), wanted);
        if !fits(misfit) || !affine(&matrix).is_finite() {
            return Err(Misfit::Singular(misfit as f32));
        }
        if matrix == own.local() && (shear == Shear::Allowed || own.matrix.is_none()) {
            return Ok(*own);
        }
        let transform = trs(&exact, own);
        let local = Self::local_of(&transform);
        let holds = match shear {
            Shear::Allowed => within_rounding(parent, &Self::widen(&local), wanted),
            Shear::Refused => {
                let residual = difference(&local, &matrix);
                if residual > TRS_TOLERANCE || !fits(self::misfit(parent, &Self::widen(&local), wanted)) {
                    return Err(Misfit::Shear(residual));
                }
                true
            }
        };
        Ok(Own { transform, matrix: (!holds).then_some(matrix) })
    }
}

#[inline(never)]
fn sweep(parents: &[u32], locals: &[Rows], worlds: &mut [Rows], rows: Range<usize>) {
    let parents = &parents[rows.clone()];
    let locals = &locals[rows.clone()];
    for ((row, &parent), local) in rows.zip(parents).zip(locals) {
        // "No parent" is beyond the last row, so that one comparison serves both questions.
        let world = match worlds.get(parent as usize) {
            Some(parent) => Matrices::product(parent, local),
            None => *local,
        };
        worlds[row] = world;
    }
}

pub(crate) fn rows(m: &Affine3A) -> Rows {
    let [x, y, z, t] = [m.matrix3.x_axis, m.matrix3.y_axis, m.matrix3.z_axis, m.translation];
    [[x.x, y.x, z.x, t.x], [x.y, y.y, z.y, t.y], [x.z, y.z, z.z, t.z]]
}

pub(crate) fn affine(rows: &Rows) -> Affine3A {
    let column = |i: usize| Vec3A::new(rows[0][i], rows[1][i], rows[2][i]);
    Affine3A { matrix3: Mat3A::from_cols(column(0), column(1), column(2)), translation: column(3) }
}

fn narrow(m: &DAffine3) -> Rows {
    rows(&m.as_affine3a())
}

/// `parent⁻¹ * wanted`, with one step of refinement: what the first answer misses is solved for and
/// added, which leaves the error of a needle-shaped parent at the level of one rounding.
fn solve(parent: &DAffine3, wanted: &DAffine3) -> DAffine3 {
    let inverse = parent.matrix3.inverse();
    let offset = wanted.translation - parent.translation;
    let (linear, translation) = (inverse * wanted.matrix3, inverse * offset);
    DAffine3 {
        matrix3: linear + inverse * (wanted.matrix3 - parent.matrix3 * linear),
        translation: translation + inverse * (offset - parent.matrix3 * translation),
    }
}

/// How far `parent * x` misses `wanted`: the worst column, in units of its largest element.
fn misfit(parent: &DAffine3, x: &DAffine3, wanted: &DAffine3) -> f64 {
    let reached = *parent * *x;
    let mut worst = 0.0;
    for i in 0..3 {
        let off = (reached.matrix3.col(i) - wanted.matrix3.col(i)).abs().max_element();
        worst = larger(worst, if off == 0.0 { 0.0 } else { off / wanted.matrix3.col(i).abs().max_element() });
    }
    larger(worst, translation_misfit(parent, reached.translation, wanted.translation))
}

fn translation_misfit(parent: &DAffine3, reached: DVec3, wanted: DVec3) -> f64 {
    position_misfit(
        (reached - wanted).abs().max_element(),
        wanted.abs().max_element(),
        parent.translation.abs().max_element(),
    )
}

/// The law of a solution: `|P x - W| ≤ 2 ε |P||x|`, element by element.
fn within_rounding(parent: &DAffine3, x: &DAffine3, wanted: &DAffine3) -> bool {
    let absolute = |m: &DAffine3| DAffine3 { matrix3: m.matrix3.abs(), translation: m.translation.abs() };
    let reached = *parent * *x;
    let allowed = absolute(parent) * absolute(x);
    let bound = 2.0 * f64::from(f32::EPSILON);
    let within = |got: DVec3, want: DVec3, size: DVec3| (got - want).abs().cmple(bound * size).all();
    (0..3).all(|i| within(reached.matrix3.col(i), wanted.matrix3.col(i), allowed.matrix3.col(i)))
        && within(reached.translation, wanted.translation, allowed.translation)
}

/// Position, rotation and scale of a matrix, its shear left out.
fn trs(exact: &DAffine3, own: &Own<Matrices>) -> Transform {
    let factors = decompose_linear(exact.matrix3, own.transform.scale.as_dvec3());
    Decomposed::new(&factors, exact.translation.as_vec3()).transform
}

/// How far two matrices are apart: the worst column, in units of its largest element in `b`.
fn difference(a: &Rows, b: &Rows) -> f32 {
    let (a, b) = (affine(a).matrix3, affine(b).matrix3);
    let mut worst: f32 = 0.0;
    for i in 0..3 {
        let off = (a.col(i) - b.col(i)).abs().max_element();
        if off > 0.0 {
            worst = worst.max(off / b.col(i).abs().max_element());
        }
    }
    worst
}

impl Geometry for Matrices {
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
        let mut own = *own;
        own.transform.position = position;
        if let Some(local) = &mut own.matrix {
            for (row, p) in local.iter_mut().zip(position.to_array()) {
                row[3] = p;
            }
        }
        own
    }

    fn with_rotation(own: &Own<Self>, rotation: Quat) -> Own<Self> {
        with_factors(own, |decomposed| decomposed.transform.rotation = rotation)
    }

    fn with_scale(own: &Own<Self>, scale: Vec3) -> Own<Self> {
        with_factors(own, |decomposed| decomposed.transform.scale = scale)
    }

    fn import(matrix: &Affine3A, own: &Own<Self>) -> Result<Own<Self>, Misfit> {
        if !matrix.is_finite() {
            return Err(Misfit::NonFinite);
        }
        let transform = decompose_with_hint(matrix, own.transform.scale).transform;
        Ok(Own { transform, matrix: Some(rows(matrix)) })
    }

    fn export(own: &Own<Self>) -> Affine3A {
        affine(&own.local())
    }

    fn as_trs(own: &Own<Self>) -> Result<Transform, f32> {
        let residual = shear_of(own);
        if residual <= TRS_TOLERANCE { Ok(own.transform) } else { Err(residual) }
    }

    fn drop_shear(own: &Own<Self>) -> (Transform, f32) {
        (own.transform, shear_of(own))
    }

    fn decompose_own(own: &Own<Self>) -> Decomposed {
        match own.matrix {
            None => Decomposed { transform: own.transform, shear: Vec3::ZERO },
            Some(local) => decompose_with_hint(&affine(&local), own.transform.scale),
        }
    }

    fn matrix(world: &Affine3A) -> Affine3A {
        *world
    }

    fn world_position(world: &Affine3A) -> Vec3 {
        world.translation.into()
    }

    fn decompose_world(world: &Affine3A, hint: &Transform) -> Decomposed {
        decompose_with_hint(world, hint.scale)
    }

    fn world_axis(world: &Affine3A, axis: i8) -> Option<Vec3> {
        space3::unit_axis(world.matrix3.col(usize::from(axis.unsigned_abs()) - 1).into(), axis)
    }

    fn inverse(world: &Affine3A) -> Result<Affine3A, f32> {
        space3::inverse(&Self::widen(&rows(world)))
    }

    fn widen_matrix(matrix: &Affine3A, _: &Own<Self>) -> Result<DAffine3, Misfit> {
        if matrix.is_finite() { Ok(Self::widen(&rows(matrix))) } else { Err(Misfit::NonFinite) }
    }

    fn widen_transform(transform: &Transform) -> DAffine3 {
        Self::widen(&Self::local_of(transform))
    }

    fn solve_position(parent: &DAffine3, position: Vec3, own: &Own<Self>) -> Result<Own<Self>, Misfit> {
        let wanted = DAffine3 { matrix3: DMat3::ZERO, translation: position.as_dvec3() };
        let position = solve(parent, &wanted).translation.as_vec3();
        let reached = parent.transform_point3(position.as_dvec3());
        let misfit = translation_misfit(parent, reached, wanted.translation);
        if !fits(misfit) || !position.is_finite() {
            return Err(Misfit::Singular(misfit as f32));
        }
        Ok(Self::with_position(own, position))
    }
}

/// What holding the own matrix as position, rotation and scale would lose.
fn shear_of(own: &Own<Matrices>) -> f32 {
    own.matrix.map_or(0.0, |local| difference(&Matrices::local_of(&own.transform), &local))
}

/// Changes a factor of the own value. A matrix keeps its shear, unless that is rounding only.
fn with_factors(own: &Own<Matrices>, change: impl FnOnce(&mut Decomposed)) -> Own<Matrices> {
    let mut decomposed = Matrices::decompose_own(own);
    change(&mut decomposed);
    let shears = Matrices::as_trs(own).is_err();
    Own { transform: decomposed.transform, matrix: shears.then(|| rows(&decomposed.recompose())) }
}
