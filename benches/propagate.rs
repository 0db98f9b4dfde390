//! World propagation, frame by frame: some local poses are set, then everything is brought up to date.
//! Each beside a plain implementation of the same. Run with `cargo bench --bench propagate`.
//!
//! The two are measured one after the other; for their ratio on a noisy machine see `ratios`.

mod support;

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};
use posetree::glam::{DVec2, EulerRot};
use posetree::{Accumulate, Components2, DComponents2, DMatrices2, DTransform2, Error, HierarchyOf, Keep, Matrices2};
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
    planes(c, &random("random_100k", 100_000).depth_first())?;
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

/// The tree's shadow on the XY plane, in each kind and precision. A frame is to set the roots and to update, which is
/// then all sweep; compare with the case of all nodes dirty above, less what setting them takes.
fn planes(c: &mut Criterion, shape: &Shape) -> Result<(), Error> {
    let wide = |local: &posetree::Transform| {
        let angle = local.rotation.to_euler(EulerRot::ZXY).0;
        DTransform2::new(local.position.truncate().into(), angle.into(), DVec2::from(local.scale.truncate()))
    };
    let locals: Vec<_> = shape.locals[0].iter().map(wide).collect();
    let single: Vec<_> = locals.iter().map(|local| local.as_transform2()).collect();
    plane::<Matrices2>(c, shape, "matrices2", &single)?;
    plane::<Components2>(c, shape, "components2", &single)?;
    plane::<DMatrices2>(c, shape, "dmatrices2", &locals)?;
    plane::<DComponents2>(c, shape, "dcomponents2", &locals)
}

fn plane<A: Accumulate>(c: &mut Criterion, shape: &Shape, name: &str, locals: &[A::Transform]) -> Result<(), Error> {
    let mut hierarchy = HierarchyOf::<A>::new();
    hierarchy.extend(None, &shape.parents, locals)?;
    hierarchy.optimize();
    let roots: Vec<_> = hierarchy.roots().collect();
    let held: Vec<_> = shape.parents.iter().zip(locals).filter(|(parent, _)| parent.is_none()).collect();
    let mut group = c.benchmark_group(format!("propagate/{}/plane", shape.name));
    group.sampling_mode(SamplingMode::Flat).throughput(Throughput::Elements(shape.len() as u64));
    group.bench_function(BenchmarkId::from_parameter(name), |b| {
        b.iter(|| {
            for (&root, (_, local)) in roots.iter().zip(&held) {
                hierarchy.set_local(root, **local).expect("every id is live");
            }
            hierarchy.update().rows().len()
        });
    });
    group.finish();
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
