//! Determinants of which the sign, and whether they are zero, is decided without rounding.
//!
//! Products are written as sums of float64 numbers without error (the product of two is a rounded product and its
//! rounding error, which is a float64 number too: T. J. Dekker, 1971), and those terms are added without error (a
//! growing expansion: J. R. Shewchuk, 1997). Columns are scaled by powers of two first, which changes neither the
//! answer nor a digit. For float32 columns nothing is ever lost; in float64 a term is, as if it were zero, if it is
//! 2⁻¹⁹⁰⁰ times smaller than the product of the columns' largest elements.

use super::precision::power_of_two_near_reciprocal;
use glam::{DMat3, DVec3};

/// A column's largest element is brought to this, so that the products of three come nowhere near either end of
/// the range.
const LIFT: f64 = power_of_two(300);

/// What a product of two columns is too large by, in [`cross`].
pub(crate) const LIFT2: f64 = power_of_two(600);

/// What a product of three columns is too large by, in [`determinant`].
pub(crate) const LIFT3: f64 = power_of_two(900);

const fn power_of_two(exponent: u64) -> f64 {
    f64::from_bits((1023 + exponent) << 52)
}

/// Whether the determinant is exactly zero.
pub(crate) fn is_rank_deficient(m: DMat3) -> bool {
    determinant(m) == 0.0
}

/// The determinant of a matrix whose columns are each taken in units of the power of two at their largest element:
/// [`LIFT3`] times as large, right in its sign, and zero only if it is.
pub(crate) fn determinant(m: DMat3) -> f64 {
    let [x, y, z] = [m.x_axis, m.y_axis, m.z_axis].map(lifted);
    let mut sum = Expansion::default();
    for (i, j, k) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
        sum.add_product(x[i], y[j], z[k]);
        sum.add_product(-x[i], y[k], z[j]);
    }
    sum.value()
}

/// The cross product of two columns, each in units as for [`determinant`]: [`LIFT2`] times as large, every element
/// right in its sign and zero only if it is.
pub(crate) fn cross(a: DVec3, b: DVec3) -> DVec3 {
    let [a, b] = [a, b].map(lifted);
    let minor = |i: usize, j: usize| {
        let ((p, p_low), (q, q_low)) = (two_product(a[i], b[j]), two_product(a[j], b[i]));
        // The low parts count only where the high ones cancel, and then these leave no error.
        let ((high, high_low), (low, low_low)) = (two_sum(p, -q), two_sum(p_low, -q_low));
        (high + low) + (high_low + low_low)
    };
    DVec3::new(minor(1, 2), minor(2, 0), minor(0, 1))
}

fn lifted(column: DVec3) -> [f64; 3] {
    let size = column.abs().max_element();
    // Not in one step: both factors are within the range, their product may not be.
    if size > 0.0 { (column * power_of_two_near_reciprocal(size) * LIFT).to_array() } else { [0.0; 3] }
}

/// `a * b - c * d`, within two roundings of itself however much cancels: where it does, the difference of
/// the rounded products is exact, and their rounding errors complete it. Zero if and only if it is zero, as
/// long as the errors do not underflow.
pub(crate) fn difference_of_products(a: f64, b: f64, c: f64, d: f64) -> f64 {
    let ((high, low), (other_high, other_low)) = (two_product(a, b), two_product(c, d));
    (high - other_high) + (low - other_low)
}

/// A sum of float64 numbers that is the exact value; at most six products of four terms each.
#[derive(Default)]
struct Expansion {
    terms: [f64; 24],
    len: usize,
}

impl Expansion {
    fn add_product(&mut self, a: f64, b: f64, c: f64) {
        let (high, low) = two_product(a, b);
        for part in [high, low] {
            let (high, low) = two_product(part, c);
            self.add(low);
            self.add(high);
        }
    }

    fn add(&mut self, term: f64) {
        let mut carry = term;
        for slot in &mut self.terms[..self.len] {
            let (sum, error) = two_sum(carry, *slot);
            *slot = error;
            carry = sum;
        }
        self.terms[self.len] = carry;
        self.len += 1;
    }

    /// The sum, rounded. The terms do not overlap and grow, so that they cancel only by being zero.
    fn value(&self) -> f64 {
        self.terms[..self.len].iter().sum()
    }
}

/// `a + b` rounded, and what rounding lost (D. E. Knuth).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let from_b = sum - a;
    (sum, (a - (sum - from_b)) + (b - from_b))
}

/// `a * b` rounded, and what rounding lost (T. J. Dekker, with G. W. Veltkamp's splitting).
fn two_product(a: f64, b: f64) -> (f64, f64) {
    let split = |x: f64| {
        let scaled = 134_217_729.0 * x; // 2^27 + 1
        let high = scaled - (scaled - x);
        (high, x - high)
    };
    let product = a * b;
    let ((a_high, a_low), (b_high, b_low)) = (split(a), split(b));
    (product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{Mat3, Vec3};
    use proptest::prelude::*;

    fn columns(x: DVec3, y: DVec3, z: DVec3) -> DMat3 {
        DMat3::from_cols(x, y, z)
    }

    proptest! {
        /// Small whole numbers have an exact determinant in 128 bits to compare with.
        #[test]
        fn whole_numbers(m in prop::array::uniform9(-3i32..=3), shift in prop::array::uniform3(-40i32..40)) {
            let [a, b, c, d, e, f, g, h, i] = m.map(i64::from);
            let det = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);
            let m = m.map(f64::from);
            let scaled = |c: [f64; 3], s: i32| DVec3::from_array(c) * 2f64.powi(s);
            let matrix = columns(
                scaled([m[0], m[3], m[6]], shift[0]),
                scaled([m[1], m[4], m[7]], shift[1]),
                scaled([m[2], m[5], m[8]], shift[2]),
            );
            prop_assert_eq!(is_rank_deficient(matrix), det == 0);
        }

        /// Products of up to 105 bits, and differences down to their last one.
        #[test]
        fn differences_of_products(
            [a, b, c] in prop::array::uniform3(-(1i64 << 52)..1i64 << 52), off in -3i128..=3, near in any::<bool>(),
        ) {
            // A fourth number that makes the products nearly equal, or any.
            let near = if near && c != 0 { i128::from(a) * i128::from(b) / i128::from(c) + off } else { i128::MAX };
            let d = if near.unsigned_abs() < 1 << 53 { near as i64 } else { a ^ b };
            let exact = i128::from(a) * i128::from(b) - i128::from(c) * i128::from(d);
            let [a, b, c, d] = [a, b, c, d].map(|x| x as f64);
            let got = difference_of_products(a, b, c, d);
            prop_assert_eq!(got == 0.0, exact == 0);
            // Two roundings; the exact value rounds once itself on its way to f64.
            let off = (got - exact as f64).abs();
            prop_assert!(off <= 1.5 * f64::EPSILON * got.abs(), "{} is not {}", got, exact);
        }

        /// Whole numbers of 53 bits have minors of 106, exact in 128.
        #[test]
        fn a_minor_has_the_sign_of_the_exact_one(
            base in prop::array::uniform2((1_i64 << 40)..(1 << 42)), k in 1_i64..1000, l in 1_i64..1000,
            off in prop::array::uniform4(-1_i64..=1),
        ) {
            // Multiples of one vector, and next to that.
            let a = [k * base[0] + off[0], k * base[1] + off[1]];
            let b = [l * base[0] + off[2], l * base[1] + off[3]];
            let exact = i128::from(a[0]) * i128::from(b[1]) - i128::from(a[1]) * i128::from(b[0]);
            let [a, b] = [a, b].map(|v| DVec3::new(v[0] as f64, v[1] as f64, 0.0));
            let minor = cross(a, b).z;
            prop_assert_eq!((minor > 0.0, minor < 0.0), (exact > 0, exact < 0));
        }

        /// A third column that is an exact sum of the others, with digits far below their own.
        #[test]
        fn a_last_digit_decides(a in -1000i32..1000, b in -1000i32..1000, c in 1i32..1000) {
            let x = DVec3::new(f64::from(a), 1.0, f64::from(c));
            let y = DVec3::new(3.0, f64::from(b), 7.0);
            let z = x + y;
            prop_assert!(is_rank_deficient(columns(x, y, z)));
            let nudged = DVec3::new(z.x, z.y, f64::from_bits(z.z.to_bits() + 1));
            let normal = x.cross(y);
            prop_assume!(normal.z != 0.0 && z.z != 0.0);
            prop_assert!(!is_rank_deficient(columns(x, y, nudged)));
        }
    }

    #[test]
    fn a_needle_is_not_singular_and_underflow_does_not_make_one() {
        let needle = Mat3::from_diagonal(Vec3::new(1e-38, 1.0, 1e38));
        assert!(!is_rank_deficient(needle.as_dmat3()));
        assert!(!is_rank_deficient(DMat3::from_diagonal(DVec3::splat(1e-200))));
        assert!(is_rank_deficient(DMat3::from_diagonal(DVec3::new(1.0, 0.0, 1.0))));
        assert!(is_rank_deficient(DMat3::ZERO));
    }
}
