//! The nodes above those that do not inherit everything, side by side. [`Trunk`] is the sole writer of that copy.

use super::bits::{self, BITS};
use super::inherit::Inherits;
use super::local::Locals;
use super::order::Order;
use crate::Inherit;
use crate::accumulate::Accumulate;
use crate::topology::NONE;
use alloc::vec::Vec;
use core::ops::Range;

/// A set of rows, each of which has a place: how many there are before it.
#[derive(Clone, Debug, Default)]
struct Places {
    words: Vec<u64>,
    /// By word: the rows in those before.
    before: Vec<u32>,
}

impl Places {
    /// Numbers the rows whose bits are set.
    fn count(&mut self) -> usize {
        self.before.clear();
        let mut count = 0;
        for word in &self.words {
            self.before.push(count as u32);
            count += word.count_ones() as usize;
        }
        count
    }

    #[inline]
    fn contains(&self, row: u32) -> bool {
        bits::contains(&self.words, row)
    }

    /// The place of a row of the set; of another: that of the next one of the set.
    #[inline]
    fn of(&self, row: u32) -> usize {
        let (index, bit) = bits::place(row);
        match self.words.get(index) {
            Some(word) => self.before[index] as usize + (word & (bit - 1)).count_ones() as usize,
            None => self.last(),
        }
    }

    #[inline]
    fn last(&self) -> usize {
        let last = self.words.last().map_or(0, |word| word.count_ones());
        self.before.last().map_or(0, |before| before + last) as usize
    }

    fn rows(&self) -> impl Iterator<Item = u32> {
        let words = self.words.iter().enumerate();
        words.flat_map(|(index, &word)| bits::ones(word).map(move |bit| (index * BITS + bit) as u32))
    }
}

/// What worlds follow from that hang under component poses, kept from one update to the next: the nodes above
/// them, without those between, in the order of their rows.
///
/// Where they are stored they lie far apart, and each would be waited for, twice: for where it is, and for what
/// it holds. It stays right for as long as no node hangs elsewhere and none inherits other parts; until it pays
/// to make it anew, [`Poses`](super::inherit::Poses) does without.
#[derive(Clone, Debug)]
pub(super) struct Trunk<A: Accumulate> {
    /// What it was made from: the numbers of edits that concern it.
    edits: Option<[u64; 2]>,
    /// Poses taken since then, with it and without.
    taken: usize,
    rows: Places,
    /// By place: the place of the parent, what is inherited of it, the transform, and the component pose of the
    /// update that is its stamp.
    above: Vec<u32>,
    inherits: Vec<Inherit>,
    transforms: Vec<A::Transform>,
    poses: Vec<A::Transform>,
    stamps: Vec<u64>,
    /// Updates so far.
    now: u64,
    /// Rows of nodes that do not inherit everything, and what they are, by place there.
    ends: Places,
    hung: Hung,
    /// What is to be computed: poses, by place, and worlds, and the local rows that these follow from.
    due: Vec<u32>,
    due_hung: Hung,
    locals: Vec<A::Row>,
}

/// Nodes that do not inherit everything: their rows, the places of their parents, and what they inherit.
#[derive(Clone, Debug, Default, PartialEq)]
struct Hung {
    rows: Vec<u32>,
    above: Vec<u32>,
    inherits: Vec<Inherit>,
}

impl Hung {
    fn clear(&mut self) {
        self.rows.clear();
        self.above.clear();
        self.inherits.clear();
    }

    /// Adds those in some places of another list.
    fn add(&mut self, from: &Self, places: Range<usize>) {
        self.rows.extend_from_slice(&from.rows[places.clone()]);
        self.above.extend_from_slice(&from.above[places.clone()]);
        self.inherits.extend_from_slice(&from.inherits[places]);
    }
}

impl<A: Accumulate> Trunk<A> {
    pub(super) fn new() -> Self {
        Self {
            edits: None,
            taken: 0,
            rows: Places::default(),
            above: Vec::new(),
            inherits: Vec::new(),
            transforms: Vec::new(),
            poses: Vec::new(),
            stamps: Vec::new(),
            now: 0,
            ends: Places::default(),
            hung: Hung::default(),
            due: Vec::new(),
            due_hung: Hung::default(),
            locals: Vec::new(),
        }
    }

    /// A node has another transform, and is where it was.
    #[inline(always)]
    pub(super) fn set(&mut self, row: u32, transform: &A::Transform) {
        if self.rows.contains(row) {
            self.transforms[self.rows.of(row)] = *transform;
        }
    }

    /// Whether no node has to be set.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.transforms.is_empty()
    }

    /// Counts poses that were taken without it.
    pub(super) fn count(&mut self, poses: usize) {
        self.taken += poses;
    }

    fn edits(order: &Order, inherits: &Inherits) -> [u64; 2] {
        [order.edits(), inherits.edits()]
    }

    /// Whether it is as if it were made now.
    pub(super) fn is_right(&self, order: &Order, inherits: &Inherits) -> bool {
        self.edits == Some(Self::edits(order, inherits))
    }

    /// After one edit of parents, of a row or below it: what was right still is if neither it nor anything below it is
    /// in here.
    pub(super) fn outlive_move(&mut self, row: u32, order: &Order, inherits: &Inherits) {
        let [order, inherits] = Self::edits(order, inherits);
        if self.edits == Some([order - 1, inherits]) && !self.rows.contains(row) && !self.ends.contains(row) {
            self.edits = Some([order, inherits]);
        }
    }

    /// Before an update: whether it is right, as it is or because it pays to make it anew.
    pub(super) fn prepare(&mut self, order: &Order, locals: &Locals<A>, inherits: &Inherits) -> bool {
        if inherits.is_empty() {
            if self.edits.is_some() {
                *self = Self::new();
            }
            return false;
        }
        self.now += 1;
        if !self.is_right(order, inherits) {
            if self.taken < self.cost(order, inherits) {
                return false;
            }
            self.make(order, locals, inherits);
        }
        true
    }

    /// What it costs to make it anew, in poses: about as long as it takes to take a part of its own, and to go over
    /// words of bits.
    fn cost(&self, order: &Order, inherits: &Inherits) -> usize {
        self.above.len().max(inherits.len()) / 2 + order.len() / (16 * BITS)
    }

    /// Whether an update that has taken so many poses without it takes some again and again, or it has grown: rows in
    /// pre-order take no more than it holds.
    pub(super) fn is_missed(&self, poses: usize, order: &Order, inherits: &Inherits) -> bool {
        poses > 2 * self.cost(order, inherits)
    }

    /// Makes it anew. O(nodes above those that do not inherit everything, and rows / 64).
    pub(super) fn make(&mut self, order: &Order, locals: &Locals<A>, inherits: &Inherits) {
        self.edits = Some(Self::edits(order, inherits));
        self.taken = 0;
        renew(&mut self.ends.words, inherits.cuts().words().iter().copied());
        self.ends.count();
        self.rows.words.clear();
        self.rows.words.resize(order.len().div_ceil(BITS), 0);
        for row in self.ends.rows() {
            let mut at = order.parent(row);
            while at != NONE && !self.rows.contains(at) {
                let (index, bit) = bits::place(at);
                self.rows.words[index] |= bit;
                at = order.parent(at);
            }
        }
        let count = self.rows.count();
        let place_above = |row: u32| match order.parent(row) {
            NONE => NONE,
            parent => self.rows.of(parent) as u32,
        };
        let slots = || self.rows.rows().map(|row| order.slot(row as usize));
        renew(&mut self.above, self.rows.rows().map(place_above));
        renew(&mut self.inherits, self.rows.rows().map(|row| inherits.get(row)));
        renew(&mut self.transforms, slots().map(|slot| *locals.transform(slot)));
        renew(&mut self.poses, self.transforms.iter().copied());
        renew(&mut self.stamps, core::iter::repeat_n(0, count));
        renew(&mut self.hung.rows, self.ends.rows());
        renew(&mut self.hung.above, self.ends.rows().map(place_above));
        renew(&mut self.hung.inherits, self.ends.rows().map(|row| inherits.get(row)));
        self.now += 1;
    }

    /// Lists those rows of a stretch that do not inherit everything, and what there is above them whose pose has
    /// not been taken in this update.
    pub(super) fn list(&mut self, stretch: Range<u32>) {
        let hung = self.ends.of(stretch.start)..self.ends.of(stretch.end);
        for &above in &self.hung.above[hung.clone()] {
            let (start, mut at) = (self.due.len(), above);
            while at != NONE && self.stamps[at as usize] != self.now {
                self.stamps[at as usize] = self.now;
                self.due.push(at);
                at = self.above[at as usize];
            }
            self.due[start..].reverse();
        }
        self.due_hung.add(&self.hung, hung);
    }

    /// Computes the worlds of the rows that are listed, and forgets the list.
    pub(super) fn hang(&mut self, locals: &[A::Row], worlds: &mut [A::Row]) {
        self.taken += self.due.len();
        A::pose(&self.above, &self.inherits, &self.transforms, &mut self.poses, &self.due);
        let Hung { rows, above, inherits } = &self.due_hung;
        // Before anything is done with them, so that they are all waited for at once.
        renew(&mut self.locals, rows.iter().map(|&row| locals[row as usize]));
        A::hang(rows, above, inherits, &self.locals, &self.poses, worlds);
        self.due.clear();
        self.due_hung.clear();
    }

    /// Asserts that nothing is listed, as between updates, and that, if it is taken for right, it holds what there is
    /// above all that do not inherit everything.
    pub(super) fn assert_well_formed(&self, order: &Order, locals: &Locals<A>, inherits: &Inherits) {
        assert!(self.due.is_empty() && self.due_hung.rows.is_empty(), "listed and not computed");
        if !self.is_right(order, inherits) {
            return;
        }
        let mut fresh = Self::new();
        fresh.make(order, locals, inherits);
        assert_eq!(self.rows.rows().collect::<Vec<_>>(), fresh.rows.rows().collect::<Vec<_>>(), "rows of the trunk");
        assert_eq!(self.above, fresh.above, "places of parents in the trunk");
        assert_eq!(self.inherits, fresh.inherits, "what is inherited in the trunk");
        assert_eq!(self.transforms, fresh.transforms, "transforms in the trunk");
        assert_eq!(self.hung, fresh.hung, "what hangs below the trunk");
        assert!(self.stamps.iter().all(|&stamp| stamp <= self.now), "a pose of an update to come");
    }
}

/// Replaces what a column holds; its memory stays.
fn renew<T>(column: &mut Vec<T>, values: impl Iterator<Item = T>) {
    column.clear();
    column.extend(values);
}
