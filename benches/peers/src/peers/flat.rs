//! A flat list of nodes, parents before their children, all recomputed in one loop each frame. No flags,
//! no links; the simplest thing that is fast where everything moves.

use super::{Ability, Peer, Rows, Trs, rows_of_mat4};
use crate::shapes::NONE;
use crate::workloads::Scene;
use glam::{Mat4, Vec3};

struct Node {
    local: Trs,
    parent: u32,
}

pub(super) struct Flat {
    nodes: Vec<Node>,
    worlds: Vec<Mat4>,
    /// Where each node of the scene is stored.
    rows: Vec<u32>,
    /// Which node is stored where.
    names: Vec<u32>,
    active: Vec<u32>,
    /// Whether every parent is before its children.
    is_sorted: bool,
}

impl Flat {
    pub(super) fn new(scene: &Scene) -> Self {
        let count = scene.parents.len() as u32;
        let names: Vec<u32> = if scene.children_first { (0..count).rev().collect() } else { (0..count).collect() };
        let mut flat = Self {
            nodes: Vec::new(),
            worlds: vec![Mat4::IDENTITY; count as usize],
            rows: invert(&names),
            names,
            active: Vec::new(),
            is_sorted: !scene.children_first,
        };
        for &name in &flat.names {
            let parent = flat.rows.get(scene.parents[name as usize] as usize).copied().unwrap_or(NONE);
            flat.nodes.push(Node { local: scene.locals[name as usize], parent });
        }
        flat.active = scene.movers.iter().map(|&node| flat.rows[node as usize]).collect();
        flat
    }

    /// Lays the nodes out anew, level by level from each node's depth: a stable counting sort.
    fn sort(&mut self) {
        let mut depths = vec![NONE; self.nodes.len()];
        let mut path = Vec::new();
        for row in 0..self.nodes.len() as u32 {
            let mut at = row;
            while at != NONE && depths[at as usize] == NONE {
                path.push(at);
                at = self.nodes[at as usize].parent;
            }
            let mut depth = if at == NONE { 0 } else { depths[at as usize] + 1 };
            while let Some(at) = path.pop() {
                depths[at as usize] = depth;
                depth += 1;
            }
        }
        let mut order: Vec<u32> = (0..self.nodes.len() as u32).collect();
        order.sort_by_key(|&row| depths[row as usize]);
        let moved_to = invert(&order);
        let parent = |row: u32| if row == NONE { NONE } else { moved_to[row as usize] };
        self.nodes = order
            .iter()
            .map(|&row| &self.nodes[row as usize])
            .map(|node| Node { local: node.local, parent: parent(node.parent) })
            .collect();
        self.names = order.iter().map(|&row| self.names[row as usize]).collect();
        self.rows = invert(&self.names);
        self.active.iter_mut().for_each(|row| *row = moved_to[*row as usize]);
        self.is_sorted = true;
    }
}

/// Where each number stands in a permutation.
pub(super) fn invert(order: &[u32]) -> Vec<u32> {
    let mut places = vec![0; order.len()];
    order.iter().enumerate().for_each(|(place, &name)| places[name as usize] = place as u32);
    places
}

impl Peer for Flat {
    fn can(&self, ability: Ability) -> bool {
        ability != Ability::Spawn
    }

    fn set_active(&mut self, positions: &[Vec3]) {
        for (&row, &position) in self.active.iter().zip(positions) {
            self.nodes[row as usize].local.position = position;
        }
    }

    fn set_some(&mut self, nodes: &[u32], positions: &[Vec3]) {
        for (&node, &position) in nodes.iter().zip(positions) {
            self.nodes[self.rows[node as usize] as usize].local.position = position;
        }
    }

    fn set_whole(&mut self, locals: &[Trs]) {
        for (&row, local) in self.active.iter().zip(locals) {
            self.nodes[row as usize].local = *local;
        }
    }

    fn update(&mut self) {
        if !self.is_sorted {
            self.sort();
        }
        for (row, node) in self.nodes.iter().enumerate() {
            let local = node.local.to_mat4();
            self.worlds[row] = match self.worlds.get(node.parent as usize) {
                Some(parent) => *parent * local,
                None => local,
            };
        }
    }

    fn place(&self, node: u32) -> Option<usize> {
        Some(self.rows[node as usize] as usize)
    }

    fn world(&self, node: u32) -> Rows {
        rows_of_mat4(&self.worlds[self.rows[node as usize] as usize])
    }

    fn reparent(&mut self, moves: &[(u32, u32)]) {
        for &(node, parent) in moves {
            let (row, parent) = (self.rows[node as usize], self.rows[parent as usize]);
            self.nodes[row as usize].parent = parent;
            self.is_sorted &= parent < row;
        }
    }

    fn read(&mut self, node: u32) -> Vec3 {
        let mut at = &self.nodes[self.rows[node as usize] as usize];
        let mut world = at.local.to_mat4();
        while at.parent != NONE {
            at = &self.nodes[at.parent as usize];
            world = at.local.to_mat4() * world;
        }
        world.w_axis.truncate()
    }
}
