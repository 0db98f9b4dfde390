//! Problems from public bug reports of other systems, replayed through the public API.
//!
//! The cases are in the file that `POSETREE_CASES` names, else in `../shared/cases/cases.json`; without
//! either the test skips, loudly. Their format is described in the file itself, under "format".

#[path = "cases/expect.rs"]
mod expect;
#[path = "cases/runner.rs"]
mod runner;
#[path = "cases/subject.rs"]
mod subject;

use posetree::{DHierarchy, Hierarchy};
use runner::{Falsify, run};
use serde_json::Value;
use std::path::PathBuf;
use subject::Subject;

fn cases() -> Option<Vec<Value>> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/cases/cases.json");
    let named = std::env::var_os("POSETREE_CASES").map(PathBuf::from);
    // A file that was named must be there; the one beside the crate may be absent.
    let path = match named {
        Some(path) => path,
        None if beside.exists() => beside,
        None => return None,
    };
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let file: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let cases = file["cases"].as_array().expect("a list of cases").clone();
    Some(cases)
}

fn all_come_out_right<S: Subject>(test: &str) {
    let Some(cases) = cases() else {
        return eprintln!("SKIPPED cases::{test}: no ../shared/cases/cases.json");
    };
    let mut failures = Vec::new();
    let mut expectations = 0;
    for case in &cases {
        match run::<S>(case, Falsify::No) {
            Ok(executed) => expectations += executed,
            Err(failure) => failures.push(format!("{}: {failure}", case["id"])),
        }
    }
    println!("{} cases, {expectations} expectations", cases.len());
    assert!(failures.is_empty(), "{} of {} cases fail:\n{}", failures.len(), cases.len(), failures.join("\n"));
    assert!(expectations > cases.len(), "cases expect something");
}

#[test]
fn public_bug_reports_come_out_right() {
    all_come_out_right::<Hierarchy>("public_bug_reports_come_out_right");
}

#[test]
fn public_bug_reports_come_out_right_in_double_precision() {
    all_come_out_right::<DHierarchy>("public_bug_reports_come_out_right_in_double_precision");
}

fn all_fail_when_falsified<S: Subject>(test: &str) {
    let Some(cases) = cases() else {
        return eprintln!("SKIPPED cases::{test}: no ../shared/cases/cases.json");
    };
    for case in &cases {
        if let Err(failure) = run::<S>(case, Falsify::Yes) {
            panic!("{}: {failure}", case["id"]);
        }
    }
}

/// A test of the runner: wherever a number, a name or a truth value is expected, another one fails.
#[test]
fn a_falsified_expectation_fails() {
    all_fail_when_falsified::<Hierarchy>("a_falsified_expectation_fails");
}

#[test]
fn a_falsified_expectation_fails_in_double_precision() {
    all_fail_when_falsified::<DHierarchy>("a_falsified_expectation_fails_in_double_precision");
}

fn case(steps: &str) -> Value {
    let text = format!(r#"{{"id": "inline", "tol": 1e-6, "tol64": 1e-14, "steps": [{steps}]}}"#);
    serde_json::from_str(&text).expect("valid JSON")
}

#[test]
fn an_unknown_op_fails() {
    let failure = run::<Hierarchy>(&case(r#"{"op": "levitate", "node": "A"}"#), Falsify::No).unwrap_err();
    assert!(failure.contains("levitate"), "{failure}");
    let nested = r#"{"op": "repeat", "times": 2, "steps": [{"op": "levitate", "node": "A"}]}"#;
    assert!(run::<Hierarchy>(&case(nested), Falsify::No).is_err());
}

/// The runner by itself, without the file: one of each expectation, right as it stands and wrong when
/// anything in it is changed.
#[test]
fn the_runner_is_tested_alone() {
    let steps = r#"
        {"op": "add", "node": "A", "parent": null, "trs": {"position": [1, 2, 3], "scale": [-2, 2, 2]}},
        {"op": "add", "node": "B", "parent": "A", "trs": {"position": [1, 0, 0]}},
        {"op": "alias", "node": "B", "name": "C"},
        {"op": "expect_world", "node": "C", "matrix": [-2,0,0,-1, 0,2,0,2, 0,0,2,3, 0,0,0,1]},
        {"op": "expect_local", "node": "B", "matrix": [1,0,0,1, 0,1,0,0, 0,0,1,0, 0,0,0,1]},
        {"op": "expect_trs", "node": "A", "trs": {"position": [1, 2, 3], "rotation": [0, 0, 0, -1], "scale": [-2, 2, 2]}},
        {"op": "expect_trs_matrix", "node": "A", "matrix": [-2,0,0,1, 0,2,0,2, 0,0,2,3, 0,0,0,1]},
        {"op": "expect_world_point", "node": "B", "local": [1, 0, 0], "world": [-3, 2, 3]},
        {"op": "expect_local_point", "node": "B", "local": [1, 0, 0], "world": [-3, 2, 3]},
        {"op": "expect_world_vector", "node": "B", "local": [0, 1, 0], "world": [0, 2, 0]},
        {"op": "expect_world_direction", "node": "B", "local": [1, 0, 0], "world": [-1, 0, 0]},
        {"op": "expect_world_normal", "node": "B", "local": [1, 0, 0], "world": [-1, 0, 0]},
        {"op": "expect_axis_lengths", "node": "B", "lengths": [2, 2, 2]},
        {"op": "expect_mirrored", "node": "B", "mirrored": true},
        {"op": "expect_between", "from": "B", "to": "A", "matrix": [1,0,0,1, 0,1,0,0, 0,0,1,0, 0,0,0,1]},
        {"op": "expect_children", "node": null, "children": ["A"]},
        {"op": "expect_children", "node": "A", "children": ["B"]},
        {"op": "expect_parent", "node": "B", "parent": "A"},
        {"op": "expect_alive", "node": "B", "alive": true},
        {"op": "expect_count", "count": 2},
        {"op": "expect_finite", "nodes": ["A", "B"]},
        {"op": "expect_local_max", "node": "A", "max": 3},
        {"op": "expect_error", "of": {"op": "set_parent", "node": "A", "parent": "B", "keep": "world"}, "kind": "Cycle"}
    "#;
    assert_eq!(run::<Hierarchy>(&case(steps), Falsify::Yes), Ok(18));
    assert_eq!(run::<DHierarchy>(&case(steps), Falsify::Yes), Ok(18));
}

/// An error that is expected and does not come, or is another one, or changes something, fails.
#[test]
fn an_expected_error_is_compared_whole() {
    let add = r#"{"op": "add", "node": "A", "parent": null, "trs": {}},"#;
    let no_error = r#"{"op": "expect_error", "of": {"op": "update"}, "kind": "Cycle"}"#;
    assert!(run::<Hierarchy>(&case(&format!("{add}{no_error}")), Falsify::No).is_err());
    let other = r#"{"op": "expect_error", "of": {"op": "set_parent", "node": "A", "parent": "A", "keep": "local"}, "kind": "StaleNode"}"#;
    assert!(run::<Hierarchy>(&case(&format!("{add}{other}")), Falsify::No).is_err());
}
