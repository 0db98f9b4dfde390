//! Every error of every door of this file's doors: the expected one, and nothing changed.

use posetree::glam::{Affine3A, Mat4, Quat, Vec3};
use posetree::{ComponentHierarchy, Error, Hierarchy, NodeId, Space, Transform};

const NAN: Vec3 = Vec3::new(0.0, f32::NAN, 0.0);
const LONG: Quat = Quat::from_xyzw(0.0, 0.0, 0.0, 1.02);
const TURN: Quat = Quat::from_xyzw(0.6, 0.0, 0.0, 0.8);
const SPACES: [Space; 3] = [Space::Local, Space::Parent, Space::World];

/// A call of a door, whatever it returns and refuses with.
fn done<T, E: Into<Error>>(result: Result<T, E>) -> Result<(), Error> {
    result.map(|_| ()).map_err(Into::into)
}

fn is(error: &Error, cause: &str) -> bool {
    format!("{error:?}").starts_with(cause)
}

macro_rules! refusals {
    ($test:ident, $Hierarchy:ty, $turns_under_flat:literal) => {
        #[test]
        fn $test() {
            let mut h = <$Hierarchy>::new();
            let turned = Transform::from_rotation(Quat::from_rotation_z(0.7));
            let root = h.add_root(turned.with_position(Vec3::X)).unwrap();
            let flat = h.add_child(root, turned.with_scale(Vec3::new(1.0, 0.0, 2.0))).unwrap();
            let id = h.add_child(flat, turned.with_position(Vec3::Y)).unwrap();
            let gone = h.add_root(turned).unwrap();
            h.remove_subtree(gone).unwrap();
            let huge = h.add_root(Transform::from_position(Vec3::splat(3e38))).unwrap();

            for clean in [false, true] {
                if clean {
                    h.update();
                }
                let look = |h: &$Hierarchy| {
                    let ids: Vec<NodeId> = h.roots().flat_map(|root| h.subtree(root).unwrap()).collect();
                    let bits = |m: Affine3A| m.to_cols_array().map(f32::to_bits);
                    ids.into_iter()
                        .map(|id| {
                            let matrices = (bits(h.local_matrix(id).unwrap()), bits(h.world_matrix(id).unwrap()));
                            (id, h.parent(id), h.is_dirty(id), matrices)
                        })
                        .collect::<Vec<_>>()
                };
                let before = look(&h);
                let mut check = |what: &str, cause: &str, call: &dyn Fn(&mut $Hierarchy) -> Result<(), Error>| {
                    let refused = call(&mut h);
                    assert!(refused.as_ref().is_err_and(|error| is(error, cause)), "{what}: {refused:?}, want {cause}");
                    assert_eq!(look(&h), before, "{what} changed something");
                    h.assert_well_formed();
                };
                // Of many, the first that is refused refuses all.
                let off = Transform::from_position(NAN);
                check("set_locals", "StaleNode", &|h| Ok(h.set_locals(&[(id, Transform::IDENTITY), (gone, off)])?));
                check("set_locals", "NonFinite", &|h| Ok(h.set_locals(&[(id, Transform::IDENTITY), (root, off)])?));
                check("set_locals", "NotRotation", &|h| {
                    Ok(h.set_locals(&[(id, Transform::IDENTITY), (root, Transform::from_rotation(LONG))])?)
                });
                // Stale comes before numbers, numbers before singular.
                check("rotation", "StaleNode", &|h| Ok(h.set_world_rotation(gone, LONG)?));
                check("rotation", "NotRotation", &|h| Ok(h.set_world_rotation(id, LONG)?));
                check("rotation", "NonFinite", &|h| Ok(h.set_world_rotation(id, Quat::from_vec4(NAN.extend(1.0)))?));
                check("scale", "StaleNode", &|h| Ok(h.set_world_scale(gone, NAN)?));
                check("scale", "NonFinite", &|h| Ok(h.set_world_scale(id, NAN)?));
                check("scale", "SingularParent", &|h| Ok(h.set_world_scale(id, Vec3::ONE)?));
                check("position", "SingularParent", &|h| Ok(h.set_world_position(id, Vec3::ONE)?));
                check("look_at", "StaleNode", &|h| Ok(h.look_at(gone, NAN, NAN)?));
                check("look_at", "NonFinite", &|h| Ok(h.look_at(id, NAN, Vec3::Y)?));
                check("look_at", "NonFinite", &|h| Ok(h.look_at(id, Vec3::Y, NAN)?));
                check("look_at", "Degenerate", &|h| Ok(h.look_at(root, Vec3::X, Vec3::Y)?));
                for space in SPACES {
                    check("translate", "StaleNode", &|h| Ok(h.translate(gone, NAN, space)?));
                    check("translate", "NonFinite", &|h| Ok(h.translate(id, NAN, space)?));
                    check("translate", "NonFinite", &|h| Ok(h.translate(huge, Vec3::splat(3e38), space)?));
                    check("place", "StaleNode", &|h| Ok(h.set_position_in(gone, NAN, space)?));
                    check("place", "NonFinite", &|h| Ok(h.set_position_in(id, NAN, space)?));
                    check("rotate", "StaleNode", &|h| Ok(h.rotate(gone, LONG, space)?));
                    check("rotate", "NotRotation", &|h| Ok(h.rotate(id, LONG, space)?));
                    check("around", "StaleNode", &|h| Ok(h.rotate_around(gone, NAN, LONG, space)?));
                    check("around", "NonFinite", &|h| Ok(h.rotate_around(id, NAN, LONG, space)?));
                    check("around", "NotRotation", &|h| Ok(h.rotate_around(id, Vec3::X, LONG, space)?));
                }
                check("translate", "SingularParent", &|h| Ok(h.translate(id, Vec3::X, Space::World)?));
                check("place", "SingularParent", &|h| Ok(h.set_position_in(id, Vec3::X, Space::World)?));
                check("around", "SingularParent", &|h| Ok(h.rotate_around(id, Vec3::X, TURN, Space::World)?));
                if !$turns_under_flat {
                    check("rotate", "SingularParent", &|h| Ok(h.rotate(id, TURN, Space::World)?));
                    check("rotation", "SingularParent", &|h| Ok(h.set_world_rotation(id, TURN)?));
                    check("look_at", "SingularParent", &|h| Ok(h.look_at(id, Vec3::ONE, Vec3::Y)?));
                }
                check("between", "StaleNode", &|h| done(h.transform_between(id, gone)));
                check("between", "SingularParent", &|h| done(h.transform_between(root, id)));
                check("between", "StaleNode", &|h| done(h.transform_between(gone, id)));
                // Whatever else is wrong with them: numbers are not looked at, or later.
                check("point", "StaleNode", &|h| done(h.local_to_world_point(gone, NAN)));
                check("vector", "StaleNode", &|h| done(h.local_to_world_vector(gone, NAN)));
                check("direction", "StaleNode", &|h| done(h.local_to_world_direction(gone, Vec3::ZERO)));
                check("normal", "StaleNode", &|h| done(h.local_to_world_normal(gone, Vec3::ZERO)));
                check("point", "StaleNode", &|h| done(h.world_to_local_point(gone, NAN)));
                check("vector", "StaleNode", &|h| done(h.world_to_local_vector(gone, NAN)));
                check("direction", "StaleNode", &|h| done(h.world_to_local_direction(gone, NAN)));
                check("normal", "StaleNode", &|h| done(h.world_to_local_normal(gone, NAN)));
                check("mirrored", "StaleNode", &|h| done(h.is_mirrored(gone)));
                check("box", "StaleNode", &|h| done(h.transform_aabb(gone, NAN, Vec3::ONE)));
                check("vector", "NonFinite", &|h| done(h.world_to_local_vector(id, NAN)));
                check("direction", "NonFinite", &|h| done(h.world_to_local_direction(id, NAN)));
                check("normal", "NonFinite", &|h| done(h.world_to_local_normal(id, NAN)));
                check("vector", "SingularParent", &|h| done(h.world_to_local_vector(id, Vec3::ONE)));
                check("direction", "SingularParent", &|h| done(h.world_to_local_direction(id, Vec3::ONE)));
                check("normal", "SingularParent", &|h| done(h.world_to_local_normal(id, Vec3::ONE)));
                check("direction", "Degenerate", &|h| done(h.world_to_local_direction(root, Vec3::ZERO)));
                check("normal", "Degenerate", &|h| done(h.world_to_local_normal(root, Vec3::ZERO)));
                check("point", "NonFinite", &|h| done(h.world_to_local_point(id, NAN)));
                check("point", "SingularParent", &|h| done(h.world_to_local_point(id, Vec3::ONE)));
                check("direction", "Degenerate", &|h| done(h.local_to_world_direction(root, Vec3::ZERO)));
                check("normal", "Degenerate", &|h| done(h.local_to_world_normal(root, Vec3::ZERO)));
                check("normal", "SingularParent", &|h| done(h.local_to_world_normal(id, Vec3::Y)));
                check("box", "NonFinite", &|h| done(h.transform_aabb(root, NAN, Vec3::ONE)));
                check("joints", "StaleNode", &|h| {
                    let (binds, mut out) = ([Affine3A::IDENTITY; 2], [Mat4::ZERO; 2]);
                    let refused = h.write_joint_matrices(&[root, gone], &binds, &mut out);
                    assert_eq!(out, [Mat4::ZERO; 2], "nothing was written");
                    Ok(refused?)
                });
                check("joints", "LengthMismatch", &|h| Ok(h.write_joint_matrices(&[root], &[], &mut [])?));
            }
        }
    };
}

refusals!(matrices_refuse_and_change_nothing, Hierarchy, false);
refusals!(components_refuse_and_change_nothing, ComponentHierarchy, true);
