//! What is better shown than drawn by lot.

use super::kind::Kind;
use super::*;

fn at(x: f64, y: f64) -> DVec2 {
    DVec2::new(x, y)
}

/// A root, stretched and turned, and a child.
fn two<A: Kind>(parent: DTransform2, child: DTransform2) -> (HierarchyOf<A>, NodeId, NodeId) {
    let mut h = HierarchyOf::<A>::new();
    let root = h.add_root(A::transform(parent)).unwrap();
    let id = h.add_child(root, A::transform(child)).unwrap();
    (h, root, id)
}

fn refusals<A: Kind>() {
    let (mut h, flat, child) = two::<A>(DTransform2::from_scale(at(1.0, 0.0)), DTransform2::IDENTITY);
    let other = h.add_root(A::transform(DTransform2::from_position(at(1.0, 2.0)))).unwrap();
    let v = A::vector(at(1.0, 2.0));
    let matrix = h.world_matrix(other).unwrap();
    let singular: [Result<(), Error>; 7] = [
        h.reparent(other, flat, Keep::World).map(drop).map_err(Error::from),
        h.reparent(other, child, Keep::WorldTrs).map(drop).map_err(Error::from),
        h.set_world_position(child, v).map_err(Error::from),
        h.set_world(child, matrix).map_err(Error::from),
        h.translate(child, v, Space::World).map_err(Error::from),
        h.world_inverse(child).map(drop).map_err(Error::from),
        h.world_to_local_point(child, v).map(drop).map_err(Error::from),
    ];
    for result in singular {
        assert!(matches!(result, Err(Error::SingularParent(_))), "{result:?}");
    }
    assert!(matches!(h.reparent(flat, child, Keep::World).map_err(Error::from), Err(Error::Cycle(_))));
    let nan = A::angle(f64::NAN);
    let not_finite: [Result<(), Error>; 5] = [
        h.set_rotation(child, nan).map_err(Error::from),
        h.rotate(child, A::angle(f64::INFINITY), Space::Parent).map_err(Error::from),
        h.set_world_rotation(child, nan).map_err(Error::from),
        h.set_local(child, A::transform(DTransform2::from_rotation(f64::NAN))).map_err(Error::from),
        h.aim_at(child, A::vector(at(f64::NAN, 0.0))).map_err(Error::from),
    ];
    for result in not_finite {
        assert!(matches!(result, Err(Error::NonFinite(_))), "{result:?}");
    }
    assert!(matches!(h.aim_at(other, v).map_err(Error::from), Err(Error::Degenerate(_))), "on the node");
    h.set_scale(other, A::vector(at(0.0, 1.0))).unwrap();
    assert!(matches!(h.aim_at(other, A::vector(at(9.0, 9.0))).map_err(Error::from), Err(Error::Degenerate(_))));
    assert!(h.world_forward(other).is_err() && h.world_up(other).is_ok());
    assert_eq!((h.parent(other), h.parent(child)), (Ok(None), Ok(Some(flat))));
    // A flat node is left, and its child sees a scale again.
    assert!(h.reparent(child, None, Keep::World).is_ok());
    h.assert_well_formed();
}

fn any_finite_angle_is_a_rotation<A: Kind>() {
    let (mut h, root, child) = two::<A>(DTransform2::from_rotation(1e6), DTransform2::from_rotation(1e6));
    assert_eq!(A::wide_angle(h.rotation(root).unwrap()), 1e6);
    h.set_rotation(child, A::angle(-7.0)).unwrap();
    assert_eq!(A::wide_angle(h.rotation(child).unwrap()), -7.0, "as it is set");
    let right = A::wide_vector(h.world_right(child).unwrap());
    let wanted = DVec2::from_angle(1e6 - 7.0);
    assert!(right.abs_diff_eq(wanted, 8.0 * A::EPS), "{right} is not {wanted}");
    h.rotate(child, A::angle(0.0), Space::Local).unwrap();
    assert!(A::wide_angle(h.rotation(child).unwrap()).abs() <= core::f64::consts::PI);
}

/// The sine and cosine are those of the number that is stored, however large: what is added to it is not lost.
fn a_large_angle_loses_nothing_of_the_others<A: Kind>() {
    for large in [1e3, 1e6, 1e10, 1e17, 1e30] {
        let large = A::wide_angle(A::angle(large));
        let direction = |angle: f64| DVec2::from_angle(A::wide_angle(A::angle(angle)));
        let near = |what: &str, got: DVec2, want: DVec2| {
            assert!(got.abs_diff_eq(want, 8.0 * A::EPS), "{what} with {large:e}: {got} is not {want}");
        };
        let (mut h, root, id) = two::<A>(DTransform2::from_rotation(0.3), DTransform2::from_rotation(large));
        let read = |h: &HierarchyOf<A>| A::wide_vector(h.world_right(id).unwrap());
        let sum = direction(0.3).rotate(direction(large));
        near("world", read(&h), sum);
        h.rotate(id, A::angle(0.2), Space::World).unwrap();
        near("turned", read(&h), direction(0.2).rotate(sum));
        h.set_rotation(id, A::angle(large)).unwrap();
        h.rotate(id, A::angle(0.2), Space::Parent).unwrap();
        near("turned in the parent", read(&h), direction(0.2).rotate(sum));
        h.set_rotation(id, A::angle(large)).unwrap();
        h.detach(id, Keep::World).unwrap();
        near("detached", read(&h), sum);
        h.reparent(id, root, Keep::World).unwrap();
        near("hung", read(&h), sum);
        h.set_world_rotation(id, A::angle(large)).unwrap();
        near("set", read(&h), direction(large));
        let [a, b] = [large, 0.2].map(|angle| A::transform(DTransform2::from_rotation(angle)));
        let [a, b] = [a, b].map(A::wide_transform);
        near("half way", direction(a.lerp(b, 0.5).rotation), (direction(large) + direction(0.2)).normalize());
    }
}

/// The image of +X aims, on whichever axes node and parent mirror.
fn aiming_mirrors<A: Kind>() {
    for (parent, own) in [(1.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)] {
        for y in [1.0, -1.0] {
            let above = DTransform2::new(at(1.0, 1.0), 0.5, at(parent, y) * 2.0);
            let (mut h, _, id) = two::<A>(above, DTransform2::new(at(0.5, 0.0), 0.0, at(own, y)));
            h.aim_at(id, A::vector(at(-5.0, 3.0))).unwrap();
            let [eye, forward] = [h.world_position(id).unwrap(), h.world_forward(id).unwrap()].map(A::wide_vector);
            let ray = (at(-5.0, 3.0) - eye).normalize();
            assert!(forward.abs_diff_eq(ray, 16.0 * A::EPS), "{forward} is not {ray}");
            assert_eq!(h.world_forward(id), h.world_right(id));
            let up = A::wide_vector(h.world_up(id).unwrap());
            let hand = ray.perp_dot(up);
            assert!((hand.abs() - 1.0).abs() <= 16.0 * A::EPS);
            assert_eq!(h.is_mirrored(id).unwrap(), hand < 0.0);
        }
    }
}

fn conversions<A: Kind>() {
    let near = |got: A::Vector, want: DVec2| {
        let got = A::wide_vector(got);
        assert!(got.abs_diff_eq(want, 32.0 * A::EPS * (1.0 + want.length())), "{got} is not {want}");
    };
    let parent = DTransform2::new(at(3.0, -1.0), 0.7, at(2.0, -0.5));
    let (h, root, id) = two::<A>(parent, DTransform2::new(at(1.0, 2.0), -0.4, at(1.5, 0.8)));
    let world = A::wide_matrix_of(h.world_matrix(id).unwrap());
    let (p, v) = (at(0.3, -4.0), at(-2.0, 1.0));
    near(h.local_to_world_point(id, A::vector(p)).unwrap(), world.point(p));
    near(h.local_to_world_vector(id, A::vector(v)).unwrap(), world.vector(v));
    near(h.local_to_world_direction(id, A::vector(v)).unwrap(), world.vector(v).normalize());
    near(h.world_to_local_point(id, A::vector(p)).unwrap(), world.solve(p - world.t));
    near(h.world_to_local_vector(id, A::vector(v)).unwrap(), world.solve(v));
    near(h.world_to_local_direction(id, A::vector(v)).unwrap(), world.solve(v).normalize());
    // At right angles to the image of what it is at right angles to, and on the same side.
    let normal = A::wide_vector(h.local_to_world_normal(id, A::vector(v)).unwrap());
    assert!(normal.dot(world.vector(v.perp())).abs() <= 32.0 * A::EPS && normal.dot(world.vector(v)) > 0.0);
    near(h.world_to_local_normal(id, A::vector(normal)).unwrap(), v.normalize());
    let (low, high) = h.transform_aabb(id, A::vector(at(0.0, 0.0)), A::vector(at(1.0, 2.0))).unwrap();
    let corners = [at(0.0, 0.0), at(1.0, 0.0), at(0.0, 2.0), at(1.0, 2.0)].map(|corner| world.point(corner));
    near(low, corners.into_iter().reduce(DVec2::min).unwrap());
    near(high, corners.into_iter().reduce(DVec2::max).unwrap());
    let back = A::wide_matrix_of(h.world_inverse(id).unwrap()).times(&world);
    near(A::vector(back.x), DVec2::X);
    near(A::vector(back.t), DVec2::ZERO);
    let between = A::wide_matrix_of(h.transform_between(id, root).unwrap());
    near(A::vector(A::wide_matrix_of(h.world_matrix(root).unwrap()).times(&between).t), world.t);
}

macro_rules! each {
    ($($name:ident),+) => {$(
        #[test]
        fn $name() {
            super::by_hand::$name::<posetree::Matrices2>();
            super::by_hand::$name::<posetree::Components2>();
            super::by_hand::$name::<posetree::DMatrices2>();
            super::by_hand::$name::<posetree::DComponents2>();
        }
    )+};
}
mod each {
    each!(
        refusals,
        any_finite_angle_is_a_rotation,
        a_large_angle_loses_nothing_of_the_others,
        aiming_mirrors,
        conversions,
        poses_between_updates
    );
}

#[test]
fn flatness_that_turning_hides_is_seen() {
    use posetree::{DHierarchy2, DTransform2};
    // Turned before and after, the flat node's line has a thin side from rounding alone.
    let (mut h, flat, below) =
        two::<posetree::DMatrices2>(DTransform2::new(at(0.0, 0.0), 0.3, at(1.0, 0.0)), DTransform2::from_rotation(0.9));
    assert!(h.world_matrix(below).unwrap().matrix2.determinant() != 0.0, "or this shows nothing");
    assert!(h.world_inverse(below).is_err());
    assert_eq!(h.is_mirrored(below), Ok(false));
    let free = h.add_root(DTransform2::IDENTITY).unwrap();
    assert!(h.reparent(free, below, Keep::World).is_err());
    // A needle as thin as numbers go is not flat in either precision.
    h.set_scale(flat, at(1e-150, 1e150)).unwrap();
    assert!(h.reparent(free, flat, Keep::World).is_ok());
    let _: DHierarchy2 = h;
}

#[test]
fn rows_are_the_first_two_of_a_matrix_of_space() {
    use glam::{Mat4, Vec2, Vec3};
    let (mut h, _, id) = two::<posetree::Matrices2>(
        DTransform2::new(at(3.0, -1.0), 0.5, at(2.0, 1.0)),
        DTransform2::from_position(at(1.0, 0.25)),
    );
    let inverse_bind = h.world_inverse(id).unwrap();
    h.rotate(id, 0.25, Space::Parent).unwrap();
    let mut out = [Mat4::ZERO];
    h.write_joint_matrices(&[id], &[inverse_bind], &mut out).unwrap();
    let moved = out[0].transform_point3(Vec3::new(3.0, 2.0, 7.0));
    assert_eq!(moved.z, 7.0, "layers stay");
    let local = inverse_bind.transform_point2(Vec2::new(3.0, 2.0));
    assert!(moved.truncate().abs_diff_eq(h.local_to_world_point(id, local).unwrap(), 1e-5));
    let world = h.world(id).unwrap();
    let [x, y] = h.update()[id];
    assert_eq!(x, [world.matrix2.x_axis.x, world.matrix2.y_axis.x, 0.0, world.translation.x]);
    assert_eq!(y, [world.matrix2.x_axis.y, world.matrix2.y_axis.y, 0.0, world.translation.y]);
}

#[test]
fn components_do_not_associate_and_matrices_do() {
    let locals = [
        DTransform2::new(at(1.0, 0.0), 0.5, at(3.0, 1.0)),
        DTransform2::new(at(1.0, 1.0), 1.0, at(1.0, 2.0)),
        DTransform2::from_position(at(1.0, -2.0)),
    ];
    let [a, b, c] = locals;
    assert!((a.combine(b).combine(c).position - a.combine(b.combine(c)).position).length() > 0.5);
    let [a, b, c] = locals.map(|t| t.to_affine());
    assert!(((a * b) * c).abs_diff_eq(a * (b * c), 1e-14));
}

#[test]
fn depth_does_not_wear_an_angle_out() {
    let mut h = posetree::ComponentHierarchy2::new();
    let turn = posetree::Transform2::from_rotation(2.0);
    let mut id = h.add_root(turn).unwrap();
    for _ in 1..10_000 {
        id = h.add_child(id, turn).unwrap();
    }
    let world = h.update().get(id).unwrap().rotation;
    assert!(world.abs() <= core::f32::consts::PI);
    // One rounding of an angle of up to π at each level, ε; an unwrapped sum of 20 000 would be kept to 1e-3 at each.
    let off = (DVec2::from_angle(20_000.0) - DVec2::from_angle(world.into())).length();
    assert!(off <= 10_000.0 * f64::from(f32::EPSILON), "{off:e}");
}

#[cfg(feature = "rayon")]
#[test]
fn many_threads_give_the_same_bits() {
    fn compares<A: Kind>() {
        // More than the 65 536 from which threads share.
        const NODES: u32 = 70_000;
        let mut h = HierarchyOf::<A>::new();
        let parents: Vec<_> = (0..NODES as usize).map(|n| n.checked_sub(1).map(|n| n / 2)).collect();
        let locals: Vec<_> = (0..NODES)
            .map(|n| A::transform(DTransform2::new(at(f64::from(n % 7), 0.1), f64::from(n % 11), at(1.0, 0.99))))
            .collect();
        h.extend(None, &parents, &locals).unwrap();
        let mut by_one = h.clone();
        // Not those of the processors, of which there may be one.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        pool.install(|| h.update_parallel());
        let rows = h.worlds().unwrap().rows().iter().zip(by_one.update().rows());
        rows.enumerate().for_each(|(row, (got, want))| assert_eq!(bits_of(got), bits_of(want), "row {row}"));
    }
    compares::<posetree::Matrices2>();
    compares::<posetree::Components2>();
    compares::<posetree::DMatrices2>();
    compares::<posetree::DComponents2>();
}

/// `interpolated(t) = lerp(previous, world, t)`, the shorter way round, and no turn out of nothing.
fn poses_between_updates<A: Kind>() {
    let from = DTransform2::new(at(1.0, 2.0), 3.0, at(2.0, 0.5));
    let to = DTransform2::new(at(3.0, 2.0), -3.0, at(1.0, 1.0));
    let mut h = HierarchyOf::<A>::new();
    h.track_previous(true);
    let ids = [from, from.with_scale(DVec2::ZERO)].map(|start| h.add_root(A::transform(start)).unwrap());
    h.update();
    ids.iter().for_each(|&id| h.set_local(id, A::transform(to)).unwrap());
    h.update();
    for (id, start) in ids.into_iter().zip([from, from.with_scale(DVec2::ZERO).with_rotation(-3.0)]) {
        for t in [0.25, 0.5, 0.75] {
            let at_t = h.world_interpolated(id, A::scalar(t)).unwrap();
            let wanted = A::wide_transform(A::transform(start)).lerp(A::wide_transform(A::transform(to)), t);
            // A component grows out of nothing with the angle that it has; a matrix without extent has none.
            let wanted = if A::MATRICES || id == ids[0] {
                wanted
            } else {
                DTransform2 { rotation: from.lerp(to, t).rotation, ..wanted }
            };
            let got = A::wide_matrix_of(A::matrix_of_world(at_t));
            near(
                "between",
                &got,
                &M::trs(&wanted),
                &M { x: at(3.0, 3.0), y: at(3.0, 3.0), t: at(3.0, 3.0) },
                8.0 * A::EPS,
            )
            .unwrap();
        }
        assert_eq!(h.world_interpolated(id, A::scalar(1.0)).unwrap(), h.world(id).unwrap());
        assert!(h.world_interpolated(id, A::scalar(f64::NAN)).is_err());
    }
}

/// Along its thin side a parent magnifies the world's rounding into a shear beyond rounding of its own, which
/// the law allows to leave out.
#[test]
fn trs_is_kept_under_a_thin_parent() {
    let thin = DTransform2::new(at(1.0, 2.0), 0.4, at(1.0, 1e6));
    for step in 0..100 {
        let local = DTransform2::new(at(0.3, 0.1), 0.0, at(1.5, 0.7 + 0.01 * f64::from(step)));
        let (mut h, parent, id) = two::<posetree::DMatrices2>(thin, local);
        h.reparent(id, None, Keep::World).unwrap();
        let world = h.world_matrix(id).unwrap();
        h.reparent(id, parent, Keep::WorldTrs).unwrap();
        assert!(h.is_trs(id).unwrap());
        // By the law, and one rounding of the product that is read.
        let size = M::trs(&thin).abs().times(&posetree::DMatrices2::own(&h, id).m.abs());
        let [got, want] = [h.world_matrix(id).unwrap(), world].map(posetree::DMatrices2::wide_matrix_of);
        near("world", &got, &want, &size, 32.0 * f64::EPSILON).unwrap();
    }
}
