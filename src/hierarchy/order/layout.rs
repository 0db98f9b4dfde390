//! Where rows go in a sort: the forest in pre-order, from scratch or from what edits have left.

use super::{Order, Permutation};
use crate::hierarchy::bits::{self, BITS};
use crate::topology::NONE;
use alloc::{vec, vec::Vec};
use core::ops::Range;

/// Of how many rows one may be out of place for [`stitched`]. Each costs some hundred nanoseconds, in jumps
/// and searches; laying out anew costs that much for each row there is.
const IN_PLACE: usize = 4;

/// The order in which rows are to be stored.
pub(super) fn pre_order(order: &Order) -> Permutation {
    Permutation(stitched(order).unwrap_or_else(|| laid_out(order)))
}

/// Rows that are out of place, each with its parent's row: in the order of rows.
///
/// The stretches of rows that were runs once, those of scattered nodes too, lie inside of each other or
/// apart, because rows stay where they are from one sort to the next. A row is in place if the innermost
/// stretch around it is its parent's: then it is where pre-order wants it, as far as edits let it. `None` if
/// there are too many others.
fn out_of_place(order: &Order) -> Option<Vec<(u32, u32)>> {
    let most = order.len() / IN_PLACE;
    let mut loose = Vec::new();
    let mut open: Vec<(u32, u32)> = Vec::new();
    let (mut around, mut end) = (NONE, NONE);
    for row in 0..order.len() as u32 {
        if order.slots[row as usize] == NONE {
            continue;
        }
        while row >= end {
            (around, end) = open.pop().unwrap_or((NONE, NONE));
        }
        let parent = order.parents[row as usize];
        if parent != around {
            if loose.len() == most {
                return None;
            }
            loose.push((parent, row));
        }
        let stretch = order.spans.stretch(row);
        if stretch > 1 {
            open.push((around, end));
            (around, end) = (row, row + stretch);
        }
    }
    Some(loose)
}

/// The old rows in their new order, where most are in place: what lies between is taken over as it is, a
/// stretch that is out of place is left out where it lies, and put in behind its parent.
///
/// Reads and writes nearly everything in line. `None` if too much is out of place.
fn stitched(order: &Order) -> Option<Vec<u32>> {
    let mut loose = out_of_place(order)?;
    let mut events = Events::new(order.len());
    for &(parent, row) in &loose {
        events.loose.insert(row);
        if parent != NONE {
            events.parents.insert(parent);
        }
    }
    loose.sort_unstable();
    let below = |parent: u32| {
        let start = loose.partition_point(|&(above, _)| above < parent);
        loose[start..].iter().take_while(move |&&(above, _)| above == parent).map(|&(_, row)| row)
    };
    let stretch = |row: u32| row..row + order.spans.stretch(row);

    // What is left of a range once the stretches out of place at its start are left out. No further: beyond
    // its end others lie that were appended one by one, and each of them would look at all that follow.
    let skip = |mut rest: Range<u32>| {
        while !rest.is_empty() && events.loose.contains(rest.start) {
            rest.start = stretch(rest.start).end;
        }
        rest
    };

    let mut rows = Vec::with_capacity(order.len() - order.holes);
    // What is still to be taken over. A first row that is out of place is there in its turn.
    let mut rest: Vec<Range<u32>> = below(NONE).map(stretch).collect();
    rest.push(skip(0..order.len() as u32));
    while let Some(Range { start, end }) = rest.pop() {
        let mut at = start;
        while at < end {
            if events.parents.contains(at) {
                rows.push(at);
                rest.push(skip(at + 1..end));
                rest.extend(below(at).map(stretch));
                break;
            }
            let event = events.next(at + 1).min(end);
            rows.extend((at..event).filter(|&row| order.slots[row as usize] != NONE));
            at = skip(event..end).start;
        }
    }
    Some(rows)
}

/// Where taking over in line ends.
struct Events {
    /// The first rows of stretches that are out of place.
    loose: Bits,
    /// Their parents.
    parents: Bits,
}

impl Events {
    fn new(rows: usize) -> Self {
        Self { loose: Bits::new(rows), parents: Bits::new(rows) }
    }

    /// The first of either at or after a row; beyond the last row if there is none.
    fn next(&self, row: u32) -> u32 {
        let (start, bit) = (row as usize / BITS, row as usize % BITS);
        let words = self.loose.0.iter().zip(&self.parents.0).map(|(a, b)| a | b).enumerate().skip(start);
        let words = words.map(|(index, word)| (index, if index == start { word & u64::MAX << bit } else { word }));
        match { words }.find(|&(_, word)| word != 0) {
            Some((index, word)) => (index * BITS) as u32 + word.trailing_zeros(),
            None => NONE,
        }
    }
}

struct Bits(Vec<u64>);

impl Bits {
    fn new(bits: usize) -> Self {
        Self(vec![0; bits.div_ceil(BITS)])
    }

    fn insert(&mut self, bit: u32) {
        let (index, bit) = bits::place(bit);
        self.0[index] |= bit;
    }

    /// Beyond the last one: not.
    fn contains(&self, bit: u32) -> bool {
        bits::contains(&self.0, bit)
    }
}

/// The old rows in pre-order, from nothing but who is whose parent.
///
/// Sizes of subtrees are added up, children before parents, and then each node takes the next place that its
/// parent has left, and as many behind it as its subtree needs. Siblings come in the order of their rows.
/// Only small numbers are touched, and hardly an access waits for the one before it.
fn laid_out(order: &Order) -> Vec<u32> {
    let rows = parents_first(order);
    let mut sizes = vec![1; order.len()];
    for &row in rows.iter().rev() {
        let parent = order.parents[row as usize];
        if parent != NONE {
            sizes[parent as usize] += sizes[row as usize];
        }
    }
    let mut places = vec![NONE; rows.len()];
    let mut next_root = 0;
    // Of a row that has been placed: the next place for a child.
    let mut next = sizes;
    for &row in &rows {
        let parent = order.parents[row as usize];
        let size = next[row as usize];
        let left = if parent == NONE { &mut next_root } else { &mut next[parent as usize] };
        let place = *left;
        *left += size;
        next[row as usize] = place + 1;
        places[place as usize] = row;
    }
    places
}

/// All rows but holes, each after its parent's: in their order as far as that allows.
fn parents_first(order: &Order) -> Vec<u32> {
    let mut rows = Vec::with_capacity(order.len() - order.holes);
    let mut taken = Bits::new(order.len());
    let mut path = Vec::new();
    for row in 0..order.len() as u32 {
        let mut at = row;
        while at != NONE && order.slots[at as usize] != NONE && !taken.contains(at) {
            taken.insert(at);
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
        fn assert_pre_order(&self, rows: &[u32]) {
            let mut path: Vec<u32> = Vec::new();
            let mut seen: Vec<u32> = Vec::new();
            for &row in rows {
                let slot = self.order.slot(row as usize);
                let parent = self.parents[slot as usize].expect("a live node");
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
        let rows = stitched(&order).expect("few enough are out of place");
        assert_eq!(rows.len(), order.len());
        let mut seen = vec![false; order.len()];
        for &row in &rows {
            let parent = order.parents[row as usize];
            assert!(parent == NONE || seen[parent as usize], "row {row} comes before its parent");
            seen[row as usize] = true;
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
                model.order.spans.assert_well_formed();
                model.assert_pre_order(&laid_out(&model.order));
                match stitched(&model.order) {
                    Some(rows) => model.assert_pre_order(&rows),
                    None => prop_assert!(model.moved > model.order.len() / IN_PLACE, "{} moved", model.moved),
                }
                model.order.sort();
                model.moved = 0;
            }
        }
    }
}
