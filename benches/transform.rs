//! What single operations cost: on transform values, and through the doors of a hierarchy.
//!
//! Every case runs over 1000 inputs, so that times read as nanoseconds per operation when the unit is microseconds,
//! and so that no branch predictor learns the answer.

#[path = "support/random.rs"]
mod random;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput};
use posetree::glam::{Affine3A, Mat3A, Mat4, Quat, Vec3, Vec3A};
use posetree::{Hierarchy, NodeId, Space, Transform, decompose, decompose_with_hint};
use random::Random;
use std::hint::black_box;
use std::time::Duration;

const INPUTS: usize = 1000;
const DEPTH: usize = 10;
const JOINTS: usize = 68;

fn inputs<T>(mut make: impl FnMut(&mut Random) -> T) -> Vec<T> {
    let mut random = Random::new(3);
    (0..INPUTS).map(|_| make(&mut random)).collect()
}

/// Measures a function of one input at a time.
fn each<I: Copy, O>(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, inputs: &[I], mut run: impl FnMut(I) -> O) {
    group.bench_function(name, |b| {
        b.iter(|| {
            for input in inputs {
                black_box(run(black_box(*input)));
            }
        });
    });
}

fn values(c: &mut Criterion) {
    let mut group = c.benchmark_group("value");
    group.throughput(Throughput::Elements(INPUTS as u64));
    let ones = inputs(Random::stretched);
    let pairs = inputs(|random| (random.stretched(), random.stretched()));
    let points = inputs(|random| (random.stretched(), random.vector(-10.0, 10.0)));
    each(&mut group, "combine", &pairs, |(a, b)| a.combine(b));
    each(&mut group, "relative_to", &pairs, |(a, b)| a.relative_to(b));
    each(&mut group, "local_inverse", &ones, Transform::local_inverse);
    each(&mut group, "to_affine", &ones, Transform::to_affine);
    each(&mut group, "to_mat4", &ones, Transform::to_mat4);
    each(&mut group, "transform_point", &points, |(t, p)| t.transform_point(p));
    each(&mut group, "inverse_transform_point", &points, |(t, p)| t.inverse_transform_point(p));
    each(&mut group, "transform_normal", &points, |(t, n)| t.transform_normal(n));
    each(&mut group, "looking_at", &points, |(t, target)| t.looking_at(target, Vec3::Y));
    each(&mut group, "lerp", &pairs, |(a, b)| a.lerp(b, 0.3));
    each(&mut group, "nlerp", &pairs, |(a, b)| a.nlerp(b, 0.3));

    let trs: Vec<Affine3A> = ones.iter().map(|t| t.to_affine()).collect();
    let sheared: Vec<Affine3A> = pairs.iter().map(|(a, b)| a.to_affine() * b.to_affine()).collect();
    // The Y axis falls onto the X axis: rank two, with nothing that is exactly zero.
    let singular: Vec<Affine3A> = trs
        .iter()
        .map(|m| {
            let x: Vec3A = m.matrix3.x_axis;
            Affine3A { matrix3: Mat3A::from_cols(x, 0.5 * x, m.matrix3.z_axis), translation: m.translation }
        })
        .collect();
    each(&mut group, "try_from, trs", &trs, Transform::try_from);
    each(&mut group, "try_from, sheared", &sheared, Transform::try_from);
    each(&mut group, "decompose, trs", &trs, |m| decompose(&m));
    each(&mut group, "decompose, sheared", &sheared, |m| decompose(&m));
    each(&mut group, "decompose, singular", &singular, |m| decompose(&m));
    each(&mut group, "decompose_with_hint, trs", &trs, |m| decompose_with_hint(&m, Vec3::new(-1.0, 1.0, -1.0)));
    group.finish();
}

/// Chains of ten nodes, and the last node of each.
fn chains(pose: fn(&mut Random) -> Transform) -> (Hierarchy, Vec<NodeId>, Vec<NodeId>) {
    let mut h = Hierarchy::new();
    let roots = inputs(|random| h.add_root(pose(random)).unwrap());
    let mut random = Random::new(4);
    let add = |top: &NodeId| (1..DEPTH).fold(*top, |above, _| h.add_child(above, pose(&mut random)).unwrap());
    let tips = roots.iter().map(add).collect();
    h.optimize();
    h.update();
    (h, roots, tips)
}

fn getters(c: &mut Criterion) {
    let mut group = c.benchmark_group("get");
    group.throughput(Throughput::Elements(INPUTS as u64));
    let (clean, roots, tips) = chains(Random::stretched);
    // Something is dirty, so that a reader has to look up its path, and finds nothing.
    let mut elsewhere = clean.clone();
    elsewhere.add_root(Transform::IDENTITY).unwrap();
    let mut dirty = clean.clone();
    for &root in &roots {
        dirty.set_position(root, Vec3::X).unwrap();
    }

    each(&mut group, "local, trs", &tips, |id| clean.local(id));
    each(&mut group, "position", &tips, |id| clean.position(id));
    each(&mut group, "depth", &tips, |id| clean.depth(id));
    each(&mut group, "world, clean", &tips, |id| clean.world(id));
    each(&mut group, "world, dirty elsewhere, depth 10", &tips, |id| elsewhere.world(id));
    each(&mut group, "world, dirty from the root, depth 10", &tips, |id| dirty.world(id));
    each(&mut group, "world_position, clean", &tips, |id| clean.world_position(id));
    each(&mut group, "world_rotation, clean", &tips, |id| clean.world_rotation(id));
    each(&mut group, "world_forward, clean", &tips, |id| clean.world_forward(id));
    each(&mut group, "world_inverse, clean", &tips, |id| clean.world_inverse(id));
    each(&mut group, "local_to_world_point, clean", &tips, |id| clean.local_to_world_point(id, Vec3::ONE));
    each(&mut group, "world_to_local_point, clean", &tips, |id| clean.world_to_local_point(id, Vec3::ONE));
    each(&mut group, "transform_between chains, depth 10", &tips, |id| clean.transform_between(id, tips[0]));
    let worlds = clean.worlds().unwrap();
    each(&mut group, "Worlds::get", &tips, |id| worlds.get(id).unwrap());
    group.finish();
}

/// Setters mark and convert; the cost of the update that follows is that of propagation.
fn setters(c: &mut Criterion) {
    let mut group = c.benchmark_group("set");
    group.throughput(Throughput::Elements(INPUTS as u64));
    let (mut h, _, tips) = chains(Random::stretched);
    let values = inputs(Random::stretched);
    let inputs: Vec<(NodeId, Transform)> = tips.iter().copied().zip(values).collect();
    each(&mut group, "set_local", &inputs, |(id, t)| h.set_local(id, t));
    each(&mut group, "set_position", &inputs, |(id, t)| h.set_position(id, t.position));
    each(&mut group, "set_rotation", &inputs, |(id, t)| h.set_rotation(id, t.rotation));
    each(&mut group, "set_scale", &inputs, |(id, t)| h.set_scale(id, t.scale));
    each(&mut group, "set_local_matrix", &inputs, |(id, t)| h.set_local_matrix(id, t.to_affine()));
    let small = Quat::from_rotation_y(0.01);
    each(&mut group, "rotate, local", &inputs, |(id, _)| h.rotate(id, small, Space::Local));
    each(&mut group, "translate, local", &inputs, |(id, _)| h.translate(id, Vec3::ZERO, Space::Local));

    // In world space each door takes the parent's chain in float64.
    for (parents, pose) in [("rigid", Random::rigid as fn(&mut Random) -> Transform), ("stretched", Random::stretched)]
    {
        let (mut h, _, _) = chains(pose);
        let mut case = |name: &str, run: fn(&mut Hierarchy, NodeId, Transform)| {
            each(&mut group, &format!("{name}, depth 10, {parents} parents"), &inputs, |(id, t)| run(&mut h, id, t));
        };
        case("set_world_position", |h, id, t| h.set_world_position(id, t.position).unwrap());
        case("set_world_rotation", |h, id, t| h.set_world_rotation(id, t.rotation).unwrap());
        case("set_world_scale", |h, id, t| h.set_world_scale(id, t.scale).unwrap());
        case("look_at", |h, id, t| h.look_at(id, 1000.0 * t.position, Vec3::Y).unwrap());
        case("rotate, world", |h, id, _| h.rotate(id, Quat::from_rotation_y(0.01), Space::World).unwrap());
        case("set_world_transform", |h, id, t| h.set_world_transform(id, t).unwrap());
    }
    group.finish();
}

fn skin(c: &mut Criterion) {
    let mut group = c.benchmark_group("skin");
    group.throughput(Throughput::Elements(JOINTS as u64));
    let mut random = Random::new(5);
    let mut h = Hierarchy::new();
    // Limbs: a joint hangs under one of the few before it.
    let parents: Vec<_> =
        (0..JOINTS).map(|joint| (joint > 0).then(|| joint - 1 - random.below(joint.min(3)))).collect();
    let locals: Vec<_> = (0..JOINTS).map(|_| random.rigid()).collect();
    let joints = h.extend(None, &parents, &locals).unwrap();
    let inverse_binds: Vec<_> = joints.iter().map(|&joint| h.world_inverse(joint).unwrap()).collect();
    let mut out = [Mat4::ZERO; JOINTS];

    h.update();
    group.bench_function("write_joint_matrices, 68 joints, clean", |b| {
        b.iter(|| {
            h.write_joint_matrices(black_box(&joints), &inverse_binds, &mut out).unwrap();
            black_box(&mut out);
        });
    });
    // A frame of animation: every joint is set, worlds are brought up to date, the palette is written.
    let poses: Vec<_> = (0..JOINTS).map(|_| random.rotation()).collect();
    group.bench_function("pose, update and write_joint_matrices, 68 joints", |b| {
        b.iter(|| {
            for (&joint, &pose) in joints.iter().zip(&poses) {
                h.set_rotation(joint, pose).unwrap();
            }
            h.update();
            h.write_joint_matrices(black_box(&joints), &inverse_binds, &mut out).unwrap();
            black_box(&mut out);
        });
    });
    group.bench_function("pose and write_joint_matrices, 68 joints, no update", |b| {
        b.iter(|| {
            for (&joint, &pose) in joints.iter().zip(&poses) {
                h.set_rotation(joint, pose).unwrap();
            }
            h.write_joint_matrices(black_box(&joints), &inverse_binds, &mut out).unwrap();
            black_box(&mut out);
        });
    });
    group.finish();
}

// Written out: what `criterion_group!` makes is public and has no documentation, which this crate refuses.
fn main() {
    let quick = Criterion::default().warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    let mut criterion = quick.configure_from_args();
    for run in [values, getters, setters, skin] {
        run(&mut criterion);
    }
    criterion.final_summary();
}
