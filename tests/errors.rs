//! What an error says and is, and the traits that callers count on.

use core::error::Error as StdError;
use core::fmt::{Debug, Display};
use core::hash::Hash;

use glam::{Affine3A, Mat3, Quat, Vec3};
use posetree::*;

const fn shared<T: Send + Sync + 'static>() {}
const fn copied<T: Copy + Debug + PartialEq>() {}
const fn cloned<T: Clone + Debug>() {}
const fn error<T: StdError + Display + Copy + Debug + PartialEq + Send + Sync + 'static>() {}
const fn key<T: Copy + Eq + Ord + Hash + Debug>() {}
const fn walk<T: Clone + Debug + Send + Sync + core::iter::FusedIterator<Item = NodeId>>() {}
const fn both_ends<T: DoubleEndedIterator>() {}

const _: () = {
    shared::<Hierarchy>();
    shared::<ComponentHierarchy>();
    cloned::<Hierarchy>();
    cloned::<ComponentHierarchy>();
    shared::<NodeId>();
    key::<NodeId>();
    key::<Option<NodeId>>();
    shared::<Transform>();
    copied::<Transform>();
    copied::<Decomposed>();
    copied::<Keep>();
    copied::<Matrices>();
    copied::<Components>();
    // A view goes to as many threads as there are.
    shared::<Worlds<'static>>();
    cloned::<Worlds<'static, Components>>();
    walk::<Roots<'static>>();
    walk::<Children<'static>>();
    walk::<Siblings<'static>>();
    walk::<Ancestors<'static>>();
    walk::<Descendants<'static>>();
    walk::<SubtreeNodes<'static>>();
    walk::<Leaves<'static>>();
    walk::<PostOrder<'static>>();
    walk::<BreadthFirst<'static>>();
    both_ends::<Roots<'static>>();
    both_ends::<Children<'static>>();
    error::<Error>();
    error::<InsertError>();
    error::<ExtendError>();
    error::<ReparentError>();
    error::<LocalError>();
    error::<WorldError>();
    error::<TransformError>();
    error::<StaleNode>();
    error::<NonFinite>();
    error::<NotRotation>();
    error::<Cycle>();
    error::<SingularParent>();
    error::<NotTrs>();
    error::<OutOfRange>();
    error::<Degenerate>();
    error::<NotSibling>();
    error::<ParentsCycle>();
    error::<LengthMismatch>();
    error::<NotReserved>();
    error::<RestoreError>();
    shared::<Subtree>();
    cloned::<Subtree<Components>>();
    shared::<SubtreeRefused>();
    cloned::<SubtreeRefused<Components>>();
    shared::<NodeMap<Transform>>();
    cloned::<NodeMap<Transform>>();
};

/// One error of every cause, as the doors give them.
fn one_of_each() -> Vec<Error> {
    let mut h = Hierarchy::new();
    let top = h.add_root(Transform::IDENTITY).unwrap();
    let below = h.add_child(top, Transform::IDENTITY).unwrap();
    let flat = h.add_root(Transform::from_scale(Vec3::new(1.0, 0.0, 1.0))).unwrap();
    let gone = h.add_root(Transform::IDENTITY).unwrap();
    h.remove_subtree(gone).unwrap();
    let sheared = h.add_root(Transform::IDENTITY).unwrap();
    let shear = Affine3A::from_mat3(Mat3::from_cols(Vec3::X, Vec3::new(1.0, 1.0, 0.0), Vec3::Z));
    h.set_local_matrix(sheared, shear).unwrap();
    let (nan, long) = (Vec3::NAN, Quat::from_xyzw(0.0, 0.0, 0.0, 2.0));
    let value = Transform::IDENTITY;
    let taken = h.clone().take_subtree(top).unwrap();
    vec![
        h.restore(taken).unwrap_err().into(),
        h.set_position(gone, Vec3::X).unwrap_err().into(),
        h.set_position(top, nan).unwrap_err().into(),
        h.set_rotation(top, long).unwrap_err().into(),
        h.reparent(top, below, Keep::Local).unwrap_err().into(),
        h.reparent(below, flat, Keep::World).unwrap_err().into(),
        h.local(sheared).unwrap_err().into(),
        h.insert_child_at(top, 5, value).unwrap_err().into(),
        h.world_up(flat).unwrap_err().into(),
        h.move_before(below, flat).unwrap_err().into(),
        h.extend(None, &[Some(0)], &[value]).unwrap_err().into(),
        h.extend(None, &[], &[value]).unwrap_err().into(),
        value.with_scale(Vec3::ZERO).local_inverse().unwrap_err().into(),
        value.looking_to(Vec3::ZERO, Vec3::Y).unwrap_err().into(),
        Transform::try_from(shear).unwrap_err().into(),
        Transform::try_from(Affine3A::from_translation(nan)).unwrap_err().into(),
    ]
}

#[test]
fn a_message_is_lower_case_says_what_to_do_and_has_no_full_stop() {
    let errors = one_of_each();
    let kinds: std::collections::BTreeSet<String> =
        errors.iter().map(|e| format!("{e:?}").split_inclusive('(').take(2).collect()).collect();
    assert_eq!(kinds.len(), errors.len(), "one of each: {kinds:?}");
    for error in errors {
        let message = error.to_string();
        println!("{message}");
        let first = message.chars().next().unwrap();
        assert!(!first.is_uppercase() && !first.is_whitespace(), "{message}");
        assert!(!message.ends_with(['.', '!', ' ', '\n']), "{message}");
        assert!(!message.contains("  ") && !message.contains('\n'), "a line break left its mark: {message}");
        // What is wrong, then what to do about it.
        let (wrong, advice) = message.split_once("; ").unwrap_or_else(|| panic!("no advice: {message}"));
        assert!(wrong.len() > 10 && advice.len() > 10, "{message}");
    }
}

#[test]
fn an_error_names_the_nodes() {
    let mut h = Hierarchy::new();
    let top = h.add_root(Transform::IDENTITY).unwrap();
    let below = h.add_child(top, Transform::IDENTITY).unwrap();
    let cycle = h.reparent(top, below, Keep::World).unwrap_err();
    assert_eq!(cycle, ReparentError::Cycle(Cycle { node: top, parent: below }));
    assert!(cycle.to_string().contains("0v1") && cycle.to_string().contains("1v1"), "{cycle}");
    h.remove_subtree(below).unwrap();
    assert_eq!(h.local(below), Err(LocalError::StaleNode(StaleNode { node: below })));
}

#[test]
fn a_refused_entry_of_a_list_is_named() {
    let mut h = Hierarchy::new();
    let good = Transform::IDENTITY;
    let long = good.with_rotation(Quat::from_xyzw(0.0, 0.0, 0.0, 2.0));
    let gone = h.add_root(good).unwrap();
    let mut ids = vec![gone];
    h.remove_subtree(gone).unwrap();
    let mut refused = |parent, parents: &[Option<usize>], locals: &[Transform]| {
        let error = h.extend_into(parent, parents, locals, &mut ids).unwrap_err();
        assert_eq!((h.len(), ids.len()), (0, 1), "{error}");
        assert_eq!(Error::from(error), Error::from(InsertError::from(error)));
        (error.index, error.to_string())
    };
    let (index, text) = refused(None, &[None, None, Some(0)], &[good, long, long]);
    assert_eq!(
        (index, text),
        (Some(1), "entry 1: a quaternion of length 2 is not a rotation; normalize it first".into())
    );
    assert_eq!(refused(None, &[None, Some(0)], &[good, good.with_scale(Vec3::NAN)]).0, Some(1));
    assert_eq!(refused(None, &[None, None, Some(5)], &[good; 3]).0, Some(2));
    assert_eq!(refused(None, &[None, Some(2), Some(1)], &[good; 3]).0, Some(1));
    assert_eq!(refused(None, &[None], &[good; 3]).0, None);
    let (index, text) = refused(Some(gone), &[None], &[good]);
    assert!(index.is_none() && text.starts_with("node 0v1"), "{text}");
    h.extend_into(None, &[Some(1), None], &[good; 2], &mut ids).unwrap();
    assert!(ids[0] == gone && h.parent(ids[1]) == Ok(Some(ids[2])));
}

#[test]
fn an_id_prints_as_slot_and_generation() {
    let mut h = Hierarchy::new();
    let ids = [(); 4].map(|()| h.add_root(Transform::IDENTITY).unwrap());
    assert_eq!(format!("{:?} {:?}", ids[0], ids[3]), "0v1 3v1");
    h.remove_subtree(ids[3]).unwrap();
    let next = h.add_root(Transform::IDENTITY).unwrap();
    assert_eq!(format!("{next:?}"), "3v3");
}

/// A residual is a number, so that an error equals itself and tells something.
#[test]
fn a_local_value_that_overflows_misses_by_infinity() {
    let (tiny, huge) = (Transform::from_uniform_scale(1e-30), Transform::from_uniform_scale(1e30));
    let turned = tiny.with_rotation(Quat::from_rotation_x(0.5)).with_position(Vec3::ONE);
    let mut h = Hierarchy::new();
    let (parent, id) = (h.add_root(turned).unwrap(), h.add_root(huge).unwrap());
    let child = h.add_child(parent, Transform::IDENTITY).unwrap();
    let singular = SingularParent { parent, residual: f32::INFINITY };
    assert_eq!(h.reparent(id, parent, Keep::World), Err(singular.into()));
    assert_eq!(h.reparent(id, parent, Keep::WorldTrs), Err(singular.into()));
    assert_eq!(h.set_world_transform(child, huge), Err(singular.into()));
    assert_eq!(h.set_world_position(child, Vec3::splat(1e30)), Err(singular.into()));
    let mut h = ComponentHierarchy::new();
    let (parent, id) = (h.add_root(turned).unwrap(), h.add_root(huge).unwrap());
    let child = h.add_child(parent, Transform::IDENTITY).unwrap();
    assert_eq!(h.reparent(id, parent, Keep::World), Err(singular.into()));
    assert_eq!(h.set_world_position(child, Vec3::splat(1e30)), Err(singular.into()));
}
