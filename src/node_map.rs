//! Values by node, kept beside a hierarchy.

use crate::NodeId;
use alloc::vec::{self, Vec};
use core::fmt;
use core::iter::{Enumerate, FusedIterator};
use core::num::NonZeroU32;
use core::ops::{Index, IndexMut};
use core::slice;

/// A value for some of the nodes of a hierarchy: names, meshes, bodies, whatever belongs to a node.
///
/// A plain vector by slot, in which every value knows its node's generation: a lookup is two loads, and a
/// removed node's id never finds the value of the node that took its slot. The map does not know of the
/// hierarchy, and keeps the value of a removed node until it is removed here too, or until a later node
/// in the same slot is given one. All orders are those of ids, which say nothing about the tree. Memory:
/// room for a value per slot, up to the highest in use.
///
/// ```
/// use posetree::{Hierarchy, NodeMap, Transform};
/// let mut h = Hierarchy::new();
/// let arm = h.add_root(Transform::IDENTITY)?;
/// let hand = h.add_child(arm, Transform::IDENTITY)?;
/// let mut names = NodeMap::new();
/// names.insert(arm, "arm");
/// names.insert(hand, "hand");
///
/// h.remove_subtree(hand)?;
/// let finger = h.add_child(arm, Transform::IDENTITY)?; // in the slot of the hand
/// assert_eq!((names.get(arm), names.get(finger)), (Some(&"arm"), None));
///
/// // Now and then: drop what belongs to removed nodes.
/// names.retain(|id, _| h.contains(id));
/// assert_eq!(names.len(), 1);
/// # Ok::<(), posetree::Error>(())
/// ```
#[doc(alias = "SecondaryMap")]
#[derive(Clone)]
pub struct NodeMap<T> {
    /// By slot.
    entries: Vec<Option<Entry<T>>>,
    len: usize,
}

#[derive(Clone, PartialEq, Eq)]
struct Entry<T> {
    generation: NonZeroU32,
    value: T,
}

impl<T> Entry<T> {
    fn id(&self, slot: usize) -> NodeId {
        NodeId::from_parts(slot as u32, self.generation)
    }
}

impl<T> NodeMap<T> {
    /// Makes an empty map. Allocates nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self { entries: Vec::new(), len: 0 }
    }

    /// Makes an empty map with room for the values of the first `slots` nodes.
    #[must_use]
    pub fn with_capacity(slots: usize) -> Self {
        Self { entries: Vec::with_capacity(slots), len: 0 }
    }

    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether the node has a value here. Example: [`get_mut`](Self::get_mut).
    #[must_use]
    pub fn contains_key(&self, id: NodeId) -> bool {
        self.get(id).is_some()
    }

    /// Gives a node a value, and returns the one it had.
    ///
    /// The value of an older node in the same slot is dropped: what has to be given back by hand, as handles are, is
    /// to be taken out before, by [`remove`](Self::remove) of what
    /// [`removed_since`](crate::Worlds::removed_since) lists. If there is one of a newer node, then `id`
    /// is stale, and `value` is dropped instead. O(1), amortised.
    ///
    /// ```
    /// use posetree::{Hierarchy, NodeMap, Transform};
    /// let mut h = Hierarchy::new();
    /// let old = h.add_root(Transform::IDENTITY)?;
    /// h.remove_subtree(old)?;
    /// let new = h.add_root(Transform::IDENTITY)?; // in the same slot
    /// let mut map = NodeMap::new();
    /// assert_eq!(map.insert(old, 1), None);
    /// assert_eq!(map.insert(old, 2), Some(1));
    /// assert_eq!(map.insert(new, 3), None);
    /// assert_eq!(map.insert(old, 4), None);
    /// assert_eq!((map.get(old), map.get(new)), (None, Some(&3)));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn insert(&mut self, id: NodeId, value: T) -> Option<T> {
        let place = self.place(id)?;
        let new = Entry { generation: id.non_zero_generation(), value };
        place.replace(new).filter(|old| old.generation == id.non_zero_generation()).map(|old| old.value)
    }

    /// The node's value, made first if it has none; `None` if the value of a newer node is in its slot.
    ///
    /// O(1), amortised.
    ///
    /// ```
    /// use posetree::{Hierarchy, NodeMap, Transform};
    /// let mut h = Hierarchy::new();
    /// let id = h.add_root(Transform::IDENTITY)?;
    /// let mut tags = NodeMap::<Vec<&str>>::new();
    /// for tag in ["red", "round"] {
    ///     if let Some(tags) = tags.get_or_insert_with(id, Vec::new) {
    ///         tags.push(tag);
    ///     }
    /// }
    /// assert_eq!(tags[id], ["red", "round"]);
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn get_or_insert_with(&mut self, id: NodeId, make: impl FnOnce() -> T) -> Option<&mut T> {
        if !self.contains_key(id) {
            // Made before anything is touched: it may panic.
            if self.newer(id) {
                return None;
            }
            self.insert(id, make());
        }
        self.get_mut(id)
    }

    /// The node's value.
    #[must_use]
    pub fn get(&self, id: NodeId) -> Option<&T> {
        let entry = self.entries.get(id.slot() as usize)?.as_ref()?;
        (entry.generation == id.non_zero_generation()).then_some(&entry.value)
    }

    /// The node's value, to be changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, NodeMap, Transform};
    /// let mut h = Hierarchy::new();
    /// let a = h.add_root(Transform::IDENTITY)?;
    /// let b = h.add_root(Transform::IDENTITY)?;
    /// let mut map = NodeMap::from_iter([(b, 1)]);
    /// assert!(!map.contains_key(a) && map.contains_key(b));
    /// assert_eq!(map.get_mut(a), None);
    /// if let Some(value) = map.get_mut(b) {
    ///     *value = 2;
    /// }
    /// assert_eq!((map.remove(b), map.remove(b)), (Some(2), None));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[must_use]
    pub fn get_mut(&mut self, id: NodeId) -> Option<&mut T> {
        let entry = self.entries.get_mut(id.slot() as usize)?.as_mut()?;
        (entry.generation == id.non_zero_generation()).then_some(&mut entry.value)
    }

    /// Takes the node's value out. Example: [`get_mut`](Self::get_mut).
    pub fn remove(&mut self, id: NodeId) -> Option<T> {
        let entry = self.entries.get_mut(id.slot() as usize)?;
        let entry = entry.take_if(|entry| entry.generation == id.non_zero_generation())?;
        self.len -= 1;
        Some(entry.value)
    }

    /// Drops all values; memory is kept.
    pub fn clear(&mut self) {
        drop(self.drain());
    }

    /// Takes all values out, with their nodes; memory is kept. What is not asked for is dropped.
    ///
    /// ```
    /// use posetree::{Hierarchy, NodeMap, Transform};
    /// let mut h = Hierarchy::new();
    /// let id = h.add_root(Transform::IDENTITY)?;
    /// let mut map = NodeMap::from_iter([(id, "root")]);
    /// assert!(map.drain().eq([(id, "root")]));
    /// assert!(map.is_empty());
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn drain(&mut self) -> Drain<'_, T> {
        let left = core::mem::take(&mut self.len);
        Drain { entries: self.entries.drain(..).enumerate(), left }
    }

    /// Drops the values for which `keep` says no. O(slots).
    ///
    /// ```
    /// use posetree::{Hierarchy, NodeMap, Transform};
    /// let mut h = Hierarchy::new();
    /// let a = h.add_root(Transform::IDENTITY)?;
    /// let b = h.add_root(Transform::IDENTITY)?;
    /// let mut map = NodeMap::from_iter([(a, 1), (b, 2)]);
    /// h.remove_subtree(a)?;
    /// map.retain(|id, _| h.contains(id));
    /// assert!(map.keys().eq([b]));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn retain(&mut self, mut keep: impl FnMut(NodeId, &mut T) -> bool) {
        for (slot, place) in self.entries.iter_mut().enumerate() {
            let gone = place.take_if(|entry| !keep(entry.id(slot), &mut entry.value));
            self.len -= usize::from(gone.is_some());
        }
    }

    /// Nodes and values, in the order of ids. O(slots) for all. Example: [`iter_mut`](Self::iter_mut).
    #[must_use]
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { entries: self.entries.iter().enumerate(), left: self.len }
    }

    /// As [`iter`](Self::iter), with values to be changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, NodeMap, Transform};
    /// let mut h = Hierarchy::new();
    /// let a = h.add_root(Transform::IDENTITY)?;
    /// let b = h.add_root(Transform::IDENTITY)?;
    /// let mut map = NodeMap::from_iter([(b, 2), (a, 1)]);
    /// map.iter_mut().filter(|(id, _)| *id == b).for_each(|(_, value)| *value = 20);
    /// map.values_mut().for_each(|value| *value += 1);
    /// assert!(map.iter().eq([(a, &2), (b, &21)]));
    /// assert!(map.keys().eq([a, b]) && map.values().eq(&[2, 21]));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn iter_mut(&mut self) -> IterMut<'_, T> {
        IterMut { entries: self.entries.iter_mut().enumerate(), left: self.len }
    }

    /// The nodes that have a value, in the order of ids. Example: [`iter_mut`](Self::iter_mut).
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + FusedIterator + Clone + '_ {
        self.iter().map(|(id, _)| id)
    }

    /// The values, in the order of ids. Example: [`iter_mut`](Self::iter_mut).
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &T> + ExactSizeIterator + FusedIterator + Clone + '_ {
        self.iter().map(|(_, value)| value)
    }

    /// The values, in the order of ids, to be changed. Example: [`iter_mut`](Self::iter_mut).
    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut T> + ExactSizeIterator + FusedIterator + '_ {
        self.iter_mut().map(|(_, value)| value)
    }

    /// Whether the slot holds the value of a newer node.
    fn newer(&self, id: NodeId) -> bool {
        let entry = self.entries.get(id.slot() as usize).and_then(Option::as_ref);
        entry.is_some_and(|entry| entry.generation > id.non_zero_generation())
    }

    /// Where a value that is about to be stored goes, counted already; `None` if that of a newer node is there.
    fn place(&mut self, id: NodeId) -> Option<&mut Option<Entry<T>>> {
        if self.newer(id) {
            return None;
        }
        let slot = id.slot() as usize;
        if self.entries.len() <= slot {
            self.entries.resize_with(slot + 1, || None);
        }
        let place = &mut self.entries[slot];
        self.len += usize::from(place.is_none());
        Some(place)
    }
}

impl<T> Default for NodeMap<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: PartialEq> PartialEq for NodeMap<T> {
    /// Whether the same nodes have equal values.
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl<T: Eq> Eq for NodeMap<T> {}

impl<T: fmt::Debug> fmt::Debug for NodeMap<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

impl<T> Index<NodeId> for NodeMap<T> {
    type Output = T;

    /// The node's value.
    ///
    /// # Panics
    /// If it has none; [`get`](NodeMap::get) returns an option instead.
    fn index(&self, id: NodeId) -> &T {
        match self.get(id) {
            Some(value) => value,
            None => panic!("{id:?} has no value in this map"),
        }
    }
}

impl<T> IndexMut<NodeId> for NodeMap<T> {
    /// The node's value, to be changed.
    ///
    /// # Panics
    /// If it has none; [`get_mut`](NodeMap::get_mut) returns an option instead.
    fn index_mut(&mut self, id: NodeId) -> &mut T {
        match self.get_mut(id) {
            Some(value) => value,
            None => panic!("{id:?} has no value in this map"),
        }
    }
}

impl<T> Extend<(NodeId, T)> for NodeMap<T> {
    fn extend<I: IntoIterator<Item = (NodeId, T)>>(&mut self, values: I) {
        for (id, value) in values {
            self.insert(id, value);
        }
    }
}

impl<T> FromIterator<(NodeId, T)> for NodeMap<T> {
    fn from_iter<I: IntoIterator<Item = (NodeId, T)>>(values: I) -> Self {
        let mut map = Self::new();
        map.extend(values);
        map
    }
}

impl<'a, T> IntoIterator for &'a NodeMap<T> {
    type Item = (NodeId, &'a T);
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut NodeMap<T> {
    type Item = (NodeId, &'a mut T);
    type IntoIter = IterMut<'a, T>;

    fn into_iter(self) -> IterMut<'a, T> {
        self.iter_mut()
    }
}

impl<T> IntoIterator for NodeMap<T> {
    type Item = (NodeId, T);
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter { entries: self.entries.into_iter().enumerate(), left: self.len }
    }
}

/// Nodes and values. Made by [`NodeMap::iter`].
pub struct Iter<'a, T> {
    entries: Enumerate<slice::Iter<'a, Option<Entry<T>>>>,
    left: usize,
}

/// Nodes and values to be changed. Made by [`NodeMap::iter_mut`].
pub struct IterMut<'a, T> {
    entries: Enumerate<slice::IterMut<'a, Option<Entry<T>>>>,
    left: usize,
}

/// Nodes and values, taken out of a map that is gone.
pub struct IntoIter<T> {
    entries: Enumerate<vec::IntoIter<Option<Entry<T>>>>,
    left: usize,
}

/// Nodes and values, taken out of a map. Made by [`NodeMap::drain`].
pub struct Drain<'a, T> {
    entries: Enumerate<vec::Drain<'a, Option<Entry<T>>>>,
    left: usize,
}

impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Self { entries: self.entries.clone(), left: self.left }
    }
}

macro_rules! iterators {
    ($($name:ident<$($a:lifetime,)? T>, $item:ty, $entry:ident => $value:expr;)+) => {$(
        impl<$($a,)? T> Iterator for $name<$($a,)? T> {
            type Item = (NodeId, $item);

            fn next(&mut self) -> Option<Self::Item> {
                for (slot, entry) in self.entries.by_ref() {
                    if let Some($entry) = entry {
                        self.left -= 1;
                        return Some(($entry.id(slot), $value));
                    }
                }
                None
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                (self.left, Some(self.left))
            }
        }

        impl<$($a,)? T> DoubleEndedIterator for $name<$($a,)? T> {
            fn next_back(&mut self) -> Option<Self::Item> {
                while let Some((slot, entry)) = self.entries.next_back() {
                    if let Some($entry) = entry {
                        self.left -= 1;
                        return Some(($entry.id(slot), $value));
                    }
                }
                None
            }
        }

        impl<$($a,)? T> ExactSizeIterator for $name<$($a,)? T> {}
        impl<$($a,)? T> FusedIterator for $name<$($a,)? T> {}

        impl<$($a,)? T> fmt::Debug for $name<$($a,)? T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), " with {} left"), self.left)
            }
        }
    )+};
}

iterators! {
    Iter<'a, T>, &'a T, entry => &entry.value;
    IterMut<'a, T>, &'a mut T, entry => &mut entry.value;
    IntoIter<T>, T, entry => entry.value;
    Drain<'a, T>, T, entry => entry.value;
}
