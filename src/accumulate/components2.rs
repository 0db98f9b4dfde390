//! Worlds of the plane as positions, angles and scales, each accumulated by itself.

use super::space2::{self, for_each_precision, position_misfit, scale_misfit};
use super::{Accumulate, Chain, Misfit, Own, Sealed, Shear, fits};
use crate::transform::precision::Widen;
use crate::transform2::decompose::direction;
use crate::transform2::precision::{Precision2, sum_of_angles};
use crate::{DDecomposed2, DTransform2, Decomposed2, Inherit, NonFinite, NotRotation, Transform2};
use core::ops::Range;
use glam::{Affine2, DAffine2, DVec2, Vec2};

macro_rules! components2 {
    (
        $f:ident: $Matrices:ident, $Components:ident, $Space:ident, $Vector:ident, $Affine:ident,
        $Transform:ident, $Decomposed:ident, $Mat4:ident, $as_mat4:ident
    ) => {
        #[doc = concat!("World poses are [`", stringify!($Transform), "`]s: `world = parent_world.combine(local)`, part by part.")]
        ///
        /// Never shears: a parent's scale factors act along the child's own axes. The angle of a child's world is
        /// wrapped to (-π, π] at every level, so that depth does not wear it out; a root's is as it was set.
        ///
        #[doc = concat!("A row of [`Worlds::rows`](crate::Worlds::rows) is a [`", stringify!($Transform), "`]. A product takes a sine and a cosine.")]
        ///
        /// ```
        #[doc = concat!("use posetree::{HierarchyOf, ", stringify!($Components), ", ", stringify!($Transform), ", glam::", stringify!($Vector), "};")]
        #[doc = concat!("let mut h = HierarchyOf::<", stringify!($Components), ">::new();")]
        #[doc = concat!("let wide = h.add_root(", stringify!($Transform), "::from_scale(", stringify!($Vector), "::new(4.0, 1.0)))?;")]
        #[doc = concat!("let turned = h.add_child(wide, ", stringify!($Transform), "::from_rotation(0.7))?;")]
        #[doc = concat!("assert_eq!(h.world(turned)?.scale, ", stringify!($Vector), "::new(4.0, 1.0));")]
        /// # Ok::<(), posetree::Error>(())
        /// ```
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $Components;

        impl Sealed for $Components {}

        impl Accumulate for $Components {
            type Scalar = $f;
            type Vector = $Vector;
            type Rotation = $f;
            type Affine = $Affine;
            type Transform = $Transform;
            type Decomposed = $Decomposed;
            type World = $Transform;
            type Row = $Transform;
            type Wide = DTransform2;
            type Pose = DTransform2;

            const HOLE: $Transform = $Transform::new($Vector::ZERO, 0.0, $Vector::ZERO);
            const WIDE_IDENTITY: DTransform2 = DTransform2::IDENTITY;
            /// Rotations commute, but an uneven scale does not commute with them.
            const ASSOCIATIVE: bool = false;

            #[inline(always)]
            fn is_plain(transform: &$Transform) -> bool {
                transform.is_finite()
            }

            fn admit<E: From<NonFinite> + From<NotRotation>>(transform: &mut $Transform) -> Result<(), E> {
                if transform.is_finite() { Ok(()) } else { Err(NonFinite.into()) }
            }

            fn is_finite(local: &$Transform) -> bool {
                local.is_finite()
            }

            fn same_bits(a: &$Transform, b: &$Transform) -> bool {
                let numbers =
                    |t: &$Transform| t.position.to_array().into_iter().chain([t.rotation]).chain(t.scale.to_array());
                super::same_numbers!(numbers(a), numbers(b))
            }

            #[inline]
            fn local_of(transform: &$Transform) -> $Transform {
                *transform
            }

            fn root(local: &$Transform) -> $Transform {
                *local
            }

            #[inline]
            fn product(parent: &$Transform, local: &$Transform) -> $Transform {
                let angle = sum_of_angles(parent.rotation.widen(), local.rotation.widen());
                let rotation = <$f as Precision2>::angle(angle);
                $Transform { rotation, ..parent.combine(*local) }
            }

            super::sweep::sweeps!($Transform);
            super::poses::poses!($Transform);

            #[inline]
            fn world(row: &$Transform) -> $Transform {
                *row
            }

            #[inline(always)]
            fn combined(parent: &$Transform, inherit: Inherit, child: &$Transform) -> $Transform {
                if inherit == Inherit::ALL {
                    return Self::product(parent, child);
                }
                let pose = Self::product(&Self::reduced(parent, inherit), child);
                if inherit.position { pose } else { pose.with_position(child.position) }
            }

            #[inline(always)]
            fn hung(parent: &$Transform, inherit: Inherit, local: &$Transform) -> $Transform {
                Self::combined(parent, inherit, local)
            }

            fn widen_pose(transform: &$Transform) -> DTransform2 {
                Self::widen(transform)
            }

            fn wide_combined(parent: &DTransform2, inherit: Inherit, child: &DTransform2) -> DTransform2 {
                let pose = Self::wide_product(&DComponents2::reduced(parent, inherit), child);
                if inherit.position { pose } else { pose.with_position(child.position) }
            }

            fn frame(parent: &DTransform2, inherit: Inherit) -> Chain<Self> {
                let wide = DComponents2::reduced(parent, inherit);
                let flat = wide.scale.cmpeq(DVec2::ZERO).any();
                Chain { wide, flat, conformal: space2::is_uniform::<f64>(wide.scale) }
            }

            fn centred(frame: &DTransform2, at: &DTransform2) -> DTransform2 {
                frame.with_position(at.position)
            }

            fn placed(own: &Own<Self>, at: &DTransform2) -> Own<Self> {
                Own::trs(own.transform.with_position($Vector::narrow(at.position)))
            }

            fn widen(local: &$Transform) -> DTransform2 {
                DTransform2::new(local.position.widen(), local.rotation.widen(), local.scale.widen())
            }

            fn wide_product(parent: &DTransform2, child: &DTransform2) -> DTransform2 {
                let rotation = f64::angle(sum_of_angles(parent.rotation, child.rotation));
                DTransform2 { rotation, ..parent.combine(*child) }
            }

            fn is_flat(own: &Own<Self>) -> bool {
                own.transform.scale.cmpeq($Vector::ZERO).any()
            }

            fn is_conformal(own: &Own<Self>) -> bool {
                space2::is_uniform::<$f>(own.transform.scale)
            }

            fn solve(parent: &Chain<Self>, wanted: &DTransform2, _: &Own<Self>, _: Shear) -> Result<Own<Self>, Misfit> {
                Ok(Own::trs($Transform {
                    position: solve_position::<$f>(&parent.wide, wanted.position)?,
                    rotation: <$f as Precision2>::angle(sum_of_angles(wanted.rotation, -parent.wide.rotation)),
                    scale: solve_scale::<$f>(&parent.wide, wanted.scale)?,
                }))
            }
        }

        impl $Components {
            /// The parts that are inherited; those that are off are the identity's.
            pub(super) fn reduced(pose: &$Transform, inherit: Inherit) -> $Transform {
                $Transform {
                    position: if inherit.position { pose.position } else { $Vector::ZERO },
                    rotation: if inherit.rotation { pose.rotation } else { $Transform::IDENTITY.rotation },
                    scale: if inherit.scale { pose.scale } else { $Vector::ONE },
                }
            }
        }
    };
}
for_each_precision!(components2);

/// The own position whose world position is `wanted`.
pub(super) fn solve_position<P: Precision2>(parent: &DTransform2, wanted: DVec2) -> Result<P::Vector, Misfit> {
    placed::<P>(parent, unturned(parent, wanted - parent.position) / parent.scale, wanted)
}

/// The own position that is off `from` by `by` in the world.
pub(super) fn solve_offset<P: Precision2>(parent: &DTransform2, from: DVec2, by: DVec2) -> Result<P::Vector, Misfit> {
    placed::<P>(parent, from + unturned(parent, by) / parent.scale, parent.transform_point(from) + by)
}

fn unturned(parent: &DTransform2, v: DVec2) -> DVec2 {
    direction(-parent.rotation).rotate(v)
}

fn placed<P: Precision2>(parent: &DTransform2, position: DVec2, wanted: DVec2) -> Result<P::Vector, Misfit> {
    let position = P::Vector::narrow(position);
    let misfit = position_misfit::<P>(parent.transform_point(position.widen()), wanted, parent.position);
    if fits(misfit) && position.widen().is_finite() { Ok(position) } else { Err(Misfit::Singular(misfit as f32)) }
}

/// The own scale whose world scale is `wanted`.
pub(super) fn solve_scale<P: Precision2>(parent: &DTransform2, wanted: DVec2) -> Result<P::Vector, Misfit> {
    let scale = P::Vector::narrow(wanted / parent.scale);
    let misfit = scale_misfit::<P>(parent.scale * scale.widen(), wanted);
    if fits(misfit) && scale.widen().is_finite() { Ok(scale) } else { Err(Misfit::Singular(misfit as f32)) }
}
