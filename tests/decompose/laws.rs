// What holds of matrices taken apart in either precision: included by each, under the names of the single one.

fn linear(x: Vec3, y: Vec3, z: Vec3) -> Affine3A {
    Affine3A { matrix3: Mat3A::from_cols(x.into(), y.into(), z.into()), translation: Vec3A::new(7.0, -8.0, 9.0) }
}

/// `T * R * U` in f64, by the definitions in the documentation and not by the crate's own `recompose`.
fn product(d: &Decomposed) -> DMat3 {
    let (s, h) = (wide(d.transform.scale), wide(d.shear));
    let upper = DMat3::from_cols(DVec3::new(s.x, 0.0, 0.0), DVec3::new(h.x, s.y, 0.0), DVec3::new(h.y, h.z, s.z));
    DMat3::from_quat(wide_quat(d.transform.rotation).normalize()) * upper
}

/// Everything `decompose` promises of a finite matrix with columns no longer than `Float::MAX`.
fn check(m: &Affine3A, hint: Vec3) -> Decomposed {
    let d = decompose_with_hint(m, hint);
    let t = d.transform;
    assert!(t.is_finite() && d.shear.is_finite(), "{m:?} gave {d:?}");
    assert_eq!(t.position, Vec3::from(m.translation));
    let off = wide_quat(t.rotation).length_squared() - 1.0;
    assert!(off.abs() <= 4.0 * EPS64, "{m:?} gave {d:?}");
    let numbers = t.scale.to_array().into_iter().chain(d.shear.to_array());
    for x in numbers.chain(t.rotation.to_array()) {
        assert!(x != 0.0 || x.is_sign_positive(), "-0.0 in {d:?}");
    }

    // LAW of a column's length (derived in the module page), its second order, and subnormal steps: one for each
    // product and sum of an element.
    let m64 = wide_linear(m);
    let again = d.recompose();
    for (back, share) in [(wide_linear(&again), LAW), (product(&d), LAW_OF_PARTS)] {
        for j in 0..3 {
            let error = length(back.col(j) - m64.col(j));
            let bound = share * 1.00001 * EPS64 * length(m64.col(j)) + STEPS * SUBNORMAL;
            assert!(error <= bound, "column {j}, {error:e} > {bound:e}: {m:?} gave {d:?}");
        }
    }
    assert_eq!(again.translation, m.translation);

    let share = d.residual();
    assert!(share >= 0.0 && (d.shear != Vec3::ZERO || share == 0.0));
    if let Some(h) = d.shear_ratios() {
        assert!(h.is_finite());
    }
    d
}

fn rotations() -> impl Strategy<Value = Quat> {
    prop::array::uniform4(-ONE..ONE)
        .prop_map(Quat::from_array)
        .prop_filter("no direction", |q| q.length() > 0.1)
        .prop_map(Quat::normalize)
}

/// Zero, or of either sign and any size from 1e-30 to 1e30.
fn factor() -> impl Strategy<Value = Float> {
    prop_oneof![
        1 => Just(0.0 * ONE),
        4 => (prop::bool::ANY, -30.0 * ONE..30.0)
            .prop_map(|(negative, e)| if negative { -(10.0 * ONE).powf(e) } else { (10.0 * ONE).powf(e) }),
    ]
}

fn factors() -> impl Strategy<Value = Vec3> {
    prop::array::uniform3(factor()).prop_map(Vec3::from_array)
}

/// Every finite number of at most half the largest, so that no column is longer than `Float::MAX`.
fn element() -> impl Strategy<Value = Float> {
    use any_number::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    prop_oneof![NORMAL | SUBNORMAL | ZERO | POSITIVE | NEGATIVE, -ONE..ONE, (-3_i8..=3).prop_map(Float::from),]
        .prop_map(|x| x.clamp(-Float::MAX / 2.0, Float::MAX / 2.0))
}

fn vector() -> impl Strategy<Value = Vec3> {
    prop::array::uniform3(element()).prop_map(Vec3::from_array)
}

#[test]
fn identity_is_exact() {
    let d = check(&Affine3A::IDENTITY, Vec3::ONE);
    assert_eq!((d.transform, d.shear), (Transform::IDENTITY, Vec3::ZERO));
    assert_eq!(d.recompose(), Affine3A::IDENTITY);
}

#[test]
fn typed_signs_come_back_with_every_pattern_of_signs_and_zeros() {
    let turns = [Quat::IDENTITY, Quat::from_rotation_z(2.5), Quat::from_xyzw(0.3, -0.5, 0.7, 0.2).normalize()];
    for rotation in turns {
        for (signs, zeros) in (0_u32..64).map(|i| (i % 8, i / 8)) {
            let pick = |axis: u32, size: Float| match (zeros >> axis & 1, signs >> axis & 1) {
                (1, _) => 0.0,
                (_, 0) => size,
                _ => -size,
            };
            let scale = Vec3::new(pick(0, 2.0), pick(1, 3.0), pick(2, 0.25));
            let typed = Transform::new(Vec3::ONE, rotation, scale);
            let d = check(&typed.to_affine(), scale);
            // A column's length: 4 EPS for the quaternion's, 3 for evaluating its elements, 1 for the result, and as
            // much again where taking apart is no more exact than that.
            assert!((d.transform.scale - scale).abs().cmple(8.0 * WORK * EPS * scale.abs()).all());
            // With one axis missing the other two still fix the rotation: an element of it is off by as much again,
            // and by its own rounding.
            if zeros.count_ones() <= 1 {
                let apart = Mat3A::from_quat(rotation) - Mat3A::from_quat(d.transform.rotation);
                assert!(apart.abs_diff_eq(Mat3A::ZERO, 16.0 * WORK * EPS), "{typed:?} {d:?}");
            }
            assert!(d.residual() <= TRS * EPS, "position, rotation, scale only: {d:?}");
            check(&typed.to_affine(), Vec3::ONE);
        }
    }
}

#[test]
fn flat_scale_comes_back_without_shear() {
    let rotation = Quat::from_xyzw(0.3, -0.5, 0.7, 0.2).normalize();
    let at = |scale| check(&Transform::new(Vec3::ZERO, rotation, scale).to_affine(), Vec3::ONE);
    let flat = at(Vec3::new(0.0, 2.0, 3.0));
    assert_eq!((flat.transform.scale.x, flat.shear.x, flat.shear.y), (0.0, 0.0, 0.0));
    // The axes y and z are at right angles to 8 EPS, a product of z's length.
    assert!(flat.shear.z.abs() <= 8.0 * WORK * EPS * 3.0);
    for needle in [Vec3::X, Vec3::Y, Vec3::Z, Vec3::ZERO] {
        assert_eq!(at(needle).shear, Vec3::ZERO);
    }
    assert_eq!(at(Vec3::ZERO).transform.rotation, Quat::IDENTITY);
}

#[test]
fn lost_rank_gives_zero_and_never_an_invented_scale() {
    let (a, b) = (Vec3::new(1.0, 2.0, -3.0), Vec3::new(-4.0, 1.0, 0.5));
    let scale = |x, y, z| check(&linear(x, y, z), Vec3::ONE).transform.scale;
    let zeros = |s: Vec3| s.to_array().map(|s| s == 0.0);
    assert_eq!(zeros(scale(a, 2.0 * a, b)), [false, true, false]);
    assert_eq!(zeros(scale(a, b, a - 2.0 * b)), [false, false, true]);
    assert_eq!(zeros(scale(Vec3::ZERO, a, -a)), [true, false, true]);
    assert_eq!(zeros(scale(a, -3.0 * a, 0.5 * a)), [false, true, true]);
    assert_eq!(zeros(scale(Vec3::ZERO, Vec3::ZERO, b)), [true, true, false]);
    assert_eq!(zeros(scale(Vec3::ZERO, a, b)), [true, false, false]);

    // Third column in the plane of the first two, but for its rounding.
    let noisy = scale(a, b, 0.1 * a + 0.7 * b);
    assert!(noisy.z.abs() <= EPS * 5.0, "only the rounding is left: {noisy}");
}

#[test]
fn the_shear_is_undivided_and_its_ratios_are_divided_by_the_column() {
    let m = linear(Vec3::X * 2.0, Vec3::new(3.0, 5.0, 0.0), Vec3::new(7.0, 11.0, 4.0));
    let d = check(&m, Vec3::ONE);
    assert_eq!(d.transform.scale, Vec3::new(2.0, 5.0, 4.0));
    assert_eq!(d.shear, Vec3::new(3.0, 7.0, 11.0));
    assert_eq!(d.shear_ratios(), Some(Vec3::new(0.6, 1.75, 2.75)));
    // Column y loses 3 of 5, column z 11 of 11.
    assert_eq!(d.residual(), 1.0);
    assert_eq!(decompose(&linear(Vec3::X, Vec3::new(3.0, 5.0, 0.0), Vec3::Z)).residual(), 0.6);

    let sheared_and_flat = check(&linear(Vec3::X, Vec3::X, Vec3::Z), Vec3::ONE);
    assert_eq!((sheared_and_flat.shear.x, sheared_and_flat.shear_ratios()), (1.0, None));
    let too_steep = check(&linear(Vec3::X, Vec3::new(1e10, 1e-4, 0.0), Vec3::Y * 1e-39), Vec3::ONE);
    assert!(too_steep.shear_ratios().is_none() && too_steep.shear.is_finite());
}

#[test]
fn hints() {
    let plain = Affine3A::from_scale(Vec3::new(2.0, 3.0, 4.0));
    let mirror = Affine3A::from_scale(Vec3::new(2.0, 3.0, -4.0));
    let signs = |m: &Affine3A, x: Float, y: Float, z: Float| {
        check(m, Vec3::new(x, y, z)).transform.scale.to_array().map(|s| s.signum() as i32)
    };
    assert_eq!(signs(&plain, 1.0, 1.0, 1.0), [1, 1, 1]);
    assert_eq!(signs(&plain, -9.0, 0.1, -1e-30), [-1, 1, -1]);
    assert_eq!(signs(&plain, 1.0, 1.0, -1.0), [-1, 1, -1], "X gives way");
    assert_eq!(signs(&plain, 1.0, 0.0, -1.0), [1, -1, -1], "the zero gives way");
    assert_eq!(signs(&plain, -1.0, -1.0, -0.0), [-1, -1, 1], "a zero has no sign");
    assert_eq!(signs(&mirror, 1.0, 1.0, 1.0), [-1, 1, 1]);
    assert_eq!(signs(&mirror, 1.0, 1.0, -1.0), [1, 1, -1]);
    assert_eq!(signs(&mirror, -1.0, -1.0, -1.0), [-1, -1, -1]);
    assert_eq!(signs(&mirror, -1.0, 1.0, -1.0), [1, 1, -1], "X gives way");
    assert_eq!(signs(&mirror, 1.0, 1.0, 0.0), [1, 1, -1]);
    // Singular: every hint fits.
    let flat = Affine3A::from_scale(Vec3::new(2.0, 0.0, 4.0));
    assert_eq!(check(&flat, Vec3::new(-1.0, -1.0, 1.0)).transform.scale, Vec3::new(-2.0, 0.0, 4.0));
}

#[test]
fn try_from_refuses_what_it_cannot_hold() {
    let not_trs = |m: Affine3A| match Transform::try_from(m) {
        Err(TransformError::NotTrs { residual }) => residual,
        other => panic!("{other:?}"),
    };
    let lean = |by: Float| linear(Vec3::X, Vec3::new(by, 1.0, 0.0), Vec3::Z);
    assert_eq!(not_trs(lean(0.5)), 0.5);
    assert_eq!(f64::from(not_trs(lean((TRS + 1.0) * EPS))), (f64::from(TRS) + 1.0) * EPS64);
    assert!(Transform::try_from(lean((TRS - 1.0) * EPS)).is_ok());
    // Leaning is measured against the leaning column, whatever the others are.
    assert!(not_trs(linear(Vec3::X * 1e20, Vec3::new(1e-5, 1e-3, 0.0), Vec3::Z)) > 0.009);

    for bad in [Float::NAN, Float::INFINITY] {
        let mut m = Affine3A::IDENTITY;
        m.matrix3.y_axis.z = bad;
        assert_eq!(Transform::try_from(m), Err(TransformError::NonFinite));
        let m = Affine3A::from_translation(Vec3::new(bad, 0.0, 0.0));
        assert_eq!(Transform::try_from(m), Err(TransformError::NonFinite));
    }
    // Finite elements, but the length of the column is no such number.
    let long = linear(Vec3::splat(Float::MAX), Vec3::ZERO, Vec3::ZERO);
    assert_eq!(Transform::try_from(long), Err(TransformError::NonFinite));
    let d = decompose(&long);
    assert!(d.transform.scale.x == Float::MAX && d.recompose().is_finite());
}

proptest! {
    #[test]
    fn every_finite_matrix(x in vector(), y in vector(), z in vector(), hint in vector()) {
        let m = linear(x, y, z);
        let d = check(&m, hint);
        let negative = d.transform.scale.cmplt(Vec3::ZERO).bitmask().count_ones();
        // Where the factors are exact enough to tell: the determinant's sign is the product of the scales'.
        let unit = DMat3::from_cols(
            wide(x).normalize_or_zero(), wide(y).normalize_or_zero(), wide(z).normalize_or_zero(),
        );
        if unit.determinant().abs() > 1e-12 && d.transform.scale.cmpne(Vec3::ZERO).all() {
            prop_assert_eq!(negative % 2 == 1, unit.determinant() < 0.0);
            let plain = decompose(&m).transform.scale;
            prop_assert!(plain.y > 0.0 && plain.z > 0.0);
        }
    }

    #[test]
    fn nearly_singular_and_rank_deficient(a in vector(), b in vector(), k in element(), l in element(), e in -30_i32..0) {
        // Kept away from the largest number, where the combination would overflow.
        let (a, b) = (a.clamp_length_max(1e12), b.clamp_length_max(1e12));
        let (k, l) = (k.clamp(-1e12, 1e12), l.clamp(-1e12, 1e12));
        check(&linear(a, k * a, b), Vec3::ONE);
        check(&linear(a, b, k * a + l * b), Vec3::ONE);
        check(&linear(a, a + b * (2.0 * ONE).powi(e), b), Vec3::NEG_ONE);
    }

    /// The matrix of a valid transform is accepted, and what is read back makes the same matrix.
    #[test]
    fn to_affine_is_accepted(rotation in rotations(), scale in factors(), off in -3.5 * ONE..3.5) {
        // Within 4 EPS of unit in squared length, the most that counts as a rotation.
        let rotation = wide_quat(rotation).normalize() * (1.0 + f64::from(off) * EPS64 / 2.0);
        let rotation = rounded(rotation);
        let m = Transform::new(Vec3::X, rotation, scale).to_affine();
        let t = Transform::try_from(m).unwrap();
        let back = t.to_affine();
        for j in 0..3 {
            let (was, is) = (m.matrix3.col(j), back.matrix3.col(j));
            // TRS of dropped shear, and rounding, as documented.
            let bound = ACCEPTED * EPS * was.abs().max_element();
            prop_assert!((was - is).abs().max_element() <= bound, "{} {}", was, is);
        }
    }

    /// A sheared matrix comes back with the factors that made it.
    #[test]
    fn the_factors_of_a_product_are_unique(
        rotation in rotations(),
        scale in prop::array::uniform3(0.5 * ONE..2.0),
        shear in prop::array::uniform3(-2.0 * ONE..2.0),
    ) {
        let made = Decomposed {
            transform: Transform::new(Vec3::X, rotation, scale.into()),
            shear: shear.into(),
        };
        let d = check(&made.recompose(), Vec3::ONE);
        // The input is off by LAW of its columns, at most 3.5 long. An error in one column turns the axes by itself
        // over the scale (at least 0.5), and reaches the later ones through their length: 7, then 49, then 343 of
        // these.
        let bound = LAW as Float * 343.0 * EPS;
        prop_assert!(d.transform.scale.abs_diff_eq(made.transform.scale, bound));
        prop_assert!(d.shear.abs_diff_eq(made.shear, bound));
        prop_assert!(d.transform.rotation.dot(rotation).abs() > 1.0 - bound);
    }
}
