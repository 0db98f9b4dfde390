//! Poses at the ends of the range of float32: what overflows is refused, what fits is exact.

use core::f32::consts::FRAC_PI_4;
use glam::{Affine3A, Mat3, Quat, Vec3};
use posetree::{ComponentHierarchy, Hierarchy, LocalError, Transform, WorldError, glam};

/// Half a turn about Z by a quaternion that is long by a last bit: its matrix has an element beyond one.
fn long_half_turn() -> Quat {
    let turn = Quat::from_xyzw(0.0, 0.0, 1.000_000_1, 0.0);
    assert!((turn.length_squared() - 1.0).abs() <= 4.0 * f32::EPSILON, "stored as given");
    turn
}

#[test]
fn every_door_refuses_a_scale_whose_matrix_overflows() {
    let mut matrices = Hierarchy::new();
    let mut components = ComponentHierarchy::new();
    let turned = Transform::from_rotation(long_half_turn());
    let huge = turned.with_scale(Vec3::splat(f32::MAX));
    let (m, c) = (matrices.add_root(turned).unwrap(), components.add_root(turned).unwrap());
    assert!(matches!(matrices.set_scale(m, huge.scale), Err(LocalError::NonFinite(_))));
    assert!(matches!(components.set_scale(c, huge.scale), Err(LocalError::NonFinite(_))));
    assert!(matches!(matrices.set_local(m, huge), Err(LocalError::NonFinite(_))));
    assert!(matches!(components.set_local(c, huge), Err(LocalError::NonFinite(_))));
    assert!(matches!(matrices.set_world_transform(m, huge), Err(WorldError::NonFinite(_))));
    assert!(matches!(components.set_world_transform(c, huge), Err(WorldError::NonFinite(_))));
    assert_eq!((matrices.local(m).unwrap(), components.local(c).unwrap()), (turned, turned));

    // The other way round: the scale is there and the rotation comes.
    let huge = Transform::from_uniform_scale(f32::MAX);
    matrices.set_local(m, huge).unwrap();
    components.set_local(c, huge).unwrap();
    assert!(matches!(matrices.set_rotation(m, turned.rotation), Err(LocalError::NonFinite(_))));
    assert!(matches!(components.set_rotation(c, turned.rotation), Err(LocalError::NonFinite(_))));
    assert_eq!((matrices.local(m).unwrap(), components.local(c).unwrap()), (huge, huge));
}

#[test]
fn components_refuse_a_matrix_with_a_column_longer_than_any_scale() {
    let mut h = ComponentHierarchy::new();
    let id = h.add_root(Transform::IDENTITY).unwrap();
    let turn = Mat3::from_rotation_z(FRAC_PI_4);
    let long = Affine3A::from_mat3(Mat3::from_cols(Vec3::new(3e38, 3e38, 0.0), turn.y_axis, Vec3::Z));
    assert!(long.is_finite());
    assert!(matches!(h.set_local_matrix(id, long), Err(LocalError::NonFinite(_))));
    assert!(matches!(h.set_world(id, long), Err(WorldError::NonFinite(_))));
    assert_eq!(h.local(id).unwrap(), Transform::IDENTITY);

    let longest = Affine3A::from_scale(Vec3::new(f32::MAX, 1.0, 1.0));
    h.set_local_matrix(id, longest).unwrap();
    assert_eq!(h.local_matrix(id).unwrap(), longest);
}

/// The matrix of a transform is one, however small: rounding of subnormal numbers is no shear.
#[test]
fn a_tiny_matrix_without_shear_reads_as_a_transform() {
    let turn = Quat::from_xyzw(0.1, -0.7, 0.3, 0.4).normalize();
    for scale in [1e-36, 1e-38, 1e-39, 1e-40, 1e-41, 1e-42, 1e-43, 1e-44] {
        let local = Transform::new(Vec3::ONE, turn, Vec3::splat(scale));
        let mut h = Hierarchy::new();
        let id = h.add_root(Transform::IDENTITY).unwrap();
        h.set_local_matrix(id, local.to_affine()).unwrap();
        assert!(h.is_trs(id).unwrap(), "at {scale:e}");
        assert!(h.local(id).is_ok());
    }
}
