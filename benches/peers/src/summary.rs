//! The short tables: a workload a line.

use crate::report::{Outcome, Times, number, number_or_none, ratio};
use std::fmt::Write;

/// A figure of a workload, where there is one.
type Column<'a> = (&'a str, &'a dyn Fn(&Outcome) -> Option<f64>);

fn is_bevy_on_one_thread(name: &str) -> bool {
    name.starts_with("bevy_1t") || name.starts_with("bevy_serial")
}

fn is_bevy_on_all_threads(name: &str) -> bool {
    name.starts_with("bevy_mt")
}

/// One of the two that are told what is affected. They set values in the same way.
fn is_loop(name: &str) -> bool {
    name == "floor" || name == "bare_product"
}

fn update(times: &Times) -> f64 {
    times.update
}

fn edit(times: &Times) -> f64 {
    times.edit
}

fn total(times: &Times) -> f64 {
    times.total
}

/// Posetree's update over those of some loops; of several, over the longest.
fn over(outcome: &Outcome, is_one: impl Fn(&str) -> bool) -> Option<f64> {
    outcome.times(is_one).map(update).max_by(f64::total_cmp).and_then(|time| ratio(outcome.posetree().update, time))
}

/// Posetree's set over that of the plain loop that sets the same.
fn over_plain_set(outcome: &Outcome) -> Option<f64> {
    let plain = outcome.times(is_loop).map(|times| times.set).min_by(f64::total_cmp);
    plain.and_then(|time| ratio(outcome.posetree().set, time))
}

const ABOUT_MOVES: &str = "
A figure is the other's time over posetree's: below 1 the other is faster. From `posetree / floor` on it is posetree's
over that of loops that are told what is affected. But for noise, and the feature `simd`, which the loops are without,
nothing can be faster than the longer of floor and bare product. `plain set` is a loop that writes the same: positions,
or whole values. Empty where nothing moves, and where both take less than half a microsecond.

";

const ABOUT_EDITS: &str = "
Edits with the update that follows: again the other's time over posetree's. Of `children_first` it is the first update
after loading, of `lazy_read` a set and a read. Where there is a count of re-sorts, which are posetree's, figures are
means of all frames, those with a re-sort included; peers that take long do fewer frames. The longest are posetree's,
over an update of the same tree with everything dirty.

";

pub fn summary(outcomes: &[Outcome]) -> String {
    let (edits, moves): (Vec<&Outcome>, Vec<&Outcome>) = outcomes.iter().partition(|outcome| outcome.edits > 0);
    let mut out = String::new();
    if !moves.is_empty() {
        out += ABOUT_MOVES;
        out += &of_moves(&moves);
    }
    if !edits.is_empty() {
        out += ABOUT_EDITS;
        out += &of_edits(&edits);
    }
    out
}

fn of_moves(outcomes: &[&Outcome]) -> String {
    let columns: [Column; 16] = [
        ("best Bevy, one thread: update", &|o| o.best(is_bevy_on_one_thread, update)),
        ("total", &|o| o.best(is_bevy_on_one_thread, total)),
        ("best Bevy, all threads: update", &|o| o.best(is_bevy_on_all_threads, update)),
        ("total", &|o| o.best(is_bevy_on_all_threads, total)),
        ("indextree: update", &|o| o.best(|name| name == "indextree", update)),
        ("total", &|o| o.best(|name| name == "indextree", total)),
        ("boxed: update", &|o| o.best(|name| name == "boxed", update)),
        ("total", &|o| o.best(|name| name == "boxed", total)),
        ("Fyrox: update", &|o| o.best(|name| name == "fyrox", update)),
        ("total", &|o| o.best(|name| name == "fyrox", total)),
        ("flat: update", &|o| o.best(|name| name == "flat", update)),
        ("total", &|o| o.best(|name| name == "flat", total)),
        ("posetree / floor", &|o| over(o, |name| name == "floor")),
        ("posetree / bare product", &|o| over(o, |name| name == "bare_product")),
        ("posetree / the longer of both", &|o| over(o, is_loop)),
        ("set / plain set", &over_plain_set),
    ];
    let mut out = table(&columns, outcomes);
    let shapes: Vec<&Outcome> = outcomes.iter().copied().filter(|outcome| outcome.is_shape).collect();
    if shapes.len() > 1 {
        let cells = columns.map(|(_, column)| {
            let logs: Option<Vec<f64>> = shapes.iter().map(|shape| column(shape).map(f64::ln)).collect();
            number_or_none(logs.map(|logs| (logs.iter().sum::<f64>() / logs.len() as f64).exp()))
        });
        let _ = writeln!(out, "| geometric mean of the {} shapes | {} |", shapes.len(), cells.join(" | "));
    }
    out
}

fn of_edits(outcomes: &[&Outcome]) -> String {
    let columns: [Column; 10] = [
        ("best Bevy, one thread", &|o| o.best(is_bevy_on_one_thread, edit)),
        ("best Bevy, all threads", &|o| o.best(is_bevy_on_all_threads, edit)),
        ("indextree", &|o| o.best(|name| name == "indextree", edit)),
        ("boxed", &|o| o.best(|name| name == "boxed", edit)),
        ("Fyrox", &|o| o.best(|name| name == "fyrox", edit)),
        ("flat", &|o| o.best(|name| name == "flat", edit)),
        ("posetree's frames", &|o| Some(o.posetree().frames as f64)),
        ("re-sorts", &|o| o.action.is_amortised().then_some(o.posetree().sorts as f64)),
        ("longest update / all dirty", &|o| Some(o.posetree().longest_update / o.all_dirty?)),
        ("longest edit and update / all dirty", &|o| Some(o.posetree().longest_frame / o.all_dirty?)),
    ];
    table(&columns, outcomes)
}

fn table(columns: &[Column], outcomes: &[&Outcome]) -> String {
    let heads: Vec<&str> = columns.iter().map(|(head, _)| *head).collect();
    let mut out = format!("| workload | {} |\n|---|{}\n", heads.join(" | "), "--:|".repeat(columns.len()));
    for outcome in outcomes {
        let cells: Vec<String> = columns.iter().map(|(_, column)| number_or_none(column(outcome))).collect();
        let _ = writeln!(out, "| {} | {} |", outcome.workload, cells.join(" | "));
    }
    out
}

/// Set and update, in ns per node that is set or affected, for each way to keep local values.
pub fn ways(outcomes: &[Outcome]) -> String {
    let names = outcomes.first().map_or(Vec::new(), |o| o.figures.iter().map(|figures| &figures.name[..]).collect());
    let mut out = format!("\n| workload | dirty | affected | {} |\n|---|--:|--:|", names.join(" | "));
    out += &"--:|".repeat(names.len());
    let moving: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.affected != Some(0)).collect();
    let mut logs = vec![0.0; names.len()];
    for outcome in &moving {
        let affected = outcome.affected.unwrap_or(outcome.nodes);
        let _ = write!(out, "\n| {} | {} | {affected} |", outcome.workload, outcome.dirty);
        for (figures, log) in outcome.figures.iter().zip(&mut logs) {
            let total = figures.times.map_or(f64::NAN, |times| times.total);
            *log += (total / outcome.posetree().total).ln() / moving.len() as f64;
            let _ = write!(out, " {} |", number(total / affected as f64));
        }
    }
    out += "\n| geometric mean, posetree's = 1 | | |";
    for log in logs {
        let _ = write!(out, " {} |", number(log.exp()));
    }
    out + "\n"
}
