//! Reads the node hierarchy of a glTF 2.0 file, `.gltf` or `.glb`.
//!
//! Only `asset`, `scene`, `scenes` and `nodes` are looked at, so that a file loads without its buffers
//! and images, and whatever extensions its meshes and materials use.

use gltf::json::Node;
use posetree::glam::{Affine3A, Mat4, Quat, Vec3, Vec4};
use posetree::{ExtendError, Hierarchy, InsertError, NodeId, Transform};
use serde_json::Value;

/// The nodes of a file, by their index in it.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) names: Vec<Option<String>>,
    pub(crate) parents: Vec<Option<usize>>,
    pub(crate) locals: Vec<Local>,
    /// Lists of siblings in the file's order: of the roots, and of the children of each node.
    siblings: Vec<Vec<usize>>,
}

/// A local value as a file writes it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Local {
    Trs(Transform),
    Matrix(Affine3A),
}

impl Scene {
    /// Reads a file's bytes. The error is one line that says what is wrong, and with which node.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let mut document = document(bytes)?;
        match document["asset"]["version"].as_str() {
            Some(version) if version.starts_with("2.") => {}
            Some(version) => return Err(format!("it is of glTF version {version:?}; only 2.x can be read")),
            None => return Err("it is not glTF: asset.version is missing".into()),
        }
        let nodes = match document["nodes"].take() {
            Value::Null => Vec::new(),
            Value::Array(nodes) => nodes,
            _ => return Err("it is not glTF: nodes is not a list".into()),
        };

        let (mut names, mut locals, mut children) = (Vec::new(), Vec::new(), Vec::new());
        for (index, node) in nodes.into_iter().enumerate() {
            let node: Node = serde_json::from_value(node).map_err(|error| format!("node #{index}: {error}"))?;
            locals.push(local(&node).map_err(|error| format!("{}: {error}", label(index, node.name.as_deref())))?);
            let list = node.children.unwrap_or_default();
            children.push(list.iter().map(|child| child.value()).collect::<Vec<_>>());
            names.push(node.name);
        }

        let mut scene = Self { parents: vec![None; names.len()], names, locals, siblings: Vec::new() };
        for (parent, list) in children.iter().enumerate() {
            for &child in list {
                scene.adopt(parent, child)?;
            }
        }
        scene.siblings = children;
        let roots = scene.roots(&document);
        scene.siblings.push(roots);
        Ok(scene)
    }

    fn adopt(&mut self, parent: usize, child: usize) -> Result<(), String> {
        let Some(&known) = self.parents.get(child) else {
            return Err(format!("{} has child #{child}, but the list of nodes ends before it", self.label(parent)));
        };
        match known {
            Some(other) if other == parent => {
                Err(format!("{} has {} twice in its children", self.label(parent), self.label(child)))
            }
            Some(other) => {
                Err(format!("{} has two parents, {} and {}", self.label(child), self.label(other), self.label(parent)))
            }
            None => {
                self.parents[child] = Some(parent);
                Ok(())
            }
        }
    }

    /// The roots: those of the default scene first, in its order, then those that it does not show.
    fn roots(&self, document: &Value) -> Vec<usize> {
        let index = document["scene"].as_u64().unwrap_or(0) as usize;
        let shown = document["scenes"][index]["nodes"].as_array().map_or(&[][..], Vec::as_slice);
        let shown = shown.iter().filter_map(|node| Some(node.as_u64()? as usize));
        let mut listed = vec![false; self.len()];
        shown
            .chain(0..self.len())
            .filter(|&node| {
                // Lists of a broken file may name a node twice, or one that is no root or does not exist.
                self.parents.get(node) == Some(&None) && !std::mem::replace(&mut listed[node], true)
            })
            .collect()
    }

    /// Builds the hierarchy; the node of index `i` has the id `ids[i]`.
    pub(crate) fn hierarchy(&self) -> Result<(Hierarchy, Vec<NodeId>), String> {
        let mut hierarchy = Hierarchy::with_capacity(self.len());
        let locals: Vec<Transform> = self
            .locals
            .iter()
            .map(|local| match local {
                Local::Trs(transform) => *transform,
                Local::Matrix(_) => Transform::IDENTITY,
            })
            .collect();
        let ids = hierarchy.extend(None, &self.parents, &locals).map_err(|error| self.refusal(error))?;
        for (index, &id) in ids.iter().enumerate() {
            if let Local::Matrix(matrix) = self.locals[index] {
                hierarchy.set_local_matrix(id, matrix).map_err(|error| format!("{}: {error}", self.label(index)))?;
            }
        }
        // `extend` orders siblings by index; the file's own order is that of its lists.
        for list in &self.siblings {
            for pair in list.windows(2) {
                hierarchy.move_after(ids[pair[1]], ids[pair[0]]).map_err(|error| error.to_string())?;
            }
        }
        Ok((hierarchy, ids))
    }

    /// Which node it is that `extend` refused, and why.
    fn refusal(&self, error: ExtendError) -> String {
        if let InsertError::ParentsCycle(cycle) = error.cause {
            // The entry may be below the cycle; as many steps up as there are nodes end on it.
            let on_cycle = (0..self.len()).try_fold(cycle.index, |at, _| self.parents[at]).unwrap_or(cycle.index);
            return format!("{} is its own ancestor", self.label(on_cycle));
        }
        match error.index {
            Some(index) => format!("{}: {}", self.label(index), error.cause),
            None => error.to_string(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.parents.len()
    }

    /// How messages call a node: its index in the file, and its name if it has one.
    pub(crate) fn label(&self, index: usize) -> String {
        label(index, self.names[index].as_deref())
    }
}

fn label(index: usize, name: Option<&str>) -> String {
    // A name is the file's, and may hold line ends and worse: Debug escapes them.
    name.map_or_else(|| format!("#{index}"), |name| format!("#{index} {name:?}"))
}

/// The JSON document, of a text file or of a binary one.
fn document(bytes: &[u8]) -> Result<Value, String> {
    let json = if bytes.starts_with(b"glTF") { json_chunk(bytes)? } else { bytes };
    serde_json::from_slice(json).map_err(|error| format!("it is not glTF: {error}"))
}

/// The first chunk of a binary file. Those after it hold what is not looked at, of whatever kind they are.
fn json_chunk(bytes: &[u8]) -> Result<&[u8], String> {
    let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    match (word(4), word(12), bytes.get(16..20)) {
        (Some(2), Some(length), Some(b"JSON")) => {
            let rest = &bytes[20..];
            rest.get(..length as usize).ok_or_else(|| "it is cut off within its JSON chunk".into())
        }
        (Some(2), Some(_), Some(_)) => Err("it is not binary glTF: its first chunk is not JSON".into()),
        (Some(2), ..) | (None, ..) => Err("it is cut off within its header".into()),
        (Some(version), ..) => Err(format!("it is binary glTF of version {version}; only 2 can be read")),
    }
}

fn local(node: &Node) -> Result<Local, String> {
    let Some(matrix) = node.matrix else {
        return Ok(Local::Trs(Transform {
            position: node.translation.map_or(Vec3::ZERO, Vec3::from_array),
            rotation: node.rotation.map_or(Quat::IDENTITY, |rotation| Quat::from_array(rotation.0)),
            scale: node.scale.map_or(Vec3::ONE, Vec3::from_array),
        }));
    };
    if node.translation.is_some() || node.rotation.is_some() || node.scale.is_some() {
        return Err("it has a matrix besides translation, rotation or scale; glTF allows one or the other".into());
    }
    let matrix = Mat4::from_cols_array(&matrix);
    if matrix.row(3) != Vec4::W {
        return Err("its matrix is not affine; the last row must be 0 0 0 1".into());
    }
    Ok(Local::Matrix(Affine3A::from_mat4(matrix)))
}
