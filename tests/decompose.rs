//! Affine matrices taken apart: recomposition, signs, rank, and what counts as shear. The same laws in both precisions.

use glam::{DMat3, DQuat, DVec3};
use posetree::{TransformError, glam};
use proptest::prelude::*;

/// A length that neither over- nor underflows.
fn length(v: DVec3) -> f64 {
    let size = v.abs().max_element();
    if size > 0.0 && size.is_finite() { (v / size).length() * size } else { size }
}

mod single {
    use super::*;
    use glam::{Affine3A, Mat3A, Quat, Vec3, Vec3A};
    use posetree::{Decomposed, Transform, decompose, decompose_with_hint};
    use proptest::num::f32 as any_number;

    type Float = f32;

    const ONE: f32 = 1.0;

    const EPS: f32 = f32::EPSILON;
    const EPS64: f64 = EPS as f64;
    /// What recomposing is off by, and what the parts themselves are, in EPS of a column's length.
    const LAW: f64 = 2.0;
    const LAW_OF_PARTS: f64 = 1.5;
    /// The largest residual that is not shear, and how far the matrix of what was accepted is off, in EPS.
    const TRS: f32 = 16.0;
    const ACCEPTED: f32 = 24.0;
    const WORK: f32 = 1.0;
    const SUBNORMAL: f64 = 1.5e-45;
    const STEPS: f64 = 4.0;

    fn wide(v: Vec3) -> DVec3 {
        v.as_dvec3()
    }

    fn wide_quat(q: Quat) -> DQuat {
        q.as_dquat()
    }

    fn wide_linear(m: &Affine3A) -> DMat3 {
        m.matrix3.as_dmat3()
    }

    fn rounded(q: DQuat) -> Quat {
        q.as_quat()
    }

    include!("decompose/laws.rs");
}

#[allow(clippy::useless_conversion, reason = "in single precision they convert")]
mod double {
    use super::*;
    use glam::{DAffine3 as Affine3A, DMat3 as Mat3A, DQuat as Quat, DVec3 as Vec3, DVec3 as Vec3A};
    use posetree::{
        DDecomposed as Decomposed, DTransform as Transform, ddecompose as decompose,
        ddecompose_with_hint as decompose_with_hint,
    };
    use proptest::num::f64 as any_number;

    type Float = f64;

    const ONE: f64 = 1.0;

    const EPS: f64 = f64::EPSILON;
    const EPS64: f64 = EPS;
    const LAW: f64 = 16.0;
    /// The product here is in float64 too, and rounds as the crate's own does.
    const LAW_OF_PARTS: f64 = 16.0;
    const TRS: f64 = 32.0;
    const ACCEPTED: f64 = 64.0;
    const WORK: f64 = 2.0;
    const SUBNORMAL: f64 = 5e-324;
    const STEPS: f64 = 8.0;

    fn wide(v: DVec3) -> DVec3 {
        v
    }

    fn wide_quat(q: DQuat) -> DQuat {
        q
    }

    fn wide_linear(m: &Affine3A) -> DMat3 {
        m.matrix3
    }

    fn rounded(q: DQuat) -> DQuat {
        q
    }

    include!("decompose/laws.rs");
}
