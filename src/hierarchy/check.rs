//! One checker of every invariant.

use super::HierarchyOf;
use crate::Inherit;
use crate::accumulate::Accumulate;
use crate::topology::NONE;

impl<A: Accumulate> HierarchyOf<A> {
    /// Asserts every invariant of the structure, for tests. O(nodes).
    ///
    /// Links agree both ways, ids with slots, slots with rows; every row but strays lies in its parent's stretch, after
    /// it, and strays are listed; holes are zero; marks agree with their summary and
    /// counter; versions with theirs, and every computed row has one; local rows with local values; and
    /// each world that is not dirty is the product of its parent's world, or what the node inherits of
    /// it, and its own local pose, to the bit, and its previous world where it rests.
    ///
    /// # Panics
    /// If one does not hold, which is a defect of this crate.
    #[doc(hidden)]
    pub fn assert_well_formed(&self) {
        self.topology.assert_well_formed();
        self.order.assert_well_formed(&self.topology);
        let rows = self.order.len();
        self.marks.assert_well_formed(rows);
        self.inherits.assert_well_formed(|row| self.order.slot(row) != NONE);
        self.trunk.assert_well_formed(&self.order, &self.locals, &self.inherits);
        assert_eq!(self.locals.rows().len(), rows, "local rows");
        assert_eq!(self.worlds.rows().len(), rows, "world rows");
        // Dirty from above: a node counts as dirty if one above it is, and parents come first here.
        let mut stale = alloc::vec![false; rows];
        let mut poses = alloc::vec![None; if self.inherits.is_empty() { 0 } else { rows }];
        let mut at = self.topology.ends(NONE).0;
        while at != NONE {
            let row = self.order.row(at);
            let parent = self.order.parent(row);
            let local = self.own(at).local();
            assert!(A::same_bits(&local, self.locals.row(row)), "local row of slot {at}");
            stale[row as usize] = self.marks.get(row) || parent != NONE && stale[parent as usize];
            let (transform, inherit) = (self.locals.transform(at), self.inherits.get(row));
            let above = poses.get(parent as usize).copied().flatten();
            if let Some(pose) = poses.get_mut(row as usize) {
                *pose = Some(above.map_or(*transform, |above| A::combined(&above, inherit, transform)));
            }
            if !stale[row as usize] {
                let world = match self.worlds.rows().get(parent as usize) {
                    Some(_) if inherit != Inherit::ALL => A::hung(&above.expect("parents come first"), inherit, &local),
                    Some(above) => A::product(above, &local),
                    None => A::root(&local),
                };
                assert!(A::same_bits(&world, &self.worlds.rows()[row as usize]), "world row of slot {at}");
            }
            at = self.topology.next_in_forest(at);
        }
        self.changes.assert_well_formed(&stale);
        self.previous.assert_well_formed(&stale, self.worlds.rows(), &self.changes);
        for row in 0..rows {
            if self.order.slot(row) == NONE {
                assert!(!self.marks.get(row as u32), "hole {row} is marked");
                assert!(A::same_bits(self.locals.row(row as u32), &A::HOLE), "local of hole {row}");
                assert!(A::same_bits(&self.worlds.rows()[row], &A::HOLE), "world of hole {row}");
            }
        }
    }
}
