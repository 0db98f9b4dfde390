//! The doors of daily use against a float64 model, under parents of every kind.
//!
//! ε is float32's spacing at one, u = ε/2 one rounding. Bounds are written as multiples of ε times what
//! rounding is relative to: `|P||L|` element by element for a product that is solved for or multiplied
//! out, the condition of the parent's linear part where an answer goes through its inverse.

#[path = "doors/aim.rs"]
mod aim;
#[path = "common/bits.rs"]
mod bits;
#[path = "doors/conformal.rs"]
mod conformal;
#[path = "doors/convert.rs"]
mod convert;
#[path = "doors/flat.rs"]
mod flat;
#[path = "doors/laws.rs"]
mod laws;
#[path = "doors/refusals.rs"]
mod refusals;
#[path = "doors/spaces.rs"]
mod spaces;
#[path = "doors/stage.rs"]
mod stage;
#[path = "doors/world.rs"]
mod world;

use posetree::glam::{DAffine3, DMat3, DVec3};
use proptest::prelude::*;
use proptest::test_runner::Config;

pub(crate) const EPS: f64 = f32::EPSILON as f64;

pub(crate) fn config() -> Config {
    Config { cases: 1000, failure_persistence: None, ..Config::default() }
}

/// Element by element, within `bound` times the sizes given.
pub(crate) fn near(
    what: &str,
    got: &DAffine3,
    want: &DAffine3,
    size: &DAffine3,
    bound: f64,
) -> Result<(), TestCaseError> {
    let [got, want, size] = [got, want, size].map(DAffine3::to_cols_array);
    for ((got, want), size) in got.into_iter().zip(want).zip(size) {
        prop_assert!((got - want).abs() <= bound * size, "{what}: got {got}, want {want}, allowed {:e}", bound * size);
    }
    Ok(())
}

pub(crate) fn near_vector(what: &str, got: DVec3, want: DVec3, bound: f64) -> Result<(), TestCaseError> {
    let off = (got - want).abs().max_element();
    prop_assert!(off <= bound, "{what}: got {got}, want {want}, off by {off:e}, allowed {bound:e}");
    Ok(())
}

/// `m = Q U`: `Q` a rotation that keeps the first column's line, `U` upper triangular with a positive
/// diagonal but for the first element of a mirroring matrix.
pub(crate) fn axes(m: DMat3) -> (DMat3, DMat3) {
    let x = m.x_axis.normalize();
    let y = (m.y_axis - x * x.dot(m.y_axis)).normalize();
    let z = x.cross(y);
    let mut q = DMat3::from_cols(x, y, z);
    if z.dot(m.z_axis) < 0.0 {
        // Mirrored: turn X and Z about, so that the minus sign goes to X.
        q = DMat3::from_cols(-x, y, -z);
    }
    (q, q.transpose() * m)
}
