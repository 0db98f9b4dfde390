//! Instructions that the main paths take, counted by callgrind: the same on every run of the same build,
//! whatever else the machine does, so that a regression shows where times are too noisy to tell.
//!
//! `cargo bench --bench instructions` prints a table, with by how much each path is off what it took when it was last
//! looked at, and warns where that is more than two in a hundred. It needs valgrind and says so where there is none.
//! Counts say nothing about caches: `ratios` measures those.
//!
//! What is expected was counted with rustc 1.95 on x86-64. Where a change is meant to cost or save something, or
//! another compiler counts otherwise, the table below goes with it.

mod support;

use posetree::{Error, Hierarchy, Keep, NodeId, Transform, Version};
use std::process::{Command, ExitCode};
use support::shapes::{Rng, Shape, random};

const NODES: usize = 10_000;
/// How often a path is taken where one operation is short.
const TIMES: usize = 1_000;

/// What is off by more, in a hundred, is worth a look.
const TOLERANCE: f64 = 2.0;

/// A path, and how many operations a run of it is.
struct Path {
    name: &'static str,
    operation: &'static str,
    operations: usize,
    /// Instructions an operation.
    expected: f64,
    run: fn(&Shape) -> Result<(), Error>,
}

const PATHS: &[Path] = &[
    Path { name: "update, all dirty", operation: "node", operations: NODES, expected: 59.4, run: update_all },
    Path {
        name: "update, every tenth node set",
        operation: "node set",
        operations: NODES / 10,
        expected: 185.1,
        run: update_some,
    },
    Path {
        name: "update, all dirty, previous poses on",
        operation: "node",
        operations: NODES,
        expected: 65.8,
        run: update_tracked,
    },
    Path {
        name: "changed_since, all changed",
        operation: "node",
        operations: NODES,
        expected: 25.0,
        run: read_changed,
    },
    Path {
        name: "changed_since, a leaf set",
        operation: "read",
        operations: 1,
        expected: 1705.0,
        run: read_changed_leaf,
    },
    Path {
        name: "changed_rows_since, a leaf set",
        operation: "read",
        operations: 1,
        expected: 1807.0,
        run: read_changed_rows,
    },
    Path { name: "set_local", operation: "set", operations: NODES, expected: 123.2, run: set_local },
    Path { name: "set_position", operation: "set", operations: NODES, expected: 64.2, run: set_position },
    Path { name: "set_rotation", operation: "set", operations: NODES, expected: 202.2, run: set_rotation },
    Path { name: "set_locals", operation: "set", operations: NODES, expected: 122.2, run: set_locals },
    Path {
        name: "reparent and update, Keep::Local",
        operation: "frame",
        operations: TIMES,
        expected: 2192.8,
        run: reparent_local,
    },
    Path {
        name: "reparent and update, Keep::World",
        operation: "frame",
        operations: TIMES,
        expected: 11360.8,
        run: reparent_world,
    },
    Path { name: "world, nothing dirty", operation: "read", operations: NODES, expected: 41.0, run: read_clean },
    Path { name: "world, the root dirty", operation: "read", operations: TIMES, expected: 1004.4, run: read_dirty },
    Path { name: "extend and first update", operation: "node", operations: NODES, expected: 626.7, run: extend },
    Path { name: "add_child and first update", operation: "node", operations: NODES, expected: 1075.5, run: add_child },
    Path {
        name: "remove_subtree and extend, eight nodes",
        operation: "frame",
        operations: TIMES,
        expected: 11001.3,
        run: respawn,
    },
];

/// What callgrind counts. Its name is how it knows.
#[inline(never)]
fn counted<T>(work: impl FnOnce() -> T) -> T {
    std::hint::black_box(work())
}

fn updated(shape: &Shape) -> Result<(Hierarchy, Vec<NodeId>), Error> {
    let mut hierarchy = Hierarchy::new();
    let ids = hierarchy.extend(None, &shape.parents, &shape.locals[0])?;
    hierarchy.update();
    Ok((hierarchy, ids))
}

fn update_all(shape: &Shape) -> Result<(), Error> {
    let (mut hierarchy, ids) = updated(shape)?;
    hierarchy.set_local(ids[0], shape.locals[1][0])?;
    counted(|| hierarchy.update().rows().len());
    Ok(())
}

fn update_some(shape: &Shape) -> Result<(), Error> {
    let (mut hierarchy, ids) = updated(shape)?;
    for (&id, &local) in ids.iter().zip(&shape.locals[1]).skip(NODES / 2).step_by(5) {
        hierarchy.set_local(id, local)?;
    }
    counted(|| hierarchy.update().rows().len());
    Ok(())
}

fn update_tracked(shape: &Shape) -> Result<(), Error> {
    let (mut hierarchy, ids) = updated(shape)?;
    hierarchy.track_previous(true);
    for frame in 0..2 {
        hierarchy.set_local(ids[0], shape.locals[frame][0])?;
        hierarchy.update();
    }
    hierarchy.set_local(ids[0], shape.locals[0][0])?;
    counted(|| hierarchy.update().rows().len());
    Ok(())
}

fn read_changed(shape: &Shape) -> Result<(), Error> {
    let (mut hierarchy, _) = updated(shape)?;
    let worlds = hierarchy.update();
    counted(|| worlds.changed_since(Version::default()).count());
    Ok(())
}

fn read_changed_leaf(shape: &Shape) -> Result<(), Error> {
    let (mut hierarchy, ids) = updated(shape)?;
    let seen = hierarchy.update().version();
    hierarchy.set_local(ids[NODES - 1], shape.locals[1][0])?;
    let worlds = hierarchy.update();
    counted(|| worlds.changed_since(seen).count());
    Ok(())
}

fn read_changed_rows(shape: &Shape) -> Result<(), Error> {
    let (mut hierarchy, ids) = updated(shape)?;
    let seen = hierarchy.update().version();
    hierarchy.set_local(ids[NODES - 1], shape.locals[1][0])?;
    let worlds = hierarchy.update();
    counted(|| worlds.changed_rows_since(seen).count());
    Ok(())
}

fn set_local(shape: &Shape) -> Result<(), Error> {
    let (mut hierarchy, ids) = updated(shape)?;
    counted(|| ids.iter().zip(&shape.locals[1]).try_for_each(|(&id, &local)| hierarchy.set_local(id, local)))?;
    Ok(())
}

fn set_position(shape: &Shape) -> Result<(), Error> {
    let (mut hierarchy, ids) = updated(shape)?;
    let mut positions = ids.iter().zip(&shape.locals[1]);
    counted(|| positions.try_for_each(|(&id, local)| hierarchy.set_position(id, local.position)))?;
    Ok(())
}

fn set_rotation(shape: &Shape) -> Result<(), Error> {
    let (mut hierarchy, ids) = updated(shape)?;
    let mut rotations = ids.iter().zip(&shape.locals[1]);
    counted(|| rotations.try_for_each(|(&id, local)| hierarchy.set_rotation(id, local.rotation)))?;
    Ok(())
}

fn set_locals(shape: &Shape) -> Result<(), Error> {
    let (mut hierarchy, ids) = updated(shape)?;
    let values: Vec<(NodeId, Transform)> = ids.iter().copied().zip(shape.locals[1].iter().copied()).collect();
    counted(|| hierarchy.set_locals(&values))?;
    Ok(())
}

fn reparent_local(shape: &Shape) -> Result<(), Error> {
    reparent(shape, Keep::Local)
}

fn reparent_world(shape: &Shape) -> Result<(), Error> {
    reparent(shape, Keep::World)
}

fn reparent(shape: &Shape, keep: Keep) -> Result<(), Error> {
    let (mut hierarchy, ids) = updated(shape)?;
    let mut rng = Rng::new(1);
    let mut moves = Vec::new();
    while moves.len() < TIMES {
        // A node of the second half goes under one of the first, which nothing can make a cycle.
        moves.push((ids[NODES / 2 + rng.index(NODES / 2)], ids[rng.index(NODES / 2)]));
    }
    counted(|| {
        moves.iter().try_for_each(|&(id, parent)| {
            hierarchy.reparent(id, parent, keep)?;
            hierarchy.update();
            Ok::<(), Error>(())
        })
    })
}

fn read_clean(shape: &Shape) -> Result<(), Error> {
    let (hierarchy, ids) = updated(shape)?;
    counted(|| ids.iter().try_for_each(|&id| hierarchy.world(id).map(|world| _ = std::hint::black_box(world))))?;
    Ok(())
}

fn read_dirty(shape: &Shape) -> Result<(), Error> {
    let (mut hierarchy, ids) = updated(shape)?;
    hierarchy.set_local(ids[0], shape.locals[1][0])?;
    let mut last = ids[NODES - TIMES..].iter();
    counted(|| last.try_for_each(|&id| hierarchy.world(id).map(|world| _ = std::hint::black_box(world))))?;
    Ok(())
}

fn extend(shape: &Shape) -> Result<(), Error> {
    let mut hierarchy = Hierarchy::new();
    counted(|| {
        hierarchy.extend(None, &shape.parents, &shape.locals[0])?;
        hierarchy.update();
        Ok::<(), Error>(())
    })
}

fn add_child(shape: &Shape) -> Result<(), Error> {
    let mut hierarchy = Hierarchy::new();
    let mut ids: Vec<NodeId> = Vec::with_capacity(NODES);
    counted(|| {
        for (parent, &local) in shape.parents.iter().zip(&shape.locals[0]) {
            ids.push(match parent {
                Some(parent) => hierarchy.add_child(ids[*parent], local)?,
                None => hierarchy.add_root(local)?,
            });
        }
        hierarchy.update();
        Ok::<(), Error>(())
    })
}

fn respawn(shape: &Shape) -> Result<(), Error> {
    let (mut hierarchy, ids) = updated(shape)?;
    let small = random("small", 8);
    let mut rng = Rng::new(2);
    let mut tops = std::collections::VecDeque::new();
    for _ in 0..100 {
        tops.push_back(hierarchy.extend(ids[rng.index(NODES)], &small.parents, &small.locals[0])?[0]);
    }
    hierarchy.update();
    let parents: Vec<NodeId> = (0..TIMES).map(|_| ids[rng.index(NODES)]).collect();
    counted(|| {
        for &parent in &parents {
            if let Some(top) = tops.pop_front() {
                hierarchy.remove_subtree(top)?;
            }
            tops.push_back(hierarchy.extend(parent, &small.parents, &small.locals[0])?[0]);
            hierarchy.update();
        }
        Ok::<(), Error>(())
    })
}

/// The instructions of one path, by running this program on it under callgrind.
fn count(index: usize) -> Result<u64, String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*counted*"])
        .arg(this)
        .arg(format!("--path={index}"))
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let log = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(log.into_owned());
    }
    let total = log.lines().filter_map(|line| line.split_once("Collected : ")).next_back();
    total.and_then(|(_, total)| total.trim().parse().ok()).ok_or_else(|| log.into_owned())
}

fn main() -> ExitCode {
    let shape = random("random", NODES);
    let path = |index: &str| index.parse::<usize>().ok().and_then(|index| PATHS.get(index));
    if let Some(path) = std::env::args().find_map(|arg| arg.strip_prefix("--path=").and_then(path)) {
        return match (path.run)(&shape) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{}: {error}", path.name);
                ExitCode::FAILURE
            }
        };
    }
    if !std::env::args().any(|arg| arg == "--bench") {
        // As a test: only whether it runs at all.
        let failed = PATHS.iter().find_map(|path| (path.run)(&shape).err());
        return failed.map_or(ExitCode::SUCCESS, |error| {
            eprintln!("{error}");
            ExitCode::FAILURE
        });
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("SKIPPED: no valgrind on this machine");
        return ExitCode::SUCCESS;
    }
    let mut off = Vec::new();
    println!("| path, {NODES} nodes | instructions | expected | off by | per |\n|---|--:|--:|--:|---|");
    for (index, path) in PATHS.iter().enumerate() {
        match count(index) {
            Ok(count) => {
                let Path { name, operation, expected, .. } = path;
                let count = count as f64 / path.operations as f64;
                let by = 100.0 * (count / expected - 1.0);
                println!("| {name} | {count:.1} | {expected:.1} | {by:+.1} % | {operation} |");
                if by.abs() > TOLERANCE {
                    off.push(format!("{name}: {by:+.1} %, {count:.1} instructions a {operation}, not {expected:.1}"));
                }
            }
            Err(error) => {
                eprintln!("{}: {error}", path.name);
                return ExitCode::FAILURE;
            }
        }
    }
    if !off.is_empty() {
        eprintln!("\nWARNING: not what is expected, by more than {TOLERANCE} %:");
        off.iter().for_each(|path| eprintln!("WARNING: {path}"));
    }
    ExitCode::SUCCESS
}
