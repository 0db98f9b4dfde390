//! How far float32 may be off: bounds that follow from the numbers at hand.
//!
//! A world matrix is `W = L_0 L_1 … L_n`, the local matrices from the root down. Say that level `k` adds
//! an error `D_k` to the product `W_k` of the levels down to it. The levels below then multiply that
//! error by what they multiply everything by, `X_k = L_k+1 … L_n`, so that, element by element,
//!
//! ```text
//! |error of W| <= sum over k of |D_k| |X_k|        and terms of second order
//! ```
//!
//! which is what [`carry`] computes, in float64. Terms of second order are smaller than those of first
//! order by about ε times the depth; one part in a hundred more covers them for any depth up to 10⁴.

use posetree::glam::{Affine3A, DAffine3, DMat3};
use posetree::{Hierarchy, NodeId, StaleNode};

pub(crate) const EPSILON: f64 = f32::EPSILON as f64;

/// Half a step of subnormal numbers, where rounding stops being relative.
const UNDERFLOW: f64 = 0.5 / (1u128 << 75) as f64 / (1u128 << 74) as f64;

const SECOND_ORDER: f64 = 1.01;

/// A matrix of errors, or of bounds on them. It has no last row of 0 0 0 1, and so is multiplied apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Error(pub(crate) DAffine3);

impl Error {
    pub(crate) const ZERO: Self = Self(DAffine3::ZERO);

    pub(crate) fn plus(self, other: Self) -> Self {
        Self(DAffine3 {
            matrix3: self.0.matrix3 + other.0.matrix3,
            translation: self.0.translation + other.0.translation,
        })
    }

    /// `|above| * self`: the error of a product whose right factor has this error.
    pub(crate) fn below(self, above: &DAffine3) -> Self {
        let above = above.matrix3.abs();
        Self(DAffine3 { matrix3: above * self.0.matrix3, translation: above * self.0.translation })
    }

    /// `self * |below|`: the error of a product whose left factor has this error.
    pub(crate) fn above(self, below: &DAffine3) -> Self {
        Self(self.0 * abs(below))
    }

    /// Whether an error stays within this bound, element by element. NaN does not.
    pub(crate) fn allows(self, error: Self) -> bool {
        error.elements().into_iter().zip(self.elements()).all(|(error, bound)| error.abs() <= bound)
    }

    /// The elements, column by column.
    pub(crate) fn elements(self) -> [f64; 12] {
        self.0.to_cols_array()
    }

    /// The largest element; NaN if one is.
    pub(crate) fn largest(self) -> f64 {
        self.elements().into_iter().map(f64::abs).fold(0.0, |a, b| if a >= b || a.is_nan() { a } else { b })
    }
}

pub(crate) fn abs(m: &DAffine3) -> DAffine3 {
    DAffine3 { matrix3: m.matrix3.abs(), translation: m.translation.abs() }
}

pub(crate) fn wide(m: &Affine3A) -> DAffine3 {
    let [x, y, z] = [m.matrix3.x_axis, m.matrix3.y_axis, m.matrix3.z_axis].map(|axis| axis.as_dvec3());
    DAffine3 { matrix3: DMat3::from_cols(x, y, z), translation: m.translation.as_dvec3() }
}

/// `|a - b|`.
pub(crate) fn difference(a: &DAffine3, b: &DAffine3) -> Error {
    Error(DAffine3 { matrix3: (a.matrix3 - b.matrix3).abs(), translation: (a.translation - b.translation).abs() })
}

/// The local matrices from the root down to a node, or from below `top`.
pub(crate) fn chain(h: &Hierarchy, id: NodeId, top: Option<NodeId>) -> Result<Vec<DAffine3>, StaleNode> {
    let mut chain = Vec::new();
    let mut at = Some(id);
    while let Some(node) = at.filter(|_| at != top) {
        chain.push(wide(&h.local_matrix(node)?));
        at = h.parent(node)?;
    }
    chain.reverse();
    Ok(chain)
}

/// The product of a chain in float64, whose rounding is nothing next to that of float32.
pub(crate) fn product(chain: &[DAffine3]) -> DAffine3 {
    chain.iter().fold(DAffine3::IDENTITY, |above, local| above * *local)
}

/// Adds up the errors that the levels of a chain cause. `error_of(k, above)` is that of level `k` where
/// `above` is the product of the levels above it.
pub(crate) fn carry(chain: &[DAffine3], mut error_of: impl FnMut(usize, &DAffine3) -> Error) -> Error {
    let mut above = DAffine3::IDENTITY;
    let mut errors = Vec::with_capacity(chain.len());
    for (level, local) in chain.iter().enumerate() {
        errors.push(error_of(level, &above));
        above *= *local;
    }
    let mut below = DAffine3::IDENTITY;
    let mut sum = Error::ZERO;
    for (local, error) in chain.iter().zip(errors).rev() {
        sum = sum.plus(error.above(&below));
        below = *local * below;
    }
    Error(DAffine3 { matrix3: sum.0.matrix3 * SECOND_ORDER, translation: sum.0.translation * SECOND_ORDER })
}

/// How far the world matrix that the hierarchy computes may be from the exact product of its local
/// matrices.
///
/// An element of a product is three products and a sum with the parent's translation. The first of them
/// is rounded when it is multiplied and in three additions: four times u = ε/2. So `D_k = 2 ε |W_k-1||L_k|`,
/// and a root's world is its local matrix, without any.
pub(crate) fn of_world(chain: &[DAffine3]) -> Error {
    carry(chain, |level, above| {
        if level == 0 {
            return Error::ZERO;
        }
        let size = abs(above) * abs(&chain[level]);
        let bound = |x: f64| 2.0 * EPSILON * x + 4.0 * UNDERFLOW;
        Error(DAffine3::from_cols_array(&size.to_cols_array().map(bound)))
    })
}

/// How far a node's world pose may be off because its local value was solved for under a new parent:
/// the law of `reparent`, `|P L - W| <= 2 ε |P||L|`, where `P` leads down from the common ancestor of
/// the node and its new parent. To be asked after the move.
pub(crate) fn of_reparenting(h: &Hierarchy, id: NodeId, common: Option<NodeId>) -> Result<Error, StaleNode> {
    let local = wide(&h.local_matrix(id)?);
    let above = product(&common.map_or(Ok(Vec::new()), |common| chain(h, common, None))?);
    let parent = h.parent(id)?.filter(|_| h.parent(id) != Ok(common));
    let parent = product(&parent.map_or(Ok(Vec::new()), |parent| chain(h, parent, common))?);
    let size = (abs(&parent) * abs(&local)).to_cols_array();
    let law = Error(DAffine3::from_cols_array(&size.map(|x| 2.0 * EPSILON * x)));
    let subnormal = Error(DAffine3::from_cols_array(&[UNDERFLOW; 12]));
    Ok(law.plus(subnormal.below(&parent)).below(&above))
}
