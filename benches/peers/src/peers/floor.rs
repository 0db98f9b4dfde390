//! Two loops that no hierarchy can beat, on the arrays that an update must touch: 48 bytes of local row and
//! 4 of parent index in, 48 bytes of world row out, in depth-first order.
//!
//! They are told which rows are affected, find nothing out, and keep no marks. One only streams the
//! bytes; the other multiplies. How they go over rows that lie scattered is tried out, see [`Strategy`].

use super::flat::invert;
use super::{Ability, Peer, Rows, Trs};
use crate::shapes::{NONE, pre_order, sizes};
use crate::workloads::Scene;
use glam::{BVec4A, Mat3, Vec3, Vec4, Vec4Swizzles};
use std::hint::black_box;
use std::ops::Range;
use std::time::{Duration, Instant};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    Stream,
    Product,
}

/// How to go over what is affected. Which one is the fastest depends on the scene: many short stretches
/// cost mispredicted branches, long ones rows for nothing. So each is tried, and the fastest kept.
#[derive(Clone, Copy)]
enum Strategy {
    /// By stretches, those merged between which at most so many rows lie.
    Stretches { gap: usize },
    /// As above; a parent that is right before its child stays in registers.
    Chained { gap: usize },
    /// By a list of rows.
    Rows,
    /// All from the first to the last, in two halves that take turns: while a row waits for its parent, the
    /// other half goes on.
    Halves,
}

impl Strategy {
    const ALL: [Self; 10] = [
        Self::Stretches { gap: 0 },
        Self::Stretches { gap: 4 },
        Self::Stretches { gap: 32 },
        Self::Stretches { gap: usize::MAX },
        Self::Chained { gap: 0 },
        Self::Chained { gap: 4 },
        Self::Chained { gap: 32 },
        Self::Chained { gap: usize::MAX },
        Self::Rows,
        Self::Halves,
    ];
}

/// What to go over, and how.
enum Plan {
    Stretches(Vec<Range<usize>>),
    Chained(Vec<Range<usize>>),
    Rows(Vec<u32>),
    Halves(Halves),
}

/// Two stretches of equal length, and what must be right before one can go over both at once.
struct Halves {
    above: Vec<u32>,
    first: Range<usize>,
    second: Range<usize>,
    /// A last row, if their number is odd.
    rest: Range<usize>,
}

impl Halves {
    fn new(rows: Range<usize>, parents: &[u32]) -> Self {
        let (middle, end) = (rows.start + rows.len() / 2, rows.end - rows.len() % 2);
        // In pre-order, what is above any row of the second half, and not in it, is above its first row.
        let parent = |&row: &u32| parents.get(row as usize).copied().filter(|&parent| parent != NONE);
        let mut above: Vec<u32> = core::iter::successors(parent(&(middle as u32)), parent).collect();
        above.retain(|&row| row as usize >= rows.start);
        above.reverse();
        Self { above, first: rows.start..middle, second: middle..end, rest: end..rows.end }
    }
}

impl Plan {
    /// Of stretches in ascending order.
    fn new(strategy: Strategy, stretches: &[Range<usize>], parents: &[u32]) -> Self {
        match strategy {
            Strategy::Stretches { gap } => Self::Stretches(merged(stretches, gap)),
            Strategy::Chained { gap } => Self::Chained(merged(stretches, gap)),
            Strategy::Rows => Self::Rows(merged(stretches, 0).into_iter().flatten().map(|row| row as u32).collect()),
            Strategy::Halves => {
                let whole = merged(stretches, usize::MAX).pop().unwrap_or(0..0);
                Self::Halves(Halves::new(whole, parents))
            }
        }
    }
}

fn merged(stretches: &[Range<usize>], gap: usize) -> Vec<Range<usize>> {
    let mut merged: Vec<Range<usize>> = Vec::new();
    for stretch in stretches {
        match merged.last_mut() {
            Some(last) if stretch.start <= last.end.saturating_add(gap) => last.end = last.end.max(stretch.end),
            _ => merged.push(stretch.clone()),
        }
    }
    merged
}

/// Columns by row.
struct Columns {
    parents: Vec<u32>,
    locals: Vec<Rows>,
    worlds: Vec<Rows>,
}

impl Columns {
    #[inline(never)]
    fn multiply(&mut self, plan: &Plan) {
        // If the compiler knows the mask, it makes two shuffles of what is one `and` otherwise.
        let last = black_box(BVec4A::new(false, false, false, true));
        match plan {
            Plan::Stretches(stretches) => stretches.iter().cloned().for_each(|rows| self.multiply_stretch(last, rows)),
            Plan::Chained(stretches) => stretches.iter().cloned().for_each(|rows| self.multiply_chained(last, rows)),
            Plan::Rows(rows) => self.multiply_rows(last, rows),
            Plan::Halves(halves) => {
                self.multiply_rows(last, &halves.above);
                self.multiply_halves(last, halves);
                self.multiply_stretch(last, halves.rest.clone());
            }
        }
    }

    #[inline(always)]
    fn multiply_rows(&mut self, last: BVec4A, rows: &[u32]) {
        for &row in rows {
            let row = row as usize;
            self.worlds[row] = below(last, &self.worlds, self.parents[row], &self.locals[row]);
        }
    }

    #[inline(always)]
    fn multiply_halves(&mut self, last: BVec4A, Halves { first, second, .. }: &Halves) {
        let inputs =
            |rows: &Range<usize>| rows.clone().zip(&self.parents[rows.clone()]).zip(&self.locals[rows.clone()]);
        for (((a, &a_parent), a_local), ((b, &b_parent), b_local)) in inputs(first).zip(inputs(second)) {
            self.worlds[a] = below(last, &self.worlds, a_parent, a_local);
            self.worlds[b] = below(last, &self.worlds, b_parent, b_local);
        }
    }

    #[inline(always)]
    fn multiply_stretch(&mut self, last: BVec4A, rows: Range<usize>) {
        let inputs = rows.clone().zip(&self.parents[rows.clone()]).zip(&self.locals[rows]);
        for ((row, &parent), local) in inputs {
            self.worlds[row] = below(last, &self.worlds, parent, local);
        }
    }

    #[inline(always)]
    fn multiply_chained(&mut self, last: BVec4A, rows: Range<usize>) {
        let inputs = rows.clone().zip(&self.parents[rows.clone()]).zip(&self.locals[rows]);
        let (mut world, mut world_row) = ([[0.0; 4]; 3], NONE);
        for ((row, &parent), local) in inputs {
            world = if parent == world_row && parent != NONE {
                product(last, &world, local)
            } else {
                below(last, &self.worlds, parent, local)
            };
            world_row = row as u32;
            self.worlds[row] = world;
        }
    }

    /// Reads and writes as many bytes as [`multiply`](Self::multiply) has to. The parent is folded in so
    /// that it is read in the same pass.
    #[inline(never)]
    fn stream(&mut self, plan: &Plan) {
        let mut read = 0;
        match plan {
            Plan::Stretches(stretches) | Plan::Chained(stretches) => {
                stretches.iter().cloned().for_each(|rows| read ^= self.copy(rows));
            }
            Plan::Rows(rows) => {
                for &row in rows {
                    read ^= self.parents[row as usize];
                    self.worlds[row as usize] = self.locals[row as usize];
                }
            }
            Plan::Halves(halves) => read = self.copy(halves.first.start..halves.rest.end),
        }
        black_box(read);
    }

    #[inline(always)]
    fn copy(&mut self, rows: Range<usize>) -> u32 {
        let mut read = 0;
        let inputs = self.locals[rows.clone()].iter().zip(&self.parents[rows.clone()]);
        for (world, (local, parent)) in self.worlds[rows].iter_mut().zip(inputs) {
            read ^= parent;
            *world = *local;
        }
        read
    }
}

#[inline(always)]
fn below(last: BVec4A, worlds: &[Rows], parent: u32, local: &Rows) -> Rows {
    match worlds.get(parent as usize) {
        Some(parent) => product(last, parent, local),
        None => *local,
    }
}

#[inline(always)]
fn product(last: BVec4A, parent: &Rows, local: &Rows) -> Rows {
    let [x, y, z] = local.map(Vec4::from_array);
    parent.map(|row| {
        let p = Vec4::from_array(row);
        ((x * p.xxxx() + y * p.yyyy()) + (z * p.zzzz() + Vec4::select(last, p, Vec4::ZERO))).to_array()
    })
}

/// `T * R * S` as rows.
fn to_rows(trs: &Trs) -> Rows {
    let m = Mat3::from_quat(trs.rotation);
    let [x, y, z] = [m.x_axis * trs.scale.x, m.y_axis * trs.scale.y, m.z_axis * trs.scale.z];
    let t = trs.position;
    [[x.x, y.x, z.x, t.x], [x.y, y.y, z.y, t.y], [x.z, y.z, z.z, t.z]]
}

pub(super) struct Arrays {
    work: Work,
    /// What was set, by row: a hierarchy has to give it back.
    values: Vec<Trs>,
    columns: Columns,
    /// By node of the scene.
    rows: Vec<u32>,
    sizes: Vec<u32>,
    active: Vec<u32>,
    strategy: Option<Strategy>,
    plan: Plan,
}

impl Arrays {
    pub(super) fn new(scene: &Scene, work: Work) -> Self {
        let order = pre_order(&scene.parents);
        let rows = invert(&order);
        let values: Vec<Trs> = order.iter().map(|&node| scene.locals[node as usize]).collect();
        let parents = order.iter().map(|&node| scene.parents[node as usize]);
        Self {
            work,
            columns: Columns {
                parents: parents.map(|parent| rows.get(parent as usize).copied().unwrap_or(NONE)).collect(),
                locals: values.iter().map(to_rows).collect(),
                worlds: vec![[[0.0; 4]; 3]; order.len()],
            },
            values,
            sizes: sizes(&scene.parents),
            active: scene.movers.iter().map(|&node| rows[node as usize]).collect(),
            rows,
            strategy: None,
            plan: Plan::Rows((0..order.len() as u32).collect()),
        }
    }

    fn set_position(&mut self, row: u32, position: Vec3) {
        self.values[row as usize].position = position;
        let local = &mut self.columns.locals[row as usize];
        local.iter_mut().zip(position.to_array()).for_each(|(row, element)| row[3] = element);
    }

    fn run(&mut self) {
        match self.work {
            Work::Product => self.columns.multiply(&self.plan),
            Work::Stream => self.columns.stream(&self.plan),
        }
    }

    fn fastest(&mut self, stretches: &[Range<usize>]) -> Strategy {
        let mut best = (Duration::MAX, Strategy::ALL[0]);
        for strategy in Strategy::ALL {
            self.plan = Plan::new(strategy, stretches, &self.columns.parents);
            for _ in 0..5 {
                let start = Instant::now();
                self.run();
                let time = start.elapsed();
                if time < best.0 {
                    best = (time, strategy);
                }
            }
        }
        best.1
    }
}

impl Peer for Arrays {
    fn can(&self, ability: Ability) -> bool {
        ability == Ability::SetWhole
    }

    fn is_exact(&self) -> bool {
        self.work == Work::Product
    }

    fn prepare(&mut self, movers: &[u32]) {
        let mut stretches: Vec<Range<usize>> = movers
            .iter()
            .map(|&node| {
                self.rows[node as usize] as usize..(self.rows[node as usize] + self.sizes[node as usize]) as usize
            })
            .collect();
        stretches.sort_by_key(|stretch| stretch.start);
        let strategy = match self.strategy {
            Some(strategy) => strategy,
            None => self.fastest(&stretches),
        };
        self.strategy = Some(strategy);
        self.plan = Plan::new(strategy, &stretches, &self.columns.parents);
    }

    /// The plain loop that writes positions.
    fn set_active(&mut self, positions: &[Vec3]) {
        for (index, &position) in positions.iter().enumerate() {
            self.set_position(self.active[index], position);
        }
    }

    fn set_some(&mut self, nodes: &[u32], positions: &[Vec3]) {
        for (&node, &position) in nodes.iter().zip(positions) {
            self.set_position(self.rows[node as usize], position);
        }
    }

    /// The plain loop that converts and writes.
    fn set_whole(&mut self, locals: &[Trs]) {
        for (&row, local) in self.active.iter().zip(locals) {
            self.values[row as usize] = *local;
            self.columns.locals[row as usize] = to_rows(local);
        }
    }

    fn update(&mut self) {
        self.run();
    }

    fn world(&self, node: u32) -> Rows {
        self.columns.worlds[self.rows[node as usize] as usize]
    }
}
