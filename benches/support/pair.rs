//! The same tree in both implementations, and the same frames for both.

use super::plain::Plain;
use super::shapes::{Dirty, Rng, Shape};
use posetree::{Error, Hierarchy, Keep, NodeId, Transform};

/// The largest difference that counts as the same answer, in units of a matrix' largest element.
const TOLERANCE: f32 = 1e-4;

/// A node moves if its subtree is no larger than this, and its parent's is.
const MOVED: usize = 16;

#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) hierarchy: Hierarchy,
    pub(crate) ids: Vec<NodeId>,
    pub(crate) plain: Plain,
}

impl Pair {
    /// Both, with all worlds computed once.
    pub(crate) fn new(shape: &Shape) -> Result<Self, Error> {
        let mut hierarchy = Hierarchy::new();
        let ids = hierarchy.extend(None, &shape.parents, &shape.locals[0])?;
        let plain = Plain::new(&shape.parents, &shape.locals[0]);
        hierarchy.update();
        plain.update();
        Ok(Self { hierarchy, ids, plain })
    }

    /// # Panics
    /// If the two do not agree on every world matrix.
    pub(crate) fn check(&mut self, case: &str) {
        let worlds = self.hierarchy.update();
        for (node, &id) in self.ids.iter().enumerate() {
            let expected = self.plain.world(node).transpose().to_cols_array_2d();
            let row = worlds[id];
            let size = expected.iter().flatten().fold(0.0, |size: f32, element| size.max(element.abs()));
            for (got, want) in row.iter().flatten().zip(expected.iter().flatten()) {
                assert!((got - want).abs() <= TOLERANCE * size, "{case}, node {node}: {row:?}, expected {expected:?}");
            }
        }
    }
}

/// New local poses for some nodes, frame after frame.
#[derive(Debug)]
pub(crate) struct Edits {
    /// By frame parity: node, id, and what it is set to.
    frames: [Vec<(usize, NodeId, Transform)>; 2],
}

impl Edits {
    pub(crate) fn new(shape: &Shape, dirty: Dirty, pair: &Pair) -> Self {
        let nodes = dirty.nodes(shape);
        let frame = |i: usize| nodes.iter().map(|&node| (node, pair.ids[node], shape.locals[i][node])).collect();
        Self { frames: [frame(1), frame(0)] }
    }

    pub(crate) fn set_posetree(&self, hierarchy: &mut Hierarchy, frame: usize) -> Result<(), Error> {
        for &(_, id, local) in &self.frames[frame % 2] {
            hierarchy.set_local(id, local)?;
        }
        Ok(())
    }

    pub(crate) fn set_plain(&self, plain: &Plain, frame: usize) {
        for &(node, _, local) in &self.frames[frame % 2] {
            plain.set_local(node, local);
        }
    }
}

/// Small subtrees that move about, one a frame, each to a node that never moves itself.
#[derive(Debug)]
pub(crate) struct Moves {
    moves: Vec<(usize, usize)>,
    pub(crate) keep: Keep,
}

impl Moves {
    pub(crate) fn new(shape: &Shape, keep: Keep) -> Self {
        let sizes = shape.subtree_sizes();
        let all = 0..shape.len();
        let large = |node: usize| sizes[node] > MOVED;
        let movers: Vec<usize> =
            all.clone().filter(|&node| !large(node) && shape.parents[node].is_some_and(large)).collect();
        let places: Vec<usize> = all.filter(|&node| large(node)).collect();
        let mut rng = Rng::new(5);
        let mut draw = || (movers[rng.index(movers.len())], places[rng.index(places.len())]);
        Self { moves: (0..10_000).map(|_| draw()).collect(), keep }
    }

    pub(crate) fn name(&self) -> &'static str {
        if self.keep == Keep::Local { "reparent_local" } else { "reparent_world" }
    }

    pub(crate) fn frame_posetree(&self, hierarchy: &mut Hierarchy, ids: &[NodeId], frame: usize) -> Result<(), Error> {
        let (node, parent) = self.moves[frame % self.moves.len()];
        hierarchy.reparent(ids[node], ids[parent], self.keep)?;
        hierarchy.update();
        Ok(())
    }

    pub(crate) fn frame_plain(&self, plain: &Plain, frame: usize) {
        let (node, parent) = self.moves[frame % self.moves.len()];
        plain.reparent(node, parent, self.keep != Keep::Local);
        plain.update();
    }
}
