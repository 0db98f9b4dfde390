//! Figures of a run, and the tables of all of them.

use crate::session::Turn;
use crate::workloads::Action;
use std::fmt::Write;

/// One peer on one workload.
pub struct Figures {
    pub name: String,
    /// None for a peer that cannot do it.
    pub times: Option<Times>,
}

/// Nanoseconds per frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    pub set: f64,
    pub update: f64,
    /// With the update, where an edit is told with it.
    pub edit: f64,
    pub total: f64,
    /// Of all updates.
    pub longest_update: f64,
    /// The most that edit and update of one frame took together.
    pub longest_frame: f64,
    /// How many frames that were, in all turns.
    pub frames: usize,
    pub sorts: usize,
}

impl Times {
    /// Means of all frames where edits leave something behind to be repaired in some later frame, which may
    /// be a turn's only one; else medians of turns.
    pub fn of(turns: &[Turn], action: Action) -> Self {
        let frames = turns.iter().map(|turn| turn.frames).sum::<usize>();
        let average = |value: &dyn Fn(&Turn) -> f64| {
            if action.is_amortised() {
                return turns.iter().map(|turn| value(turn) * turn.frames as f64).sum::<f64>() / frames as f64;
            }
            let mut values: Vec<f64> = turns.iter().map(value).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        let longest = |value: fn(&Turn) -> f64| turns.iter().map(value).fold(0.0, f64::max);
        let update_in_edit = if action.edit_includes_update() { 1.0 } else { 0.0 };
        Self {
            set: average(&|turn| turn.set),
            update: average(&|turn| turn.update),
            edit: average(&|turn| turn.edit + update_in_edit * turn.update),
            total: average(&|turn| turn.set + turn.edit + turn.update),
            longest_update: longest(|turn| turn.longest_update),
            longest_frame: longest(|turn| turn.longest_frame),
            frames,
            sorts: turns.iter().map(|turn| turn.sorts).sum(),
        }
    }
}

/// All peers on one workload. The first is posetree.
pub struct Outcome {
    pub workload: &'static str,
    pub action: Action,
    pub is_shape: bool,
    pub nodes: usize,
    pub dirty: usize,
    /// How many nodes the update recomputes; unknown for edits.
    pub affected: Option<usize>,
    /// By which an edit's time is divided; 0 where there is no edit.
    pub edits: usize,
    pub figures: Vec<Figures>,
    /// An update of posetree with everything dirty, where edits make some updates longer than others.
    pub all_dirty: Option<f64>,
}

/// Nanoseconds below which a time tells more about the clock and the call than about the work.
const GRAIN: f64 = 500.0;

/// How many times as long the one takes as the other. None where there is nothing to compare.
pub fn ratio(time: f64, base: f64) -> Option<f64> {
    (time > 0.0 && base > 0.0 && time.max(base) > GRAIN).then_some(time / base)
}

impl Outcome {
    pub fn posetree(&self) -> Times {
        self.figures[0].times.expect("posetree can do everything")
    }

    /// A peer's time over posetree's. None where nothing moves: posetree's is no time then.
    fn ratio(&self, times: &Times, value: fn(&Times) -> f64) -> Option<f64> {
        if self.affected == Some(0) { None } else { ratio(value(times), value(&self.posetree())) }
    }

    /// The times of some peers.
    pub fn times(&self, is_one: impl Fn(&str) -> bool) -> impl Iterator<Item = &Times> {
        self.figures.iter().filter(move |figures| is_one(&figures.name)).filter_map(|figures| figures.times.as_ref())
    }

    /// How many times posetree's time the fastest of some peers takes.
    pub fn best(&self, is_one: impl Fn(&str) -> bool, value: fn(&Times) -> f64) -> Option<f64> {
        self.times(is_one).filter_map(|times| self.ratio(times, value)).min_by(f64::total_cmp)
    }

    /// Empty where there is nothing to tell.
    fn cells(&self, times: &Times) -> Cells {
        let per = |time: f64, count: usize| if count > 0 { number(time / count as f64) } else { String::new() };
        let ratio = |value| number_or_none(self.ratio(times, value));
        Cells {
            set: per(times.set, self.dirty),
            update: per(times.update, self.nodes),
            edit: per(times.edit, self.edits),
            update_ratio: ratio(|times| times.update),
            edit_ratio: if self.edits > 0 { ratio(|times| times.edit) } else { String::new() },
            total_ratio: ratio(|times| times.total),
        }
    }

    pub fn csv(&self) -> String {
        self.figures.iter().fold(String::new(), |mut out, figures| {
            let Cells { set, update, edit, update_ratio, total_ratio, .. } =
                figures.times.as_ref().map(|times| self.cells(times)).unwrap_or_default();
            let (workload, nodes, dirty, name) = (self.workload, self.nodes, self.dirty, &figures.name);
            let _ =
                writeln!(out, "{workload},{nodes},{dirty},{name},{set},{update},{edit},{update_ratio},{total_ratio}");
            out
        })
    }

    pub fn markdown(&self) -> String {
        let affected = self.affected.map_or(String::new(), |affected| affected.to_string());
        self.figures.iter().fold(String::new(), |mut out, figures| {
            let Some(times) = &figures.times else { return out };
            let Cells { set, update, edit, update_ratio, edit_ratio, total_ratio } = self.cells(times);
            let (workload, nodes, dirty, name) = (self.workload, self.nodes, self.dirty, &figures.name);
            let _ = writeln!(
                out,
                "| {workload} | {nodes} | {dirty} | {affected} | {name} \
                 | {set} | {update} | {edit} | {update_ratio} | {edit_ratio} | {total_ratio} |"
            );
            out
        })
    }
}

#[derive(Default)]
struct Cells {
    set: String,
    update: String,
    edit: String,
    update_ratio: String,
    edit_ratio: String,
    total_ratio: String,
}

pub const CSV_HEAD: &str =
    "workload,nodes,dirty,impl,set_ns_per_dirty,update_ns_per_node,edit_ns_per_op,ratio_update,ratio_total\n";

pub const MARKDOWN_HEAD: &str = "\
| workload | nodes | dirty | affected | impl \
| set ns/dirty | update ns/node | edit ns/op | update ratio | edit ratio | total ratio |
|---|--:|--:|--:|---|--:|--:|--:|--:|--:|--:|
";

/// Three significant digits.
pub fn number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return String::new();
    }
    let digits = (2 - value.abs().log10().floor() as i32).max(0) as usize;
    format!("{value:.digits$}")
}

pub fn number_or_none(value: Option<f64>) -> String {
    value.map_or(String::new(), number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(frames: usize, edit: f64, update: f64) -> Turn {
        Turn { frames, edit, update, ..Turn::default() }
    }

    /// The median of nine turns would drop the one that sorts; short turns do not count as much as long ones.
    #[test]
    fn what_edits_put_off_is_counted() {
        let turns = [turn(3, 1.0, 1.0), turn(3, 1.0, 1.0), turn(4, 1.0, 26.0)];
        let times = Times::of(&turns, Action::Reparent(1));
        assert_eq!((times.edit, times.total, times.frames), (12.0, 12.0, 10));
        assert_eq!(Times::of(&turns, Action::Build).edit, 2.0);
    }

    #[test]
    fn an_edit_and_its_update_are_one_figure() {
        let turns = [turn(1, 1.0, 9.0), turn(1, 9.0, 1.0), turn(1, 1.0, 9.0)];
        assert_eq!(Times::of(&turns, Action::Build).edit, 10.0);
        assert_eq!(Times::of(&turns, Action::Read(1)).edit, 1.0);
    }

    #[test]
    fn there_is_no_ratio_of_nothing() {
        assert_eq!(ratio(0.0, 1000.0), None);
        assert_eq!(ratio(40.0, 20.0), None);
        assert_eq!(ratio(4000.0, 20.0), Some(200.0));
    }
}
