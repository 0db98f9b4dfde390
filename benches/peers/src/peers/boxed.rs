//! Plain nodes, each in a box of its own, each with a list of its children: the textbook scene graph. A
//! recursive walk skips what is clean, which it knows by a flag that a change carries up to the first
//! ancestor that has it.

use super::{Ability, Peer, Rows, Trs, rows_of_mat4};
use crate::shapes::NONE;
use crate::workloads::Scene;
use glam::{Mat4, Vec3};
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

struct Node {
    local: Cell<Trs>,
    /// The same, as of the last update.
    local_matrix: Cell<Mat4>,
    world: Cell<Mat4>,
    /// The local value was set, or the parent changed, since the last update.
    is_dirty: Cell<bool>,
    /// Something below is dirty.
    is_dirty_below: Cell<bool>,
    parent: RefCell<Weak<Node>>,
    children: RefCell<Vec<Rc<Node>>>,
}

impl Node {
    fn new(local: &Trs) -> Rc<Self> {
        Rc::new(Self {
            local: Cell::new(*local),
            local_matrix: Cell::new(Mat4::IDENTITY),
            world: Cell::new(Mat4::IDENTITY),
            is_dirty: Cell::new(true),
            is_dirty_below: Cell::new(true),
            parent: RefCell::new(Weak::new()),
            children: RefCell::new(Vec::new()),
        })
    }

    fn mark(&self) {
        self.is_dirty.set(true);
        let mut above = self.parent.borrow().upgrade();
        while let Some(node) = above {
            if node.is_dirty_below.replace(true) {
                break;
            }
            above = node.parent.borrow().upgrade();
        }
    }

    fn update(&self, parent: &Mat4, is_parent_moved: bool) {
        let is_dirty = self.is_dirty.replace(false);
        let is_moved = is_parent_moved || is_dirty;
        if !self.is_dirty_below.replace(false) && !is_moved {
            return;
        }
        if is_dirty {
            self.local_matrix.set(self.local.get().to_mat4());
        }
        if is_moved {
            self.world.set(*parent * self.local_matrix.get());
        }
        let world = self.world.get();
        for child in self.children.borrow().iter() {
            child.update(&world, is_moved);
        }
    }

    /// The local matrix, also before an update.
    fn local_matrix(&self) -> Mat4 {
        if self.is_dirty.get() { self.local.get().to_mat4() } else { self.local_matrix.get() }
    }

    fn set_position(&self, position: Vec3) {
        self.set_local(Trs { position, ..self.local.get() });
    }

    fn set_local(&self, local: Trs) {
        self.local.set(local);
        self.mark();
    }

    fn append(self: &Rc<Self>, child: &Rc<Self>) {
        child.parent.replace(Rc::downgrade(self));
        self.children.borrow_mut().push(child.clone());
        child.mark();
    }

    fn detach(&self) {
        if let Some(parent) = self.parent.take().upgrade() {
            parent.children.borrow_mut().retain(|child| !core::ptr::eq(&**child, self));
        }
    }
}

pub(super) struct Boxed {
    roots: Vec<Rc<Node>>,
    nodes: Vec<Rc<Node>>,
    active: Vec<Rc<Node>>,
}

impl Boxed {
    pub(super) fn new(scene: &Scene) -> Self {
        let nodes: Vec<Rc<Node>> = if scene.children_first {
            let mut nodes: Vec<_> = scene.locals.iter().rev().map(Node::new).collect();
            nodes.reverse();
            nodes
        } else {
            scene.locals.iter().map(Node::new).collect()
        };
        let mut roots = Vec::new();
        for (node, &parent) in nodes.iter().zip(&scene.parents) {
            if parent == NONE {
                roots.push(node.clone());
            } else {
                nodes[parent as usize].append(node);
            }
        }
        let active = scene.movers.iter().map(|&node| nodes[node as usize].clone()).collect();
        Self { roots, nodes, active }
    }
}

impl Peer for Boxed {
    fn can(&self, _: Ability) -> bool {
        true
    }

    fn set_active(&mut self, positions: &[Vec3]) {
        self.active.iter().zip(positions).for_each(|(node, &position)| node.set_position(position));
    }

    fn set_some(&mut self, nodes: &[u32], positions: &[Vec3]) {
        nodes.iter().zip(positions).for_each(|(&node, &position)| self.nodes[node as usize].set_position(position));
    }

    fn set_whole(&mut self, locals: &[Trs]) {
        self.active.iter().zip(locals).for_each(|(node, &local)| node.set_local(local));
    }

    fn update(&mut self) {
        self.roots.iter().for_each(|root| root.update(&Mat4::IDENTITY, false));
    }

    fn world(&self, node: u32) -> Rows {
        rows_of_mat4(&self.nodes[node as usize].world.get())
    }

    fn reparent(&mut self, moves: &[(u32, u32)]) {
        for &(node, parent) in moves {
            let node = &self.nodes[node as usize];
            node.detach();
            self.nodes[parent as usize].append(node);
        }
    }

    fn despawn(&mut self, top: u32) {
        // The table of handles keeps the boxes alive until they are replaced; the tree drops them now.
        self.nodes[top as usize].detach();
    }

    fn spawn(&mut self, parent: u32, first: u32, shape: &[Option<usize>], locals: &[Trs]) {
        for (i, (above, local)) in shape.iter().zip(locals).enumerate() {
            let above = above.map_or(parent, |above| first + above as u32);
            let node = Node::new(local);
            self.nodes[above as usize].append(&node);
            self.nodes[first as usize + i] = node;
        }
    }

    fn read(&mut self, node: u32) -> Vec3 {
        let mut at = self.nodes[node as usize].clone();
        let mut world = at.local_matrix();
        loop {
            let Some(parent) = at.parent.borrow().upgrade() else { break };
            world = parent.local_matrix() * world;
            at = parent;
        }
        world.w_axis.truncate()
    }
}
