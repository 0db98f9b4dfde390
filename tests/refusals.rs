//! Every error of every door: it is the expected one, and nothing changed, not one bit.

use glam::{Affine3A, Mat3, Quat, Vec3};
use posetree::{
    ComponentHierarchy, Components, Error, Hierarchy, Inherit, Keep, Matrices, NodeId, Subtree, SubtreeRefused,
    Transform, glam,
};

const VALUE: Transform = Transform::IDENTITY;
const NAN: Vec3 = Vec3::new(0.0, f32::NAN, 0.0);
const LONG: Quat = Quat::from_xyzw(0.0, 0.0, 0.0, 1.02);
const HOLLOW: Quat = Quat::from_xyzw(0.0, f32::INFINITY, 0.0, 1.0);
const OFF: Transform = Transform::from_position(NAN);
const TURNED: Transform = Transform::from_rotation(LONG);

/// The scene of all cases.
#[derive(Clone, Copy)]
struct Nodes {
    top: NodeId,
    a: NodeId,
    below: NodeId,
    lowest: NodeId,
    b: NodeId,
    flat: NodeId,
    under_flat: NodeId,
    huge: NodeId,
    huger: NodeId,
    /// Has a grandchild.
    flat_group: NodeId,
    /// Unevenly scaled, with a turned child, so that the child's world shears with matrices.
    wide: NodeId,
    slanted: NodeId,
    gone: NodeId,
}

fn shear() -> Affine3A {
    Affine3A::from_mat3(Mat3::from_cols(Vec3::X, Vec3::new(1.0, 1.0, 0.0), Vec3::Z))
}

fn not_finite() -> Affine3A {
    Affine3A::from_translation(NAN)
}

/// A call of a door, whatever it returns and refuses with.
fn done<T, E: Into<Error>>(result: Result<T, E>) -> Result<(), Error> {
    result.map(|_| ()).map_err(Into::into)
}

/// The tables, for one kind of hierarchy.
macro_rules! doors {
    ($kind:ident, $Hierarchy:ty, $Way:ty) => {
        mod $kind {
            use super::*;

            pub(super) type Call = fn(&mut $Hierarchy, Nodes) -> Result<(), Error>;

            pub(super) fn scene() -> ($Hierarchy, Nodes) {
                let mut h = <$Hierarchy>::new();
                let turned = Transform::from_rotation(Quat::from_rotation_z(0.7));
                let top = h.add_root(turned.with_position(Vec3::X)).unwrap();
                let a = h.add_child(top, turned.with_scale(Vec3::new(-2.0, 1.0, 3.0))).unwrap();
                let below = h.add_child(a, turned).unwrap();
                let lowest = h.add_child(below, Transform::from_position(-Vec3::ZERO)).unwrap();
                let b = h.add_child(top, Transform::from_position(Vec3::Y)).unwrap();
                let flat = h.add_root(Transform::from_scale(Vec3::new(1.0, 0.0, 1.0))).unwrap();
                let under_flat = h.add_child(flat, turned).unwrap();
                let huge = h.add_root(Transform::from_uniform_scale(1e30)).unwrap();
                let huger = h.add_child(huge, Transform::from_uniform_scale(1e30)).unwrap();
                h.add_child(huger, Transform::from_uniform_scale(1e30)).unwrap();
                let flat_group = h.add_root(Transform::from_scale(Vec3::new(1.0, 0.0, 1.0))).unwrap();
                let group = h.add_child(flat_group, turned).unwrap();
                h.add_child(group, turned).unwrap();
                let wide = h.add_root(Transform::from_scale(Vec3::new(4.0, 1.0, 1.0))).unwrap();
                let slanted = h.add_child(wide, turned).unwrap();
                let gone = h.add_child(top, VALUE).unwrap();
                h.remove_subtree(gone).unwrap();
                (h, Nodes { top, a, below, lowest, b, flat, under_flat, huge, huger, flat_group, wide, slanted, gone })
            }

            /// All that can be read, a line a node. Debug prints float32 so that it reads back as the same bits.
            pub(super) fn snapshot(h: &$Hierarchy) -> String {
                let mut text = format!("{} nodes, clean: {}\n", h.len(), h.worlds().is_some());
                for root in h.roots() {
                    for id in h.subtree(root).unwrap() {
                        let own = (h.local_matrix(id), h.local(id), h.position(id), h.rotation(id), h.scale(id));
                        let place = (id, h.parent(id), h.sibling_index(id), h.is_dirty(id));
                        text += &format!("{place:?} {own:?} {:?}\n", h.world(id));
                    }
                }
                text
            }

            /// Calls every door of the table on a clean, a dirty and an edited scene.
            pub(super) fn check(table: &[(&str, Call)]) {
                for (name, call) in table {
                    let expected = name.split_whitespace().last().unwrap();
                    for state in ["dirty", "clean", "half clean"] {
                        let (mut h, nodes) = scene();
                        if state != "dirty" {
                            h.update();
                        }
                        if state == "half clean" {
                            h.set_position(nodes.below, Vec3::ONE).unwrap();
                        }
                        let mut before = h.clone();
                        let error = call(&mut h, nodes).expect_err(name);
                        let found = format!("{error:?}");
                        assert!(found.starts_with(&format!("{expected}(")), "{name}, {state}: {found}");
                        assert_eq!(snapshot(&h), snapshot(&before), "{name}, {state}: something changed");
                        h.assert_well_formed();
                        // Nor anything that shows later.
                        assert_eq!(format!("{:?}", h.update().rows()), format!("{:?}", before.update().rows()));
                        let next = (h.add_root(VALUE).unwrap(), before.add_root(VALUE).unwrap());
                        assert_eq!(next.0, next.1, "{name}, {state}: a slot was taken");
                    }
                }
            }

            #[test]
            fn insertions() {
                check(&[
                    ("add_root NonFinite", |h, _| done(h.add_root(OFF))),
                    ("add_root, scale NonFinite", |h, _| done(h.add_root(VALUE.with_scale(NAN)))),
                    ("add_root, rotation NonFinite", |h, _| done(h.add_root(VALUE.with_rotation(HOLLOW)))),
                    ("add_root NotRotation", |h, _| done(h.add_root(TURNED))),
                    ("add_child StaleNode", |h, n| done(h.add_child(n.gone, VALUE))),
                    ("add_child NonFinite", |h, n| done(h.add_child(n.top, OFF))),
                    ("add_child NotRotation", |h, n| done(h.add_child(n.top, TURNED))),
                    ("insert_child_at StaleNode", |h, n| done(h.insert_child_at(n.gone, 0, VALUE))),
                    ("insert_child_at NonFinite", |h, n| done(h.insert_child_at(n.top, 0, OFF))),
                    ("insert_child_at NotRotation", |h, n| done(h.insert_child_at(n.top, 0, TURNED))),
                    ("insert_child_at OutOfRange", |h, n| done(h.insert_child_at(n.top, 3, VALUE))),
                    ("insert_child_at, roots OutOfRange", |h, _| done(h.insert_child_at(None, 9, VALUE))),
                    ("insert_before StaleNode", |h, n| done(h.insert_before(n.gone, VALUE))),
                    ("insert_before NonFinite", |h, n| done(h.insert_before(n.b, OFF))),
                    ("insert_before NotRotation", |h, n| done(h.insert_before(n.b, TURNED))),
                    ("insert_after StaleNode", |h, n| done(h.insert_after(n.gone, VALUE))),
                    ("insert_after NonFinite", |h, n| done(h.insert_after(n.b, OFF))),
                    ("insert_after NotRotation", |h, n| done(h.insert_after(n.b, TURNED))),
                    ("extend StaleNode", |h, n| done(h.extend(n.gone, &[None], &[VALUE]))),
                    ("extend LengthMismatch", |h, n| done(h.extend(n.top, &[None, None], &[VALUE]))),
                    ("extend NonFinite", |h, n| done(h.extend(n.top, &[None, None], &[VALUE, OFF]))),
                    ("extend NotRotation", |h, n| done(h.extend(n.top, &[None, None], &[VALUE, TURNED]))),
                    ("extend OutOfRange", |h, n| done(h.extend(n.top, &[None, Some(2)], &[VALUE; 2]))),
                    ("extend ParentsCycle", |h, _| done(h.extend(None, &[None, Some(2), Some(1)], &[VALUE; 3]))),
                ]);
            }

            #[test]
            fn removals() {
                check(&[
                    ("remove_subtree StaleNode", |h, n| done(h.remove_subtree(n.gone))),
                    ("remove_children StaleNode", |h, n| done(h.remove_children(n.gone))),
                    ("remove_and_promote StaleNode", |h, n| done(h.remove_and_promote(n.gone, Keep::World))),
                    ("remove_and_promote NonFinite", |h, n| done(h.remove_and_promote(n.huge, Keep::World))),
                ]);
            }

            #[test]
            fn moves() {
                check(&[
                    ("reparent, node StaleNode", |h, n| done(h.reparent(n.gone, n.top, Keep::Local))),
                    ("reparent, parent StaleNode", |h, n| done(h.reparent(n.top, n.gone, Keep::World))),
                    ("reparent to itself Cycle", |h, n| done(h.reparent(n.a, n.a, Keep::Local))),
                    ("reparent a leaf to itself Cycle", |h, n| done(h.reparent(n.b, n.b, Keep::World))),
                    ("reparent to a child Cycle", |h, n| done(h.reparent(n.a, n.below, Keep::World))),
                    ("reparent to a grandchild Cycle", |h, n| done(h.reparent(n.a, n.lowest, Keep::WorldTrs))),
                    ("reparent SingularParent", |h, n| done(h.reparent(n.b, n.flat, Keep::World))),
                    ("reparent below SingularParent", |h, n| done(h.reparent(n.b, n.under_flat, Keep::World))),
                    ("reparent, trs SingularParent", |h, n| done(h.reparent(n.b, n.flat, Keep::WorldTrs))),
                    ("reparent NonFinite", |h, n| done(h.reparent(n.huger, None, Keep::World))),
                    ("reparent_at, node StaleNode", |h, n| done(h.reparent_at(n.gone, None, 0, Keep::Local))),
                    ("reparent_at, parent StaleNode", |h, n| done(h.reparent_at(n.a, n.gone, 0, Keep::Local))),
                    ("reparent_at OutOfRange", |h, n| done(h.reparent_at(n.below, n.b, 1, Keep::Local))),
                    ("reparent_at, own OutOfRange", |h, n| done(h.reparent_at(n.a, n.top, 2, Keep::World))),
                    ("reparent_at Cycle", |h, n| done(h.reparent_at(n.a, n.lowest, 0, Keep::World))),
                    ("reparent_at SingularParent", |h, n| done(h.reparent_at(n.a, n.flat, 0, Keep::World))),
                    ("reparent_at NonFinite", |h, n| done(h.reparent_at(n.huger, None, 0, Keep::World))),
                    ("detach StaleNode", |h, n| done(h.detach(n.gone, Keep::World))),
                    ("detach NonFinite", |h, n| done(h.detach(n.huger, Keep::World))),
                    ("detach_children StaleNode", |h, n| done(h.detach_children(n.gone, Keep::Local))),
                    ("detach_children NonFinite", |h, n| done(h.detach_children(n.huge, Keep::World))),
                    ("move_before, node StaleNode", |h, n| done(h.move_before(n.gone, n.a))),
                    ("move_before, sibling StaleNode", |h, n| done(h.move_before(n.a, n.gone))),
                    ("move_before NotSibling", |h, n| done(h.move_before(n.b, n.below))),
                    ("move_after, node StaleNode", |h, n| done(h.move_after(n.gone, n.a))),
                    ("move_after, sibling StaleNode", |h, n| done(h.move_after(n.a, n.gone))),
                    ("move_after NotSibling", |h, n| done(h.move_after(n.b, n.top))),
                    ("move_to_index StaleNode", |h, n| done(h.move_to_index(n.gone, 0))),
                    ("move_to_index OutOfRange", |h, n| done(h.move_to_index(n.a, 2))),
                ]);
            }

            #[test]
            fn subtrees() {
                check(&[
                    ("clone_subtree, node StaleNode", |h, n| done(h.clone_subtree(n.gone, n.top))),
                    ("clone_subtree, parent StaleNode", |h, n| done(h.clone_subtree(n.top, n.gone))),
                    ("append StaleNode", |h, n| done(h.append(&h.clone(), n.gone))),
                    ("append_subtree, node StaleNode", |h, n| done(h.append_subtree(&h.clone(), n.gone, n.top))),
                    ("append_subtree, parent StaleNode", |h, n| done(h.append_subtree(&h.clone(), n.top, n.gone))),
                    ("flatten StaleNode", |h, n| done(h.flatten(n.gone, Keep::World))),
                    ("take_subtree StaleNode", |h, n| done(h.take_subtree(n.gone))),
                    ("restore NotReserved", |h, n| done(h.restore(strangers(h, n)))),
                    ("restore_under NotReserved", |h, n| done(h.restore_under(strangers(h, n), n.gone))),
                    ("restore_at NotReserved", |h, n| done(h.restore_at(strangers(h, n), n.gone, 99))),
                    ("discard NotReserved", |h, n| done(h.discard(strangers(h, n)))),
                ]);
            }

            fn strangers(h: &$Hierarchy, n: Nodes) -> Subtree<$Way> {
                h.clone().take_subtree(n.a).unwrap()
            }

            type Restore = fn(&mut $Hierarchy, Subtree<$Way>, Nodes) -> Result<NodeId, SubtreeRefused<$Way>>;

            /// A refused subtree comes back with the error, and is still good.
            #[test]
            fn restores() {
                let table: [(&str, Restore); 8] = [
                    ("parent reserved: StaleNode", |h, taken, _| h.restore(taken)),
                    ("under StaleNode", |h, taken, n| h.restore_under(taken, n.gone)),
                    ("under itself: StaleNode", |h, taken, n| h.restore_under(taken, n.below)),
                    ("at StaleNode", |h, taken, n| h.restore_at(taken, n.gone, 0)),
                    ("at OutOfRange", |h, taken, n| h.restore_at(taken, n.b, 1)),
                    ("at, roots OutOfRange", |h, taken, _| h.restore_at(taken, None, 99)),
                    ("stale before index: StaleNode", |h, taken, n| h.restore_at(taken, n.a, 99)),
                    ("back already: NotReserved", |h, taken, n| {
                        let mut copy = h.clone();
                        copy.restore_under(taken.clone(), None).unwrap();
                        let refused = copy.restore_at(taken, n.gone, 99).unwrap_err();
                        let again = copy.take_subtree(n.below).unwrap();
                        assert!(h.discard(again).is_err(), "of another taking");
                        Err(refused)
                    }),
                ];
                for (name, call) in table {
                    for clean in [true, false] {
                        let (mut h, n) = scene();
                        let taken = h.take_subtree(n.below).unwrap();
                        let parent = h.take_subtree(n.a).unwrap();
                        if clean {
                            h.update();
                        }
                        let mut before = h.clone();
                        let refused = call(&mut h, taken, n).expect_err(name);
                        let (found, expected) =
                            (format!("{:?}", refused.error), name.split_whitespace().last().unwrap());
                        assert!(found.starts_with(&format!("{expected}(")), "{name}: {found}");
                        assert_eq!(refused.to_string(), refused.error.to_string());
                        assert_eq!(snapshot(&h), snapshot(&before), "{name}: something changed");
                        h.assert_well_formed();
                        assert!(refused.subtree.ids().eq([n.below, n.lowest]));
                        assert!([n.a, n.below, n.lowest].iter().all(|&id| h.is_reserved(id)));
                        let next = (h.add_root(VALUE).unwrap(), before.add_root(VALUE).unwrap());
                        assert_eq!(next.0, next.1, "{name}: a slot was taken");
                        h.restore(parent).unwrap();
                        h.restore(refused.subtree).unwrap();
                        h.remove_subtree(next.0).unwrap();
                        h.update();
                        let mut untouched = scene().0;
                        untouched.update();
                        assert_eq!(snapshot(&h), snapshot(&untouched), "{name}: not as it was");
                        h.assert_well_formed();
                    }
                }
            }

            #[test]
            fn values() {
                check(&[
                    ("set_local StaleNode", |h, n| done(h.set_local(n.gone, VALUE))),
                    ("set_local NonFinite", |h, n| done(h.set_local(n.a, OFF))),
                    ("set_local NotRotation", |h, n| done(h.set_local(n.a, TURNED))),
                    ("set_local_matrix StaleNode", |h, n| done(h.set_local_matrix(n.gone, Affine3A::IDENTITY))),
                    ("set_local_matrix NonFinite", |h, n| done(h.set_local_matrix(n.a, not_finite()))),
                    ("set_position StaleNode", |h, n| done(h.set_position(n.gone, Vec3::X))),
                    ("set_position NonFinite", |h, n| done(h.set_position(n.a, NAN))),
                    ("set_rotation StaleNode", |h, n| done(h.set_rotation(n.gone, Quat::IDENTITY))),
                    ("set_rotation NonFinite", |h, n| done(h.set_rotation(n.a, HOLLOW))),
                    ("set_rotation NotRotation", |h, n| done(h.set_rotation(n.a, LONG))),
                    ("set_scale StaleNode", |h, n| done(h.set_scale(n.gone, Vec3::ONE))),
                    ("set_scale NonFinite", |h, n| done(h.set_scale(n.a, NAN))),
                    ("drop_shear StaleNode", |h, n| done(h.drop_shear(n.gone))),
                    ("set_inherit StaleNode", |h, n| done(h.set_inherit(n.gone, Inherit::NONE, Keep::Local))),
                    ("forget_previous StaleNode", |h, n| done(h.forget_previous(n.gone))),
                    ("set_world StaleNode", |h, n| done(h.set_world(n.gone, Affine3A::IDENTITY))),
                    ("set_world NonFinite", |h, n| done(h.set_world(n.a, not_finite()))),
                    ("set_world SingularParent", |h, n| done(h.set_world(n.under_flat, Affine3A::IDENTITY))),
                    ("set_world_transform StaleNode", |h, n| done(h.set_world_transform(n.gone, VALUE))),
                    ("set_world_transform NonFinite", |h, n| done(h.set_world_transform(n.a, OFF))),
                    ("set_world_transform NotRotation", |h, n| done(h.set_world_transform(n.a, TURNED))),
                    ("set_world_transform SingularParent", |h, n| done(h.set_world_transform(n.under_flat, VALUE))),
                    ("set_world_position StaleNode", |h, n| done(h.set_world_position(n.gone, Vec3::X))),
                    ("set_world_position NonFinite", |h, n| done(h.set_world_position(n.a, NAN))),
                    ("set_world_position SingularParent", |h, n| done(h.set_world_position(n.under_flat, Vec3::X))),
                ]);
            }

            #[test]
            fn reads() {
                check(&[
                    ("local StaleNode", |h, n| done(h.local(n.gone))),
                    ("local_decomposed StaleNode", |h, n| done(h.local_decomposed(n.gone))),
                    ("local_matrix StaleNode", |h, n| done(h.local_matrix(n.gone))),
                    ("position StaleNode", |h, n| done(h.position(n.gone))),
                    ("rotation StaleNode", |h, n| done(h.rotation(n.gone))),
                    ("scale StaleNode", |h, n| done(h.scale(n.gone))),
                    ("is_trs StaleNode", |h, n| done(h.is_trs(n.gone))),
                    ("is_dirty StaleNode", |h, n| done(h.is_dirty(n.gone))),
                    ("world StaleNode", |h, n| done(h.world(n.gone))),
                    ("world_matrix StaleNode", |h, n| done(h.world_matrix(n.gone))),
                    ("world_decomposed StaleNode", |h, n| done(h.world_decomposed(n.gone))),
                    ("world_position StaleNode", |h, n| done(h.world_position(n.gone))),
                    ("world_rotation StaleNode", |h, n| done(h.world_rotation(n.gone))),
                    ("world_scale StaleNode", |h, n| done(h.world_scale(n.gone))),
                    ("world_forward StaleNode", |h, n| done(h.world_forward(n.gone))),
                    ("world_right StaleNode", |h, n| done(h.world_right(n.gone))),
                    ("world_up StaleNode", |h, n| done(h.world_up(n.gone))),
                    ("world_back StaleNode", |h, n| done(h.world_back(n.gone))),
                    ("world_left StaleNode", |h, n| done(h.world_left(n.gone))),
                    ("world_down StaleNode", |h, n| done(h.world_down(n.gone))),
                    ("world_up Degenerate", |h, n| done(h.world_up(n.flat))),
                    ("world_down Degenerate", |h, n| done(h.world_down(n.flat))),
                    ("is_mirrored StaleNode", |h, n| done(h.is_mirrored(n.gone))),
                    ("local_to_world_point StaleNode", |h, n| done(h.local_to_world_point(n.gone, Vec3::X))),
                    ("local_to_world_vector StaleNode", |h, n| done(h.local_to_world_vector(n.gone, Vec3::X))),
                    ("local_to_world_direction StaleNode", |h, n| done(h.local_to_world_direction(n.gone, Vec3::X))),
                    ("local_to_world_normal StaleNode", |h, n| done(h.local_to_world_normal(n.gone, Vec3::X))),
                    ("world_to_local_point StaleNode", |h, n| done(h.world_to_local_point(n.gone, Vec3::X))),
                    ("world_to_local_vector StaleNode", |h, n| done(h.world_to_local_vector(n.gone, Vec3::X))),
                    ("world_to_local_direction StaleNode", |h, n| done(h.world_to_local_direction(n.gone, Vec3::X))),
                    ("world_to_local_normal StaleNode", |h, n| done(h.world_to_local_normal(n.gone, Vec3::X))),
                    ("transform_between, from StaleNode", |h, n| done(h.transform_between(n.gone, n.a))),
                    ("transform_between, to StaleNode", |h, n| done(h.transform_between(n.a, n.gone))),
                    ("transform_aabb StaleNode", |h, n| done(h.transform_aabb(n.gone, Vec3::ZERO, Vec3::ONE))),
                    ("world_previous StaleNode", |h, n| done(h.world_previous(n.gone))),
                    ("world_previous NotTracked", |h, n| done(h.world_previous(n.a))),
                    ("world_interpolated StaleNode", |h, n| done(h.world_interpolated(n.gone, 0.5))),
                    ("world_interpolated NotTracked", |h, n| done(h.world_interpolated(n.a, 0.5))),
                    ("inherit StaleNode", |h, n| done(h.inherit(n.gone))),
                    ("world_inverse StaleNode", |h, n| done(h.world_inverse(n.gone))),
                    ("world_inverse SingularParent", |h, n| done(h.world_inverse(n.flat))),
                    ("parent StaleNode", |h, n| done(h.parent(n.gone))),
                    ("first_child StaleNode", |h, n| done(h.first_child(n.gone))),
                    ("last_child StaleNode", |h, n| done(h.last_child(n.gone))),
                    ("next_sibling StaleNode", |h, n| done(h.next_sibling(n.gone))),
                    ("prev_sibling StaleNode", |h, n| done(h.prev_sibling(n.gone))),
                    ("next_in_subtree, root StaleNode", |h, n| done(h.next_in_subtree(n.gone, n.a))),
                    ("next_in_subtree, at StaleNode", |h, n| done(h.next_in_subtree(n.a, n.gone))),
                    ("depth StaleNode", |h, n| done(h.depth(n.gone))),
                    ("root_of StaleNode", |h, n| done(h.root_of(n.gone))),
                    ("is_ancestor_of, a StaleNode", |h, n| done(h.is_ancestor_of(n.gone, n.a))),
                    ("is_ancestor_of, b StaleNode", |h, n| done(h.is_ancestor_of(n.a, n.gone))),
                    ("common_ancestor, a StaleNode", |h, n| done(h.common_ancestor(n.gone, n.a))),
                    ("common_ancestor, b StaleNode", |h, n| done(h.common_ancestor(n.a, n.gone))),
                    ("child_count StaleNode", |h, n| done(h.child_count(n.gone))),
                    ("nth_child StaleNode", |h, n| done(h.nth_child(n.gone, 0))),
                    ("sibling_index StaleNode", |h, n| done(h.sibling_index(n.gone))),
                    ("children StaleNode", |h, n| done(h.children(n.gone))),
                    ("siblings StaleNode", |h, n| done(h.siblings(n.gone))),
                    ("ancestors StaleNode", |h, n| done(h.ancestors(n.gone))),
                    ("descendants StaleNode", |h, n| done(h.descendants(n.gone))),
                    ("subtree StaleNode", |h, n| done(h.subtree(n.gone))),
                    ("post_order StaleNode", |h, n| done(h.post_order(n.gone))),
                    ("breadth_first StaleNode", |h, n| done(h.breadth_first(n.gone))),
                    ("leaves StaleNode", |h, n| done(h.leaves(n.gone))),
                ]);
            }

            /// Two violations each: the one that is checked first is told.
            #[test]
            fn order_of_checks() {
                check(&[
                    ("stale before numbers: StaleNode", |h, n| done(h.add_child(n.gone, OFF))),
                    ("stale before rotation: StaleNode", |h, n| done(h.insert_before(n.gone, TURNED))),
                    ("stale before index: StaleNode", |h, n| done(h.insert_child_at(n.gone, 9, VALUE))),
                    ("stale before length: StaleNode", |h, n| done(h.extend(n.gone, &[], &[VALUE]))),
                    ("stale before cycle: StaleNode", |h, n| done(h.reparent(n.gone, n.gone, Keep::Local))),
                    ("stale before index, move: StaleNode", |h, n| done(h.move_to_index(n.gone, 99))),
                    ("parent stale before index: StaleNode", |h, n| done(h.reparent_at(n.a, n.gone, 9, Keep::World))),
                    ("stale before numbers, local: StaleNode", |h, n| done(h.set_local_matrix(n.gone, not_finite()))),
                    ("stale before numbers, world: StaleNode", |h, n| done(h.set_world_position(n.gone, NAN))),
                    ("numbers before index: NonFinite", |h, n| done(h.insert_child_at(n.top, 9, OFF))),
                    ("rotation before index: NotRotation", |h, n| done(h.insert_child_at(n.top, 9, TURNED))),
                    ("numbers before entries: NonFinite", |h, _| done(h.extend(None, &[Some(9)], &[OFF]))),
                    ("entries before their cycle: OutOfRange", |h, _| {
                        done(h.extend(None, &[Some(0), Some(9)], &[VALUE; 2]))
                    }),
                    ("index before cycle: OutOfRange", |h, n| done(h.reparent_at(n.top, n.lowest, 9, Keep::World))),
                    ("index before singular: OutOfRange", |h, n| done(h.reparent_at(n.top, n.flat, 9, Keep::World))),
                    ("cycle before singular: Cycle", |h, n| done(h.reparent(n.flat, n.under_flat, Keep::World))),
                    ("numbers before singular: NonFinite", |h, n| done(h.set_world(n.under_flat, not_finite()))),
                    ("numbers before singular, position: NonFinite", |h, n| {
                        done(h.set_world_position(n.under_flat, NAN))
                    }),
                    ("rotation before singular: NotRotation", |h, n| done(h.set_world_transform(n.under_flat, TURNED))),
                    ("stale before parent, clone: StaleNode", |h, n| done(h.clone_subtree(n.gone, n.gone))),
                    ("singular before result: SingularParent", |h, n| {
                        done(h.reparent(n.slanted, n.flat, Keep::WorldTrs))
                    }),
                ]);
            }
        }
    };
}

doors!(matrices, Hierarchy, Matrices);
doors!(components, ComponentHierarchy, Components);

/// Shear is what only matrices can hold, so each kind refuses it elsewhere.
#[test]
fn shear_where_it_cannot_be_held() {
    matrices::check(&[
        ("reparent NotTrs", |h, n| done(h.reparent(n.slanted, None, Keep::WorldTrs))),
        ("reparent_at NotTrs", |h, n| done(h.reparent_at(n.slanted, n.top, 0, Keep::WorldTrs))),
        ("detach NotTrs", |h, n| done(h.detach(n.slanted, Keep::WorldTrs))),
        ("detach_children NotTrs", |h, n| done(h.detach_children(n.wide, Keep::WorldTrs))),
        ("remove_and_promote NotTrs", |h, n| done(h.remove_and_promote(n.wide, Keep::WorldTrs))),
        ("flatten NonFinite", |h, n| done(h.flatten(n.huge, Keep::World))),
        ("flatten NotTrs", |h, n| done(h.flatten(n.top, Keep::WorldTrs))),
    ]);
    components::check(&[
        ("flatten, overflow SingularParent", |h, n| done(h.flatten(n.huge, Keep::World))),
        ("flatten SingularParent", |h, n| done(h.flatten(n.flat_group, Keep::World))),
        ("set_local_matrix NotTrs", |h, n| done(h.set_local_matrix(n.a, shear()))),
        ("set_world NotTrs", |h, n| done(h.set_world(n.a, shear()))),
    ]);
    let (mut h, n) = matrices::scene();
    h.set_local_matrix(n.a, shear()).unwrap();
    let before = matrices::snapshot(&h);
    assert!(matches!(h.local(n.a), Err(posetree::LocalError::NotTrs(e)) if e.node == n.a && e.residual == 1.0));
    assert_eq!(matrices::snapshot(&h), before);
}

/// What was a child before is not solved for, but with `WorldTrs` is to be position, rotation and scale too.
#[test]
fn flatten_leaves_children_as_they_are_or_refuses_them() {
    let (mut h, n) = matrices::scene();
    h.set_local_matrix(n.a, shear()).unwrap();
    let before = matrices::snapshot(&h);
    let refused = h.flatten(n.top, Keep::WorldTrs);
    assert!(matches!(refused, Err(posetree::ReparentError::NotTrs(e)) if e.node == n.a), "{refused:?}");
    assert_eq!(matrices::snapshot(&h), before);
    h.flatten(n.top, Keep::World).unwrap();
    assert_eq!(h.local_matrix(n.a), Ok(shear()));
    assert!(h.children(n.top).unwrap().eq([n.a, n.below, n.lowest, n.b]));

    // Where nothing moves, a flat parent is in nobody's way.
    let (mut h, n) = components::scene();
    let before = components::snapshot(&h);
    h.flatten(n.flat, Keep::WorldTrs).unwrap();
    h.flatten(n.under_flat, Keep::World).unwrap();
    assert_eq!(components::snapshot(&h), before);
    // With matrices, neither is one under which something moves: it needs no inverse.
    let (mut h, n) = matrices::scene();
    let worlds =
        |h: &Hierarchy| -> Vec<_> { h.subtree(n.flat_group).unwrap().map(|id| h.world(id).unwrap()).collect() };
    let before = worlds(&h);
    h.flatten(n.flat_group, Keep::World).unwrap();
    for (now, then) in worlds(&h).iter().zip(before) {
        assert!(now.abs_diff_eq(then, 4.0 * f32::EPSILON), "{now} is not {then}");
    }
}

/// The last child is refused after the first would have moved: all or none.
#[test]
fn a_door_of_many_children_moves_all_or_none() {
    let doors: [(&str, matrices::Call); 2] = [
        ("detach_children", |h, n| done(h.detach_children(n.wide, Keep::WorldTrs))),
        ("remove_and_promote", |h, n| done(h.remove_and_promote(n.wide, Keep::WorldTrs))),
    ];
    for (name, call) in doors {
        let (mut h, nodes) = matrices::scene();
        h.insert_before(nodes.slanted, VALUE).unwrap();
        let before = matrices::snapshot(&h);
        assert!(matches!(call(&mut h, nodes), Err(Error::NotTrs(e)) if e.node == nodes.slanted), "{name}");
        assert_eq!(matrices::snapshot(&h), before, "{name}");
    }
}
