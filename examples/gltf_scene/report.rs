//! The printed report: the tree, and what each way of reparenting does to a node.

use crate::rounding::{self, Error, wide};
use crate::scene::{Local, Scene};
use posetree::glam::{Affine3A, DVec3, Vec3};
use posetree::{Hierarchy, Keep, NodeId, ReparentError, Transform};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

/// How `WorldTrs` rounds besides: position, rotation and scale hold a matrix if the worst column is off by at
/// most this much of its largest element, which rounding a rotation to a float32 quaternion explains.
const TRS_TOLERANCE: f64 = 16.0 * rounding::EPSILON;

/// Lines of deeper nodes are not indented any further: a chain of nodes would fill a screen with nothing.
const DEEPEST_INDENT: usize = 30;

/// A scene and its hierarchy, with the way back from ids to the file's indices.
pub(crate) struct Loaded {
    pub(crate) scene: Scene,
    pub(crate) hierarchy: Hierarchy,
    pub(crate) ids: Vec<NodeId>,
    index_of: HashMap<NodeId, usize>,
    /// All nodes with their depth, each parent before its children, siblings in order.
    walk: Vec<(NodeId, usize)>,
}

impl Loaded {
    pub(crate) fn new(scene: Scene) -> Result<Self, String> {
        let (hierarchy, ids) = scene.hierarchy()?;
        let index_of: HashMap<_, _> = ids.iter().copied().zip(0..).collect();
        let mut depths: HashMap<NodeId, usize> = HashMap::new();
        let mut walk = Vec::with_capacity(ids.len());
        for root in hierarchy.roots() {
            for id in hierarchy.subtree(root).map_err(said)? {
                let depth = hierarchy.parent(id).map_err(said)?.map_or(0, |parent| depths[&parent] + 1);
                depths.insert(id, depth);
                walk.push((id, depth));
            }
        }
        Ok(Self { scene, hierarchy, ids, index_of, walk })
    }

    pub(crate) fn label(&self, id: NodeId) -> String {
        self.scene.label(self.index_of[&id])
    }

    fn label_of_parent(&self, parent: Option<NodeId>) -> String {
        parent.map_or_else(|| "no parent".into(), |parent| self.label(parent))
    }

    /// A node and a new parent for it, for want of a better wish: far apart, so that much can go wrong.
    pub(crate) fn far_apart(&self) -> Option<(NodeId, Option<NodeId>)> {
        let deepest = |far: &dyn Fn(NodeId) -> bool| {
            let mut best: Option<(NodeId, usize)> = None;
            for &(id, depth) in self.walk.iter().filter(|(id, _)| far(*id)) {
                if best.is_none_or(|(_, deepest)| depth > deepest) {
                    best = Some((id, depth));
                }
            }
            best
        };
        let h = &self.hierarchy;
        let (child, depth) = deepest(&|_| true)?;
        // The deepest node has nothing below it.
        let above: HashSet<NodeId> = h.ancestors(child).ok()?.collect();
        let branch = deepest(&|id| id != child && !above.contains(&id));
        match branch {
            Some((parent, _)) => Some((child, Some(parent))),
            None => (depth > 0).then_some((child, None)),
        }
    }
}

fn said(error: impl ToString) -> String {
    error.to_string()
}

/// Prints the tree. Reads every world pose twice, lazily and after an update, and asserts equal bits.
pub(crate) fn tree(out: &mut String, loaded: &mut Loaded) -> Result<(), String> {
    let Loaded { scene, hierarchy, index_of, walk, .. } = loaded;
    let matrices = scene.locals.iter().filter(|local| matches!(local, Local::Matrix(_))).count();
    let deepest = walk.iter().map(|&(_, depth)| depth + 1).max().unwrap_or(0);
    line(
        out,
        format_args!(
            "{}, {} given as a matrix, {}, {}",
            count(scene.len(), "node"),
            matrices,
            count(hierarchy.roots().count(), "root"),
            count(deepest, "level")
        ),
    );

    // A lazy read costs O(depth); of a scene that is one long chain a sample will do.
    let steps: usize = walk.iter().map(|&(_, depth)| depth + 1).sum();
    let sample = 1 + steps / 1_000_000;
    let lazy = walk.iter().step_by(sample).map(|&(id, _)| hierarchy.world(id).map_err(said));
    let lazy = lazy.collect::<Result<Vec<_>, _>>()?;
    let worlds = hierarchy.update();
    for (&(id, _), lazy) in walk.iter().step_by(sample).zip(&lazy) {
        assert_eq!(bits(lazy), row_bits(&worlds[id]), "a world pose read lazily differs from its row");
    }

    let mut indents: Vec<&str> = Vec::new();
    for &(id, depth) in walk.iter() {
        let last = hierarchy.next_sibling(id).map_err(said)?.is_none();
        indents.truncate(depth.saturating_sub(1));
        let branch = match (depth, last) {
            (0, _) => "",
            (_, true) => "└─ ",
            (_, false) => "├─ ",
        };
        let shown = indents.len().min(DEEPEST_INDENT);
        let indent = indents[..shown].concat();
        let cut = if shown < indents.len() { format!("({depth}) ") } else { String::new() };
        let position = hierarchy.world_position(id).map_err(said)?;
        let marks = marks(hierarchy, id, &scene.locals[index_of[&id]])?;
        line(out, format_args!("{indent}{branch}{cut}{}  {}{marks}", scene.label(index_of[&id]), triple(position)));
        if depth > 0 {
            indents.push(if last { "   " } else { "│  " });
        }
    }
    Ok(())
}

/// What is special about a node's pose.
fn marks(h: &Hierarchy, id: NodeId, local: &Local) -> Result<String, String> {
    let mut marks = Vec::new();
    if matches!(local, Local::Matrix(_)) {
        marks.push(if h.is_trs(id).map_err(said)? { "matrix" } else { "matrix with shear" });
    }
    let world = h.world(id).map_err(said)?;
    if wide(&world).matrix3.determinant() < 0.0 {
        marks.push("mirrored");
    }
    if h.world_inverse(id).is_err() {
        marks.push("flat");
    } else if Transform::try_from(world).is_err() {
        marks.push("sheared");
    }
    Ok(if marks.is_empty() { String::new() } else { format!("  [{}]", marks.join(", ")) })
}

/// Reparents a node on a copy of the hierarchy for each [`Keep`], and prints how far it moved.
pub(crate) fn moves(
    out: &mut String,
    loaded: &Loaded,
    child: NodeId,
    new_parent: Option<NodeId>,
) -> Result<(), String> {
    let old_parent = loaded.hierarchy.parent(child).map_err(said)?;
    line(
        out,
        format_args!(
            "{} moves from {} to {}",
            loaded.label(child),
            loaded.label_of_parent(old_parent),
            loaded.label_of_parent(new_parent)
        ),
    );
    for keep in [Keep::Local, Keep::World, Keep::WorldTrs] {
        let mut h = loaded.hierarchy.clone();
        let index = h.sibling_index(child).map_err(said)?;
        line(out, format_args!("\nKeep::{keep:?}"));
        if !step(out, loaded, &mut h, child, (new_parent, None), keep)? {
            continue;
        }
        let kept = if h.is_trs(child).map_err(said)? { "position, rotation and scale" } else { "a matrix with shear" };
        line(out, format_args!("  the node holds {kept}; and back again:"));
        step(out, loaded, &mut h, child, (old_parent, Some(index)), keep)?;
        assert_eq!((h.parent(child), h.sibling_index(child)), (Ok(old_parent), Ok(index)));
        if keep == Keep::Local {
            let world = loaded.hierarchy.world(child).map_err(said)?;
            assert_eq!(bits(&h.world(child).map_err(said)?), bits(&world), "the way there and back changed the pose");
        }
    }
    Ok(())
}

/// Moves a node, prints and asserts what the way of moving promises. Whether the node moved.
fn step(
    out: &mut String,
    loaded: &Loaded,
    h: &mut Hierarchy,
    child: NodeId,
    (parent, index): (Option<NodeId>, Option<usize>),
    keep: Keep,
) -> Result<bool, String> {
    let world = h.world(child).map_err(said)?;
    let local = h.local_matrix(child).map_err(said)?;
    if !world.is_finite() {
        return Err(format!("the world pose of {} overflows float32", loaded.label(child)));
    }
    let common = parent.map_or(Ok(None), |parent| h.common_ancestor(child, parent)).map_err(said)?;
    let before = rounding::of_world(&rounding::chain(h, child, None).map_err(said)?);

    let moved = match index {
        None => h.reparent(child, parent, keep),
        Some(index) => h.reparent_at(child, parent, index, keep),
    };
    let refusal = match moved {
        Ok(_) => None,
        Err(ReparentError::Cycle(_)) => {
            let (child, parent) = (loaded.label(child), loaded.label_of_parent(parent));
            return Err(format!("{child} cannot go under {parent}, which is that node or below it"));
        }
        Err(ReparentError::SingularParent(flat)) => {
            let parent = loaded.label_of_parent(parent);
            Some(format!("{parent} is flat or nearly so; a column would be off by {:.1e} of its size", flat.residual))
        }
        Err(ReparentError::NotTrs(shear)) => {
            Some(format!("it would have to shear; a column would be off by {:.1e} of its size", shear.residual))
        }
        Err(other) => return Err(other.to_string()),
    };
    if let Some(refusal) = refusal {
        assert_eq!(bits(&h.world(child).map_err(said)?), bits(&world), "a refused move changed the world pose");
        assert_eq!(bits(&h.local_matrix(child).map_err(said)?), bits(&local), "a refused move changed the local value");
        line(out, format_args!("  refused, nothing changed: {refusal}"));
        return Ok(false);
    }

    let after = h.world(child).map_err(said)?;
    let change = rounding::difference(&wide(&after), &wide(&world));
    if keep == Keep::Local {
        assert_eq!(bits(&h.local_matrix(child).map_err(said)?), bits(&local), "the local value changed");
        line(out, format_args!("  the local value kept its bits; the world matrix moved by"));
    } else {
        let mut bound = before
            .plus(rounding::of_world(&rounding::chain(h, child, None).map_err(said)?))
            .plus(rounding::of_reparenting(h, child, common).map_err(said)?);
        if keep == Keep::WorldTrs {
            bound = bound.plus(of_trs(h, child)?);
        }
        assert!(bound.allows(change), "the world pose moved by {change:?}, more than {bound:?}");
        line(out, format_args!("  the world matrix moved by at most {}", number(change.largest())));
        line(out, format_args!("  (float32 explains {}); element by element", number(bound.largest())));
    }
    table(out, change);
    Ok(true)
}

/// How far a world pose may be off because position, rotation and scale hold it.
fn of_trs(h: &Hierarchy, id: NodeId) -> Result<Error, String> {
    let mut local = wide(&h.local_matrix(id).map_err(said)?);
    for column in [&mut local.matrix3.x_axis, &mut local.matrix3.y_axis, &mut local.matrix3.z_axis] {
        *column = DVec3::splat(TRS_TOLERANCE * column.abs().max_element());
    }
    local.translation = DVec3::ZERO;
    let parent = h.parent(id).map_err(said)?;
    let above = parent.map_or(Ok(Vec::new()), |parent| rounding::chain(h, parent, None)).map_err(said)?;
    Ok(Error(local).below(&rounding::product(&above)))
}

fn table(out: &mut String, change: Error) {
    let columns = change.elements();
    for row in 0..3 {
        let cells: Vec<String> = (0..4).map(|column| format!("{:>9}", number(columns[3 * column + row]))).collect();
        line(out, format_args!("    {}", cells.join(" ")));
    }
}

fn bits(m: &Affine3A) -> [u32; 12] {
    m.to_cols_array().map(f32::to_bits)
}

fn row_bits(row: &[[f32; 4]; 3]) -> [u32; 12] {
    std::array::from_fn(|i| row[i % 3][i / 3].to_bits())
}

fn triple(v: Vec3) -> String {
    let [x, y, z] = v.to_array().map(|x| number(x.into()));
    format!("({x}, {y}, {z})")
}

/// Four decimals where they say something, else an exponent.
fn number(x: f64) -> String {
    match x.abs() {
        0.0 => "0".into(),
        size if (1e-3..1e6).contains(&size) => {
            let text = format!("{x:.4}");
            text.trim_end_matches('0').trim_end_matches('.').into()
        }
        _ => format!("{x:.1e}"),
    }
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(out, "{text}");
}
