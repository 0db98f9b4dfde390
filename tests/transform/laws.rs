// What holds of transforms in either precision: included by each, under the names of the single one.

const EPS: Float = Float::EPSILON;

/// What one transform of a point may be off by, in units of the vector's length. The scale rounds once, 0.5 EPS.
/// glam's rotation `v (w² - b·b) + 2 b (v·b) + 2w (b × v)` has three terms of at most 5 roundings each: at most 4
/// EPS. A quaternion that was normalised in the same precision is off by 1.5 EPS in length, 3 in the rotated vector.
/// The sum rounds once, 0.5 EPS.
const STEP: Float = 8.0 * EPS;

/// What one product of quaternions may be off by: four products and three sums per component, for lengths of one.
const TURN: Float = 4.0 * EPS;

/// Unit quaternions in all directions.
fn rotations() -> impl Strategy<Value = Quat> {
    prop::array::uniform4(-ONE..ONE)
        .prop_map(Quat::from_array)
        .prop_filter("no direction", |q| q.length() > 0.1)
        .prop_map(Quat::normalize)
}

/// Vectors of up to `size` along each axis.
fn vectors(size: Float) -> impl Strategy<Value = Vec3> {
    prop::array::uniform3(-size..size).prop_map(Vec3::from_array)
}

fn factor() -> impl Strategy<Value = Float> {
    prop_oneof![0.1 * ONE..10.0, -10.0 * ONE..-0.1]
}

/// Any transform that is not flat.
fn transforms() -> impl Strategy<Value = Transform> {
    (vectors(100.0), rotations(), prop::array::uniform3(factor())).prop_map(|(p, r, s)| Transform::new(p, r, Vec3::from_array(s)))
}

fn uniform() -> impl Strategy<Value = Transform> {
    (vectors(100.0), rotations(), factor()).prop_map(|(p, r, s)| Transform::new(p, r, Vec3::splat(s)))
}

/// Equal but for `steps` roundings of positions of the given size; the rotations as quaternions with their sign.
fn close(a: Transform, b: Transform, steps: Float, size: Float) -> bool {
    (a.position - b.position).length() <= steps * STEP * size
        && (a.rotation - b.rotation).length() <= steps * TURN
        && (a.scale - b.scale).abs().cmple(steps * EPS * b.scale.abs()).all()
}

/// Unevenly scaled, and turned so that the scale acts on other axes.
fn squashed() -> Transform {
    Transform::new(Vec3::Y, Quat::from_rotation_z(FRAC_PI_4), Vec3::new(4.0, 1.0, 1.0))
}

proptest! {
    #[test]
    fn identity_on_both_sides(t in transforms()) {
        prop_assert_eq!(Transform::IDENTITY.combine(t), t);
        prop_assert_eq!(t.combine(Transform::IDENTITY), t);
    }

    #[test]
    fn associative_for_uniform_scale(a in uniform(), b in uniform(), c in uniform()) {
        let size = a.position.length()
            + a.scale.x.abs() * (b.position.length() + b.scale.x.abs() * c.position.length());
        // Two combinations on either side.
        prop_assert!(close(a.combine(b).combine(c), a.combine(b.combine(c)), 4.0, size));
    }

    /// `combine(combine(a, b), c) - combine(a, combine(b, c)) = r_a (r_b s_a - s_a r_b) (s_b * p_c)`, of positions.
    ///
    /// In units of `STEP` times the size of what is added up. On the left: one for each of two combinations, and two
    /// for the product of quaternions, which turns by 8 EPS and, being of two that are long, stretches by 3 more than
    /// `STEP` counts. On the right one for each. The formula is evaluated in float64 with its own `STEP`: one for each
    /// of its two times two rotations, and one for the differences.
    #[test]
    fn associative_but_for_a_difference(a in transforms(), b in transforms(), c in transforms()) {
        let [left, right] = [a.combine(b).combine(c), a.combine(b.combine(c))].map(wide);
        let [a, b, c] = [a, b, c].map(wide);
        let turn = |t: DTransform| glam::DMat3::from_quat(t.rotation.normalize());
        let (v, by_a) = (b.scale * c.position, glam::DMat3::from_diagonal(a.scale));
        let formula = turn(a) * ((turn(b) * by_a - by_a * turn(b)) * v);
        let [of_a, of_b] = [a, b].map(|t| t.scale.abs().max_element());
        let size = a.position.length() + of_a * (b.position.length() + of_b * c.position.length());
        let (step, own) = (wide(Transform::from_uniform_scale(STEP)).scale.x, 8.0 * f64::EPSILON);
        let off = (left.position - right.position - formula).length();
        prop_assert!(off <= (6.0 * step + 5.0 * own) * size, "off by {:e} at size {}", off, size);
    }

    /// Uneven in one direction, along which `b` turns.
    #[test]
    fn associative_where_the_scale_commutes_with_the_turn(
        a in transforms(), b in transforms(), c in transforms(), angle in -3.0 * ONE..3.0,
    ) {
        let a = a.with_scale(Vec3::new(a.scale.x, a.scale.x, a.scale.z));
        let b = b.with_rotation(Quat::from_rotation_z(angle));
        let [of_a, of_b] = [a, b].map(|t| t.scale.abs().max_element());
        let size = a.position.length() + of_a * (b.position.length() + of_b * c.position.length());
        // As above.
        prop_assert!(close(a.combine(b).combine(c), a.combine(b.combine(c)), 6.0, size));
    }

    #[test]
    fn left_inverse_always(t in transforms()) {
        let inverse = t.local_inverse().unwrap();
        let size = inverse.position.length();
        prop_assert!(close(inverse.combine(t), Transform::IDENTITY, 2.0, size));
    }

    #[test]
    fn right_inverse_for_uniform_scale(t in uniform()) {
        let inverse = t.local_inverse().unwrap();
        prop_assert!(close(t.combine(inverse), Transform::IDENTITY, 2.0, t.position.length()));
    }

    #[test]
    fn relative_to_solves_combine(world in transforms(), parent in transforms()) {
        let local = world.relative_to(parent).unwrap();
        let size = world.position.length() + parent.position.length();
        prop_assert!(close(parent.combine(local), world, 2.0, size));
    }

    #[test]
    fn combine_is_the_matrix_product_for_uniform_parents(a in uniform(), b in transforms()) {
        let (whole, product) = (a.combine(b).to_affine(), a.to_affine() * b.to_affine());
        // Both sides evaluate two rotations; columns are at most 100 long, |s_a s_b|.
        prop_assert!(whole.matrix3.abs_diff_eq(product.matrix3, 4.0 * STEP * 100.0));
        // Three times 1000 for the child's position, and 100 for the parent's.
        prop_assert!(whole.translation.abs_diff_eq(product.translation, 4.0 * STEP * 1900.0));
    }

    #[test]
    fn combine_is_the_matrix_product_for_unrotated_children(a in transforms(), b in transforms()) {
        let b = b.with_rotation(Quat::IDENTITY);
        let (whole, product) = (a.combine(b).to_affine(), a.to_affine() * b.to_affine());
        // As above.
        prop_assert!(whole.matrix3.abs_diff_eq(product.matrix3, 4.0 * STEP * 100.0));
        prop_assert!(whole.translation.abs_diff_eq(product.translation, 4.0 * STEP * 1900.0));
    }

    #[test]
    fn inverse_twins_undo(t in transforms(), v in vectors(100.0)) {
        let size = v.length() + t.position.length();
        // Away from the origin, dividing by a scale of 0.1 makes ten times as much of the sum's rounding.
        let there = t.transform_point(v);
        let back = t.inverse_transform_point(there).unwrap();
        prop_assert!(back.abs_diff_eq(v, 2.0 * STEP * 10.0 * (10.0 * size)));
        let back = t.inverse_transform_vector(t.transform_vector(v)).unwrap();
        prop_assert!(back.abs_diff_eq(v, 2.0 * STEP * 100.0 * size));
        let back = t.inverse_transform_direction(t.transform_direction(v));
        prop_assert!(back.abs_diff_eq(v, 2.0 * STEP * size));
        let n = v.normalize();
        let back = t.inverse_transform_normal(t.transform_normal(v).unwrap()).unwrap();
        // Rounded to Float once in between, which the scales stretch by up to 100.
        prop_assert!(back.abs_diff_eq(n, 100.0 * STEP));
    }

    #[test]
    fn points_and_vectors_are_the_matrix(t in transforms(), v in vectors(100.0)) {
        let m = t.to_affine();
        let size = t.position.length() + 10.0 * v.length();
        prop_assert!(t.transform_point(v).abs_diff_eq(m.transform_point3(v), 2.0 * STEP * size));
        prop_assert!(t.transform_vector(v).abs_diff_eq(m.transform_vector3(v), 2.0 * STEP * size));
    }

    /// `n'` is at right angles to the transformed surface, and points to the side that `n` points to.
    #[test]
    fn normals_stay_normal_and_on_their_side(t in transforms(), n in vectors(100.0), other in vectors(100.0)) {
        let image = t.transform_normal(n).unwrap();
        prop_assert!((image.length() - 1.0).abs() <= 2.0 * EPS);
        let along = n.normalize().cross(other.normalize());
        let tangent = t.transform_vector(along);
        // The cross product itself is only at right angles up to EPS, stretched by 10.
        prop_assert!(image.dot(tangent).abs() <= 4.0 * STEP * 10.0);
        prop_assert!(image.dot(t.transform_vector(n)) > 0.0);
    }

    #[test]
    fn looking_at_hits_the_target(
        from in transforms(), to in vectors(100.0), up in vectors(100.0), e in prop::sample::select(vec![-30, 0, 30]),
    ) {
        let unit = (10.0 * ONE).powi(e);
        let from = from.with_position(from.position * unit);
        let level = up.normalize();
        let (to, up) = (to * unit, up / unit);
        let ray = direction(from.position, to);
        prop_assume!(ray.cross(level).length() > 0.1);
        let t = from.looking_at(to, up).unwrap();
        prop_assert_eq!((t.position, t.scale), (from.position, from.scale));
        prop_assert!(t.forward().abs_diff_eq(ray, STEP));
        // Right is level, and up is up.
        prop_assert!(t.right().dot(level).abs() <= STEP);
        prop_assert!(t.up().dot(level) > 0.0);
        let same = from.looking_to(ray, up).unwrap();
        prop_assert!(same.forward().abs_diff_eq(ray, STEP));
    }
}

#[test]
fn associative_fails_in_general() {
    let (a, b) = (Transform::from_scale(Vec3::new(2.0, 1.0, 1.0)), squashed());
    let c = Transform::from_position(Vec3::X);
    let apart = a.combine(b).combine(c).position - a.combine(b.combine(c)).position;
    assert!(apart.length() > 0.5, "{apart}");
}

#[test]
fn right_inverse_fails_in_general() {
    let t = squashed();
    let not_identity = t.combine(t.local_inverse().unwrap());
    assert!(not_identity.position.length() > 0.5, "{not_identity:?}");
}

#[test]
fn the_published_way_into_a_parents_space_is_wrong() {
    let (parent, world) = (squashed(), Transform::from_position(Vec3::new(3.0, 1.0, 0.0)));
    let published = parent.local_inverse().unwrap().combine(world);
    let ours = world.relative_to(parent).unwrap();
    assert!(parent.combine(ours).position.abs_diff_eq(world.position, 6.0 * STEP));
    assert!(parent.combine(published).position.distance(world.position) > 1.0);
}

#[test]
fn what_has_no_inverse_is_an_error() {
    let any = Transform::from_position(Vec3::ONE);
    // The reciprocal of a number below the smallest normal one is infinite, or nearly all of them.
    for flat in [0.0, -0.0, BELOW_RECIPROCALS, Float::from_bits(1)] {
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            let t = Transform::from_scale(Vec3::ONE - axis + axis * flat);
            let singular = TransformError::Singular;
            assert_eq!(t.local_inverse(), Err(singular));
            assert_eq!(any.relative_to(t), Err(singular));
            assert!(t.relative_to(any).is_ok(), "only the parent is inverted");
            assert_eq!(t.inverse_transform_point(Vec3::X), Err(singular));
            assert_eq!(t.inverse_transform_vector(Vec3::X), Err(singular));
            assert_eq!(t.transform_normal(Vec3::X), Err(singular));
            assert_eq!(t.inverse_transform_normal(Vec3::X), Err(singular));
        }
    }
    assert!(Transform::from_uniform_scale(100.0 * BELOW_RECIPROCALS).local_inverse().is_ok());
}

#[test]
fn what_is_not_finite_is_an_error() {
    let tiny = Transform::new(Vec3::splat(BIG), Quat::IDENTITY, Vec3::splat(BIG.recip()));
    assert_eq!(tiny.local_inverse(), Err(TransformError::NonFinite));
    assert_eq!(Transform::IDENTITY.relative_to(tiny), Err(TransformError::NonFinite));
    assert_eq!(tiny.inverse_transform_point(Vec3::ZERO), Err(TransformError::NonFinite));
    let nan = Transform::from_uniform_scale(Float::NAN);
    assert_eq!(nan.local_inverse(), Err(TransformError::NonFinite));
    assert_eq!(nan.transform_normal(Vec3::X), Err(TransformError::NonFinite));
    assert_eq!(Transform::IDENTITY.relative_to(nan), Err(TransformError::NonFinite));
    assert_eq!(nan.relative_to(Transform::IDENTITY), Err(TransformError::NonFinite));
}

#[test]
fn normals_of_extreme_scales_and_of_mirrors() {
    let needle = Transform::from_scale(Vec3::new(BIG, BIG.recip(), 1.0));
    for (n, image) in [(Vec3::X, Vec3::X), (Vec3::Y * BIG.recip(), Vec3::Y), (Vec3::ONE * BIG, Vec3::Y)] {
        assert!(needle.transform_normal(n).unwrap().abs_diff_eq(image, EPS));
    }
    let back = needle.inverse_transform_normal(Vec3::ONE).unwrap();
    assert!(back.abs_diff_eq(Vec3::X, EPS));
    let mirror = Transform::from_scale(Vec3::new(-1.0, 2.0, 1.0));
    assert_eq!(mirror.transform_normal(Vec3::X), Ok(Vec3::NEG_X));
    assert_eq!(mirror.transform_normal(Vec3::Z), Ok(Vec3::Z));
    for bad in [Vec3::ZERO, Vec3::NAN, Vec3::INFINITY] {
        assert_eq!(mirror.transform_normal(bad), Err(TransformError::Degenerate));
        assert_eq!(mirror.inverse_transform_normal(bad), Err(TransformError::Degenerate));
    }
}

#[test]
fn looking_at_refuses_what_determines_nothing() {
    let t = Transform::from_position(Vec3::ONE);
    let refused = |t: Transform, target, up| {
        assert_eq!(t.looking_at(target, up), Err(TransformError::Degenerate));
    };
    refused(t, Vec3::ONE, Vec3::Y);
    refused(t, Vec3::new(1.0, 5.0, 1.0), Vec3::Y);
    refused(t, Vec3::new(1.0, -5.0, 1.0), Vec3::Y);
    refused(t, Vec3::ZERO, Vec3::ZERO);
    refused(t, Vec3::NAN, Vec3::Y);
    refused(t, Vec3::ZERO, Vec3::INFINITY);
    refused(t.with_position(Vec3::NAN), Vec3::ZERO, Vec3::Y);
    refused(t.with_scale(Vec3::NAN), Vec3::ZERO, Vec3::Y);
    assert!(t.looking_to(Vec3::ZERO, Vec3::Y).is_err());
    // The threshold, 8 EPS, from both sides.
    let leaning = |by: Float| Transform::IDENTITY.looking_to(Vec3::Y, Vec3::new(by, 1.0, 0.0));
    assert!(leaning(7.9 * EPS).is_err() && leaning(8.1 * EPS).is_ok());
    // As far apart as Float goes.
    let far = Transform::from_position(Vec3::NEG_X * Float::MAX);
    let t = far.looking_at(Vec3::X * Float::MAX, Vec3::Y).unwrap();
    assert!(t.forward().abs_diff_eq(Vec3::X, STEP));
}

#[test]
fn axes_are_right_handed_with_y_up_and_z_back() {
    let t = Transform::from_rotation(Quat::from_rotation_y(FRAC_PI_2)).with_scale(Vec3::new(-2.0, 3.0, 0.0));
    for (axis, wanted) in [
        (t.forward(), Vec3::NEG_X),
        (t.back(), Vec3::X),
        (t.right(), Vec3::NEG_Z),
        (t.left(), Vec3::Z),
        (t.up(), Vec3::Y),
        (t.down(), Vec3::NEG_Y),
    ] {
        assert!(axis.abs_diff_eq(wanted, STEP), "{axis} is not {wanted}");
    }
}

#[test]
fn matrices_are_glams() {
    let q = Quat::from_euler(EulerRot::YXZ, 0.1, 0.2, 0.3);
    let (p, s) = (Vec3::new(1.0, 2.0, 3.0), Vec3::new(4.0, -5.0, 0.0));
    let t = Transform::new(p, q, s);
    assert_eq!(t.to_affine(), Affine3A::from_scale_rotation_translation(s, q, p));
    assert_eq!(Affine3A::from(t), t.to_affine());
    assert_eq!(t.to_mat4(), Mat4::from(t.to_affine()));
    assert_eq!(Mat4::from(t), t.to_mat4());
    assert_eq!(Transform::default(), Transform::IDENTITY);
    let built = Transform::from_position(p).with_rotation(q).with_scale(s);
    assert_eq!(built, t);
    assert_eq!(Transform::from_rotation(q).with_position(p).with_scale(s), t);
    assert_eq!(Transform::from_uniform_scale(2.0), Transform::from_scale(Vec3::splat(2.0)));
}

#[test]
fn lerp_takes_the_shortest_arc() {
    let (from, to) = (Quat::from_rotation_y(0.1), Quat::from_rotation_y(2.1));
    let a = Transform::new(Vec3::ZERO, from, Vec3::ONE);
    for end in [to, -to] {
        let b = Transform::new(Vec3::splat(8.0), end, Vec3::new(3.0, -1.0, 0.0));
        let quarter = a.lerp(b, 0.25);
        assert_eq!((quarter.position, quarter.scale), (Vec3::splat(2.0), Vec3::new(1.5, 0.5, 0.75)));
        // The inputs are rounded sines, each off by EPS; a long way round would be at -0.97.
        assert!((quarter.rotation - Quat::from_rotation_y(0.6)).length() <= 4.0 * EPS);
        let middle = a.nlerp(b, 0.5).rotation;
        assert!((middle - Quat::from_rotation_y(1.1)).length() <= 4.0 * EPS);
        // nlerp is not at constant speed: at a quarter it lags, on the same path.
        let lagging = a.nlerp(b, 0.25).rotation;
        assert!(lagging.y < quarter.rotation.y - 1e-3 && lagging.x == 0.0 && lagging.z == 0.0);
        for (t, wanted) in [(0.0, a), (1.0, b)] {
            let (slow, fast) = (a.lerp(b, t), a.nlerp(b, t));
            assert!((slow.position, slow.scale) == (wanted.position, wanted.scale));
            assert!(slow.rotation.dot(wanted.rotation).abs() >= 1.0 - 2.0 * EPS);
            assert!(fast.rotation.dot(wanted.rotation).abs() >= 1.0 - 2.0 * EPS);
        }
    }
    assert!(a.lerp(a, 0.3).rotation.abs_diff_eq(from, EPS), "no arc at all");
}

#[test]
fn ten_thousand_turns_leave_a_rotation() {
    let scale = Vec3::new(0.1, -3.3, 1e-30);
    let mut t = Transform::new(Vec3::ONE, Quat::IDENTITY, scale);
    // Off by more than rounding, so that the lengths would grow to e¹⁰ if nothing normalised them.
    let q = Quat::from_xyzw(0.1, 0.2, -0.3, 0.9).normalize() * 1.001;
    for _ in 0..10_000 {
        t.rotate(q);
        t.rotate_local(q);
        t.rotate_around(t.position, q);
    }
    assert!((t.rotation.length() - 1.0).abs() <= 1e-6);
    assert_eq!(t.scale.to_array().map(Float::to_bits), scale.to_array().map(Float::to_bits));
    assert_eq!(t.position, Vec3::ONE);
}

#[test]
fn frames_of_rotate_and_translate() {
    let (x, y) = (Quat::from_rotation_x(FRAC_PI_2), Quat::from_rotation_y(FRAC_PI_2));
    let start = Transform::new(Vec3::X, y, Vec3::splat(2.0));
    let after = |edit: &dyn Fn(&mut Transform)| {
        let mut t = start;
        edit(&mut t);
        t
    };
    assert!(after(&|t| t.rotate(x)).rotation.abs_diff_eq(x * y, TURN));
    assert!(after(&|t| t.rotate_local(x)).rotation.abs_diff_eq(y * x, TURN));
    assert!(!(x * y).abs_diff_eq(y * x, 0.1), "or the two above say nothing");

    let around = after(&|t| t.rotate_around(Vec3::new(1.0, 1.0, 0.0), x));
    assert!(around.position.abs_diff_eq(Vec3::new(1.0, 1.0, -1.0), STEP));
    assert!(around.rotation.abs_diff_eq(x * y, TURN));

    assert_eq!(after(&|t| t.translate(Vec3::X)).position, Vec3::X * 2.0);
    // Local X is parent -Z here. The scale of two is not applied.
    let moved = after(&|t| t.translate_local(Vec3::X)).position;
    assert!(moved.abs_diff_eq(Vec3::new(1.0, 0.0, -1.0), STEP));
}

#[test]
fn checks() {
    let mirrored = |x, y, z| Transform::from_scale(Vec3::new(x, y, z)).is_mirrored();
    assert!(mirrored(-1.0, 1.0, 1.0) && mirrored(-1.0, -1.0, -1.0));
    assert!(!mirrored(1.0, 1.0, 1.0) && !mirrored(-1.0, 1.0, -1.0) && !mirrored(-0.0, 1.0, 1.0));

    let t = Transform::IDENTITY;
    assert!(t.is_finite());
    assert!(!t.with_position(Vec3::X * Float::INFINITY).is_finite());
    assert!(!t.with_rotation(Quat::from_xyzw(0.0, 0.0, Float::NAN, 1.0)).is_finite());
    assert!(!t.with_scale(Vec3::NAN).is_finite());

    for size in [BIG.recip(), 3.0, BIG] {
        let long = t.with_rotation(Quat::from_xyzw(0.0, size, 0.0, size));
        assert!(long.normalized().rotation.abs_diff_eq(Quat::from_rotation_y(FRAC_PI_2), EPS));
    }
    let none = t.with_rotation(Quat::from_xyzw(0.0, 0.0, 0.0, 0.0));
    assert_eq!(none.normalized(), none);
}
