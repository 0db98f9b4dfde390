//! The worlds of many rows: the loops behind every update. They are the same for every accumulation and every
//! kind of processor; what differs is the product.

use super::Accumulate;
#[cfg(feature = "rayon")]
use crate::topology::NONE;
use core::hint::black_box;
use core::ops::Range;
use glam::BVec4A;

/// How one kind of processor multiplies. A world is held in registers from the load to the store.
pub(crate) trait Kernel<A: Accumulate>: Copy {
    type World: Copy;

    fn load(self, row: &A::Row) -> Self::World;
    /// At the width of [`load`](Self::load): a child's row often comes right after its parent's, and what has
    /// not reached the cache yet can only be loaded as it was stored.
    fn store(self, world: Self::World, row: &mut A::Row);
    fn product(self, parent: Self::World, local: &A::Row) -> Self::World;
}

/// The last lane of a vector, which the products of some matrices add.
pub(crate) const LAST_LANE: BVec4A = BVec4A::new(false, false, false, true);

/// As every processor can. Holds the mask of the last lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain(BVec4A);

impl Default for Plain {
    /// Where the compiler knows the mask, SSE2 takes two shuffles and a zero for what one `and` does; so it is not
    /// told.
    #[inline(always)]
    fn default() -> Self {
        Self(if cfg!(target_feature = "sse2") { black_box(LAST_LANE) } else { LAST_LANE })
    }
}

impl<A: Accumulate> Kernel<A> for Plain {
    type World = A::Row;

    #[inline(always)]
    fn load(self, row: &A::Row) -> A::Row {
        *row
    }

    #[inline(always)]
    fn store(self, world: A::Row, row: &mut A::Row) {
        *row = world;
    }

    #[inline(always)]
    fn product(self, parent: A::Row, local: &A::Row) -> A::Row {
        A::masked_product(self.0, &parent, local)
    }
}

/// Calls a loop with the kernel for the widest vectors that the processor has.
macro_rules! widest {
    (|$kernel:ident| $work:expr) => {{
        #[cfg(all(feature = "simd", target_arch = "x86_64"))]
        if let Some(vectors) = crate::features::simd::vectors() {
            let $kernel = <Self as crate::features::simd::Vectorize>::Kernel::from(vectors);
            // Inlined, or it would be compiled for every processor all the same.
            return vectors.vectorize(
                #[inline(always)]
                || $work,
            );
        }
        let $kernel = crate::accumulate::sweep::Plain::default();
        $work
    }};
}
pub(crate) use widest;

/// Writes the sweeps of an implementation over rows of that type. Not generic, so that they are compiled in
/// this crate, as it is optimised.
macro_rules! sweeps {
    ($Row:ty) => {
        #[inline(never)]
        fn sweep(parents: &[u32], locals: &[$Row], worlds: &mut [$Row], lanes: [Range<usize>; 2], cuts: &[u64]) {
            super::sweep::widest!(|kernel| super::sweep::rows::<Self, _>(kernel, parents, locals, worlds, lanes, cuts))
        }

        #[inline(never)]
        fn sweep_chain(above: &$Row, locals: &[$Row], worlds: &mut [$Row]) {
            super::sweep::widest!(|kernel| super::sweep::chain::<Self, _>(kernel, above, locals, worlds))
        }

        #[inline(never)]
        fn sweep_siblings(parent: &$Row, locals: &[$Row], worlds: &mut [$Row]) {
            super::sweep::widest!(|kernel| super::sweep::siblings::<Self, _>(kernel, parent, locals, worlds))
        }

        #[inline(never)]
        fn sweep_bits(parents: &[u32], locals: &[$Row], worlds: &mut [$Row], start: usize, rows: u64) {
            super::sweep::widest!(|kernel| {
                super::sweep::bits::<Self, _>(kernel, parents, locals, worlds, start, rows)
            })
        }

        #[cfg(feature = "rayon")]
        #[inline(never)]
        fn sweep_piece<'w>(
            parents: &[u32],
            locals: &[$Row],
            worlds: &mut [$Row],
            start: usize,
            lanes: [Range<usize>; 2],
            cuts: &[u64],
            outside: &dyn Fn(u32) -> Option<&'w $Row>,
        ) {
            super::sweep::widest!(|kernel| {
                super::sweep::piece::<Self, _>(kernel, parents, locals, worlds, start, lanes, cuts, outside)
            })
        }
    };
}
pub(crate) use sweeps;

/// The body of every `sweep`.
#[inline(always)]
pub(crate) fn rows<A: Accumulate, K: Kernel<A>>(
    kernel: K,
    parents: &[u32],
    locals: &[A::Row],
    worlds: &mut [A::Row],
    lanes: [Range<usize>; 2],
    cuts: &[u64],
) {
    // Once instead of at each row.
    let rows = lanes[0].end.max(lanes[1].end);
    assert!(rows <= worlds.len());
    let (parents, locals) = (&parents[..rows], &locals[..rows]);
    in_turn(
        lanes,
        cuts,
        #[inline(always)]
        |row| {
            let world = below(kernel, worlds, parents[row], &locals[row]);
            kernel.store(world, &mut worlds[row]);
        },
    );
}

/// By turns a row of the first lane, as long as there are, and one of the second, which is no shorter; but none that
/// is cut.
///
/// A row often waits for the one before it, its parent, and the processor looks only some rows ahead for others
/// to begin with. From two places at a time there always are some.
#[inline(always)]
fn in_turn(lanes: [Range<usize>; 2], cuts: &[u64], mut compute: impl FnMut(usize)) {
    assert!(lanes[0].len() <= lanes[1].len());
    let is_cut = |row: usize| cuts.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1);
    // Two loops, so that nothing is asked of each row where there are none.
    if cuts.is_empty() {
        turns(lanes, compute);
    } else {
        turns(
            lanes,
            #[inline(always)]
            |row| {
                if !is_cut(row) {
                    compute(row);
                }
            },
        );
    }
}

#[inline(always)]
fn turns([mut first, second]: [Range<usize>; 2], mut compute: impl FnMut(usize)) {
    for row in second {
        if let Some(row) = first.next() {
            compute(row);
        }
        compute(row);
    }
}

/// The body of every `sweep_chain`.
#[inline(always)]
pub(crate) fn chain<A: Accumulate, K: Kernel<A>>(kernel: K, above: &A::Row, locals: &[A::Row], worlds: &mut [A::Row]) {
    let mut world = kernel.load(above);
    for (local, row) in locals.iter().zip(worlds) {
        world = kernel.product(world, local);
        kernel.store(world, row);
    }
}

/// The body of every `sweep_siblings`.
#[inline(always)]
pub(crate) fn siblings<A: Accumulate, K: Kernel<A>>(
    kernel: K,
    parent: &A::Row,
    locals: &[A::Row],
    worlds: &mut [A::Row],
) {
    let parent = kernel.load(parent);
    for (local, row) in locals.iter().zip(worlds) {
        kernel.store(kernel.product(parent, local), row);
    }
}

/// The body of every `sweep_bits`.
#[inline(always)]
pub(crate) fn bits<A: Accumulate, K: Kernel<A>>(
    kernel: K,
    parents: &[u32],
    locals: &[A::Row],
    worlds: &mut [A::Row],
    start: usize,
    mut rows: u64,
) {
    while rows != 0 {
        let row = start + rows.trailing_zeros() as usize;
        let world = below(kernel, worlds, parents[row], &locals[row]);
        kernel.store(world, &mut worlds[row]);
        rows &= rows - 1;
    }
}

/// "No parent" is beyond the last row, so that one comparison serves both questions.
#[inline(always)]
fn below<A: Accumulate, K: Kernel<A>>(kernel: K, worlds: &[A::Row], parent: u32, local: &A::Row) -> K::World {
    match worlds.get(parent as usize) {
        Some(parent) => kernel.product(kernel.load(parent), local),
        None => kernel.load(&A::root(local)),
    }
}

/// The body of every `sweep_piece`.
#[cfg(feature = "rayon")]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "one more than the method has of which it is the body")]
pub(crate) fn piece<'w, A: Accumulate, K: Kernel<A>>(
    kernel: K,
    parents: &[u32],
    locals: &[A::Row],
    worlds: &mut [A::Row],
    start: usize,
    lanes: [Range<usize>; 2],
    cuts: &[u64],
    outside: &dyn Fn(u32) -> Option<&'w A::Row>,
) {
    // Once instead of at each row.
    let rows = lanes[0].end.max(lanes[1].end);
    assert!(start <= rows);
    let (parents, locals) = (&parents[..rows], &locals[..rows]);
    in_turn(
        lanes,
        cuts,
        #[inline(always)]
        |row| {
            let (parent, local) = (parents[row], &locals[row]);
            // A parent before the piece, and no parent, wrap to far beyond its end.
            let above = worlds.get((parent as usize).wrapping_sub(start)).or_else(
                #[inline(always)]
                || if parent == NONE { None } else { rarely(|| outside(parent)) },
            );
            let world = match above {
                Some(above) => kernel.product(kernel.load(above), local),
                None => kernel.load(&A::root(local)),
            };
            kernel.store(world, &mut worlds[row - start]);
        },
    );
}

/// Calls what a loop needs for a few rows, for which it has no registers to spare.
#[cfg(feature = "rayon")]
#[cold]
#[inline(never)]
fn rarely<R>(work: impl FnOnce() -> R) -> R {
    work()
}
