//! The ways in which a hierarchy can keep its local values, on one and the same layout: rows in depth-first
//! order, a bit per dirty row, subtrees swept whole. What `posetree` does is `at_set`; the others are here so
//! that the choice can be measured again. No edits, no checks, no ids.

use super::flat::invert;
use super::{Ability, Peer, Rows, Trs};
use crate::shapes::{self, NONE};
use crate::workloads::Scene;
use glam::{Mat4, Vec3, Vec4, Vec4Swizzles};
use std::hint::black_box;

/// When a position, rotation and scale becomes a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// As it is set. Of a position alone that is three numbers.
    AtSet,
    /// At the next update, four at a time, of those that were set.
    AtUpdate,
    /// At every update, four at a time, of all that are affected: no matrix is kept.
    Never,
}

/// How many rows are converted before they are swept: 3 KiB, which stay in the nearest cache.
const BATCH: usize = 64;

pub(super) struct Ways {
    way: Way,
    /// Whether a set writes the whole local value and not its position only.
    whole: bool,
    /// By node, or where no matrix is kept by row.
    transforms: Vec<Trs>,
    rows: Vec<u32>,
    nodes: Vec<u32>,
    parents: Vec<u32>,
    spans: Vec<u32>,
    marks: Vec<u64>,
    locals: Vec<Rows>,
    worlds: Vec<Rows>,
    active: Vec<u32>,
}

impl Ways {
    pub(super) fn new(scene: &Scene, way: Way, whole: bool) -> Self {
        let nodes = shapes::pre_order(&scene.parents);
        let rows = invert(&nodes);
        let sizes = shapes::sizes(&scene.parents);
        let count = nodes.len();
        let parent = |&node: &u32| rows.get(scene.parents[node as usize] as usize).copied().unwrap_or(NONE);
        let transforms: Vec<Trs> = match way {
            Way::Never => nodes.iter().map(|&node| scene.locals[node as usize]).collect(),
            _ => scene.locals.clone(),
        };
        let local = |&node: &u32| rows_of_trs(&scene.locals[node as usize]);
        let mut marks = vec![u64::MAX; count.div_ceil(64)];
        if !count.is_multiple_of(64) {
            marks[count / 64] = u64::MAX >> (64 - count % 64);
        }
        Self {
            way,
            whole,
            parents: nodes.iter().map(parent).collect(),
            spans: nodes.iter().map(|&node| sizes[node as usize]).collect(),
            marks,
            locals: if way == Way::Never { Vec::new() } else { nodes.iter().map(local).collect() },
            worlds: vec![[[0.0; 4]; 3]; count],
            active: scene.movers.clone(),
            transforms,
            rows,
            nodes,
        }
    }

    fn set(&mut self, node: u32, position: Vec3) {
        let row = self.rows[node as usize] as usize;
        let at = if self.way == Way::Never { row } else { node as usize };
        if self.whole {
            // As if all of it came from the caller.
            let Trs { rotation, scale, .. } = self.transforms[at];
            let trs = Trs { position, rotation: black_box(rotation), scale: black_box(scale) };
            if self.way == Way::AtSet {
                self.locals[row] = rows_of_trs(&trs);
            }
            self.transforms[at] = trs;
        } else {
            self.transforms[at].position = position;
            if self.way == Way::AtSet {
                self.locals[row].iter_mut().zip(position.to_array()).for_each(|(row, p)| row[3] = p);
            }
        }
        self.marks[row / 64] |= 1 << (row % 64);
    }

    /// The first marked row from there on.
    fn next(&self, row: usize) -> Option<usize> {
        let mut index = row / 64;
        let mut word = *self.marks.get(index)? & u64::MAX << (row % 64);
        while word == 0 {
            index += 1;
            word = *self.marks.get(index)?;
        }
        Some(index * 64 + word.trailing_zeros() as usize)
    }

    /// Converts what is marked among those rows.
    fn convert_marked(&mut self, start: usize, end: usize) {
        let mut four = [0; 4];
        let mut count = 0;
        let mut at = start;
        while let Some(row) = self.next(at).filter(|&row| row < end) {
            (four[count], count, at) = (row, count + 1, row + 1);
            if count == 4 {
                let converted = rows_of_four(four.map(|row| &self.transforms[self.nodes[row] as usize]));
                four.iter().zip(converted).for_each(|(&row, local)| self.locals[row] = local);
                count = 0;
            }
        }
        for &row in &four[..count] {
            self.locals[row] = rows_of_trs(&self.transforms[self.nodes[row] as usize]);
        }
    }

    fn sweep(&mut self, start: usize, end: usize) {
        if self.way != Way::Never {
            return sweep(&self.parents, &self.locals[start..end], &mut self.worlds, start);
        }
        let mut batch = [[[0.0; 4]; 3]; BATCH];
        for start in (start..end).step_by(BATCH) {
            let transforms = &self.transforms[start..end.min(start + BATCH)];
            let (fours, rest) = transforms.as_chunks::<4>();
            for (four, out) in fours.iter().zip(batch.as_chunks_mut::<4>().0) {
                *out = rows_of_four(four.each_ref());
            }
            for (transform, out) in rest.iter().zip(&mut batch[4 * fours.len()..]) {
                *out = rows_of_trs(transform);
            }
            sweep(&self.parents, &batch[..transforms.len()], &mut self.worlds, start);
        }
    }

    fn unmark(&mut self, start: usize, end: usize) {
        let (first, last) = (start / 64, (end - 1) / 64);
        let (head, tail) = (u64::MAX << (start % 64), u64::MAX >> (63 - (end - 1) % 64));
        if first == last {
            self.marks[first] &= !(head & tail);
            return;
        }
        self.marks[first] &= !head;
        self.marks[first + 1..last].fill(0);
        self.marks[last] &= !tail;
    }
}

#[inline(never)]
fn sweep(parents: &[u32], locals: &[Rows], worlds: &mut [Rows], start: usize) {
    let parents = &parents[start..start + locals.len()];
    for ((row, &parent), local) in (start..).zip(parents).zip(locals) {
        worlds[row] = match worlds.get(parent as usize) {
            Some(parent) => product(parent, local),
            None => *local,
        };
    }
}

fn product(parent: &Rows, local: &Rows) -> Rows {
    let [x, y, z] = local.map(Vec4::from_array);
    parent.map(|row| {
        let p = Vec4::from_array(row);
        ((x * p.xxxx() + y * p.yyyy()) + (z * p.zzzz() + p * Vec4::W)).to_array()
    })
}

fn rows_of_trs(trs: &Trs) -> Rows {
    let ([x, y, z, w], [sx, sy, sz], [px, py, pz]) =
        (trs.rotation.to_array(), trs.scale.to_array(), trs.position.to_array());
    let (x2, y2, z2) = (x + x, y + y, z + z);
    let (xx, xy, xz) = (x * x2, x * y2, x * z2);
    let (yy, yz, zz) = (y * y2, y * z2, z * z2);
    let (wx, wy, wz) = (w * x2, w * y2, w * z2);
    [
        [(1.0 - (yy + zz)) * sx, (xy - wz) * sy, (xz + wy) * sz, px],
        [(xy + wz) * sx, (1.0 - (xx + zz)) * sy, (yz - wx) * sz, py],
        [(xz - wy) * sx, (yz + wx) * sy, (1.0 - (xx + yy)) * sz, pz],
    ]
}

/// Four at once, a lane each.
#[inline(always)]
fn rows_of_four(four: [&Trs; 4]) -> [Rows; 4] {
    let lanes = |pick: fn(&Trs) -> Vec4| {
        let [a, b, c, d] = four.map(pick);
        let lanes = Mat4::from_cols(a, b, c, d).transpose();
        [lanes.x_axis, lanes.y_axis, lanes.z_axis, lanes.w_axis]
    };
    let [x, y, z, w] = lanes(|trs| trs.rotation.into());
    let [sx, sy, sz, _] = lanes(|trs| trs.scale.extend(0.0));
    let [px, py, pz, _] = lanes(|trs| trs.position.extend(0.0));
    let (x2, y2, z2) = (x + x, y + y, z + z);
    let (xx, xy, xz) = (x * x2, x * y2, x * z2);
    let (yy, yz, zz) = (y * y2, y * z2, z * z2);
    let (wx, wy, wz) = (w * x2, w * y2, w * z2);
    let one = Vec4::ONE;
    let rows = [
        [(one - (yy + zz)) * sx, (xy - wz) * sy, (xz + wy) * sz, px],
        [(xy + wz) * sx, (one - (xx + zz)) * sy, (yz - wx) * sz, py],
        [(xz - wy) * sx, (yz + wx) * sy, (one - (xx + yy)) * sz, pz],
    ];
    let [a, b, c] = rows.map(|[a, b, c, d]| Mat4::from_cols(a, b, c, d).transpose());
    [
        [a.x_axis, b.x_axis, c.x_axis],
        [a.y_axis, b.y_axis, c.y_axis],
        [a.z_axis, b.z_axis, c.z_axis],
        [a.w_axis, b.w_axis, c.w_axis],
    ]
    .map(|rows| rows.map(|row| row.to_array()))
}

impl Peer for Ways {
    fn can(&self, _: Ability) -> bool {
        false
    }

    fn set_active(&mut self, positions: &[Vec3]) {
        for (index, &position) in positions.iter().enumerate() {
            self.set(self.active[index], position);
        }
    }

    fn set_some(&mut self, nodes: &[u32], positions: &[Vec3]) {
        for (&node, &position) in nodes.iter().zip(positions) {
            self.set(node, position);
        }
    }

    fn update(&mut self) {
        let mut at = 0;
        while let Some(start) = self.next(at) {
            // A dirty subtree with those that follow right after it.
            let mut end = start + self.spans[start] as usize;
            while end < self.parents.len() && self.marks[end / 64] >> (end % 64) & 1 == 1 {
                end += self.spans[end] as usize;
            }
            if self.way == Way::AtUpdate {
                self.convert_marked(start, end);
            }
            self.sweep(start, end);
            self.unmark(start, end);
            at = end;
        }
    }

    fn world(&self, node: u32) -> Rows {
        self.worlds[self.rows[node as usize] as usize]
    }
}
