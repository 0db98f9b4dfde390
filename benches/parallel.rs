//! How many times faster `update_parallel` is than `update`, everything dirty: both in turn on clones of
//! one hierarchy, medians, the same rows. Once with a pool that has had nothing to do for a while, so that its
//! threads have to be woken, and once with one that has just been used, as by what set the local poses.
//!
//! `cargo bench --features rayon --bench parallel`

mod support;

use posetree::{Error, Hierarchy};
use std::time::{Duration, Instant};
use support::shapes::{Shape, humanoids, random, tree};

fn main() -> Result<(), Error> {
    // As a test, `cargo` passes no `--bench`: then only whether it runs at all.
    let measure = std::env::args().any(|arg| arg == "--bench");
    let mut shapes = vec![random("random_1k", 1_000), tree("chain", 2_500, 1)];
    if measure {
        shapes.extend([
            random("random_10k", 10_000),
            tree("long_chain", 100_000, 1),
            tree("one_wide_parent", 2, 100_000),
            random("random_100k", 100_000),
            humanoids(4_000),
            random("random_1m", 1_000_000),
        ]);
    }
    println!("threads: {}\n", rayon::current_num_threads());
    println!("| tree | nodes | update | update_parallel, asleep | awake | ratio, asleep | awake |");
    println!("|---|--:|--:|--:|--:|--:|--:|");
    shapes.iter().try_for_each(|shape| compare(shape, if measure { 41 } else { 1 }))
}

fn compare(shape: &Shape, rounds: usize) -> Result<(), Error> {
    let mut one = Hierarchy::new();
    let ids = one.extend(None, &shape.parents, &shape.locals[0])?;
    one.update();
    let (mut asleep, mut awake) = (one.clone(), one.clone());
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    for round in 0..rounds {
        for (&id, &local) in ids.iter().zip(&shape.locals[round % 2]) {
            one.set_local(id, local)?;
            asleep.set_local(id, local)?;
            awake.set_local(id, local)?;
        }
        times[0].push(timed(|| one.update().version()));
        times[1].push(timed(|| asleep.update_parallel().version()));
        rayon::broadcast(|_| ());
        times[2].push(timed(|| awake.update_parallel().version()));
        let rows = one.update().rows();
        assert!(rows == asleep.update().rows() && rows == awake.update().rows(), "{}: other rows", shape.name);
    }
    let [one, asleep, awake] = times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    });
    let ratio = |many: Duration| one.as_secs_f64() / many.as_secs_f64();
    print!("| {} | {} | {one:.1?} | {asleep:.1?} | {awake:.1?} |", shape.name, ids.len());
    println!(" {:.2} | {:.2} |", ratio(asleep), ratio(awake));
    Ok(())
}

fn timed<R>(work: impl FnOnce() -> R) -> Duration {
    let start = Instant::now();
    std::hint::black_box(work());
    start.elapsed()
}
