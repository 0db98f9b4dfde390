//! Points, vectors, directions, normals, boxes and relations between nodes.

use crate::stage::{Components, Kind, Matrices, Stage, chain, condition, sizes, vector, wide};
use crate::{EPS, config, near, near_vector};
use posetree::glam::{Affine3A, DVec3, Mat4, Quat, Vec3};
use posetree::{Hierarchy, Transform};
use proptest::prelude::*;

fn converts<A: Kind>(stage: &Stage<A>, v: Vec3, tangent: Vec3) -> Result<(), TestCaseError> {
    let (h, id, given) = (&stage.h, stage.id, v.as_dvec3());
    let world = wide(&h.world_matrix(id).unwrap());
    let size = sizes(&world).transform_point3(given.abs()).max_element();
    // With components the matrix is made of a rounded quaternion: as many roundings again.
    let slack = if A::reads_shear() { EPS } else { 16.0 * EPS };
    let point = h.local_to_world_point(id, v).unwrap();
    near_vector("point", point.as_dvec3(), world.transform_point3(given), slack * size)?;
    let image = world.transform_vector3(given);
    near_vector("vector", h.local_to_world_vector(id, v).unwrap().as_dvec3(), image, slack * size)?;
    let condition = condition(world.matrix3);
    let direction = h.local_to_world_direction(id, v).unwrap().as_dvec3();
    near_vector("direction", direction, image.normalize(), slack * condition)?;
    let normal = h.local_to_world_normal(id, v).unwrap().as_dvec3();
    let across = tangent.as_dvec3() - given * (given.dot(tangent.as_dvec3()) / given.length_squared());
    if across.length() > 0.1 {
        let along = world.transform_vector3(across).normalize();
        prop_assert!(normal.dot(along).abs() <= 4.0 * slack * condition, "normal off by {}", normal.dot(along));
    }
    prop_assert!(normal.dot(image) > 0.0, "the normal changed sides");

    if condition > 1e3 {
        return Ok(());
    }
    // Through the inverse: what comes back maps to what went in.
    let back = h.world_to_local_point(id, point).unwrap().as_dvec3();
    let size = size + sizes(&world).transform_point3(back.abs()).max_element();
    near_vector("point back", world.transform_point3(back), point.as_dvec3(), 4.0 * slack * size)?;
    let vector = h.local_to_world_vector(id, v).unwrap();
    let back = h.world_to_local_vector(id, vector).unwrap().as_dvec3();
    near_vector("vector back", back, given, 4.0 * slack * condition * given.length())?;
    let back = h.world_to_local_direction(id, vector).unwrap().as_dvec3();
    near_vector("direction back", back, given.normalize(), 4.0 * slack * condition)?;
    let back = h.world_to_local_normal(id, normal.as_vec3()).unwrap().as_dvec3();
    near_vector("normal back", back, given.normalize(), 4.0 * slack * condition)?;
    let inverse = h.world_inverse(id).unwrap();
    if A::reads_shear() {
        // With components the matrix itself is rounded by the column, not by the element.
        let inverse = wide(&inverse);
        let size = sizes(&world) * sizes(&inverse);
        near("inverse", &(world * inverse), &posetree::glam::DAffine3::IDENTITY, &size, slack)?;
    }
    prop_assert_eq!(h.is_mirrored(id).unwrap(), world.matrix3.determinant() < 0.0);
    Ok(())
}

fn between<A: Kind>(stage: &Stage<A>) -> Result<(), TestCaseError> {
    let worlds: Vec<_> = (1..=stage.chain.len())
        .map(|n| Stage::<A> { h: stage.h.clone(), chain: stage.chain[..n].to_vec(), id: stage.chain[n - 1] }.world())
        .collect();
    for (from, a) in stage.chain.iter().zip(&worlds) {
        for (to, b) in stage.chain.iter().zip(&worlds) {
            match stage.h.transform_between(*from, *to) {
                Ok(x) => {
                    let x = wide(&x);
                    let size = b.size * sizes(&x);
                    // With components sizes bound a column by its length: three of them.
                    let bound = if A::reads_shear() { 1.0 } else { 3.0 } * EPS;
                    near("between", &(b.matrix * x), &a.matrix, &size, bound)?;
                }
                Err(error) => prop_assert!(condition(b.matrix.matrix3) > 1e3, "{}", error),
            }
        }
    }
    Ok(())
}

fn boxes<A: Kind>(stage: &Stage<A>, a: Vec3, b: Vec3) -> Result<(), TestCaseError> {
    let (low, high) = stage.h.transform_aabb(stage.id, a, b).unwrap();
    let world = wide(&stage.h.world_matrix(stage.id).unwrap());
    let (mut least, mut most) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for corner in 0..8u8 {
        let pick = |axis: usize| f64::from(if corner >> axis & 1 == 1 { a[axis] } else { b[axis] });
        let image = world.transform_point3(DVec3::new(pick(0), pick(1), pick(2)));
        (least, most) = (least.min(image), most.max(image));
    }
    let slack = if A::reads_shear() { EPS } else { 16.0 * EPS };
    let size = sizes(&world).transform_point3(a.as_dvec3().abs().max(b.as_dvec3().abs())).max_element();
    near_vector("low corner", low.as_dvec3(), least, slack * size)?;
    near_vector("high corner", high.as_dvec3(), most, slack * size)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn conversions_map_and_come_back(
        m in chain::<posetree::Matrices>(), c in chain::<posetree::Components>(), v in vector(3.0), tangent in vector(1.0),
    ) {
        prop_assume!(v.length() > 0.1);
        converts(&Matrices::new(&m), v, tangent)?;
        converts(&Components::new(&c), v, tangent)?;
    }

    /// `W(to) between(from, to) = W(from)`.
    #[test]
    fn transform_between_relates_worlds(m in chain::<posetree::Matrices>(), c in chain::<posetree::Components>()) {
        between(&Matrices::new(&m))?;
        between(&Components::new(&c))?;
    }

    #[test]
    fn boxes_hold_all_corners_and_no_more(
        m in chain::<posetree::Matrices>(), c in chain::<posetree::Components>(), a in vector(3.0), b in vector(3.0),
    ) {
        boxes(&Matrices::new(&m), a, b)?;
        boxes(&Components::new(&c), a, b)?;
    }
}

/// Two nodes a metre apart, both 1e7 from the origin, under a turned parent.
#[test]
fn far_nodes_keep_their_relation() {
    let mut h = Hierarchy::new();
    let far = h.add_root(Transform::from_position(Vec3::new(1e7, -1e7, 1e7)).with_rotation(Quat::from_rotation_y(0.7)));
    let far = far.unwrap();
    let a = h.add_child(far, Transform::from_position(Vec3::new(0.3, 0.1, 0.2))).unwrap();
    let b = h.add_child(far, Transform::from_position(Vec3::new(1.3, 0.1, 0.2))).unwrap();
    let relation = h.transform_between(a, b).unwrap();
    assert!(relation.abs_diff_eq(Affine3A::from_translation(-Vec3::X), 1e-6), "{relation}");
    assert!(h.world_position(a).unwrap().distance(h.world_position(b).unwrap()) != 1.0, "the worlds are rounded");
}

#[test]
fn a_flat_world_refuses_what_needs_an_inverse() {
    let mut h = Hierarchy::new();
    let turned = Transform::from_rotation(Quat::from_rotation_z(0.7));
    let flat = h.add_root(turned.with_scale(Vec3::new(1.0, 0.0, 1.0))).unwrap();
    let id = h.add_child(flat, turned.with_position(Vec3::X)).unwrap();
    for id in [flat, id] {
        assert!(h.world_inverse(id).is_err());
        assert!(h.local_to_world_normal(id, Vec3::Y).is_err());
        assert!(h.world_to_local_vector(id, Vec3::Y).is_err());
        assert!(h.world_to_local_direction(id, Vec3::new(0.3, 1.0, 0.2)).is_err());
        assert!(h.world_to_local_point(id, Vec3::new(0.3, 1.0, 0.2)).is_err());
        assert!(h.local_to_world_point(id, Vec3::Y).unwrap().is_finite());
        assert!(!h.is_mirrored(id).unwrap());
    }
    assert!(h.transform_between(id, flat).is_ok(), "the flat one is common to both");
}

#[test]
fn joint_matrices_are_worlds_times_inverse_binds() {
    let mut h = Hierarchy::new();
    let hip = h.add_root(Transform::from_position(Vec3::Y)).unwrap();
    let knee = h.add_child(hip, Transform::from_position(-0.5 * Vec3::Y)).unwrap();
    let joints = [knee, hip];
    let binds = joints.map(|joint| h.world_inverse(joint).unwrap());
    h.rotate(hip, Quat::from_rotation_x(0.5), posetree::Space::Parent).unwrap();
    let mut out = [Mat4::ZERO; 2];
    h.write_joint_matrices(&joints, &binds, &mut out).unwrap();
    for ((joint, bind), got) in joints.into_iter().zip(binds).zip(out) {
        assert!(got.abs_diff_eq(Mat4::from(h.world_matrix(joint).unwrap() * bind), 1e-6));
    }
}
