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
