//! Sweeps in wider vectors than every processor of a kind is sure to have.
//!
//! Which ones there are is asked once and remembered. The same operations in the same order, none of them
//! fused, and so the same bits.

/// Compiles what it is given once more for the widest vectors known, and runs the one that the processor can.
#[inline(always)]
pub(crate) fn widest<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}
