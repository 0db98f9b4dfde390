//! Measures posetree against other transform hierarchies and prints Markdown tables. `--help` tells the options.
//!
//! On each workload all peers are built, then take turns, A B C A B C …, nine times. A figure is the median of
//! turns, each the mean of its frames but for a first one that is not counted. Where edits leave something
//! behind to be repaired in some later frame (posetree re-sorts its rows now and then), it is the mean of all
//! frames; those are so many that posetree re-sorts twice at least, if ever. Other peers do as many, or what
//! their turn has time for: none of them puts anything off.
//!
//! In the end every world of every peer is compared with float64. If one is off by more than 1e-4, see
//! `agreement` of what, the program exits with 1.
//!
//! - `set` writes the local values of the nodes that move: positions, in `set_whole` and `set_bulk` whole
//!   values. `update` makes the worlds right, `edit` changes the tree. The time of an edit includes the update
//!   that follows; not so for `lazy_read`, whose edit is a set and a read, and for `children_first`, whose edit
//!   is the first update after loading.
//! - A ratio is a peer's time over posetree's; `total` is set, edit and update.
//! - `bevy_1t` has a task pool of one thread, beside the thread that waits for it; `bevy_mt` one of all
//!   cores, in a child process that takes its turns too. `_static` is with Bevy's static scene
//!   optimisation. Bevy compiled without its `multi_threaded` feature has other, serial systems: see
//!   `--serial-bevy`.
//! - `fyrox` is there with the feature `fyrox` (`--features fyrox` before the `--`): its scene graph comes only
//!   with the whole engine, which needs the headers of a sound library of the system (ALSA) to build at all.
//! - `floor` streams the bytes that an update of the affected nodes must read and write; `bare_product`
//!   multiplies them. Both are told which nodes those are. Their set is the plain loop that writes the same.
//! - `--ways` compares ways to keep local values instead of peers, on the workloads that only move nodes: as
//!   matrices made when a value is set (what posetree does), made at the next update, or not at all; with
//!   positions and with whole values set.

mod agreement;
mod arguments;
mod machine;
mod peers;
mod random;
mod remote;
mod report;
mod seats;
mod session;
mod shapes;
mod summary;
mod workloads;

use agreement::TOLERANCE;
use arguments::{Arguments, USAGE};
use peers::{Kind, Threads, init_pool};
use report::{Figures, Outcome, Times};
use seats::Seat;
use session::{Order, Session};
use std::process::ExitCode;
use workloads::{Action, Scene, WORKLOADS, Workload, affected};

const ROUNDS: usize = 9;

/// Enough frames that the clock's grain does not matter, and that what edits put off until later comes due
/// twice in [`ROUNDS`] turns.
fn frames(action: Action, nodes: usize, quick: bool) -> usize {
    let thorough = match action {
        Action::Move => (400_000 / nodes).clamp(2, 100),
        Action::MoveBatch(_) => 16,
        Action::SetWhole | Action::SetBulk => (200_000 / nodes).clamp(2, 20),
        // These are not less in a quick run: a re-sort is due after as many edits, when a few nodes in a hundred
        // have got another parent. In all turns it is 18 in a hundred.
        Action::Reparent(count) => return nodes / 50 / count + 1,
        Action::Churn => return 200,
        // When holes outnumber nodes: after 100 frames.
        Action::SpawnDespawn(_) => return 28,
        Action::Build | Action::BuildChildrenFirst => 1,
        Action::Read(_) => 3,
    };
    if quick { (thorough / 8).max(1) } else { thorough }
}

/// How long the turn of a peer may take, where it puts nothing off and some frames are as good as many.
const fn milliseconds(quick: bool) -> u64 {
    if quick { 20 } else { 250 }
}

fn run(workload: &'static Workload, arguments: &Arguments) -> Result<Outcome, String> {
    let action = workload.action;
    let mut seats = seats::seats(workload, arguments)?;
    let scene = workload.scene(arguments.quick);
    let frames = frames(action, scene.parents.len(), arguments.quick);
    let mut turns = vec![Vec::new(); seats.len()];
    for _ in 0..ROUNDS {
        for (index, (seat, turns)) in seats.iter_mut().zip(&mut turns).enumerate() {
            let is_limited = index > 0 && action.is_amortised();
            let milliseconds = if is_limited { milliseconds(arguments.quick) } else { u64::MAX };
            turns.extend(seat.turn(Order { frames, milliseconds })?);
        }
    }
    if let Some(name) = &arguments.spoil {
        let seat = seats.iter_mut().find(|seat| seat.name() == *name);
        if !seat.is_some_and(Seat::spoil) {
            return Err(format!("there is no {name} here whose worlds are checked"));
        }
    }
    for seat in &mut seats {
        if seat.worst_error()?.is_some_and(|error| error > TOLERANCE) {
            return Err(format!("{}: the worlds of {} are wrong", workload.name, seat.name()));
        }
    }
    let figures = seats
        .iter()
        .zip(&turns)
        .map(|(seat, turns)| Figures {
            name: seat.name(),
            times: (!turns.is_empty()).then(|| Times::of(turns, action)),
        })
        .collect();
    let (dirty, edits) = action.counts(&scene);
    Ok(Outcome {
        workload: workload.name,
        action,
        is_shape: workload.is_shape(),
        nodes: scene.parents.len(),
        dirty,
        affected: (edits == 0).then(|| affected(&scene.parents, action.first_movers(&scene.movers))),
        edits,
        figures,
        all_dirty: if edits > 0 { all_dirty(scene) } else { None },
    })
}

/// How long an update of posetree takes with all of a scene dirty.
fn all_dirty(scene: Scene) -> Option<f64> {
    let scene = Scene { children_first: false, movers: scene.roots().collect(), ..scene };
    let mut session = Session::new(Kind::Posetree, Action::Move, scene)?;
    Some(session.turn(Order { frames: 5, milliseconds: u64::MAX }).update)
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
    println!("{}\n", machine::description());
    if !arguments.ways && cfg!(not(feature = "fyrox")) {
        println!("Fyrox is left out: it needs the system's sound library, and --features fyrox before the --.\n");
    }
    print!("{}", report::MARKDOWN_HEAD);
    for workload in WORKLOADS.iter().filter(is_wanted) {
        let outcome = run(workload, arguments)?;
        csv += &outcome.csv();
        print!("{}", outcome.markdown());
        outcomes.push(outcome);
    }
    print!("{}", if arguments.ways { summary::ways(&outcomes) } else { summary::summary(&outcomes) });
    match &arguments.csv {
        Some(file) => std::fs::write(file, csv).map_err(|error| format!("{}: {error}", file.display())),
        None => Ok(()),
    }
}

fn main() -> ExitCode {
    let result = Arguments::parse(std::env::args().skip(1)).and_then(|arguments| match &arguments.serve {
        _ if arguments.help => {
            print!("{USAGE}");
            Ok(())
        }
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
