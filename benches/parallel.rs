//! How many times faster `update_parallel` is than `update`, everything dirty: both in turn on clones of
//! one hierarchy, medians, the same rows.
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
    println!("| tree | nodes | update | update_parallel | ratio |\n|---|--:|--:|--:|--:|");
    shapes.iter().try_for_each(|shape| compare(shape, if measure { 41 } else { 1 }))
}

fn compare(shape: &Shape, rounds: usize) -> Result<(), Error> {
    let mut one = Hierarchy::new();
    let ids = one.extend(None, &shape.parents, &shape.locals[0])?;
    one.update();
    let mut many = one.clone();
    let (mut by_one, mut by_many) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        for (&id, &local) in ids.iter().zip(&shape.locals[round % 2]) {
            one.set_local(id, local)?;
            many.set_local(id, local)?;
        }
        let start = Instant::now();
        one.update();
        by_one.push(start.elapsed());
        let start = Instant::now();
        many.update_parallel();
        by_many.push(start.elapsed());
        assert!(one.update().rows() == many.update().rows(), "{}: other rows", shape.name);
    }
    let median = |times: &mut Vec<Duration>| {
        times.sort_unstable();
        times[times.len() / 2]
    };
    let (by_one, by_many) = (median(&mut by_one), median(&mut by_many));
    let ratio = by_one.as_secs_f64() / by_many.as_secs_f64();
    println!("| {} | {} | {by_one:.1?} | {by_many:.1?} | {ratio:.2} |", shape.name, ids.len());
    Ok(())
}
