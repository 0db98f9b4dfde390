//! Sweeps in the vectors of newer x86-64 processors: AVX2, with the same bits.
//!
//! What no kernel is written for is compiled once more for them; matrices of float32 take two rows of the
//! product at once. The same operations in the same order, none of them fused, and so the same bits. Other
//! kinds of processor have no wider vectors than they are sure to have.

use crate::accumulate::sweep::{Kernel, Plain};
use crate::accumulate::{
    Accumulate, Components, Components2, DComponents, DComponents2, DMatrices, DMatrices2, Matrices, Matrices2,
};
use core::arch::x86_64::{__m128, __m256};
use pulp::bytemuck::{cast, cast_mut, cast_ref};
use pulp::x86::V3;

/// What the processor can, which is found out once and remembered.
#[inline]
pub(crate) fn vectors() -> Option<V3> {
    V3::try_new()
}

/// The kernel of each accumulation.
pub(crate) trait Vectorize: Accumulate {
    type Kernel: Kernel<Self> + From<V3>;
}

impl Vectorize for Matrices {
    type Kernel = TwoRows;
}

impl Vectorize for Matrices2 {
    type Kernel = TwoRows;
}

macro_rules! plain {
    ($($Name:ident)*) => {
        $(impl Vectorize for $Name {
            type Kernel = Plain;
        })*
    };
}
plain!(DMatrices DMatrices2 Components DComponents Components2 DComponents2);

impl From<V3> for Plain {
    #[inline(always)]
    fn from(_: V3) -> Self {
        Self::default()
    }
}

/// Two rows of the product of float32 matrices in one vector.
#[derive(Clone, Copy)]
pub(crate) struct TwoRows(V3);

impl From<V3> for TwoRows {
    #[inline(always)]
    fn from(vectors: V3) -> Self {
        Self(vectors)
    }
}

impl TwoRows {
    /// What the first two rows of a local matrix add to two rows of the product, and what the parent's last
    /// column does.
    #[inline(always)]
    fn planar(self, parent: __m256, [x, y]: [__m128; 2]) -> [__m256; 2] {
        let avx = self.0.avx;
        let x = avx._mm256_mul_ps(avx._mm256_broadcast_ps(&x), avx._mm256_permute_ps::<0x00>(parent));
        let y = avx._mm256_mul_ps(avx._mm256_broadcast_ps(&y), avx._mm256_permute_ps::<0x55>(parent));
        let last = avx._mm256_blend_ps::<0x88>(avx._mm256_setzero_ps(), parent);
        [avx._mm256_add_ps(x, y), last]
    }
}

impl Kernel<Matrices> for TwoRows {
    type World = (__m256, __m128);

    #[inline(always)]
    fn load(self, [two @ .., one]: &[[f32; 4]; 3]) -> (__m256, __m128) {
        (cast(*cast_ref::<_, [f32; 8]>(two)), cast(*one))
    }

    #[inline(always)]
    fn store(self, world: (__m256, __m128), [two @ .., one]: &mut [[f32; 4]; 3]) {
        *cast_mut::<_, [f32; 8]>(two) = cast(world.0);
        *one = cast(world.1);
    }

    #[inline(always)]
    fn product(self, (two, one): (__m256, __m128), local: &[[f32; 4]; 3]) -> (__m256, __m128) {
        let (avx, sse) = (self.0.avx, self.0.sse);
        let [x, y, z]: [__m128; 3] = local.map(cast);
        let [sum, last] = self.planar(two, [x, y]);
        let depth = avx._mm256_mul_ps(avx._mm256_broadcast_ps(&z), avx._mm256_permute_ps::<0xaa>(two));
        let two = avx._mm256_add_ps(sum, avx._mm256_add_ps(depth, last));

        let x = sse._mm_mul_ps(x, avx._mm_permute_ps::<0x00>(one));
        let y = sse._mm_mul_ps(y, avx._mm_permute_ps::<0x55>(one));
        let z = sse._mm_mul_ps(z, avx._mm_permute_ps::<0xaa>(one));
        let last = self.0.sse4_1._mm_blend_ps::<0x8>(sse._mm_setzero_ps(), one);
        (two, sse._mm_add_ps(sse._mm_add_ps(x, y), sse._mm_add_ps(z, last)))
    }
}

impl Kernel<Matrices2> for TwoRows {
    type World = __m256;

    #[inline(always)]
    fn load(self, row: &[[f32; 4]; 2]) -> __m256 {
        cast(*cast_ref::<_, [f32; 8]>(row))
    }

    #[inline(always)]
    fn store(self, world: __m256, row: &mut [[f32; 4]; 2]) {
        *cast_mut::<_, [f32; 8]>(row) = cast(world);
    }

    #[inline(always)]
    fn product(self, parent: __m256, local: &[[f32; 4]; 2]) -> __m256 {
        let [sum, last] = self.planar(parent, local.map(cast));
        self.0.avx._mm256_add_ps(sum, last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::NONE;
    use crate::{DTransform, DTransform2, Transform, Transform2};
    use alloc::vec::Vec;
    use glam::{DQuat, DVec3, Quat, Vec3, Vec3Swizzles};
    use proptest::prelude::*;

    const ROWS: usize = 100;

    /// Each loop over rows against the product of a row at a time, which is compiled for every processor.
    fn check<A: Accumulate>(locals: &[A::Transform], parents: &[u32], some: u64) {
        let locals: Vec<A::Row> = locals.iter().map(A::local_of).collect();
        let below = |worlds: &[A::Row], row: usize, local: &A::Row| match worlds.get(parents[row] as usize) {
            Some(above) => A::product(above, local),
            None => A::root(local),
        };
        let assert_same = |got: &[A::Row], want: &[A::Row], what: &str| {
            let kind = core::any::type_name::<A>();
            for (row, (got, want)) in got.iter().zip(want).enumerate() {
                assert!(A::same_bits(got, want), "{kind}, {what}, row {row}: {got:?} is not {want:?}");
            }
        };
        let mut want: Vec<A::Row> = Vec::new();
        for (row, local) in locals.iter().enumerate() {
            want.push(below(&want, row, local));
        }
        for lanes in [[0..0, 0..ROWS], [0..ROWS / 2, ROWS / 2..ROWS]] {
            let mut got = alloc::vec![A::HOLE; ROWS];
            A::sweep(parents, &locals, &mut got, lanes, &[]);
            assert_same(&got, &want, "sweep");
        }

        // With other locals, so that it shows which rows are computed.
        let (mut got, others) = (want.clone(), locals.iter().rev().copied().collect::<Vec<_>>());
        A::sweep_bits(parents, &others, &mut got, 7, some);
        for row in (0..64).filter(|bit| some >> bit & 1 == 1).map(|bit| 7 + bit) {
            want[row] = below(&want, row, &others[row]);
        }
        assert_same(&got, &want, "sweep_bits");

        A::sweep_siblings(&others[0], &locals, &mut got);
        want = locals.iter().map(|local| A::product(&others[0], local)).collect();
        assert_same(&got, &want, "sweep_siblings");

        A::sweep_chain(&others[0], &locals, &mut got);
        let mut world = others[0];
        for (want, local) in want.iter_mut().zip(&locals) {
            world = A::product(&world, local);
            *want = world;
        }
        assert_same(&got, &want, "sweep_chain");
    }

    /// Zeros of both signs, and numbers of which a few overflow or vanish.
    fn number() -> impl Strategy<Value = f32> {
        prop_oneof![8 => -1.5f32..1.5, 1 => prop::sample::select(&[0.0, -0.0, 1.0, -1.0, 1e30, -1e30, 1e-30, 1e-40][..])]
    }

    proptest! {
        #[test]
        fn wide_vectors_give_the_bits_of_plain_products(
            locals in prop::collection::vec((prop::array::uniform3(number()), -3.0f32..3.0, -3.0f32..3.0, prop::array::uniform3(number())), ROWS),
            parents in prop::collection::vec((any::<prop::sample::Index>(), 0..8u8), ROWS),
            some in any::<u64>(),
        ) {
            if vectors().is_none() {
                std::eprintln!("SKIPPED: wide_vectors_give_the_bits_of_plain_products: this processor has no AVX2");
                return Ok(());
            }
            // Two halves, of which none is below the other; chains and roots among them.
            let parents: Vec<u32> = parents.iter().enumerate().map(|(row, (above, way))| {
                let first = if row < ROWS / 2 { 0 } else { ROWS / 2 };
                match way {
                    _ if row == first => NONE,
                    0 => NONE,
                    1..4 => row as u32 - 1,
                    _ => (first + above.index(row - first)) as u32,
                }
            }).collect();
            let locals: Vec<Transform> = locals.into_iter().map(|(position, turn, tilt, scale)| {
                let rotation = Quat::from_rotation_y(turn) * Quat::from_rotation_x(tilt);
                Transform::new(position.into(), rotation.normalize(), scale.into())
            }).collect();
            let wide = |v: Vec3| -> DVec3 { v.as_dvec3() * 1.000_000_1 };
            let double: Vec<_> = locals.iter().map(|t| {
                let rotation: DQuat = t.rotation.as_dquat().normalize();
                DTransform::new(wide(t.position), rotation, wide(t.scale))
            }).collect();
            let plane: Vec<_> =
                locals.iter().map(|t| Transform2::new(t.position.xy(), 3.0 * t.rotation.y, t.scale.xy())).collect();
            let double_plane: Vec<_> = plane.iter().map(|t| {
                DTransform2::new(t.position.as_dvec2() * 1.000_000_1, t.rotation.into(), t.scale.as_dvec2() * 1.000_000_1)
            }).collect();
            check::<Matrices>(&locals, &parents, some);
            check::<Components>(&locals, &parents, some);
            check::<DMatrices>(&double, &parents, some);
            check::<DComponents>(&double, &parents, some);
            check::<Matrices2>(&plane, &parents, some);
            check::<Components2>(&plane, &parents, some);
            check::<DMatrices2>(&double_plane, &parents, some);
            check::<DComponents2>(&double_plane, &parents, some);
        }
    }
}
