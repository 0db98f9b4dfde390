//! The doors of a hierarchy as the cases use them: everything in float64, row-major.

use posetree::glam::{Affine3A, DAffine3, DMat4, DQuat, DVec3, Quat, Vec3};
use posetree::{DHierarchy, DTransform, Error, Hierarchy, Keep, NodeId, Space, Transform};

/// Position, rotation (x, y, z, w) and scale.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trs {
    pub(crate) position: [f64; 3],
    pub(crate) rotation: [f64; 4],
    pub(crate) scale: [f64; 3],
}

pub(crate) type Matrix = [f64; 16];

pub(crate) trait Subject: Clone {
    /// Which of a case's tolerances applies.
    const TOLERANCE: &str;

    fn new() -> Self;
    fn add(&mut self, parent: Option<NodeId>, local: &Trs) -> Result<NodeId, Error>;
    fn add_matrix(&mut self, parent: Option<NodeId>, local: &Matrix) -> Result<NodeId, Error>;
    fn set_local(&mut self, id: NodeId, local: &Trs) -> Result<(), Error>;
    fn set_local_matrix(&mut self, id: NodeId, local: &Matrix) -> Result<(), Error>;
    fn set_position(&mut self, id: NodeId, v: [f64; 3]) -> Result<(), Error>;
    fn set_rotation(&mut self, id: NodeId, q: [f64; 4]) -> Result<(), Error>;
    fn set_scale(&mut self, id: NodeId, v: [f64; 3]) -> Result<(), Error>;
    fn set_world(&mut self, id: NodeId, world: &Matrix) -> Result<(), Error>;
    fn set_world_position(&mut self, id: NodeId, v: [f64; 3]) -> Result<(), Error>;
    fn set_world_rotation(&mut self, id: NodeId, q: [f64; 4]) -> Result<(), Error>;
    fn reparent(&mut self, id: NodeId, parent: Option<NodeId>, keep: Keep) -> Result<(), Error>;
    fn remove_subtree(&mut self, id: NodeId) -> Result<(), Error>;
    fn remove_and_promote(&mut self, id: NodeId, keep: Keep) -> Result<(), Error>;
    fn translate(&mut self, id: NodeId, v: [f64; 3], space: Space) -> Result<(), Error>;
    fn rotate(&mut self, id: NodeId, q: [f64; 4], space: Space) -> Result<(), Error>;
    fn look_at(&mut self, id: NodeId, target: [f64; 3], up: [f64; 3]) -> Result<(), Error>;
    fn update(&mut self);

    fn local(&self, id: NodeId) -> Result<Trs, Error>;
    fn local_matrix(&self, id: NodeId) -> Result<Matrix, Error>;
    fn world_matrix(&self, id: NodeId) -> Result<Matrix, Error>;
    fn world_point(&self, id: NodeId, v: [f64; 3]) -> Result<[f64; 3], Error>;
    fn world_vector(&self, id: NodeId, v: [f64; 3]) -> Result<[f64; 3], Error>;
    fn world_direction(&self, id: NodeId, v: [f64; 3]) -> Result<[f64; 3], Error>;
    fn world_normal(&self, id: NodeId, v: [f64; 3]) -> Result<[f64; 3], Error>;
    fn local_point(&self, id: NodeId, v: [f64; 3]) -> Result<[f64; 3], Error>;
    fn between(&self, from: NodeId, to: NodeId) -> Result<Matrix, Error>;
    fn is_mirrored(&self, id: NodeId) -> Result<bool, Error>;
    fn children(&self, parent: Option<NodeId>) -> Result<Vec<NodeId>, Error>;
    fn parent(&self, id: NodeId) -> Result<Option<NodeId>, Error>;
    fn contains(&self, id: NodeId) -> bool;
    fn len(&self) -> usize;
    fn ids(&self) -> Vec<NodeId>;
    fn assert_well_formed(&self);
}

/// Column vectors: the matrix of `T * R * S`, row-major.
pub(crate) fn compose(trs: &Trs) -> Matrix {
    let [p, s] = [trs.position, trs.scale].map(DVec3::from_array);
    let rotation = DQuat::from_array(trs.rotation);
    DMat4::from_scale_rotation_translation(s, rotation, p).transpose().to_cols_array()
}

macro_rules! subject {
    ($hierarchy:ty, $transform:ty, $vector:ty, $quat:ty, $affine:ty, $tolerance:literal, $float:ty) => {
        impl Subject for $hierarchy {
            const TOLERANCE: &str = $tolerance;

            fn new() -> Self {
                Self::new()
            }

            fn add(&mut self, parent: Option<NodeId>, local: &Trs) -> Result<NodeId, Error> {
                let local = transform(local);
                Ok(match parent {
                    Some(parent) => self.add_child(parent, local)?,
                    None => self.add_root(local)?,
                })
            }

            fn add_matrix(&mut self, parent: Option<NodeId>, local: &Matrix) -> Result<NodeId, Error> {
                let mut changed = self.clone();
                let identity = <$transform>::IDENTITY;
                let id = match parent {
                    Some(parent) => changed.add_child(parent, identity)?,
                    None => changed.add_root(identity)?,
                };
                changed.set_local_matrix(id, affine(local))?;
                *self = changed;
                Ok(id)
            }

            fn set_local(&mut self, id: NodeId, local: &Trs) -> Result<(), Error> {
                Ok(self.set_local(id, transform(local))?)
            }

            fn set_local_matrix(&mut self, id: NodeId, local: &Matrix) -> Result<(), Error> {
                Ok(self.set_local_matrix(id, affine(local))?)
            }

            fn set_position(&mut self, id: NodeId, v: [f64; 3]) -> Result<(), Error> {
                Ok(self.set_position(id, vector(v))?)
            }

            fn set_rotation(&mut self, id: NodeId, q: [f64; 4]) -> Result<(), Error> {
                Ok(self.set_rotation(id, quat(q))?)
            }

            fn set_scale(&mut self, id: NodeId, v: [f64; 3]) -> Result<(), Error> {
                Ok(self.set_scale(id, vector(v))?)
            }

            fn set_world(&mut self, id: NodeId, world: &Matrix) -> Result<(), Error> {
                Ok(self.set_world(id, affine(world))?)
            }

            fn set_world_position(&mut self, id: NodeId, v: [f64; 3]) -> Result<(), Error> {
                Ok(self.set_world_position(id, vector(v))?)
            }

            fn set_world_rotation(&mut self, id: NodeId, q: [f64; 4]) -> Result<(), Error> {
                Ok(self.set_world_rotation(id, quat(q))?)
            }

            fn reparent(&mut self, id: NodeId, parent: Option<NodeId>, keep: Keep) -> Result<(), Error> {
                self.reparent(id, parent, keep)?;
                Ok(())
            }

            fn remove_subtree(&mut self, id: NodeId) -> Result<(), Error> {
                self.remove_subtree(id)?;
                Ok(())
            }

            fn remove_and_promote(&mut self, id: NodeId, keep: Keep) -> Result<(), Error> {
                Ok(self.remove_and_promote(id, keep)?)
            }

            fn translate(&mut self, id: NodeId, v: [f64; 3], space: Space) -> Result<(), Error> {
                Ok(self.translate(id, vector(v), space)?)
            }

            fn rotate(&mut self, id: NodeId, q: [f64; 4], space: Space) -> Result<(), Error> {
                Ok(self.rotate(id, quat(q), space)?)
            }

            fn look_at(&mut self, id: NodeId, target: [f64; 3], up: [f64; 3]) -> Result<(), Error> {
                Ok(self.look_at(id, vector(target), vector(up))?)
            }

            fn update(&mut self) {
                self.update();
            }

            fn local(&self, id: NodeId) -> Result<Trs, Error> {
                let local = self.local(id)?;
                Ok(Trs {
                    position: numbers(local.position),
                    rotation: local.rotation.to_array().map(f64::from),
                    scale: numbers(local.scale),
                })
            }

            fn local_matrix(&self, id: NodeId) -> Result<Matrix, Error> {
                Ok(matrix(self.local_matrix(id)?))
            }

            fn world_matrix(&self, id: NodeId) -> Result<Matrix, Error> {
                Ok(matrix(self.world_matrix(id)?))
            }

            fn world_point(&self, id: NodeId, v: [f64; 3]) -> Result<[f64; 3], Error> {
                Ok(numbers(self.local_to_world_point(id, vector(v))?))
            }

            fn world_vector(&self, id: NodeId, v: [f64; 3]) -> Result<[f64; 3], Error> {
                Ok(numbers(self.local_to_world_vector(id, vector(v))?))
            }

            fn world_direction(&self, id: NodeId, v: [f64; 3]) -> Result<[f64; 3], Error> {
                Ok(numbers(self.local_to_world_direction(id, vector(v))?))
            }

            fn world_normal(&self, id: NodeId, v: [f64; 3]) -> Result<[f64; 3], Error> {
                Ok(numbers(self.local_to_world_normal(id, vector(v))?))
            }

            fn local_point(&self, id: NodeId, v: [f64; 3]) -> Result<[f64; 3], Error> {
                Ok(numbers(self.world_to_local_point(id, vector(v))?))
            }

            fn between(&self, from: NodeId, to: NodeId) -> Result<Matrix, Error> {
                Ok(matrix(self.transform_between(from, to)?))
            }

            fn is_mirrored(&self, id: NodeId) -> Result<bool, Error> {
                Ok(self.is_mirrored(id)?)
            }

            fn children(&self, parent: Option<NodeId>) -> Result<Vec<NodeId>, Error> {
                Ok(match parent {
                    Some(parent) => self.children(parent)?.collect(),
                    None => self.roots().collect(),
                })
            }

            fn parent(&self, id: NodeId) -> Result<Option<NodeId>, Error> {
                Ok(self.parent(id)?)
            }

            fn contains(&self, id: NodeId) -> bool {
                self.contains(id)
            }

            fn len(&self) -> usize {
                self.len()
            }

            fn ids(&self) -> Vec<NodeId> {
                self.roots().flat_map(|root| self.subtree(root).expect("a root lives")).collect()
            }

            fn assert_well_formed(&self) {
                self.assert_well_formed();
            }
        }

        fn vector(v: [f64; 3]) -> $vector {
            <$vector>::from_array(v.map(|x| x as $float))
        }

        fn numbers(v: $vector) -> [f64; 3] {
            v.to_array().map(f64::from)
        }

        fn quat(q: [f64; 4]) -> $quat {
            <$quat>::from_array(q.map(|x| x as $float))
        }

        fn transform(trs: &Trs) -> $transform {
            <$transform>::new(vector(trs.position), quat(trs.rotation), vector(trs.scale))
        }

        fn affine(rows: &Matrix) -> $affine {
            let m = rows.map(|x| x as $float);
            <$affine>::from_cols_array(&[m[0], m[4], m[8], m[1], m[5], m[9], m[2], m[6], m[10], m[3], m[7], m[11]])
        }

        fn matrix(m: $affine) -> Matrix {
            let m = DAffine3::from_cols_array(&m.to_cols_array().map(f64::from));
            DMat4::from(m).transpose().to_cols_array()
        }
    };
}

mod single {
    use super::*;
    subject!(Hierarchy, Transform, Vec3, Quat, Affine3A, "tol", f32);
}

mod double {
    use super::*;
    subject!(DHierarchy, DTransform, DVec3, DQuat, DAffine3, "tol64", f64);
}
