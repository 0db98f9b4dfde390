//! Trees of known shape, with seeded local poses: the same on every machine.

use posetree::{
    Transform,
    glam::{EulerRot, Quat, Vec3},
};

/// The parents of the nodes of one humanoid rig; the first node has none.
#[rustfmt::skip]
const HUMANOID: [usize; 67] = [
    0, 1, 2, 3, 4, 5, 6, 6, 6, 4, 10, 11, 12, 13, 14, 15, 16, 13, 18, 19, 20, 13, 22, 23, 24, 13, 26, 27, 28, 13, 30,
    31, 32, 4, 34, 35, 36, 37, 38, 39, 40, 37, 42, 43, 44, 37, 46, 47, 48, 37, 50, 51, 52, 37, 54, 55, 56, 1, 58, 59,
    60, 61, 1, 63, 64, 65, 66,
];

/// `SplitMix64`: small, seeded, and good enough to draw shapes.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to `below`, `below` excluded.
    pub(crate) fn index(&mut self, below: usize) -> usize {
        ((u128::from(self.next()) * below as u128) >> 64) as usize
    }

    /// A number in `-size .. size`.
    fn signed(&mut self, size: f32) -> f32 {
        size * ((self.next() >> 40) as f32 / (1 << 23) as f32 - 1.0)
    }

    fn vector(&mut self, size: f32) -> Vec3 {
        Vec3::new(self.signed(size), self.signed(size), self.signed(size))
    }

    pub(crate) fn coin(&mut self) -> bool {
        self.next() >> 63 == 1
    }
}

/// A forest: who hangs under whom, and two local poses for each node to change between.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) name: String,
    pub(crate) parents: Vec<Option<usize>>,
    pub(crate) locals: [Vec<Transform>; 2],
}

impl Shape {
    fn new(name: &str, parents: Vec<Option<usize>>) -> Self {
        let mut rng = Rng::new(parents.len() as u64);
        let mut locals = || {
            let mut draw = || {
                let [x, y, z] = rng.vector(0.5).to_array();
                // Near one, so that the product along 2 500 nodes stays in range.
                let scale = Vec3::ONE + rng.vector(0.05);
                Transform::new(rng.vector(1.0), Quat::from_euler(EulerRot::XYZ, x, y, z), scale)
            };
            parents.iter().map(|_| draw()).collect()
        };
        let locals = [locals(), locals()];
        Self { name: name.to_owned(), parents, locals }
    }

    pub(crate) fn len(&self) -> usize {
        self.parents.len()
    }

    /// The same tree with unit scales: there, taking a world matrix apart loses nothing.
    pub(crate) fn rigid(mut self) -> Self {
        self.locals.iter_mut().flatten().for_each(|local| local.scale = Vec3::ONE);
        self
    }

    /// The same tree, its nodes numbered, and so created, in random order.
    pub(crate) fn shuffled(self) -> Self {
        let mut rng = Rng::new(1);
        let mut place: Vec<usize> = (0..self.len()).collect();
        for last in (1..place.len()).rev() {
            place.swap(last, rng.index(last + 1));
        }
        self.renumbered(&place, "_shuffled")
    }

    /// The same tree, its nodes numbered depth-first: what suits an allocator best.
    pub(crate) fn depth_first(self) -> Self {
        let sizes = self.subtree_sizes();
        let mut place = vec![0; self.len()];
        // Where the next child of each node goes; parents come before children here.
        let mut next = vec![0; self.len()];
        let mut next_root = 0;
        for (node, parent) in self.parents.iter().enumerate() {
            let at = parent.map_or(&mut next_root, |parent| &mut next[parent]);
            place[node] = *at;
            *at += sizes[node];
            next[node] = place[node] + 1;
        }
        self.renumbered(&place, "_depth_first")
    }

    fn renumbered(&self, place: &[usize], suffix: &str) -> Self {
        let mut parents = vec![None; self.len()];
        for (node, parent) in self.parents.iter().enumerate() {
            parents[place[node]] = parent.map(|parent| place[parent]);
        }
        Self::new(&(self.name.clone() + suffix), parents)
    }

    /// How many nodes are in the subtree of each, itself included. Parents must come before children.
    pub(crate) fn subtree_sizes(&self) -> Vec<usize> {
        let mut sizes = vec![1; self.len()];
        for node in (0..self.len()).rev() {
            if let Some(parent) = self.parents[node] {
                sizes[parent] += sizes[node];
            }
        }
        sizes
    }
}

/// Every node of the first `levels - 1` levels has `width` children; numbered level by level.
pub(crate) fn tree(name: &str, levels: u32, width: usize) -> Shape {
    let inner: usize = (0..levels - 1).map(|level| width.pow(level)).sum();
    let parents = (0..=inner * width).map(|node| node.checked_sub(1).map(|node| node / width)).collect();
    Shape::new(name, parents)
}

pub(crate) fn humanoids(count: usize) -> Shape {
    let rig = |root: usize| std::iter::once(None).chain(HUMANOID.map(move |parent| Some(root + parent)));
    Shape::new("humanoids", (0..count).flat_map(|i| rig(i * (HUMANOID.len() + 1))).collect())
}

/// A random recursive tree: each node hangs under any of those before it.
pub(crate) fn random(name: &str, nodes: usize) -> Shape {
    let mut rng = Rng::new(7);
    let parents = (0..nodes).map(|node| (node > 0).then(|| rng.index(node))).collect();
    Shape::new(name, parents)
}

/// Which nodes get a new local pose each frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dirty {
    None,
    Leaf,
    Half,
    Root,
    All,
}

impl Dirty {
    pub(crate) const EACH: [Self; 5] = [Self::None, Self::Leaf, Self::Half, Self::Root, Self::All];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Leaf => "leaf",
            Self::Half => "half",
            Self::Root => "root",
            Self::All => "all",
        }
    }

    pub(crate) fn nodes(self, shape: &Shape) -> Vec<usize> {
        let mut rng = Rng::new(3);
        let all = 0..shape.len();
        match self {
            Self::None => Vec::new(),
            Self::Leaf => {
                let mut is_leaf = vec![true; shape.len()];
                shape.parents.iter().flatten().for_each(|&parent| is_leaf[parent] = false);
                let leaves: Vec<usize> = all.filter(|&node| is_leaf[node]).collect();
                vec![leaves[rng.index(leaves.len())]]
            }
            Self::Half => all.filter(|_| rng.coin()).collect(),
            Self::Root => all.filter(|&node| shape.parents[node].is_none()).collect(),
            Self::All => all.collect(),
        }
    }
}
