//! How many times faster than a plain implementation: both run in turn, again and again, so that what
//! else the machine does falls on both, and medians are compared.
//!
//! `cargo bench --bench ratios` prints tables in Markdown; `-- --quick` leaves out what takes long.
//! Times are for the whole tree, per update or per frame; a frame is setting local poses and an update.

mod support;

use posetree::{
    Components, DComponents, DMatrices, DTransform, Error, Geometry, Hierarchy, HierarchyOf, Keep, LocalError,
    Matrices, NodeId, Transform, Version, WorldInverses, Worlds,
    glam::{Affine3A, Mat3, Vec3, Vec3A},
};
use std::hint::black_box;
use std::time::{Duration, Instant};
use support::floor::Floor;
use support::pair::{Edits, Moves, Pair};
use support::shapes::{Dirty, Rng, Shape, humanoids, random, tree};

/// How much to measure.
#[derive(Clone, Copy, Debug)]
struct Effort {
    rounds: usize,
    /// What one side gets per round.
    round: Duration,
    nodes: usize,
}

fn main() -> Result<(), Error> {
    let has = |flag: &str| std::env::args().any(|arg| arg == flag);
    // As a test, `cargo` passes no `--bench`: then only whether it runs at all.
    let effort = if has("--test") || !has("--bench") {
        Effort { rounds: 1, round: Duration::ZERO, nodes: 1_000 }
    } else if has("--quick") {
        Effort { rounds: 9, round: Duration::from_millis(10), nodes: 100_000 }
    } else {
        Effort { rounds: 15, round: Duration::from_millis(50), nodes: 1_000_000 }
    };

    let mut shapes = vec![tree("chain", 2500, 1), random("random_1k", 1_000)];
    if effort.nodes >= 100_000 {
        shapes.extend([
            tree("wide", 3, 500),
            tree("binary", 18, 2),
            humanoids(4000),
            random("random_100k", 100_000),
            random("random_100k", 100_000).depth_first(),
            random("random_100k", 100_000).shuffled(),
        ]);
    }
    if effort.nodes >= 1_000_000 {
        shapes.push(random("random_1m", 1_000_000));
    }

    println!("| tree | nodes | dirty | what | posetree | plain | ratio | posetree, ns/node | plain, ns/node |");
    println!("|---|--:|---|---|--:|--:|--:|--:|--:|");
    shapes.iter().try_for_each(|shape| propagate(shape, effort))?;

    println!("\n| setting | posetree, ns | plain, ns | arrays, ns | times arrays |\n|---|--:|--:|--:|--:|");
    setters(&shapes[1], effort)?;

    println!("\n| reading in random order, nothing dirty | nodes | ns | `vec[i]` of the same type, ns | ratio |");
    println!("|---|--:|--:|--:|--:|");
    for nodes in [1_000, 10_000, 100_000, 1_000_000].into_iter().filter(|&nodes| nodes <= effort.nodes) {
        reads(&random("random", nodes), effort)?;
    }

    println!("\n| nodes moving, of {} | points a node | `world_inverse`, ns a node | `WorldInverses` | ratio |", 1_000);
    println!("|--:|--:|--:|--:|--:|");
    for (moving, points) in [(0, 1), (0, 10), (0, 100), (10, 10), (1_000, 10)] {
        inverses(&random("random_1k", 1_000), moving, points, effort)?;
    }

    println!("\n| reparent + update, a frame | nodes | posetree | worst | plain | ratio |\n|---|--:|--:|--:|--:|--:|");
    for nodes in [10_000, 100_000, 1_000_000].into_iter().filter(|&nodes| nodes <= effort.nodes) {
        for keep in [Keep::Local, Keep::World] {
            reparent(&random("random", nodes).rigid(), keep, effort)?;
        }
    }

    println!("\n| tree, root dirty, previous poses | off | on | ratio | changed_since: all | a leaf |");
    println!("|---|--:|--:|--:|--:|--:|");
    shapes.iter().filter(|shape| !shape.name.contains("100k_")).try_for_each(|shape| changes(shape, effort))?;

    println!("\n| tree, root dirty, ns/node | update | bare product | copy |\n|---|--:|--:|--:|");
    shapes.iter().filter(|shape| !shape.name.contains("100k_")).try_for_each(|shape| floors(shape, effort))?;

    println!("\n| everything dirty, ns/node | nodes | float32 | float64 | ratio |\n|---|--:|--:|--:|--:|");
    shapes.iter().filter(|shape| !shape.name.contains("100k_")).try_for_each(|shape| {
        precisions::<Matrices, DMatrices>("matrices", shape, effort)?;
        precisions::<Components, DComponents>("components", shape, effort)
    })
}

/// A frame's two parts on both sides, in turn.
fn propagate(shape: &Shape, effort: Effort) -> Result<(), Error> {
    let mut pair = Pair::new(shape)?;
    for dirty in Dirty::EACH {
        let edits = Edits::new(shape, dirty, &pair);
        for frame in 0..2 {
            edits.set_posetree(&mut pair.hierarchy, frame)?;
            edits.set_plain(&pair.plain, frame);
            pair.plain.update();
            pair.check(&format!("{}/{}", shape.name, dirty.name()));
        }
        let (mut updates, mut frames) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
        let mut count = [1, 1];
        for round in 0..=effort.rounds {
            let posetree = measure(count[0], |frame| {
                edits.set_posetree(&mut pair.hierarchy, frame)?;
                Ok(timed(|| pair.hierarchy.update().rows().len()))
            })?;
            let plain = measure(count[1], |frame| {
                edits.set_plain(&pair.plain, frame);
                Ok(timed(|| pair.plain.update()))
            })?;
            for (side, (frame, update)) in [posetree, plain].into_iter().enumerate() {
                if round == 0 {
                    // The first warms up, and says how many frames fill a round.
                    count[side] = (effort.round.as_secs_f64() / frame.max(1e-8)).ceil().max(1.0) as usize;
                } else {
                    frames[side].push(frame);
                    updates[side].push(update);
                }
            }
        }
        // The sides ran different numbers of frames: both to the same one again.
        edits.set_posetree(&mut pair.hierarchy, 1)?;
        edits.set_plain(&pair.plain, 1);
        pair.plain.update();
        pair.check("after the measurement");
        let head = format!("| {} | {} | {}", shape.name, shape.len(), dirty.name());
        let frames = frames.map(median);
        // Below that, asking for the time takes as long as what is timed.
        if dirty == Dirty::None || dirty == Dirty::Leaf {
            row(&head, "frame", frames, shape.len());
        } else {
            row(&head, "update", updates.map(median), shape.len());
            row(&head, "frame", frames, shape.len());
        }
    }
    Ok(())
}

fn row(head: &str, what: &str, [posetree, plain]: [f64; 2], nodes: usize) {
    println!(
        "{head} | {what} | {} | {} | {:.1} | {:.2} | {:.2} |",
        human(posetree),
        human(plain),
        plain / posetree,
        1e9 * posetree / nodes as f64,
        1e9 * plain / nodes as f64,
    );
}

/// What setting one local value costs, marking included, over all nodes of a tree that fits the cache; beside it boxed
/// nodes with flags, and a loop over arrays that keeps no marks.
fn setters(shape: &Shape, effort: Effort) -> Result<(), Error> {
    let mut pair = Pair::new(shape)?;
    let mut arrays = Arrays::new(&mut pair, &shape.locals[0])?;
    let pairs = [0, 1].map(|frame| {
        let locals: &[Transform] = &shape.locals[frame];
        pair.ids.iter().copied().zip(locals.iter().copied()).collect::<Vec<_>>()
    });
    let frames = (effort.round.as_micros() as usize / 100).max(1);
    for setter in ["set_local", "set_locals", "set_position", "set_rotation"] {
        let mut times = [(); 3].map(|()| Vec::new());
        for _ in 0..effort.rounds {
            let mut sums = [0.0; 3];
            for frame in 0..frames {
                let (pairs, locals) = (&pairs[frame % 2], &shape.locals[frame % 2]);
                let start = Instant::now();
                match setter {
                    "set_local" => set_local(&mut pair.hierarchy, &pair.ids, locals)?,
                    "set_locals" => pair.hierarchy.set_locals(pairs)?,
                    "set_position" => set_position(&mut pair.hierarchy, &pair.ids, locals)?,
                    _ => set_rotation(&mut pair.hierarchy, &pair.ids, locals)?,
                }
                sums[0] += start.elapsed().as_secs_f64();
                let start = Instant::now();
                for (node, local) in locals.iter().enumerate() {
                    match setter {
                        "set_position" => pair.plain.set_position(node, local.position),
                        "set_rotation" => pair.plain.set_rotation(node, local.rotation),
                        _ => pair.plain.set_local(node, *local),
                    }
                }
                sums[1] += start.elapsed().as_secs_f64();
                sums[2] += timed(|| match setter {
                    "set_position" => arrays.set_positions(locals),
                    "set_rotation" => arrays.set_rotations(locals),
                    _ => arrays.set(locals),
                })
                .as_secs_f64();
                pair.hierarchy.update();
                pair.plain.update();
            }
            for (times, sum) in times.iter_mut().zip(sums) {
                times.push(1e9 * sum / (frames * shape.len()) as f64);
            }
        }
        pair.check(setter);
        let [posetree, plain, arrays] = times.map(median);
        println!("| {setter} | {posetree:.1} | {plain:.1} | {arrays:.1} | {:.2} |", posetree / arrays);
    }
    Ok(())
}

// As a system of a game would: a function of its own, in which the compiler knows what does not change meanwhile.

#[inline(never)]
fn set_local(h: &mut Hierarchy, ids: &[NodeId], locals: &[Transform]) -> Result<(), LocalError> {
    ids.iter().zip(locals).try_for_each(|(&id, &local)| h.set_local(id, local))
}

#[inline(never)]
fn set_position(h: &mut Hierarchy, ids: &[NodeId], locals: &[Transform]) -> Result<(), LocalError> {
    ids.iter().zip(locals).try_for_each(|(&id, local)| h.set_position(id, local.position))
}

#[inline(never)]
fn set_rotation(h: &mut Hierarchy, ids: &[NodeId], locals: &[Transform]) -> Result<(), LocalError> {
    ids.iter().zip(locals).try_for_each(|(&id, local)| h.set_rotation(id, local.rotation))
}

/// Values by node, local matrices by row, and where each node's row is.
struct Arrays {
    values: Vec<Transform>,
    locals: Vec<[[f32; 4]; 3]>,
    rows: Vec<u32>,
}

impl Arrays {
    fn new(pair: &mut Pair, values: &[Transform]) -> Result<Self, Error> {
        let worlds = pair.hierarchy.update();
        let rows = pair.ids.iter().map(|&id| worlds.row_of(id).map(|row| row as u32)).collect::<Result<_, _>>()?;
        Ok(Self { values: values.to_vec(), locals: vec![[[0.0; 4]; 3]; values.len()], rows })
    }

    #[inline(never)]
    fn set(&mut self, values: &[Transform]) {
        for ((to, &row), value) in self.values.iter_mut().zip(&self.rows).zip(values) {
            *to = *value;
            self.locals[row as usize] = matrix(value);
        }
    }

    #[inline(never)]
    fn set_rotations(&mut self, values: &[Transform]) {
        for ((to, &row), value) in self.values.iter_mut().zip(&self.rows).zip(values) {
            to.rotation = value.rotation;
            self.locals[row as usize] = matrix(to);
        }
    }

    #[inline(never)]
    fn set_positions(&mut self, values: &[Transform]) {
        for ((to, &row), value) in self.values.iter_mut().zip(&self.rows).zip(values) {
            to.position = value.position;
            let local = &mut self.locals[row as usize];
            [local[0][3], local[1][3], local[2][3]] = value.position.to_array();
        }
    }
}

/// `T * R * S` as rows.
fn matrix(t: &Transform) -> [[f32; 4]; 3] {
    let m = Mat3::from_quat(t.rotation);
    let [x, y, z] = [m.x_axis * t.scale.x, m.y_axis * t.scale.y, m.z_axis * t.scale.z];
    let p = t.position;
    [[x.x, y.x, z.x, p.x], [x.y, y.y, z.y, p.y], [x.z, y.z, z.z, p.z]]
}

/// Each against a copy out of a plain vector of the same type, by numbers in the same order: what is left is what it
/// takes to check an id and to find its row.
fn reads(shape: &Shape, effort: Effort) -> Result<(), Error> {
    let mut hierarchy = Hierarchy::new();
    let ids = hierarchy.extend(None, &shape.parents, &shape.locals[0])?;
    hierarchy.update();
    let mut rng = Rng::new(3);
    let order: Vec<u32> = ids.iter().map(|_| rng.index(ids.len()) as u32).collect();
    let read: Vec<NodeId> = order.iter().map(|&node| ids[node as usize]).collect();
    let rows = hierarchy.update().rows().to_vec();
    let worlds: Vec<Affine3A> = ids.iter().map(|&id| hierarchy.world(id)).collect::<Result<_, _>>()?;
    let positions: Vec<Vec3> = ids.iter().map(|&id| hierarchy.world_position(id)).collect::<Result<_, _>>()?;
    let view = hierarchy.worlds().expect("updated");
    let mut times = [(); 6].map(|()| Vec::new());
    // So many times over that asking for the time does not count.
    let turns = 1 + effort.round.as_nanos() as usize / (64 * ids.len());
    for _ in 0..2 * effort.rounds {
        let all: [&dyn Fn(); 6] = [
            &|| copies(&rows, &order),
            &|| read_rows(view, &read),
            &|| copies(&worlds, &order),
            &|| read_worlds(&hierarchy, &read),
            &|| copies(&positions, &order),
            &|| read_positions(&hierarchy, &read),
        ];
        for (times, each) in times.iter_mut().zip(all) {
            times.push(1e9 * mean(turns, |_| each()) / ids.len() as f64);
        }
    }
    let times = times.map(median);
    for (name, times) in ["`Worlds::get`", "`world`", "`world_position`"].into_iter().zip(times.chunks(2)) {
        println!("| {name} | {} | {:.1} | {:.1} | {:.1} |", ids.len(), times[1], times[0], times[1] / times[0]);
    }
    Ok(())
}

#[inline(never)]
fn read_rows(worlds: Worlds<'_>, ids: &[NodeId]) {
    for &id in ids {
        if let Ok(row) = worlds.get(id) {
            black_box(*row);
        }
    }
}

#[inline(never)]
fn read_worlds(hierarchy: &Hierarchy, ids: &[NodeId]) {
    for &id in ids {
        if let Ok(world) = hierarchy.world(id) {
            black_box(world);
        }
    }
}

#[inline(never)]
fn read_positions(hierarchy: &Hierarchy, ids: &[NodeId]) {
    for &id in ids {
        if let Ok(position) = hierarchy.world_position(id) {
            black_box(position);
        }
    }
}

#[inline(never)]
fn copies<T: Copy>(values: &[T], order: &[u32]) {
    order.iter().for_each(|&node| _ = black_box(values[node as usize]));
}

/// A frame of picking or collision: some nodes move, and points are taken into the spaces of others.
fn inverses(shape: &Shape, moving: usize, points: usize, effort: Effort) -> Result<(), Error> {
    let mut hierarchy = Hierarchy::new();
    let ids = hierarchy.extend(None, &shape.parents, &shape.locals[0])?;
    let mut rng = Rng::new(4);
    // Nodes of the second half, which have little below them.
    let movers: Vec<usize> = (0..moving).map(|_| ids.len() / 2 + rng.index(ids.len() / 2)).collect();
    let asked: Vec<NodeId> = (0..1000).map(|_| ids[rng.index(ids.len())]).collect();
    let mut cache = WorldInverses::new();
    let mut times = [(); 2].map(|()| Vec::new());
    for frame in 0..20 * effort.rounds {
        for &node in &movers {
            hierarchy.set_local(ids[node], shape.locals[frame % 2][node])?;
        }
        let worlds = hierarchy.update();
        let mut sums = [Vec3A::ZERO; 2];
        let map = |inverse: Affine3A, sum: &mut Vec3A| {
            (0..points).for_each(|point| *sum += inverse.transform_point3a(Vec3A::splat(black_box(point as f32))));
        };
        let [on_demand, cached] = &mut sums;
        times[0].push(
            timed(|| asked.iter().try_for_each(|&id| worlds.hierarchy().world_inverse(id).map(|i| map(i, on_demand))))
                .as_secs_f64(),
        );
        times[1].push(
            timed(|| asked.iter().try_for_each(|&id| cache.get(worlds, id).map(|i| map(i, cached)))).as_secs_f64(),
        );
        assert_eq!(sums[0], sums[1], "different inverses");
    }
    let [on_demand, cached] = times.map(|times| 1e9 * median(times) / asked.len() as f64);
    println!("| {moving} | {points} | {on_demand:.0} | {cached:.0} | {:.1} |", on_demand / cached);
    Ok(())
}

fn reparent(shape: &Shape, keep: Keep, effort: Effort) -> Result<(), Error> {
    let mut pair = Pair::new(shape)?;
    let moves = Moves::new(shape, keep);
    for frame in 0..20 {
        moves.frame_posetree(&mut pair.hierarchy, &pair.ids, frame)?;
        moves.frame_plain(&pair.plain, frame);
    }
    pair.check(moves.name());
    let frames = (effort.round.as_micros() as usize / 50).max(2);
    let (mut times, mut worst) = ([Vec::new(), Vec::new()], 0.0_f64);
    let mut at = 20;
    for _ in 0..effort.rounds {
        let (posetree, slowest) =
            measure_worst(frames, |frame| moves.frame_posetree(&mut pair.hierarchy, &pair.ids, at + frame))?;
        let (plain, _) = measure_worst(frames, |frame| {
            moves.frame_plain(&pair.plain, at + frame);
            Ok(())
        })?;
        at += frames;
        worst = worst.max(slowest);
        times[0].push(posetree);
        times[1].push(plain);
    }
    let [posetree, plain] = times.map(median);
    let (name, nodes) = (moves.name(), shape.len());
    let (slowest, ratio) = (human(worst), plain / posetree);
    println!("| {name} | {nodes} | {} | {slowest} | {} | {ratio:.1} |", human(posetree), human(plain));
    Ok(())
}

/// What previous poses add to an update of everything, and what it takes to ask what changed.
fn changes(shape: &Shape, effort: Effort) -> Result<(), Error> {
    let [mut off, mut on] = [Pair::new(shape)?, Pair::new(shape)?];
    on.hierarchy.track_previous(true);
    let edits = Edits::new(shape, Dirty::Root, &off);
    let frames = (effort.round.as_nanos() as usize / (5 * shape.len())).max(1);
    let mut times = [const { Vec::new() }; 4];
    for _ in 0..effort.rounds {
        for (times, pair) in times.iter_mut().zip([&mut off, &mut on]) {
            let update = |frame| {
                edits.set_posetree(&mut pair.hierarchy, frame)?;
                Ok(timed(|| pair.hierarchy.update().rows().len()))
            };
            times.push(measure(frames, update)?.1);
        }
        let (last, read) = (off.ids[shape.len() - 1], |pair: &mut Pair, seen| {
            let worlds = pair.hierarchy.update();
            mean(frames, |_| _ = std::hint::black_box(worlds.changed_since(seen).count()))
        });
        times[2].push(read(&mut off, Version::default()));
        let seen = off.hierarchy.update().version();
        off.hierarchy.set_local(last, off.hierarchy.local(last)?)?;
        times[3].push(read(&mut off, seen));
    }
    let [off, on, all, leaf] = times.map(median);
    let (name, ratio) = (&shape.name, on / off);
    println!("| {name} | {} | {} | {ratio:.2} | {} | {} |", human(off), human(on), human(all), human(leaf));
    Ok(())
}

fn floors(shape: &Shape, effort: Effort) -> Result<(), Error> {
    let mut pair = Pair::new(shape)?;
    let mut floor = Floor::new(&mut pair.hierarchy)?;
    floor.product();
    assert!(floor.worlds == pair.hierarchy.update().rows(), "the bare product is the same product");
    let edits = Edits::new(shape, Dirty::Root, &pair);
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    let frames = (effort.round.as_nanos() as usize / (5 * shape.len())).max(1);
    for _ in 0..effort.rounds {
        times[0].push(mean(frames, |frame| {
            edits.set_posetree(&mut pair.hierarchy, frame).expect("every id is live");
            pair.hierarchy.update();
        }));
        times[1].push(mean(frames, |_| floor.product()));
        times[2].push(mean(frames, |_| floor.copy()));
    }
    let [update, product, copy] = times.map(|times| 1e9 * median(times) / shape.len() as f64);
    println!("| {} | {update:.2} | {product:.2} | {copy:.2} |", shape.name);
    Ok(())
}

/// One tree in both precisions: an update below its roots, which sweeps every row.
fn precisions<S, D>(what: &str, shape: &Shape, effort: Effort) -> Result<(), Error>
where
    S: Geometry<Transform = Transform>,
    D: Geometry<Transform = DTransform>,
{
    let doubles: Vec<DTransform> = shape.locals[0].iter().map(|&local| DTransform::from(local).normalized()).collect();
    let (mut single, mut double) = (HierarchyOf::<S>::new(), HierarchyOf::<D>::new());
    let singles = single.extend(None, &shape.parents, &shape.locals[0])?;
    let ids = double.extend(None, &shape.parents, &doubles)?;
    let roots: Vec<usize> = (0..shape.len()).filter(|&node| shape.parents[node].is_none()).collect();
    let frames = (effort.round.as_nanos() as usize / (5 * shape.len())).max(1);
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..effort.rounds {
        times[0].push(mean(frames, |_| {
            for &root in &roots {
                single.set_local(singles[root], shape.locals[0][root]).expect("every id is live");
            }
            black_box(single.update().rows().len());
        }));
        times[1].push(mean(frames, |_| {
            for &root in &roots {
                double.set_local(ids[root], doubles[root]).expect("every id is live");
            }
            black_box(double.update().rows().len());
        }));
    }
    let [single, double] = times.map(|times| 1e9 * median(times) / shape.len() as f64);
    println!("| {}, {what} | {} | {single:.2} | {double:.2} | {:.2} |", shape.name, shape.len(), double / single);
    Ok(())
}

/// Seconds per frame: all of it, and the part that the frame itself reports.
fn measure(frames: usize, mut run: impl FnMut(usize) -> Result<Duration, Error>) -> Result<(f64, f64), Error> {
    let start = Instant::now();
    let mut part = Duration::ZERO;
    for frame in 0..frames {
        part += run(frame)?;
    }
    Ok((start.elapsed().as_secs_f64() / frames as f64, part.as_secs_f64() / frames as f64))
}

/// Seconds per frame: the mean, so that a re-sort now and then counts, and the slowest.
fn measure_worst(frames: usize, mut run: impl FnMut(usize) -> Result<(), Error>) -> Result<(f64, f64), Error> {
    let mut worst = Duration::ZERO;
    let mut sum = Duration::ZERO;
    for frame in 0..frames {
        let start = Instant::now();
        run(frame)?;
        let time = start.elapsed();
        sum += time;
        worst = worst.max(time);
    }
    Ok((sum.as_secs_f64() / frames as f64, worst.as_secs_f64()))
}

fn mean(frames: usize, mut run: impl FnMut(usize)) -> f64 {
    let start = Instant::now();
    (0..frames).for_each(&mut run);
    start.elapsed().as_secs_f64() / frames as f64
}

fn timed<T>(run: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    std::hint::black_box(run());
    start.elapsed()
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn human(seconds: f64) -> String {
    match seconds {
        s if s < 1e-6 => format!("{:.0} ns", 1e9 * s),
        s if s < 1e-3 => format!("{:.1} µs", 1e6 * s),
        s => format!("{:.2} ms", 1e3 * s),
    }
}
