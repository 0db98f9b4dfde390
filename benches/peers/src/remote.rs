//! A session in a child process, for Bevy as it cannot be had in this one: its task pool is global, and
//! so is the choice between its parallel and its serial systems.
//!
//! The child works only while it is its turn; its idle pool sleeps. So turns alternate as they do within
//! a process.

use crate::peers::{Kind, Threads, init_pool};
use crate::session::{Session, Turn};
use crate::workloads::Workload;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub struct Remote {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
    pub name: String,
}

impl Remote {
    /// Starts `program`, a build of this one, and waits until it has built the peer.
    pub fn new(program: &Path, kind: Kind, workload: &Workload, quick: bool) -> std::io::Result<Self> {
        let mut child = Command::new(program)
            .args(["--serve", workload.name, if kind == Kind::BevyStatic { "static" } else { "plain" }])
            .args(quick.then_some("--quick"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (orders, answers) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        let mut remote = Self { child, orders, answers: BufReader::new(answers), name: String::new() };
        remote.name = remote.answer()?;
        Ok(remote)
    }

    fn answer(&mut self) -> std::io::Result<String> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        Ok(line.trim().to_owned())
    }

    fn ask(&mut self, order: &str) -> Vec<f64> {
        let answer = writeln!(self.orders, "{order}").and_then(|()| self.answer()).expect("the child process lives");
        answer.split(' ').map(|number| number.parse().expect("the child process answers in numbers")).collect()
    }

    pub fn turn(&mut self, frames: usize) -> Turn {
        match self.ask(&frames.to_string())[..] {
            [set, update, edit, longest] => Turn { set, update, edit, longest },
            _ => panic!("the child process answers a turn with four numbers"),
        }
    }

    pub fn worst_error(&mut self) -> f64 {
        self.ask("check")[0]
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        // It holds nothing that is worth an orderly end. Killing fails only if it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the child does: says its peer's name, then answers orders until there are no more.
pub fn serve(workload: &Workload, kind: Kind, quick: bool) -> std::io::Result<()> {
    init_pool(Threads::All);
    let mut session = Session::new(kind, workload.action, workload.scene(quick)).expect("Bevy can do everything");
    println!("{}", kind.name());
    for order in std::io::stdin().lines() {
        match order?.parse() {
            Ok(frames) => {
                let turn = session.turn(frames);
                println!("{} {} {} {}", turn.set, turn.update, turn.edit, turn.longest);
            }
            Err(_) => println!("{}", session.worst_error().unwrap_or(f64::INFINITY)),
        }
    }
    Ok(())
}
