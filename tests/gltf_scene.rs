//! The `gltf_scene` example as a program: what it prints, refuses and returns.
//!
//! `cargo test` builds examples too, beside the tests. Where only this file was built (`cargo test --test
//! gltf_scene`) there may be no example, or one of an earlier day: each test says so and passes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::SystemTime;

/// The example that was built with this test; `None`, with a notice, if there is none.
fn example(test: &str) -> Option<Command> {
    let own = std::env::current_exe().expect("a path to this program");
    // <profile>/deps/gltf_scene-<hash> and <profile>/examples/gltf_scene
    let profile = own.parent().and_then(Path::parent).expect("a folder above the tests' own");
    let program = profile.join("examples").join(format!("gltf_scene{}", std::env::consts::EXE_SUFFIX));
    if !program.is_file() {
        eprintln!("SKIPPED: gltf_scene::{test}: the example is not built; cargo build --example gltf_scene");
        return None;
    }
    let sources = ["src", "examples"].map(|folder| Path::new(env!("CARGO_MANIFEST_DIR")).join(folder));
    if sources.iter().filter_map(|folder| newest(folder)).max() > modified(&program) {
        eprintln!("SKIPPED: gltf_scene::{test}: the example is out of date; cargo build --example gltf_scene");
        return None;
    }
    Some(Command::new(program))
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().ok()?.modified().ok()
}

/// When the youngest file in a folder was written.
fn newest(folder: &Path) -> Option<SystemTime> {
    let entries = std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    entries.filter_map(|path| if path.is_dir() { newest(&path) } else { modified(&path) }).max()
}

/// A file that is removed in the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, content: impl AsRef<[u8]>) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{name}", std::process::id()));
        std::fs::write(&path, content).expect("a writable folder for tests");
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn gltf(nodes: &str) -> String {
    format!(r#"{{"asset": {{"version": "2.0"}}, "nodes": {nodes}}}"#)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

fn passes(output: &Output) -> String {
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// One line that holds `message`, code 1, and nothing on standard output.
fn fails(output: &Output, message: &str) {
    let said = text(&output.stderr);
    assert!(said.contains(message), "{said:?} should hold {message:?}");
    assert!(said.starts_with("gltf_scene: ") && said.lines().count() == 1, "{said:?}");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{said:?}");
}

fn run(mut command: Command, arguments: &[&str]) -> Output {
    command.args(arguments).output().expect("the example starts")
}

#[test]
fn the_built_in_scene() {
    let Some(mut command) = example("the_built_in_scene") else { return };
    let said = passes(&command.current_dir(std::env::temp_dir()).output().expect("the example starts"));
    assert!(said.starts_with("19 nodes, 1 given as a matrix, 1 root, 10 levels\n"), "{said}");
    assert!(said.contains(r#"└─ #17 "name_plate"  (0.4, 0.1, 0.05)  [matrix with shear, flat]"#), "{said}");
    assert!(said.contains(r##"#0 "tool" moves from #8 "right_hand" to #14 "left_hand""##), "{said}");
    for part in ["Keep::Local\n  the local value kept its bits", "Keep::World\n  the world matrix moved by at most"] {
        assert!(said.contains(part), "{said}");
    }
    assert!(said.contains("Keep::WorldTrs\n  refused, nothing changed: it would have to shear"), "{said}");
}

#[test]
fn the_move_is_as_asked_for() {
    let asked = |child, parent| Some(run(example("the_move_is_as_asked_for")?, &["--reparent", child, parent]));
    let Some(output) = asked("right_forearm", "-") else { return };
    assert!(passes(&output).contains(r##"#6 "right_forearm" moves from #5 "right_link" to no parent"##));
    let Some(output) = asked("#7", "base") else { return };
    assert!(passes(&output).contains(r##"#7 "right_wrist" moves from #6 "right_forearm" to #1 "base""##));
    let Some(output) = asked("tool", "name_plate") else { return };
    assert_eq!(passes(&output).matches(r##"refused, nothing changed: #17 "name_plate" is flat"##).count(), 2);

    for (child, parent, message) in [
        ("base", "tool", r##"#1 "base" cannot go under #0 "tool", which is that node or below it"##),
        ("tool", "tool", "which is that node or below it"),
        ("hammer", "-", r#"no node is called "hammer""#),
        ("tool", "#19", r##"no node has the index or name "#19""##),
        ("-", "tool", r#"no node is called "-""#),
    ] {
        let Some(output) = asked(child, parent) else { return };
        fails(&output, message);
    }
}

#[test]
fn arguments() {
    let with = |arguments: &[&str]| Some(run(example("arguments")?, arguments));
    for flag in [&["--help"][..], &["-h"], &["nowhere.gltf", "--help"]] {
        let Some(output) = with(flag) else { return };
        assert!(passes(&output).contains("usage: gltf_scene [FILE] [--reparent CHILD NEW_PARENT]"));
    }
    for (arguments, message) in [
        (&["--reparant", "a", "b"][..], r#"unknown flag "--reparant"; see --help"#),
        (&["--reparent", "tool"], "--reparent needs CHILD and NEW_PARENT; see --help"),
        (&["--reparent", "tool", "-", "--reparent", "base", "-"], "--reparent is given twice"),
        (&["a.gltf", "b.gltf"], r#"two files are given, "a.gltf" and "b.gltf""#),
        (&["nowhere.gltf"], r#"cannot read "nowhere.gltf": "#),
        (&["--", "--help"], r#"cannot read "--help": "#),
        (&["."], r#"cannot read ".": "#),
    ] {
        let Some(output) = with(arguments) else { return };
        fails(&output, message);
    }
}

#[test]
fn broken_files() {
    for (index, (content, message)) in [
        (String::new(), "it is not glTF: EOF while parsing"),
        ("{\"asset\": nope".into(), "it is not glTF: expected ident at line 1"),
        ("[1, 2]".into(), "it is not glTF: asset.version is missing"),
        (r#"{"asset": {"version": "1.0"}}"#.into(), r#"it is of glTF version "1.0""#),
        (gltf("{}"), "it is not glTF: nodes is not a list"),
        (gltf(r#"[{}, {"children": [-1]}]"#), "node #1: "),
        (gltf(r#"[{"scale": [1, 2]}]"#), "node #0: "),
        (gltf(r#"[{"children": [1]}]"#), "#0 has child #1, but the list of nodes ends before it"),
        (gltf(r#"[{"children": [0]}]"#), "#0 is its own ancestor"),
        (
            gltf(r#"[{}, {"children": [0, 2]}, {"name": "a", "children": [3]}, {"children": [4, 2]}, {}]"#),
            r##"#2 "a" has two parents, #1 and #3"##,
        ),
        // The first node that does not lead to a root is below the cycle, not on it.
        (gltf(r#"[{}, {"children": [2]}, {"children": [1, 0]}]"#), " is its own ancestor"),
        (gltf(r#"[{"children": [1, 1]}, {}]"#), "#0 has #1 twice in its children"),
        (
            gltf(r#"[{"children": [2]}, {"children": [2]}, {"name": "b\nc"}]"#),
            r##"#2 "b\nc" has two parents, #0 and #1"##,
        ),
        (gltf(r#"[{}, {"name": "bent", "rotation": [0, 0, 0, 1.02]}]"#), r##"#1 "bent": a quaternion of length 1.02"##),
        (gltf(r#"[{}, {"name": "far", "translation": [1e39, 0, 0]}]"#), r##"#1 "far": a number is infinite"##),
        (gltf(r#"[{"matrix": [1e39, 0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1]}]"#), "#0: a number is infinite"),
        (gltf(r#"[{"matrix": [1,0,0,1, 0,1,0,0, 0,0,1,0, 0,0,0,1]}]"#), "#0: its matrix is not affine"),
        (
            gltf(r#"[{"matrix": [1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1], "scale": [1,1,1]}]"#),
            "#0: it has a matrix besides",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let Some(command) = example("broken_files") else { return };
        let file = Scratch::new(&format!("broken-{index}.gltf"), content);
        let output = run(command, &[file.0.to_str().expect("UTF-8")]);
        fails(&output, message);
        fails(&output, "cannot load ");
    }
}

#[test]
fn unusual_files_load() {
    for (index, (content, message)) in [
        (gltf("[]"), "0 nodes, 0 given as a matrix, 0 roots, 0 levels\n\nnothing to reparent"),
        (r#"{"asset": {"version": "2.1"}}"#.into(), "0 nodes"),
        (gltf("[{}]"), "1 node, 0 given as a matrix, 1 root, 1 level\n#0  (0, 0, 0)\n\nnothing to reparent"),
        // Within one part in a hundred a quaternion is normalised.
        (gltf(r#"[{"rotation": [0, 0, 0.7064, 0.7064], "children": [1]}, {"translation": [2, 0, 0]}]"#), "└─ #1  ("),
        // Parents after children, and siblings in the order of their list.
        (gltf(r#"[{}, {}, {"children": [1, 0]}]"#), "#2  (0, 0, 0)\n├─ #1  (0, 0, 0)\n└─ #0  (0, 0, 0)\n"),
        (
            r#"{"asset": {"version": "2.0"}, "nodes": [{"mesh": 0}, {}], "scenes": [{}, {"nodes": [1]}], "scene": 1,
                "buffers": [{"byteLength": 4, "uri": "gone.bin"}], "textures": [{}], "extensionsRequired": ["X_y"]}"#
                .into(),
            "#1  (0, 0, 0)\n#0  (0, 0, 0)\n",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let Some(command) = example("unusual_files_load") else { return };
        let file = Scratch::new(&format!("unusual-{index}.gltf"), content);
        let said = passes(&run(command, &[file.0.to_str().expect("UTF-8")]));
        assert!(said.contains(message), "{said}");
    }
}

#[test]
fn names_that_are_not_unique() {
    let file = Scratch::new("names.gltf", gltf(r##"[{"name": "a"}, {"name": "a"}, {"name": "#0"}, {"name": "-"}]"##));
    let file = file.0.to_str().expect("UTF-8");
    let asked = |child, parent| Some(run(example("names_that_are_not_unique")?, &[file, "--reparent", child, parent]));
    for (child, message) in [
        ("a", r##""a" names 2 nodes; say which by its index, such as "#0" or "#1""##),
        ("#0", r##""#0" names 2 nodes; say which by its index, such as "#2" or "#0""##),
    ] {
        let Some(output) = asked(child, "-") else { return };
        fails(&output, message);
    }
    let Some(output) = asked("#1", "#3") else { return };
    assert!(passes(&output).contains(r##"#1 "a" moves from no parent to #3 "-""##));
}

#[test]
fn binary_files() {
    let json = gltf(r#"[{"children": [1]}, {}]"#).into_bytes();
    let chunk = |kind: &[u8; 4], data: &[u8]| [&(data.len() as u32).to_le_bytes(), &kind[..], data].concat();
    let file = |chunks: &[u8]| {
        let length = 12 + chunks.len() as u32;
        [b"glTF", &2u32.to_le_bytes()[..], &length.to_le_bytes(), chunks].concat()
    };
    let whole = file(&[chunk(b"JSON", &json), chunk(b"BIN\0", &[1, 2, 3, 4]), chunk(b"NEW?", &[0; 4])].concat());
    let load = |bytes: &[u8]| {
        let file = Scratch::new("binary.glb", bytes);
        Some(run(example("binary_files")?, &[file.0.to_str().expect("UTF-8")]))
    };
    let Some(output) = load(&whole) else { return };
    assert!(passes(&output).starts_with("2 nodes, 0 given as a matrix, 1 root, 2 levels\n"));
    for length in 4..20 + json.len() {
        let Some(output) = load(&whole[..length]) else { return };
        fails(&output, "it is cut off within its ");
    }
    let Some(output) = load(&file(&chunk(b"BIN\0", &json))) else { return };
    fails(&output, "it is not binary glTF: its first chunk is not JSON");
    let Some(output) = load(&[b"glTF", &1u32.to_le_bytes()[..], &[0; 12]].concat()) else { return };
    fails(&output, "it is binary glTF of version 1");
}

/// Nothing about a node is recursive, and no cost is the square of the depth.
#[test]
fn a_deep_chain() {
    let Some(command) = example("a_deep_chain") else { return };
    let nodes: Vec<String> = (1..20_000).map(|next| format!(r#"{{"children": [{next}]}}"#)).collect();
    let file = Scratch::new("deep.gltf", gltf(&format!("[{}, {{}}]", nodes.join(","))));
    let said = passes(&run(command, &[file.0.to_str().expect("UTF-8")]));
    assert!(said.starts_with("20000 nodes, 0 given as a matrix, 1 root, 20000 levels\n"));
    assert!(said.contains("#19999 moves from #19998 to no parent"));
}

/// Real files, where they are at hand.
#[test]
fn shared_scenes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/scenes");
    if !folder.is_dir() {
        eprintln!("SKIPPED: gltf_scene::shared_scenes: ../shared/scenes is absent");
        return;
    }
    for (name, start) in [
        ("two_cylinder_engine", "82 nodes, 76 given as a matrix, 2 roots, 6 levels\n#81  ("),
        ("lumberjack", "62 nodes, 3 given as a matrix, 1 root, 22 levels\n"),
        ("many_cubes", "506 nodes, 0 given as a matrix, 505 roots, 2 levels\n"),
    ] {
        let Some(command) = example("shared_scenes") else { return };
        let file = folder.join(name).with_extension("gltf");
        let said = passes(&run(command, &[file.to_str().expect("UTF-8")]));
        assert!(said.starts_with(start), "{said}");
    }
}
