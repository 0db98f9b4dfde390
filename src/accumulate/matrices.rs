//! Worlds as products of affine matrices.
//!
//! Rows are 3x4 and row-major, so that one row of a product is three scaled rows of the local matrix
//! and one lane added: whole vectors throughout, and a parent is loaded at the width it was stored.

use super::rank::is_rank_deficient;
use super::space3::{self, misfit, solve_affine};
use super::{Accumulate, Chain, Misfit, Own, Sealed, Shear, fits};
use crate::transform::decompose::{TRS_TOLERANCE, decompose_linear};
use crate::{Decomposed, NonFinite, NotRotation, Transform};
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
    type Wide = DAffine3;

    const HOLE: Rows = [[0.0; 4]; 3];
    const WIDE_IDENTITY: DAffine3 = DAffine3::IDENTITY;
    const ASSOCIATIVE: bool = true;

    fn admit<E: From<NonFinite> + From<NotRotation>>(transform: &mut Transform) -> Result<(), E> {
        space3::admit_transform(transform)
    }

    fn is_finite(local: &Rows) -> bool {
        local.iter().flatten().all(|element| element.is_finite())
    }

    #[inline]
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

    #[inline(never)]
    fn sweep(parents: &[u32], locals: &[Rows], worlds: &mut [Rows], rows: Range<usize>) {
        super::sweep_rows::<Self>(parents, locals, worlds, rows);
    }

    #[inline(never)]
    fn sweep_bits(parents: &[u32], locals: &[Rows], worlds: &mut [Rows], start: usize, rows: u64) {
        super::sweep_bits::<Self>(parents, locals, worlds, start, rows);
    }

    #[cfg(feature = "rayon")]
    #[inline(never)]
    fn sweep_piece(parents: &[u32], locals: &[Rows], worlds: &mut [Rows], start: u32, above: &[(u32, Rows)]) {
        super::sweep_piece::<Self>(parents, locals, worlds, start, above);
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
        let has_zero = own.transform.scale.cmpeq(Vec3::ZERO).any();
        // A zero scale of a matrix that shears is a zero up to the rounding of its elements.
        has_zero || own.matrix.is_some_and(|local| is_rank_deficient(Self::widen(&local).matrix3))
    }

    fn is_conformal(own: &Own<Self>) -> bool {
        own.matrix.is_none() && space3::is_uniform(own.transform.scale)
    }

    fn solve(parent: &Chain<Self>, wanted: &DAffine3, own: &Own<Self>, shear: Shear) -> Result<Own<Self>, Misfit> {
        let (exact, matrix) = solve_affine(parent.flat, &parent.wide, wanted)?;
        let (parent, matrix) = (&parent.wide, rows(&matrix));
        if matrix == own.local() && (shear == Shear::Allowed || own.matrix.is_none()) {
            return Ok(*own);
        }
        let transform = trs(&exact, own);
        let local = Self::local_of(&transform);
        // The law allows more than a solution may miss where a parent cancels nearly all of what it adds up.
        let fits = fits(misfit(parent, &Self::widen(&local), wanted));
        let holds = match shear {
            Shear::Allowed => fits && within_rounding(parent, &Self::widen(&local), wanted),
            Shear::Refused => {
                let residual = difference(&local, &matrix);
                if residual > TRS_TOLERANCE || !fits {
                    return Err(Misfit::Shear(residual));
                }
                true
            }
        };
        Ok(Own { transform, matrix: (!holds).then_some(matrix) })
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
pub(super) fn difference(a: &Rows, b: &Rows) -> f32 {
    let (a, b) = (affine(a).matrix3, affine(b).matrix3);
    let mut worst: f32 = 0.0;
    for i in 0..3 {
        let off = (a.col(i) - b.col(i)).abs().max_element();
        if off > 0.0 {
            // Below the normal numbers rounding is not relative any more.
            worst = worst.max(off / b.col(i).abs().max_element().max(f32::MIN_POSITIVE));
        }
    }
    worst
}
