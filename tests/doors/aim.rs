//! Aiming: the image of -Z through the target, that of +Y in the half plane of up.
//!
//! `look_at` solves for a rotation whose exact world has both laws, under any parent: in the parent's
//! space the node's +Y comes to lie in the half plane of view and up, and a linear map carries planes
//! through the view, and their sides, along. What is off is the rounding of what is stored.

use crate::stage::{Kind, Local, Stage, chain, condition, frobenius, rotation, vector};
use crate::{EPS, config};
use posetree::glam::{Affine3A, DMat3, Mat3, Quat, Vec3};
use posetree::{Error, Hierarchy, Transform};
use proptest::prelude::*;

/// How far a column of a local matrix is off the one solved for, in ε of its length: a quaternion's
/// rounding turns by 2 u; its length, off by 2 u, leans by 4 u; evaluating the elements takes 3 u of
/// each, and there are three: `(2 + 4 + 3 √3) u < 6 ε`. A sheared matrix has `U` rounded besides, where
/// a column's parts add up to at most `√3` of it: 2 u more.
const COLUMN: f64 = 7.0 * EPS;

/// Own scales with each sign, and sheared matrices.
fn node<A: Kind>() -> BoxedStrategy<Local> {
    let side = prop_oneof![3 => 0.3f32..3.0, 1 => -3.0f32..-0.3];
    let trs = (vector(3.0), rotation(), [side.clone(), side.clone(), side])
        .prop_map(|(position, turn, scale)| Local::Trs(Transform::new(position, turn, scale.into())))
        .boxed();
    if !A::reads_shear() {
        return trs;
    }
    let sheared =
        (vector(1.0), vector(1.0), vector(1.0), vector(3.0), any::<bool>()).prop_map(|(x, y, z, t, mirror)| {
            let x = if mirror { x - 2.0 * Vec3::X } else { x + 2.0 * Vec3::X };
            let linear = Mat3::from_cols(x, y + 2.0 * Vec3::Y, z + 2.0 * Vec3::Z);
            Local::Sheared(Affine3A::from_mat3_translation(linear, t))
        });
    prop_oneof![3 => trs, 1 => sheared].boxed()
}

fn aims<A: Kind>(above: &[Local], node: Local, target: Vec3, up: Vec3) -> Result<(), TestCaseError> {
    // The node takes the place of the chain's root: it may be one.
    let locals: Vec<Local> = above[1..].iter().copied().chain([node]).collect();
    let before = Stage::<A>::new(&locals);
    let (mut after, id) = (before.clone(), before.id);
    let parent = before.parent().matrix.matrix3;
    let view = target.as_dvec3() - before.world().matrix.translation;
    // Components aim in the world, whatever the parent's scale.
    let solved_in = if A::reads_shear() { parent.inverse() } else { DMat3::IDENTITY };

    match after.h.look_at(id, target, up).map_err(Error::from) {
        Ok(()) => {}
        Err(error) => {
            prop_assert_eq!(before.bits(), after.bits());
            let size = before.world().size.translation.max_element() + f64::from(target.abs().max_element());
            let near = view.abs().max_element() <= 4.0 * EPS * size;
            let sine = (solved_in * view).normalize().cross((solved_in * up.as_dvec3()).normalize()).length();
            match error {
                // 8 ε as float32 can tell, and the model's own rounding through the inverse.
                Error::Degenerate(_) => prop_assert!(near || sine <= 8.001 * EPS + 1e-15 * condition(parent)),
                Error::SingularParent(_) => prop_assert!(A::reads_shear() && condition(parent) > 1e3, "{}", error),
                other => prop_assert!(false, "{}", other),
            }
            return Ok(());
        }
    }
    let bits = |v: Vec3| v.to_array().map(f32::to_bits);
    prop_assert_eq!(bits(before.h.position(id).unwrap()), bits(after.h.position(id).unwrap()));
    prop_assert_eq!(bits(before.h.scale(id).unwrap()), bits(after.h.scale(id).unwrap()));
    prop_assert_eq!(before.h.is_trs(id), after.h.is_trs(id));
    let (was, now) = (before.h.local_decomposed(id).unwrap(), after.h.local_decomposed(id).unwrap());
    // Read off a rounded matrix before and after: 7 ε of its columns each time, none longer than these.
    let longest = f64::from(was.shear.length() + was.transform.scale.length());
    prop_assert!(f64::from((was.shear - now.shear).abs().max_element()) <= 2.0 * COLUMN * longest);

    let (world, local) = (after.world().matrix.matrix3, after.local(id).matrix.matrix3);
    // How much larger an error of a local column is against the world's.
    let stretch = |column: usize| match A::reads_shear() {
        true => frobenius(parent) * local.col(column).length() / world.col(column).length(),
        false => 1.0,
    };
    let noise = 1e-15 * condition(parent).powi(2);
    let (view, up) = (view.normalize(), up.as_dvec3().normalize());
    let forward = -world.z_axis.normalize();
    let off = (forward - view).length();
    let bound = COLUMN * stretch(2) + noise;
    prop_assert!(off <= bound, "the ray is off by {off:e}, allowed {bound:e}");

    let across = view.cross(up);
    // A rotation about the view is known as well as the angle between view and up, seen from where the
    // rotation is solved, and between the node's own Z and Y.
    let y = world.y_axis.normalize();
    let bound = COLUMN * stretch(1) + noise;
    let out = y.dot(across.normalize());
    let thin = across.length();
    prop_assert!(out.abs() <= bound + noise / thin, "+Y leaves the plane of up by {out:e}, allowed {bound:e}");
    let side = y.dot(across.normalize().cross(view));
    prop_assert!(side >= -bound, "+Y is on the other side of the view: {side}");
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn look_at_aims_and_stands_upright(
        m in chain::<posetree::Matrices>(), c in chain::<posetree::Components>(),
        node_m in node::<posetree::Matrices>(), node_c in node::<posetree::Components>(),
        target in prop_oneof![3 => vector(9.0), 1 => vector(1e6)], up in vector(1.0),
    ) {
        prop_assume!(up.length() > 0.01);
        aims::<posetree::Matrices>(&m, node_m, target, up)?;
        aims::<posetree::Components>(&c, node_c, target, up)?;
    }

    /// Out a long way and back again: what is read of the position is off by the rounding of the way.
    #[test]
    fn a_target_read_from_the_node_is_on_the_node(
        out in vector(1e6), turn in rotation(), turn_back in rotation(), at in vector(1.0), clean in any::<bool>(),
    ) {
        let mut h = Hierarchy::new();
        let far = h.add_root(Transform::new(out, turn, Vec3::ONE)).unwrap();
        let back = h.add_child(far, Transform::new(turn.inverse() * -out, turn_back, Vec3::ONE)).unwrap();
        let id = h.add_child(back, Transform::from_position(at)).unwrap();
        if clean {
            h.update();
        }
        let target = h.world_position(id).unwrap();
        let refused = h.look_at(id, target, Vec3::Y).map_err(Error::from);
        prop_assert!(matches!(refused, Err(Error::Degenerate(_))), "{:?}", refused);
        prop_assert_eq!(h.rotation(id), Ok(Quat::IDENTITY));
    }
}

/// Up along the view as seen from the node, and not from the world: nothing is lost under shear.
#[test]
fn up_may_lean_towards_the_view_as_long_as_it_is_not_along_it() {
    let mut h = Hierarchy::new();
    let top = h.add_root(Transform::new(Vec3::X, Quat::from_rotation_z(0.5), Vec3::new(1.0, 3.0, 1.0))).unwrap();
    let id = h.add_child(top, Transform::from_rotation(Quat::from_rotation_x(1.0))).unwrap();
    for lean in [1e-2f32, 1e-4, 1e-5] {
        let up = Vec3::new(lean, 0.0, -1.0);
        h.look_at(id, h.world_position(id).unwrap() - 4.0 * Vec3::Z, up).unwrap();
        let world = h.world_matrix(id).unwrap().matrix3;
        let y = world.y_axis.as_dvec3().normalize();
        assert!(y.x > 0.9 && y.y.abs() < 1e-6, "{lean}: {y}");
    }
}
