//! Values and hierarchies in any format of serde's.

use crate::accumulate::geometry::Shared as _;
use crate::accumulate::{Geometry, MISFIT, Misfit, Own, larger};
use crate::topology::BadId;
use crate::{Components, Components2, DComponents, DComponents2, DMatrices, DMatrices2, Matrices, Matrices2};
use crate::{HierarchyOf, InsertError, Keep, NodeId, NodeMap, NonFinite, Space};
use alloc::{vec, vec::Vec};
use core::{fmt, marker::PhantomData};
use glam::{DQuat, DVec2, DVec3, Quat, Vec2, Vec3};
use serde::de::{DeserializeOwned, Error as _, MapAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq, SerializeStruct};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A struct as its fields, by way of a private one of the same name. With `or` a value, what is missing in
/// a format with field names is taken from that.
macro_rules! records {
    ($($(#[$meta:meta])* $type:ident { $($field:ident: $part:ty),+ } $(or $missing:expr)?;)+) => {$(
        const _: () = {
            #[derive(Serialize, Deserialize)]
            #[serde(deny_unknown_fields)]
            $(#[$meta])*
            struct $type {
                $($field: $part,)+
            }

            impl From<crate::$type> for $type {
                fn from(value: crate::$type) -> Self {
                    Self { $($field: value.$field),+ }
                }
            }

            $(impl Default for $type {
                fn default() -> Self {
                    $missing.into()
                }
            })?

            #[cfg_attr(docsrs, doc(cfg(feature = "serde")))]
            impl Serialize for crate::$type {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    $type::from(*self).serialize(serializer)
                }
            }

            #[cfg_attr(docsrs, doc(cfg(feature = "serde")))]
            impl<'de> Deserialize<'de> for crate::$type {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    let $type { $($field),+ } = Deserialize::deserialize(deserializer)?;
                    Ok(Self { $($field),+ })
                }
            }
        };
    )+};
}

records! {
    #[serde(default)]
    Inherit { position: bool, rotation: bool, scale: bool } or crate::Inherit::ALL;
    #[serde(default)]
    Transform { position: Vec3, rotation: Quat, scale: Vec3 } or crate::Transform::IDENTITY;
    Decomposed { transform: crate::Transform, shear: Vec3 };
    #[serde(default)]
    DTransform { position: DVec3, rotation: DQuat, scale: DVec3 } or crate::DTransform::IDENTITY;
    DDecomposed { transform: crate::DTransform, shear: DVec3 };
    #[serde(default)]
    Transform2 { position: Vec2, rotation: f32, scale: Vec2 } or crate::Transform2::IDENTITY;
    Decomposed2 { transform: crate::Transform2, shear: f32 };
    #[serde(default)]
    DTransform2 { position: DVec2, rotation: f64, scale: DVec2 } or crate::DTransform2::IDENTITY;
    DDecomposed2 { transform: crate::DTransform2, shear: f64 };
}

/// An enum by the names of its variants.
macro_rules! choices {
    ($($type:ident { $($variant:ident),+ })+) => {$(
        const _: () = {
            #[derive(Serialize, Deserialize)]
            enum Name {
                $($variant,)+
            }

            #[cfg_attr(docsrs, doc(cfg(feature = "serde")))]
            impl Serialize for $type {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    match self {
                        $(Self::$variant => Name::$variant,)+
                    }
                    .serialize(serializer)
                }
            }

            #[cfg_attr(docsrs, doc(cfg(feature = "serde")))]
            impl<'de> Deserialize<'de> for $type {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    Ok(match Name::deserialize(deserializer)? {
                        $(Name::$variant => Self::$variant,)+
                    })
                }
            }
        };
    )+};
}

choices! {
    Keep { Local, World, WorldTrs }
    Space { Local, Parent, World }
}

/// As `Debug` writes it, such as `"3v1"`, so that ids can be keys; in formats that are not for people as
/// slot and generation.
#[cfg_attr(docsrs, doc(cfg(feature = "serde")))]
impl Serialize for NodeId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(&format_args!("{self:?}"))
        } else {
            (self.slot(), self.generation()).serialize(serializer)
        }
    }
}

#[cfg_attr(docsrs, doc(cfg(feature = "serde")))]
impl<'de> Deserialize<'de> for NodeId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return deserializer.deserialize_str(Text);
        }
        let (slot, generation) = Deserialize::deserialize(deserializer)?;
        id(slot, generation).ok_or_else(|| D::Error::custom(format_args!("{slot}v{generation} is no node's id")))
    }
}

/// An id that a node can have: a free slot has an even generation, and no id must name that.
fn id(slot: u32, generation: u32) -> Option<NodeId> {
    NodeId::new(slot, generation).filter(|_| generation % 2 == 1)
}

struct Text;

impl Visitor<'_> for Text {
    type Value = NodeId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the id of a node, such as \"3v1\"")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<NodeId, E> {
        let parts =
            text.split_once('v').and_then(|(slot, generation)| Some((slot.parse().ok()?, generation.parse().ok()?)));
        let id = parts.and_then(|(slot, generation)| id(slot, generation));
        // One way to write each: no signs, no leading zeros.
        id.filter(|id| alloc::format!("{id:?}") == text)
            .ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
    }
}

/// As a map from ids to values, in the order of ids.
#[cfg_attr(docsrs, doc(cfg(feature = "serde")))]
impl<T: Serialize> Serialize for NodeMap<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut values = serializer.serialize_map(Some(self.len()))?;
        self.iter().try_for_each(|(id, value)| values.serialize_entry(&id, value))?;
        values.end()
    }
}

/// Ids of which two are in one slot are refused.
///
/// The map takes memory up to the highest slot that is named, however short the file. One that is not trusted
/// is read as another map, from which the hierarchy picks:
///
/// ```
/// use posetree::{Hierarchy, NodeId, NodeMap, Transform};
/// use std::collections::BTreeMap;
/// let mut h = Hierarchy::new();
/// let root = h.add_root(Transform::IDENTITY)?;
/// let file = r#"{ "0v1": "root", "4294967294v1": "far" }"#;
/// let names: BTreeMap<NodeId, String> = serde_json::from_str(file)?;
/// let names: NodeMap<String> = names.into_iter().filter(|&(id, _)| h.contains(id)).collect();
/// assert_eq!((names.len(), names[root].as_str()), (1, "root"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg_attr(docsrs, doc(cfg(feature = "serde")))]
impl<'de, T: Deserialize<'de>> Deserialize<'de> for NodeMap<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Values(PhantomData))
    }
}

struct Values<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Values<T> {
    type Value = NodeMap<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map from ids of nodes to values")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut entries: M) -> Result<NodeMap<T>, M::Error> {
        let mut map = NodeMap::new();
        while let Some((id, value)) = entries.next_entry()? {
            let known = map.len();
            map.insert(id, value);
            if map.len() == known {
                return Err(M::Error::custom(BadId::Twice { id }));
            }
        }
        Ok(map)
    }
}

/// What the format needs to know of a way to accumulate.
#[doc(hidden)]
#[allow(unnameable_types, reason = "a bound of public impls; sealed through Accumulate")]
pub trait Stored: Geometry<Transform: Serialize + DeserializeOwned, Affine: Serialize + DeserializeOwned> {
    /// What stands in the file, so that none is read as another.
    const KIND: &'static str;

    /// How far two matrices are apart: the worst column, in units of its largest element in `b`.
    fn apart(a: &Self::Affine, b: &Self::Affine) -> f64;
}

macro_rules! stored {
    ($($type:ident: $kind:literal, $dimensions:literal, $scalar:ty;)+) => {$(
        impl Stored for $type {
            const KIND: &'static str = $kind;

            fn apart(a: &Self::Affine, b: &Self::Affine) -> f64 {
                let (a, b) = (a.to_cols_array().map(f64::from), b.to_cols_array().map(f64::from));
                let mut worst = 0.0;
                for (a, b) in a.chunks($dimensions).zip(b.chunks($dimensions)) {
                    let off = a.iter().zip(b).fold(0.0, |off, (a, b)| larger(off, (a - b).abs()));
                    let size = b.iter().fold(f64::from(<$scalar>::MIN_POSITIVE), |size, b| size.max(b.abs()));
                    worst = larger(worst, off / size);
                }
                worst
            }
        }
    )+};
}

stored! {
    Matrices: "matrices", 3, f32;
    Components: "components", 3, f32;
    DMatrices: "matrices, f64", 3, f64;
    DComponents: "components, f64", 3, f64;
    Matrices2: "matrices, 2D", 2, f32;
    Components2: "components, 2D", 2, f32;
    DMatrices2: "matrices, 2D, f64", 2, f64;
    DComponents2: "components, 2D, f64", 2, f64;
}

const VERSION: u32 = 1;

/// Nodes with their ids, parents, order, local values, bit for bit, and what they inherit; worlds, versions and
/// previous poses are not written.
///
/// # The format, version 1
///
/// ```
/// let text = r#"{
///     "version": 1,
///     "kind": "matrices",
///     "nodes": [
///         { "id": "0v1", "local": { "position": [1, 2, 0], "rotation": [0, 0, 0, 1], "scale": [1, 1, 1] } },
///         { "id": "2v3", "parent": "0v1", "local": { "position": [0, 3, 0] } }
///     ],
///     "removed": ["1v1"]
/// }"#;
/// let h: posetree::Hierarchy = serde_json::from_str(text)?;
/// assert_eq!(h.to_string(), "0v1 (1.0, 2.0, 0.0) dirty\n└── 2v3 (1.0, 5.0, 0.0) dirty");
/// let again: posetree::Hierarchy = serde_json::from_str(&serde_json::to_string(&h)?)?;
/// assert_eq!(again.to_string(), h.to_string());
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// - `kind`: how poses accumulate. A file of one kind is not read as another.
/// - `nodes`: written depth first, read in any order. Siblings, and roots, are in the order in which they
///   are listed. A node that holds a matrix has it in `matrix`, column by column, and in `local` how it was
///   taken apart. Parts of `local` that are missing are those of the identity. Of a node that does not inherit
///   everything from its parent `inherit` says what it does: `{ "position": true, "rotation": true, "scale": false }`.
/// - `removed`: the last id of every slot that has no node, in the order in which slots are used again; so
///   an id that was ever valid never comes back, and new ones are the same before and after. A subtree that
///   was [taken out](HierarchyOf::take_subtree) counts as removed.
/// - Every slot is in one of the two lists, once, so that a short file cannot ask for much memory.
///
/// In formats that are not for people, ids are two numbers, and no field is left out. Numbers come back bit
/// for bit where the format keeps them; `serde_json` does with its feature `float_roundtrip`.
#[cfg_attr(docsrs, doc(cfg(feature = "serde")))]
impl<A: Stored> Serialize for HierarchyOf<A> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Hierarchy", 4)?;
        fields.serialize_field("version", &VERSION)?;
        fields.serialize_field("kind", A::KIND)?;
        fields.serialize_field("nodes", &Nodes(self))?;
        fields.serialize_field("removed", &self.spent_ids())?;
        fields.end()
    }
}

struct Nodes<'a, A: Stored>(&'a HierarchyOf<A>);

impl<A: Stored> Serialize for Nodes<'_, A> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut nodes = serializer.serialize_seq(Some(self.0.len()))?;
        for (id, parent, own, inherit) in self.0.records() {
            let matrix = own.matrix.map(|_| A::export(&own));
            nodes.serialize_element(&Node::<A> { id, parent, local: own.transform, matrix, inherit })?;
        }
        nodes.end()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound = "")]
struct Node<A: Stored> {
    id: NodeId,
    parent: Option<NodeId>,
    local: A::Transform,
    matrix: Option<A::Affine>,
    #[serde(default)]
    inherit: crate::Inherit,
}

impl<A: Stored> Serialize for Node<A> {
    /// Without what is none, where fields have names that a person reads.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let all = !serializer.is_human_readable();
        let (parent, matrix) = (all || self.parent.is_some(), all || self.matrix.is_some());
        let inherit = all || self.inherit != crate::Inherit::ALL;
        let optional = [parent, matrix, inherit].into_iter().filter(|&is_there| is_there).count();
        let mut fields = serializer.serialize_struct("Node", 2 + optional)?;
        fields.serialize_field("id", &self.id)?;
        if parent {
            fields.serialize_field("parent", &self.parent)?;
        }
        fields.serialize_field("local", &self.local)?;
        if matrix {
            fields.serialize_field("matrix", &self.matrix)?;
        }
        if inherit {
            fields.serialize_field("inherit", &self.inherit)?;
        }
        fields.end()
    }
}

/// Reads what was written, or what a person has written in its way. All nodes are dirty.
///
/// What does not make a hierarchy is refused, with an error that names the node: ids that come twice, parents
/// that are not listed, cycles, numbers that are not finite, quaternions that are no rotations, and what is said
/// of a matrix that it is not.
#[cfg_attr(docsrs, doc(cfg(feature = "serde")))]
impl<'de, A: Stored> Deserialize<'de> for HierarchyOf<A> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Hierarchy { nodes, removed, .. } = Hierarchy::<A>::deserialize(deserializer)?;
        put_together(&nodes, &removed).map_err(D::Error::custom)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound = "")]
struct Hierarchy<A: Stored> {
    #[serde(rename = "version")]
    _version: Version,
    #[serde(rename = "kind")]
    _kind: Kind<A>,
    nodes: Vec<Node<A>>,
    removed: Vec<NodeId>,
}

/// Comes first, so that a later format is refused as what it is.
struct Version;

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u32::deserialize(deserializer)? {
            VERSION => Ok(Self),
            other => Err(D::Error::custom(format_args!("this reads version {VERSION} of the format, not {other}"))),
        }
    }
}

struct Kind<A>(PhantomData<A>);

impl<'de, A: Stored> Deserialize<'de> for Kind<A> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Self(PhantomData))
    }
}

impl<A: Stored> Visitor<'_> for Kind<A> {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", A::KIND)
    }

    fn visit_str<E: serde::de::Error>(self, kind: &str) -> Result<Self, E> {
        if kind == A::KIND { Ok(self) } else { Err(E::invalid_value(serde::de::Unexpected::Str(kind), &self)) }
    }
}

/// Why what was read makes no hierarchy.
#[derive(Debug, PartialEq, thiserror::Error)]
enum Refused {
    #[error(transparent)]
    Id(#[from] BadId),
    #[error("{node:?} hangs under {parent:?}, which is not listed")]
    Parent { node: NodeId, parent: NodeId },
    #[error("{node:?} is its own ancestor, or below one that is")]
    Cycle { node: NodeId },
    #[error("{node:?} cannot hold its local value: {cause}")]
    Local { node: NodeId, cause: InsertError },
    #[error("{node:?} holds a matrix, which a hierarchy of {kind} does not")]
    NoMatrices { node: NodeId, kind: &'static str },
    #[error("position, rotation and scale of {node:?} are not those of its matrix")]
    OtherMatrix { node: NodeId },
}

fn put_together<A: Stored>(nodes: &[Node<A>], removed: &[NodeId]) -> Result<HierarchyOf<A>, Refused> {
    let ids: Vec<NodeId> = nodes.iter().map(|node| node.id).collect();
    let mut h = HierarchyOf::handing_out(&ids, removed)?;
    // By slot; all ids are below this, and all are different, or they were not handed out.
    let mut entries = vec![usize::MAX; ids.len() + removed.len()];
    for (entry, id) in ids.iter().enumerate() {
        entries[id.slot() as usize] = entry;
    }
    let mut parents = Vec::with_capacity(nodes.len());
    for &Node { id, parent, .. } in nodes {
        let entry = parent.map(|parent| {
            let entry = entries.get(parent.slot() as usize).copied();
            entry.filter(|&entry| ids.get(entry) == Some(&parent)).ok_or(Refused::Parent { node: id, parent })
        });
        parents.push(entry.transpose()?);
    }
    let mut locals: Vec<_> = nodes.iter().map(|node| node.local).collect();
    h.extend(None, &parents, &locals).map_err(|error| {
        let node = ids[error.index.unwrap_or_default()];
        match error.cause {
            InsertError::ParentsCycle(_) => Refused::Cycle { node },
            cause => Refused::Local { node, cause },
        }
    })?;
    for (node, local) in nodes.iter().zip(&mut locals) {
        if let Some(matrix) = &node.matrix {
            A::admit::<InsertError>(local).map_err(|cause| Refused::Local { node: node.id, cause })?;
            h.restore_own(node.id, &own_of(node.id, local, matrix)?);
        }
        h.restore_inherit(node.id, node.inherit);
    }
    Ok(h)
}

/// The own value of a node that holds a matrix. What is written of how it was taken apart is kept, for a
/// matrix alone does not always tell; but it must be true.
fn own_of<A: Stored>(node: NodeId, local: &A::Transform, matrix: &A::Affine) -> Result<Own<A>, Refused> {
    let given = Own::trs(*local);
    let apart = match A::import(matrix, &given) {
        Ok(apart) if apart.matrix.is_some() => apart,
        Err(Misfit::NonFinite) => return Err(Refused::Local { node, cause: NonFinite.into() }),
        _ => return Err(Refused::NoMatrices { node, kind: A::KIND }),
    };
    let own = Own { transform: *local, ..apart };
    // Setting the rotation that is there multiplies the parts. What comes out is compared with what comes
    // out of the matrix taken apart here, not with the matrix: a column longer than any scale is not its
    // parts, whoever takes it apart, and may even overflow.
    let multiplied = |own: &Own<A>| A::with_rotation(own, A::Shared::rotation(&own.transform));
    let (given, anew) = (multiplied(&own), multiplied(&apart));
    let overflow = !A::is_finite(&given.local()) && !A::is_finite(&anew.local());
    let is_close = overflow || A::apart(&A::export(&given), &A::export(&anew)) <= MISFIT;
    let same_place = A::Shared::position(&own.transform) == A::Shared::position(&apart.transform);
    if same_place && is_close { Ok(own) } else { Err(Refused::OtherMatrix { node }) }
}

#[cfg(test)]
mod tests;
