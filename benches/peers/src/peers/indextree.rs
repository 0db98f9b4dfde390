//! An arena of nodes from the `indextree` crate, with glam's affine matrices and a dirty flag per node:
//! what many write themselves. A walk visits every node and recomputes those that are dirty or below one.

use super::{Ability, Peer, Rows, Trs, rows_of};
use crate::shapes::NONE;
use crate::workloads::Scene;
use glam::{Affine3A, Vec3};
use indextree::{Arena, NodeId};

struct Node {
    local: Trs,
    world: Affine3A,
    is_dirty: bool,
}

impl Node {
    fn new(local: &Trs) -> Self {
        Self { local: *local, world: Affine3A::IDENTITY, is_dirty: true }
    }

    fn local(&self) -> Affine3A {
        Affine3A::from_scale_rotation_translation(self.local.scale, self.local.rotation, self.local.position)
    }
}

pub(super) struct Indextree {
    arena: Arena<Node>,
    roots: Vec<NodeId>,
    ids: Vec<NodeId>,
    active: Vec<NodeId>,
    stack: Vec<(NodeId, Affine3A, bool)>,
}

impl Indextree {
    pub(super) fn new(scene: &Scene) -> Self {
        let mut arena = Arena::new();
        let mut ids: Vec<NodeId> = if scene.children_first {
            scene.locals.iter().rev().map(|local| arena.new_node(Node::new(local))).collect()
        } else {
            scene.locals.iter().map(|local| arena.new_node(Node::new(local))).collect()
        };
        if scene.children_first {
            ids.reverse();
        }
        let mut roots = Vec::new();
        for (node, &parent) in scene.parents.iter().enumerate() {
            if parent == NONE {
                roots.push(ids[node]);
            } else {
                ids[parent as usize].append(ids[node], &mut arena);
            }
        }
        let active = scene.movers.iter().map(|&node| ids[node as usize]).collect();
        Self { arena, roots, ids, active, stack: Vec::new() }
    }

    fn set(&mut self, id: NodeId, position: Vec3) {
        let node = self.arena[id].get_mut();
        node.local.position = position;
        node.is_dirty = true;
    }

    /// Empties the stack: walks the trees below what is on it.
    fn walk(&mut self) {
        while let Some((id, parent_world, is_parent_moved)) = self.stack.pop() {
            let entry = &mut self.arena[id];
            let (first, next) = (entry.first_child(), entry.next_sibling());
            let node = entry.get_mut();
            let is_moved = is_parent_moved || node.is_dirty;
            if is_moved {
                node.world = parent_world * node.local();
                node.is_dirty = false;
            }
            let world = node.world;
            // Siblings through their links: a list of children would have to be allocated.
            if let Some(next) = next {
                self.stack.push((next, parent_world, is_parent_moved));
            }
            if let Some(first) = first {
                self.stack.push((first, world, is_moved));
            }
        }
    }
}

impl Peer for Indextree {
    fn can(&self, _: Ability) -> bool {
        true
    }

    fn set_active(&mut self, positions: &[Vec3]) {
        for (index, &position) in positions.iter().enumerate() {
            self.set(self.active[index], position);
        }
    }

    fn set_some(&mut self, nodes: &[u32], positions: &[Vec3]) {
        for (&node, &position) in nodes.iter().zip(positions) {
            self.set(self.ids[node as usize], position);
        }
    }

    fn set_whole(&mut self, locals: &[Trs]) {
        for (&id, local) in self.active.iter().zip(locals) {
            let node = self.arena[id].get_mut();
            node.local = *local;
            node.is_dirty = true;
        }
    }

    fn update(&mut self) {
        // One root after the other: the stack stays short, and memory is walked as it was filled.
        for index in 0..self.roots.len() {
            self.stack.push((self.roots[index], Affine3A::IDENTITY, false));
            self.walk();
        }
    }

    fn world(&self, node: u32) -> Rows {
        let world = self.arena[self.ids[node as usize]].get().world;
        let [x, y, z] = world.matrix3.to_cols_array_2d();
        rows_of([x, y, z, world.translation.to_array()])
    }

    fn reparent(&mut self, moves: &[(u32, u32)]) {
        for &(node, parent) in moves {
            let id = self.ids[node as usize];
            id.detach(&mut self.arena);
            self.ids[parent as usize].append(id, &mut self.arena);
            self.arena[id].get_mut().is_dirty = true;
        }
    }

    fn despawn(&mut self, top: u32) {
        self.ids[top as usize].remove_subtree(&mut self.arena);
    }

    fn spawn(&mut self, parent: u32, first: u32, shape: &[Option<usize>], locals: &[Trs]) {
        for (i, (above, local)) in shape.iter().zip(locals).enumerate() {
            let above = above.map_or(parent, |above| first + above as u32);
            let id = self.arena.new_node(Node::new(local));
            self.ids[above as usize].append(id, &mut self.arena);
            self.ids[first as usize + i] = id;
        }
    }

    fn read(&mut self, node: u32) -> Vec3 {
        let mut world = Affine3A::IDENTITY;
        for id in self.ids[node as usize].ancestors(&self.arena) {
            world = self.arena[id].get().local() * world;
        }
        world.translation.into()
    }
}
