//! Values for property tests.

use posetree::glam::{Quat, Vec3};
use proptest::prelude::*;

/// Unit quaternions in all directions.
pub(crate) fn rotations() -> impl Strategy<Value = Quat> {
    prop::array::uniform4(-1.0_f32..1.0)
        .prop_map(Quat::from_array)
        .prop_filter("no direction", |q| q.length() > 0.1)
        .prop_map(Quat::normalize)
}

/// Vectors of up to `size` along each axis.
pub(crate) fn vectors(size: f32) -> impl Strategy<Value = Vec3> {
    prop::array::uniform3(-size..size).prop_map(Vec3::from_array)
}
