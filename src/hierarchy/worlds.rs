//! The view of clean worlds.

use super::HierarchyOf;
use crate::accumulate::{Accumulate, Matrices};
use crate::{NodeId, StaleNode};
use core::ops::Index;

impl<A: Accumulate> HierarchyOf<A> {
    /// A view of all world poses; `None` while anything is dirty. O(1).
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform};
    /// let mut h = Hierarchy::new();
    /// h.add_root(Transform::IDENTITY)?;
    /// assert!(h.worlds().is_none());
    /// h.update();
    /// assert_eq!(h.worlds().map(|worlds| worlds.rows().len()), Some(1));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[must_use]
    pub fn worlds(&self) -> Option<Worlds<'_, A>> {
        self.marks.is_clean().then_some(Worlds { hierarchy: self })
    }
}

/// The world poses of a hierarchy in which nothing is dirty.
///
/// Cheap to copy and to share between threads. Rows are what instance buffers take: contiguous, the
/// rows of removed nodes all zero, which draws as nothing.
#[derive(Clone, Copy, Debug)]
pub struct Worlds<'a, A: Accumulate = Matrices> {
    pub(super) hierarchy: &'a HierarchyOf<A>,
}

impl<'a, A: Accumulate> Worlds<'a, A> {
    /// The world pose of a node. O(1).
    ///
    /// # Errors
    /// [`StaleNode`].
    ///
    /// ```
    /// use posetree::{ComponentHierarchy, Transform, glam::Vec3};
    /// let mut h = ComponentHierarchy::new();
    /// let root = h.add_root(Transform::from_position(Vec3::X))?;
    /// assert_eq!(h.update().get(root)?.position, Vec3::X);
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn get(self, id: NodeId) -> Result<&'a A::Row, StaleNode> {
        let (_, row) = self.hierarchy.at(id)?;
        Ok(&self.hierarchy.worlds.rows()[row as usize])
    }

    /// The hierarchy itself, of which every getter reads a cached pose now.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::Vec3};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::from_position(Vec3::X))?;
    /// let worlds = h.update();
    /// assert_eq!(worlds.hierarchy().world_position(root)?, Vec3::X);
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[must_use]
    pub fn hierarchy(self) -> &'a HierarchyOf<A> {
        self.hierarchy
    }

    /// All world poses, in the order in which they are stored; the rows of removed nodes are zero. O(1).
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform};
    /// let mut h = Hierarchy::new();
    /// let first = h.add_root(Transform::IDENTITY)?;
    /// h.add_root(Transform::IDENTITY)?;
    /// h.remove_subtree(first)?;
    /// assert_eq!(h.update().rows()[0], [[0.0; 4]; 3]);
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[must_use]
    pub fn rows(self) -> &'a [A::Row] {
        self.hierarchy.worlds.rows()
    }

    /// The row in which a node's world pose is stored. Valid until the hierarchy is edited or updated. O(1).
    ///
    /// # Errors
    /// [`StaleNode`].
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::IDENTITY)?;
    /// let worlds = h.update();
    /// assert_eq!(worlds.id_of_row(worlds.row_of(root)?), Some(root));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn row_of(self, id: NodeId) -> Result<usize, StaleNode> {
        Ok(self.hierarchy.at(id)?.1 as usize)
    }

    /// The node whose world pose is stored in a row; `None` for the row of a removed node, and beyond
    /// the last row. With a row number as instance index it tells what was picked. O(1). Example:
    /// [`row_of`](Self::row_of).
    #[must_use]
    pub fn id_of_row(self, row: usize) -> Option<NodeId> {
        self.hierarchy.topology.id(self.hierarchy.order.slot(row))
    }
}

impl<A: Accumulate> Index<NodeId> for Worlds<'_, A> {
    type Output = A::Row;

    /// The world pose of a node.
    ///
    /// # Panics
    /// If the id is stale; [`get`](Worlds::get) returns an error instead.
    fn index(&self, id: NodeId) -> &A::Row {
        match self.get(id) {
            Ok(row) => row,
            Err(stale) => panic!("{stale}"),
        }
    }
}
