//! Trees to measure on. All are stored parents first and name a parent by its index.

use crate::random::Random;

/// The parent of a root.
pub const NONE: u32 = u32::MAX;

/// Parents of the 68 nodes of a humanoid rig, from node 1 on: hips, spine, neck and head, two arms with
/// five fingers of four joints each, two legs.
const RIG: [u32; 67] = [
    0, 1, 2, 3, 4, 5, 6, 6, 6, 4, 10, 11, 12, 13, 14, 15, 16, 13, 18, 19, 20, 13, 22, 23, 24, 13, 26, 27, 28, 13, 30,
    31, 32, 4, 34, 35, 36, 37, 38, 39, 40, 37, 42, 43, 44, 37, 46, 47, 48, 37, 50, 51, 52, 37, 54, 55, 56, 1, 58, 59,
    60, 61, 1, 63, 64, 65, 66,
];

/// `depth` levels; every node above the last has `width` children. Numbered level by level.
pub fn tree(depth: u32, width: u32) -> Vec<u32> {
    let inner: u32 = (0..depth - 1).map(|level| width.pow(level)).sum();
    let mut parents = vec![NONE];
    parents.extend((0..inner).flat_map(|parent| (0..width).map(move |_| parent)));
    parents
}

/// From a root with budget `depth`: up to `width` times a child is added and the budget lowered, until it
/// is zero; each child does the same with what is left. Numbered depth first; one side is deeper.
pub fn uneven(depth: u32, width: u32) -> Vec<u32> {
    fn fill(parents: &mut Vec<u32>, parent: u32, mut budget: u32, width: u32) {
        for _ in 0..width {
            let child = parents.len() as u32;
            parents.push(parent);
            budget -= 1;
            if budget == 0 {
                return;
            }
            fill(parents, child, budget, width);
        }
    }
    let mut parents = vec![NONE];
    fill(&mut parents, 0, depth, width);
    parents
}

/// Copies of the rig, each under a root of its own.
pub fn humanoids(copies: u32) -> Vec<u32> {
    let rig = RIG.len() as u32 + 1;
    (0..copies)
        .flat_map(|copy| core::iter::once(NONE).chain(RIG.iter().map(move |parent| copy * rig + parent)))
        .collect()
}

/// Nodes in one copy of the rig.
pub const fn rig_len() -> usize {
    RIG.len() + 1
}

/// The forest of Bevy's own transform benchmarks: 48 roots, fan-out 4, 4, 3, 3, 2, 2, level by level.
pub fn bevy_bench() -> Vec<u32> {
    let mut parents = vec![NONE; 48];
    let mut level = 0..48;
    for width in [4, 4, 3, 3, 2, 2] {
        let below = parents.len() as u32;
        parents.extend(level.flat_map(|parent| (0..width).map(move |_| parent)));
        level = below..parents.len() as u32;
    }
    parents
}

/// One root, four children each, level by level.
pub fn branch4(nodes: u32) -> Vec<u32> {
    (0..nodes).map(|node| if node == 0 { NONE } else { (node - 1) / 4 }).collect()
}

/// One root; every other node hangs under any that came before it.
pub fn random(nodes: u32, seed: u64) -> Vec<u32> {
    let mut random = Random::new(seed);
    (0..nodes).map(|node| if node == 0 { NONE } else { random.below(node) }).collect()
}

/// The level of each node; roots are at 0.
pub fn depths(parents: &[u32]) -> Vec<u32> {
    let mut depths: Vec<u32> = Vec::with_capacity(parents.len());
    for &parent in parents {
        depths.push(depths.get(parent as usize).map_or(0, |depth| depth + 1));
    }
    depths
}

/// How many nodes each subtree has, its top included.
pub fn sizes(parents: &[u32]) -> Vec<u32> {
    let mut sizes = vec![1; parents.len()];
    for node in (0..parents.len()).rev() {
        if parents[node] != NONE {
            sizes[parents[node] as usize] += sizes[node];
        }
    }
    sizes
}

/// All nodes in depth-first pre-order, children in the order of their numbers.
pub fn pre_order(parents: &[u32]) -> Vec<u32> {
    // Where each subtree starts: after its parent and the subtrees of its earlier siblings.
    let sizes = sizes(parents);
    let mut free = vec![0; parents.len()];
    let mut next_root = 0;
    let mut order = vec![0; parents.len()];
    for (node, &parent) in parents.iter().enumerate() {
        let cursor = if parent == NONE { &mut next_root } else { &mut free[parent as usize] };
        let start = *cursor;
        *cursor += sizes[node];
        free[node] = start + 1;
        order[start as usize] = node as u32;
    }
    order
}
