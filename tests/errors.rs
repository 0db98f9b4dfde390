//! What an error says and is, and the traits that callers count on. That each has advice is seen inside the crate,
//! where a list of causes can be seen to be whole.

use core::error::Error as StdError;
use core::fmt::{Debug, Display};
use core::hash::Hash;

use glam::{Quat, Vec3};
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
    error::<NotTracked>();
    error::<NotReserved>();
    error::<RestoreError>();
    shared::<Subtree>();
    cloned::<Subtree<Components>>();
    shared::<SubtreeRefused>();
    cloned::<SubtreeRefused<Components>>();
    shared::<NodeMap<Transform>>();
    cloned::<NodeMap<Transform>>();
};

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
