//! Random forests, and their worlds in float64.

use super::*;
use posetree::glam::{Affine3A, DAffine3, DMat3, DQuat, DVec3, Mat3};
use posetree::{HierarchyOf, NodeId};
use stage::{Pose, sizes};

#[derive(Clone, Debug)]
pub(crate) struct Tree<A: Kind> {
    pub(crate) h: HierarchyOf<A>,
    pub(crate) ids: Vec<NodeId>,
}

pub(crate) fn inherits() -> impl Strategy<Value = Inherit> {
    (0..8u8).prop_map(|n| Inherit { position: n & 1 != 0, rotation: n & 2 != 0, scale: n & 4 != 0 })
}

/// Which parts of a pose are inherited; the rest are the identity's.
pub(crate) fn reduce(pose: &Pose, inherit: Inherit) -> Pose {
    let position = if inherit.position { pose.matrix.translation } else { DVec3::ZERO };
    let rotation = if inherit.rotation { pose.rotation } else { DQuat::IDENTITY };
    let scale = if inherit.scale { pose.scale } else { DVec3::ONE };
    let matrix = DAffine3::from_scale_rotation_translation(scale, rotation, position);
    let mut size = sizes(&matrix);
    size.translation = if inherit.position { pose.size.translation } else { DVec3::ZERO };
    Pose { matrix, rotation, scale, size }
}

/// A child in a frame; without the parent's position at its own.
pub(crate) fn hung<A: Kind>(frame: &Pose, inherit: Inherit, local: &Pose) -> Pose {
    let mut pose = A::below(frame, local);
    if !inherit.position {
        pose.matrix.translation = local.matrix.translation;
        pose.size.translation = local.matrix.translation.abs();
    }
    pose
}

impl<A: Kind> Tree<A> {
    pub(crate) fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.h.parent(id).unwrap()
    }

    pub(crate) fn inherit(&self, id: NodeId) -> Inherit {
        self.h.inherit(id).unwrap()
    }

    pub(crate) fn transform(&self, id: NodeId) -> Transform {
        let (position, rotation, scale) = (self.h.position(id), self.h.rotation(id), self.h.scale(id));
        Transform::new(position.unwrap(), rotation.unwrap(), scale.unwrap())
    }

    pub(crate) fn local(&self, id: NodeId) -> Pose {
        let pose = Pose::of_trs(&self.transform(id));
        if !A::reads_shear() {
            return pose;
        }
        let matrix = stage::wide(&self.h.local_matrix(id).unwrap());
        Pose { matrix, size: sizes(&matrix), ..pose }
    }

    /// The component pose.
    pub(crate) fn pose(&self, id: NodeId) -> Pose {
        let local = Pose::of_trs(&self.transform(id));
        let inherit = self.inherit(id);
        match self.parent(id) {
            Some(parent) => hung::<Components>(&reduce(&self.pose(parent), inherit), inherit, &local),
            None => local,
        }
    }

    /// What a node hangs under that inherits this much of a parent.
    pub(crate) fn frame(&self, parent: Option<NodeId>, inherit: Inherit) -> Pose {
        match parent {
            None => Pose::IDENTITY,
            Some(parent) if inherit == Inherit::ALL => self.world(parent),
            Some(parent) => reduce(&self.pose(parent), inherit),
        }
    }

    pub(crate) fn world(&self, id: NodeId) -> Pose {
        let (parent, inherit) = (self.parent(id), self.inherit(id));
        let inherit = if parent.is_some() { inherit } else { Inherit::ALL };
        hung::<A>(&self.frame(parent, inherit), inherit, &self.local(id))
    }

    pub(crate) fn check_world(&self, id: NodeId) -> Outcome {
        let (got, want) = (stage::wide(&self.h.world_matrix(id).unwrap()), self.world(id));
        let levels = self.h.depth(id).unwrap() as f64 + 2.0;
        near("world", &got, &want.matrix, &columns(&want.size), 16.0 * EPS * levels)
    }

    /// All that can be told apart, as bits.
    pub(crate) fn bits(&self) -> Vec<u32> {
        let of = |m: Affine3A| m.to_cols_array().map(f32::to_bits);
        let both = |&id: &NodeId| [self.h.local_matrix(id).unwrap(), self.h.world_matrix(id).unwrap()].map(of);
        self.ids.iter().flat_map(both).flatten().collect()
    }
}

/// How much a linear part can stretch an error; infinite where it is flat as far as float64 can tell.
pub(crate) fn condition(linear: DMat3) -> f64 {
    let unit = |column: DVec3| column.normalize_or_zero();
    let volume = DMat3::from_cols(unit(linear.x_axis), unit(linear.y_axis), unit(linear.z_axis)).determinant();
    if volume.abs() < 1e-12 { f64::INFINITY } else { stage::condition(linear) }
}

/// Each element as large as the largest of its column.
pub(crate) fn columns(size: &DAffine3) -> DAffine3 {
    let splat = |column: DVec3| DVec3::splat(column.max_element());
    let DMat3 { x_axis, y_axis, z_axis } = size.matrix3;
    DAffine3 {
        matrix3: DMat3::from_cols(splat(x_axis), splat(y_axis), splat(z_axis)),
        translation: splat(size.translation),
    }
}

/// Element by element, within `bound` of the sizes given; and of one, what float64 itself may be off.
pub(crate) fn near(what: &str, got: &DAffine3, want: &DAffine3, size: &DAffine3, bound: f64) -> Outcome {
    let [got, want, size] = [got, want, size].map(DAffine3::to_cols_array);
    for ((got, want), size) in got.into_iter().zip(want).zip(size) {
        let allowed = bound * size + f64::from(f32::MIN_POSITIVE);
        prop_assert!((got - want).abs() <= allowed, "{what}: got {got:e}, want {want:e}, allowed {allowed:e}");
    }
    Ok(())
}

/// As those of the doors' tests, and flat once in eight.
fn scales() -> impl Strategy<Value = Vec3> {
    prop_oneof![
        7 => stage::scale().prop_map(|scale| scale.clamp(Vec3::splat(-4.0), Vec3::splat(4.0))),
        1 => (0..3usize).prop_map(|axis| { let mut scale = Vec3::ONE; scale[axis] = 0.0; scale }),
    ]
}

type Node = (usize, Transform, Option<Affine3A>, Inherit);

fn node() -> impl Strategy<Value = Node> {
    let [x, y, z] = [(); 3].map(|()| stage::vector(1.0));
    let sheared =
        (x, y, z).prop_map(|(x, y, z)| Mat3::from_cols(x + 2.0 * Vec3::X, y + 2.0 * Vec3::Y, z - 2.0 * Vec3::Z));
    let inherit = prop_oneof![Just(Inherit::ALL), inherits()];
    (0..1000usize, stage::vector(4.0), stage::rotation(), scales(), prop::option::weighted(0.2, sheared), inherit)
        .prop_map(|(parent, p, r, s, sheared, inherit)| {
            let matrix = sheared.map(|linear| Affine3A::from_mat3_translation(linear, p));
            (parent, Transform::new(p, r, s), matrix, inherit)
        })
}

/// Mostly deep ones: a node hangs under one of the last three, or is a root once in a while.
pub(crate) fn forests<A: Kind>() -> impl Strategy<Value = Tree<A>> {
    prop::collection::vec(node(), 1..12).prop_map(|nodes| {
        let mut tree = Tree { h: HierarchyOf::<A>::new(), ids: Vec::new() };
        for (parent, local, matrix, inherit) in nodes {
            let count = tree.ids.len();
            let id = match count.checked_sub(1 + parent % 3) {
                Some(above) if parent % 10 != 0 => tree.h.add_child(tree.ids[above], local).unwrap(),
                _ => tree.h.add_root(local).unwrap(),
            };
            if let (Some(matrix), true) = (matrix, A::reads_shear()) {
                tree.h.set_local_matrix(id, matrix).unwrap();
            }
            tree.h.set_inherit(id, inherit, Keep::Local).unwrap();
            tree.ids.push(id);
        }
        tree
    })
}
