//! What the benches share: shapes of trees, a plain implementation to compare with, and the same work
//! given to both.

#![allow(dead_code, reason = "each bench uses its part")]

pub(crate) mod floor;
pub(crate) mod pair;
pub(crate) mod plain;
pub(crate) mod shapes;
