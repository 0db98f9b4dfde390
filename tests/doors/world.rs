//! World setters: what is set reads back, and what is not named stays, to the bit.

use crate::bits::bits_of;
use crate::stage::{
    Components, Kind, Matrices, Stage, chain, condition, refused, rotation, scale, sizes, vector, wide,
};
use crate::{EPS, axes, config, near, near_vector};
use posetree::glam::{Affine3A, DMat3, DQuat, Quat, Vec3};
use posetree::{Hierarchy, Transform};
use proptest::prelude::*;

fn sets_world_rotation<A: Kind>(before: Stage<A>, wanted: Quat) -> Result<(), TestCaseError> {
    let (mut after, id) = (before.clone(), before.id);
    let result = after.h.set_world_rotation(id, wanted);
    if refused(&before, &after, &result)? {
        return Ok(());
    }
    prop_assert_eq!(bits_of(before.h.position(id)), bits_of(after.h.position(id)));
    prop_assert_eq!(bits_of(before.h.scale(id)), bits_of(after.h.scale(id)));
    prop_assert_eq!(before.h.is_trs(id), after.h.is_trs(id));
    let (shear, was) = (after.h.local_decomposed(id).unwrap().shear, before.h.local_decomposed(id).unwrap());
    // Shear is read off the rounded matrix: each of its elements carries the rounding of its column.
    let column = was.shear.abs().max_element() + was.transform.scale.abs().max_element();
    prop_assert!((shear - was.shear).abs().max_element() <= 8.0 * f32::EPSILON * column);

    let (parent, world) = (before.parent(), after.world());
    let wanted = DMat3::from_quat(wanted.as_dquat().normalize());
    let (got, bound) = if A::reads_shear() {
        // Own scale and shear do not move the axes: they stand in `U`.
        let turned = DMat3::from_quat(after.h.rotation(id).unwrap().as_dquat().normalize());
        (axes(parent.matrix.matrix3 * turned).0, condition(parent.matrix.matrix3))
    } else {
        (DMat3::from_quat(world.rotation), 1.0)
    };
    for i in 0..3 {
        // The own quaternion is rounded once, its matrix is off by 4 u, and the parent stretches that.
        near_vector("world rotation", got.col(i), wanted.col(i), 16.0 * EPS * bound)?;
    }
    Ok(())
}

fn sets_world_scale<A: Kind>(before: Stage<A>, wanted: Vec3) -> Result<(), TestCaseError> {
    let (mut after, id) = (before.clone(), before.id);
    let result = after.h.set_world_scale(id, wanted);
    if refused(&before, &after, &result)? {
        return Ok(());
    }
    prop_assert_eq!(bits_of(before.h.position(id)), bits_of(after.h.position(id)));
    let kept = before.h.rotation(id).unwrap().dot(after.h.rotation(id).unwrap()).abs();
    prop_assert!(kept > 1.0 - 8.0 * f32::EPSILON, "the rotation stays");
    let parent = before.parent();
    let got = if A::reads_shear() {
        let own = after.h.local_decomposed(id).unwrap().transform;
        let turned = DMat3::from_quat(own.rotation.as_dquat().normalize());
        let diagonal = axes(parent.matrix.matrix3 * turned).1;
        own.scale.as_dvec3() * glam_diagonal(diagonal)
    } else {
        after.world().scale
    };
    let bound = if A::reads_shear() { 16.0 * EPS * condition(parent.matrix.matrix3) } else { 4.0 * EPS };
    for i in 0..3 {
        let (got, want) = (got[i], f64::from(wanted[i]));
        prop_assert!((got - want).abs() <= bound * want.abs(), "scale {i}: got {got}, want {want}");
    }
    // And as a user reads it, with the rounding of the world matrix on top.
    let read = after.h.world_scale(id).unwrap();
    let world = after.world();
    if condition(world.matrix.matrix3) > 1e3 {
        return Ok(());
    }
    for i in 0..3 {
        let noise = 8.0 * EPS * (world.size.matrix3.col(i).max_element() + wanted.abs().max_element() as f64);
        let bound = noise * condition(world.matrix.matrix3);
        let off = f64::from((read[i] - wanted[i]).abs());
        prop_assert!(off <= bound, "read {read}, want {wanted}: off by {off:e}, allowed {bound:e}");
    }
    Ok(())
}

fn glam_diagonal(m: DMat3) -> posetree::glam::DVec3 {
    posetree::glam::DVec3::new(m.x_axis.x, m.y_axis.y, m.z_axis.z)
}

fn sets_world_position<A: Kind>(before: Stage<A>, wanted: Vec3) -> Result<(), TestCaseError> {
    let (mut after, id) = (before.clone(), before.id);
    let result = after.h.set_world_position(id, wanted);
    if refused(&before, &after, &result)? {
        return Ok(());
    }
    let linear = |stage: &Stage<A>| stage.h.local_matrix(id).unwrap().matrix3;
    prop_assert_eq!(bits_of(linear(&before)), bits_of(linear(&after)));
    let world = after.world();
    let size = world.size.translation.max_element();
    near_vector("world position", world.matrix.translation, wanted.as_dvec3(), 2.0 * EPS * size)
}

fn sets_world<A: Kind>(before: Stage<A>, wanted: Transform) -> Result<(), TestCaseError> {
    let (mut after, id) = (before.clone(), before.id);
    let result = after.h.set_world_transform(id, wanted);
    let want = wide(&wanted.to_affine());
    if refused(&before, &after, &result)? {
        return Ok(());
    }
    let world = after.world();
    // 2 ε is the law; a world of components is a rounded quaternion too.
    let bound = if A::reads_shear() { 2.0 * EPS } else { 16.0 * EPS };
    near("world", &world.matrix, &want, &world.size, bound)?;
    let mut by_matrix = before.clone();
    if by_matrix.h.set_world(id, wanted.to_affine()).is_ok() {
        near("world by matrix", &by_matrix.world().matrix, &want, &by_matrix.world().size, 16.0 * EPS)?;
    }
    Ok(())
}

fn pose() -> impl Strategy<Value = Transform> {
    (vector(5.0), rotation(), scale()).prop_map(|(p, r, s)| Transform::new(p, r, s))
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn set_world_rotation_reads_back(
        m in chain::<posetree::Matrices>(), c in chain::<posetree::Components>(), wanted in rotation(),
    ) {
        sets_world_rotation(Matrices::new(&m), wanted)?;
        sets_world_rotation(Components::new(&c), wanted)?;
    }

    #[test]
    fn set_world_scale_reads_back(
        m in chain::<posetree::Matrices>(), c in chain::<posetree::Components>(), wanted in scale(),
    ) {
        sets_world_scale(Matrices::new(&m), wanted)?;
        sets_world_scale(Components::new(&c), wanted)?;
    }

    #[test]
    fn set_world_position_reads_back(
        m in chain::<posetree::Matrices>(), c in chain::<posetree::Components>(), wanted in vector(10.0),
    ) {
        sets_world_position(Matrices::new(&m), wanted)?;
        sets_world_position(Components::new(&c), wanted)?;
    }

    #[test]
    fn set_world_reads_back(
        m in chain::<posetree::Matrices>(), c in chain::<posetree::Components>(), wanted in pose(),
    ) {
        sets_world(Matrices::new(&m), wanted)?;
        sets_world(Components::new(&c), wanted)?;
    }

    /// `U Uᵀ = Vᵀ P Pᵀ V` and `r = P⁻¹ V U`, evaluated as they stand.
    #[test]
    fn the_formula_of_set_world_rotation(
        position in vector(3.0), turn in rotation(), size in [0.3f32..3.0, 0.3f32..3.0, 0.3f32..3.0],
        lean in rotation(), wanted in rotation(), mirrored in any::<bool>(),
    ) {
        let mut h = Hierarchy::new();
        let mut size = Vec3::from_array(size);
        size.y = if mirrored { -size.y } else { size.y };
        let top = h.add_root(Transform::new(position, turn, size)).unwrap();
        let middle = h.add_child(top, Transform::from_rotation(lean)).unwrap();
        let id = h.add_child(middle, Transform::IDENTITY).unwrap();
        h.set_world_rotation(id, wanted).unwrap();

        let p = (wide(&h.local_matrix(top).unwrap()) * wide(&h.local_matrix(middle).unwrap())).matrix3;
        let v = DMat3::from_quat(wanted.as_dquat().normalize());
        let g = v.transpose() * p * p.transpose() * v;
        // Cholesky from the last row up.
        let zz = g.z_axis.z.sqrt();
        let (yz, xz) = (g.z_axis.y / zz, g.z_axis.x / zz);
        let yy = (g.y_axis.y - yz * yz).sqrt();
        let xy = (g.y_axis.x - xz * yz) / yy;
        let xx = (g.x_axis.x - xz * xz - xy * xy).sqrt() * p.determinant().signum();
        let u = DMat3::from_cols_array(&[xx, 0.0, 0.0, xy, yy, 0.0, xz, yz, zz]);
        let r = DQuat::from_mat3(&(p.inverse() * v * u)).normalize();
        let got = h.rotation(id).unwrap().as_dquat().normalize();
        prop_assert!(got.dot(r).abs() > 1.0 - 1e-11, "got {got}, want {r}");
    }
}

#[test]
fn from_an_own_scale_of_zero() {
    let mut h = Hierarchy::new();
    let parent = h.add_root(Transform::new(Vec3::X, Quat::from_rotation_y(0.4), Vec3::new(2.0, -1.0, 3.0))).unwrap();
    let id = h.add_child(parent, Transform::from_scale(Vec3::ZERO)).unwrap();
    let wanted = Quat::from_rotation_z(0.8);
    h.set_world_rotation(id, wanted).unwrap();
    assert_eq!(h.scale(id), Ok(Vec3::ZERO));
    h.set_world_scale(id, Vec3::new(1.0, 2.0, -3.0)).unwrap();
    assert!(h.is_trs(id).unwrap());
    let read = h.world_decomposed(id).unwrap().transform;
    assert!(read.rotation.dot(wanted).abs() > 1.0 - 1e-6, "{read:?}");
    assert!(read.scale.abs_diff_eq(Vec3::new(1.0, 2.0, -3.0), 1e-5), "{read:?}");
}

#[test]
fn a_sheared_world_is_kept_element_by_element() {
    let mut h = Hierarchy::new();
    let parent = h.add_root(Transform::new(Vec3::X, Quat::from_rotation_y(0.4), Vec3::new(2.0, 1.0, 3.0))).unwrap();
    let id = h.add_child(parent, Transform::IDENTITY).unwrap();
    let wanted = Affine3A::from_cols_array(&[1.0, 0.2, 0.0, 0.5, 1.0, 0.0, 0.0, 0.3, 2.0, 1.0, 2.0, 3.0]);
    h.set_world(id, wanted).unwrap();
    let (p, l) = (wide(&h.local_matrix(parent).unwrap()), wide(&h.local_matrix(id).unwrap()));
    near("world", &(p * l), &wide(&wanted), &(sizes(&p) * sizes(&l)), 2.0 * EPS).unwrap();
}
