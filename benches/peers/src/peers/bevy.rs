//! `bevy_transform` on `bevy_ecs`: its three systems, in a schedule that runs them one after the other.
//!
//! The task pool is global to a process, so that one process measures Bevy with one number of threads; see
//! `remote` for the other. Even with a pool of one thread, `mark_dirty_trees` runs its tasks on that thread
//! and on the calling one. Bevy is on another version of glam: poses cross over as arrays.

use super::{Ability, Peer, Rows, Trs, rows_of};
use crate::shapes::NONE;
use crate::workloads::Scene;
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryState;
use bevy_ecs::schedule::SingleThreadedExecutor;
use bevy_ecs::system::SystemState;
use bevy_math::Quat;
use bevy_tasks::{ComputeTaskPool, TaskPoolBuilder, available_parallelism};
use bevy_transform::components::{GlobalTransform, Transform};
use bevy_transform::helper::TransformHelper;
use bevy_transform::systems::{
    StaticTransformOptimizations, mark_dirty_trees, propagate_parent_transforms, sync_simple_transforms,
};
use glam::Vec3;

/// Whether the systems are those of Bevy's `multi_threaded` feature, which is on by default there.
pub(super) const IS_PARALLEL: bool = cfg!(feature = "bevy_parallel");

#[derive(Clone, Copy)]
pub enum Threads {
    One,
    All,
}

/// Makes the pool of this process.
pub fn init_pool(threads: Threads) {
    let count = match threads {
        Threads::One => 1,
        Threads::All => available_parallelism(),
    };
    ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(count).build());
}

pub(super) fn thread_count() -> usize {
    ComputeTaskPool::get().thread_num()
}

/// Says which mover an entity is; only movers have it, as in Bevy's stress test.
#[derive(Component)]
struct Active(u32);

pub(super) struct Bevy {
    world: World,
    schedule: Schedule,
    entities: Vec<Entity>,
    active: QueryState<(&'static mut Transform, &'static Active)>,
    some: QueryState<&'static mut Transform>,
    set_and_read: SystemState<SetAndRead>,
}

/// What a system of a user asks for that moves entities and reads others in between.
type SetAndRead =
    ParamSet<'static, 'static, (Query<'static, 'static, &'static mut Transform>, TransformHelper<'static, 'static>)>;

fn transform(trs: &Trs) -> Transform {
    Transform {
        translation: trs.position.to_array().into(),
        rotation: Quat::from_array(trs.rotation.to_array()),
        scale: trs.scale.to_array().into(),
    }
}

impl Bevy {
    pub(super) fn new(scene: &Scene, is_static: bool) -> Self {
        let mut world = World::new();
        world.insert_resource(match is_static {
            true => StaticTransformOptimizations::Enabled,
            false => StaticTransformOptimizations::Disabled,
        });
        let mut schedule = Schedule::default();
        schedule.set_executor(SingleThreadedExecutor::new());
        schedule.add_systems((mark_dirty_trees, propagate_parent_transforms, sync_simple_transforms).chain());

        let mut entities = vec![Entity::PLACEHOLDER; scene.parents.len()];
        let mut mover = vec![NONE; scene.parents.len()];
        for (index, &node) in scene.movers.iter().enumerate() {
            mover[node as usize] = index as u32;
        }
        let mut add = |node: usize, entities: &mut [Entity]| {
            let local = transform(&scene.locals[node]);
            let parent = if scene.children_first { NONE } else { scene.parents[node] };
            let entity = match (parent, mover[node]) {
                (NONE, NONE) => world.spawn(local),
                (NONE, mover) => world.spawn((local, Active(mover))),
                (parent, NONE) => world.spawn((local, ChildOf(entities[parent as usize]))),
                (parent, mover) => world.spawn((local, ChildOf(entities[parent as usize]), Active(mover))),
            };
            entities[node] = entity.id();
        };
        if scene.children_first {
            (0..scene.parents.len()).rev().for_each(|node| add(node, &mut entities));
            for (node, &parent) in scene.parents.iter().enumerate().rev() {
                if parent != NONE {
                    world.entity_mut(entities[node]).insert(ChildOf(entities[parent as usize]));
                }
            }
        } else {
            (0..scene.parents.len()).for_each(|node| add(node, &mut entities));
        }
        let (active, some, set_and_read) = (world.query(), world.query(), SystemState::new(&mut world));
        Self { world, schedule, entities, active, some, set_and_read }
    }
}

impl Peer for Bevy {
    fn can(&self, _: Ability) -> bool {
        true
    }

    fn set_active(&mut self, positions: &[Vec3]) {
        for (mut transform, active) in self.active.iter_mut(&mut self.world) {
            transform.translation = positions[active.0 as usize].to_array().into();
        }
    }

    fn set_some(&mut self, nodes: &[u32], positions: &[Vec3]) {
        let mut transforms = self.some.query_mut(&mut self.world);
        for (&node, &position) in nodes.iter().zip(positions) {
            let mut transform = transforms.get_mut(self.entities[node as usize]).unwrap();
            transform.translation = position.to_array().into();
        }
    }

    fn set_whole(&mut self, locals: &[Trs]) {
        for (mut local, active) in self.active.iter_mut(&mut self.world) {
            *local = transform(&locals[active.0 as usize]);
        }
    }

    fn update(&mut self) {
        self.schedule.run(&mut self.world);
        // What an `App` does after each frame.
        self.world.clear_trackers();
    }

    fn world(&self, node: u32) -> Rows {
        let world = self.world.get::<GlobalTransform>(self.entities[node as usize]).unwrap().affine();
        let [x, y, z] = world.matrix3.to_cols_array_2d();
        rows_of([x, y, z, world.translation.to_array()])
    }

    fn reparent(&mut self, moves: &[(u32, u32)]) {
        for &(node, parent) in moves {
            let parent = self.entities[parent as usize];
            self.world.entity_mut(self.entities[node as usize]).insert(ChildOf(parent));
        }
    }

    fn despawn(&mut self, top: u32) {
        self.world.despawn(self.entities[top as usize]);
    }

    fn spawn(&mut self, parent: u32, first: u32, shape: &[Option<usize>], locals: &[Trs]) {
        for (i, (above, local)) in shape.iter().zip(locals).enumerate() {
            let above = above.map_or(parent, |above| first + above as u32);
            let bundle = (transform(local), ChildOf(self.entities[above as usize]));
            self.entities[first as usize + i] = self.world.spawn(bundle).id();
        }
    }

    /// As a system does it: its parameters are fetched once.
    fn set_and_read(&mut self, nodes: &[u32], positions: &[Vec3], readers: &[u32], out: &mut Vec<Vec3>) {
        let mut state = self.set_and_read.get_mut(&mut self.world).unwrap();
        for ((&node, &position), &reader) in nodes.iter().zip(positions).zip(readers) {
            let mut transforms = state.p0();
            transforms.get_mut(self.entities[node as usize]).unwrap().translation = position.to_array().into();
            let world = state.p1().compute_global_transform(self.entities[reader as usize]).unwrap();
            out.push(Vec3::from_array(world.translation().to_array()));
        }
    }
}
