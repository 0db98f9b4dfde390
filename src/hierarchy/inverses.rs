//! Inverses of world matrices, kept from one frame to the next. Built on what every user has.

use super::changes::Version;
use super::worlds::Worlds;
use crate::accumulate::{Geometry, Matrices};
use crate::{NodeId, NodeMap, WorldError};

/// Inverses of world matrices, each taken when it is first asked for and kept until its node's world changes.
///
/// For picking, collision and the like, which ask for the same nodes frame after frame: what rests is not
/// inverted again. Forgetting what has changed costs what has changed, once for each version it is asked about.
/// A cache is for one hierarchy: with another one it gives wrong answers, as with a clone that is edited.
///
/// ```
/// use posetree::{Hierarchy, Transform, WorldInverses, glam::Vec3};
/// let mut h = Hierarchy::new();
/// let table = h.add_root(Transform::from_position(Vec3::X).with_scale(Vec3::new(2.0, 4.0, 1.0)))?;
/// let mut inverses = WorldInverses::new();
/// let hit = Vec3::new(3.0, 0.0, 0.0);
/// assert_eq!(inverses.get(h.update(), table)?.transform_point3(hit), Vec3::new(1.0, 0.0, 0.0));
/// h.set_position(table, Vec3::Y)?;
/// assert_eq!(inverses.get(h.update(), table)?.transform_point3(hit), Vec3::new(1.5, -0.25, 0.0));
/// # Ok::<(), posetree::Error>(())
/// ```
#[doc(alias = "worldToLocalMatrix")]
#[derive(Clone, Debug)]
pub struct WorldInverses<A: Geometry = Matrices> {
    inverses: NodeMap<A::Affine>,
    seen: Version,
}

impl<A: Geometry> WorldInverses<A> {
    /// Makes an empty cache. Allocates nothing.
    #[must_use]
    pub fn new() -> Self {
        Self { inverses: NodeMap::new(), seen: Version::default() }
    }

    /// The inverse of a node's world matrix: from world space to the node's, with the bits of
    /// [`world_inverse`](crate::HierarchyOf::world_inverse). O(1) while the node rests; else as that, O(depth).
    ///
    /// # Errors
    /// Those of [`world_inverse`](crate::HierarchyOf::world_inverse). They are not kept.
    pub fn get(&mut self, worlds: Worlds<'_, A>, id: NodeId) -> Result<A::Affine, WorldError> {
        if worlds.version() != self.seen {
            worlds.changed_since(self.seen).for_each(|id| _ = self.inverses.remove(id));
            self.seen = worlds.version();
        }
        // A removed node has not changed: it is gone, and its inverse must not outlive it.
        worlds.get(id)?;
        if let Some(inverse) = self.inverses.get(id) {
            return Ok(*inverse);
        }
        let inverse = worlds.hierarchy().world_inverse(id)?;
        self.inverses.insert(id, inverse);
        Ok(inverse)
    }
}

impl<A: Geometry> Default for WorldInverses<A> {
    fn default() -> Self {
        Self::new()
    }
}
