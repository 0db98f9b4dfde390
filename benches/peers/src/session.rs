//! One peer on one workload: takes its turns, and checks its worlds.

use crate::agreement::{self, position_error};
use crate::peers::{Kind, Peer, Trs};
use crate::random::Random;
use crate::shapes::NONE;
use crate::workloads::{Action, SPAWNED, SPAWNED_SHAPE, Scene, first_spawned};
use glam::{Quat, Vec3};
use std::time::Instant;

/// How long a turn is.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    /// How many frames at most.
    pub frames: usize,
    /// After so long no further frame is begun.
    pub milliseconds: u64,
}

/// What a turn took, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Turn {
    pub frames: usize,
    /// Per frame, as are the next two.
    pub set: f64,
    pub update: f64,
    pub edit: f64,
    /// Of all updates.
    pub longest_update: f64,
    /// The most that edit and update of one frame took together.
    pub longest_frame: f64,
    /// How many times the peer laid its nodes out anew.
    pub sorts: usize,
}

/// What a frame took, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Frame {
    set: f64,
    update: f64,
    edit: f64,
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
    /// The worst of the reads before updates.
    read_error: f64,
    /// Whether a world is to be told wrongly.
    is_spoiled: bool,
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
        peer.prepare(action.first_movers(&scene.movers));
        Some(Self {
            kind,
            peer,
            action,
            scene,
            random: Random::new(7),
            frame: 0,
            nodes: Vec::new(),
            positions: Vec::new(),
            read_error: 0.0,
            is_spoiled: false,
        })
    }

    /// Runs some frames. Where one is like the other, one more before them is to warm the caches up.
    pub fn turn(&mut self, order: Order) -> Turn {
        if matches!(self.action, Action::Move | Action::MoveBatch(_) | Action::SetWhole | Action::SetBulk) {
            self.frame();
        }
        let mut turn = Turn::default();
        let start = Instant::now();
        let mut places = self.places();
        while turn.frames < order.frames
            && (turn.frames == 0 || start.elapsed().as_millis() < order.milliseconds.into())
        {
            let Frame { set, update, edit } = self.frame();
            turn.frames += 1;
            turn.set += set;
            turn.update += update;
            turn.edit += edit;
            // What counts as the edit there is an update by itself.
            let is_edit_update = self.action == Action::BuildChildrenFirst;
            turn.longest_update = turn.longest_update.max(if is_edit_update { edit.max(update) } else { update });
            turn.longest_frame = turn.longest_frame.max(if is_edit_update { edit.max(update) } else { edit + update });
            if self.action.is_amortised() {
                let old = std::mem::replace(&mut places, self.places());
                turn.sorts += usize::from(old != places);
            }
        }
        for sum in [&mut turn.set, &mut turn.update, &mut turn.edit] {
            *sum /= turn.frames as f64;
        }
        turn
    }

    /// Where some nodes are stored that no edit takes away. Edits leave them there.
    fn places(&self) -> [Option<usize>; 8] {
        let end = first_spawned(&self.scene) as usize;
        core::array::from_fn(|index| self.peer.place((index * end / 8) as u32))
    }

    fn frame(&mut self) -> Frame {
        self.frame += 1;
        match self.action {
            Action::Move => self.move_active(),
            Action::MoveBatch(count) => self.move_batch(count),
            Action::SetWhole => self.set_whole(|peer, locals| peer.set_whole(locals)),
            Action::SetBulk => self.set_whole(|peer, locals| peer.set_bulk(locals)),
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

    fn move_active(&mut self) -> Frame {
        self.positions.clear();
        for index in 0..self.scene.movers.len() {
            let position = self.shift(self.scene.movers[index]);
            self.positions.push(position);
        }
        let (peer, positions) = (&mut self.peer, &self.positions);
        let set = time(|| peer.set_active(positions));
        let update = time(|| peer.update());
        Frame { set, update, edit: 0.0 }
    }

    fn move_batch(&mut self, count: usize) -> Frame {
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
        Frame { set, update, edit: 0.0 }
    }

    fn set_whole(&mut self, set: impl FnOnce(&mut dyn Peer, &[Trs])) -> Frame {
        let random = &mut Random::new(self.frame as u64);
        let mut vector = |size: f32| Vec3::new(random.signed(), random.signed(), random.signed()) * size;
        let mut locals = Vec::with_capacity(self.scene.movers.len());
        for &node in &self.scene.movers {
            let Trs { position, rotation, .. } = self.scene.locals[node as usize];
            let rotation = (rotation * Quat::from_scaled_axis(vector(0.1))).normalize();
            let local = Trs { position: position + vector(0.1), rotation, scale: Vec3::ONE + vector(0.05) };
            self.scene.locals[node as usize] = local;
            locals.push(local);
        }
        let peer = &mut *self.peer;
        peer.stage(&locals);
        let set = time(|| set(peer, &locals));
        let update = time(|| peer.update());
        Frame { set, update, edit: 0.0 }
    }

    fn reparent_random(&mut self, count: usize) -> Frame {
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

    fn churn(&mut self) -> Frame {
        let parent = (self.frame % 2) as u32;
        let moves: Vec<(u32, u32)> = self.scene.movers.iter().map(|&node| (node, parent)).collect();
        moves.iter().for_each(|&(node, parent)| self.scene.parents[node as usize] = parent);
        self.apply(&moves)
    }

    fn apply(&mut self, moves: &[(u32, u32)]) -> Frame {
        let edit = time(|| self.peer.reparent(moves));
        let update = time(|| self.peer.update());
        Frame { set: 0.0, update, edit }
    }

    fn spawn_despawn(&mut self, count: usize) -> Frame {
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
        Frame { set: 0.0, update, edit }
    }

    fn build(&mut self) -> Frame {
        // The old one goes first, untimed; what takes its place meanwhile is small.
        self.peer = self.kind.build(&Scene::EMPTY);
        let edit = time(|| self.peer = self.kind.build(&self.scene));
        let update = time(|| self.peer.update());
        Frame { set: 0.0, update, edit }
    }

    fn build_children_first(&mut self) -> Frame {
        self.peer = self.kind.build(&self.scene);
        let first = time(|| self.peer.update());
        Frame { edit: first, ..self.move_active() }
    }

    fn read(&mut self, count: usize) -> Frame {
        /// Of how many reads one is checked.
        const CHECKED: usize = 10;

        let len = self.scene.parents.len() as u32;
        self.nodes.clear();
        self.positions.clear();
        let mut readers = Vec::with_capacity(count);
        let mut references = Vec::new();
        while readers.len() < count {
            let reader = self.random.below(len);
            let above = |node: u32| self.scene.parents.get(node as usize).copied().unwrap_or(NONE);
            let mover = above(above(reader));
            if mover != NONE {
                let position = self.shift(mover);
                self.nodes.push(mover);
                self.positions.push(position);
                if readers.len() % CHECKED == 0 {
                    references.push(agreement::reference(&self.scene, reader)); // before anything else moves
                }
                readers.push(reader);
            }
        }
        let (peer, nodes, positions) = (&mut self.peer, &self.nodes, &self.positions);
        let mut read = Vec::with_capacity(count);
        let edit = time(|| peer.set_and_read(nodes, positions, &readers, &mut read));
        let update = time(|| peer.update());
        for (position, reference) in read.iter().step_by(CHECKED).zip(&references) {
            self.read_error = self.read_error.max(position_error(*position, reference));
        }
        Frame { set: 0.0, update, edit }
    }

    /// Tells one world wrongly from now on. False where worlds are not checked.
    pub fn spoil(&mut self) -> bool {
        self.is_spoiled = true;
        self.peer.is_exact()
    }

    /// How far the peer's worlds are from float64, in the relative measure of [`agreement`]. `None` for a
    /// peer whose worlds mean nothing.
    pub fn worst_error(&mut self) -> Option<f64> {
        if !self.peer.is_exact() {
            return None;
        }
        if self.action == Action::Churn && self.frame.is_multiple_of(2) {
            self.frame(); // or all is back under its first parent, where it would be had nothing been moved
        }
        let (peer, spoiled) = (&self.peer, self.is_spoiled.then_some(self.scene.parents.len() as u32 / 2));
        let worst = agreement::worst_error(&self.scene, |node| {
            let mut world = peer.world(node);
            if spoiled == Some(node) {
                world[0][0] *= 1.001;
            }
            world
        });
        Some(worst.max(self.read_error))
    }
}

/// Nanoseconds that a call takes.
fn time(call: impl FnOnce()) -> f64 {
    let start = Instant::now();
    call();
    start.elapsed().as_nanos() as f64
}
