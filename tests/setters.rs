//! Single-factor setters write the cached local matrix by shorter ways than a whole conversion: the bits
//! must be those of the whole conversion all the same.

use posetree::glam::{Affine3A, Mat3, Quat, Vec3};
use posetree::{Error, Hierarchy, NonFinite, StaleNode, Transform};
use proptest::prelude::*;

fn vector(size: f32) -> impl Strategy<Value = Vec3> {
    [-size..size, -size..size, -size..size].prop_map(Vec3::from_array)
}

fn rotation() -> impl Strategy<Value = Quat> {
    [-3.0f32..3.0, -1.5f32..1.5, -3.0f32..3.0]
        .prop_map(|[x, y, z]| Quat::from_euler(posetree::glam::EulerRot::XYZ, x, y, z))
}

fn bits(matrix: Affine3A) -> [u32; 12] {
    matrix.to_cols_array().map(f32::to_bits)
}

#[derive(Clone, Debug)]
enum Set {
    Local(Transform),
    Position(Vec3),
    Rotation(Quat),
    Scale(Vec3),
}

fn set() -> impl Strategy<Value = Set> {
    prop_oneof![
        (vector(10.0), rotation(), vector(3.0)).prop_map(|(p, r, s)| Set::Local(Transform::new(p, r, s))),
        vector(10.0).prop_map(Set::Position),
        rotation().prop_map(Set::Rotation),
        vector(3.0).prop_map(Set::Scale),
    ]
}

/// Ids before numbers, of all entries, and before lengths.
#[test]
fn a_stale_id_anywhere_comes_first() {
    let mut h = Hierarchy::new();
    let [node, gone] = [(); 2].map(|()| h.add_root(Transform::IDENTITY).unwrap());
    h.remove_subtree(gone).unwrap();
    let [good, bad] = [Vec3::X, Vec3::NAN].map(Transform::from_position);
    let stale = StaleNode { node: gone };
    let refused = |h: &mut Hierarchy, locals: &[_]| h.set_locals(locals).map_err(|error| (error.index, error.cause));
    assert_eq!(refused(&mut h, &[(node, bad), (gone, good)]), Err((1, stale.into())));
    assert_eq!(refused(&mut h, &[(node, good), (node, bad), (node, bad)]), Err((1, NonFinite.into())));
    assert_eq!(h.local(node).unwrap(), Transform::IDENTITY);
    assert_eq!(h.set_locals(&[(node, bad)]).unwrap_err().to_string(), format!("entry 0: {NonFinite}"));
    assert_eq!(h.write_joint_matrices(&[gone], &[], &mut []), Err(stale.into()));
    let value = h.local_value(node).unwrap();
    assert_eq!(h.local_value(gone), Err(stale));
    assert_eq!(h.set_local_value(gone, value), Err(stale));
}

proptest! {
    /// `set_local_value(local_value) = nothing`, of transforms and of matrices, with and without shear.
    #[test]
    fn a_local_value_comes_back_to_the_bit(local in set(), columns in [vector(2.0), vector(2.0), vector(2.0)], is_matrix: bool) {
        let mut h = Hierarchy::new();
        let [node, other] = [(); 2].map(|()| h.add_root(Transform::IDENTITY).unwrap());
        match local {
            Set::Local(local) => h.set_local(node, local).unwrap(),
            Set::Position(position) => h.set_position(node, position).unwrap(),
            Set::Rotation(rotation) => h.set_rotation(node, rotation).unwrap(),
            Set::Scale(scale) => h.set_scale(node, scale).unwrap(),
        }
        if is_matrix {
            let [x, y, z] = columns;
            h.set_local_matrix(node, Affine3A::from_mat3(Mat3::from_cols(x, y, z))).unwrap();
        }
        let value = h.local_value(node).unwrap();
        prop_assert_eq!(value.is_matrix(), is_matrix);
        let seen = |h: &Hierarchy, id| (format!("{:?}", h.local_decomposed(id).unwrap()), bits(h.local_matrix(id).unwrap()), bits(h.world(id).unwrap()));
        let before = seen(&h, node);
        h.set_local_value(other, value).unwrap();
        prop_assert_eq!(seen(&h, other), before.clone());
        h.set_local(node, Transform::from_position(Vec3::ONE)).unwrap();
        h.update();
        h.set_local_value(node, value).unwrap();
        prop_assert!(h.is_dirty(node).unwrap());
        prop_assert_eq!(seen(&h, node), before);
        prop_assert_eq!(h.local_value(node).unwrap().is_matrix(), is_matrix);
    }

    #[test]
    fn the_local_matrix_is_always_that_of_the_transform(steps in prop::collection::vec(set(), 1..20)) {
        let mut h = Hierarchy::new();
        let id = h.add_root(Transform::IDENTITY).unwrap();
        let mut expected = Transform::IDENTITY;
        for step in steps {
            match step {
                Set::Local(local) => { h.set_local(id, local).unwrap(); expected = local; }
                Set::Position(p) => { h.set_position(id, p).unwrap(); expected.position = p; }
                Set::Rotation(r) => { h.set_rotation(id, r).unwrap(); expected.rotation = r; }
                Set::Scale(s) => { h.set_scale(id, s).unwrap(); expected.scale = s; }
            }
            prop_assert!(h.is_dirty(id).unwrap());
            prop_assert_eq!(h.local(id).unwrap(), expected);
            prop_assert_eq!(bits(h.local_matrix(id).unwrap()), bits(expected.to_affine()));
            h.update();
            prop_assert_eq!(bits(h.world(id).unwrap()), bits(expected.to_affine()));
        }
    }

    #[test]
    fn a_matrix_keeps_its_linear_part_when_it_moves(p in vector(10.0), shear in 0.1f32..2.0) {
        let mut h = Hierarchy::new();
        let id = h.add_root(Transform::IDENTITY).unwrap();
        let linear = Mat3::from_cols(Vec3::X, Vec3::new(shear, 1.0, 0.0), Vec3::new(0.3, shear, 2.0));
        h.set_local_matrix(id, Affine3A::from_mat3_translation(linear, Vec3::ONE)).unwrap();
        h.update();
        h.set_position(id, p).unwrap();
        prop_assert!(h.is_dirty(id).unwrap());
        prop_assert_eq!(h.position(id).unwrap(), p);
        let expected = Affine3A::from_mat3_translation(linear, p);
        prop_assert_eq!(bits(h.local_matrix(id).unwrap()), bits(expected));
    }
}

#[test]
fn a_refused_value_changes_nothing() -> Result<(), Error> {
    let mut h = Hierarchy::new();
    let held = Transform::new(Vec3::X, Quat::from_rotation_y(1.0), Vec3::splat(2.0));
    let id = h.add_root(held)?;
    h.update();
    let off = Quat::from_xyzw(0.0, 0.0, 0.0, 1.1);
    assert!(h.set_local(id, held.with_rotation(off)).is_err());
    assert!(h.set_local(id, held.with_position(Vec3::NAN)).is_err());
    assert!(h.set_position(id, Vec3::INFINITY).is_err());
    assert!(h.set_rotation(id, off).is_err());
    assert!(h.set_scale(id, Vec3::NAN).is_err());
    assert!(!h.is_dirty(id)?);
    assert_eq!(h.local(id)?, held);
    // Within 1 % of a rotation it is normalised, whichever door it comes in by.
    h.set_local(id, held.with_rotation(Quat::from_xyzw(0.0, 0.0, 0.0, 1.005)))?;
    assert_eq!(h.rotation(id)?, Quat::IDENTITY);
    Ok(())
}
