//! `Transform` and `DTransform`: their algebra by laws and counterexamples, their conversions, and their verbs.

use glam::EulerRot;
use posetree::{DTransform, TransformError, glam};
use proptest::prelude::*;

#[path = "common/bits.rs"]
mod bits;

use bits::bits_of;

mod single {
    use super::*;
    use core::f32::consts::{FRAC_PI_2, FRAC_PI_4};
    use glam::{Affine3A, Mat4, Quat, Vec3};
    use posetree::Transform;

    type Float = f32;

    const ONE: f32 = 1.0;
    const BELOW_RECIPROCALS: f32 = 1e-39;
    /// The square of it overflows.
    const BIG: f32 = 1e30;

    fn direction(from: Vec3, to: Vec3) -> Vec3 {
        (to.as_dvec3() - from.as_dvec3()).normalize().as_vec3()
    }

    fn wide(t: Transform) -> DTransform {
        t.as_dtransform()
    }

    include!("transform/laws.rs");
}

mod double {
    use super::*;
    use core::f64::consts::{FRAC_PI_2, FRAC_PI_4};
    use glam::{DAffine3 as Affine3A, DMat4 as Mat4, DQuat as Quat, DVec3 as Vec3};
    use posetree::DTransform as Transform;

    type Float = f64;

    const ONE: f64 = 1.0;
    const BELOW_RECIPROCALS: f64 = 1e-310;
    const BIG: f64 = 1e200;

    fn direction(from: Vec3, to: Vec3) -> Vec3 {
        (to - from).normalize()
    }

    fn wide(t: Transform) -> DTransform {
        t
    }

    include!("transform/laws.rs");
}

mod between_precisions {
    use super::*;
    use glam::{DQuat, DVec3, Quat, Vec3};
    use posetree::Transform;

    proptest! {
        #[test]
        fn there_and_back_keeps_the_bits(numbers in prop::array::uniform10(prop::num::f32::NORMAL | prop::num::f32::ZERO)) {
            let [a, b, c, d, e, f, g, h, i, j] = numbers;
            let t = Transform::new(Vec3::new(a, b, c), Quat::from_xyzw(d, e, f, g), Vec3::new(h, i, j));
            prop_assert_eq!(bits_of(DTransform::from(t)), bits_of(t.as_dtransform()));
            prop_assert_eq!(bits_of(DTransform::from(t).as_transform()), bits_of(t));
        }
    }

    #[test]
    fn rounding_is_to_nearest_and_to_infinity_beyond_the_end() {
        let t = DTransform::new(DVec3::new(0.1, 1e300, -1e-300), DQuat::IDENTITY, DVec3::ONE);
        assert_eq!(t.as_transform().position, Vec3::new(0.1, f32::INFINITY, -0.0));
    }
}
