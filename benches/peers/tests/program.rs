//! How the program ends: figures of implementations that do not agree must not look like success.

use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_peers")).args(arguments).output().unwrap()
}

/// It ends with 1 and not in a panic, and says why.
fn assert_fails(arguments: &[&str], reason: &str) {
    let output = run(arguments);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains(reason), "{errors}");
}

#[test]
fn implementations_agree() {
    let output = run(&["--quick", "--only", "chain,bevy_bench_reparent,set_bulk_10k"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tables = String::from_utf8(output.stdout).unwrap();
    for start in ["| chain | 2500 |", "| bevy_bench_reparent | 51696 |", "| set_bulk_10k | 10000 |"] {
        assert!(tables.contains(start), "{tables}");
    }
}

#[test]
fn a_wrong_world_is_found() {
    for name in ["posetree", "bare_product"] {
        assert_fails(
            &["--quick", "--only", "chain", "--spoil", name],
            &format!("chain: the worlds of {name} are wrong"),
        );
    }
}

/// This program is no comparison, and ends at once.
#[test]
fn a_child_process_that_dies_is_told() {
    let program = std::env::current_exe().unwrap();
    assert_fails(&["--quick", "--only", "chain", "--serial-bevy", program.to_str().unwrap()], "failed: it has ended");
    assert_fails(
        &["--only", "chain", "--serial-bevy", "/no/such/program"],
        "child process for /no/such/program failed",
    );
}

#[test]
fn help_is_no_error() {
    let output = run(&["--help"]);
    assert!(output.status.success());
    assert!(String::from_utf8(output.stdout).unwrap().contains("--serial-bevy PROGRAM"));
}

#[test]
fn what_is_not_known_is_an_error() {
    assert_fails(&["--fast"], "unknown argument --fast");
    assert_fails(&["--csv"], "--csv needs a value");
    assert_fails(&["--quick", "--only", "chain", "--spoil", "floor"], "there is no floor here");
    assert_fails(&["--only", "no_tree"], "no workload no_tree; there are large_tree, ");
}
