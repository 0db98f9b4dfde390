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
