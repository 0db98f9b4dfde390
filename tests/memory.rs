//! Bytes per node, as the README states them, counted by the allocator. One test alone, because all threads allocate
//! from the same.

use peak_alloc::PeakAlloc;
use posetree::{
    Accumulate, Components, Components2, DComponents, DComponents2, DMatrices, DMatrices2, DTransform, DTransform2,
    HierarchyOf, Matrices, Matrices2, Transform, Transform2,
};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const NODES: usize = 100_000;

/// Under random ones of those before, or each under the one before.
fn parents(is_chain: bool) -> Vec<Option<usize>> {
    let mut state = 7_u64;
    let parent = |node: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let above = if is_chain { node.wrapping_sub(1) } else { (state >> 33) as usize % node.max(1) };
        (node > 0).then_some(above)
    };
    (0..NODES).map(parent).collect()
}

fn bytes_per_node<A: Accumulate>(local: A::Transform, parents: &[Option<usize>], previous: bool) -> f64 {
    let locals = vec![local; NODES];
    let before = ALLOCATOR.current_usage();
    let mut h = HierarchyOf::<A>::new();
    h.track_previous(previous);
    drop(h.extend(None, parents, &locals).unwrap());
    h.update();
    h.shrink_to_fit();
    (ALLOCATOR.current_usage() - before) as f64 / NODES as f64
}

/// The columns to the byte, and beside them less than a byte: bits, and a few short lists.
#[test]
fn a_node_takes_as_much_as_the_readme_says() {
    macro_rules! check {
        ($($Kind:ident, $Transform:ident: $bytes:literal;)+) => {$(
            for is_chain in [false, true] {
                let bytes = bytes_per_node::<$Kind>($Transform::IDENTITY, &parents(is_chain), false);
                println!("{}: {bytes:.2}", stringify!($Kind));
                assert!(($bytes..$bytes + 1.0).contains(&bytes), "{} takes {bytes:.2}, not {}", stringify!($Kind), $bytes);
            }
        )+};
    }
    check! {
        Matrices, Transform: 193.0;
        Components, Transform: 193.0;
        DMatrices, DTransform: 321.0;
        DComponents, DTransform: 289.0;
        Matrices2, Transform2: 133.0;
        Components2, Transform2: 109.0;
        DMatrices2, DTransform2: 217.0;
        DComponents2, DTransform2: 169.0;
    }
    let previous = bytes_per_node::<Matrices>(Transform::IDENTITY, &parents(false), true);
    println!("with previous poses: {previous:.2}");
    assert!((241.0..242.0).contains(&previous), "with previous poses {previous:.2}");
}
