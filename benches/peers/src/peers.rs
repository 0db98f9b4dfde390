//! What is compared, behind one small trait.

mod bevy;
mod boxed;
mod flat;
mod floor;
#[cfg(feature = "fyrox")]
mod fyrox;
mod indextree;
mod posetree;
mod ways;

pub use bevy::{Threads, init_pool};
pub use ways::Way;

use crate::workloads::Scene;
use glam::{Mat4, Quat, Vec3};

/// A 3x4 matrix, row-major.
pub type Rows = [[f32; 4]; 3];

/// A local pose, in a form that belongs to none of the peers.
#[derive(Clone, Copy, Debug)]
pub struct Trs {
    pub position: Vec3,
    pub rotation: Quat,
    pub scale: Vec3,
}

impl Trs {
    pub fn to_mat4(self) -> Mat4 {
        Mat4::from_scale_rotation_translation(self.scale, self.rotation, self.position)
    }
}

/// What not every peer can do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ability {
    Reparent,
    Spawn,
    Read,
    /// Not only positions are set.
    SetWhole,
    /// To be built from nothing as a user would build it.
    Build,
}

/// A transform hierarchy that holds the nodes of a [`Scene`], named by their numbers there.
pub trait Peer {
    fn can(&self, ability: Ability) -> bool;

    /// Whether the worlds mean anything; not so for a loop that only moves bytes.
    fn is_exact(&self) -> bool {
        true
    }

    /// Not timed: says which nodes are about to move, for peers that are told what is affected.
    fn prepare(&mut self, _movers: &[u32]) {}

    /// Moves the scene's movers, as a user would who kept their handles in a list or a component.
    fn set_active(&mut self, positions: &[Vec3]);

    /// Moves any nodes, by their handles.
    fn set_some(&mut self, nodes: &[u32], positions: &[Vec3]);

    /// Sets the whole local values of the scene's movers, one by one.
    fn set_whole(&mut self, _locals: &[Trs]) {
        unreachable!("not an ability");
    }

    /// Not timed: takes the values for [`set_bulk`](Self::set_bulk) in the form in which an animation
    /// system that knows the peer would have them.
    fn stage(&mut self, _locals: &[Trs]) {}

    /// As [`set_whole`](Self::set_whole), in one call where there is one for that.
    fn set_bulk(&mut self, locals: &[Trs]) {
        self.set_whole(locals);
    }

    fn update(&mut self);

    /// Where a node is stored, of a peer that lays its nodes out anew now and then.
    fn place(&self, _node: u32) -> Option<usize> {
        None
    }

    /// The world as of the last update.
    fn world(&self, node: u32) -> Rows;

    /// Hangs nodes under others, local values kept.
    fn reparent(&mut self, _moves: &[(u32, u32)]) {
        unreachable!("not an ability");
    }

    fn despawn(&mut self, _top: u32) {
        unreachable!("not an ability");
    }

    /// Adds nodes `first..` under `parent`: `shape[i]` is the parent of the `i`th, relative to `first`,
    /// or none for the top.
    fn spawn(&mut self, _parent: u32, _first: u32, _shape: &[Option<usize>], _locals: &[Trs]) {
        unreachable!("not an ability");
    }

    /// The world position of a node, right even if no update was made since the last edit.
    fn read(&mut self, _node: u32) -> Vec3 {
        unreachable!("not an ability");
    }

    /// Moves nodes, and reads another one after each move.
    fn set_and_read(&mut self, nodes: &[u32], positions: &[Vec3], readers: &[u32], out: &mut Vec<Vec3>) {
        for (index, &reader) in readers.iter().enumerate() {
            self.set_some(&nodes[index..][..1], &positions[index..][..1]);
            out.push(self.read(reader));
        }
    }
}

/// All of the peers in this build, in the order in which they take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Posetree,
    BevyStatic,
    Bevy,
    Indextree,
    Boxed,
    #[cfg(feature = "fyrox")]
    Fyrox,
    Flat,
    Floor,
    BareProduct,
    /// Not a peer: one of the ways to keep local values, and whether whole values are set.
    Local(Way, bool),
}

impl Kind {
    /// Ways to keep local values, each with positions and with whole values set.
    pub const WAYS: [Self; 6] = [
        Self::Local(Way::AtSet, false),
        Self::Local(Way::AtUpdate, false),
        Self::Local(Way::Never, false),
        Self::Local(Way::AtSet, true),
        Self::Local(Way::AtUpdate, true),
        Self::Local(Way::Never, true),
    ];

    pub const ALL: &[Self] = &[
        Self::Posetree,
        Self::BevyStatic,
        Self::Bevy,
        Self::Indextree,
        Self::Boxed,
        #[cfg(feature = "fyrox")]
        Self::Fyrox,
        Self::Flat,
        Self::Floor,
        Self::BareProduct,
    ];

    /// The name in tables; Bevy's says how its systems were built and how many threads they have.
    pub fn name(self) -> String {
        let bevy = match () {
            () if !bevy::IS_PARALLEL => "bevy_serial",
            () if bevy::thread_count() > 1 => "bevy_mt",
            () => "bevy_1t",
        };
        match self {
            Self::Posetree => "posetree".into(),
            Self::BevyStatic => format!("{bevy}_static"),
            Self::Bevy => bevy.into(),
            Self::Indextree => "indextree".into(),
            Self::Boxed => "boxed".into(),
            #[cfg(feature = "fyrox")]
            Self::Fyrox => "fyrox".into(),
            Self::Flat => "flat".into(),
            Self::Floor => "floor".into(),
            Self::BareProduct => "bare_product".into(),
            Self::Local(way, whole) => {
                let way = match way {
                    Way::AtSet => "at_set",
                    Way::AtUpdate => "at_update",
                    Way::Never => "no_local",
                };
                format!("{way}_{}", if whole { "whole" } else { "position" })
            }
        }
    }

    pub fn build(self, scene: &Scene) -> Box<dyn Peer> {
        match self {
            Self::Posetree => Box::new(posetree::Posetree::new(scene)),
            Self::BevyStatic => Box::new(bevy::Bevy::new(scene, true)),
            Self::Bevy => Box::new(bevy::Bevy::new(scene, false)),
            Self::Indextree => Box::new(indextree::Indextree::new(scene)),
            Self::Boxed => Box::new(boxed::Boxed::new(scene)),
            #[cfg(feature = "fyrox")]
            Self::Fyrox => Box::new(fyrox::Fyrox::new(scene)),
            Self::Flat => Box::new(flat::Flat::new(scene)),
            Self::Floor => Box::new(floor::Arrays::new(scene, floor::Work::Stream)),
            Self::BareProduct => Box::new(floor::Arrays::new(scene, floor::Work::Product)),
            Self::Local(way, whole) => Box::new(ways::Ways::new(scene, way, whole)),
        }
    }
}

/// The 3x4 rows of an affine matrix given by columns.
pub fn rows_of(columns: [[f32; 3]; 4]) -> Rows {
    core::array::from_fn(|row| core::array::from_fn(|column| columns[column][row]))
}

/// The 3x4 rows of an affine `Mat4`.
pub fn rows_of_mat4(m: &Mat4) -> Rows {
    rows_of(m.to_cols_array_2d().map(|[x, y, z, _]| [x, y, z]))
}
