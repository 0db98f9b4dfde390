//! How many times faster `update_parallel` is than `update`, everything dirty or every other character of a crowd: both
//! in turn on one hierarchy, as one frame comes after the other, medians, the same rows. Once with a pool that has had
//! nothing to do for a while, so that its threads have to be woken, and once with one that has just been used, as by
//! what set the local poses: its threads look for work for a while, which slows down whatever runs beside them, `update`
//! too. Beside them the time in which the threads of such a pool only stream the bytes of all rows that an update must
//! read and write; up to 100 000 nodes an update finds more of them in a cache than that does.
//!
//! `cargo bench --features rayon --bench parallel`

mod support;

use posetree::{Error, Hierarchy};
use std::time::{Duration, Instant};
use support::floor::Floor;
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
    println!(
        "| tree | moving | asleep: update | update_parallel | ratio | awake: update | update_parallel | ratio | streamed \
         | ratio |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    let rounds = if measure { 41 } else { 1 };
    shapes.iter().try_for_each(|shape| compare(shape, rounds, 1))?;
    compare(&humanoids(if measure { 4_000 } else { 2 }), rounds, 2)
}

/// Of so many roots one moves, with all below it.
fn compare(shape: &Shape, rounds: usize, roots: usize) -> Result<(), Error> {
    let mut h = Hierarchy::new();
    let ids = h.extend(None, &shape.parents, &shape.locals[0])?;
    let mut root = 0;
    let moves = shape.parents.iter().map(|parent| {
        root += usize::from(parent.is_none());
        root % roots == 0
    });
    let movers: Vec<usize> = (0..).zip(moves).filter(|&(_, moves)| moves).map(|(node, _)| node).collect();
    let rows = [0, 1].map(|pose| {
        movers.iter().for_each(|&node| h.set_local(ids[node], shape.locals[pose][node]).expect("a node"));
        h.update().rows().to_vec()
    });
    let mut floor = Floor::new(&mut h)?;
    let mut times = WAYS.map(|_| Vec::new());
    for round in 0..rounds {
        for (way, times) in times.iter_mut().enumerate() {
            let pose = (round + way) % 2;
            for &node in &movers {
                h.set_local(ids[node], shape.locals[pose][node])?;
            }
            let (is_awake, work) = WAYS[way];
            if is_awake {
                rayon::broadcast(|_| ());
            }
            times.push(match work {
                Work::Update => timed(|| h.update().version()),
                Work::Parallel => timed(|| h.update_parallel().version()),
                Work::Stream => timed(|| stream(&mut floor)),
            });
            assert!(h.update().rows() == rows[pose], "{}: other rows", shape.name);
        }
    }
    let times = times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    });
    print!("| {} | {} of {} |", shape.name, movers.len(), ids.len());
    let mut update = Duration::ZERO;
    for ((_, work), time) in WAYS.into_iter().zip(times) {
        print!(" {time:.1?} |");
        match work {
            Work::Update => update = time,
            _ => print!(" {:.2} |", update.as_secs_f64() / time.as_secs_f64()),
        }
    }
    println!();
    Ok(())
}

#[derive(Clone, Copy)]
enum Work {
    Update,
    Parallel,
    Stream,
}

/// Whether the pool is awake, and what is done. Ratios are to the last `Update` before.
const WAYS: [(bool, Work); 5] = [
    (false, Work::Update),
    (false, Work::Parallel),
    (true, Work::Update),
    (true, Work::Parallel),
    (true, Work::Stream),
];

/// This thread takes a part too, as in an update.
fn stream(floor: &mut Floor) {
    let mut copies = floor.copies(rayon::current_num_threads());
    let first = copies.next();
    rayon::in_place_scope(|scope| {
        copies.for_each(|copy| scope.spawn(|_| copy()));
        first.into_iter().for_each(|copy| copy());
    });
}

fn timed<R>(work: impl FnOnce() -> R) -> Duration {
    let start = Instant::now();
    std::hint::black_box(work());
    start.elapsed()
}
