//! Whether worlds are right: each is compared with the same product in float64.
//!
//! Linear part and translation have their own measure. That of the linear part is its largest element. That
//! of the translation is the largest translation of the node and of all above it: it is a sum whose terms may
//! cancel each other, and what was lost in a large one does not come back.

use crate::peers::{Rows, Trs};
use crate::shapes::NONE;
use crate::workloads::Scene;
use glam::{DAffine3, DVec3, Vec3};

/// How far a world may be off, in those measures.
pub const TOLERANCE: f64 = 1e-4;

/// A world in float64.
#[derive(Clone, Copy)]
pub struct Reference {
    world: DAffine3,
    /// The largest translation, of this node or above it.
    reach: f64,
}

impl Reference {
    fn below(parent: Option<&Self>, local: &Trs) -> Self {
        let local = DAffine3::from_scale_rotation_translation(
            local.scale.as_dvec3(),
            local.rotation.as_dquat().normalize(),
            local.position.as_dvec3(),
        );
        let world = parent.map_or(local, |parent| parent.world * local);
        let reach = parent.map_or(0.0, |parent| parent.reach);
        Self { world, reach: reach.max(world.translation.abs().max_element()) }
    }
}

/// The world of one node.
pub fn reference(scene: &Scene, node: u32) -> Reference {
    let mut path = vec![node];
    while let Some(&at) = path.last().filter(|&&at| scene.parents[at as usize] != NONE) {
        path.push(scene.parents[at as usize]);
    }
    let below =
        |parent: Option<Reference>, &node: &u32| Some(Reference::below(parent.as_ref(), &scene.locals[node as usize]));
    path.iter().rev().fold(None, below).expect("the path has a node")
}

/// The worlds of all nodes. After edits parents need not have the lower numbers.
fn references(scene: &Scene) -> Vec<Reference> {
    let mut references: Vec<Option<Reference>> = vec![None; scene.parents.len()];
    let mut path = Vec::new();
    for node in 0..scene.parents.len() as u32 {
        let mut at = node;
        while at != NONE && references[at as usize].is_none() {
            path.push(at);
            at = scene.parents[at as usize];
        }
        let mut parent = references.get(at as usize).copied().flatten();
        while let Some(at) = path.pop() {
            parent = Some(Reference::below(parent.as_ref(), &scene.locals[at as usize]));
            references[at as usize] = parent;
        }
    }
    references.into_iter().flatten().collect()
}

/// The largest error among all worlds.
pub fn worst_error(scene: &Scene, world: impl Fn(u32) -> Rows) -> f64 {
    let references = references(scene);
    (0..).zip(&references).map(|(node, reference)| error(&world(node), reference)).fold(0.0, f64::max)
}

fn error(world: &Rows, reference: &Reference) -> f64 {
    let columns: [DVec3; 4] = core::array::from_fn(|column| DVec3::from_array(world.map(|row| f64::from(row[column]))));
    let linear = reference.world.matrix3.to_cols_array_2d().map(DVec3::from_array);
    let size = linear.iter().map(|column| column.abs().max_element()).fold(0.0, f64::max);
    let linear = columns.iter().zip(linear).map(|(column, wanted)| relative(*column, wanted, size));
    linear.fold(relative(columns[3], reference.world.translation, reference.reach), f64::max)
}

/// The error of a position that was read by itself.
pub fn position_error(position: Vec3, reference: &Reference) -> f64 {
    relative(position.as_dvec3(), reference.world.translation, reference.reach)
}

fn relative(is: DVec3, wanted: DVec3, size: f64) -> f64 {
    if !is.is_finite() {
        return f64::INFINITY; // `max` would drop a NaN
    }
    let error = (is - wanted).abs().max_element();
    if error == 0.0 { 0.0 } else { error / size } // the size may be zero too
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Quat;

    /// A chain that goes far out and comes back.
    fn scene() -> Scene {
        let local = |x: f32| Trs { position: Vec3::X * x, rotation: Quat::IDENTITY, scale: Vec3::splat(0.01) };
        let locals = vec![local(1000.0), local(-99_999.0), local(3.0)];
        Scene { parents: vec![NONE, 0, 1], locals, ..Scene::EMPTY }
    }

    fn rows(scene: &Scene, node: u32) -> Rows {
        let [x, y, z, t] = reference(scene, node).world.to_cols_array_2d();
        core::array::from_fn(|row| [x, y, z, t].map(|column| column[row] as f32))
    }

    fn error_with(change: impl Fn(&mut Rows)) -> f64 {
        let scene = scene();
        worst_error(&scene, |node| {
            let mut world = rows(&scene, node);
            if node == 1 {
                change(&mut world);
            }
            world
        })
    }

    #[test]
    fn right_worlds_agree_to_float32() {
        assert!(error_with(|_| ()) < 1e-6);
    }

    #[test]
    fn the_linear_part_is_measured_by_itself() {
        assert!(error_with(|world| world[1][1] += 0.9e-8) < TOLERANCE);
        assert!(error_with(|world| world[1][1] += 1.1e-8) > TOLERANCE);
    }

    #[test]
    fn the_translation_is_measured_by_what_is_above() {
        assert!(error_with(|world| world[0][3] += 0.09) < TOLERANCE);
        assert!(error_with(|world| world[0][3] += 0.11) > TOLERANCE);
    }

    #[test]
    fn what_is_not_a_number_is_wrong() {
        assert_eq!(error_with(|world| world[2][2] = f32::NAN), f64::INFINITY);
        assert_eq!(error_with(|world| world[2][3] = f32::INFINITY), f64::INFINITY);
    }
}
