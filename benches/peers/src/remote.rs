//! A session in a child process, for Bevy as it cannot be had in this one: its task pool is global, and
//! so is the choice between its parallel and its serial systems.
//!
//! The child works only while it is its turn; its idle pool sleeps. So turns alternate as they do within
//! a process.

use crate::peers::{Kind, Threads, init_pool};
use crate::session::{Order, Session, Turn};
use crate::workloads::Workload;
use std::io::{self, BufRead, BufReader, Write};
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
    pub fn new(program: &Path, kind: Kind, workload: &Workload, quick: bool) -> io::Result<Self> {
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

    fn answer(&mut self) -> io::Result<String> {
        let mut line = String::new();
        match self.answers.read_line(&mut line)? {
            0 => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it has ended")),
            _ => Ok(line.trim().to_owned()),
        }
    }

    fn ask(&mut self, order: &str) -> io::Result<Vec<f64>> {
        writeln!(self.orders, "{order}")?;
        let answer = self.answer()?;
        let numbers: Result<Vec<f64>, _> = answer.split(' ').map(str::parse).collect();
        numbers.map_err(|_| unexpected(&answer))
    }

    pub fn turn(&mut self, order: Order) -> io::Result<Turn> {
        match self.ask(&format!("{} {}", order.frames, order.milliseconds))?[..] {
            [frames, set, update, edit, longest_update, longest_frame, sorts] => {
                let (frames, sorts) = (frames as usize, sorts as usize);
                Ok(Turn { frames, set, update, edit, longest_update, longest_frame, sorts })
            }
            ref numbers => Err(unexpected(&format!("{numbers:?}"))),
        }
    }

    pub fn worst_error(&mut self) -> io::Result<f64> {
        Ok(self.ask("check")?[0])
    }
}

fn unexpected(answer: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("unexpected answer: {answer}"))
}

impl Drop for Remote {
    fn drop(&mut self) {
        // It holds nothing that is worth an orderly end. Killing fails only if it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the child does: says its peer's name, then answers orders until there are no more.
pub fn serve(workload: &Workload, kind: Kind, quick: bool) -> io::Result<()> {
    init_pool(Threads::All);
    let mut session = Session::new(kind, workload.action, workload.scene(quick)).expect("Bevy can do everything");
    println!("{}", kind.name());
    for line in io::stdin().lines() {
        let line = line?;
        let order = line.split_once(' ').and_then(|(frames, milliseconds)| {
            Some(Order { frames: frames.parse().ok()?, milliseconds: milliseconds.parse().ok()? })
        });
        match order {
            Some(order) => {
                let Turn { frames, set, update, edit, longest_update, longest_frame, sorts } = session.turn(order);
                println!("{frames} {set} {update} {edit} {longest_update} {longest_frame} {sorts}");
            }
            None => println!("{}", session.worst_error().unwrap_or(f64::INFINITY)),
        }
    }
    Ok(())
}
