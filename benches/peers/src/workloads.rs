//! What is done each frame, and to which forest.

use crate::peers::{Ability, Trs};
use crate::random::Random;
use crate::shapes::{self, NONE};
use glam::{Quat, Vec3};
use std::f32::consts::PI;

/// A forest as data. Nodes are numbered parents first.
pub struct Scene {
    pub parents: Vec<u32>,
    pub locals: Vec<Trs>,
    /// The nodes that move each frame, where those are always the same.
    pub movers: Vec<u32>,
    /// Whether peers are to create the nodes in reverse, and hang them under their parents afterwards.
    pub children_first: bool,
}

impl Scene {
    pub const EMPTY: Self = Self { parents: Vec::new(), locals: Vec::new(), movers: Vec::new(), children_first: false };

    pub fn roots(&self) -> impl Iterator<Item = u32> {
        (0..self.parents.len() as u32).filter(|&node| self.parents[node as usize] == NONE)
    }
}

/// What happens each frame, before the update.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// The scene's movers get new positions.
    Move,
    /// So many of the scene's movers get new positions, others each frame.
    MoveBatch(usize),
    /// The scene's movers get new positions, rotations and scales, one by one.
    SetWhole,
    /// As above, in one call where a peer has one for that.
    SetBulk,
    /// So many random nodes go under random parents.
    Reparent(usize),
    /// The movers go to the other one of two roots.
    Churn,
    /// So many subtrees of [`SPAWNED`] nodes go and as many come.
    SpawnDespawn(usize),
    /// Everything is built from nothing.
    Build,
    /// Everything is built from nothing, not timed. The first update counts as the edit, and a second one,
    /// after the roots have moved, as the update.
    BuildChildrenFirst,
    /// So many times a node gets a new position and one two levels below it is read.
    Read(usize),
}

/// Nodes of a spawned subtree.
pub const SPAWNED: usize = 8;
/// A hub with a few parts, some of which have parts.
pub const SPAWNED_SHAPE: [Option<usize>; SPAWNED] =
    [None, Some(0), Some(0), Some(0), Some(1), Some(1), Some(2), Some(4)];

impl Action {
    /// What a peer must be able to do; `None` for what all can do.
    pub fn needs(self) -> Option<Ability> {
        match self {
            Self::Move | Self::MoveBatch(_) => None,
            Self::SetWhole | Self::SetBulk => Some(Ability::SetWhole),
            Self::Reparent(_) | Self::Churn => Some(Ability::Reparent),
            Self::SpawnDespawn(_) => Some(Ability::Spawn),
            Self::Build | Self::BuildChildrenFirst => Some(Ability::Build),
            Self::Read(_) => Some(Ability::Read),
        }
    }

    /// Whether the cost of an edit is told with the update that follows it.
    pub fn edit_includes_update(self) -> bool {
        !matches!(self, Self::BuildChildrenFirst | Self::Read(_))
    }

    /// Whether edits leave something behind that is repaired in some later frame, so that only the mean of
    /// many frames tells what they cost.
    pub fn is_amortised(self) -> bool {
        matches!(self, Self::Reparent(_) | Self::Churn | Self::SpawnDespawn(_))
    }

    /// The nodes that the first frame moves.
    pub fn first_movers(self, movers: &[u32]) -> &[u32] {
        match self {
            Self::MoveBatch(count) => &movers[..count],
            _ => movers,
        }
    }

    /// How many nodes are set or change their place in a frame, and by how many the time of an edit is
    /// divided: 0 where there is none.
    pub fn counts(self, scene: &Scene) -> (usize, usize) {
        let (nodes, movers) = (scene.parents.len(), scene.movers.len());
        match self {
            Self::Move | Self::SetWhole | Self::SetBulk => (movers, 0),
            Self::MoveBatch(count) => (count, 0),
            Self::Reparent(count) | Self::Read(count) => (count, count),
            Self::Churn => (movers, movers),
            Self::SpawnDespawn(count) => (2 * count, 2 * count),
            Self::Build => (nodes, nodes),
            Self::BuildChildrenFirst => (1, 1),
        }
    }
}

pub struct Workload {
    pub name: &'static str,
    pub action: Action,
    make: fn(bool) -> Scene,
}

impl Workload {
    pub fn scene(&self, quick: bool) -> Scene {
        (self.make)(quick)
    }

    /// Whether a quick run has it: not with a million nodes.
    pub fn is_quick(&self) -> bool {
        !self.name.ends_with("1m") && !self.name.ends_with("100k")
    }

    /// Whether a peer takes minutes. Bevy has no second one then, with all threads: nodes are added by one.
    pub fn is_long(&self) -> bool {
        matches!(self.action, Action::Build | Action::BuildChildrenFirst) && self.name.ends_with("1m")
    }

    /// Whether it is one of the nine shapes of Bevy's stress test.
    pub fn is_shape(&self) -> bool {
        WORKLOADS[..SHAPES].iter().any(|shape| shape.name == self.name)
    }
}

/// How many of the workloads are shapes of Bevy's stress test; they come first.
pub const SHAPES: usize = 9;

pub const WORKLOADS: &[Workload] = &[
    // Quick runs have the same shapes with fewer nodes.
    moving("large_tree", |q| {
        tree_scene(shapes::uneven(if q { 14 } else { 18 }, 8), 0.5, 0, if q { 0 } else { 257_025 })
    }),
    moving("wide_tree", |q| {
        tree_scene(shapes::tree(3, if q { 150 } else { 500 }), 0.5, 0, if q { 0 } else { 250_501 })
    }),
    moving("deep_tree", |q| {
        tree_scene(shapes::uneven(if q { 20 } else { 25 }, 2), 0.5, 0, if q { 0 } else { 317_810 })
    }),
    moving("chain", |_| tree_scene(shapes::tree(2500, 1), 0.5, 0, 2500)),
    moving("update_leaves", |q| {
        let depth = if q { 14 } else { 18 };
        tree_scene(shapes::tree(depth, 2), 0.5, depth - 1, if q { 0 } else { 262_143 })
    }),
    moving("update_shallow", |q| {
        let mut scene = tree_scene(shapes::tree(if q { 14 } else { 18 }, 2), 0.5, 0, if q { 0 } else { 262_143 });
        let depths = shapes::depths(&scene.parents);
        scene.movers.retain(|&node| depths[node as usize] <= 8);
        scene
    }),
    moving("humanoids_active", |q| humanoids(if q { 400 } else { 4000 }, 0)),
    moving("humanoids_inactive", |q| humanoids(10, if q { 390 } else { 3990 })),
    moving("humanoids_mixed", |q| humanoids(if q { 200 } else { 2000 }, if q { 200 } else { 2000 })),
    Workload { name: "bevy_bench_scattered", action: Action::MoveBatch(4096), make: |_| bevy_bench(3, u32::MAX) },
    moving("bevy_bench_roots", |_| bevy_bench(0, 0)),
    Workload { name: "bevy_bench_reparent", action: Action::Churn, make: |_| churn() },
    moving("all_branch4_1k", |_| all(shapes::branch4(1_000))),
    moving("all_branch4_10k", |_| all(shapes::branch4(10_000))),
    moving("all_branch4_100k", |_| all(shapes::branch4(100_000))),
    moving("all_branch4_1m", |_| all(shapes::branch4(1_000_000))),
    moving("all_random_1k", |_| all(shapes::random(1_000, 1))),
    moving("all_random_10k", |_| all(shapes::random(10_000, 1))),
    moving("all_random_100k", |_| all(shapes::random(100_000, 1))),
    moving("all_random_1m", |_| all(shapes::random(1_000_000, 1))),
    // Any tenth of the nodes, always the same ones.
    moving("tenth_humanoids", |q| tree_scene(shapes::humanoids(if q { 400 } else { 4000 }), 0.1, 0, 0)),
    moving("tenth_branch4_100k", |_| tree_scene(shapes::branch4(100_000), 0.1, 0, 0)),
    // The trees of `all_branch4`, where positions are set.
    Workload { name: "set_whole_10k", action: Action::SetWhole, make: |_| all(shapes::branch4(10_000)) },
    Workload { name: "set_whole_100k", action: Action::SetWhole, make: |_| all(shapes::branch4(100_000)) },
    Workload { name: "set_bulk_10k", action: Action::SetBulk, make: |_| all(shapes::branch4(10_000)) },
    Workload { name: "set_bulk_100k", action: Action::SetBulk, make: |_| all(shapes::branch4(100_000)) },
    moving("nothing_1m", |_| scene(shapes::random(1_000_000, 1))),
    moving("one_leaf_1m", |_| with_subtree_of(1)),
    moving("subtree_1000_in_1m", |_| with_subtree_of(1000)),
    reparent("reparent_1_200k", 1, |_| scene(shapes::random(200_000, 2))),
    reparent("reparent_100_200k", 100, |_| scene(shapes::random(200_000, 2))),
    reparent("reparent_1pct_200k", 2_000, |_| scene(shapes::random(200_000, 2))),
    reparent("reparent_1_1m", 1, |_| scene(shapes::random(1_000_000, 1))),
    reparent("reparent_100_1m", 100, |_| scene(shapes::random(1_000_000, 1))),
    reparent("reparent_1pct_1m", 10_000, |_| scene(shapes::random(1_000_000, 1))),
    Workload { name: "spawn_despawn_200k", action: Action::SpawnDespawn(250), make: |_| spawn_despawn(200_000) },
    Workload { name: "spawn_despawn_1m", action: Action::SpawnDespawn(1250), make: |_| spawn_despawn(1_000_000) },
    children_first("children_first_200k", |_| in_reverse(shapes::random(200_000, 2))),
    children_first("children_first_1m", |_| in_reverse(shapes::random(1_000_000, 1))),
    Workload { name: "build_200k", action: Action::Build, make: |_| scene(shapes::random(200_000, 2)) },
    Workload { name: "build_1m", action: Action::Build, make: |_| scene(shapes::random(1_000_000, 1)) },
    Workload { name: "lazy_read_1m", action: Action::Read(1000), make: |_| scene(shapes::random(1_000_000, 1)) },
];

const fn moving(name: &'static str, make: fn(bool) -> Scene) -> Workload {
    Workload { name, action: Action::Move, make }
}

const fn reparent(name: &'static str, count: usize, make: fn(bool) -> Scene) -> Workload {
    Workload { name, action: Action::Reparent(count), make }
}

const fn children_first(name: &'static str, make: fn(bool) -> Scene) -> Workload {
    Workload { name, action: Action::BuildChildrenFirst, make }
}

/// Local poses with turns and uneven scales, close enough to one that depth does not blow them up.
fn scene(parents: Vec<u32>) -> Scene {
    let mut random = Random::new(3);
    let depth = shapes::depths(&parents).into_iter().max().unwrap_or(0);
    let uneven = if depth > 100 { 0.0 } else { 0.05 };
    let mut vector = |size: f32| Vec3::new(random.signed(), random.signed(), random.signed()) * size;
    let locals = parents
        .iter()
        .map(|_| {
            let turn = vector(PI);
            Trs { position: vector(2.0), rotation: Quat::from_scaled_axis(turn), scale: Vec3::ONE + vector(uneven) }
        })
        .collect();
    Scene { parents, locals, movers: Vec::new(), children_first: false }
}

/// Below the roots, each node at least so deep moves or does not, by chance, once and for all.
fn choose_movers(scene: &mut Scene, probability: f32, min_depth: u32, end: usize) {
    let mut random = Random::new(4);
    let depths = shapes::depths(&scene.parents);
    let is_mover = |&node: &u32| {
        let depth = depths[node as usize];
        depth > 0 && depth >= min_depth && random.unit() < probability
    };
    scene.movers = (0..end as u32).filter(is_mover).collect();
}

/// With the number of nodes to expect, 0 if that is not known.
fn tree_scene(parents: Vec<u32>, probability: f32, min_depth: u32, nodes: usize) -> Scene {
    assert!(nodes == 0 || parents.len() == nodes, "{} nodes instead of {nodes}", parents.len());
    let mut scene = scene(parents);
    let end = scene.parents.len();
    choose_movers(&mut scene, probability, min_depth, end);
    scene
}

fn humanoids(active: u32, idle: u32) -> Scene {
    let mut scene = scene(shapes::humanoids(active + idle));
    assert!(active + idle < 4000 || scene.parents.len() == 272_000);
    choose_movers(&mut scene, 1.1, 0, active as usize * shapes::rig_len());
    scene
}

/// All movers on those levels, in random order.
fn bevy_bench(min_depth: u32, max_depth: u32) -> Scene {
    let mut scene = scene(shapes::bevy_bench());
    let depths = shapes::depths(&scene.parents);
    let levels = min_depth..=max_depth;
    scene.movers = (0..scene.parents.len() as u32).filter(|&node| levels.contains(&depths[node as usize])).collect();
    if min_depth > 0 {
        Random::new(5).shuffle(&mut scene.movers);
    }
    scene
}

/// The four children of the first root go to the second and back.
fn churn() -> Scene {
    let mut scene = bevy_bench(1, 1);
    let parents = &scene.parents;
    scene.movers.retain(|&node| parents[node as usize] == 0);
    scene
}

fn all(parents: Vec<u32>) -> Scene {
    let mut scene = scene(parents);
    scene.movers = (0..scene.parents.len() as u32).collect();
    scene
}

/// Peers create the nodes in reverse. The root moves.
fn in_reverse(parents: Vec<u32>) -> Scene {
    Scene { children_first: true, movers: vec![0], ..scene(parents) }
}

/// A random tree whose mover has about so many nodes below it.
fn with_subtree_of(size: u32) -> Scene {
    let mut scene = scene(shapes::random(1_000_000, 1));
    let sizes = shapes::sizes(&scene.parents);
    // The last one, so that a leaf is not one near the root.
    let nearest = (0..sizes.len()).rev().min_by_key(|&node| sizes[node].abs_diff(size));
    scene.movers = vec![nearest.unwrap_or(0) as u32];
    scene
}

/// Half of the nodes stay; the other half are small subtrees under them, to go and come.
fn spawn_despawn(nodes: u32) -> Scene {
    let kept = nodes / 2;
    let mut random = Random::new(6);
    let mut parents = shapes::random(kept, 2);
    while parents.len() < nodes as usize {
        let first = parents.len() as u32;
        let top = random.below(kept);
        parents.extend(SPAWNED_SHAPE.iter().map(|above| above.map_or(top, |above| first + above as u32)));
    }
    scene(parents)
}

/// The first node of a scene that [`Action::SpawnDespawn`] may take away.
pub fn first_spawned(scene: &Scene) -> u32 {
    scene.parents.len() as u32 / 2
}

/// How many nodes an update has to recompute after these have moved.
pub fn affected(parents: &[u32], movers: &[u32]) -> usize {
    let mut is_affected = vec![false; parents.len()];
    movers.iter().for_each(|&node| is_affected[node as usize] = true);
    for (node, &parent) in parents.iter().enumerate() {
        is_affected[node] |= parent != NONE && is_affected[parent as usize];
    }
    is_affected.iter().filter(|affected| **affected).count()
}
