//! One peer on one workload: takes its turns, and checks its worlds against float64.

use crate::peers::{Kind, Peer, Rows, Trs};
use crate::random::Random;
use crate::shapes::NONE;
use crate::workloads::{Action, SPAWNED, SPAWNED_SHAPE, Scene, first_spawned};
use glam::{DMat4, Vec3};
use std::hint::black_box;
use std::time::Instant;

/// Nanoseconds of one turn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Turn {
    /// Per frame, as are the next two.
    pub set: f64,
    pub update: f64,
    pub edit: f64,
    /// The longest update of the turn.
    pub longest: f64,
}

impl Turn {
    pub fn total(&self) -> f64 {
        self.set + self.update + self.edit
    }
}

pub struct Session {
    kind: Kind,
    peer: Box<dyn Peer>,
    action: Action,
    /// As built. Edits change its parents and locals along with the peer's, outside of what is timed.
    scene: Scene,
    random: Random,
    frame: usize,
    nodes: Vec<u32>,
    positions: Vec<Vec3>,
}

impl Session {
    /// `None` if the peer cannot do what the workload asks for.
    pub fn new(kind: Kind, action: Action, scene: Scene) -> Option<Self> {
        let mut peer = kind.build(&scene);
        if action.needs().is_some_and(|ability| !peer.can(ability)) {
            return None;
        }
        if action != Action::BuildChildrenFirst {
            peer.update();
        }
        peer.prepare(&scene.movers);
        let random = Random::new(7);
        Some(Self { kind, peer, action, scene, random, frame: 0, nodes: Vec::new(), positions: Vec::new() })
    }

    /// Runs some frames. The first is to warm the caches up, where one frame is like the other.
    pub fn turn(&mut self, frames: usize) -> Turn {
        let warm_up = usize::from(matches!(self.action, Action::Move | Action::MoveBatch(_)));
        for _ in 0..warm_up {
            self.frame();
        }
        let mut sum = Turn::default();
        for _ in 0..frames {
            let frame = self.frame();
            sum.set += frame.set / frames as f64;
            sum.update += frame.update / frames as f64;
            sum.edit += frame.edit / frames as f64;
            sum.longest = sum.longest.max(frame.longest);
        }
        sum
    }

    fn frame(&mut self) -> Turn {
        self.frame += 1;
        match self.action {
            Action::Move => self.move_active(),
            Action::MoveBatch(count) => self.move_batch(count),
            Action::Reparent(count) => self.reparent_random(count),
            Action::Churn => self.churn(),
            Action::SpawnDespawn(count) => self.spawn_despawn(count),
            Action::Build => self.build(),
            Action::BuildChildrenFirst => self.build_children_first(),
            Action::Read(count) => self.read(count),
        }
    }

    /// A new position for a node: where it was, a little shifted. A random walk over the frames: were it
    /// to come back, a peer that never moved anything would look right.
    fn shift(&mut self, node: u32) -> Vec3 {
        let step = Random::new(self.frame as u64).signed();
        let position = &mut self.scene.locals[node as usize].position;
        *position += step;
        *position
    }

    fn move_active(&mut self) -> Turn {
        self.positions.clear();
        for index in 0..self.scene.movers.len() {
            let position = self.shift(self.scene.movers[index]);
            self.positions.push(position);
        }
        let (peer, positions) = (&mut self.peer, &self.positions);
        let set = time(|| peer.set_active(positions));
        let update = time(|| peer.update());
        Turn { set, update, longest: update, ..Turn::default() }
    }

    fn move_batch(&mut self, count: usize) -> Turn {
        let movers = &self.scene.movers;
        let batches = movers.len() / count;
        self.nodes.clear();
        self.nodes.extend_from_slice(&movers[self.frame % batches * count..][..count]);
        self.positions.clear();
        for index in 0..count {
            let position = self.shift(self.nodes[index]);
            self.positions.push(position);
        }
        let (peer, nodes, positions) = (&mut self.peer, &self.nodes, &self.positions);
        peer.prepare(nodes);
        let set = time(|| peer.set_some(nodes, positions));
        let update = time(|| peer.update());
        Turn { set, update, longest: update, ..Turn::default() }
    }

    fn reparent_random(&mut self, count: usize) -> Turn {
        let len = self.scene.parents.len() as u32;
        let mut moves = Vec::with_capacity(count);
        while moves.len() < count {
            let (node, parent) = (self.random.below(len), self.random.below(len));
            if self.scene.parents[node as usize] != NONE && !self.is_at_or_above(node, parent) {
                self.scene.parents[node as usize] = parent;
                moves.push((node, parent));
            }
        }
        self.apply(&moves)
    }

    fn is_at_or_above(&self, node: u32, mut at: u32) -> bool {
        while at != NONE && at != node {
            at = self.scene.parents[at as usize];
        }
        at == node
    }

    fn churn(&mut self) -> Turn {
        let parent = (self.frame % 2) as u32;
        let moves: Vec<(u32, u32)> = self.scene.movers.iter().map(|&node| (node, parent)).collect();
        moves.iter().for_each(|&(node, parent)| self.scene.parents[node as usize] = parent);
        self.apply(&moves)
    }

    fn apply(&mut self, moves: &[(u32, u32)]) -> Turn {
        let edit = time(|| self.peer.reparent(moves));
        let update = time(|| self.peer.update());
        Turn { edit, update, longest: update, ..Turn::default() }
    }

    fn spawn_despawn(&mut self, count: usize) -> Turn {
        let kept = first_spawned(&self.scene);
        let subtrees = (self.scene.parents.len() as u32 - kept) / SPAWNED as u32;
        let mut tops: Vec<u32> = (0..subtrees).map(|index| kept + index * SPAWNED as u32).collect();
        self.random.shuffle(&mut tops);
        tops.truncate(count);
        let spawned: Vec<(u32, u32)> = tops.iter().map(|&top| (self.random.below(kept), top)).collect();
        spawned.iter().for_each(|&(parent, top)| self.scene.parents[top as usize] = parent);
        let (peer, locals) = (&mut self.peer, &self.scene.locals);
        let edit = time(|| {
            tops.iter().for_each(|&top| peer.despawn(top));
            for &(parent, first) in &spawned {
                peer.spawn(parent, first, &SPAWNED_SHAPE, &locals[first as usize..][..SPAWNED]);
            }
        });
        let update = time(|| peer.update());
        Turn { edit, update, longest: update, ..Turn::default() }
    }

    fn build(&mut self) -> Turn {
        // The old one goes first, untimed; what takes its place meanwhile is small.
        self.peer = self.kind.build(&Scene { parents: vec![], locals: vec![], movers: vec![], children_first: false });
        let edit = time(|| self.peer = self.kind.build(&self.scene));
        let update = time(|| self.peer.update());
        Turn { edit, update, longest: update, ..Turn::default() }
    }

    fn build_children_first(&mut self) -> Turn {
        self.peer = self.kind.build(&self.scene);
        let first = time(|| self.peer.update());
        let frame = self.move_active();
        Turn { edit: first, longest: first.max(frame.update), ..frame }
    }

    fn read(&mut self, count: usize) -> Turn {
        let len = self.scene.parents.len() as u32;
        self.nodes.clear();
        self.positions.clear();
        let mut readers = Vec::with_capacity(count);
        while readers.len() < count {
            let reader = self.random.below(len);
            let above = |node: u32| self.scene.parents.get(node as usize).copied().unwrap_or(NONE);
            let mover = above(above(reader));
            if mover != NONE {
                let position = self.shift(mover);
                self.nodes.push(mover);
                self.positions.push(position);
                readers.push(reader);
            }
        }
        let (peer, nodes, positions) = (&mut self.peer, &self.nodes, &self.positions);
        let edit = time(|| {
            let mut sum = Vec3::ZERO;
            for index in 0..count {
                peer.set_some(&nodes[index..][..1], &positions[index..][..1]);
                sum += peer.read(readers[index]);
            }
            black_box(sum);
        });
        let update = time(|| peer.update());
        Turn { edit, update, longest: update, ..Turn::default() }
    }

    /// The largest deviation of a world's element from float64, in units of its matrix's largest element
    /// or of one, over a sample of nodes. `None` for a peer whose worlds mean nothing.
    pub fn worst_error(&mut self) -> Option<f64> {
        if !self.peer.is_exact() {
            return None;
        }
        if self.action == Action::Churn && self.frame.is_multiple_of(2) {
            self.frame(); // or all is back under its first parent, where it would be had nothing been moved
        }
        let len = self.scene.parents.len() as u32;
        let mut random = Random::new(8);
        let mut sample: Vec<u32> = (0..2000).map(|_| random.below(len)).collect();
        let movers = if self.nodes.is_empty() { &self.scene.movers } else { &self.nodes };
        sample.extend(movers.iter().step_by(movers.len() / 2000 + 1));
        let errors = sample.into_iter().map(|node| deviation(&self.peer.world(node), &self.reference(node)));
        Some(errors.fold(0.0, f64::max))
    }

    fn reference(&self, node: u32) -> DMat4 {
        let mut world = DMat4::IDENTITY;
        let mut at = node;
        while at != NONE {
            let Trs { position, rotation, scale } = self.scene.locals[at as usize];
            let local = DMat4::from_scale_rotation_translation(
                scale.as_dvec3(),
                rotation.as_dquat().normalize(),
                position.as_dvec3(),
            );
            world = local * world;
            at = self.scene.parents[at as usize];
        }
        world
    }
}

fn deviation(world: &Rows, reference: &DMat4) -> f64 {
    let mut worst: f64 = 0.0;
    let mut size: f64 = 1.0;
    for (row, elements) in world.iter().enumerate() {
        for (column, &element) in elements.iter().enumerate() {
            let wanted = reference.col(column)[row];
            if !element.is_finite() {
                return f64::INFINITY; // `max` would drop a NaN
            }
            worst = worst.max((f64::from(element) - wanted).abs());
            size = size.max(wanted.abs());
        }
    }
    worst / size
}

/// Nanoseconds that a call takes.
fn time(call: impl FnOnce()) -> f64 {
    let start = Instant::now();
    call();
    start.elapsed().as_nanos() as f64
}
