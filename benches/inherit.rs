//! What nodes cost that do not inherit everything: the same tree without them, with one, and with one in a
//! hundred, in turn, so that what else the machine does falls on all three, and medians are compared.
//!
//! `cargo bench --bench inherit` prints a table in Markdown; `-- --quick` leaves out what takes long. Times
//! are per node and update, without what setting the poses takes.

mod support;

use posetree::{Error, Inherit, Keep};
use std::time::{Duration, Instant};
use support::pair::{Edits, Pair};
use support::shapes::{Dirty, Rng, Shape, humanoids, random, tree};

const EACH: [Inherit; 3] = [
    Inherit { scale: false, ..Inherit::ALL },
    Inherit { rotation: false, ..Inherit::ALL },
    Inherit { position: false, ..Inherit::ALL },
];

fn main() -> Result<(), Error> {
    let has = |flag: &str| std::env::args().any(|arg| arg == flag);
    // As a test, `cargo` passes no `--bench`: then only whether it runs at all.
    let is_test = has("--test") || !has("--bench");
    let (rounds, round) = if is_test { (1, Duration::ZERO) } else { (15, Duration::from_millis(30)) };
    let mut shapes = vec![tree("chain", 2500, 1), random("random_1k", 1_000)];
    if !is_test {
        shapes.extend([tree("binary", 18, 2), humanoids(4000), random("random_100k", 100_000)]);
        shapes.push(random("random_100k", 100_000).depth_first());
    }
    if !is_test && !has("--quick") {
        shapes.push(random("random_1m", 1_000_000));
    }
    println!("| tree | nodes | dirty | all inherit all | one does not | 1 % do not | ratio |");
    println!("|---|--:|---|--:|--:|--:|--:|");
    shapes.iter().try_for_each(|shape| compare(shape, rounds, round))
}

fn compare(shape: &Shape, rounds: usize, round: Duration) -> Result<(), Error> {
    let mut trees = Vec::new();
    for some in [0, 1, shape.len().div_ceil(100)] {
        let mut pair = Pair::new(shape)?;
        let mut rng = Rng::new(shape.len() as u64);
        for at in 0..some {
            pair.hierarchy.set_inherit(pair.ids[rng.index(shape.len())], EACH[at % 3], Keep::Local)?;
        }
        pair.hierarchy.update();
        trees.push(pair);
    }
    for dirty in [Dirty::Half, Dirty::Root, Dirty::All] {
        let edits = Edits::new(shape, dirty, &trees[0]);
        let frames = (round.as_nanos() as usize / (10 * shape.len())).max(1);
        let mut times = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..rounds {
            for (pair, times) in trees.iter_mut().zip(&mut times) {
                let mut sum = Duration::ZERO;
                for frame in 0..frames {
                    edits.set_posetree(&mut pair.hierarchy, frame)?;
                    let start = Instant::now();
                    std::hint::black_box(pair.hierarchy.update().rows().len());
                    sum += start.elapsed();
                }
                times.push(1e9 * sum.as_secs_f64() / (frames * shape.len()) as f64);
            }
        }
        let [none, one, some] = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        });
        let (name, nodes, dirty, ratio) = (&shape.name, shape.len(), dirty.name(), some / none);
        println!("| {name} | {nodes} | {dirty} | {none:.2} ns | {one:.2} ns | {some:.2} ns | {ratio:.2} |");
    }
    Ok(())
}
