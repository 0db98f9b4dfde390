//! Solutions under parents so thin that rounding decides whether there is one.

use super::space3::{misfit, position_misfit, solve_affine, solve_point};
use super::{Accumulate, Chain, MISFIT, Matrices, Own, Shear};
use crate::Transform;
use crate::transform::decompose::decompose_linear;
use crate::transform::precision::Widen;
use glam::{Affine3A, DAffine3, DMat3, DVec3, Quat, Vec3};
use proptest::prelude::*;

fn vector(size: f32) -> impl Strategy<Value = Vec3> {
    prop::array::uniform3(-size..size).prop_map(Vec3::from_array)
}

/// Rotated, with a scale of 10^±6 along one axis: two of them make a parent that float64 may take for flat.
fn thin() -> impl Strategy<Value = Transform> {
    let axis = vector(1.0).prop_filter("an axis", |axis| axis.length() > 0.1);
    let power = prop_oneof![Just(-6), Just(6), -12..12];
    (vector(5.0), axis, -3.0f32..3.0, 0..3usize, power).prop_map(|(position, axis, angle, along, power)| {
        let mut scale = Vec3::new(1.0, -1.25, 0.75);
        scale[along] *= 10f32.powi(power);
        Transform::new(position, Quat::from_axis_angle(axis.normalize(), angle), scale)
    })
}

fn wide(transform: &Transform) -> DAffine3 {
    Matrices::widen(&Matrices::local_of(transform))
}

fn chain(locals: &[Transform]) -> Chain<Matrices> {
    Chain {
        wide: locals.iter().fold(DAffine3::IDENTITY, |parent, local| parent * wide(local)),
        flat: false,
        conformal: false,
    }
}

fn columns(m: &DAffine3) -> [DVec3; 4] {
    [m.matrix3.x_axis, m.matrix3.y_axis, m.matrix3.z_axis, m.translation]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// What is stored does its job, as a matrix or as position, rotation and scale.
    #[test]
    fn a_solution_fits(
        parents in prop::collection::vec(thin(), 1..4), wanted in thin(), held in thin(), flat in any::<[bool; 3]>(), refuse in any::<bool>(),
    ) {
        let mut wanted = wanted;
        (0..3).filter(|&i| flat[i]).for_each(|i| wanted.scale[i] = 0.0);
        let (parent, wanted) = (chain(&parents), wide(&wanted));
        let shear = if refuse { Shear::Refused } else { Shear::Allowed };
        if let Ok(own) = Matrices::solve(&parent, &wanted, &Own::trs(held), shear) {
            let misfit = misfit::<f32>(&parent.wide, &Matrices::widen(&own.local()), &wanted);
            prop_assert!(misfit <= MISFIT, "misses by {misfit:e}, shear {shear:?}, {:?}", own.matrix);
        }
    }

    /// A value that was there before the rounding of float64 took its parent apart is found again: what a
    /// solution fails by is the rounding to float32.
    #[test]
    fn what_a_local_value_gave_is_solved_for(parents in prop::collection::vec(thin(), 1..4), local in thin()) {
        let parent = chain(&parents);
        let wanted = parent.wide * wide(&local);
        // What half a last bit of the local value moves, by the sizes of the products.
        let sizes = |m: &DAffine3| DAffine3 { matrix3: m.matrix3.abs(), translation: DVec3::ZERO };
        let moved = columns(&(sizes(&parent.wide) * sizes(&wide(&local)))).map(|size| 6e-8 * size.max_element());
        let thin = (0..3).any(|i| moved[i] > 0.1 * MISFIT * columns(&wanted)[i].abs().max_element());
        prop_assume!(!thin);
        // The product that is solved for is itself rounded, by 2⁻⁵³ of what is added up, and a parent's
        // thinnest side magnifies that: down to 2⁻⁴⁰ of a column it stays 2⁻¹³ of the local value, far below
        // the float32 rounding of what that moves. Thinner ones are beyond what float64 can tell.
        let sides = decompose_linear(parent.wide.matrix3, DVec3::ONE).scale.abs();
        let thick = (0..3).all(|i| sides[i] > 2f64.powi(-40) * parent.wide.matrix3.col(i).length());
        prop_assume!(thick);
        let solved = solve_affine::<f32>(false, &parent.wide, &wanted);
        prop_assert!(solved.is_ok(), "{:?} under {:?}", solved, parent);
        let solved = solve_point::<f32>(false, &parent.wide, wanted.translation);
        prop_assert!(solved.is_ok(), "{:?} under {:?}", solved, parent);
    }
}

proptest! {
    /// The same products and sums in another layout: signed zeros, and what is tiny or huge, included.
    #[test]
    fn rows_have_the_bits_of_the_matrix(
        position in prop::array::uniform3(any_number()), scale in prop::array::uniform3(any_number()),
        axes in prop::array::uniform4(any_number()), exact in 0..8usize,
    ) {
        let rotation = Quat::from_array(axes.map(|x| x.clamp(-1.0, 1.0)));
        let rotation = match exact {
            0..4 => Quat::from_array([0, 1, 2, 3].map(|axis| if axis == exact { -1.0 } else { 0.0 })),
            _ if rotation.length_squared() > 1e-6 => rotation.normalize(),
            _ => Quat::from_xyzw(-0.0, 0.6, -0.0, 0.8),
        };
        let t = Transform::new(position.into(), rotation, scale.into());
        let bits = |rows: [[f32; 4]; 3]| rows.map(|row| row.map(f32::to_bits));
        prop_assert_eq!(bits(Matrices::local_of(&t)), bits(Matrices::to_rows(&t.to_affine())), "{:?}", t);
    }
}

fn any_number() -> impl Strategy<Value = f32> {
    let special = [0.0, -0.0, 1.0, -1.0, f32::MIN_POSITIVE, 1e-45, -1e-40, 1e-20, 1e30, -1e38];
    prop_oneof![-2.0f32..2.0, prop::sample::select(special.to_vec())]
}

#[test]
fn rows_are_eliminated_in_any_order() {
    let m = [DVec3::new(0.0, 0.0, 3.0), DVec3::new(2.0, 0.0, 1.0), DVec3::new(0.0, 5.0, 7.0)];
    for [a, b, c] in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let parent = DAffine3 { matrix3: DMat3::from_cols(m[a], m[b], m[c]), translation: DVec3::ONE };
        let local = Affine3A::from_cols(Vec3::X.into(), Vec3::ONE.into(), Vec3::Z.into(), Vec3::splat(3.0).into());
        let wanted = parent * local.widen();
        assert_eq!(solve_affine::<f32>(false, &parent, &wanted).unwrap().1, local);
        let point = parent.transform_point3(DVec3::new(1.0, 2.0, 3.0));
        assert_eq!(solve_point::<f32>(false, &parent, point), Ok(Vec3::new(1.0, 2.0, 3.0)));
        assert_eq!(position_misfit::<f32>(point, point, parent.translation), 0.0);
    }
    let flat = DAffine3 { matrix3: DMat3::from_cols(m[0], m[1], m[1]), translation: DVec3::ZERO };
    assert!(solve_affine::<f32>(false, &flat, &DAffine3::IDENTITY).is_err());
    assert!(solve_affine::<f32>(false, &DAffine3::from_scale(DVec3::ZERO), &DAffine3::IDENTITY).is_err());
}
