//! posetree itself, used as its documentation says.

use super::{Ability, Peer, Rows, Trs};
use crate::shapes::NONE;
use crate::workloads::Scene;
use glam::Vec3;
use posetree::{Hierarchy, Keep, NodeId, Transform};

pub(super) struct Posetree {
    hierarchy: Hierarchy,
    ids: Vec<NodeId>,
    active: Vec<NodeId>,
    staged: Vec<(NodeId, Transform)>,
}

fn transform(trs: &Trs) -> Transform {
    Transform::new(trs.position, trs.rotation, trs.scale)
}

impl Posetree {
    pub(super) fn new(scene: &Scene) -> Self {
        let mut hierarchy = Hierarchy::new();
        let ids = if scene.children_first {
            // One by one: `extend` would lay them out well.
            let mut ids: Vec<NodeId> =
                scene.locals.iter().rev().map(|local| hierarchy.add_root(transform(local)).unwrap()).collect();
            ids.reverse();
            for (node, &parent) in scene.parents.iter().enumerate().rev() {
                if parent != NONE {
                    hierarchy.reparent(ids[node], ids[parent as usize], Keep::Local).unwrap();
                }
            }
            ids
        } else {
            let parents: Vec<Option<usize>> =
                scene.parents.iter().map(|&parent| (parent != NONE).then_some(parent as usize)).collect();
            let locals: Vec<Transform> = scene.locals.iter().map(transform).collect();
            hierarchy.extend(None, &parents, &locals).unwrap()
        };
        let active = scene.movers.iter().map(|&node| ids[node as usize]).collect();
        Self { hierarchy, ids, active, staged: Vec::new() }
    }
}

impl Peer for Posetree {
    fn can(&self, _: Ability) -> bool {
        true
    }

    fn set_active(&mut self, positions: &[Vec3]) {
        for (&id, &position) in self.active.iter().zip(positions) {
            self.hierarchy.set_position(id, position).unwrap();
        }
    }

    fn set_some(&mut self, nodes: &[u32], positions: &[Vec3]) {
        for (&node, &position) in nodes.iter().zip(positions) {
            self.hierarchy.set_position(self.ids[node as usize], position).unwrap();
        }
    }

    fn set_whole(&mut self, locals: &[Trs]) {
        for (&id, local) in self.active.iter().zip(locals) {
            self.hierarchy.set_local(id, transform(local)).unwrap();
        }
    }

    fn stage(&mut self, locals: &[Trs]) {
        self.staged.clear();
        self.staged.extend(self.active.iter().zip(locals).map(|(&id, local)| (id, transform(local))));
    }

    fn set_bulk(&mut self, _: &[Trs]) {
        self.hierarchy.set_locals(&self.staged).unwrap();
    }

    fn update(&mut self) {
        self.hierarchy.update();
    }

    fn place(&self, node: u32) -> Option<usize> {
        self.hierarchy.worlds()?.row_of(self.ids[node as usize]).ok()
    }

    fn world(&self, node: u32) -> Rows {
        self.hierarchy.worlds().expect("updated")[self.ids[node as usize]]
    }

    fn reparent(&mut self, moves: &[(u32, u32)]) {
        for &(node, parent) in moves {
            self.hierarchy.reparent(self.ids[node as usize], self.ids[parent as usize], Keep::Local).unwrap();
        }
    }

    fn despawn(&mut self, top: u32) {
        self.hierarchy.remove_subtree(self.ids[top as usize]).unwrap();
    }

    fn spawn(&mut self, parent: u32, first: u32, shape: &[Option<usize>], locals: &[Trs]) {
        let transforms: [Transform; 8] = core::array::from_fn(|i| transform(&locals[i]));
        let ids = self.hierarchy.extend(self.ids[parent as usize], shape, &transforms[..shape.len()]).unwrap();
        self.ids[first as usize..][..ids.len()].copy_from_slice(&ids);
    }

    fn read(&mut self, node: u32) -> Vec3 {
        self.hierarchy.world_position(self.ids[node as usize]).unwrap()
    }
}
