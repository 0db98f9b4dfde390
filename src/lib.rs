//! A transform hierarchy.
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;

mod accumulate;
mod error;
mod hierarchy;
mod node_id;
mod topology;
mod transform;

pub use accumulate::{Accumulate, Components, Geometry, Matrices};
pub use error::{
    Cycle, Degenerate, Error, InsertError, LengthMismatch, LocalError, NonFinite, NotRotation, NotSibling, NotTrs,
    OutOfRange, ParentsCycle, ReparentError, SingularParent, StaleNode, TransformError, WorldError,
};
pub use glam;
pub use hierarchy::{
    Ancestors, BreadthFirst, Children, ComponentHierarchy, Descendants, Hierarchy, HierarchyOf, Keep, Leaves,
    PostOrder, Roots, Siblings, Space, Subtree, Worlds,
};
pub use node_id::NodeId;
pub use transform::{Decomposed, Transform, decompose, decompose_with_hint};
