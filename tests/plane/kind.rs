//! The four hierarchies of the plane as the tests see them, and the model's matrices.

use super::*;

/// A 2x3 matrix: two columns and a translation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct M {
    pub(crate) x: DVec2,
    pub(crate) y: DVec2,
    pub(crate) t: DVec2,
}

impl M {
    pub(crate) const IDENTITY: Self = Self { x: DVec2::X, y: DVec2::Y, t: DVec2::ZERO };

    /// `T * R * S`, written down from its definition.
    pub(crate) fn trs(t: &DTransform2) -> Self {
        let (c, s) = (t.rotation.cos(), t.rotation.sin());
        Self { x: DVec2::new(c, s) * t.scale.x, y: DVec2::new(-s, c) * t.scale.y, t: t.position }
    }

    pub(crate) fn turn(angle: f64) -> Self {
        Self::trs(&DTransform2::from_rotation(angle))
    }

    pub(crate) fn vector(&self, v: DVec2) -> DVec2 {
        self.x * v.x + self.y * v.y
    }

    pub(crate) fn point(&self, p: DVec2) -> DVec2 {
        self.vector(p) + self.t
    }

    pub(crate) fn times(&self, other: &Self) -> Self {
        Self { x: self.vector(other.x), y: self.vector(other.y), t: self.point(other.t) }
    }

    pub(crate) fn abs(&self) -> Self {
        Self { x: self.x.abs(), y: self.y.abs(), t: self.t.abs() }
    }

    pub(crate) fn elements(&self) -> [f64; 6] {
        [self.x.x, self.x.y, self.y.x, self.y.y, self.t.x, self.t.y]
    }

    pub(crate) fn determinant(&self) -> f64 {
        self.x.x * self.y.y - self.x.y * self.y.x
    }

    /// The Frobenius norm of the linear part.
    pub(crate) fn norm(&self) -> f64 {
        (self.x.length_squared() + self.y.length_squared()).sqrt()
    }

    /// Norm of the linear part times that of its inverse: how much it can stretch an error against what it maps.
    pub(crate) fn condition(&self) -> f64 {
        self.norm().powi(2) / self.determinant().abs()
    }

    /// `x` in `self x = v`.
    pub(crate) fn solve(&self, v: DVec2) -> DVec2 {
        DVec2::new(v.x * self.y.y - v.y * self.y.x, self.x.x * v.y - self.x.y * v.x) / self.determinant()
    }

    /// Angle of the X axis and the diagonal of what is left, where a mirroring matrix has its sign on X.
    pub(crate) fn factors(&self) -> (f64, DVec2) {
        let hand = self.determinant().signum();
        let x = self.x * hand;
        (x.y.atan2(x.x), DVec2::new(x.length() * hand, self.determinant().abs() / x.length()))
    }
}

/// A pose in float64: with matrices its matrix, with components angle and scale too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pose {
    pub(crate) m: M,
    pub(crate) angle: f64,
    pub(crate) scale: DVec2,
    /// The same product with every element's size: what rounding is relative to.
    pub(crate) size: M,
    pub(crate) depth: f64,
}

impl Pose {
    pub(crate) const IDENTITY: Self =
        Self { m: M::IDENTITY, angle: 0.0, scale: DVec2::ONE, size: M::IDENTITY, depth: 0.0 };
}

/// What a node owns: as parts and as the matrix that is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Own {
    pub(crate) t: DTransform2,
    pub(crate) m: M,
}

pub(crate) trait Kind: Geometry<Up = ()> {
    /// Spacing at one, and the law of what is solved for, in its units.
    const EPS: f64;
    const LAW: f64;
    const MATRICES: bool;
    fn transform(t: DTransform2) -> Self::Transform;
    fn vector(v: DVec2) -> Self::Vector;
    fn angle(r: f64) -> Self::Rotation;
    fn matrix_of(m: &M) -> Self::Affine;
    fn wide_vector(v: Self::Vector) -> DVec2;
    fn wide_angle(r: Self::Rotation) -> f64;
    fn wide_transform(t: Self::Transform) -> DTransform2;
    fn wide_matrix_of(m: Self::Affine) -> M;
    fn shear(d: Self::Decomposed) -> f64;
    fn scalar(t: f64) -> Self::Scalar;
    fn matrix_of_world(world: Self::World) -> Self::Affine;

    /// What reading rounds by, with the model's own rounding.
    fn eps() -> f64 {
        Self::EPS + f64::EPSILON
    }

    fn own(h: &HierarchyOf<Self>, id: NodeId) -> Own {
        let [position, scale] = [h.position(id), h.scale(id)].map(|v| Self::wide_vector(v.unwrap()));
        let t = DTransform2::new(position, Self::wide_angle(h.rotation(id).unwrap()), scale);
        Own { t, m: Self::wide_matrix_of(h.local_matrix(id).unwrap()) }
    }

    fn below(parent: &Pose, own: &Own) -> Pose {
        let (angle, scale, depth) = (parent.angle + own.t.rotation, parent.scale * own.t.scale, parent.depth + 1.0);
        if Self::MATRICES {
            return Pose { m: parent.m.times(&own.m), size: parent.size.times(&own.m.abs()), angle, scale, depth };
        }
        let offset = parent.scale * own.t.position;
        let position = parent.m.t + M::turn(parent.angle).vector(offset);
        let m = M::trs(&DTransform2::new(position, angle, scale));
        let size = M { t: parent.size.t + DVec2::splat(offset.abs().element_sum()), ..m.abs() };
        Pose { m, angle, scale, size, depth }
    }
}

macro_rules! kind {
    ($Kind:ident, $Transform:ident, $Vector:ident, $Affine:ident, $f:ident, $matrices:literal, law $law:literal,
        $narrow:expr, $narrow_vector:expr) => {
        impl Kind for posetree::$Kind {
            const EPS: f64 = $f::EPSILON as f64;
            const LAW: f64 = $law;
            const MATRICES: bool = $matrices;

            fn transform(t: DTransform2) -> posetree::$Transform {
                $narrow(t)
            }

            fn vector(v: DVec2) -> glam::$Vector {
                $narrow_vector(v)
            }

            fn angle(r: f64) -> $f {
                r as $f
            }

            fn matrix_of(m: &M) -> glam::$Affine {
                glam::$Affine::from_cols(Self::vector(m.x), Self::vector(m.y), Self::vector(m.t))
            }

            fn wide_vector(v: glam::$Vector) -> DVec2 {
                v.into()
            }

            fn wide_angle(r: $f) -> f64 {
                r.into()
            }

            fn wide_transform(t: posetree::$Transform) -> DTransform2 {
                DTransform2::new(t.position.into(), t.rotation.into(), t.scale.into())
            }

            fn wide_matrix_of(m: glam::$Affine) -> M {
                M { x: m.matrix2.x_axis.into(), y: m.matrix2.y_axis.into(), t: m.translation.into() }
            }

            fn scalar(t: f64) -> $f {
                t as $f
            }

            fn matrix_of_world(world: Self::World) -> glam::$Affine {
                world.into()
            }

            fn shear(d: Self::Decomposed) -> f64 {
                d.shear.into()
            }
        }
    };
}
kind!(Matrices2, Transform2, Vec2, Affine2, f32, true, law 2.0, |t: DTransform2| t.as_transform2(), |v: DVec2| v.as_vec2());
kind!(Components2, Transform2, Vec2, Affine2, f32, false, law 2.0, |t: DTransform2| t.as_transform2(), |v: DVec2| v.as_vec2());
kind!(DMatrices2, DTransform2, DVec2, DAffine2, f64, true, law 8.0, |t| t, |v| v);
kind!(DComponents2, DTransform2, DVec2, DAffine2, f64, false, law 8.0, |t| t, |v| v);
