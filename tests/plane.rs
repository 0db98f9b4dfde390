//! Hierarchies of two dimensions in both precisions, by random scripts of doors beside a float64 model: a
//! forest kept the plain way, whose worlds are products of 2x3 matrices or of parts, written down anew.
//!
//! ε is the precision's spacing at one, u = ε/2. In float64 the model rounds as the hierarchy does, which
//! every bound counts too ([`Kind::eps`]). A local value that was solved for is checked against the wanted
//! world and then taken over, so that one step's rounding does not count against the next. A refusal must
//! have its cause in the model, and leaves every bit as it was.

extern crate alloc;

#[path = "common/bits.rs"]
mod bits;
#[path = "plane/by_hand.rs"]
mod by_hand;
#[path = "common/forest.rs"]
#[allow(dead_code, reason = "the tests inside the crate use all of it")]
mod forest;
#[path = "plane/kind.rs"]
mod kind;
#[path = "plane/pair.rs"]
mod pair;
#[path = "plane/steps.rs"]
mod steps;

use bits::bits_of;
use kind::{Kind, M, Own, Pose};
use pair::{Pair, near};
use posetree::glam::{self, DVec2};
use posetree::{Accumulate, DTransform2, Error, Geometry, HierarchyOf, Keep, NodeId, Space, Worlds};
use proptest::prelude::*;
use proptest::test_runner::Config;
use steps::{Step, step};

type Outcome<T = ()> = Result<T, TestCaseError>;

fn run<A: Kind>(script: &[Step]) -> Outcome {
    let mut pair = Pair::<A>::new();
    for step in script {
        pair.step(step).and_then(|()| pair.check()).map_err(|error| match error {
            TestCaseError::Fail(why) => TestCaseError::fail(format!("{step:?}: {why}")),
            reject => reject,
        })?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::default() })]

    #[test]
    fn matrices(script in prop::collection::vec(step(), 1..40)) {
        run::<posetree::Matrices2>(&script)?;
    }

    #[test]
    fn components(script in prop::collection::vec(step(), 1..40)) {
        run::<posetree::Components2>(&script)?;
    }

    #[test]
    fn matrices_in_f64(script in prop::collection::vec(step(), 1..40)) {
        run::<posetree::DMatrices2>(&script)?;
    }

    #[test]
    fn components_in_f64(script in prop::collection::vec(step(), 1..40)) {
        run::<posetree::DComponents2>(&script)?;
    }
}
