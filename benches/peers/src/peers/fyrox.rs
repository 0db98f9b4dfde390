//! The scene graph of the engine Fyrox, without the rest of a frame: nodes are pivots, which are nothing but a
//! transform; physics is off, and no node is asked to update itself. Changes are messages in a channel. An update
//! takes them out, finds the topmost nodes that have changed, recomputes all below them, and passes over all nodes
//! once for what lies outside of the graph, such as rigid bodies.

use super::{Ability, Peer, Rows, Trs, rows_of};
use crate::shapes::NONE;
use crate::workloads::Scene;
use fyrox_impl::core::algebra::{Quaternion, UnitQuaternion, Vector2, Vector3};
use fyrox_impl::core::pool::Handle;
use fyrox_impl::graph::SceneGraph;
use fyrox_impl::scene::graph::{Graph, GraphUpdateSwitches};
use fyrox_impl::scene::node::Node;
use fyrox_impl::scene::pivot::Pivot;
use fyrox_impl::scene::transform::Transform;
use glam::Vec3;

pub(super) struct Fyrox {
    graph: Graph,
    handles: Vec<Handle<Node>>,
    active: Vec<Handle<Node>>,
    is_buildable: bool,
}

impl Fyrox {
    /// Parents first in any case: what has no parent yet is a child of the scene's one root, and each node that leaves
    /// it is looked for among all of those.
    pub(super) fn new(scene: &Scene) -> Self {
        let mut graph = Graph::new();
        let mut handles = Vec::with_capacity(scene.parents.len());
        for (&parent, local) in scene.parents.iter().zip(&scene.locals) {
            let handle = add(&mut graph, local);
            if parent != NONE {
                let parent: Handle<Node> = handles[parent as usize];
                graph.link_nodes(handle, parent);
            }
            handles.push(handle);
        }
        let active = scene.movers.iter().map(|&node| handles[node as usize]).collect();
        Self { graph, handles, active, is_buildable: !scene.children_first }
    }

    fn set(&mut self, handle: Handle<Node>, position: Vec3) {
        self.graph[handle].set_position(vector(position));
    }
}

fn add(graph: &mut Graph, local: &Trs) -> Handle<Node> {
    let mut node = Node::new(Pivot::default());
    set_whole(node.local_transform_mut(), local);
    graph.add_node(node)
}

fn set_whole(transform: &mut Transform, local: &Trs) {
    let [x, y, z, w] = local.rotation.to_array();
    transform.set_position(vector(local.position));
    transform.set_rotation(UnitQuaternion::new_unchecked(Quaternion::new(w, x, y, z)));
    transform.set_scale(vector(local.scale));
}

fn vector(v: Vec3) -> Vector3<f32> {
    Vector3::new(v.x, v.y, v.z)
}

impl Peer for Fyrox {
    fn can(&self, ability: Ability) -> bool {
        match ability {
            // What it holds between updates is the world of the last one.
            Ability::Read => false,
            Ability::Build => self.is_buildable,
            _ => true,
        }
    }

    fn set_active(&mut self, positions: &[Vec3]) {
        for (index, &position) in positions.iter().enumerate() {
            self.set(self.active[index], position);
        }
    }

    fn set_some(&mut self, nodes: &[u32], positions: &[Vec3]) {
        for (&node, &position) in nodes.iter().zip(positions) {
            self.set(self.handles[node as usize], position);
        }
    }

    fn set_whole(&mut self, locals: &[Trs]) {
        for (&handle, local) in self.active.iter().zip(locals) {
            set_whole(self.graph[handle].local_transform_mut(), local);
        }
    }

    fn update(&mut self) {
        let switches = GraphUpdateSwitches {
            physics: false,
            physics2d: false,
            node_overrides: Some(Default::default()),
            ..Default::default()
        };
        self.graph.update(Vector2::new(1.0, 1.0), 0.0, switches);
    }

    fn world(&self, node: u32) -> Rows {
        let world = self.graph[self.handles[node as usize]].global_transform();
        rows_of(core::array::from_fn(|column| core::array::from_fn(|row| world[(row, column)])))
    }

    fn reparent(&mut self, moves: &[(u32, u32)]) {
        for &(node, parent) in moves {
            self.graph.link_nodes(self.handles[node as usize], self.handles[parent as usize]);
        }
    }

    fn despawn(&mut self, top: u32) {
        self.graph.remove_node(self.handles[top as usize]);
    }

    fn spawn(&mut self, parent: u32, first: u32, shape: &[Option<usize>], locals: &[Trs]) {
        for (i, (above, local)) in shape.iter().zip(locals).enumerate() {
            let above = above.map_or(parent, |above| first + above as u32);
            let handle = add(&mut self.graph, local);
            self.graph.link_nodes(handle, self.handles[above as usize]);
            self.handles[first as usize + i] = handle;
        }
    }
}
