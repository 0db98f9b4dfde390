//! Vectors, angles and matrices where worlds are products of matrices of the plane.

use super::Geometry;
use crate::accumulate::matrices2::{Rows2, difference};
use crate::accumulate::space2::{
    DSpace2, Space2, aim, coincide, for_each_precision, hidden_below, scale_misfit, solve, solve_affine, solve_offset,
    solve_point, unit,
};
use crate::accumulate::{Accumulate, Chain, DMatrices2, MISFIT, Matrices2, Misfit, Own, Shear, fits, larger};
use crate::transform::precision::{Widen, power_of_two_near_reciprocal};
use crate::transform2::decompose::{decompose_linear, direction, shear_under};
use crate::transform2::precision::{Precision2, sum_of_angles};
use crate::{DDecomposed2, DTransform2, Decomposed2, NonFinite, Transform2};
use glam::{Affine2, DAffine2, DMat2, DVec2, Vec2};

macro_rules! matrices2 {
    (
        $f:ident: $Matrices:ident, $Components:ident, $Space:ident, $Vector:ident, $Affine:ident,
        $Transform:ident, $Decomposed:ident, $Mat4:ident, $as_mat4:ident
    ) => {
        impl Geometry for $Matrices {
            type Up = ();
            type Shared = $Space;

            #[inline]
            fn put_position(position: $Vector, transform: &mut $Transform, local: &mut Rows2<$f>) {
                transform.position = position;
                for (row, p) in local.iter_mut().zip(position.to_array()) {
                    row[3] = p;
                }
            }

            fn with_position(own: &Own<Self>, position: $Vector) -> Own<Self> {
                let mut own = *own;
                match &mut own.matrix {
                    Some(local) => Self::put_position(position, &mut own.transform, local),
                    None => own.transform.position = position,
                }
                own
            }

            #[inline]
            fn with_rotation(own: &Own<Self>, rotation: $f) -> Own<Self> {
                own.with_factors(|transform| transform.rotation = rotation)
            }

            #[inline]
            fn with_scale(own: &Own<Self>, scale: $Vector) -> Own<Self> {
                own.with_factors(|transform| transform.scale = scale)
            }

            fn import(matrix: &$Affine, own: &Own<Self>) -> Result<Own<Self>, Misfit> {
                if !matrix.is_finite() {
                    return Err(Misfit::NonFinite);
                }
                let factors = decompose_linear(matrix.widen().matrix2, own.transform.scale.widen());
                let transform = $Decomposed::new(&factors, matrix.translation).transform;
                Ok(Own { transform, matrix: Some(Self::rows(matrix)) })
            }

            fn export(own: &Own<Self>) -> $Affine {
                Self::affine(&own.local())
            }

            fn as_trs(own: &Own<Self>) -> Result<$Transform, f32> {
                let residual = own.shear_share();
                if residual <= <$f as Precision2>::TRS_TOLERANCE { Ok(own.transform) } else { Err(residual as f32) }
            }

            fn drop_shear(own: &Own<Self>) -> ($Transform, f32) {
                (own.transform, own.shear_share() as f32)
            }

            fn decompose_own(own: &Own<Self>) -> $Decomposed {
                // With the rotation and scale that are there, not taken apart anew: where a scale is zero the
                // matrix alone does not tell its axes, and shear would turn into rotation.
                let shear = |local| shear_under::<$f>(own.transform.rotation, Self::widen(&local).matrix2);
                $Decomposed { transform: own.transform, shear: own.matrix.map_or(0.0, shear) }
            }

            fn moved_in_parent(own: &Own<Self>, by: $Vector) -> Own<Self> {
                Self::with_position(own, own.transform.position + by)
            }

            fn moved_in_local(own: &Own<Self>, by: $Vector) -> Own<Self> {
                Self::moved_in_parent(own, own.transform.transform_direction(by))
            }

            fn placed_in_local(own: &Own<Self>, position: $Vector) -> Own<Self> {
                Self::with_position(own, Widen::narrow(own.point(position)))
            }

            fn turned_in_parent(own: &Own<Self>, by: $f, about: Option<$Vector>) -> Own<Self> {
                let mut transform = own.transform;
                match about {
                    Some(point) => transform.rotate_around(point, by),
                    None => transform.rotate(by),
                }
                Self::with_position(&Self::with_rotation(own, transform.rotation), transform.position)
            }

            fn turned_in_local(own: &Own<Self>, by: $f, about: Option<$Vector>) -> Own<Self> {
                let turned = Self::turned_in_parent(own, by, None);
                // The point stays where it is: what the turn does to its offset is taken from the position.
                match about {
                    Some(point) => {
                        let moved = turned.point(point) - own.point(point);
                        Self::with_position(&turned, Widen::narrow(own.transform.position.widen() - moved))
                    }
                    None => turned,
                }
            }

            fn moved_in_world(parent: &Chain<Self>, own: &Own<Self>, by: $Vector) -> Result<Own<Self>, Misfit> {
                let from = own.transform.position.widen();
                Ok(Self::with_position(own, solve_offset::<$f>(parent.flat, &parent.wide, from, by.widen())?))
            }

            fn turned_in_world(
                parent: &Chain<Self>,
                own: &Own<Self>,
                by: $f,
                about: Option<$Vector>,
            ) -> Result<Own<Self>, Misfit> {
                let from = own.transform.position.widen();
                let (by, here) = (direction(by.widen()), parent.wide.transform_point2(from));
                let offset = about.map_or(DVec2::ZERO, |point| {
                    let arm = here - point.widen();
                    by.rotate(arm) - arm
                });
                let turned = match parent.handedness() {
                    Some(hand) => {
                        let angle = sum_of_angles(own.transform.rotation.widen(), hand * by.to_angle());
                        Self::with_rotation(own, <$f as Precision2>::angle(angle))
                    }
                    None => {
                        let turn = DMat2::from_cols(by, by.perp());
                        let linear = turn * parent.wide.matrix2 * Self::widen(&own.local()).matrix2;
                        let wanted = DAffine2::from_mat2_translation(linear, here + offset);
                        Self::solve(parent, &wanted, own, Shear::Allowed)?
                    }
                };
                let position = match about {
                    None => own.transform.position,
                    Some(_) => solve_offset::<$f>(parent.flat, &parent.wide, from, offset)?,
                };
                Ok(Self::with_position(&turned, position))
            }

            /// In the parent's space the node's linear part is `R U`, and `R U e_x`, which is `R e_x` times the
            /// scale of X, is to point at the target.
            fn aimed(parent: &Chain<Self>, own: &Own<Self>, at: $Vector, (): ()) -> Result<Own<Self>, Misfit> {
                let (at, here, wide) = (at.widen(), own.transform.position.widen(), &parent.wide);
                let eye = wide.transform_point2(here);
                let size = |v: DVec2| v.abs().max_element();
                let magnitude = size(wide.matrix2.abs() * here.abs()) + size(wide.translation) + size(at);
                if coincide::<$f>(eye, at, magnitude) {
                    return Err(Misfit::Degenerate);
                }
                if parent.flat {
                    return Err(Misfit::Singular(f32::INFINITY));
                }
                let scale = own.transform.scale.x.widen();
                let rotation = <$f as Precision2>::angle(aim(solve(wide.matrix2, at - eye), scale)?);
                let aimed = Self::with_rotation(own, rotation);
                let forward = Self::widen(&aimed.local()).matrix2.x_axis;
                let misfit = match (unit(wide.matrix2 * forward), unit(at - eye)) {
                    (Some(reached), Some(wanted)) => (reached - wanted).abs().max_element(),
                    _ => f64::INFINITY,
                };
                if fits(misfit) { Ok(aimed) } else { Err(Misfit::Singular(misfit as f32)) }
            }

            fn widen_matrix(matrix: &$Affine, _: &Own<Self>) -> Result<DAffine2, Misfit> {
                if matrix.is_finite() { Ok(matrix.widen()) } else { Err(Misfit::NonFinite) }
            }

            fn widen_transform(transform: &$Transform) -> DAffine2 {
                Self::widen(&Self::local_of(transform))
            }

            fn solve_position(parent: &Chain<Self>, own: &Own<Self>, position: $Vector) -> Result<Own<Self>, Misfit> {
                Ok(Self::with_position(own, solve_point::<$f>(parent.flat, &parent.wide, position.widen())?))
            }

            /// The world's linear part is to be `V U` with `U` upper triangular. With the node's own `R U'` that says
            /// `P R = V (U U'⁻¹)`, so that the second row of `Vᵀ P R` is to be `(0, +)`: the second axis of `R` is
            /// along that row of `Vᵀ P`, which is `Pᵀ v_y`, and the first a quarter turn behind it, which puts a
            /// mirroring parent's sign on X, where decomposition looks for it. Needs no inverse and no own scale.
            fn solve_rotation(parent: &Chain<Self>, own: &Own<Self>, rotation: $f) -> Result<Own<Self>, Misfit> {
                let singular = Misfit::Singular(f32::INFINITY);
                if parent.flat {
                    return Err(singular);
                }
                let (linear, wanted) = (parent.wide.matrix2, direction(rotation.widen()));
                let y = unit(linear.transpose() * wanted.perp()).ok_or(singular)?;
                let rotation = <$f as Precision2>::angle((0.0 - y.perp()).to_angle());

                // As it will be read: its rounded matrix too.
                let turned = Self::widen(&Self::local_of(&$Transform::from_rotation(rotation))).matrix2;
                let off = decompose_linear(linear * turned, DVec2::ONE).rotation - wanted;
                let misfit = larger(hidden_below::<$f>(linear, turned), larger(off.x.abs(), off.y.abs()));
                if fits(misfit) { Ok(Self::with_rotation(own, rotation)) } else { Err(Misfit::Singular(misfit as f32)) }
            }

            /// The world's linear part is `P R U'`, with `P R = Q U`; its scale is the product of the diagonals.
            fn solve_scale(parent: &Chain<Self>, own: &Own<Self>, scale: $Vector) -> Result<Own<Self>, Misfit> {
                if parent.flat {
                    return Err(Misfit::Singular(f32::INFINITY));
                }
                let turned = Self::widen(&Self::local_of(&$Transform::from_rotation(own.transform.rotation)));
                let linear = parent.wide.matrix2 * turned.matrix2;
                let factors = decompose_linear(linear, DVec2::ONE).scale;
                let solved = $Vector::narrow(scale.widen() / factors);
                let hidden = hidden_below::<$f>(parent.wide.matrix2, turned.matrix2);
                // A quotient may underflow too.
                let reached = factors * solved.widen();
                let misfit = larger(hidden, scale_misfit::<$f>(reached, scale.widen()));
                if fits(misfit) && solved.is_finite() {
                    Ok(Self::with_scale(own, solved))
                } else {
                    Err(Misfit::Singular(misfit.max(MISFIT) as f32))
                }
            }

            fn matrix(world: &$Affine) -> $Affine {
                *world
            }

            fn wide_matrix(world: &$Affine) -> DAffine2 {
                world.widen()
            }

            #[inline]
            fn position_of(world: &Rows2<$f>) -> $Vector {
                world.map(|row| row[3]).into()
            }

            fn decompose_world(world: &$Affine, hint: &$Transform) -> $Decomposed {
                let factors = decompose_linear(world.widen().matrix2, hint.scale.widen());
                $Decomposed::new(&factors, world.translation)
            }

            fn check_scalar(t: $f) -> Result<$f, NonFinite> {
                if t.is_finite() { Ok(t) } else { Err(NonFinite) }
            }

            fn interpolate(from: &$Affine, to: &$Affine, hint: &$Transform, t: $f) -> $Affine {
                match t {
                    0.0 => *from,
                    1.0 => *to,
                    _ if from == to => *to,
                    t => {
                        let [mut from, mut to] = [from, to].map(|world| Self::decompose_world(world, hint));
                        // What has no extent has no angle: it does not turn on the way.
                        if from.transform.scale == $Vector::ZERO {
                            from.transform.rotation = to.transform.rotation;
                        }
                        if to.transform.scale == $Vector::ZERO {
                            to.transform.rotation = from.transform.rotation;
                        }
                        let shear = from.shear * (1.0 - t) + to.shear * t;
                        $Decomposed { transform: from.transform.lerp(to.transform, t), shear }.recompose()
                    }
                }
            }

            fn row(world: &$Affine) -> Rows2<$f> {
                Self::rows(world)
            }

            fn between(from: &Chain<Self>, to: &Chain<Self>) -> Result<$Affine, Misfit> {
                Ok(solve_affine::<$f>(to.flat, &to.wide, &from.wide)?.1)
            }
        }

        impl Own<$Matrices> {
            /// What holding the own matrix as position, rotation and scale would lose.
            fn shear_share(&self) -> f64 {
                let whole = |local: Rows2<$f>| $Matrices::widen(&local).matrix2;
                let trs = || whole($Matrices::local_of(&self.transform));
                self.matrix.map_or(0.0, |local| difference::<$f>(trs(), whole(local)))
            }

            /// With a changed factor. A matrix keeps its shear, unless that is rounding only.
            fn with_factors(&self, change: impl FnOnce(&mut $Transform)) -> Self {
                let mut decomposed = $Matrices::decompose_own(self);
                change(&mut decomposed.transform);
                let shears = $Matrices::as_trs(self).is_err();
                let matrix = shears.then(|| $Matrices::rows(&decomposed.recompose()));
                Self { transform: decomposed.transform, matrix }
            }

            /// A point of the node's space in its parent's.
            fn point(&self, point: $Vector) -> DVec2 {
                $Matrices::widen(&self.local()).transform_point2(point.widen())
            }
        }

        impl Chain<$Matrices> {
            /// Which way a world rotation turns as seen from here, where this is a rotation or reflection `O`
            /// times one factor: `Oᵀ Rot(a) O = Rot(det(O) a)`. `None` under any other parent, where it shears.
            fn handedness(&self) -> Option<f64> {
                // Times a power of two, so that neither squares nor the determinant over- or underflow.
                let largest = self.wide.matrix2.to_cols_array().into_iter().map(f64::abs).fold(0.0, f64::max);
                let linear = self.wide.matrix2 * power_of_two_near_reciprocal(largest);
                let conformal = self.conformal && !self.flat || {
                    let unit = linear * linear.x_axis.length().recip();
                    let gram = unit.transpose() * unit - DMat2::IDENTITY;
                    let off = gram.to_cols_array().into_iter().map(f64::abs).fold(0.0, larger);
                    off <= <$f as Precision2>::CONFORMAL
                };
                conformal.then(|| linear.determinant().signum())
            }
        }
    };
}
for_each_precision!(matrices2);
