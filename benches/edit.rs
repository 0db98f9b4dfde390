//! What it costs to build a tree and to change its shape.

#[path = "support/random.rs"]
mod random;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};
use posetree::{Hierarchy, Keep, NodeId, Transform};
use random::Random;
use std::hint::black_box;
use std::time::Duration;

const SIZES: [usize; 2] = [10_000, 200_000];

/// A random tree as a loader has it: parents by index, each before its children.
struct Tree {
    parents: Vec<Option<usize>>,
    locals: Vec<Transform>,
}

impl Tree {
    /// Each node hangs under a random earlier one: logarithmic depth, and no two related nodes lie together.
    fn random(nodes: usize) -> Self {
        let mut random = Random::new(1);
        Self {
            parents: (0..nodes).map(|node| (node > 0).then(|| random.below(node))).collect(),
            locals: (0..nodes).map(|_| random.stretched()).collect(),
        }
    }

    /// The same tree in depth-first order.
    fn depth_first(&self) -> Self {
        let mut children = vec![Vec::new(); self.parents.len()];
        let mut stack = Vec::new();
        for (node, parent) in self.parents.iter().enumerate() {
            match *parent {
                Some(parent) => children[parent].push(node),
                None => stack.push(node),
            }
        }
        stack.reverse();
        let mut sorted = Self { parents: Vec::new(), locals: Vec::new() };
        let mut place = vec![0; self.parents.len()];
        while let Some(node) = stack.pop() {
            place[node] = sorted.locals.len();
            sorted.parents.push(self.parents[node].map(|parent| place[parent]));
            sorted.locals.push(self.locals[node]);
            stack.extend(children[node].iter().rev());
        }
        sorted
    }

    fn add_one_by_one(&self) -> Hierarchy {
        let mut h = Hierarchy::new();
        let mut ids: Vec<NodeId> = Vec::with_capacity(self.parents.len());
        for (parent, &local) in self.parents.iter().zip(&self.locals) {
            let id = match *parent {
                Some(parent) => h.add_child(ids[parent], local),
                None => h.add_root(local),
            };
            ids.push(id.unwrap());
        }
        h
    }

    fn extend(&self) -> Hierarchy {
        let mut h = Hierarchy::new();
        h.extend(None, &self.parents, &self.locals).unwrap();
        h
    }
}

/// A world as games have it: a root, groups, and in each group items that come, go and move as a whole.
struct Scene {
    hierarchy: Hierarchy,
    groups: Vec<NodeId>,
    /// The top node of each.
    items: Vec<NodeId>,
    random: Random,
}

const ITEMS_PER_GROUP: usize = 20;
/// An item: a body with three arms, each with two fingers.
const ITEM: [Option<usize>; 10] =
    [None, Some(0), Some(1), Some(1), Some(0), Some(4), Some(4), Some(0), Some(7), Some(7)];

impl Scene {
    fn new(nodes: usize) -> Self {
        let mut random = Random::new(2);
        let mut hierarchy = Hierarchy::new();
        let root = hierarchy.add_root(Transform::IDENTITY).unwrap();
        let items = nodes / ITEM.len();
        let groups = (0..items / ITEMS_PER_GROUP).map(|_| hierarchy.add_child(root, random.rigid()).unwrap()).collect();
        let mut scene = Self { hierarchy, groups, items: Vec::new(), random };
        for item in 0..items {
            let top = scene.spawn(scene.groups[item / ITEMS_PER_GROUP]);
            scene.items.push(top);
        }
        scene.hierarchy.optimize();
        scene.hierarchy.update();
        scene
    }

    fn locals(&mut self) -> [Transform; ITEM.len()] {
        [(); ITEM.len()].map(|()| self.random.rigid())
    }

    /// Adds an item node by node.
    fn spawn(&mut self, group: NodeId) -> NodeId {
        let mut ids = [group; ITEM.len()];
        for (node, local) in self.locals().into_iter().enumerate() {
            ids[node] = self.hierarchy.add_child(ITEM[node].map_or(group, |above| ids[above]), local).unwrap();
        }
        ids[0]
    }

    /// Adds an item as a prefab.
    fn spawn_prefab(&mut self, group: NodeId) -> NodeId {
        let locals = self.locals();
        self.hierarchy.extend(group, &ITEM, &locals).unwrap()[0]
    }

    fn any_group(&mut self) -> NodeId {
        self.groups[self.random.below(self.groups.len())]
    }

    /// Moves random items to random groups: however often, the scene keeps its shape.
    fn reparent(&mut self, items: usize, keep: Keep) {
        for _ in 0..items {
            let (item, group) = (self.items[self.random.below(self.items.len())], self.any_group());
            self.hierarchy.reparent(item, group, keep).unwrap();
        }
    }

    /// Replaces random items by new ones in random groups.
    fn replace(&mut self, items: usize, spawn: fn(&mut Self, NodeId) -> NodeId) {
        for _ in 0..items {
            let (place, group) = (self.random.below(self.items.len()), self.any_group());
            self.hierarchy.remove_subtree(self.items[place]).unwrap();
            self.items[place] = spawn(self, group);
        }
    }

    /// One item in a hundred, no two alike.
    fn some_items(&self) -> Vec<NodeId> {
        self.items.iter().copied().step_by(100).collect()
    }
}

fn build(c: &mut Criterion) {
    let mut group = c.benchmark_group("build");
    for nodes in SIZES {
        group.sample_size(10).throughput(Throughput::Elements(nodes as u64));
        let random = Tree::random(nodes);
        let depth_first = random.depth_first();
        // Made within the time measured, dropped outside it, and one at a time: the large ones fill memory.
        let mut case = |name, make: &dyn Fn() -> Hierarchy| {
            group.bench_function(BenchmarkId::new(name, nodes), |b| {
                b.iter_batched(|| (), |()| make(), BatchSize::PerIteration);
            });
        };
        case("add_child, depth first", &|| black_box(&depth_first).add_one_by_one());
        case("add_child, random order", &|| black_box(&random).add_one_by_one());
        case("extend, depth first", &|| black_box(&depth_first).extend());
        case("extend, random order", &|| black_box(&random).extend());
    }
    group.finish();
}

/// Sorting, and the first update of trees that need it more or less.
fn sort(c: &mut Criterion) {
    let mut group = c.benchmark_group("sort");
    for nodes in SIZES {
        group.sample_size(10).throughput(Throughput::Elements(nodes as u64));
        let shuffled = Tree::random(nodes).add_one_by_one();
        let sorted = Tree::random(nodes).extend();
        let mut case = |name, h: &Hierarchy, run: fn(&mut Hierarchy)| {
            group.bench_function(BenchmarkId::new(name, nodes), |b| {
                b.iter_batched_ref(|| h.clone(), run, BatchSize::PerIteration);
            });
        };
        case("optimize, shuffled", &shuffled, Hierarchy::optimize);
        case("optimize, sorted", &sorted, Hierarchy::optimize);
        case("first update, shuffled", &shuffled, |h| {
            black_box(h.update());
        });
        case("first update, sorted", &sorted, |h| {
            black_box(h.update());
        });
    }
    group.finish();
}

/// Frames of a running scene: the mean includes the re-sorts that fall due now and then.
fn frame(c: &mut Criterion) {
    let mut group = c.benchmark_group("frame");
    for nodes in SIZES {
        let some = nodes / ITEM.len() / 100;
        group.sample_size(20);
        let mut case = |name, edit: &dyn Fn(&mut Scene)| {
            let mut scene = Scene::new(nodes);
            group.bench_function(BenchmarkId::new(name, nodes), |b| {
                b.iter(|| {
                    edit(&mut scene);
                    black_box(scene.hierarchy.update());
                });
            });
        };
        case("nothing", &|_| {});
        case("reparent 1, keep local", &|scene| scene.reparent(1, Keep::Local));
        case("reparent 1, keep world", &|scene| scene.reparent(1, Keep::World));
        case("reparent 1 %, keep local", &|scene| scene.reparent(some, Keep::Local));
        case("reparent 1 %, keep world", &|scene| scene.reparent(some, Keep::World));
        case("replace 1", &|scene| scene.replace(1, Scene::spawn));
        case("replace 1 %, add_child", &|scene| scene.replace(some, Scene::spawn));
        case("replace 1 %, extend", &|scene| scene.replace(some, Scene::spawn_prefab));
    }
    group.finish();
}

/// Edits alone, without an update: 1 % of the items of a sorted scene, so that the clock's own cost does not show.
fn edit(c: &mut Criterion) {
    let mut group = c.benchmark_group("edit");
    for nodes in SIZES {
        let scene = Scene::new(nodes);
        let items = scene.some_items();
        group.sample_size(20).throughput(Throughput::Elements(items.len() as u64));
        let mut case = |name, run: &dyn Fn(&mut Hierarchy, NodeId)| {
            group.bench_function(BenchmarkId::new(name, nodes), |b| {
                b.iter_batched_ref(
                    || {
                        // A clone has no room to grow, and would pay for that once.
                        let mut h = scene.hierarchy.clone();
                        h.reserve(items.len() * ITEM.len());
                        h
                    },
                    |h| items.iter().for_each(|&item| run(h, item)),
                    BatchSize::PerIteration,
                );
            });
        };
        let other = scene.groups[0];
        case("remove_subtree of 10", &|h, item| {
            black_box(h.remove_subtree(item)).unwrap();
        });
        case("take_subtree of 10", &|h, item| {
            let _ = black_box(h.take_subtree(item)).unwrap();
        });
        case("take_subtree of 10, restore", &|h, item| {
            let taken = h.take_subtree(item).unwrap();
            black_box(h.restore(taken)).unwrap();
        });
        case("clone_subtree of 10", &|h, item| {
            black_box(h.clone_subtree(item, other)).unwrap();
        });
        case("flatten 9, keep world", &|h, item| h.flatten(item, Keep::World).unwrap());
        case("remove_and_promote 3, keep local", &|h, item| h.remove_and_promote(item, Keep::Local).unwrap());
        case("remove_and_promote 3, keep world", &|h, item| h.remove_and_promote(item, Keep::World).unwrap());
        case("reparent, keep local", &|h, item| {
            black_box(h.reparent(item, other, Keep::Local)).unwrap();
        });
        case("reparent, keep world", &|h, item| {
            black_box(h.reparent(item, other, Keep::World)).unwrap();
        });
        case("reparent, keep world trs", &|h, item| {
            black_box(h.reparent(item, other, Keep::WorldTrs)).unwrap();
        });
        case("move_to_index 0", &|h, item| h.move_to_index(item, 0).unwrap());
    }
    group.finish();
}

// Written out: what `criterion_group!` makes is public and has no documentation, which this crate refuses.
fn main() {
    let quick = Criterion::default().warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    let mut criterion = quick.configure_from_args();
    for run in [build, sort, frame, edit] {
        run(&mut criterion);
    }
    criterion.final_summary();
}
