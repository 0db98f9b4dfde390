//! Figures of a run, and how they are shown.

use crate::session::Turn;
use std::fmt::Write;

/// One peer on one workload.
pub struct Figures {
    pub name: String,
    /// None for a peer that cannot do it.
    pub medians: Option<Medians>,
}

/// Nanoseconds per frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Medians {
    pub set: f64,
    pub update: f64,
    pub edit: f64,
    pub total: f64,
    /// Of all updates.
    pub longest: f64,
}

impl Medians {
    pub fn of(turns: &[Turn]) -> Self {
        let median = |value: fn(&Turn) -> f64| {
            let mut values: Vec<f64> = turns.iter().map(value).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        Self {
            set: median(|turn| turn.set),
            update: median(|turn| turn.update),
            edit: median(|turn| turn.edit),
            total: median(Turn::total),
            longest: turns.iter().map(|turn| turn.longest).fold(0.0, f64::max),
        }
    }
}

/// All peers on one workload. The first is posetree.
pub struct Outcome {
    pub workload: &'static str,
    pub is_shape: bool,
    pub nodes: usize,
    pub dirty: usize,
    /// How many nodes the update recomputes; unknown for edits.
    pub affected: Option<usize>,
    /// By which an edit's time is divided; 0 where there is no edit.
    pub edits: usize,
    pub edit_includes_update: bool,
    pub figures: Vec<Figures>,
    /// An update of posetree with everything dirty, where edits make some updates longer than others.
    pub all_dirty: Option<f64>,
}

impl Outcome {
    fn posetree(&self) -> Medians {
        self.figures[0].medians.expect("posetree can do everything")
    }

    /// The fastest of some peers, by update or in total: its name and how many times posetree's time.
    fn best(&self, is_one: impl Fn(&str) -> bool, value: fn(&Medians) -> f64) -> Option<(&str, f64)> {
        let peers = self.figures.iter().filter(|figures| is_one(&figures.name));
        peers
            .filter_map(|peer| Some((&peer.name[..], value(peer.medians.as_ref()?) / value(&self.posetree()))))
            .min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The cells that table and CSV share, empty where there is nothing to tell.
    fn cells(&self, figures: &Figures) -> [String; 5] {
        let Some(medians) = &figures.medians else { return Default::default() };
        let base = self.posetree();
        let edit = medians.edit + if self.edit_includes_update { medians.update } else { 0.0 };
        let is_set = self.dirty > 0 && medians.set > 0.0;
        [
            if is_set { number(medians.set / self.dirty as f64) } else { String::new() },
            number(medians.update / self.nodes as f64),
            if self.edits > 0 { number(edit / self.edits as f64) } else { String::new() },
            number(medians.update / base.update),
            number(medians.total / base.total),
        ]
    }

    pub fn csv(&self) -> String {
        self.figures.iter().fold(String::new(), |mut out, figures| {
            let cells = self.cells(figures).join(",");
            let _ = writeln!(out, "{},{},{},{},{cells}", self.workload, self.nodes, self.dirty, figures.name);
            out
        })
    }

    pub fn markdown(&self) -> String {
        self.figures.iter().fold(String::new(), |mut out, figures| {
            let affected = self.affected.map_or(String::new(), |affected| affected.to_string());
            let cells = self.cells(figures).join(" | ");
            let (workload, nodes, dirty) = (self.workload, self.nodes, self.dirty);
            let _ = writeln!(out, "| {workload} | {nodes} | {dirty} | {affected} | {} | {cells} |", figures.name);
            out
        })
    }
}

pub const CSV_HEAD: &str =
    "workload,nodes,dirty,impl,set_ns_per_dirty,update_ns_per_node,edit_ns_per_op,ratio_update,ratio_total\n";

pub const MARKDOWN_HEAD: &str = "\
| workload | nodes | dirty | affected | impl | set ns/dirty | update ns/node | edit ns/op | update ratio | total ratio |
|---|--:|--:|--:|---|--:|--:|--:|--:|--:|
";

/// Three significant digits.
fn number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return String::new();
    }
    let digits = (2 - value.abs().log10().floor() as i32).max(0) as usize;
    format!("{value:.digits$}")
}

/// A figure of a workload, where there is one.
type Column<'a> = &'a dyn Fn(&Outcome) -> Option<f64>;

/// Ratios a workload a line: how many times posetree's time the others take, and the other way round for
/// the loops that nothing can beat.
pub fn summary(outcomes: &[Outcome]) -> String {
    let mut out = String::from(
        "\
| workload | best Bevy, one thread: update | total | best Bevy, all threads: update | total | indextree | boxed | flat \
| posetree / floor | posetree / bare product | set / plain set | longest / all-dirty |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
",
    );
    let one_thread = |name: &str| name.starts_with("bevy_1t") || name.starts_with("bevy_serial");
    let all_threads = |name: &str| name.starts_with("bevy_mt");
    let columns: [Column; 11] = [
        &|o| o.best(one_thread, |m| m.update).map(|best| best.1),
        &|o| o.best(one_thread, |m| m.total).map(|best| best.1),
        &|o| o.best(all_threads, |m| m.update).map(|best| best.1),
        &|o| o.best(all_threads, |m| m.total).map(|best| best.1),
        &|o| o.best(|name| name == "indextree", |m| m.total).map(|best| best.1),
        &|o| o.best(|name| name == "boxed", |m| m.total).map(|best| best.1),
        &|o| o.best(|name| name == "flat", |m| m.total).map(|best| best.1),
        &|o| o.best(|name| name == "floor", |m| m.update).map(|best| 1.0 / best.1),
        &|o| o.best(|name| name == "bare_product", |m| m.update).map(|best| 1.0 / best.1),
        &|o| o.best(|name| name == "bare_product", |m| m.set).map(|best| 1.0 / best.1),
        &|o| o.all_dirty.map(|all_dirty| o.posetree().longest / all_dirty),
    ];
    for outcome in outcomes {
        let cells = columns.map(|column| column(outcome).map_or(String::new(), number));
        let _ = writeln!(out, "| {} | {} |", outcome.workload, cells.join(" | "));
    }
    let shapes: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.is_shape).collect();
    if shapes.len() > 1 {
        let cells = columns.map(|column| {
            let logs: Option<Vec<f64>> = shapes.iter().map(|shape| column(shape).map(f64::ln)).collect();
            logs.map_or(String::new(), |logs| number((logs.iter().sum::<f64>() / logs.len() as f64).exp()))
        });
        let _ = writeln!(out, "| geometric mean of the {} shapes | {} |", shapes.len(), cells.join(" | "));
    }
    out
}

/// Set and update, in ns per node that is set or affected, for each way to keep local values.
pub fn ways(outcomes: &[Outcome]) -> String {
    let names = outcomes.first().map_or(Vec::new(), |o| o.figures.iter().map(|figures| &figures.name[..]).collect());
    let mut out = format!("| workload | dirty | affected | {} |\n|---|--:|--:|", names.join(" | "));
    out += &"--:|".repeat(names.len());
    let mut logs = vec![0.0; names.len()];
    for outcome in outcomes {
        let affected = outcome.affected.unwrap_or(outcome.nodes);
        let _ = write!(out, "\n| {} | {} | {affected} |", outcome.workload, outcome.dirty);
        for (figures, log) in outcome.figures.iter().zip(&mut logs) {
            let total = figures.medians.map_or(f64::NAN, |medians| medians.total);
            *log += (total / outcome.posetree().total).ln() / outcomes.len() as f64;
            let _ = write!(out, " {} |", number(total / affected as f64));
        }
    }
    out += "\n| geometric mean, posetree's = 1 | | |";
    for log in logs {
        let _ = write!(out, " {} |", number(log.exp()));
    }
    out
}
