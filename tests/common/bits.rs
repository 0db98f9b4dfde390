//! Equality to the bit, for what `==` takes for equal: 0.0 and -0.0.

/// A text in which numbers differ that differ in a bit; all NaN are one.
pub(crate) fn bits_of<T: std::fmt::Debug>(value: T) -> String {
    format!("{value:?}")
}
