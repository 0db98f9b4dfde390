//! Comparison to within a tolerance, part by part.

use crate::{DDecomposed, DDecomposed2, DTransform, DTransform2, Decomposed, Decomposed2, Transform, Transform2};
use approx::{AbsDiffEq, RelativeEq, UlpsEq};
use glam::DVec2;

/// The three comparisons of a type, by a macro that takes two values and by which comparison its parts are
/// compared.
macro_rules! comparisons {
    ($($type:ident of $scalar:ty: $compare:ident;)+) => {$(
        #[cfg_attr(docsrs, doc(cfg(feature = "approx")))]
        impl AbsDiffEq for $type {
            type Epsilon = $scalar;

            fn default_epsilon() -> $scalar {
                <$scalar>::default_epsilon()
            }

            fn abs_diff_eq(&self, other: &Self, epsilon: $scalar) -> bool {
                $compare!(self, other, AbsDiffEq::abs_diff_eq, epsilon)
            }
        }

        #[cfg_attr(docsrs, doc(cfg(feature = "approx")))]
        impl RelativeEq for $type {
            fn default_max_relative() -> $scalar {
                <$scalar>::default_max_relative()
            }

            fn relative_eq(&self, other: &Self, epsilon: $scalar, max_relative: $scalar) -> bool {
                $compare!(self, other, RelativeEq::relative_eq, epsilon, max_relative)
            }
        }

        #[cfg_attr(docsrs, doc(cfg(feature = "approx")))]
        impl UlpsEq for $type {
            fn default_max_ulps() -> u32 {
                <$scalar>::default_max_ulps()
            }

            fn ulps_eq(&self, other: &Self, epsilon: $scalar, max_ulps: u32) -> bool {
                $compare!(self, other, UlpsEq::ulps_eq, epsilon, max_ulps)
            }
        }
    )+};
}

/// Position, rotation and scale each; `q` and `-q` are one rotation.
macro_rules! by_quaternion {
    ($a:expr, $b:expr, $equal:path $(, $tolerance:expr)+) => {
        $equal(&$a.position, &$b.position $(, $tolerance)+)
            && $equal(&$a.scale, &$b.scale $(, $tolerance)+)
            && ($equal(&$a.rotation, &$b.rotation $(, $tolerance)+)
                || $equal(&-$a.rotation, &$b.rotation $(, $tolerance)+))
    };
}

/// Position, angle and scale each; angles that are whole turns apart, but for rounding, are one rotation.
macro_rules! by_angle {
    ($a:expr, $b:expr, $equal:path $(, $tolerance:expr)+) => {
        $equal(&$a.position, &$b.position $(, $tolerance)+)
            && $equal(&$a.scale, &$b.scale $(, $tolerance)+)
            && $equal(&$a.rotation, &whole_turns_nearer($b.rotation.into(), $a.rotation.into()).cast() $(, $tolerance)+)
    };
}

/// The angle among those that are whole turns from `angle` that is nearest to another.
fn whole_turns_nearer(angle: f64, other: f64) -> Angle {
    let turns = DVec2::splat((other - angle) / core::f64::consts::TAU).round().x;
    Angle(angle + turns * core::f64::consts::TAU)
}

struct Angle(f64);

trait Cast<T> {
    fn cast(self) -> T;
}

impl Cast<f32> for Angle {
    fn cast(self) -> f32 {
        self.0 as f32
    }
}

impl Cast<f64> for Angle {
    fn cast(self) -> f64 {
        self.0
    }
}

/// The transform and the shear.
macro_rules! with_shear {
    ($a:expr, $b:expr, $equal:path $(, $tolerance:expr)+) => {
        $equal(&$a.transform, &$b.transform $(, $tolerance)+) && $equal(&$a.shear, &$b.shear $(, $tolerance)+)
    };
}

comparisons! {
    Transform of f32: by_quaternion;
    Decomposed of f32: with_shear;
    DTransform of f64: by_quaternion;
    DDecomposed of f64: with_shear;
    Transform2 of f32: by_angle;
    Decomposed2 of f32: with_shear;
    DTransform2 of f64: by_angle;
    DDecomposed2 of f64: with_shear;
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::{abs_diff_eq, assert_abs_diff_eq, assert_relative_eq, assert_ulps_eq, relative_eq, ulps_eq};
    use glam::{Quat, Vec3};

    fn one() -> Transform {
        let rotation = Quat::from_xyzw(0.5, 0.5, 0.5, 0.5);
        Transform::new(Vec3::new(1000.0, 1.0, 0.0), rotation, Vec3::new(1.0, -2.0, 0.0))
    }

    /// Every number of the nine and one, each made a little larger: beyond one tolerance, within another.
    #[test]
    fn each_number_counts() {
        let t = one();
        for index in 0..10 {
            let mut numbers = [0.0; 10];
            let parts = t.position.to_array().into_iter().chain(t.rotation.to_array()).chain(t.scale.to_array());
            numbers.iter_mut().zip(parts).for_each(|(number, part)| *number = part);
            numbers[index] += 0.25;
            let [x, y, z, a, b, c, d, u, v, w] = numbers;
            let off = Transform::new(Vec3::new(x, y, z), Quat::from_xyzw(a, b, c, d), Vec3::new(u, v, w));
            assert!(abs_diff_eq!(t, off, epsilon = 0.26) && abs_diff_eq!(off, t, epsilon = 0.26));
            assert!(!abs_diff_eq!(t, off, epsilon = 0.24), "number {index}");
            // A difference of 0.25 is a 4000th of the first number alone.
            assert_eq!(relative_eq!(t, off, max_relative = 1e-3), index == 0, "number {index}");
            // Numbers in [512, 1024) are 2⁻¹⁴ apart: 4096 steps.
            assert_eq!(ulps_eq!(t, off, max_ulps = 4096), index == 0, "number {index}");
            assert!(!ulps_eq!(t, off, max_ulps = 4095), "number {index}");
        }
    }

    #[test]
    fn a_quaternion_and_its_negative_are_one_rotation() {
        let (t, other) = (one(), one().with_rotation(-one().rotation));
        assert_abs_diff_eq!(t, other);
        assert_relative_eq!(t, other);
        assert_ulps_eq!(t, other);
        // But not a quaternion of which some components are negated.
        assert!(!relative_eq!(t, t.with_rotation(Quat::from_xyzw(0.5, -0.5, -0.5, 0.5))));
    }

    #[test]
    fn angles_that_are_whole_turns_apart_are_one_rotation() {
        use core::f64::consts::TAU;
        let t = DTransform2::new(DVec2::ONE, 0.5, DVec2::ONE);
        for turns in [-3.0, -1.0, 0.0, 1.0, 100.0] {
            let other = t.with_rotation(0.5 + turns * TAU);
            // A hundred turns carry the rounding of their size: 2⁻⁴⁴.
            assert_abs_diff_eq!(t, other, epsilon = 1e-13);
            assert!(!abs_diff_eq!(t, other.with_rotation(other.rotation + 1e-3), epsilon = 1e-4));
            assert_abs_diff_eq!(t.as_transform2(), other.as_transform2(), epsilon = 1e-4);
        }
        assert!(!abs_diff_eq!(t, t.with_rotation(0.5 + TAU / 2.0), epsilon = 1.0));
        assert!(!abs_diff_eq!(t, t.with_rotation(f64::NAN), epsilon = 1.0));
        assert!(!relative_eq!(t, t.with_scale(DVec2::new(1.0, 1.1))) && !ulps_eq!(t, t.with_position(DVec2::X)));
    }

    #[test]
    fn shear_counts_and_nan_is_equal_to_nothing() {
        let d = Decomposed { transform: one(), shear: Vec3::new(0.0, 1.0, 2.0) };
        let turned = Decomposed { transform: one().with_rotation(-one().rotation), ..d };
        let off = Decomposed { shear: Vec3::new(0.0, 1.0, 2.001), ..d };
        assert_ulps_eq!(d, turned);
        assert_relative_eq!(d, off, max_relative = 1e-3);
        assert_abs_diff_eq!(d, off, epsilon = 0.01);
        assert!(!abs_diff_eq!(d, off) && !relative_eq!(d, off) && !ulps_eq!(d, off));
        let nan = one().with_scale(Vec3::NAN);
        assert!(!abs_diff_eq!(nan, nan) && !relative_eq!(nan, nan) && !ulps_eq!(nan, nan));
    }
}
