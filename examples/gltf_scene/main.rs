//! Loads a glTF scene, prints its tree, and reparents a node in every way there is.
//!
//! ```text
//! cargo run --release --example gltf_scene [FILE] [--reparent CHILD NEW_PARENT]
//! ```
//!
//! What it prints about bits and bounds it also asserts.

mod report;
mod rounding;
mod scene;

use report::Loaded;
use scene::Scene;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "\
Loads a glTF 2.0 scene, prints its tree, and shows what reparenting does to a node.

usage: gltf_scene [FILE] [--reparent CHILD NEW_PARENT]

  FILE        a .gltf or .glb file; its buffers and images need not be there.
              Without it: a small built-in scene, a robot with two arms.
  --reparent  moves CHILD under NEW_PARENT, once for each Keep. Both are names of
              nodes, or indices in the file such as '#12'; for NEW_PARENT, '-' makes
              CHILD a root. Without it: a node that is deep in the tree goes to
              another branch.
  --          what follows is no flag: for a FILE whose name starts with '-'
  --help, -h  prints this

The tree shows names, world positions, and in brackets whether a node is given as a
matrix (with shear or not) and whether its world pose is mirrored, sheared or flat.
";

/// The built-in scene, and the move that it is made for.
const ROBOT: &[u8] = include_bytes!("../assets/robot_arm.gltf");
const ROBOT_MOVE: (&str, &str) = ("tool", "left_hand");

#[derive(Default)]
struct Arguments {
    help: bool,
    file: Option<PathBuf>,
    reparent: Option<(String, String)>,
}

fn main() -> ExitCode {
    match parse(std::env::args_os().skip(1)).and_then(|arguments| run(&arguments)) {
        Ok(report) => {
            // A reader that has seen enough, such as `head`, is no failure.
            let _ = std::io::stdout().write_all(report.as_bytes());
            ExitCode::SUCCESS
        }
        Err(message) => {
            let _ = writeln!(std::io::stderr(), "gltf_scene: {message}");
            ExitCode::FAILURE
        }
    }
}

fn parse(mut given: impl Iterator<Item = OsString>) -> Result<Arguments, String> {
    let mut arguments = Arguments::default();
    let mut flags = true;
    while let Some(argument) = given.next() {
        match argument.to_str() {
            Some("--") if flags => flags = false,
            Some("--help" | "-h") if flags => arguments.help = true,
            Some("--reparent") if flags => {
                let mut value = || given.next().map(|value| value.to_string_lossy().into_owned());
                let (Some(child), Some(parent)) = (value(), value()) else {
                    return Err("--reparent needs CHILD and NEW_PARENT; see --help".into());
                };
                if arguments.reparent.replace((child, parent)).is_some() {
                    return Err("--reparent is given twice; see --help".into());
                }
            }
            Some(flag) if flags && flag.starts_with('-') => return Err(format!("unknown flag {flag:?}; see --help")),
            _ => {
                if let Some(first) = arguments.file.replace(argument.clone().into()) {
                    return Err(format!("two files are given, {first:?} and {argument:?}; see --help"));
                }
            }
        }
    }
    Ok(arguments)
}

fn run(arguments: &Arguments) -> Result<String, String> {
    if arguments.help {
        return Ok(USAGE.into());
    }
    let mut loaded = match &arguments.file {
        None => Loaded::new(Scene::parse(ROBOT)?)?,
        Some(file) => {
            let bytes = std::fs::read(file).map_err(|error| format!("cannot read {file:?}: {error}"))?;
            let loaded = Scene::parse(&bytes).and_then(Loaded::new);
            loaded.map_err(|error| format!("cannot load {file:?}: {error}"))?
        }
    };

    // Names are looked up first: a wrong one is not to be found below a long tree.
    let find = |wanted: &str| find(&loaded.scene, wanted).map(|index| loaded.ids[index]);
    let (wish, why) = match &arguments.reparent {
        Some((child, parent)) => {
            (Some((find(child)?, if parent == "-" { None } else { Some(find(parent)?) })), "as asked for")
        }
        None if arguments.file.is_none() => {
            (Some((find(ROBOT_MOVE.0)?, Some(find(ROBOT_MOVE.1)?))), "the tool changes hands")
        }
        None => (loaded.far_apart(), "the deepest node goes under the deepest node of another branch, if there is one"),
    };

    let mut out = String::new();
    report::tree(&mut out, &mut loaded)?;
    out.push('\n');
    match wish {
        Some((child, parent)) => {
            out.push_str(why);
            out.push_str(": ");
            report::moves(&mut out, &loaded, child, parent)?;
        }
        None => out.push_str("nothing to reparent\n"),
    }
    Ok(out)
}

/// The node that a person means by a name, or by `#` and an index.
fn find(scene: &Scene, wanted: &str) -> Result<usize, String> {
    let named = |&index: &usize| scene.names[index].as_deref() == Some(wanted);
    let mut found: Vec<usize> = (0..scene.len()).filter(named).collect();
    if let Some(index) = wanted.strip_prefix('#').and_then(|digits| digits.parse().ok()) {
        if index < scene.len() && !found.contains(&index) {
            found.push(index);
        }
    }
    match found[..] {
        [index] => Ok(index),
        [] if wanted.starts_with('#') => Err(format!("no node has the index or name {wanted:?}")),
        [] => Err(format!("no node is called {wanted:?}")),
        [first, second, ..] => Err(format!(
            "{wanted:?} names {} nodes; say which by its index, such as \"#{first}\" or \"#{second}\"",
            found.len()
        )),
    }
}
