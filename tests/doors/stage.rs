//! Chains of parents of every kind, and the float64 model of what is read from them.

use posetree::glam::{Affine3A, DAffine3, DMat3, DQuat, DVec3, EulerRot, Mat3, Quat, Vec3};
use posetree::{ComponentHierarchy, Decomposed, Error, Geometry, Hierarchy, HierarchyOf, NodeId, Transform};
use proptest::prelude::*;

/// Both kinds of hierarchy, as the tests see them.
pub(crate) trait Kind:
    Geometry<Transform = Transform, Vector = Vec3, Rotation = Quat, Affine = Affine3A, Decomposed = Decomposed, Up = Vec3>
{
    /// World pose of a child, in float64, written down from its definition.
    fn below(parent: &Pose, local: &Pose) -> Pose;
    fn reads_shear() -> bool;
}

/// A pose in float64: with matrices its matrix, with components position, rotation and scale too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pose {
    pub(crate) matrix: DAffine3,
    pub(crate) rotation: DQuat,
    pub(crate) scale: DVec3,
    /// The same product with every element's size: what rounding is relative to.
    pub(crate) size: DAffine3,
}

pub(crate) fn sizes(m: &DAffine3) -> DAffine3 {
    DAffine3 { matrix3: m.matrix3.abs(), translation: m.translation.abs() }
}

impl Pose {
    pub(crate) const IDENTITY: Self =
        Self { matrix: DAffine3::IDENTITY, rotation: DQuat::IDENTITY, scale: DVec3::ONE, size: DAffine3::IDENTITY };

    pub(crate) fn of_trs(t: &Transform) -> Self {
        let (rotation, scale) = (t.rotation.as_dquat().normalize(), t.scale.as_dvec3());
        let matrix = DAffine3::from_scale_rotation_translation(scale, rotation, t.position.as_dvec3());
        Self { matrix, rotation, scale, size: sizes(&matrix) }
    }
}

impl Kind for posetree::Matrices {
    fn below(parent: &Pose, local: &Pose) -> Pose {
        Pose { matrix: parent.matrix * local.matrix, size: parent.size * local.size, ..*local }
    }

    fn reads_shear() -> bool {
        true
    }
}

impl Kind for posetree::Components {
    fn below(parent: &Pose, local: &Pose) -> Pose {
        let (rotation, scale) = (parent.rotation * local.rotation, parent.scale * local.scale);
        let offset = parent.scale * local.matrix.translation;
        let translation = parent.matrix.translation + parent.rotation * offset;
        let matrix = DAffine3::from_scale_rotation_translation(scale, rotation, translation);
        // Turning mixes all three components of the offset, and each column is one scale long.
        let reach = DVec3::splat(offset.abs().element_sum());
        let size = DAffine3 {
            matrix3: DMat3::from_cols(DVec3::splat(scale.x), DVec3::splat(scale.y), DVec3::splat(scale.z)).abs(),
            translation: parent.size.translation + reach,
        };
        Pose { matrix, rotation, scale, size }
    }

    fn reads_shear() -> bool {
        false
    }
}

/// What a node of the chain is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Local {
    Trs(Transform),
    /// With matrices only.
    Sheared(Affine3A),
}

pub(crate) fn vector(size: f32) -> impl Strategy<Value = Vec3> {
    [-size..size, -size..size, -size..size].prop_map(Vec3::from_array)
}

pub(crate) fn rotation() -> impl Strategy<Value = Quat> {
    [-3.0f32..3.0, -1.5f32..1.5, -3.0f32..3.0].prop_map(|[x, y, z]| Quat::from_euler(EulerRot::XYZ, x, y, z))
}

/// Uniform, uneven, mirrored on one or three axes; never flat.
pub(crate) fn scale() -> impl Strategy<Value = Vec3> {
    let uneven = [0.3f32..3.0, 0.3f32..3.0, 0.3f32..3.0].prop_map(Vec3::from_array);
    prop_oneof![
        2 => Just(Vec3::ONE),
        1 => (0.2f32..4.0).prop_map(Vec3::splat),
        1 => Just(Vec3::new(-1.0, 1.0, 1.0)),
        1 => Just(-Vec3::ONE),
        1 => prop_oneof![Just(1e-6f32), Just(1e6f32)].prop_map(Vec3::splat),
        3 => uneven.clone(),
        2 => (uneven, 0..3usize).prop_map(|(mut scale, axis)| {
            scale[axis] = -scale[axis];
            scale
        }),
    ]
}

fn trs() -> impl Strategy<Value = Local> {
    let zeros = prop::array::uniform3(prop::sample::select(vec![0.0, -0.0])).prop_map(Vec3::from_array);
    let position = prop_oneof![4 => vector(3.0), 1 => vector(1e3), 1 => vector(1e6), 1 => zeros];
    (position, rotation(), scale()).prop_map(|(p, r, s)| Local::Trs(Transform::new(p, r, s)))
}

fn sheared() -> impl Strategy<Value = Local> {
    let [x, y, z] = [(); 3].map(|()| vector(1.0));
    (x, y, z, vector(3.0))
        .prop_map(|(x, y, z, t)| {
            // Far enough from singular for the bounds below to say something.
            Affine3A::from_mat3_translation(Mat3::from_cols(x + 2.0 * Vec3::X, y + 2.0 * Vec3::Y, z + 2.0 * Vec3::Z), t)
        })
        .prop_map(Local::Sheared)
}

/// A chain from a root down to the node under test, which comes last.
pub(crate) fn chain<A: Kind>() -> BoxedStrategy<Vec<Local>> {
    let link = if A::reads_shear() { prop_oneof![3 => trs(), 1 => sheared()].boxed() } else { trs().boxed() };
    prop::collection::vec(link, 1..5).boxed()
}

#[derive(Clone, Debug)]
pub(crate) struct Stage<A: Kind> {
    pub(crate) h: HierarchyOf<A>,
    /// Root first; the last is under test.
    pub(crate) chain: Vec<NodeId>,
    pub(crate) id: NodeId,
}

impl<A: Kind> Stage<A> {
    pub(crate) fn new(locals: &[Local]) -> Self {
        let mut h = HierarchyOf::<A>::new();
        let mut chain: Vec<NodeId> = Vec::new();
        for local in locals {
            let transform = if let Local::Trs(transform) = local { *transform } else { Transform::IDENTITY };
            let id = match chain.last() {
                Some(&parent) => h.add_child(parent, transform).unwrap(),
                None => h.add_root(transform).unwrap(),
            };
            if let Local::Sheared(matrix) = local {
                h.set_local_matrix(id, *matrix).unwrap();
            }
            chain.push(id);
        }
        let id = chain[chain.len() - 1];
        Self { h, chain, id }
    }

    pub(crate) fn local(&self, id: NodeId) -> Pose {
        let matrix = wide(&self.h.local_matrix(id).unwrap());
        match self.h.local(id) {
            Ok(local) => Pose { matrix, size: sizes(&matrix), ..Pose::of_trs(&local) },
            Err(_) => Pose { matrix, size: sizes(&matrix), ..Pose::IDENTITY },
        }
    }

    /// The world pose of the last node's parent.
    pub(crate) fn parent(&self) -> Pose {
        let above = &self.chain[..self.chain.len() - 1];
        above.iter().fold(Pose::IDENTITY, |pose, &id| A::below(&pose, &self.local(id)))
    }

    pub(crate) fn world(&self) -> Pose {
        A::below(&self.parent(), &self.local(self.id))
    }

    /// All that can be told apart, as bits.
    pub(crate) fn bits(&self) -> Vec<u32> {
        let matrices = self.chain.iter().flat_map(|&id| {
            [self.h.local_matrix(id).unwrap(), self.h.world_matrix(id).unwrap()].map(|m| m.to_cols_array())
        });
        matrices.flatten().map(f32::to_bits).collect()
    }
}

pub(crate) fn wide(m: &Affine3A) -> DAffine3 {
    DAffine3::from_cols_array(&m.to_cols_array().map(f64::from))
}

pub(crate) fn frobenius(m: DMat3) -> f64 {
    m.to_cols_array().iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// How much a linear part can stretch an error against what it maps: largest by smallest singular value,
/// bounded from above by the Frobenius norms of it and its inverse.
pub(crate) fn condition(m: DMat3) -> f64 {
    frobenius(m) * frobenius(m.inverse())
}

/// Refusals change nothing, and under a parent that is nowhere near singular there are none.
pub(crate) fn refused<A: Kind, T>(
    before: &Stage<A>,
    after: &Stage<A>,
    result: &Result<T, impl Into<Error> + Copy>,
) -> Result<bool, TestCaseError> {
    let Err(error) = result else { return Ok(false) };
    prop_assert_eq!(before.bits(), after.bits(), "a refusal changed something");
    let condition = condition(before.parent().matrix.matrix3) * condition(before.local(before.id).matrix.matrix3);
    prop_assert!(condition > 1e3, "{} although the condition is {condition}", (*error).into());
    Ok(true)
}

pub(crate) type Matrices = Stage<posetree::Matrices>;
pub(crate) type Components = Stage<posetree::Components>;
const _: fn(Matrices) -> Hierarchy = |stage| stage.h;
const _: fn(Components) -> ComponentHierarchy = |stage| stage.h;
