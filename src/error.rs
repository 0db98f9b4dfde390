//! What can go wrong: one type per cause, and one enum per family of operations.
//!
//! Every operation that returns one of these left the hierarchy as it was, bit for bit.

use crate::NodeId;
use thiserror::Error;

/// The id names no node of this hierarchy: the node was removed, or the id is another hierarchy's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("node {node:?} is not in this hierarchy; drop ids of nodes that were removed, or restore what was taken out")]
pub struct StaleNode {
    /// The id that was passed in.
    pub node: NodeId,
}

/// An argument holds an infinity or NaN, or would store one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a number is infinite or NaN; pass finite numbers")]
pub struct NonFinite;

/// A quaternion is not a rotation. In two dimensions any finite angle is one.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error("a quaternion of length {length} is not a rotation; normalize it first")]
pub struct NotRotation {
    /// Its length, which should be one and was off by more than 1 %.
    pub length: f32,
}

/// The new parent is the node itself or one of its descendants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{parent:?} is {node:?} or below it and cannot become its parent; move {parent:?} out first")]
pub struct Cycle {
    /// The node that was to move.
    pub node: NodeId,
    /// The parent it was to get.
    pub parent: NodeId,
}

/// A node cannot be inverted, so that no local value under it gives the wanted world pose, or no point of the world
/// one in it.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error(
    "{parent:?} is flat, nearly so or too large, and nothing under it gives what is wanted in the world \
     (a column would be off by {residual:e} of its size); scale it back, or keep to local values"
)]
pub struct SingularParent {
    /// The node that cannot be inverted: a parent under which a pose was wanted, or the node asked for an inverse.
    pub parent: NodeId,
    /// How far the best answer misses, in units of the worst column's largest element.
    /// Infinite where a scale above is exactly zero, or the answer would overflow.
    pub residual: f32,
}

/// Position, rotation and scale cannot hold the matrix that a node has or would get, because it shears.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error(
    "{node:?} has or would get a matrix that position, rotation and scale cannot hold \
     (a column would be off by {residual:e} of its size); ask for a matrix, or leave the shear out"
)]
pub struct NotTrs {
    /// The node.
    pub node: NodeId,
    /// What would be lost, in units of the worst column's largest element.
    pub residual: f32,
}

/// An index is larger than the list it points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("index {index} is out of range; the largest allowed here is {max}")]
pub struct OutOfRange {
    /// The index that was passed in.
    pub index: usize,
    /// The largest index that would have been accepted.
    pub max: usize,
}

/// The arguments do not determine an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "the arguments leave the answer open; give directions, axes and distances that are not zero, and an up off the view"
)]
pub struct Degenerate;

/// The sibling given as a place is not a sibling of the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{sibling:?} is not a sibling of {node:?}; reparent first, or name a child of the same parent")]
pub struct NotSibling {
    /// The node that was to move.
    pub node: NodeId,
    /// The node that was given as its place.
    pub sibling: NodeId,
}

/// Parents given by index form a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the parents of entry {index} lead back to it, or to a cycle; give parents that lead to None")]
pub struct ParentsCycle {
    /// An entry that is its own ancestor, or is below one.
    pub index: usize,
}

/// The lists given together differ in length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("lists of {left} and {right} entries were given together; make them equally long")]
pub struct LengthMismatch {
    /// Length of the first list.
    pub left: usize,
    /// Length of the second list.
    pub right: usize,
}

/// Previous world poses are off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("previous world poses are off; call track_previous(true) first")]
pub struct NotTracked;

/// The ids of a taken subtree are not reserved here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "the subtree of {node:?} is not reserved in this hierarchy; \
     restore or discard it once, where it was taken out"
)]
pub struct NotReserved {
    /// The top node of the subtree.
    pub node: NodeId,
}

macro_rules! families {
    ($($(#[$meta:meta])* $name:ident { $($cause:ident),+ $(,)? })+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Error)]
        #[non_exhaustive]
        pub enum $name {
            $(
                #[doc = concat!("See [`", stringify!($cause), "`].")]
                #[error(transparent)]
                $cause(#[from] $cause),
            )+
        }

        impl From<$name> for Error {
            fn from(error: $name) -> Self {
                match error {
                    $($name::$cause(cause) => cause.into(),)+
                }
            }
        }
    )+};
}

/// Any refusal of this crate, for code that mixes operations under one `?`.
///
/// ```
/// use posetree::{Error, Hierarchy, Keep, NodeId, Transform};
/// fn arm(h: &mut Hierarchy) -> Result<NodeId, Error> {
///     let shoulder = h.add_root(Transform::IDENTITY)?;
///     let hand = h.add_child(shoulder, Transform::IDENTITY)?;
///     h.reparent(hand, None, Keep::World)?;
///     Ok(hand)
/// }
/// let mut h = Hierarchy::new();
/// let hand = arm(&mut h)?;
/// assert!(matches!(h.reparent(hand, Some(hand), Keep::Local).map_err(Error::from), Err(Error::Cycle(_))));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// See [`StaleNode`].
    #[error(transparent)]
    StaleNode(#[from] StaleNode),
    /// See [`NonFinite`].
    #[error(transparent)]
    NonFinite(#[from] NonFinite),
    /// See [`NotRotation`].
    #[error(transparent)]
    NotRotation(#[from] NotRotation),
    /// See [`Cycle`].
    #[error(transparent)]
    Cycle(#[from] Cycle),
    /// See [`SingularParent`].
    #[error(transparent)]
    SingularParent(#[from] SingularParent),
    /// See [`NotTrs`].
    #[error(transparent)]
    NotTrs(#[from] NotTrs),
    /// See [`OutOfRange`].
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// See [`Degenerate`].
    #[error(transparent)]
    Degenerate(#[from] Degenerate),
    /// See [`NotSibling`].
    #[error(transparent)]
    NotSibling(#[from] NotSibling),
    /// See [`ParentsCycle`].
    #[error(transparent)]
    ParentsCycle(#[from] ParentsCycle),
    /// See [`LengthMismatch`].
    #[error(transparent)]
    LengthMismatch(#[from] LengthMismatch),
    /// See [`NotTracked`].
    #[error(transparent)]
    NotTracked(#[from] NotTracked),
    /// See [`NotReserved`].
    #[error(transparent)]
    NotReserved(#[from] NotReserved),
    /// See [`TransformError`].
    #[error(transparent)]
    Transform(#[from] TransformError),
}

families! {
    /// Why an insertion was refused. Nothing changed.
    InsertError { StaleNode, NonFinite, NotRotation, OutOfRange, ParentsCycle, LengthMismatch }

    /// Why a node was not moved or promoted, or does not inherit other parts. Nothing changed.
    ReparentError { StaleNode, OutOfRange, NotSibling, Cycle, SingularParent, NotTrs, NonFinite }

    /// Why a taken subtree was not restored or discarded. Nothing changed.
    RestoreError { NotReserved, StaleNode, OutOfRange }

    /// Why a local value was not read or written. Nothing changed.
    LocalError { StaleNode, NonFinite, NotRotation, NotTrs }

    /// Why a world value was not read or written. Nothing changed.
    WorldError { StaleNode, NonFinite, NotRotation, SingularParent, NotTrs, Degenerate, LengthMismatch, NotTracked }
}

/// Why a list of entries was not [added](crate::HierarchyOf::extend), and which of them is at fault.
///
/// Turns into [`InsertError`] and [`enum@Error`] by `?`, which drops the index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExtendError {
    /// The entry at fault, or one of them; `None` where it is the parent of all or the lengths of the lists.
    pub index: Option<usize>,
    /// What is wrong with it.
    pub cause: InsertError,
}

impl core::fmt::Display for ExtendError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if let Some(index) = self.index {
            write!(f, "entry {index}: ")?;
        }
        self.cause.fmt(f)
    }
}

impl core::error::Error for ExtendError {}

impl From<StaleNode> for ExtendError {
    fn from(cause: StaleNode) -> Self {
        Self { index: None, cause: cause.into() }
    }
}

impl From<LengthMismatch> for ExtendError {
    fn from(cause: LengthMismatch) -> Self {
        Self { index: None, cause: cause.into() }
    }
}

impl From<ExtendError> for InsertError {
    fn from(error: ExtendError) -> Self {
        error.cause
    }
}

impl From<ExtendError> for Error {
    fn from(error: ExtendError) -> Self {
        error.cause.into()
    }
}

/// Why a list of local values was not [set](crate::HierarchyOf::set_locals), and which entry is at fault.
///
/// Turns into [`LocalError`] and [`enum@Error`] by `?`, which drops the index.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error("entry {index}: {cause}")]
pub struct SetLocalsError {
    /// The first entry with a stale id, or if there is none the first one at fault.
    pub index: usize,
    /// What is wrong with it.
    pub cause: LocalError,
}

impl From<SetLocalsError> for LocalError {
    fn from(error: SetLocalsError) -> Self {
        error.cause
    }
}

impl From<SetLocalsError> for Error {
    fn from(error: SetLocalsError) -> Self {
        error.cause.into()
    }
}

/// Why an operation on [`Transform`](crate::Transform) values was refused.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum TransformError {
    /// A scale component is zero, or so small that its reciprocal overflows.
    #[error("a scale component is zero or has no finite reciprocal, so there is no inverse; scale it back first")]
    Singular,
    /// An argument does not determine the answer, such as a target on the eye or an up along the view.
    #[error(
        "the arguments leave the rotation open; give directions and distances that are not zero, and an up off the view"
    )]
    Degenerate,
    /// The matrix shears, so that no position, rotation and scale can hold it.
    #[error(
        "position, rotation and scale cannot hold the matrix \
         (a column would be off by {residual:e} of its size); keep it as a matrix, or decompose it"
    )]
    NotTrs {
        /// Largest difference over the columns, in units of the column's largest element.
        residual: f32,
    },
    /// A number is infinite or NaN.
    #[error("a number is infinite or NaN; pass finite numbers")]
    NonFinite,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hierarchy, Keep, Transform};
    use alloc::{string::ToString, vec, vec::Vec};
    use glam::{Affine3A, Mat3, Quat, Vec3};

    /// A list of all causes, and which one an error has: by a match that does not compile until a new one is in both.
    macro_rules! causes {
        ($($name:literal: $cause:pat),+ $(,)?) => {
            const CAUSES: &[&str] = &[$($name),+];

            fn cause(error: &Error) -> &'static str {
                match error {
                    $($cause => $name,)+
                }
            }
        };
    }

    causes! {
        "stale node": Error::StaleNode(_),
        "non finite": Error::NonFinite(_),
        "not rotation": Error::NotRotation(_),
        "cycle": Error::Cycle(_),
        "singular parent": Error::SingularParent(_),
        "not trs": Error::NotTrs(_),
        "out of range": Error::OutOfRange(_),
        "degenerate": Error::Degenerate(_),
        "not sibling": Error::NotSibling(_),
        "parents cycle": Error::ParentsCycle(_),
        "length mismatch": Error::LengthMismatch(_),
        "not tracked": Error::NotTracked(_),
        "not reserved": Error::NotReserved(_),
        "singular transform": Error::Transform(TransformError::Singular),
        "degenerate transforms": Error::Transform(TransformError::Degenerate),
        "matrix that is no transform": Error::Transform(TransformError::NotTrs { .. }),
        "non finite transform": Error::Transform(TransformError::NonFinite),
    }

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
            h.world_previous(top).unwrap_err().into(),
            value.with_scale(Vec3::ZERO).local_inverse().unwrap_err().into(),
            value.looking_to(Vec3::ZERO, Vec3::Y).unwrap_err().into(),
            Transform::try_from(shear).unwrap_err().into(),
            Transform::try_from(Affine3A::from_translation(nan)).unwrap_err().into(),
        ]
    }

    #[test]
    fn a_message_is_lower_case_says_what_to_do_and_has_no_full_stop() {
        let errors = one_of_each();
        for wanted in CAUSES {
            assert_eq!(errors.iter().filter(|error| cause(error) == *wanted).count(), 1, "errors of {wanted}");
        }
        for error in errors {
            let message = error.to_string();
            let first = message.chars().next().unwrap();
            assert!(!first.is_uppercase() && !first.is_whitespace(), "{message}");
            assert!(!message.ends_with(['.', '!', ' ', '\n']), "{message}");
            assert!(!message.contains("  ") && !message.contains('\n'), "a line break left its mark: {message}");
            // What is wrong, then what to do about it.
            let (wrong, advice) = message.split_once("; ").unwrap_or_else(|| panic!("no advice: {message}"));
            assert!(wrong.len() > 10 && advice.len() > 10, "{message}");
        }
    }
}
