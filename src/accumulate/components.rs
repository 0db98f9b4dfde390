//! Worlds as positions, rotations and scales, each accumulated by itself.

use super::space3::{is_uniform, position_misfit, scale_misfit, wide_rotation};
use super::{Accumulate, Chain, Misfit, Own, Sealed, Shear, fits};
use crate::transform::precision::{Precision, Widen};
use crate::{DDecomposed, DTransform, Decomposed, Inherit, NonFinite, NotRotation, Transform};
use core::ops::Range;
use glam::{Affine3A, DAffine3, DQuat, DVec3, Quat, Vec3};

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

/// [`Components`] in double precision: world poses are [`DTransform`]s.
///
/// ```
/// use posetree::{DComponentHierarchy, DTransform, glam::{DQuat, DVec3}};
/// let mut h = DComponentHierarchy::new();
/// let wide = h.add_root(DTransform::from_scale(DVec3::new(4.0, 1.0, 1.0)))?;
/// let turned = h.add_child(wide, DTransform::from_rotation(DQuat::from_rotation_z(0.7)))?;
/// assert_eq!(h.world(turned)?.scale, DVec3::new(4.0, 1.0, 1.0));
/// # Ok::<(), posetree::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DComponents;

/// A transform in float64, its rotation unit to that precision.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(unnameable_types, reason = "an associated type of a sealed trait")]
pub struct Wide {
    pub(super) position: DVec3,
    pub(super) rotation: DQuat,
    pub(super) scale: DVec3,
}

impl Wide {
    /// The parts that are inherited; those that are off are the identity's.
    pub(super) fn reduced(&self, inherit: Inherit) -> Self {
        Self {
            position: if inherit.position { self.position } else { DVec3::ZERO },
            rotation: if inherit.rotation { self.rotation } else { DQuat::IDENTITY },
            scale: if inherit.scale { self.scale } else { DVec3::ONE },
        }
    }
}

/// Writes the accumulation of one precision.
macro_rules! components3 {
    (
        $Name:ident, $Float:ident, $Vec3:ident, $Quat:ident, $Transform:ident, $Decomposed:ident, $Affine:ident
    ) => {
        impl Sealed for $Name {}

        impl Accumulate for $Name {
            type Scalar = $Float;
            type Vector = $Vec3;
            type Rotation = $Quat;
            type Affine = $Affine;
            type Transform = $Transform;
            type Decomposed = $Decomposed;
            type World = $Transform;
            type Row = $Transform;
            type Wide = Wide;
            type Pose = Wide;

            const HOLE: $Transform = $Transform::new($Vec3::ZERO, $Quat::from_xyzw(0.0, 0.0, 0.0, 0.0), $Vec3::ZERO);
            const WIDE_IDENTITY: Wide = Wide { position: DVec3::ZERO, rotation: DQuat::IDENTITY, scale: DVec3::ONE };
            /// Not where a scale is not uniform: see [`Transform::combine`].
            const ASSOCIATIVE: bool = false;

            #[inline(always)]
            fn is_plain(transform: &$Transform) -> bool {
                $Float::is_plain(transform)
            }

            fn admit<E: From<NonFinite> + From<NotRotation>>(transform: &mut $Transform) -> Result<(), E> {
                $Float::admit_transform(transform)
            }

            fn is_finite(local: &$Transform) -> bool {
                $Float::has_finite_matrix(local)
            }

            fn same_bits(a: &$Transform, b: &$Transform) -> bool {
                let numbers = |t: &$Transform| {
                    t.position.to_array().into_iter().chain(t.rotation.to_array()).chain(t.scale.to_array())
                };
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
                let mut world = parent.combine(*local);
                // One Newton step towards length one: exact to the square of an error of a few last bits. The length
                // is that of the factors, so that this does not wait for the product, whose own rounding the next
                // step takes away.
                let half = 0.5 * local.rotation.length_squared();
                world.rotation *= 1.5 - parent.rotation.length_squared() * half;
                world
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

            fn widen_pose(transform: &$Transform) -> Wide {
                Self::widen(transform)
            }

            fn wide_combined(parent: &Wide, inherit: Inherit, child: &Wide) -> Wide {
                let pose = Self::wide_product(&parent.reduced(inherit), child);
                if inherit.position { pose } else { Wide { position: child.position, ..pose } }
            }

            fn frame(parent: &Wide, inherit: Inherit) -> Chain<Self> {
                let wide = parent.reduced(inherit);
                let flat = wide.scale.cmpeq(DVec3::ZERO).any();
                Chain { wide, flat, conformal: is_uniform::<f64>(wide.scale) }
            }

            fn centred(frame: &Wide, at: &Wide) -> Wide {
                Wide { position: at.position, ..*frame }
            }

            fn placed(own: &Own<Self>, at: &Wide) -> Own<Self> {
                Own::trs(own.transform.with_position($Vec3::narrow(at.position)))
            }

            fn widen(local: &$Transform) -> Wide {
                Wide {
                    position: local.position.widen(),
                    rotation: wide_rotation(local.rotation),
                    scale: local.scale.widen(),
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
                own.transform.scale.cmpeq($Vec3::ZERO).any()
            }

            fn is_conformal(own: &Own<Self>) -> bool {
                is_uniform::<$Float>(own.transform.scale)
            }

            fn solve(parent: &Chain<Self>, wanted: &Wide, own: &Own<Self>, _: Shear) -> Result<Own<Self>, Misfit> {
                let transform = $Transform {
                    position: parent.solve_position(wanted.position)?,
                    rotation: parent.solve_rotation(wanted.rotation, own),
                    scale: parent.solve_scale(wanted.scale)?,
                };
                Ok(Own::trs(transform))
            }
        }

        impl $Name {
            /// The parts that are inherited; those that are off are the identity's.
            pub(super) fn reduced(pose: &$Transform, inherit: Inherit) -> $Transform {
                $Transform {
                    position: if inherit.position { pose.position } else { $Vec3::ZERO },
                    rotation: if inherit.rotation { pose.rotation } else { $Transform::IDENTITY.rotation },
                    scale: if inherit.scale { pose.scale } else { $Vec3::ONE },
                }
            }
        }

        impl Chain<$Name> {
            /// The own position whose world position is `wanted`.
            pub(super) fn solve_position(&self, wanted: DVec3) -> Result<$Vec3, Misfit> {
                let parent = &self.wide;
                let position = (parent.rotation.inverse() * (wanted - parent.position)) / parent.scale;
                self.placed($Vec3::narrow(position), wanted)
            }

            /// The own position that is off `from` by `by` in the world.
            pub(super) fn solve_offset(&self, from: $Vec3, by: DVec3) -> Result<$Vec3, Misfit> {
                let (parent, from) = (&self.wide, from.widen());
                let offset = (parent.rotation.inverse() * by) / parent.scale;
                self.placed($Vec3::narrow(from + offset), self.reached(from) + by)
            }

            fn placed(&self, position: $Vec3, wanted: DVec3) -> Result<$Vec3, Misfit> {
                let misfit = position_misfit::<$Float>(self.reached(position.widen()), wanted, self.wide.position);
                if fits(misfit) && position.is_finite() { Ok(position) } else { Err(Misfit::Singular(misfit as f32)) }
            }

            fn reached(&self, position: DVec3) -> DVec3 {
                self.wide.position + self.wide.rotation * (self.wide.scale * position)
            }

            /// The own rotation whose world rotation is `wanted`. Needs no inverse of a scale.
            pub(super) fn solve_rotation(&self, wanted: DQuat, own: &Own<$Name>) -> $Quat {
                let rotation = (self.wide.rotation.inverse() * wanted).normalize();
                $Float::nearer($Quat::narrow(rotation), own.transform.rotation)
            }

            /// The own scale whose world scale is `wanted`.
            pub(super) fn solve_scale(&self, wanted: DVec3) -> Result<$Vec3, Misfit> {
                let scale = $Vec3::narrow(wanted / self.wide.scale);
                let misfit = scale_misfit::<$Float>(self.wide.scale * scale.widen(), wanted);
                if fits(misfit) && scale.is_finite() { Ok(scale) } else { Err(Misfit::Singular(misfit as f32)) }
            }
        }
    };
}

components3!(Components, f32, Vec3, Quat, Transform, Decomposed, Affine3A);
components3!(DComponents, f64, DVec3, DQuat, DTransform, DDecomposed, DAffine3);
