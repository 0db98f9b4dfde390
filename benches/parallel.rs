//! How many times faster `update_parallel` is than `update`, everything dirty: both in turn on one hierarchy, as one
//! frame comes after the other, medians, the same rows. Once with a pool that has had nothing to do for a while, so
//! that its threads have to be woken, and once with one that has just been used, as by what set the local poses.
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
    let mut h = Hierarchy::new();
    let ids = h.extend(None, &shape.parents, &shape.locals[0])?;
    let rows = [0, 1].map(|pose| {
        ids.iter().zip(&shape.locals[pose]).for_each(|(&id, &local)| h.set_local(id, local).expect("a node"));
        h.update().rows().to_vec()
    });
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    for round in 0..rounds {
        for (way, times) in times.iter_mut().enumerate() {
            let pose = (round + way) % 2;
            for (&id, &local) in ids.iter().zip(&shape.locals[pose]) {
                h.set_local(id, local)?;
            }
            if way == 2 {
                rayon::broadcast(|_| ());
            }
            times.push(timed(|| if way == 0 { h.update().version() } else { h.update_parallel().version() }));
            assert!(h.update().rows() == rows[pose], "{}: other rows", shape.name);
        }
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
