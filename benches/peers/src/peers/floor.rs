//! Two loops that no hierarchy can beat by much, on the arrays that an update must touch: 48 bytes of
//! local row and 4 of parent index in, 48 bytes of world row out, in depth-first order.
//!
//! They are told which rows are affected, find nothing out, and keep no marks. One only streams the
//! bytes; the other multiplies.

use super::flat::invert;
use super::{Ability, Peer, Rows, Trs};
use crate::shapes::{NONE, pre_order, sizes};
use crate::workloads::Scene;
use glam::{BVec4A, Mat3, Vec3, Vec4, Vec4Swizzles};
use std::hint::black_box;
use std::ops::Range;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    Stream,
    Product,
}

pub(super) struct Arrays {
    work: Work,
    values: Vec<Trs>,
    locals: Vec<Rows>,
    parents: Vec<u32>,
    worlds: Vec<Rows>,
    /// By node of the scene.
    rows: Vec<u32>,
    sizes: Vec<u32>,
    active: Vec<u32>,
    /// Rows to recompute.
    affected: Vec<Range<usize>>,
}

impl Arrays {
    pub(super) fn new(scene: &Scene, work: Work) -> Self {
        let order = pre_order(&scene.parents);
        let rows = invert(&order);
        let parents = order.iter().map(|&node| scene.parents[node as usize]);
        let mut arrays = Self {
            work,
            values: scene.locals.clone(),
            locals: order.iter().map(|&node| to_rows(&scene.locals[node as usize])).collect(),
            parents: parents.map(|parent| rows.get(parent as usize).copied().unwrap_or(NONE)).collect(),
            worlds: vec![[[0.0; 4]; 3]; order.len()],
            rows,
            sizes: sizes(&scene.parents),
            active: scene.movers.clone(),
            affected: Vec::new(),
        };
        arrays.affected.push(0..order.len());
        arrays
    }
}

/// `T * R * S` as rows.
fn to_rows(trs: &Trs) -> Rows {
    let m = Mat3::from_quat(trs.rotation);
    let [x, y, z] = [m.x_axis * trs.scale.x, m.y_axis * trs.scale.y, m.z_axis * trs.scale.z];
    let t = trs.position;
    [[x.x, y.x, z.x, t.x], [x.y, y.y, z.y, t.y], [x.z, y.z, z.z, t.z]]
}

fn product(parent: &Rows, local: &Rows) -> Rows {
    let [x, y, z] = local.map(Vec4::from_array);
    let last = BVec4A::new(false, false, false, true);
    parent.map(|row| {
        let p = Vec4::from_array(row);
        ((x * p.xxxx() + y * p.yyyy()) + (z * p.zzzz() + Vec4::select(last, p, Vec4::ZERO))).to_array()
    })
}

#[inline(never)]
fn multiply(parents: &[u32], locals: &[Rows], worlds: &mut [Rows], rows: Range<usize>) {
    let inputs = rows.clone().zip(&parents[rows.clone()]).zip(&locals[rows]);
    for ((row, &parent), local) in inputs {
        worlds[row] = match worlds.get(parent as usize) {
            Some(parent) => product(parent, local),
            None => *local,
        };
    }
}

/// Reads and writes as many bytes as [`multiply`] has to. The index is folded in so that it is read in
/// the same pass.
#[inline(never)]
fn stream(parents: &[u32], locals: &[Rows], worlds: &mut [Rows]) {
    let mut read = 0;
    for ((world, local), parent) in worlds.iter_mut().zip(locals).zip(parents) {
        read ^= parent;
        *world = *local;
    }
    black_box(read);
}

impl Peer for Arrays {
    fn can(&self, _: Ability) -> bool {
        false
    }

    fn is_exact(&self) -> bool {
        self.work == Work::Product
    }

    fn prepare(&mut self, movers: &[u32]) {
        let mut ranges: Vec<Range<usize>> = movers
            .iter()
            .map(|&node| {
                self.rows[node as usize] as usize..(self.rows[node as usize] + self.sizes[node as usize]) as usize
            })
            .collect();
        ranges.sort_by_key(|range| range.start);
        self.affected.clear();
        for range in ranges {
            match self.affected.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => self.affected.push(range),
            }
        }
    }

    /// The plain loop that converts and writes.
    fn set_active(&mut self, positions: &[Vec3]) {
        for (&node, &position) in self.active.iter().zip(positions) {
            let value = &mut self.values[node as usize];
            value.position = position;
            self.locals[self.rows[node as usize] as usize] = to_rows(value);
        }
    }

    fn set_some(&mut self, nodes: &[u32], positions: &[Vec3]) {
        for (&node, &position) in nodes.iter().zip(positions) {
            let value = &mut self.values[node as usize];
            value.position = position;
            self.locals[self.rows[node as usize] as usize] = to_rows(value);
        }
    }

    fn update(&mut self) {
        for range in &self.affected {
            match self.work {
                Work::Product => multiply(&self.parents, &self.locals, &mut self.worlds, range.clone()),
                Work::Stream => {
                    stream(&self.parents[range.clone()], &self.locals[range.clone()], &mut self.worlds[range.clone()])
                }
            }
        }
    }

    fn world(&self, node: u32) -> Rows {
        self.worlds[self.rows[node as usize] as usize]
    }
}
