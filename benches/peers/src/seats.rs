//! Who takes turns on a workload.

use crate::arguments::Arguments;
use crate::peers::Kind;
use crate::remote::Remote;
use crate::session::{Order, Session, Turn};
use crate::workloads::Workload;
use bevy_tasks::available_parallelism;
use std::io;

pub enum Seat {
    /// Without a session if the peer cannot do what is asked for.
    Here(Kind, Option<Box<Session>>),
    There(Remote),
}

impl Seat {
    pub fn name(&self) -> String {
        match self {
            Self::Here(kind, _) => kind.name(),
            Self::There(remote) => remote.name.clone(),
        }
    }

    pub fn turn(&mut self, order: Order) -> Result<Option<Turn>, String> {
        match self {
            Self::Here(_, session) => Ok(session.as_mut().map(|session| session.turn(order))),
            Self::There(remote) => remote.turn(order).map(Some).map_err(|error| failed(&remote.name, &error)),
        }
    }

    /// None where worlds mean nothing.
    pub fn worst_error(&mut self) -> Result<Option<f64>, String> {
        match self {
            Self::Here(_, session) => Ok(session.as_mut().and_then(|session| session.worst_error())),
            Self::There(remote) => remote.worst_error().map(Some).map_err(|error| failed(&remote.name, &error)),
        }
    }

    /// False where that would not show.
    pub fn spoil(&mut self) -> bool {
        match self {
            Self::Here(_, Some(session)) => session.spoil(),
            _ => false,
        }
    }
}

fn failed(name: &str, error: &io::Error) -> String {
    format!("the child process for {name} failed: {error}")
}

/// Posetree first.
pub fn seats(workload: &Workload, arguments: &Arguments) -> Result<Vec<Seat>, String> {
    let here = std::env::current_exe().map_err(|error| format!("this program has no path: {error}"))?;
    let has_more_threads = cfg!(feature = "bevy_parallel") && available_parallelism() > 1 && !workload.is_long();
    let mut seats = Vec::new();
    let ways = [Kind::Posetree].into_iter().chain(Kind::WAYS);
    let kinds: Vec<Kind> = if arguments.ways { ways.collect() } else { Kind::ALL.to_vec() };
    for kind in kinds {
        let session = Session::new(kind, workload.action, workload.scene(arguments.quick));
        seats.push(Seat::Here(kind, session.map(Box::new)));
        if matches!(kind, Kind::BevyStatic | Kind::Bevy) {
            for program in has_more_threads.then_some(&here).into_iter().chain(&arguments.serial_bevy) {
                let remote = Remote::new(program, kind, workload, arguments.quick);
                seats.push(Seat::There(remote.map_err(|error| failed(&program.display().to_string(), &error))?));
            }
        }
    }
    Ok(seats)
}
