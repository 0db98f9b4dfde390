//! A way to accumulate in which every mistake shows, for tests of everything but the mathematics.
//!
//! A pose is a map `x -> a x + b` of the whole numbers modulo 2³², `a` odd, packed into 64 bits: an
//! associative, non-commutative product in which any row that is stale, skipped or taken twice gives
//! other bits, and which has exact inverses. An even `a` plays the flat node.

use super::sweep::Plain;
use super::{Accumulate, Chain, Misfit, Own, Sealed, Shear};
use crate::{Inherit, NonFinite, NotRotation};
use core::cell::Cell;
use core::ops::Range;

extern crate std;

std::thread_local! {
    static SWEPT: Cell<usize> = const { Cell::new(0) };
    static POSED: Cell<usize> = const { Cell::new(0) };
    static TWOS: Cell<usize> = const { Cell::new(0) };
}

/// Rows computed on this thread so far: what shows that an update costs what changed.
pub(crate) fn swept() -> usize {
    SWEPT.get()
}

fn count(lanes: &[Range<usize>; 2], cuts: &[u64]) {
    let is_cut = |row: usize| cuts.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1);
    let rows = lanes.iter().flat_map(|lane| lane.clone()).filter(|&row| !is_cut(row)).count();
    SWEPT.set(SWEPT.get() + rows);
    let [one, other] = lanes;
    let is_two = !one.is_empty() && !other.is_empty() && one.end != other.start && other.end != one.start;
    TWOS.set(TWOS.get() + usize::from(is_two));
}

/// How often two pieces were swept by turns on this thread so far; not those that are two halves of one.
pub(crate) fn twos() -> usize {
    TWOS.get()
}

/// Component poses of children computed on this thread so far.
pub(crate) fn posed() -> usize {
    POSED.get()
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hash;

pub(crate) fn pose(a: u32, b: u32) -> u64 {
    u64::from(a) << 32 | u64::from(b)
}

fn parts(pose: u64) -> (u32, u32) {
    ((pose >> 32) as u32, pose as u32)
}

pub(crate) fn compose(parent: u64, child: u64) -> u64 {
    let ((a, b), (c, d)) = (parts(parent), parts(child));
    pose(a.wrapping_mul(c), a.wrapping_mul(d).wrapping_add(b))
}

/// What tells component poses from worlds: without it one could stand in for the other. It leaves alone
/// whether the factor is odd.
pub(crate) fn twist(at: u64) -> u64 {
    let (a, b) = parts(at);
    pose(a ^ 0x5bd1_e994, b.wrapping_add(0x1234_5679))
}

/// The summand plays the position, the upper half of the factor the rotation, the lower half, which says
/// whether it is odd, the scale.
pub(crate) fn reduced(at: u64, inherit: Inherit) -> u64 {
    let (a, b) = parts(at);
    let high = if inherit.rotation { a & 0xffff_0000 } else { 0 };
    let low = if inherit.scale { a & 0xffff } else { 1 };
    pose(high | low, if inherit.position { b } else { 0 })
}

pub(crate) fn hung(frame: u64, inherit: Inherit, local: u64) -> u64 {
    let world = compose(frame, local);
    if inherit.position { world } else { pose(parts(world).0, parts(local).1) }
}

impl Sealed for Hash {}

impl Accumulate for Hash {
    type Scalar = u64;
    type Vector = u64;
    type Rotation = u64;
    type Affine = u64;
    type Transform = u64;
    type Decomposed = u64;
    type World = u64;
    type Row = u64;
    type Wide = u64;
    type Pose = u64;

    const HOLE: u64 = 0;
    const WIDE_IDENTITY: u64 = 1 << 32;
    const ASSOCIATIVE: bool = true;

    fn is_plain(transform: &u64) -> bool {
        *transform != u64::MAX
    }

    fn admit<E: From<NonFinite> + From<NotRotation>>(transform: &mut u64) -> Result<(), E> {
        if Self::is_plain(transform) { Ok(()) } else { Err(NonFinite.into()) }
    }

    fn is_finite(_: &u64) -> bool {
        true
    }

    fn same_bits(a: &u64, b: &u64) -> bool {
        a == b
    }

    fn local_of(transform: &u64) -> u64 {
        *transform
    }

    fn root(local: &u64) -> u64 {
        *local
    }

    fn product(parent: &u64, local: &u64) -> u64 {
        compose(*parent, *local)
    }

    #[inline(never)]
    fn sweep(parents: &[u32], locals: &[u64], worlds: &mut [u64], lanes: [Range<usize>; 2], cuts: &[u64]) {
        count(&lanes, cuts);
        super::sweep::rows::<Self, _>(Plain::default(), parents, locals, worlds, lanes, cuts);
    }

    fn sweep_chain(above: &u64, locals: &[u64], worlds: &mut [u64]) {
        SWEPT.set(SWEPT.get() + locals.len());
        super::sweep::chain::<Self, _>(Plain::default(), above, locals, worlds);
    }

    fn sweep_siblings(parent: &u64, locals: &[u64], worlds: &mut [u64]) {
        SWEPT.set(SWEPT.get() + locals.len());
        super::sweep::siblings::<Self, _>(Plain::default(), parent, locals, worlds);
    }

    #[inline(never)]
    fn sweep_bits(parents: &[u32], locals: &[u64], worlds: &mut [u64], start: usize, rows: u64) {
        SWEPT.set(SWEPT.get() + rows.count_ones() as usize);
        super::sweep::bits::<Self, _>(Plain::default(), parents, locals, worlds, start, rows);
    }

    #[cfg(feature = "rayon")]
    #[inline(never)]
    fn sweep_piece<'w>(
        parents: &[u32],
        locals: &[u64],
        worlds: &mut [u64],
        start: usize,
        lanes: [Range<usize>; 2],
        cuts: &[u64],
        outside: &dyn Fn(u32) -> Option<&'w u64>,
    ) {
        count(&lanes, cuts);
        super::sweep::piece::<Self, _>(Plain::default(), parents, locals, worlds, start, lanes, cuts, outside);
    }

    fn world(row: &u64) -> u64 {
        *row
    }

    fn combined(parent: &u64, inherit: Inherit, child: &u64) -> u64 {
        POSED.set(POSED.get() + 1);
        twist(hung(reduced(*parent, inherit), inherit, *child))
    }

    fn pose(above: &[u32], inherits: &[Inherit], transforms: &[u64], poses: &mut [u64], places: &[u32]) {
        super::poses::pose::<Self>(above, inherits, transforms, poses, places);
    }

    fn hang(rows: &[u32], above: &[u32], inherits: &[Inherit], locals: &[u64], poses: &[u64], worlds: &mut [u64]) {
        super::poses::hang::<Self>(rows, above, inherits, locals, poses, worlds);
    }

    fn hung(parent: &u64, inherit: Inherit, local: &u64) -> u64 {
        SWEPT.set(SWEPT.get() + 1);
        hung(reduced(*parent, inherit), inherit, *local)
    }

    fn widen_pose(transform: &u64) -> u64 {
        *transform
    }

    fn wide_combined(parent: &u64, inherit: Inherit, child: &u64) -> u64 {
        twist(hung(reduced(*parent, inherit), inherit, *child))
    }

    fn frame(parent: &u64, inherit: Inherit) -> Chain<Self> {
        let wide = reduced(*parent, inherit);
        Chain { wide, flat: parts(wide).0 % 2 == 0, conformal: false }
    }

    fn centred(frame: &u64, at: &u64) -> u64 {
        pose(parts(*frame).0, parts(*at).1)
    }

    fn placed(own: &Own<Self>, at: &u64) -> Own<Self> {
        Own::trs(pose(parts(own.transform).0, parts(*at).1))
    }

    fn widen(local: &u64) -> u64 {
        *local
    }

    fn wide_product(parent: &u64, child: &u64) -> u64 {
        compose(*parent, *child)
    }

    fn is_flat(own: &Own<Self>) -> bool {
        parts(own.transform).0 % 2 == 0
    }

    fn is_conformal(_: &Own<Self>) -> bool {
        false
    }

    fn solve(parent: &Chain<Self>, wanted: &u64, _: &Own<Self>, _: Shear) -> Result<Own<Self>, Misfit> {
        let ((a, b), (c, d)) = (parts(parent.wide), parts(*wanted));
        if parent.flat {
            return Err(Misfit::Singular(f32::INFINITY));
        }
        // Newton's iteration doubles the correct digits of an inverse modulo a power of two.
        let mut inverse = a;
        for _ in 0..5 {
            inverse = inverse.wrapping_mul(2u32.wrapping_sub(a.wrapping_mul(inverse)));
        }
        Ok(Own::trs(pose(inverse.wrapping_mul(c), inverse.wrapping_mul(d.wrapping_sub(b)))))
    }
}
