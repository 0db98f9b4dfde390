//! Local values of nodes that hold a matrix, and what is kept bit for bit.

use bits::bits_of;
use glam::{Affine3A, Quat, Vec3};
use posetree::{ComponentHierarchy, Decomposed, Hierarchy, LocalError, NodeId, Transform, glam};
use proptest::prelude::*;
use values::{rotations, vectors};

#[path = "common/bits.rs"]
mod bits;
#[path = "common/values.rs"]
mod values;

const EPS: f32 = f32::EPSILON;

fn factor() -> impl Strategy<Value = f32> {
    prop_oneof![0.1_f32..10.0, -10.0_f32..-0.1]
}

fn scales() -> impl Strategy<Value = Vec3> {
    prop::array::uniform3(factor()).prop_map(Vec3::from_array)
}

/// A matrix with shear in every place.
fn sheared() -> impl Strategy<Value = Decomposed> {
    (vectors(10.0), rotations(), scales(), scales())
        .prop_map(|(p, r, s, shear)| Decomposed { transform: Transform::new(p, r, s), shear })
}

fn holding(parts: &Decomposed) -> (Hierarchy, NodeId) {
    let mut h = Hierarchy::new();
    // The typed signs are the hint for those of the matrix.
    let id = h.add_root(parts.transform).unwrap();
    h.set_local_matrix(id, parts.recompose()).unwrap();
    (h, id)
}

/// Length of the longest column: what rounding of shear is relative to.
fn size(m: &Affine3A) -> f32 {
    m.matrix3.x_axis.length().max(m.matrix3.y_axis.length()).max(m.matrix3.z_axis.length())
}

fn bits(m: &Affine3A) -> [u32; 12] {
    m.to_cols_array().map(f32::to_bits)
}

/// Putting factors into float32 and multiplying them moves a column by at most 2 ε of its length (derived in the
/// documentation of the decomposition). Taking the new matrix apart adds its own 2 ε, and what the factors moved
/// by is at most twice that: 8 ε.
fn close(a: Vec3, b: Vec3, size: f32) -> bool {
    (a - b).abs().max_element() <= 8.0 * EPS * size
}

proptest! {
    #[test]
    fn a_matrix_keeps_every_bit(elements in prop::array::uniform12(prop_oneof![
        -10.0_f32..10.0, Just(0.0), Just(-0.0), Just(f32::MIN_POSITIVE / 4.0), -1e30_f32..1e30,
    ])) {
        let matrix = Affine3A::from_cols_array(&elements);
        let mut h = Hierarchy::new();
        let id = h.add_root(Transform::IDENTITY).unwrap();
        h.set_local_matrix(id, matrix).unwrap();
        prop_assert_eq!(bits(&h.local_matrix(id).unwrap()), bits(&matrix));
        prop_assert_eq!(bits(&h.world(id).unwrap()), bits(&matrix));
        h.update();
        prop_assert_eq!(bits(&h.world(id).unwrap()), bits(&matrix));
        h.set_local_matrix(id, h.local_matrix(id).unwrap()).unwrap();
        prop_assert_eq!(bits(&h.local_matrix(id).unwrap()), bits(&matrix));
        h.assert_well_formed();
    }

    #[test]
    fn set_position_changes_the_translation_only(parts in sheared(), position in vectors(10.0)) {
        let (mut h, id) = holding(&parts);
        let before = h.local_matrix(id).unwrap();
        h.set_position(id, position).unwrap();
        let after = h.local_matrix(id).unwrap();
        prop_assert_eq!(bits(&after)[..9].to_vec(), bits(&before)[..9].to_vec());
        prop_assert_eq!(after.translation, position.into());
        prop_assert_eq!(h.position(id).unwrap(), position);
    }

    #[test]
    fn set_rotation_keeps_scale_and_shear(parts in sheared(), rotation in rotations()) {
        let (mut h, id) = holding(&parts);
        let before = h.local_decomposed(id).unwrap();
        h.set_rotation(id, rotation).unwrap();
        let (after, matrix) = (h.local_decomposed(id).unwrap(), h.local_matrix(id).unwrap());
        prop_assert_eq!(after.transform, before.transform.with_rotation(rotation));
        prop_assert!(close(after.shear, before.shear, size(&matrix)), "{before:?} {after:?}");
        prop_assert_eq!(h.rotation(id).unwrap(), rotation);
        let wanted = Decomposed { transform: after.transform, shear: before.shear }.recompose();
        prop_assert!(matrix.abs_diff_eq(wanted, 8.0 * EPS * size(&wanted)));
    }

    #[test]
    fn set_scale_keeps_rotation_and_shear(parts in sheared(), scale in scales()) {
        let (mut h, id) = holding(&parts);
        let before = h.local_decomposed(id).unwrap();
        h.set_scale(id, scale).unwrap();
        let (after, matrix) = (h.local_decomposed(id).unwrap(), h.local_matrix(id).unwrap());
        prop_assert_eq!(after.transform, before.transform.with_scale(scale));
        prop_assert!(close(after.shear, before.shear, size(&matrix)), "{before:?} {after:?}");
    }

    /// Whichever components: the others, the rotation and the shear come through.
    #[test]
    fn scale_goes_to_zero_and_comes_back(parts in sheared(), zeros in prop::array::uniform3(any::<bool>())) {
        let (mut h, id) = holding(&parts);
        let before = (h.local_decomposed(id).unwrap(), h.local_matrix(id).unwrap());
        let scale = before.0.transform.scale;
        let flat = Vec3::select(glam::BVec3::from_array(zeros), Vec3::ZERO, scale);
        h.set_scale(id, flat).unwrap();
        let between = h.local_decomposed(id).unwrap();
        prop_assert_eq!(between.transform, before.0.transform.with_scale(flat));
        prop_assert!(close(between.shear, before.0.shear, size(&before.1)));
        prop_assert!(!h.is_trs(id).unwrap());
        if flat != scale {
            let other = h.add_root(Transform::IDENTITY).unwrap();
            prop_assert!(h.reparent(other, id, posetree::Keep::World).is_err(), "a zero scale is flat, shear or not");
        }
        h.set_scale(id, scale).unwrap();
        let after = h.local_decomposed(id).unwrap();
        prop_assert_eq!(after.transform, before.0.transform);
        prop_assert!(h.local_matrix(id).unwrap().abs_diff_eq(before.1, 16.0 * EPS * size(&before.1)));
        h.assert_well_formed();
    }

    #[test]
    fn a_matrix_reads_as_its_parts(parts in sheared()) {
        let (h, id) = holding(&parts);
        let (matrix, read) = (h.local_matrix(id).unwrap(), h.local_decomposed(id).unwrap());
        let size = size(&matrix);
        prop_assert!(read.recompose().abs_diff_eq(matrix, 4.0 * EPS * size), "{read:?}");
        prop_assert_eq!(read.transform.scale.signum(), parts.transform.scale.signum(), "signs that were typed");
        let one_by_one = Transform::new(h.position(id).unwrap(), h.rotation(id).unwrap(), h.scale(id).unwrap());
        prop_assert_eq!(read.transform, one_by_one);
    }

    #[test]
    fn drop_shear_returns_what_it_loses(parts in sheared()) {
        let (mut h, id) = holding(&parts);
        let before = h.local_matrix(id).unwrap();
        let Err(LocalError::NotTrs(refused)) = h.local(id) else { panic!("it shears") };
        let residual = h.drop_shear(id).unwrap();
        prop_assert_eq!(residual, refused.residual);
        let (local, after) = (h.local(id).unwrap(), h.local_matrix(id).unwrap());
        prop_assert_eq!(after, local.to_affine());
        let share = |i: usize| {
            let (a, b) = (after.matrix3.col(i), before.matrix3.col(i));
            (a - b).abs().max_element() / b.abs().max_element()
        };
        prop_assert!(residual > 0.0 && residual == share(0).max(share(1)).max(share(2)));
        prop_assert_eq!(h.drop_shear(id).unwrap(), 0.0);
        prop_assert_eq!(h.local(id).unwrap(), local);
    }

    #[test]
    fn a_matrix_without_shear_is_a_transform(p in vectors(10.0), r in rotations(), s in scales()) {
        let given = Transform::new(p, r, s);
        let (mut h, id) = holding(&Decomposed { transform: given, shear: Vec3::ZERO });
        h.set_local_matrix(id, given.to_affine()).unwrap();
        prop_assert!(h.is_trs(id).unwrap());
        let read = h.local(id).unwrap();
        prop_assert_eq!(read.position, p);
        // The matrix is off by 4 roundings an element, the quaternion by as much, a scale by that of its column.
        prop_assert!((read.scale - s).abs().cmple(8.0 * EPS * s.abs()).all(), "{read:?} {given:?}");
        prop_assert!(1.0 - read.rotation.dot(r).abs() <= 8.0 * EPS, "{read:?} {given:?}");

        // A factor set on it makes it a plain one.
        h.set_scale(id, Vec3::ONE).unwrap();
        prop_assert_eq!(h.local(id).unwrap(), read.with_scale(Vec3::ONE));
        prop_assert_eq!(h.local_matrix(id).unwrap(), h.local(id).unwrap().to_affine());
    }

    #[test]
    fn what_was_read_and_is_set_back_keeps_its_bits(
        p in prop::array::uniform3(prop_oneof![4 => -10.0_f32..10.0, 1 => Just(0.0), 1 => Just(-0.0)]),
        q in rotations(), s in scales(), stretch in -4.0_f32..4.0,
    ) {
        // Every length that is stored as given: |len² - 1| ≤ 4 ε.
        let long = Quat::from_array(q.to_array().map(|x| x * (1.0 + stretch / 2.0 * EPS)));
        let mut h = Hierarchy::new();
        let mut c = ComponentHierarchy::new();
        let given = Transform::new(p.into(), long, s);
        let (id, other) = (h.add_root(given).unwrap(), c.add_root(given).unwrap());
        let read = h.local(id).unwrap();
        if (long.length_squared() - 1.0).abs() <= 4.0 * EPS {
            prop_assert_eq!(bits_of(read), bits_of(given));
        }
        prop_assert!((read.rotation.length_squared() - 1.0).abs() <= 4.0 * EPS, "normalised");
        h.set_local(id, read).unwrap();
        prop_assert_eq!(bits_of(h.local(id).unwrap()), bits_of(read));
        h.set_rotation(id, read.rotation).unwrap();
        prop_assert_eq!(bits_of(h.local(id).unwrap()), bits_of(read));
        prop_assert_eq!(bits_of(c.local(other).unwrap()), bits_of(read));
        c.set_local(other, read).unwrap();
        prop_assert_eq!(bits_of(c.local(other).unwrap()), bits_of(read));
    }

    #[test]
    fn a_rotation_off_by_a_percent_is_refused_and_by_less_is_normalised(q in rotations(), off in 0.001_f32..0.2) {
        let mut h = Hierarchy::new();
        let id = h.add_root(Transform::from_rotation(q)).unwrap();
        for stretch in [1.0 + off, 1.0 - off] {
            let given = Quat::from_array(q.to_array().map(|x| x * stretch));
            let set = h.set_rotation(id, given);
            // Within a last bit of the limit, rounding decides.
            if off > 0.01 + EPS {
                let Err(LocalError::NotRotation(error)) = set else { panic!("{given:?} was taken") };
                prop_assert!((error.length - stretch).abs() <= 4.0 * EPS);
                prop_assert_eq!(h.rotation(id).unwrap(), q);
            } else if off < 0.01 - EPS {
                prop_assert!(set.is_ok());
                let stored = h.rotation(id).unwrap();
                prop_assert!((stored.length_squared() - 1.0).abs() <= 4.0 * EPS);
                prop_assert!((stored - q).length() <= 4.0 * EPS);
                h.set_rotation(id, q).unwrap();
            }
        }
    }
}

#[test]
fn no_shear_is_dropped_from_a_flat_matrix() {
    // Column Y is parallel to column X: no scale, but shear.
    let flat = Affine3A::from_mat3(glam::Mat3::from_cols(Vec3::X, 2.0 * Vec3::X, Vec3::Z));
    let mut h = Hierarchy::new();
    let id = h.add_root(Transform::IDENTITY).unwrap();
    h.set_local_matrix(id, flat).unwrap();
    let read = h.local_decomposed(id).unwrap();
    assert_eq!((read.transform.scale, read.shear), (Vec3::new(1.0, 0.0, 1.0), Vec3::new(2.0, 0.0, 0.0)));
    assert!(matches!(h.local(id), Err(LocalError::NotTrs(e)) if e.residual == 1.0));
    assert_eq!(h.local_matrix(id).unwrap(), flat);
}

#[test]
fn set_local_makes_a_matrix_node_a_plain_one() {
    let parts = Decomposed { transform: Transform::IDENTITY, shear: Vec3::ONE };
    let (mut h, id) = holding(&parts);
    assert!(!h.is_trs(id).unwrap());
    h.set_local(id, Transform::from_position(Vec3::Y)).unwrap();
    assert!(h.is_trs(id).unwrap());
    assert_eq!(h.local_matrix(id).unwrap(), Affine3A::from_translation(Vec3::Y));
    assert_eq!(h.drop_shear(id).unwrap(), 0.0);
}
