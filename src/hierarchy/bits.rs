//! Bits by row, 64 to a word.

use core::ops::Range;

pub(super) const BITS: usize = u64::BITS as usize;

/// The word of a row, and its bit in there.
#[inline]
pub(super) fn place(row: u32) -> (usize, u64) {
    (row as usize / BITS, 1 << (row as usize % BITS))
}

/// Whether the bit of a row is set; beyond the last word: not.
#[inline]
pub(super) fn contains(words: &[u64], row: u32) -> bool {
    let (index, bit) = place(row);
    words.get(index).is_some_and(|word| word & bit != 0)
}

/// The first set bit at or after `bit`.
pub(super) fn next(words: &[u64], bit: usize) -> Option<usize> {
    next_within(words, bit..usize::MAX)
}

/// The first set bit of a stretch. Looks no further than that.
pub(super) fn next_within(words: &[u64], bits: Range<usize>) -> Option<usize> {
    next_of(|index| words.get(index).copied(), bits)
}

/// The first bit of a stretch that is set in one or the other. Looks no further than that.
pub(super) fn next_of_two(words: [&[u64]; 2], bits: Range<usize>) -> Option<usize> {
    next_of(|index| Some(words[0].get(index)? | words[1].get(index)?), bits)
}

fn next_of(word_at: impl Fn(usize) -> Option<u64>, bits: Range<usize>) -> Option<usize> {
    let mut index = bits.start / BITS;
    let mut word = word_at(index)? & u64::MAX << (bits.start % BITS);
    while word == 0 && index < bits.end / BITS {
        index += 1;
        word = word_at(index)?;
    }
    let bit = index * BITS + word.trailing_zeros() as usize;
    (bit < bits.end).then_some(bit)
}

/// The first and the last word of rows that are not none, each with the bits that are theirs; words between
/// are theirs whole.
#[inline]
pub(super) fn ends(rows: &Range<u32>) -> [(usize, u64); 2] {
    let (first, last) = (rows.start as usize, rows.end as usize - 1);
    [(first / BITS, u64::MAX << (first % BITS)), (last / BITS, u64::MAX >> (BITS - 1 - last % BITS))]
}

/// Calls a function with each word that rows have bits in, and those bits.
#[inline]
pub(super) fn each_word(rows: Range<u32>, mut call: impl FnMut(usize, u64)) {
    if rows.is_empty() {
        return;
    }
    let [(first, head), (last, tail)] = ends(&rows);
    if first == last {
        return call(first, head & tail);
    }
    call(first, head);
    (first + 1..last).for_each(|index| call(index, u64::MAX));
    call(last, tail);
}

/// With the bits between two set ones of which there are no more than four.
pub(super) const fn close_gaps(bits: u64) -> u64 {
    let wide = bits | bits << 1;
    let wide = wide | wide << 2 | bits << 4;
    let narrow = wide & wide >> 1;
    bits | narrow & narrow >> 2 & wide >> 4
}

/// Takes the lowest set bit out, and gives its number.
#[inline]
pub(super) fn take_one(bits: &mut u64) -> Option<usize> {
    if *bits == 0 {
        return None;
    }
    let one = bits.trailing_zeros() as usize;
    *bits &= *bits - 1;
    Some(one)
}

/// The numbers of the set bits, from the lowest.
pub(super) fn ones(mut bits: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || take_one(&mut bits))
}

/// Takes the lowest set bit out, with those right after it, and gives their numbers.
#[inline]
pub(super) fn take_stretch(bits: &mut u64) -> Option<Range<usize>> {
    if *bits == 0 {
        return None;
    }
    let first = bits.trailing_zeros();
    let end = first + (*bits >> first).trailing_ones();
    *bits &= u64::MAX.checked_shl(end).unwrap_or(0);
    Some(first as usize..end as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{collections::BTreeSet, vec, vec::Vec};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_are_a_set_of_rows(
            rows in prop::collection::btree_set(0u32..300, 0..80),
            from in 0usize..400,
            noise in any::<u64>(),
        ) {
            let mut words = vec![0; 300_usize.div_ceil(BITS)];
            for (index, bit) in rows.iter().map(|&row| place(row)) {
                words[index] |= bit;
            }
            (0..400).for_each(|row| assert_eq!(contains(&words, row), rows.contains(&row)));
            prop_assert_eq!(next(&words, from), rows.range(from as u32..).next().map(|&row| row as usize));
            for end in from..from + 150 {
                let first = rows.range(from as u32..end as u32).next().map(|&row| row as usize);
                prop_assert_eq!(next_within(&words, from..end), first);
                let (some, others): (Vec<_>, Vec<_>) = words.iter().map(|word| (word & noise, word & !noise)).unzip();
                prop_assert_eq!(next_of_two([&some, &others], from..end), first);
            }
        }

        #[test]
        fn bits_come_out_one_by_one_and_in_stretches(bits in any::<u64>(), and in any::<u64>(), or in any::<bool>()) {
            // Long stretches as well as short ones.
            let bits = if or { bits | and } else { bits & and };
            let model: Vec<usize> = (0..BITS).filter(|bit| bits >> bit & 1 == 1).collect();
            prop_assert!(ones(bits).eq(model.iter().copied()));
            let mut left = bits;
            let mut stretches = Vec::new();
            while let Some(stretch) = take_stretch(&mut left) {
                let longer = stretches.last().is_some_and(|last: &Range<usize>| last.end >= stretch.start);
                prop_assert!(!longer && !stretch.is_empty());
                stretches.push(stretch);
            }
            prop_assert!(stretches.into_iter().flatten().eq(model));
        }

        #[test]
        fn gaps_of_up_to_four_are_closed(bits in any::<u64>(), and in any::<u64>()) {
            let bits = bits & and;
            let is_set = |bit: usize| bits >> bit & 1 == 1;
            // Up to 63 the last bit may have fallen out on the way.
            for bit in 0..60 {
                let (below, above) = ((0..=bit).rev().find(|&at| is_set(at)), (bit..BITS).find(|&at| is_set(at)));
                let closed = below.zip(above).is_some_and(|(below, above)| above - below <= 5);
                prop_assert_eq!(close_gaps(bits) >> bit & 1 == 1, closed, "bit {} of {:b}", bit, bits);
            }
            prop_assert_eq!(close_gaps(bits) & bits, bits);
            prop_assert!(close_gaps(bits).leading_zeros() == bits.leading_zeros());
        }

        #[test]
        fn ends_hold_the_rows(start in 0u32..300, len in 1u32..300) {
            let rows = start..start + len;
            let [(first, head), (last, tail)] = ends(&rows);
            let mut seen = BTreeSet::new();
            for index in first..=last {
                let mut bits = u64::MAX;
                bits &= if index == first { head } else { bits };
                bits &= if index == last { tail } else { bits };
                seen.extend(ones(bits).map(|bit| (index * BITS + bit) as u32));
            }
            prop_assert!(seen.into_iter().eq(rows.clone()));
        }
    }

    #[test]
    fn a_full_word_is_one_stretch() {
        let mut bits = u64::MAX;
        assert_eq!((take_stretch(&mut bits), bits), (Some(0..64), 0));
    }
}
