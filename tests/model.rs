//! Random edit scripts over both kinds of hierarchy, beside a float64 model: a forest kept the plain way,
//! with worlds as recursive products.
//!
//! Structure is compared exactly after every step, and so are the locals of all nodes that a step does
//! not name. A local value that the hierarchy solved for is checked against the wanted world and then
//! taken over, so that the rounding of one step does not count against the next. Worlds may be off by
//! what their own products round: with u = ε/2, a row of a product is three multiplications and three
//! additions, `4 u |P||L|` element by element, at each level.

extern crate alloc;

#[path = "common/forest.rs"]
#[allow(dead_code, reason = "the tests inside the crate use all of it")]
mod forest;
#[path = "doors/stage.rs"]
#[allow(dead_code, reason = "the doors' tests use all of it")]
mod stage;

use forest::Forest;
use posetree::glam::{Affine3A, DAffine3, EulerRot, Quat, Vec3};
use posetree::{Accumulate, Error, HierarchyOf, Keep, NodeId, Transform, Worlds};
use proptest::prelude::*;
use stage::{Kind, Pose, Stage};

const EPS: f64 = f32::EPSILON as f64;

/// What is done, and numbers from which the nodes, places and values for it are picked.
type Step = (u8, u16, u16, u32);

struct Pair<A: Kind> {
    h: HierarchyOf<A>,
    /// The values are what the hierarchy was given, or has solved for and was checked.
    forest: Forest<Affine3A>,
    gone: Vec<NodeId>,
}

/// A number in [0, 1) from some bits of a seed.
fn part(seed: u32, shift: u32) -> f32 {
    (seed.rotate_right(shift) & 0xff) as f32 / 256.0
}

fn vector(seed: u32, size: f32) -> Vec3 {
    (Vec3::new(part(seed, 3), part(seed, 11), part(seed, 19)) * 2.0 - 1.0) * size
}

fn rotation(seed: u32) -> Quat {
    let [x, y, z] = (vector(seed.wrapping_mul(0x9e37_79b9), 3.0)).to_array();
    Quat::from_euler(EulerRot::XYZ, x, y, z)
}

/// Uniform, uneven, mirrored, and at times flat.
fn scale(seed: u32) -> Vec3 {
    let uneven = vector(seed, 1.0).abs() + 0.4;
    match seed % 9 {
        0..=2 => Vec3::ONE,
        3 => Vec3::splat(uneven.x),
        4 | 5 => uneven,
        6 => uneven * Vec3::new(1.0, -1.0, 1.0),
        7 => -uneven,
        _ => uneven * Vec3::new(1.0, 0.0, 1.0),
    }
}

fn transform(seed: u32) -> Transform {
    Transform::new(vector(seed.rotate_left(7), 3.0), rotation(seed), scale(seed.rotate_left(13)))
}

fn keep(seed: u32) -> Keep {
    [Keep::Local, Keep::World, Keep::WorldTrs][seed as usize % 3]
}

impl<A: Kind> Pair<A> {
    fn pick(&self, n: u16) -> Option<NodeId> {
        let order = self.forest.pre_order();
        (!order.is_empty()).then(|| order[usize::from(n) % order.len()])
    }

    /// The world pose by recursive product, from the model's locals.
    fn world(&self, id: Option<NodeId>) -> Pose {
        let path = id.map_or(vec![], |id| self.forest.path(id));
        path.iter().fold(Pose::IDENTITY, |pose, &id| A::below(&pose, &self.local(id)))
    }

    fn local(&self, id: NodeId) -> Pose {
        // The stage reads a node's parts; the matrix is the model's.
        let stage = Stage::<A> { h: self.h.clone(), chain: vec![id], id };
        let pose = stage.local(id);
        let matrix = stage::wide(&self.forest.nodes[&id].value);
        Pose { matrix, size: stage::sizes(&matrix), ..pose }
    }

    fn take_over(&mut self, id: NodeId) {
        self.forest.nodes.get_mut(&id).unwrap().value = self.h.local_matrix(id).unwrap();
    }

    fn inserted(&mut self, id: NodeId, parent: Option<NodeId>, index: usize, local: &Transform) {
        self.forest.insert(id, parent, index, local.to_affine());
    }

    fn step(&mut self, (kind, a, b, seed): Step) -> Result<(), TestCaseError> {
        let parent = if b % 5 == 0 { None } else { self.pick(b) };
        let local = transform(seed);
        let Some(id) = self.pick(a) else {
            let id = self.h.add_root(local).unwrap();
            self.inserted(id, None, 0, &local);
            return Ok(());
        };
        let end = self.forest.list(parent).len();
        match kind % 18 {
            0 | 1 => {
                let new = self.h.insert_child_at(parent, end, local).unwrap();
                self.inserted(new, parent, end, &local);
            }
            2 => {
                let ids = self.h.extend(parent, &[Some(1), None, Some(1)], &[local; 3]).unwrap();
                self.inserted(ids[1], parent, end, &local);
                self.inserted(ids[0], Some(ids[1]), 0, &local);
                self.inserted(ids[2], Some(ids[1]), 1, &local);
            }
            3 => {
                self.h.remove_subtree(id).unwrap();
                self.gone.extend(self.forest.remove_subtree(id));
            }
            4 => {
                let children = self.forest.nodes[&id].children.clone();
                let wanted: Vec<_> = children.iter().map(|&child| self.world(Some(child))).collect();
                let result = self.h.remove_and_promote(id, keep(seed));
                if self.refused(&result, seed)? {
                    return Ok(());
                }
                self.forest.promote(id);
                self.gone.push(id);
                children.iter().zip(&wanted).try_for_each(|(&child, wanted)| self.kept(child, wanted, keep(seed)))?;
            }
            5..=9 => {
                let wanted = self.world(Some(id));
                let result = self.h.reparent(id, parent, keep(seed));
                if parent.is_some_and(|parent| self.forest.is_at_or_above(id, parent)) {
                    prop_assert!(matches!(result.map_err(Error::from), Err(Error::Cycle(_))));
                    return Ok(());
                }
                if self.refused(&result, seed)? {
                    return Ok(());
                }
                let index = end - usize::from(self.forest.parent(id) == parent);
                self.forest.relocate(id, parent, index);
                self.kept(id, &wanted, keep(seed))?;
            }
            10 => {
                self.h.set_local(id, local).unwrap();
                self.forest.nodes.get_mut(&id).unwrap().value = local.to_affine();
            }
            11 => {
                let mut matrix = self.forest.nodes[&id].value;
                matrix.translation = local.position.into();
                self.h.set_position(id, local.position).unwrap();
                self.forest.nodes.get_mut(&id).unwrap().value = matrix;
            }
            12 => {
                let shear = Affine3A::from_cols_array(&[1.0, 0.0, 0.0, 0.5, 1.0, 0.0, -0.3, 0.2, 1.0, 0.0, 0.0, 0.0]);
                let matrix = local.to_affine() * shear;
                if self.h.set_local_matrix(id, matrix).is_ok() {
                    self.take_over(id);
                    prop_assert!(!A::reads_shear() || self.h.local_matrix(id).unwrap() == matrix, "kept exactly");
                }
            }
            13 => {
                let wanted = local.to_affine();
                let result = self.h.set_world(id, wanted);
                if !self.refused(&result, 1)? {
                    let matrix = stage::wide(&wanted);
                    self.kept(id, &Pose { matrix, ..Pose::IDENTITY }, Keep::World)?;
                }
            }
            14 => {
                self.h.drop_shear(id).unwrap();
                self.take_over(id);
            }
            15 => self.h.optimize(),
            16 => drop(self.h.update().rows().len()),
            _ => {
                for &gone in &self.gone {
                    prop_assert!(self.h.reparent(id, gone, keep(seed)).is_err() && self.h.world(gone).is_err());
                }
            }
        }
        Ok(())
    }

    /// Refusals other than a cycle have a flat node for a cause, or shear that may not be held, or so thin
    /// a chain that rounding hides it.
    fn refused<T>(&self, result: &Result<T, impl Into<Error> + Copy>, seed: u32) -> Result<bool, TestCaseError> {
        let Err(error) = result else { return Ok(false) };
        match (*error).into() {
            Error::NotTrs(_) => prop_assert!(keep(seed) == Keep::WorldTrs || !A::reads_shear()),
            Error::SingularParent(refusal) => {
                let condition = stage::condition(self.world(Some(refusal.parent)).matrix.matrix3);
                prop_assert!(condition.is_nan() || condition > 1e3, "refused at condition {}", condition);
            }
            other => prop_assert!(false, "{}", other),
        }
        Ok(true)
    }

    /// The law of what was solved for: `|P L - W| ≤ 2 ε |P||L|`; and of what was not: the same bits.
    fn kept(&mut self, id: NodeId, wanted: &Pose, keep: Keep) -> Result<(), TestCaseError> {
        let was = self.forest.nodes[&id].value;
        self.take_over(id);
        if keep == Keep::Local {
            prop_assert_eq!(was, self.forest.nodes[&id].value);
            return Ok(());
        }
        let world = self.world(Some(id));
        let (bound, size) = match (A::reads_shear(), keep) {
            (true, Keep::World) => (2.0 * EPS, world.size),
            // Held as position, rotation and scale it is a rounded quaternion too: right by the column.
            (true, _) => (32.0 * EPS, self.world(self.forest.parent(id)).size * columns(&self.local(id).size)),
            (false, _) => (32.0 * EPS, columns(&world.size)),
        };
        near(&world.matrix, &wanted.matrix, &size, bound)
    }

    fn check(&mut self) -> Result<(), TestCaseError> {
        self.h.assert_well_formed();
        self.forest.assert_shape(&self.h);
        let mut updated = self.h.clone();
        let worlds: Worlds<'_, A> = updated.update();
        for id in self.forest.pre_order() {
            prop_assert_eq!(self.h.local_matrix(id).unwrap(), self.forest.nodes[&id].value, "local of {:?}", id);
            let (pose, depth) = (self.world(Some(id)), self.forest.path(id).len());
            let got = stage::wide(&self.h.world_matrix(id).unwrap());
            let (per_level, size) =
                if A::reads_shear() { (2.0 * EPS, pose.size) } else { (16.0 * EPS, columns(&pose.size)) };
            near(&got, &pose.matrix, &size, per_level * depth as f64)?;
            // Read before an update and after one: the same bits.
            prop_assert_eq!(self.h.world(id).unwrap(), A::world(worlds.get(id).unwrap()));
        }
        Ok(())
    }
}

/// Each element as large as the largest of its column.
fn columns(size: &DAffine3) -> DAffine3 {
    let spread = |v: posetree::glam::DVec3| posetree::glam::DVec3::splat(v.max_element());
    let m = size.matrix3;
    let matrix3 = posetree::glam::DMat3::from_cols(spread(m.x_axis), spread(m.y_axis), spread(m.z_axis));
    DAffine3 { matrix3, translation: spread(size.translation) }
}

fn near(got: &DAffine3, want: &DAffine3, size: &DAffine3, bound: f64) -> Result<(), TestCaseError> {
    let [got, want, size] = [got, want, size].map(DAffine3::to_cols_array);
    for ((got, want), size) in got.into_iter().zip(want).zip(size) {
        prop_assert!((got - want).abs() <= bound * size, "got {got}, want {want}, allowed {:e}", bound * size);
    }
    Ok(())
}

fn script<A: Kind>(steps: &[Step]) -> Result<(), TestCaseError> {
    let mut pair = Pair::<A> { h: HierarchyOf::new(), forest: Forest::new(), gone: Vec::new() };
    for &step in steps {
        pair.step(step)?;
        pair.check()?;
    }
    if let Some(id) = steps.last().and_then(|step| pair.pick(step.1)) {
        pair.forest.assert_walks(&pair.h, id);
        pair.forest.assert_relation(&pair.h, id, pair.pick(steps[0].1).unwrap());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn scripts_over_matrices(steps in prop::collection::vec(any::<Step>(), 1..80)) {
        script::<posetree::Matrices>(&steps)?;
    }

    #[test]
    fn scripts_over_components(steps in prop::collection::vec(any::<Step>(), 1..80)) {
        script::<posetree::Components>(&steps)?;
    }
}
