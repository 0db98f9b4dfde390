//! What other crates add, a file each.

mod rayon;
