//! Measures posetree against other transform hierarchies and prints a Markdown table.
//!
//! ```text
//! cargo run --release --manifest-path benches/peers/Cargo.toml -- [--quick] [--csv FILE]
//!     [--only WORKLOAD[,WORKLOAD]] [--serial-bevy PROGRAM] [--ways]
//! ```
//!
//! On each workload all peers are built, then take turns, A B C A B C …, at least nine times; figures are
//! medians of turns, whose first frame is not counted. Each peer's worlds are compared with float64 in the
//! end; if one is off by more than 1e-4 of its matrix's largest element, the program exits with 1.
//!
//! - `set` writes the local values of the nodes that move, `update` makes the worlds right, `edit` changes
//!   the tree. The time of an edit includes the update that follows; not so for `lazy_read`, whose edit is a
//!   set and a read, and for `children_first`, whose edit is the first update after loading.
//! - A ratio is a peer's time over posetree's; `total` is set, edit and update.
//! - `bevy_1t` has a task pool of one thread, beside the thread that waits for it; `bevy_mt` one of all
//!   cores, in a child process that takes its turns too. `_static` is with Bevy's static scene
//!   optimisation. Bevy compiled without its `multi_threaded` feature has other, serial systems. To have
//!   them in the table too, build this program a second time, with `--no-default-features` and another
//!   `--target-dir`, and name the result with `--serial-bevy`.
//! - `floor` streams the bytes that an update of the affected nodes must read and write; `bare_product`
//!   multiplies them. Both are told which nodes those are. Their set is the plain loop that converts and
//!   writes.
//!
//! - `--ways` compares ways to keep local values instead of peers, on the workloads that only move nodes: as
//!   matrices made when a value is set (what posetree does), made at the next update, or not at all; with
//!   positions and with whole values set.
//!
//! Fyrox is missing: its scene graph comes only with the whole engine, which needs the headers of a sound
//! library of the system (ALSA) to build at all, and it cannot be had without.

mod peers;
mod random;
mod remote;
mod report;
mod session;
mod shapes;
mod workloads;

use bevy_tasks::available_parallelism;
use peers::{Kind, Threads, init_pool};
use remote::Remote;
use report::{Figures, Medians, Outcome};
use session::{Session, Turn};
use std::path::PathBuf;
use std::process::ExitCode;
use workloads::{Action, WORKLOADS, Workload, affected};

const TOLERANCE: f64 = 1e-4;
const ROUNDS: usize = 9;

#[derive(Default)]
struct Arguments {
    quick: bool,
    csv: Option<PathBuf>,
    only: Option<Vec<String>>,
    serial_bevy: Option<PathBuf>,
    /// Ways to keep local values instead of peers.
    ways: bool,
    /// Of a child process: workload and peer.
    serve: Option<(String, Kind)>,
}

impl Arguments {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut parsed = Self::default();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            match &argument[..] {
                "--quick" => parsed.quick = true,
                "--ways" => parsed.ways = true,
                "--csv" => parsed.csv = Some(value()?.into()),
                "--only" => parsed.only = Some(value()?.split(',').map(str::to_owned).collect()),
                "--serial-bevy" => parsed.serial_bevy = Some(value()?.into()),
                "--serve" => {
                    let workload = value()?;
                    let kind = if value()? == "static" { Kind::BevyStatic } else { Kind::Bevy };
                    parsed.serve = Some((workload, kind));
                }
                _ => return Err(format!("unknown argument {argument}")),
            }
        }
        let names = parsed.only.iter().flatten().chain(parsed.serve.as_ref().map(|(name, _)| name));
        let known: Vec<&str> = WORKLOADS.iter().map(|workload| workload.name).collect();
        match names.into_iter().find(|name| !known.contains(&&name[..])) {
            Some(name) => Err(format!("no workload {name}; there are {}", known.join(", "))),
            None => Ok(parsed),
        }
    }
}

/// Who takes turns.
enum Seat {
    Here(Kind, Option<Box<Session>>),
    There(Remote),
}

impl Seat {
    fn name(&self) -> String {
        match self {
            Self::Here(kind, _) => kind.name(),
            Self::There(remote) => remote.name.clone(),
        }
    }

    fn turn(&mut self, frames: usize) -> Option<Turn> {
        match self {
            Self::Here(_, session) => session.as_mut().map(|session| session.turn(frames)),
            Self::There(remote) => Some(remote.turn(frames)),
        }
    }

    fn worst_error(&mut self) -> Option<f64> {
        match self {
            Self::Here(_, session) => session.as_mut().and_then(|session| session.worst_error()),
            Self::There(remote) => Some(remote.worst_error()),
        }
    }
}

fn seats(workload: &Workload, arguments: &Arguments) -> std::io::Result<Vec<Seat>> {
    let mut seats = Vec::new();
    let ways = [Kind::Posetree].into_iter().chain(Kind::WAYS);
    let kinds: Vec<Kind> = if arguments.ways { ways.collect() } else { Kind::ALL.into() };
    for kind in kinds {
        let session = Session::new(kind, workload.action, workload.scene(arguments.quick));
        seats.push(Seat::Here(kind, session.map(Box::new)));
        if matches!(kind, Kind::BevyStatic | Kind::Bevy) {
            let here = std::env::current_exe()?;
            let has_more_threads = cfg!(feature = "bevy_parallel") && available_parallelism() > 1;
            let programs = has_more_threads.then_some(&here).into_iter().chain(&arguments.serial_bevy);
            for program in programs {
                seats.push(Seat::There(Remote::new(program, kind, workload, arguments.quick)?));
            }
        }
    }
    Ok(seats)
}

/// Enough frames that the clock's grain does not matter, and that what edits put off until later comes due.
fn frames(action: Action, nodes: usize, quick: bool) -> usize {
    let thorough = match action {
        Action::Move => (400_000 / nodes).clamp(2, 100),
        Action::MoveBatch(_) => 8,
        Action::Churn => 20,
        Action::Reparent(1) => (3_000_000 / nodes).clamp(1, 15),
        Action::Reparent(_) => (1_200_000 / nodes).clamp(2, 6),
        Action::SpawnDespawn(_) => 23, // 9 rounds of it make 200 frames and some
        Action::Build | Action::BuildChildrenFirst => 1,
        Action::Read(_) => 3,
    };
    if quick { (thorough / 8).max(1) } else { thorough }
}

fn run(workload: &'static Workload, arguments: &Arguments) -> Result<Outcome, String> {
    let mut seats = seats(workload, arguments).map_err(|error| format!("no child process: {error}"))?;
    let mut scene = workload.scene(arguments.quick);
    let nodes = scene.parents.len();
    let frames = frames(workload.action, nodes, arguments.quick);
    let mut turns = vec![Vec::new(); seats.len()];
    for _ in 0..ROUNDS {
        for (seat, turns) in seats.iter_mut().zip(&mut turns) {
            turns.extend(seat.turn(frames));
        }
    }
    for seat in &mut seats {
        if seat.worst_error().is_some_and(|error| error > TOLERANCE) {
            return Err(format!("{}: the worlds of {} are wrong", workload.name, seat.name()));
        }
    }
    let (dirty, edits) = match workload.action {
        Action::Move => (scene.movers.len(), 0),
        Action::MoveBatch(count) => (count, 0),
        Action::Reparent(count) | Action::Read(count) => (count, count),
        Action::Churn => (scene.movers.len(), scene.movers.len()),
        Action::SpawnDespawn(count) => (2 * count, 2 * count),
        Action::Build => (nodes, nodes),
        Action::BuildChildrenFirst => (1, 1),
    };
    let affected = match workload.action {
        Action::Move => Some(affected(&scene.parents, &scene.movers)),
        Action::MoveBatch(count) => Some(affected(&scene.parents, &scene.movers[..count])),
        _ => None,
    };
    let figures = seats
        .iter()
        .zip(&turns)
        .map(|(seat, turns)| Figures { name: seat.name(), medians: (!turns.is_empty()).then(|| Medians::of(turns)) });
    let figures = figures.collect();
    drop(seats);
    let all_dirty = (edits > 0).then(|| {
        scene.children_first = false;
        scene.movers = (0..nodes as u32).filter(|&node| scene.parents[node as usize] == shapes::NONE).collect();
        Session::new(Kind::Posetree, Action::Move, scene).map(|mut session| session.turn(5).update)
    });
    Ok(Outcome {
        workload: workload.name,
        is_shape: workload.is_shape(),
        nodes,
        dirty,
        affected,
        edits,
        edit_includes_update: workload.action.edit_includes_update(),
        figures,
        all_dirty: all_dirty.flatten(),
    })
}

fn run_all(arguments: &Arguments) -> Result<(), String> {
    init_pool(Threads::One);
    let is_wanted = |workload: &&Workload| match &arguments.only {
        Some(only) => only.iter().any(|name| name == workload.name),
        None if arguments.ways && workload.action.needs().is_some() => false,
        None => !arguments.quick || workload.is_quick(),
    };
    let mut csv = String::from(report::CSV_HEAD);
    let mut outcomes = Vec::new();
    if !arguments.ways {
        println!("Fyrox is left out: it does not build without the system's sound library.\n");
    }
    print!("{}", report::MARKDOWN_HEAD);
    for workload in WORKLOADS.iter().filter(is_wanted) {
        let outcome = run(workload, arguments)?;
        csv += &outcome.csv();
        print!("{}", outcome.markdown());
        outcomes.push(outcome);
    }
    println!("\n{}", if arguments.ways { report::ways(&outcomes) } else { report::summary(&outcomes) });
    match &arguments.csv {
        Some(file) => std::fs::write(file, csv).map_err(|error| format!("{}: {error}", file.display())),
        None => Ok(()),
    }
}

fn main() -> ExitCode {
    let result = Arguments::parse(std::env::args().skip(1)).and_then(|arguments| match &arguments.serve {
        Some((name, kind)) => {
            let workload = WORKLOADS.iter().find(|workload| workload.name == name).expect("checked by `parse`");
            remote::serve(workload, *kind, arguments.quick).map_err(|error| error.to_string())
        }
        None => run_all(&arguments),
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
