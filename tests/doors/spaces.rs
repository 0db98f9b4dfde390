//! Moving, turning and aiming in a space of one's choice.

use crate::bits::bits_of;
use crate::stage::{Components, Kind, Matrices, Stage, chain, condition, frobenius, refused, rotation, vector, wide};
use crate::{EPS, config, near, near_vector};
use posetree::glam::{DAffine3, DMat3, DVec3, Quat, Vec3};
use posetree::{ComponentHierarchy, Error, Hierarchy, Keep, Space, Transform};
use proptest::prelude::*;

const SPACES: [Space; 3] = [Space::Local, Space::Parent, Space::World];

/// What a vector that a quaternion turns is off by, in ε of its length. With `c` and `s` of the half angle the formula
/// is `(c² - s²) v + 2 (b · v) b + 2 c (b × v)`, `|b| = s`. In u: `3 s² + c² + 2 |c² - s²|` of the first term, `8 s²`
/// of the second, `6.2 c s` of the third (the products of a cross product are longer than it), `|c² - s²| + 2 s²` and 1
/// of two sums: 18 at the most. A quaternion that three turns make is off unit length by 4 u, which counts twice.
const TURN: f64 = 13.0;

fn largest(v: DVec3) -> f64 {
    v.abs().max_element()
}

fn translates<A: Kind>(before: Stage<A>, by: Vec3) -> Result<(), TestCaseError> {
    let id = before.id;
    let was = before.local(id).matrix.translation;
    let turn = before.h.rotation(id).unwrap().as_dquat().normalize();
    for space in SPACES {
        let mut after = before.clone();
        let result = after.h.translate(id, by, space);
        if refused(&before, &after, &result)? {
            continue;
        }
        let now = after.local(id).matrix.translation;
        let (linear, kept) = (after.h.local_matrix(id).unwrap().matrix3, before.h.local_matrix(id).unwrap().matrix3);
        prop_assert_eq!(linear, kept);
        // One turn and one sum.
        let (turned, sum) = (TURN * EPS * by.as_dvec3().length(), EPS * (largest(was) + by.as_dvec3().length()));
        match space {
            Space::Local => near_vector("local", now, was + turn * by.as_dvec3(), turned + sum)?,
            Space::Parent => near_vector("parent", now, was + by.as_dvec3(), sum)?,
            _ => {
                let want = before.world().matrix.translation + by.as_dvec3();
                let world = after.world();
                near_vector("world", world.matrix.translation, want, 2.0 * EPS * world.size.translation.max_element())?;
            }
        }
        // The law: translating by v and then by -v gives back the pose, each step within its rounding.
        if after.h.translate(id, -by, space).is_ok() {
            let back = after.local(id).matrix.translation;
            let size = largest(was) + largest(now);
            near_vector("there and back", back, was, 8.0 * EPS * (size + largest(by.as_dvec3())))?;
        }
    }
    Ok(())
}

fn places<A: Kind>(before: Stage<A>, at: Vec3) -> Result<(), TestCaseError> {
    let id = before.id;
    for space in SPACES {
        let mut after = before.clone();
        let result = after.h.set_position_in(id, at, space);
        if refused(&before, &after, &result)? {
            continue;
        }
        // The law: set in a space, then read in that space.
        let (local, world) = (after.local(id).matrix, after.world());
        match space {
            Space::Local => {
                let (was, at) = (before.local(id), at.as_dvec3());
                // A row of a matrix by a point; or a product by the scale, a turn and a sum.
                let bound = if A::reads_shear() {
                    4.0 * EPS * largest(was.size.transform_point3(at.abs()))
                } else {
                    let offset = (was.scale * at).length();
                    EPS * ((TURN + 1.0) * offset + largest(was.matrix.translation) + offset)
                };
                near_vector("local", local.translation, was.matrix.transform_point3(at), bound)?;
            }
            Space::Parent => prop_assert_eq!(after.h.position(id), Ok(at)),
            _ => {
                let bound = 2.0 * EPS * world.size.translation.max_element();
                near_vector("world", world.matrix.translation, at.as_dvec3(), bound)?;
            }
        }
    }
    Ok(())
}

fn rotates<A: Kind>(before: Stage<A>, by: Quat) -> Result<(), TestCaseError> {
    let id = before.id;
    let turn = DMat3::from_quat(by.as_dquat().normalize());
    let was = before.local(id).matrix.matrix3;
    for space in SPACES {
        let mut after = before.clone();
        let result = after.h.rotate(id, by, space);
        if refused(&before, &after, &result)? {
            continue;
        }
        prop_assert_eq!(bits_of(before.h.position(id)), bits_of(after.h.position(id)));
        let now = after.local(id).matrix.matrix3;
        let own = before.h.local_decomposed(id).unwrap().transform.rotation;
        let own = DMat3::from_quat(own.as_dquat().normalize());
        let (got, want, size) = match space {
            Space::Local => (now, own * turn * own.transpose() * was, frobenius(was)),
            Space::Parent => (now, turn * was, frobenius(was)),
            _ => {
                let (world, want) = (after.world().matrix.matrix3, turn * before.world().matrix.matrix3);
                (world, want, frobenius(before.parent().matrix.matrix3) * frobenius(now))
            }
        };
        for i in 0..3 {
            // Two quaternions rounded, one matrix made of each: 16 u; as much again for their lengths.
            near_vector("linear", got.col(i), want.col(i), 16.0 * EPS * size)?;
        }
    }
    Ok(())
}

fn rotates_around<A: Kind>(before: Stage<A>, point: Vec3, by: Quat) -> Result<(), TestCaseError> {
    let id = before.id;
    for space in SPACES {
        let mut after = before.clone();
        let result = after.h.rotate_around(id, point, by, space);
        if refused(&before, &after, &result)? {
            continue;
        }
        // The hinge: what had the point's place in the node still has it.
        let point = point.as_dvec3();
        let poses = |stage: &Stage<A>| match space {
            Space::World => stage.world().matrix,
            _ => stage.local(id).matrix,
        };
        let (was, now) = (poses(&before), poses(&after));
        let (inside, outside) = match space {
            Space::Local => (point, was.transform_point3(point)),
            _ => (was.inverse().transform_point3(point), point),
        };
        let parent = if space == Space::World { condition(before.parent().matrix.matrix3) } else { 1.0 };
        let reach = largest(outside) + largest(was.translation) + largest(now.translation);
        let stretch = frobenius(now.matrix3) * largest(inside);
        let origin = largest(before.parent().matrix.translation);
        near_vector("hinge", now.transform_point3(inside), outside, 32.0 * EPS * parent * (reach + stretch + origin))?;
        // It turns as `rotate` does.
        let mut turned = before.clone();
        turned.h.rotate(id, by, space).unwrap();
        let (a, b) = (turned.local(id).matrix.matrix3, after.local(id).matrix.matrix3);
        near("as rotate", &DAffine3::from_mat3(b), &DAffine3::from_mat3(a), &DAffine3::from_mat3(a.abs()), EPS)?;
    }
    Ok(())
}

fn looks_at<A: Kind>(before: Stage<A>, target: Vec3, up: Vec3) -> Result<(), TestCaseError> {
    let (mut after, id) = (before.clone(), before.id);
    let result = after.h.look_at(id, target, up);
    let (parent, eye) = (before.parent(), before.world().matrix.translation);
    let view = target.as_dvec3() - eye;
    if let Err(Error::Degenerate(_)) = result.map_err(Error::from) {
        let size = before.world().size.translation.max_element() + largest(target.as_dvec3());
        let sine = view.normalize().cross(up.as_dvec3().normalize()).length();
        let cause = largest(view) <= 4.0 * EPS * size || sine <= 16.0 * EPS * condition(parent.matrix.matrix3);
        prop_assert!(cause, "degenerate without a cause");
        prop_assert_eq!(before.bits(), after.bits());
        return Ok(());
    }
    if refused(&before, &after, &result)? {
        return Ok(());
    }
    prop_assert_eq!(bits_of(before.h.position(id)), bits_of(after.h.position(id)));
    prop_assert_eq!(bits_of(before.h.scale(id)), bits_of(after.h.scale(id)));
    prop_assert_eq!(before.h.is_trs(id), after.h.is_trs(id));
    let world = after.world().matrix;
    let condition = if A::reads_shear() { condition(parent.matrix.matrix3) } else { 1.0 };
    // A sheared node turns the view by the rounding of its own matrix too.
    let own = self::condition(after.local(id).matrix.matrix3);
    near_vector("view", -world.matrix3.z_axis.normalize(), view.normalize(), 16.0 * EPS * condition * own)?;
    // The image of +Y is on the side of up, seen along the view from the parent's space.
    let (to_parent, linear) = if A::reads_shear() {
        (parent.matrix.matrix3.inverse(), after.local(id).matrix.matrix3)
    } else {
        (DMat3::IDENTITY, world.matrix3)
    };
    let (view, up) = ((to_parent * view).normalize(), (to_parent * up.as_dvec3()).normalize());
    let (up, y) = (up - view * view.dot(up), linear.y_axis.normalize());
    prop_assert!(y.dot(up) >= -16.0 * EPS * condition * own, "up is down: {}", y.dot(up));
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn translate_in_every_space(
        m in chain::<posetree::Matrices>(), c in chain::<posetree::Components>(), by in vector(3.0),
    ) {
        translates(Matrices::new(&m), by)?;
        translates(Components::new(&c), by)?;
    }

    #[test]
    fn set_position_in_every_space(
        m in chain::<posetree::Matrices>(), c in chain::<posetree::Components>(), at in vector(3.0),
    ) {
        places(Matrices::new(&m), at)?;
        places(Components::new(&c), at)?;
    }

    #[test]
    fn rotate_in_every_space(
        m in chain::<posetree::Matrices>(), c in chain::<posetree::Components>(), by in rotation(),
    ) {
        rotates(Matrices::new(&m), by)?;
        rotates(Components::new(&c), by)?;
    }

    #[test]
    fn rotate_around_keeps_the_hinge(
        m in chain::<posetree::Matrices>(), c in chain::<posetree::Components>(), point in vector(3.0), by in rotation(),
    ) {
        rotates_around(Matrices::new(&m), point, by)?;
        rotates_around(Components::new(&c), point, by)?;
    }

    #[test]
    fn look_at_passes_through_the_target(
        m in chain::<posetree::Matrices>(), c in chain::<posetree::Components>(), target in vector(9.0), up in vector(1.0),
    ) {
        looks_at(Matrices::new(&m), target, up)?;
        looks_at(Components::new(&c), target, up)?;
    }

    /// Under a rotation or reflection times one factor, turning in the world leaves the scale's bits.
    #[test]
    fn a_turn_in_the_world_leaves_a_transform(turn in rotation(), size in 0.1f32..10.0, mirror in 0..8u8, by in rotation()) {
        let sign = |bit: u8| if mirror >> bit & 1 == 1 { -size } else { size };
        let parent = Transform::new(Vec3::X, turn, Vec3::new(sign(0), sign(1), sign(2)));
        let own = Transform::new(Vec3::Y, turn, Vec3::new(1.0, -2.0, 0.3));
        let mut h = Hierarchy::new();
        let top = h.add_root(parent).unwrap();
        let id = h.add_child(top, own).unwrap();
        let was = wide(&parent.to_affine()) * wide(&own.to_affine());
        h.rotate(id, by, Space::World).unwrap();
        prop_assert_eq!(bits_of(h.local(id).unwrap().scale), bits_of(own.scale));
        let now = wide(&parent.to_affine()) * wide(&h.local_matrix(id).unwrap());
        let want = DMat3::from_quat(by.as_dquat().normalize()) * was.matrix3;
        for i in 0..3 {
            near_vector("linear", now.matrix3.col(i), want.col(i), 32.0 * EPS * f64::from(size) * 2.0)?;
        }
    }
}

/// The law: any number of turns leaves a rotation, and the scale's bits.
#[test]
fn ten_thousand_rotates() {
    let scale = Vec3::new(1.0, -2.0, 3.0);
    let parent = Transform::from_uniform_scale(0.7).with_rotation(Quat::from_rotation_x(1.1));
    for space in SPACES {
        let mut h = Hierarchy::new();
        let mut c = ComponentHierarchy::new();
        let (top, top_c) = (h.add_root(parent).unwrap(), c.add_root(parent).unwrap());
        let id = h.add_child(top, Transform::from_scale(scale)).unwrap();
        let id_c = c.add_child(top_c, Transform::from_scale(scale)).unwrap();
        for n in 0..10_000u16 {
            let turn = Quat::from_scaled_axis(Vec3::new(f32::from(n % 7), f32::from(n % 5), f32::from(n % 3)) * 0.003);
            h.rotate(id, turn, space).unwrap();
            c.rotate(id_c, turn, space).unwrap();
        }
        for local in [h.local(id).unwrap(), c.local(id_c).unwrap()] {
            assert!((local.rotation.length() - 1.0).abs() < 1e-6, "{space:?}: {}", local.rotation.length());
            assert_eq!(bits_of(local.scale), bits_of(scale), "{space:?}");
        }
    }
}

#[test]
fn a_degenerate_aim_is_refused() {
    let mut h = Hierarchy::new();
    let far = h.add_root(Transform::new(Vec3::splat(1e6), Quat::from_rotation_y(0.3), Vec3::splat(3.0))).unwrap();
    let id = h.add_child(far, Transform::from_position(Vec3::new(0.1, 0.2, 0.3))).unwrap();
    let before = h.local(id).unwrap();
    let here = h.world_position(id).unwrap();
    let view = Vec3::new(1.0, 2.0, 3.0);
    let aims = [(here, Vec3::Y), (here + view * 1e3, Vec3::ZERO), (Vec3::ZERO, here), (Vec3::ZERO, -here)];
    for (target, up) in aims {
        let refused = h.look_at(id, target, up).map_err(Error::from);
        assert!(matches!(refused, Err(Error::Degenerate(_))), "{target} {up}: {refused:?}");
    }
    h.set_scale(id, Vec3::new(1.0, 1.0, 0.0)).unwrap();
    assert!(matches!(h.look_at(id, Vec3::ZERO, Vec3::Y).map_err(Error::from), Err(Error::Degenerate(_))));
    h.set_scale(id, Vec3::ONE).unwrap();
    assert_eq!(h.local(id), Ok(before));
    h.detach(id, Keep::World).unwrap();
}
