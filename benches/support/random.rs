//! Seeded inputs, the same in every run and on every machine.

use posetree::Transform;
use posetree::glam::{Quat, Vec3};

/// splitmix64: small, fast, and good enough to scatter memory accesses.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `end`, which is not zero.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }

    /// From `low` to `high`.
    pub(crate) fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * (self.bits() >> 40) as f32 / (1 << 24) as f32
    }

    pub(crate) fn vector(&mut self, low: f32, high: f32) -> Vec3 {
        Vec3::new(self.between(low, high), self.between(low, high), self.between(low, high))
    }

    pub(crate) fn rotation(&mut self) -> Quat {
        let axis = self.vector(-1.0, 1.0).try_normalize().unwrap_or(Vec3::Y);
        Quat::from_axis_angle(axis, self.between(-3.0, 3.0))
    }

    /// A pose that keeps angles: no product of these shears, and none grows or shrinks on average.
    pub(crate) fn rigid(&mut self) -> Transform {
        Transform::new(self.vector(-10.0, 10.0), self.rotation(), Vec3::ONE)
    }

    /// A pose with a scale of its own for each axis: products of these shear.
    pub(crate) fn stretched(&mut self) -> Transform {
        Transform::new(self.vector(-10.0, 10.0), self.rotation(), self.vector(0.8, 1.25))
    }
}
