//! What other crates add, a file each.

#[cfg(feature = "approx")]
mod approx;
#[cfg(feature = "mint")]
mod mint;
// The tests of this crate draw from it too.
#[cfg(any(test, feature = "proptest"))]
#[cfg_attr(not(feature = "proptest"), allow(unreachable_pub, reason = "public where the feature is on"))]
pub mod proptest;
#[cfg(feature = "rayon")]
mod rayon;
#[cfg(feature = "serde")]
mod serde;
#[cfg(all(feature = "simd", target_arch = "x86_64"))]
pub(crate) mod simd;
