//! A transform hierarchy as it is usually written: a heap node each, a vector of children, dirty flags,
//! a cached local matrix, and recursion. It skips clean subtrees, which it knows by a flag that a change
//! carries up to the first ancestor that has it.

use posetree::{
    Transform,
    glam::{Mat4, Quat, Vec3},
};
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

#[derive(Debug)]
pub(crate) struct Node {
    transform: Cell<Transform>,
    local: Cell<Mat4>,
    world: Cell<Mat4>,
    /// The own transform changed since the last update.
    is_dirty: Cell<bool>,
    /// Something below is dirty.
    is_dirty_below: Cell<bool>,
    parent: RefCell<Weak<Node>>,
    children: RefCell<Vec<Rc<Node>>>,
}

impl Node {
    fn new(transform: Transform) -> Rc<Self> {
        Rc::new(Self {
            transform: Cell::new(transform),
            local: Cell::new(Mat4::IDENTITY),
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

    fn update(&self, parent: Option<&Mat4>, parent_changed: bool) {
        let is_dirty = self.is_dirty.replace(false);
        let below = self.is_dirty_below.replace(false);
        let changed = is_dirty || parent_changed;
        if !changed && !below {
            return;
        }
        if is_dirty {
            let Transform { position, rotation, scale } = self.transform.get();
            self.local.set(Mat4::from_scale_rotation_translation(scale, rotation, position));
        }
        if changed {
            let local = self.local.get();
            self.world.set(parent.map_or(local, |parent| *parent * local));
        }
        let world = self.world.get();
        for child in self.children.borrow().iter() {
            child.update(Some(&world), changed);
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Plain {
    roots: Vec<Rc<Node>>,
    /// Every node, by the number it was created with.
    nodes: Vec<Rc<Node>>,
}

impl Plain {
    pub(crate) fn new(parents: &[Option<usize>], locals: &[Transform]) -> Self {
        let nodes: Vec<Rc<Node>> = locals.iter().map(|&local| Node::new(local)).collect();
        let mut roots = Vec::new();
        for (node, parent) in nodes.iter().zip(parents) {
            match parent {
                None => roots.push(Rc::clone(node)),
                Some(parent) => {
                    *node.parent.borrow_mut() = Rc::downgrade(&nodes[*parent]);
                    nodes[*parent].children.borrow_mut().push(Rc::clone(node));
                }
            }
        }
        Self { roots, nodes }
    }

    pub(crate) fn set_local(&self, node: usize, local: Transform) {
        self.nodes[node].transform.set(local);
        self.nodes[node].mark();
    }

    pub(crate) fn set_position(&self, node: usize, position: Vec3) {
        let node = &self.nodes[node];
        node.transform.set(node.transform.get().with_position(position));
        node.mark();
    }

    pub(crate) fn set_rotation(&self, node: usize, rotation: Quat) {
        let node = &self.nodes[node];
        node.transform.set(node.transform.get().with_rotation(rotation));
        node.mark();
    }

    pub(crate) fn update(&self) {
        for root in &self.roots {
            root.update(None, false);
        }
    }

    pub(crate) fn world(&self, node: usize) -> Mat4 {
        self.nodes[node].world.get()
    }

    /// Moves a node that has a parent to another one. To keep the world pose it takes the matrices of
    /// the last update, inverts and takes apart: right for trees without non-uniform scale.
    pub(crate) fn reparent(&self, node: usize, parent: usize, keep_world: bool) {
        let (node, parent) = (&self.nodes[node], &self.nodes[parent]);
        if keep_world {
            let local = parent.world.get().inverse() * node.world.get();
            let (scale, rotation, position) = local.to_scale_rotation_translation();
            node.transform.set(Transform { position, rotation, scale });
        }
        let old = node.parent.replace(Rc::downgrade(parent));
        if let Some(old) = old.upgrade() {
            let mut children = old.children.borrow_mut();
            if let Some(place) = children.iter().position(|child| Rc::ptr_eq(child, node)) {
                children.remove(place);
            }
        }
        parent.children.borrow_mut().push(Rc::clone(node));
        node.mark();
    }
}
