//! Random edit scripts over both kinds of hierarchy, beside a float64 model: a forest kept the plain way,
//! with worlds as recursive products.
//!
//! Structure is compared exactly after every step, and so are the locals of all nodes that a step does
//! not name. A local value that the hierarchy solved for is checked against the wanted world and then
//! taken over, so that the rounding of one step does not count against the next. A refusal must have
//! its cause in the model, and leaves every bit as it was.

extern crate alloc;

#[path = "common/forest.rs"]
#[allow(dead_code, reason = "the tests inside the crate use all of it")]
mod forest;
#[path = "model/law.rs"]
mod law;
#[path = "doors/stage.rs"]
#[allow(dead_code, reason = "the doors' tests use all of it")]
mod stage;
#[path = "model/steps.rs"]
mod steps;
#[path = "model/subtrees.rs"]
mod subtrees;
#[path = "model/values.rs"]
mod values;

use forest::Forest;
use posetree::glam::{Affine3A, Vec3};
use posetree::{Accumulate, Error, HierarchyOf, Keep, NodeId, Transform, Worlds};
use proptest::prelude::*;
use stage::{Kind, Pose};
use steps::Step;

const EPS: f64 = f32::EPSILON as f64;

/// Half the smallest float32 number: what a result below the normal numbers may be off by.
const UNDERFLOW: f64 = 1.0 / (1_u128 << 100) as f64 / (1_u128 << 50) as f64;

type Outcome<T = ()> = Result<T, TestCaseError>;

/// What a node owns, as the hierarchy was given it, or has solved for it and was checked.
#[derive(Clone, Copy, Debug)]
struct Own {
    transform: Transform,
    matrix: Affine3A,
}

impl Own {
    fn of<A: Kind>(h: &HierarchyOf<A>, id: NodeId) -> Self {
        let (position, rotation, scale) = (h.position(id), h.rotation(id), h.scale(id));
        let transform = Transform::new(position.unwrap(), rotation.unwrap(), scale.unwrap());
        Self { transform, matrix: h.local_matrix(id).unwrap() }
    }

    fn bits(&self) -> Vec<u32> {
        let Transform { position, rotation, scale } = self.transform;
        let parts = position.to_array().into_iter().chain(rotation.to_array()).chain(scale.to_array());
        parts.chain(self.matrix.to_cols_array()).map(f32::to_bits).collect()
    }
}

struct Pair<A: Kind> {
    h: HierarchyOf<A>,
    forest: Forest<Own>,
    gone: Vec<NodeId>,
    out: Vec<subtrees::Out<A>>,
}

/// Elements of a world, as bits; every NaN the same, as `inf - inf` in one order or another gives it.
fn bits(matrix: Affine3A) -> [u32; 12] {
    matrix.to_cols_array().map(|x| if x.is_nan() { u32::MAX } else { x.to_bits() })
}

impl<A: Kind> Pair<A> {
    fn pick(&self, n: u16) -> Option<NodeId> {
        let order = self.forest.pre_order();
        (!order.is_empty()).then(|| order[usize::from(n) % order.len()])
    }

    fn own(&self, id: NodeId) -> &Own {
        &self.forest.nodes[&id].value
    }

    fn local(&self, id: NodeId) -> Pose {
        law::pose::<A>(self.own(id))
    }

    /// The pose of the last of some nodes as seen from above the first.
    fn product(&self, path: &[NodeId]) -> Pose {
        path.iter().fold(Pose::IDENTITY, |pose, &id| A::below(&pose, &self.local(id)))
    }

    fn path(&self, id: Option<NodeId>) -> Vec<NodeId> {
        id.map_or(vec![], |id| self.forest.path(id))
    }

    /// The ways down to two nodes, from where poses under them are compared.
    fn ways(&self, old: Option<NodeId>, new: Option<NodeId>) -> (Vec<NodeId>, Vec<NodeId>) {
        if A::reads_shear() || old == new { self.forest.diverging(old, new) } else { (self.path(old), self.path(new)) }
    }

    fn take_over(&mut self, id: NodeId) {
        self.forest.nodes.get_mut(&id).unwrap().value = Own::of(&self.h, id);
    }

    /// Whether an operation was refused; if so it has changed nothing, not a bit and not a mark.
    fn refused<T, E: Into<Error> + Copy>(
        &self,
        before: &HierarchyOf<A>,
        result: &Result<T, E>,
    ) -> Outcome<Option<Error>> {
        let Err(error) = result else { return Ok(None) };
        prop_assert_eq!(self.h.worlds().is_some(), before.worlds().is_some());
        for id in self.forest.pre_order() {
            prop_assert_eq!(Own::of(&self.h, id).bits(), Own::of(before, id).bits(), "{:?} after a refusal", id);
            let [now, then] = [&self.h, before].map(|h| bits(h.world_matrix(id).unwrap()));
            prop_assert_eq!(now, then, "world of {:?} after a refusal", id);
        }
        Ok(Some((*error).into()))
    }

    fn check(&mut self) -> Outcome {
        self.h.assert_well_formed();
        self.forest.assert_shape(&self.h);
        let mut updated = self.h.clone();
        let worlds: Worlds<'_, A> = updated.update();
        let order = self.forest.pre_order();
        for &id in &order {
            prop_assert_eq!(Own::of(&self.h, id).bits(), self.own(id).bits(), "local of {:?}", id);
            let path = self.forest.path(id);
            let world = self.h.world_matrix(id).unwrap();
            // Read before an update and after one: the same bits.
            prop_assert_eq!(bits(world), bits(A::matrix(&A::world(worlds.get(id).unwrap()))), "world of {:?}", id);
            if let Some(bound) = self.bound(&path) {
                law::near(&stage::wide(&world), &self.product(&path).matrix, &bound)?;
            }
        }
        let clean = !order.iter().any(|&id| self.h.is_dirty(id).unwrap());
        prop_assert_eq!(self.h.worlds().is_some(), clean);
        updated.assert_well_formed();
        prop_assert!(self.gone.iter().all(|&id| !self.h.contains(id) && !self.h.is_reserved(id)));
        let out = || self.out.iter().flat_map(|(_, nodes)| nodes);
        prop_assert!(out().all(|&(id, _)| !self.h.contains(id) && self.h.is_reserved(id)));
        Ok(())
    }
}

fn script<A: Kind>(steps: &[Step]) -> Outcome {
    let mut pair = Pair::<A> { h: HierarchyOf::new(), forest: Forest::new(), gone: Vec::new(), out: Vec::new() };
    for &step in steps {
        pair.step(step)?;
        pair.check()?;
        if let (Some(a), Some(b)) = (pair.pick(step.1), pair.pick(step.2)) {
            pair.forest.assert_walks(&pair.h, a);
            pair.forest.assert_relation(&pair.h, a, b);
        }
    }
    Ok(())
}

/// Chains of some kind of scale, and poses set and kept below them.
fn chains(scaled: fn(u32) -> u32) -> impl Strategy<Value = Vec<Step>> {
    let grow = (0..2u8, any::<u16>(), any::<u16>(), any::<u32>().prop_map(scaled));
    let solve = (prop::sample::select(vec![10, 11, 12, 17, 28, 29, 30, 39]), any::<u16>(), any::<u16>(), any::<u32>());
    prop::collection::vec(prop_oneof![grow, solve], 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn scripts_over_matrices(steps in prop::collection::vec(any::<Step>(), 1..80)) {
        script::<posetree::Matrices>(&steps)?;
    }

    #[test]
    fn thin_parents_of_matrices(steps in chains(values::thin)) {
        script::<posetree::Matrices>(&steps)?;
    }

    #[test]
    fn tiny_parents_of_matrices(steps in chains(values::tiny)) {
        script::<posetree::Matrices>(&steps)?;
    }

    #[test]
    fn thin_parents_of_components(steps in chains(values::thin)) {
        script::<posetree::Components>(&steps)?;
    }

    #[test]
    fn tiny_parents_of_components(steps in chains(values::tiny)) {
        script::<posetree::Components>(&steps)?;
    }

    #[test]
    fn scripts_over_components(steps in prop::collection::vec(any::<Step>(), 1..80)) {
        script::<posetree::Components>(&steps)?;
    }
}
