//! Affine matrices of numbers with twice the digits of float64, to compare float64 with.

use posetree::glam::{DAffine3, DMat3, DVec3};
use std::array::from_fn;

/// A sum of two float64 numbers, the second at most half a last digit of the first: about 106 bits.
#[derive(Clone, Copy, Debug, Default)]
struct Number(f64, f64);

impl Number {
    fn plus(self, other: Self) -> Self {
        // Knuth's sum, which says what it rounded away.
        let sum = self.0 + other.0;
        let from_other = sum - self.0;
        let lost = (self.0 - (sum - from_other)) + (other.0 - from_other) + self.1 + other.1;
        Self(sum + lost, lost - ((sum + lost) - sum))
    }

    fn times(self, other: Self) -> Self {
        let product = self.0 * other.0;
        let lost = self.0.mul_add(other.0, -product) + self.0 * other.1 + self.1 * other.0;
        Self(product + lost, lost - ((product + lost) - product))
    }
}

/// Rows of three by four.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extended([[Number; 4]; 3]);

impl Extended {
    /// The product of a chain.
    pub(crate) fn product(chain: &[DAffine3]) -> Self {
        chain.iter().fold(Self::from(&DAffine3::IDENTITY), |above, local| above.times(&Self::from(local)))
    }

    fn times(&self, other: &Self) -> Self {
        Self(from_fn(|i| {
            from_fn(|j| {
                let moved = if j == 3 { self.0[i][3] } else { Number::default() };
                (0..3).fold(moved, |sum, k| sum.plus(self.0[i][k].times(other.0[k][j])))
            })
        }))
    }

    /// The difference, rounded to float64 at last.
    pub(crate) fn minus(&self, other: &Self) -> DAffine3 {
        let element = |i: usize, j: usize| {
            let Number(high, low) = other.0[i][j];
            self.0[i][j].plus(Number(-high, -low)).0
        };
        let column = |j: usize| DVec3::new(element(0, j), element(1, j), element(2, j));
        DAffine3 { matrix3: DMat3::from_cols(column(0), column(1), column(2)), translation: column(3) }
    }
}

impl From<&DAffine3> for Extended {
    fn from(m: &DAffine3) -> Self {
        let columns = [m.matrix3.x_axis, m.matrix3.y_axis, m.matrix3.z_axis, m.translation];
        Self(from_fn(|i| from_fn(|j| Number(columns[j][i], 0.0))))
    }
}
