//! World propagation, frame by frame: some local poses are set, then everything is brought up to date.
//! Each beside a plain implementation of the same. Run with `cargo bench --bench propagate`.
//!
//! The two are measured one after the other; for their ratio on a noisy machine see `ratios`.

mod support;

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};
use posetree::{Error, Keep};
use std::time::Duration;
use support::pair::{Edits, Moves, Pair};
use support::shapes::{Dirty, Shape, humanoids, random, tree};

fn main() -> Result<(), Error> {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .sample_size(10)
        .configure_from_args();
    let c = &mut criterion;
    propagate(c, &tree("chain", 2500, 1))?;
    propagate(c, &tree("wide", 3, 500))?;
    propagate(c, &tree("binary", 18, 2))?;
    propagate(c, &humanoids(4000))?;
    propagate(c, &random("random_1k", 1_000))?;
    propagate(c, &random("random_100k", 100_000))?;
    propagate(c, &random("random_100k", 100_000).depth_first())?;
    propagate(c, &random("random_100k", 100_000).shuffled())?;
    propagate(c, &random("random_1m", 1_000_000))?;
    reparent(c, &random("random_1m", 1_000_000).rigid())?;
    criterion.final_summary();
    Ok(())
}

/// A frame is to set the dirty nodes and to update.
fn propagate(c: &mut Criterion, shape: &Shape) -> Result<(), Error> {
    let mut pair = Pair::new(shape)?;
    for dirty in Dirty::EACH {
        let name = format!("propagate/{}/{}", shape.name, dirty.name());
        let edits = Edits::new(shape, dirty, &pair);
        for frame in 0..2 {
            edits.set_posetree(&mut pair.hierarchy, frame)?;
            edits.set_plain(&pair.plain, frame);
            pair.plain.update();
            pair.check(&name);
        }
        let mut group = c.benchmark_group(name);
        group.sampling_mode(SamplingMode::Flat).throughput(Throughput::Elements(shape.len() as u64));
        let mut frame = 0;
        group.bench_function(BenchmarkId::from_parameter("posetree"), |b| {
            b.iter(|| {
                frame += 1;
                edits.set_posetree(&mut pair.hierarchy, frame).expect("every id is live");
                pair.hierarchy.update().rows().len()
            });
        });
        group.bench_function(BenchmarkId::from_parameter("plain"), |b| {
            b.iter(|| {
                frame += 1;
                edits.set_plain(&pair.plain, frame);
                pair.plain.update();
            });
        });
        group.finish();
        // Both to the same frame again.
        edits.set_posetree(&mut pair.hierarchy, 1)?;
        edits.set_plain(&pair.plain, 1);
        pair.plain.update();
        pair.check("after the measurement");
    }
    Ok(())
}

/// A frame is one reparent and an update.
fn reparent(c: &mut Criterion, shape: &Shape) -> Result<(), Error> {
    for keep in [Keep::Local, Keep::World] {
        let mut pair = Pair::new(shape)?;
        let moves = Moves::new(shape, keep);
        let name = format!("{}/{}", moves.name(), shape.name);
        for frame in 0..20 {
            moves.frame_posetree(&mut pair.hierarchy, &pair.ids, frame)?;
            moves.frame_plain(&pair.plain, frame);
        }
        pair.check(&name);
        let mut group = c.benchmark_group(name);
        let mut frame = 20;
        group.bench_function(BenchmarkId::from_parameter("posetree"), |b| {
            b.iter(|| {
                moves.frame_posetree(&mut pair.hierarchy, &pair.ids, frame).expect("no parent is flat");
                frame += 1;
            });
        });
        let mut frame = 20;
        group.bench_function(BenchmarkId::from_parameter("plain"), |b| {
            b.iter(|| {
                moves.frame_plain(&pair.plain, frame);
                frame += 1;
            });
        });
        group.finish();
    }
    Ok(())
}
