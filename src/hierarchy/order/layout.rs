//! Where rows go in a sort: the forest in pre-order, from what edits have left or from scratch.

use super::{Order, Permutation, Place};
use crate::hierarchy::bits::{self, BITS};
use crate::topology::NONE;
use alloc::{vec, vec::Vec};
use core::ops::Range;

/// The rows in the order in which they are to be stored, and for each there where its parent is to be.
pub(super) fn pre_order(order: &Order) -> (Permutation, Vec<u32>) {
    if order.strays.are_too_many() { laid_out(order) } else { stitched(order) }
}

/// The rows in their new order, where strays are listed: what lies between them is taken over as it is,
/// the stretch of a stray is left out where it lies, and put in behind its parent.
///
/// Reads and writes nearly everything in line.
fn stitched(order: &Order) -> (Permutation, Vec<u32>) {
    let strays = order.strays.all().filter(|&(parent, row)| order.is_stray_of(parent, row));
    let strays: Vec<_> = strays.map(|(parent, row)| (parent, order.stretches.of(row))).collect();
    // By old row: the new one, and until then, of a parent of strays: where these begin in the list.
    let mut places = vec![NONE; order.len()];
    for (at, &(parent, _)) in strays.iter().enumerate().rev() {
        if let Some(place) = places.get_mut(parent as usize) {
            *place = at as u32;
        }
    }
    let roots = strays.partition_point(|&(parent, _)| parent != NONE);
    let below = |parent: u32, first: usize| {
        let listed = strays.get(first..).unwrap_or_default().iter();
        listed.take_while(move |&&(above, _)| above == parent).map(|(_, stretch)| stretch.clone())
    };
    // Where taking over in line ends: at the next stray, and after the next parent of one.
    let next = |at: u32, end: u32| order.strays.next_of_both_within(at..end).unwrap_or(end);
    // What is left of a range once the strays at its start are left out. No further: beyond its end others
    // lie that were appended one by one, and each of them would look at all that follow.
    let skip = |mut rest: Range<u32>| {
        while !rest.is_empty() && order.strays.contains(rest.start) {
            rest.start = order.stretches.of(rest.start).end;
        }
        rest
    };

    let mut parents = Vec::with_capacity(order.parents.capacity());
    let mut ranges: Vec<Range<u32>> = Vec::new();
    let mut take_over = |rows: Range<u32>, places: &mut [u32]| {
        let old = rows.start as usize..rows.end as usize;
        places[old.clone()].iter_mut().zip(parents.len() as u32..).for_each(|(place, new)| *place = new);
        let place = |&parent: &u32| places.get(parent as usize).copied().unwrap_or(NONE);
        parents.extend(order.parents[old].iter().map(place));
        match ranges.last_mut() {
            Some(last) if last.end == rows.start => last.end = rows.end,
            _ if rows.is_empty() => {}
            _ => ranges.push(rows),
        }
    };
    // What is still to be taken over. A first row that is a stray is there in its turn.
    let mut rest: Vec<Range<u32>> = below(NONE, roots).collect();
    rest.push(skip(0..order.len() as u32));
    while let Some(Range { start, end }) = rest.pop() {
        let mut at = start;
        while at < end {
            if order.strays.has_parent(at) {
                let first = places[at as usize] as usize;
                take_over(at..at + 1, &mut places);
                rest.push(skip(at + 1..end));
                rest.extend(below(at, first));
                break;
            }
            let event = next(at + 1, end);
            while at < event {
                let rows = live(order, at..event);
                at = rows.end;
                take_over(rows, &mut places);
            }
            at = skip(event..end).start;
        }
    }
    (Permutation { ranges, len: parents.len(), ..Permutation::default() }, parents)
}

/// The first of some rows that lie side by side and are no holes; if there are none, none at the end.
fn live(order: &Order, rows: Range<u32>) -> Range<u32> {
    if order.holes == 0 {
        return rows;
    }
    let is_hole = |&row: &u32| order.slots[row as usize] == NONE;
    let start = rows.clone().find(|row| !is_hole(row)).unwrap_or(rows.end);
    start..(start..rows.end).find(is_hole).unwrap_or(rows.end)
}

/// The rows in pre-order, from nothing but who is whose parent.
///
/// Sizes of subtrees are added up, children before parents, and then each node takes the next place that its
/// parent has left, and as many behind it as its subtree needs.
/// Only small numbers are touched, and hardly an access waits for the one before it.
fn laid_out(order: &Order) -> (Permutation, Vec<u32>) {
    #[derive(Clone, Copy)]
    struct Room {
        /// The rows it takes, and once it is placed: the next place for a child.
        next: u32,
        place: u32,
    }
    let mut rows = parents_first(order);
    let mut rooms = vec![Room { next: 1, place: NONE }; order.len()];
    for &row in rows.iter().rev() {
        let parent = order.parents[row as usize];
        if parent != NONE {
            rooms[parent as usize].next += rooms[row as usize].next;
        }
    }
    let mut places = vec![Place { old: NONE, parent: NONE }; rows.len()];
    // Of the roots, below nothing.
    let mut forest = Room { next: 0, place: NONE };
    for &row in &rows {
        let rows = rooms[row as usize].next;
        let above = rooms.get_mut(order.parents[row as usize] as usize).unwrap_or(&mut forest);
        let (place, parent) = (above.next, above.place);
        above.next += rows;
        rooms[row as usize] = Room { next: place + 1, place };
        places[place as usize] = Place { old: row, parent };
    }
    // What the rows lay in takes the parents.
    rows.clear();
    rows.extend(places.iter().map(|place| place.parent));
    (Permutation { len: places.len(), places, ..Permutation::default() }, rows)
}

/// All rows but holes, each after its parent's: in their order, or from the last to the first where most parents
/// come later, as far as that allows.
fn parents_first(order: &Order) -> Vec<u32> {
    let (len, last) = (order.len() as u32, (order.len() as u32).wrapping_sub(1));
    let count =
        |is: fn(u32, u32) -> bool| (0..len).zip(&order.parents).filter(|&(row, &parent)| is(row, parent)).count();
    let earlier = count(|row, parent| parent < row);
    let later = count(|row, parent| parent > row && parent != NONE);
    let is_backwards = later > earlier;
    let in_turn = (0..len).map(|at| if is_backwards { last - at } else { at });
    let is_hole = |row: u32| order.slots[row as usize] == NONE;
    let mut rows = Vec::with_capacity(order.parents.capacity());
    if earlier.min(later) == 0 {
        rows.extend(in_turn.filter(|&row| !is_hole(row)));
        return rows;
    }
    let mut taken = vec![0_u64; order.len().div_ceil(BITS)];
    let mut path = Vec::new();
    for mut at in in_turn {
        while at != NONE && !is_hole(at) && !bits::contains(&taken, at) {
            let (index, bit) = bits::place(at);
            taken[index] |= bit;
            path.push(at);
            at = order.parents[at as usize];
        }
        rows.extend(path.drain(..).rev());
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Edits as slots and parents; [`NONE`] where a slot is free.
    struct Model {
        order: Order,
        parents: Vec<Option<u32>>,
        /// How many nodes have got another parent, or are new tops, since the last sort.
        moved: usize,
    }

    impl Model {
        fn live(&self) -> Vec<u32> {
            (0..self.parents.len() as u32).filter(|&slot| self.parents[slot as usize].is_some()).collect()
        }

        fn is_at_or_above(&self, slot: u32, mut at: u32) -> bool {
            while at != NONE && at != slot {
                at = self.parents[at as usize].unwrap_or(NONE);
            }
            at == slot
        }

        fn edit(&mut self, (kind, a, b): (u8, prop::sample::Index, prop::sample::Index)) {
            let live = self.live();
            if live.is_empty() {
                return;
            }
            let (a, b) = (live[a.index(live.len())], live[b.index(live.len())]);
            let new = self.parents.len() as u32;
            self.moved += 1;
            match kind {
                0 => {
                    self.order.push(new, a);
                    self.parents.push(Some(a));
                }
                1 => {
                    // A top with two children, the second of which has one.
                    self.order.push_runs(&[new, new + 1, new + 2, new + 3], &[0, 1, 2, 1], a);
                    self.parents.extend([a, new, new, new + 2].map(Some));
                }
                2 => {
                    // A node goes, and its children come to their grandparent.
                    let above = self.parents[a as usize].take().unwrap_or(NONE);
                    for child in live {
                        if self.parents[child as usize] == Some(a) {
                            self.order.promote(child, above);
                            self.parents[child as usize] = Some(above);
                            self.moved += 1;
                        }
                    }
                    self.order.vacate(a);
                }
                3 => {
                    self.order.reparent(a, NONE);
                    self.parents[a as usize] = Some(NONE);
                }
                _ if !self.is_at_or_above(a, b) => {
                    self.order.reparent(a, b);
                    self.parents[a as usize] = Some(b);
                }
                _ => {}
            }
        }

        /// Every live row once, and each subtree in one stretch that begins with its top.
        fn assert_pre_order(&self, (order, parents): &(Permutation, Vec<u32>)) {
            let mut path: Vec<u32> = Vec::new();
            let mut seen: Vec<u32> = Vec::new();
            let rows: Vec<u32> = order.iter().collect();
            assert_eq!((order.len(), parents.len()), (rows.len(), rows.len()));
            for (&old, &above) in rows.iter().zip(parents) {
                let slot = self.order.slot(old as usize);
                let parent = self.parents[slot as usize].expect("a live node");
                let above = rows.get(above as usize).map_or(NONE, |&above| self.order.slot(above as usize));
                assert_eq!(above, parent, "new parent of slot {slot}");
                while path.last().is_some_and(|&above| above != parent) {
                    path.pop();
                }
                assert!(parent == NONE || !path.is_empty(), "slot {slot} is not in its parent's stretch");
                path.push(slot);
                seen.push(slot);
            }
            seen.sort_unstable();
            assert_eq!(seen, self.live());
        }
    }

    /// Whether all parents come before, after, or on both sides.
    #[test]
    fn every_row_comes_after_its_parent() {
        for moved in [0, 1, 30, 59, 60] {
            let mut order = Order::default();
            (0..61).for_each(|slot| {
                order.push(slot, NONE);
            });
            // The last so many hang under the one before, the others under the one behind, and one is gone.
            (61 - moved..61).for_each(|slot| order.reparent(slot, slot - 1));
            (0..60 - moved).for_each(|slot| order.reparent(slot, slot + 1));
            let leaf = if moved == 0 { 0 } else { 60 };
            order.vacate(leaf);
            let rows = parents_first(&order);
            assert_eq!(rows.len(), 60);
            let place = |slot: u32| rows.iter().position(|&row| row == slot);
            for &row in &rows {
                let parent = order.parent(row);
                assert!(parent == NONE || place(parent) < place(row), "{row} comes before {parent}, {moved} moved");
            }
        }
    }

    /// As many as may be out of place. If each of them looked at all that follow it would take minutes.
    #[test]
    fn stitching_takes_no_longer_for_many_appended_in_a_row() {
        const ROWS: u32 = 1 << 20;
        let mut order = Order::default();
        let slots: Vec<u32> = (0..ROWS).collect();
        let up: Vec<u32> = slots.iter().map(|row| row % 2).collect();
        order.push_runs(&slots, &up, NONE);
        for new in 0..ROWS / 4 {
            let parent = new.wrapping_mul(0x9e37_79b1) % ROWS;
            order.push(ROWS + new, parent);
        }
        order.list_strays();
        assert!(!order.strays.are_too_many(), "few enough are strays");
        let (rows, parents) = stitched(&order);
        assert_eq!(rows.len(), order.len());
        for (row, &parent) in parents.iter().enumerate() {
            assert!(parent == NONE || (parent as usize) < row, "row {row} comes before its parent");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]
        #[test]
        fn both_ways_give_pre_order(
            parents in prop::collection::vec(any::<prop::sample::Index>(), 1..200),
            edits in prop::collection::vec((0u8..8, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..40),
            sorts in 0usize..3,
        ) {
            let mut model = Model { order: Order::default(), parents: Vec::new(), moved: 0 };
            for (slot, parent) in parents.iter().enumerate() {
                let parent = if slot == 0 { NONE } else { parent.index(slot) as u32 };
                model.order.push(slot as u32, parent);
                model.parents.push(Some(parent));
            }
            model.order.sort();
            for part in edits.chunks(edits.len() / (sorts + 1) + 1) {
                part.iter().for_each(|&edit| model.edit(edit));
                model.order.list_strays();
                model.assert_pre_order(&laid_out(&model.order));
                if model.order.strays.are_too_many() {
                    prop_assert!(model.moved > model.order.len() / 8, "{} moved", model.moved);
                } else {
                    model.assert_pre_order(&stitched(&model.order));
                }
                model.order.sort();
                model.moved = 0;
            }
        }
    }
}
