//! The handle of a node.

use core::{fmt, num::NonZeroU32};

/// Names a node of one [`HierarchyOf`](crate::HierarchyOf).
///
/// A generational index in 8 bytes; `Option<NodeId>` takes 8 bytes too. An id stays valid while its
/// node lives, whatever is added, removed, moved or sorted around it, and never becomes valid again
/// once the node is removed: a slot is reused under a new generation, and a slot whose generations
/// are used up is retired. Only what was [taken out](crate::HierarchyOf::take_subtree) can come back under
/// its ids. Ids of another hierarchy are not told apart from own ones.
///
/// The order of ids is that of their slots and says nothing about the tree.
///
/// ```
/// use posetree::{Hierarchy, Transform};
/// let mut h = Hierarchy::new();
/// let first = h.add_root(Transform::IDENTITY)?;
/// h.remove_subtree(first)?;
/// let second = h.add_root(Transform::IDENTITY)?; // takes the same slot
/// assert_ne!(first, second);
/// assert!(!h.contains(first) && h.contains(second));
/// assert_eq!(format!("{first:?} {second:?}"), "0v1 0v3");
/// # Ok::<(), posetree::Error>(())
/// ```
#[doc(alias = "Entity")]
#[doc(alias = "handle")]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId {
    slot: u32,
    generation: NonZeroU32,
}

impl NodeId {
    /// As a number, to pass through what knows no ids: another language, a message, an instance buffer.
    ///
    /// The slot is in the lower half, the generation in the upper one.
    ///
    /// ```
    /// use posetree::{Hierarchy, NodeId, Transform};
    /// let mut h = Hierarchy::new();
    /// let id = h.add_root(Transform::IDENTITY)?;
    /// assert_eq!(NodeId::from_bits(id.to_bits()), Some(id));
    /// assert_eq!(NodeId::from_bits(0), None);
    /// assert!(!h.contains(NodeId::from_bits(id.to_bits() + 1).unwrap()));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[must_use]
    pub const fn to_bits(self) -> u64 {
        (self.generation.get() as u64) << 32 | self.slot as u64
    }

    /// The id of which [`to_bits`](Self::to_bits) gave a number, or `None` where no id gives that. Any other number is
    /// an id that names no node, as stale ones are; but a [`NodeMap`](crate::NodeMap) into which it is put makes room
    /// for it, so that numbers from elsewhere are to be looked up in a hierarchy first. Example:
    /// [`to_bits`](Self::to_bits).
    #[must_use]
    pub const fn from_bits(bits: u64) -> Option<Self> {
        Self::new(bits as u32, (bits >> 32) as u32)
    }

    /// `None` for a generation that no live node has.
    pub(crate) const fn new(slot: u32, generation: u32) -> Option<Self> {
        match NonZeroU32::new(generation) {
            Some(generation) => Some(Self { slot, generation }),
            None => None,
        }
    }

    pub(crate) const fn from_parts(slot: u32, generation: NonZeroU32) -> Self {
        Self { slot, generation }
    }

    pub(crate) const fn slot(self) -> u32 {
        self.slot
    }

    pub(crate) const fn generation(self) -> u32 {
        self.generation.get()
    }

    pub(crate) const fn non_zero_generation(self) -> NonZeroU32 {
        self.generation
    }
}

impl fmt::Display for NodeId {
    /// Slot and generation, such as `3v1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}v{}", self.slot, self.generation)
    }
}

impl fmt::Debug for NodeId {
    /// As [`Display`](fmt::Display).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

const _: () = {
    assert!(size_of::<NodeId>() == 8);
    assert!(size_of::<Option<NodeId>>() == 8);
};
