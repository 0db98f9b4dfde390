//! The command line.

use crate::peers::Kind;
use crate::workloads::WORKLOADS;
use std::path::PathBuf;

pub const USAGE: &str = "\
Measures posetree against other transform hierarchies and prints Markdown tables.

Usage: cargo run --release --manifest-path benches/peers/Cargo.toml -- [OPTIONS]

  --quick                      smaller and fewer workloads, within a minute
  --csv FILE                   write the figures to a file, too
  --only WORKLOAD[,WORKLOAD]   only these
  --serial-bevy PROGRAM        have Bevy without its `multi_threaded` feature in the tables, too: PROGRAM is this
                               program built with `--no-default-features` and another `--target-dir`
  --ways                       compare ways to keep local values, instead of peers
  --spoil IMPL                 tell one of its worlds wrongly, to see that the check finds it
  --help                       print this

With `--features fyrox` before the `--` the engine Fyrox is in the tables, too. That needs the headers of a sound
library (Debian's libasound2-dev, and pkg-config), and takes minutes to build; a quick run takes half as long again.

Exits with 1 if something fails, in particular if not all implementations agree.
";

#[derive(Default)]
pub struct Arguments {
    pub help: bool,
    pub quick: bool,
    pub csv: Option<PathBuf>,
    pub only: Option<Vec<String>>,
    pub serial_bevy: Option<PathBuf>,
    /// Ways to keep local values instead of peers.
    pub ways: bool,
    pub spoil: Option<String>,
    /// Of a child process: workload and peer.
    pub serve: Option<(String, Kind)>,
}

impl Arguments {
    pub fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut parsed = Self::default();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            match &argument[..] {
                "--help" | "-h" => parsed.help = true,
                "--quick" => parsed.quick = true,
                "--ways" => parsed.ways = true,
                "--csv" => parsed.csv = Some(value()?.into()),
                "--only" => parsed.only = Some(value()?.split(',').map(str::to_owned).collect()),
                "--serial-bevy" => parsed.serial_bevy = Some(value()?.into()),
                "--spoil" => parsed.spoil = Some(value()?),
                "--serve" => {
                    let workload = value()?;
                    let kind = if value()? == "static" { Kind::BevyStatic } else { Kind::Bevy };
                    parsed.serve = Some((workload, kind));
                }
                _ => return Err(format!("unknown argument {argument}; --help tells which there are")),
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
