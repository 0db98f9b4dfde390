//! Laws that need no tolerance of one's choice: there and back, two steps and one, set and read.
//!
//! u = ε/2. A value that is solved for in float64 and stored is off by one rounding of itself, u, and by
//! what float64 loses through the parent's condition, far below that for the conditions asked of here.

use crate::bits::bits_of;
use crate::stage::{
    Components, Kind, Local, Matrices, Pose, Stage, chain, condition, frobenius, rotation, sizes, vector,
};
use crate::{EPS, config, near};
use posetree::glam::{Affine3A, DAffine3, DMat3, DVec3, Quat, Vec3};
use posetree::{HierarchyOf, NodeId, Space, Transform};
use proptest::prelude::*;

const U: f64 = 0.5 * EPS;
const SPACES: [Space; 3] = [Space::Local, Space::Parent, Space::World];

/// Above this float64 itself begins to show, and refusals may be right.
const CONDITION: f64 = 1e3;

/// How a parent stretches what is solved for under it: with components no more than its factors.
fn solved_condition<A: Kind>(parent: &Pose) -> f64 {
    if A::reads_shear() { condition(parent.matrix.matrix3) } else { 1.0 }
}

fn translates_there_and_back<A: Kind>(start: Stage<A>, by: Vec3) -> Result<(), TestCaseError> {
    let id = start.id;
    let parent = start.parent();
    let was = start.local(id).matrix.translation;
    // In the world the offset goes through the inverse, in float64; where the node is does not matter.
    let lost = 1e-14 * frobenius(parent.matrix.matrix3.inverse()) * by.as_dvec3().length();
    for space in SPACES {
        let mut h = start.h.clone();
        if h.translate(id, by, space).is_err() {
            // Only what has to be solved for can be refused.
            prop_assert!(space == Space::World && condition(parent.matrix.matrix3) > CONDITION);
            continue;
        }
        let there = h.position(id).unwrap().as_dvec3();
        if h.translate(id, -by, space).is_err() {
            prop_assert!(space == Space::World && condition(parent.matrix.matrix3) > CONDITION);
            continue;
        }
        let back = h.position(id).unwrap().as_dvec3();
        // The offset is the same both ways, so that only the two sums are rounded.
        let lost = if space == Space::World { lost } else { 0.0 };
        let bound = (there.abs() + back.abs()) * (U * 1.0001) + lost;
        prop_assert!((back - was).abs().cmple(bound).all(), "{:?}: {} to {}, allowed {}", space, was, back, bound);
        let linear = |h: &HierarchyOf<A>| bits_of(h.local_matrix(id).unwrap().matrix3);
        prop_assert_eq!(linear(&h), linear(&start.h));
    }
    Ok(())
}

/// With matrices: `|P L' - Rot(q) P L| ≤ 2 ε |P||L'|` where the parent is no rotation times one factor.
fn turns_every_element(start: &Matrices, by: Quat) -> Result<(), TestCaseError> {
    let id = start.id;
    let parent = start.parent().matrix.matrix3;
    let unit = parent * parent.x_axis.length().recip();
    let off =
        (unit.transpose() * unit - DMat3::IDENTITY).to_cols_array().into_iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    if off < 1e-4 || condition(parent) > CONDITION {
        return Ok(());
    }
    let (mut after, turn) = (start.clone(), DMat3::from_quat(by.as_dquat().normalize()));
    after.h.rotate(id, by, Space::World).unwrap();
    let want = DAffine3::from_mat3(turn * start.world().matrix.matrix3);
    let now = after.local(id).matrix.matrix3;
    let size = DAffine3::from_mat3(parent.abs() * now.abs());
    near("turned", &DAffine3::from_mat3(parent * now), &want, &size, 2.0001 * EPS)?;
    // And back: the second turn starts from what the first left.
    let left = after.world().matrix.matrix3;
    after.h.rotate(id, by.inverse(), Space::World).unwrap();
    let now = after.local(id).matrix.matrix3;
    let size = DAffine3::from_mat3(parent.abs() * now.abs());
    let want = DAffine3::from_mat3(turn.transpose() * left);
    near("turned back", &DAffine3::from_mat3(parent * now), &want, &size, 2.0001 * EPS)
}

fn turns_there_and_back<A: Kind>(start: Stage<A>, by: Quat) -> Result<(), TestCaseError> {
    let id = start.id;
    let condition = solved_condition::<A>(&start.parent());
    for space in SPACES {
        let (mut there, mut back) = (start.clone(), start.clone());
        let turned = there.h.rotate(id, by, space).and_then(|()| {
            back = there.clone();
            back.h.rotate(id, by.inverse(), space)
        });
        if let Err(error) = turned {
            prop_assert!(space == Space::World && condition > CONDITION, "{}", error);
            continue;
        }
        // Each turn's quaternion is a product (6 u), normalised (3 u) and stored as a matrix (7 ε, see
        // `aim`), twice; the matrix before was rounded as well. In the world the parent stretches that,
        // and the columns half way, which it may have stretched by then.
        let [was, there, back] = [&start, &there, &back].map(|stage| stage.local(id).matrix.matrix3);
        let stretch = if space == Space::World { condition } else { 1.0 };
        for i in 0..3 {
            let size = was.col(i).length() + there.col(i).length() + back.col(i).length();
            let (off, bound) = ((back.col(i) - was.col(i)).length(), 13.0 * EPS * stretch * size);
            prop_assert!(off <= bound, "{:?}: column {} off by {:e}, allowed {:e}", space, i, off, bound);
        }
    }
    Ok(())
}

/// `Q` of `m = Q U` moves by no more than this times the largest relative error of a column: the bound of
/// G. W. Stewart and J.-G. Sun, "Matrix Perturbation Theory" (1990), for columns of length one, which
/// scaling of columns does not change.
fn sensitivity(m: DMat3) -> f64 {
    let unit = DMat3::from_cols(m.x_axis.normalize(), m.y_axis.normalize(), m.z_axis.normalize());
    (1.0 + 2f64.sqrt()) * frobenius(unit.inverse()) * 3f64.sqrt()
}

/// What is set is what is read, with the rounding of the own value and of the world that is read.
fn rotation_set_is_rotation_read<A: Kind>(start: Stage<A>, wanted: Quat) -> Result<(), TestCaseError> {
    let (mut after, id) = (start.clone(), start.id);
    let parent = start.parent();
    if let Err(error) = after.h.set_world_rotation(id, wanted) {
        prop_assert!(condition(parent.matrix.matrix3) > CONDITION && A::reads_shear(), "{}", error);
        return Ok(());
    }
    let read = after.h.world_rotation(id).unwrap();
    after.h.update();
    prop_assert_eq!(after.h.world_rotation(id), Ok(read));
    let [read, want] = [read, wanted].map(|q| DMat3::from_quat(q.as_dquat().normalize()));
    let levels = after.chain.len() as f64;
    let world = after.world();
    let bound = if A::reads_shear() {
        let local = after.local(id).matrix.matrix3;
        let column = |i: usize| {
            // 7 ε of the own column (see `aim`), and four roundings of every term at every level.
            let own = 7.0 * EPS * frobenius(parent.matrix.matrix3) * local.col(i).length();
            let read = 4.0 * U * 1.0001 * levels * world.size.matrix3.col(i).length();
            (own + read) / world.matrix.matrix3.col(i).length()
        };
        sensitivity(world.matrix.matrix3) * column(0).max(column(1)).max(column(2)) + 2.0 * EPS
    } else {
        // A product of quaternions per level (3 ε with its Newton step), and the own one's rounding.
        3.0 * EPS * levels + 3.0 * EPS
    };
    // First order: beyond this the bound says nothing.
    if bound > 0.05 {
        return Ok(());
    }
    let off = frobenius(read - want);
    prop_assert!(off <= 1.1 * bound, "read {}, want {}: off by {:e}, allowed {:e}", read, want, off, bound);
    Ok(())
}

/// Two branches below a trunk, the second with a node in the middle: three places to relate.
fn relates_in_steps<A: Kind>(trunk: &[Local], left: &[Local], right: &[Local]) -> Result<(), TestCaseError> {
    let mut stage = Stage::<A>::new(trunk);
    let (fork, mut poses) = (stage.id, vec![(stage.id, stage.world())]);
    for branch in [left, right] {
        let (mut at, mut pose) = (fork, poses[0].1);
        for local in branch {
            let transform = if let Local::Trs(transform) = local { *transform } else { Transform::IDENTITY };
            at = stage.h.add_child(at, transform).unwrap();
            if let Local::Sheared(matrix) = local {
                stage.h.set_local_matrix(at, *matrix).unwrap();
            }
            pose = A::below(&pose, &stage.local(at));
            poses.push((at, pose));
        }
    }
    // Seen from the common ancestor, what is above does not count.
    let related = |(from, _): (NodeId, Pose), (to, _): (NodeId, Pose)| stage.h.transform_between(from, to);
    let last = poses.len() - 1;
    for (a, b, c) in [(0, last, 1), (1, last, 0), (last, 1, 0), (1, 0, last), (last, 0, 1), (1, 1, last)] {
        let [a, b, c] = [a, b, c].map(|i: usize| poses[i]);
        let (Ok(ab), Ok(bc), Ok(ac)) = (related(a, b), related(b, c), related(a, c)) else { continue };
        let [ab, bc, ac] = [ab, bc, ac].map(|m: Affine3A| crate::stage::wide(&m));
        // One rounding in each, and float64 through two inverses, of offsets as large as the positions.
        let conditions = condition(b.1.matrix.matrix3).max(condition(c.1.matrix.matrix3));
        if conditions > CONDITION {
            continue;
        }
        let size = sizes(&bc) * sizes(&ab);
        let offset = [a, b, c].iter().map(|(_, pose)| pose.size.translation.length()).fold(0.0, f64::max);
        let through = frobenius(c.1.matrix.matrix3.inverse()) * 1e-14 * conditions;
        let lost = DAffine3 {
            matrix3: DMat3::from_cols_array(&[frobenius(size.matrix3) * 1e-13 * conditions; 9]),
            translation: DVec3::splat(through * offset + 1e-13 * conditions * size.translation.length()),
        };
        let bound = DAffine3 {
            matrix3: (size.matrix3 * 2.0 + ac.matrix3.abs()) * (U * 1.0001) + lost.matrix3,
            translation: (size.translation * 2.0 + ac.translation.abs()) * (U * 1.0001) + lost.translation,
        };
        near("in two steps", &(bc * ab), &ac, &bound, 1.0)?;
    }
    Ok(())
}

/// q and -q turn alike, but whoever blends from one to the other goes the long way round.
fn takes_the_nearer_quaternion<A: Kind>(start: &Stage<A>, wanted: Quat, target: Vec3) -> Result<(), TestCaseError> {
    let (held, id) = (start.h.rotation(start.id).unwrap(), start.id);
    let near = |what: &str, door: &dyn Fn(&mut Stage<A>) -> Result<(), posetree::WorldError>| {
        let mut after = start.clone();
        if door(&mut after).is_ok() {
            let now = after.h.rotation(id).unwrap();
            // At right angles neither is nearer.
            prop_assert!(held.dot(now) >= -4.0 * f32::EPSILON, "{}: {} to {}", what, held, now);
        }
        Ok(())
    };
    for wanted in [wanted, -wanted] {
        near("rotation", &|s| s.h.set_world_rotation(id, wanted))?;
    }
    near("look", &|s| s.h.look_at(id, target, Vec3::Y))
}

/// Whatever the node holds, a parent that is nowhere near singular is no reason to refuse.
fn refuses_nothing_under_a_good_parent<A: Kind>(
    start: &Stage<A>,
    pose: Transform,
    target: Vec3,
) -> Result<(), TestCaseError> {
    let (parent, id) = (start.parent(), start.id);
    if condition(parent.matrix.matrix3) > CONDITION {
        return Ok(());
    }
    let accepts = |what: &str, door: &dyn Fn(&mut Stage<A>) -> Result<(), posetree::WorldError>| {
        let done = door(&mut start.clone());
        prop_assert!(done.is_ok(), "{}: {}", what, done.unwrap_err());
        Ok(())
    };
    accepts("rotation", &|s| s.h.set_world_rotation(id, pose.rotation))?;
    accepts("scale", &|s| s.h.set_world_scale(id, pose.scale))?;
    accepts("position", &|s| s.h.set_world_position(id, pose.position))?;
    accepts("pose", &|s| s.h.set_world_transform(id, pose))?;
    accepts("translate", &|s| s.h.translate(id, target, Space::World))?;
    accepts("rotate", &|s| s.h.rotate(id, pose.rotation, Space::World))?;
    accepts("hinge", &|s| s.h.rotate_around(id, target, pose.rotation, Space::World))?;
    // Nor is the world under it, for a node that is a rotation.
    accepts("inverse", &|s| {
        s.h.set_local(id, Transform::new(pose.position, pose.rotation, Vec3::ONE)).unwrap();
        s.h.world_to_local_vector(id, target)?;
        s.h.world_to_local_direction(id, target)?;
        s.h.world_to_local_normal(id, target)?;
        s.h.local_to_world_normal(id, target).map(|_| ())
    })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn translating_there_and_back(
        m in chain::<posetree::Matrices>(), c in chain::<posetree::Components>(),
        by in prop_oneof![vector(3.0), vector(1e5)],
    ) {
        translates_there_and_back(Matrices::new(&m), by)?;
        translates_there_and_back(Components::new(&c), by)?;
    }

    #[test]
    fn turning_there_and_back(
        m in chain::<posetree::Matrices>(), c in chain::<posetree::Components>(), by in rotation(),
    ) {
        turns_there_and_back(Matrices::new(&m), by)?;
        turns_there_and_back(Components::new(&c), by)?;
    }

    #[test]
    fn turning_in_the_world_turns_every_element(m in chain::<posetree::Matrices>(), by in rotation()) {
        turns_every_element(&Matrices::new(&m), by)?;
    }

    #[test]
    fn the_world_rotation_that_was_set_is_read(
        m in chain::<posetree::Matrices>(), c in chain::<posetree::Components>(), wanted in rotation(),
    ) {
        rotation_set_is_rotation_read(Matrices::new(&m), wanted)?;
        rotation_set_is_rotation_read(Components::new(&c), wanted)?;
    }

    #[test]
    fn relations_compose(
        m in [chain::<posetree::Matrices>(), chain::<posetree::Matrices>(), chain::<posetree::Matrices>()],
        c in [chain::<posetree::Components>(), chain::<posetree::Components>(), chain::<posetree::Components>()],
    ) {
        relates_in_steps::<posetree::Matrices>(&m[0], &m[1][..1], &m[2])?;
        relates_in_steps::<posetree::Components>(&c[0], &c[1][..1], &c[2])?;
    }

    #[test]
    fn setting_a_rotation_takes_the_nearer_quaternion(
        m in chain::<posetree::Matrices>(), c in chain::<posetree::Components>(), wanted in rotation(),
        target in vector(9.0),
    ) {
        takes_the_nearer_quaternion(&Matrices::new(&m), wanted, target)?;
        takes_the_nearer_quaternion(&Components::new(&c), wanted, target)?;
    }

    #[test]
    fn nothing_is_refused_under_a_good_parent(
        m in chain::<posetree::Matrices>(), c in chain::<posetree::Components>(),
        position in prop_oneof![vector(3.0), vector(1e6)], turn in rotation(), scale in vector(3.0),
        target in vector(3.0),
    ) {
        prop_assume!(target.length() > 0.1);
        let pose = Transform::new(position, turn, scale);
        refuses_nothing_under_a_good_parent(&Matrices::new(&m), pose, target)?;
        refuses_nothing_under_a_good_parent(&Components::new(&c), pose, target)?;
    }
}

/// A small thing a long way off: what float64 knows of its place is coarser than its own steps. Of the rotation this
/// says nothing: in the world even no turn is solved for.
#[test]
fn no_offset_and_no_turn_change_no_bit_of_position_and_scale() {
    let mut h = posetree::Hierarchy::new();
    let mut c = posetree::ComponentHierarchy::new();
    let far = Transform::new(Vec3::new(1e6, -3e5, 7e5), Quat::from_rotation_x(0.9), Vec3::splat(1e-6));
    let own = Transform::new(Vec3::new(0.1, 0.2, 0.3), Quat::from_rotation_z(0.4), Vec3::new(1.0, 2.0, -3.0));
    let (top, top_c) = (h.add_root(far).unwrap(), c.add_root(far).unwrap());
    let (id, id_c) = (h.add_child(top, own).unwrap(), c.add_child(top_c, own).unwrap());
    let bits = |local: Transform| bits_of((local.position, local.scale));
    for space in SPACES {
        h.translate(id, Vec3::ZERO, space).unwrap();
        c.translate(id_c, Vec3::ZERO, space).unwrap();
        h.rotate(id, Quat::IDENTITY, space).unwrap();
        c.rotate(id_c, Quat::IDENTITY, space).unwrap();
        for local in [h.local(id), c.local(id_c)] {
            assert_eq!(bits(local.unwrap()), bits(own), "{space:?}");
        }
    }
    h.rotate_around(id, Vec3::X, Quat::IDENTITY, Space::World).unwrap();
    c.rotate_around(id_c, Vec3::X, Quat::IDENTITY, Space::World).unwrap();
    for local in [h.local(id), c.local(id_c)] {
        assert_eq!(bits(local.unwrap()), bits(own), "around a point");
    }
}
