//! Numbers of rows at which measured costs change.

/// So many rows, of about 100 bytes each, no longer lie in a core's own cache.
pub(super) const OUT_OF_CACHE: usize = 16 * 1024;

/// So many lie in no cache, most likely.
pub(super) const OUT_OF_CACHES: usize = 128 * 1024;
