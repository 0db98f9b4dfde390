//! Turning in the world under rotations and reflections times one factor: the scale's bits stay.

use crate::stage::{Kind, Local, Stage, condition, frobenius, rotation, vector, wide};
use crate::{EPS, config, near_vector};
use posetree::glam::{DMat3, Quat, Vec3};
use posetree::{Space, Transform};
use proptest::prelude::*;

/// As many as in a rope or a tentacle; each matrix is rounded, and its quaternion's length.
fn rigid_chain() -> impl Strategy<Value = Vec<Local>> {
    let sizes = prop_oneof![4 => Just(1.0f32), 1 => 0.5f32..2.0, 1 => Just(1e-6f32), 1 => Just(1e6f32)];
    let signs = prop_oneof![3 => Just(Vec3::ONE), 1 => Just(-Vec3::ONE), 1 => Just(Vec3::new(1.0, -1.0, 1.0))];
    let link = (vector(3.0), rotation(), sizes, signs, -1.5f32..1.5).prop_map(|(position, turn, size, signs, off)| {
        // |len² - 1| ≤ 3 ε: a rotation at the door.
        let turn = turn * (1.0 + off * f32::EPSILON);
        Local::Trs(Transform::new(position, turn, size * signs))
    });
    // No more than four sizes of 1e±6 in a row, so that the factor is a float32.
    prop_oneof![
        prop::collection::vec(link, 0..5),
        prop::collection::vec((vector(3.0), rotation()), 0..150).prop_map(|links| {
            links.into_iter().map(|(p, r)| Local::Trs(Transform::new(p, r, Vec3::ONE))).collect()
        }),
    ]
}

fn own() -> impl Strategy<Value = Transform> {
    (vector(3.0), rotation(), vector(3.0)).prop_map(|(position, turn, scale)| Transform::new(position, turn, scale))
}

fn turns_and_keeps_its_scale<A: Kind>(
    above: &[Local],
    own: Transform,
    by: Quat,
    point: Option<Vec3>,
) -> Result<(), TestCaseError> {
    let locals: Vec<Local> = above.iter().copied().chain([Local::Trs(own)]).collect();
    let before = Stage::<A>::new(&locals);
    let (mut after, id) = (before.clone(), before.id);
    match point {
        None => after.h.rotate(id, by, Space::World).unwrap(),
        Some(point) => {
            // Far from a tiny parent's point of view.
            let turned = after.h.rotate_around(id, point, by, Space::World);
            prop_assume!(turned.is_ok());
        }
    }
    let local = after.h.local(id);
    let bits = |v: Vec3| v.to_array().map(f32::to_bits);
    prop_assert!(after.h.is_trs(id).unwrap(), "it holds shear");
    prop_assert_eq!(bits(local.unwrap().scale), bits(own.scale));
    if point.is_none() {
        prop_assert_eq!(bits(local.unwrap().position), bits(own.position));
    }

    // Every level's columns are off a rotation's by 14.5 ε at most (see `TRS_TOLERANCE`), and so is what a
    // turn carried through them; the own matrix is rounded before and after.
    let parent = before.parent().matrix.matrix3;
    let turn = DMat3::from_quat(by.as_dquat().normalize());
    let (was, now) = (before.world().matrix.matrix3, after.world().matrix.matrix3);
    let bound = (16.0 * above.len() as f64 + 16.0) * EPS;
    prop_assert!(condition(parent) < 3.1);
    for i in 0..3 {
        let column = wide(&after.h.local_matrix(id).unwrap()).matrix3.col(i).length();
        near_vector("linear", now.col(i), turn * was.col(i), bound * frobenius(parent) * column)?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn rotate_in_the_world_keeps_the_scale(
        above in rigid_chain(), own in own(), by in rotation(), point in prop::option::of(vector(3.0)),
    ) {
        turns_and_keeps_its_scale::<posetree::Matrices>(&above, own, by, point)?;
        turns_and_keeps_its_scale::<posetree::Components>(&above, own, by, point)?;
    }
}
