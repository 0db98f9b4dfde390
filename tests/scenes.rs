//! Real scenes: their world poses against float64, and every node moved to other parents and back.
//!
//! The scenes are not part of the crate. Where they are absent, each test says so and passes.

#[path = "common/bits.rs"]
mod bits;
#[path = "../examples/gltf_scene/rounding.rs"]
mod rounding;
#[path = "../examples/gltf_scene/scene.rs"]
mod scene;

use bits::bits_of;
use posetree::glam::{Affine3A, DAffine3, DMat3, DQuat, DVec3, Vec3};
use posetree::{
    ComponentHierarchy, DHierarchy, DTransform, Hierarchy, Keep, LocalError, NodeId, ReparentError, Transform,
};
use rounding::{EPSILON, Error, abs, chain, difference, product, wide};
use scene::{Local, Scene};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The unit roundoff of float32.
const U: f64 = EPSILON / 2.0;

/// A scene with the float64 world matrices that were computed apart from this crate.
struct Reference {
    name: String,
    scene: Scene,
    worlds: Vec<DAffine3>,
    /// `| |q|² - 1 |` of each rotation as the file has it.
    not_unit: Vec<f64>,
    /// The nodes as the file has them, in float64.
    nodes: Vec<Value>,
}

/// All scenes; `None`, with a notice, where there are none.
fn references(test: &str) -> Option<Vec<Reference>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/scenes");
    if !folder.is_dir() {
        eprintln!("SKIPPED: scenes::{test}: ../shared/scenes is absent");
        return None;
    }
    let entries = std::fs::read_dir(&folder).expect("a readable folder").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "gltf")).collect();
    files.sort();
    assert!(!files.is_empty(), "no scene in {}", folder.display());
    Some(files.iter().map(|file| reference(file)).collect())
}

fn reference(file: &Path) -> Reference {
    let name = file.file_stem().expect("a file name").to_string_lossy().into_owned();
    let bytes = std::fs::read(file).expect("a readable scene");
    let scene = Scene::parse(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    let document: Value = serde_json::from_slice(&bytes).expect("JSON");
    let not_unit = |node: &Value| {
        let rotation = node["rotation"].as_array();
        rotation.map_or(0.0, |q| (q.iter().map(|x| x.as_f64().expect("a number").powi(2)).sum::<f64>() - 1.0).abs())
    };
    let nodes = document["nodes"].as_array().expect("nodes").clone();
    let not_unit = nodes.iter().map(not_unit).collect();

    let worlds = std::fs::read(file.with_extension("world.json")).expect("world matrices beside the scene");
    let worlds: Value = serde_json::from_slice(&worlds).expect("JSON");
    let parents = worlds["parent"].as_array().expect("parents").iter();
    assert!(parents.map(|parent| parent.as_u64().map(|at| at as usize)).eq(scene.parents.iter().copied()), "{name}");
    let worlds: Vec<DAffine3> = worlds["world"].as_array().expect("worlds").iter().map(row_major).collect();
    assert_eq!(worlds.len(), scene.len(), "{name}");
    Reference { name, scene, worlds, not_unit, nodes }
}

fn row_major(matrix: &Value) -> DAffine3 {
    let m: Vec<f64> = matrix.as_array().expect("a matrix").iter().map(|x| x.as_f64().expect("a number")).collect();
    assert_eq!((m.len(), &m[12..]), (16, &[0.0, 0.0, 0.0, 1.0][..]));
    DAffine3 {
        matrix3: DMat3::from_cols_array(&[m[0], m[4], m[8], m[1], m[5], m[9], m[2], m[6], m[10]]),
        translation: DVec3::new(m[3], m[7], m[11]),
    }
}

impl Reference {
    fn hierarchy(&self) -> (Hierarchy, Vec<NodeId>) {
        self.scene.hierarchy().unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    /// How far a node's local matrix may be from the one that the float64 worlds were made of.
    ///
    /// - Of a *matrix*, and of a translation: each element is rounded once to float32, `u = ε/2`.
    /// - Of a *rotation*: its components are rounded (`u` each) and may be normalised (a sum of squares 4 u,
    ///   halved by the root, the root, the reciprocal and the product: 5 u), so `6 u` each at most. An element
    ///   of the matrix is at worst one less two products such as `y (2 y)`, which together are at most two:
    ///   `2 (6 + 6 + 1) u + 2 u` for their sum, `u` for the difference. That makes `29 u`. It is multiplied by
    ///   a scale that was rounded, and the product is rounded: `31 u |s|`; `32 u = 16 ε` covers second order.
    /// - A quaternion may count as a unit one while `||q|² - 1| <= 4 ε`, and either side may normalise where
    ///   the other does not. Of elements that hold products of components up to two, that makes a difference
    ///   of twice by how much `|q|²` is off: of the file's as it is, or `8 ε` for what float32 lets pass.
    fn of_local(&self, index: usize) -> Error {
        match self.scene.locals[index] {
            Local::Matrix(matrix) => {
                Error(DAffine3::from_cols_array(&abs(&wide(&matrix)).to_cols_array().map(|x| U * x)))
            }
            Local::Trs(transform) => {
                let rotation = (16.0 + 8.0) * EPSILON + 2.0 * self.not_unit[index];
                let scale = transform.scale.as_dvec3().abs();
                let column = |j: usize| DVec3::splat(rotation * scale[j]);
                Error(DAffine3 {
                    matrix3: DMat3::from_cols(column(0), column(1), column(2)),
                    translation: U * transform.position.as_dvec3().abs(),
                })
            }
        }
    }

    /// How far the exact product of a node's float32 local matrices may be from the float64 world.
    fn of_locals(&self, h: &Hierarchy, ids: &[NodeId], index: usize) -> Error {
        let mut path: Vec<usize> = std::iter::successors(Some(index), |&at| self.scene.parents[at]).collect();
        path.reverse();
        let chain = chain(h, ids[index], None).unwrap();
        rounding::carry(&chain, |level, above| self.of_local(path[level]).below(above))
    }
}

impl Reference {
    /// The scene in double precision.
    fn double(&self) -> (DHierarchy, Vec<NodeId>) {
        let mut h = DHierarchy::new();
        let ids = h.extend(None, &self.scene.parents, &vec![DTransform::IDENTITY; self.scene.len()]).unwrap();
        for (node, &id) in self.nodes.iter().zip(&ids) {
            let numbers = |name: &str| -> Option<Vec<f64>> {
                node.get(name)?.as_array()?.iter().map(Value::as_f64).collect::<Option<_>>()
            };
            let vector = |name: &str, or| numbers(name).map_or(or, |v| DVec3::from_slice(&v));
            match numbers("matrix") {
                // Column by column in the file, with the last row.
                Some(m) => {
                    let column = |i: usize| DVec3::from_slice(&m[4 * i..4 * i + 3]);
                    let matrix = DAffine3::from_cols(column(0), column(1), column(2), column(3));
                    h.set_local_matrix(id, matrix).unwrap();
                }
                None => {
                    let rotation = numbers("rotation").map_or(DQuat::IDENTITY, |q| DQuat::from_slice(&q));
                    let local =
                        DTransform::new(vector("translation", DVec3::ZERO), rotation, vector("scale", DVec3::ONE));
                    h.set_local(id, local).unwrap();
                }
            }
        }
        (h, ids)
    }
}

/// In float64 against float64: what either product rounds, `2 ε |P||L|` a level, and what they differ by in
/// turning a rotation into a matrix. An element of that is two products and two sums of numbers up to two, of
/// components that normalising moved by 5 u: `32 u` at most, times the scale; on both sides `32 ε |s|`. Where
/// the file's quaternion is not of length one, only one of them normalises: twice by how much `|q|²` is off.
#[test]
fn worlds_agree_in_double_precision() {
    for reference in references("worlds_agree_in_double_precision").into_iter().flatten() {
        let (mut h, ids) = reference.double();
        h.assert_well_formed();
        let lazy: Vec<DAffine3> = ids.iter().map(|&id| h.world(id).unwrap()).collect();
        h.update();
        h.assert_well_formed();
        let mut closest: f64 = 0.0;
        for (index, &id) in ids.iter().enumerate() {
            let world = h.world(id).unwrap();
            assert_eq!(bits_of(world), bits_of(lazy[index]), "{} node {index}: read lazily", reference.name);
            let mut path: Vec<usize> = std::iter::successors(Some(index), |&at| reference.scene.parents[at]).collect();
            path.reverse();
            let chain: Vec<DAffine3> = path.iter().map(|&at| h.local_matrix(ids[at]).unwrap()).collect();
            let bound = rounding::carry(&chain, |level, above| {
                let at = path[level];
                let scale = h.scale(ids[at]).unwrap().abs();
                let is_matrix = matches!(reference.scene.locals[at], Local::Matrix(_));
                let rotation = if is_matrix { 0.0 } else { 32.0 * f64::EPSILON + 2.0 * reference.not_unit[at] };
                let column = |j: usize| DVec3::splat(rotation * scale[j]);
                let own = Error(DAffine3 {
                    matrix3: DMat3::from_cols(column(0), column(1), column(2)),
                    translation: DVec3::ZERO,
                });
                let product = (abs(above) * abs(&chain[level])).to_cols_array().map(|x| 4.0 * f64::EPSILON * x);
                Error(DAffine3::from_cols_array(&product)).plus(own.below(above))
            });
            let off = difference(&world, &reference.worlds[index]);
            assert!(bound.allows(off), "{} node {index}: off by {off:?}, allowed {bound:?}", reference.name);
            closest = closest.max(off.largest() / bound.largest().max(f64::MIN_POSITIVE));
        }
        println!("{}: at most {closest:.3} of the bound", reference.name);
    }
}

fn bits(h: &mut Hierarchy, ids: &[NodeId]) -> Vec<[u32; 12]> {
    let worlds = h.update();
    ids.iter().map(|&id| std::array::from_fn(|i| worlds[id][i / 4][i % 4].to_bits())).collect()
}

#[test]
fn worlds_agree_with_float64() {
    for reference in references("worlds_agree_with_float64").into_iter().flatten() {
        let (mut h, ids) = reference.hierarchy();
        h.assert_well_formed();
        let lazy: Vec<Affine3A> = ids.iter().map(|&id| h.world(id).unwrap()).collect();
        h.update();
        h.assert_well_formed();
        let mut closest: f64 = 0.0;
        for (index, &id) in ids.iter().enumerate() {
            let world = h.world(id).unwrap();
            assert_eq!(bits_of(world), bits_of(lazy[index]), "{} node {index}: read lazily", reference.name);
            let off = difference(&wide(&world), &reference.worlds[index]);
            let path = chain(&h, id, None).unwrap();
            let bound = rounding::of_world(&path).plus(reference.of_locals(&h, &ids, index));
            assert!(bound.allows(off), "{} node {index}: off by {off:?}, allowed {bound:?}", reference.name);
            closest = closest.max(off.largest() / bound.largest().max(f64::MIN_POSITIVE));
        }
        println!("{}: at most {closest:.3} of the bound", reference.name);
    }
}

/// How nearly singular a chain is: the largest element of `|P||P⁻¹|`.
///
/// A solved local value is off by no more than `2 ε |P||L|` with `L = P⁻¹ W`, which is at most
/// `2 ε |P||P⁻¹||W|`: in a column, three times this number times `2 ε` of its largest element. A parent
/// counts as singular where that is more than `2⁻¹⁰`.
fn is_nearly_flat(parent: &[DAffine3]) -> bool {
    let parent = product(parent).matrix3;
    let condition = parent.abs() * parent.inverse().abs();
    let largest = condition.to_cols_array().into_iter().fold(0.0, f64::max);
    !condition.is_finite() || 3.0 * largest * 2.0 * EPSILON > 1.0 / 1024.0
}

#[test]
fn every_node_moves_and_returns() {
    for reference in references("every_node_moves_and_returns").into_iter().flatten() {
        let (mut h, ids) = reference.hierarchy();
        let start = bits(&mut h, &ids);
        let of_locals: Vec<Error> = (0..ids.len()).map(|index| reference.of_locals(&h, &ids, index)).collect();
        let (mut moves, mut refused) = (0, 0);
        for (index, &id) in ids.iter().enumerate() {
            let subtree: Vec<usize> = h.subtree(id).unwrap().map(|id| id_index(&ids, id)).collect();
            let (old, place) = (h.parent(id).unwrap(), h.sibling_index(id).unwrap());
            for to in targets(&ids, id, |to| h.is_ancestor_of(id, to).unwrap()) {
                let common = to.and_then(|to| h.common_ancestor(id, to).unwrap());
                match h.reparent(id, to, Keep::World) {
                    Ok(from) => assert_eq!(from, old),
                    Err(ReparentError::SingularParent(_)) => {
                        let chain = to.map_or(Vec::new(), |to| chain(&h, to, common).unwrap());
                        assert!(is_nearly_flat(&chain), "{} node {index}: refused under {to:?}", reference.name);
                        refused += 1;
                        continue;
                    }
                    Err(error) => panic!("{} node {index} under {to:?}: {error}", reference.name),
                }
                moves += 1;
                let solved = rounding::of_reparenting(&h, id, common).unwrap();
                check_worlds(&reference, &mut h, &ids, &subtree, &of_locals, &[solved]);

                // The way back solves for what the way there gave, and so may be off by both.
                h.reparent_at(id, old, place, Keep::World).unwrap_or_else(|error| {
                    panic!("{} node {index} back from {to:?}: {error}", reference.name);
                });
                assert_eq!((h.parent(id), h.sibling_index(id)), (Ok(old), Ok(place)));
                let back = rounding::of_reparenting(&h, id, common).unwrap();
                check_worlds(&reference, &mut h, &ids, &subtree, &of_locals, &[solved, back]);

                // From the file's own value, so that errors of one round trip do not add to the next's.
                match reference.scene.locals[index] {
                    Local::Trs(transform) => h.set_local(id, transform).unwrap(),
                    Local::Matrix(matrix) => h.set_local_matrix(id, matrix).unwrap(),
                }
            }
            assert_eq!(bits(&mut h, &ids), start, "{} node {index}: the way there and back", reference.name);
            h.assert_well_formed();
        }
        println!("{}: {moves} moves and returns, {refused} parents refused as flat", reference.name);
    }
}

/// The new parents to try: every tenth node where that is legal, and none.
fn targets(ids: &[NodeId], id: NodeId, is_below: impl Fn(NodeId) -> bool) -> Vec<Option<NodeId>> {
    let nodes = ids.iter().step_by(10).filter(|&&to| to != id && !is_below(to));
    nodes.map(|&to| Some(to)).chain([None]).collect()
}

/// Compares the worlds of a moved subtree, its root first, with the float64 ones.
fn check_worlds(
    reference: &Reference,
    h: &mut Hierarchy,
    ids: &[NodeId],
    subtree: &[usize],
    of_locals: &[Error],
    solved: &[Error],
) {
    h.update();
    let moved = ids[subtree[0]];
    for &index in subtree {
        let path = chain(h, ids[index], None).unwrap();
        // What the moved node is off by is multiplied by the levels below it.
        let below = product(&chain(h, ids[index], Some(moved)).unwrap());
        let bound = rounding::of_world(&path).plus(of_locals[index]);
        let bound = solved.iter().fold(bound, |bound, &error| bound.plus(error.above(&below)));
        let off = difference(&wide(&h.world(ids[index]).unwrap()), &reference.worlds[index]);
        let (name, parent) = (&reference.name, h.parent(moved));
        assert!(bound.allows(off), "{name} node {index}, under {parent:?}: off by {off:?}, allowed {bound:?}");
    }
}

/// A component-wise pose in float64, and how far float32 may be from it.
#[derive(Clone, Copy)]
struct Wide {
    position: DVec3,
    rotation: DQuat,
    scale: DVec3,
    /// Bounds: on the length of the position's error, on that of the quaternion's, and on the scale's in
    /// units of the scale.
    off: [f64; 3],
}

/// The accumulated pose of a chain of local values.
///
/// What each level adds, to first order, with `v = s_p * p` the scaled offset of the child:
///
/// - *rotation*: a held quaternion is within `6 u` of the one that float64 normalises (`5 u` by normalising, or
///   `4 u` in length for one that counts as unit). A product of two is four products and three sums per
///   component: `4 u` in each, `8 u` in length. The step back to length one is a length, a multiple of it, a
///   difference and a product near one: `4 u`. Together `18 u`.
/// - *position*: rotating is of second degree in the quaternion, so that its error counts twice; the error of
///   the parent's scale once. Rounding: `u |v|` for a solved position, `u |v|` for the scaling, five terms of
///   the size of `v` or less with six roundings each for the rotation, so `30 u |v|`, and `u |p_w|` for the sum.
/// - *scale*: `u` for a solved one, `u` for the product.
fn accumulate(locals: &[Transform]) -> Wide {
    let wide = |local: &Transform| Wide {
        position: local.position.as_dvec3(),
        rotation: local.rotation.as_dquat().normalize(),
        scale: local.scale.as_dvec3(),
        off: [U * local.position.as_dvec3().length(), 6.0 * U, U],
    };
    let (root, rest) = locals.split_first().expect("a chain holds its node");
    rest.iter().map(wide).fold(wide(root), |parent, local| {
        let v = parent.scale * local.position;
        let position = parent.position + parent.rotation * v;
        let [by_position, by_rotation, by_scale] = parent.off;
        Wide {
            position,
            rotation: parent.rotation * local.rotation,
            scale: parent.scale * local.scale,
            off: [
                by_position + (2.0 * by_rotation + by_scale + 32.0 * U) * v.length() + U * position.length(),
                by_rotation + 18.0 * U,
                by_scale + 2.0 * U,
            ],
        }
    })
}

/// The local values from the root down to a node.
fn locals(h: &ComponentHierarchy, id: NodeId) -> Vec<Transform> {
    let mut chain: Vec<Transform> = h.ancestors(id).unwrap().map(|above| h.local(above).unwrap()).collect();
    chain.reverse();
    chain.push(h.local(id).unwrap());
    chain
}

fn check_components(got: Transform, wanted: &Wide, off: [f64; 3], place: impl Fn() -> String) {
    let q = got.rotation.as_dquat();
    let quaternion = (q - wanted.rotation).length().min((q + wanted.rotation).length());
    let scale = (got.scale.as_dvec3() - wanted.scale).abs();
    // 1.01: terms of second order.
    let [by_position, by_rotation, by_scale] = off.map(|off| 1.01 * off);
    assert!(
        got.position.as_dvec3().distance(wanted.position) <= by_position
            && quaternion <= by_rotation
            && scale.cmple(by_scale * wanted.scale.abs()).all(),
        "{}: {got:?} should be {:?} {:?} {:?} to within {off:?}",
        place(),
        wanted.position,
        wanted.rotation,
        wanted.scale
    );
}

/// A scene as components; `None` if a matrix of it shears, which components cannot hold.
fn components(reference: &Reference) -> Option<(ComponentHierarchy, Vec<NodeId>)> {
    let scene = &reference.scene;
    let mut h = ComponentHierarchy::new();
    let ids = h.extend(None, &scene.parents, &vec![Transform::IDENTITY; scene.len()]).unwrap();
    for (&id, local) in ids.iter().zip(&scene.locals) {
        match local {
            Local::Trs(transform) => h.set_local(id, *transform).unwrap(),
            Local::Matrix(matrix) => match h.set_local_matrix(id, *matrix) {
                Ok(()) => {}
                Err(LocalError::NotTrs(_)) => return None,
                Err(error) => panic!("{}: {error}", reference.name),
            },
        }
    }
    Some((h, ids))
}

#[test]
fn every_node_moves_and_returns_by_components() {
    for reference in references("every_node_moves_and_returns_by_components").into_iter().flatten() {
        let name = &reference.name;
        let Some((mut h, ids)) = components(&reference) else {
            println!("{name}: left out, it has a matrix with shear");
            continue;
        };
        let wanted: Vec<Wide> = ids.iter().map(|&id| accumulate(&locals(&h, id))).collect();
        let lazy: Vec<Transform> = ids.iter().map(|&id| h.world(id).unwrap()).collect();
        h.update();
        let start: Vec<Transform> = ids.iter().map(|&id| h.world(id).unwrap()).collect();
        assert_eq!(lazy, start, "{name}: read lazily");
        for (index, &world) in start.iter().enumerate() {
            check_components(world, &wanted[index], wanted[index].off, || format!("{name} node {index}"));
        }

        let mut moves = 0;
        for (index, &id) in ids.iter().enumerate() {
            let subtree: Vec<usize> = h.subtree(id).unwrap().map(|id| id_index(&ids, id)).collect();
            let (old, place, own) = (h.parent(id).unwrap(), h.sibling_index(id).unwrap(), h.local(id).unwrap());
            for to in targets(&ids, id, |to| h.is_ancestor_of(id, to).unwrap()) {
                let mut off: Vec<[f64; 3]> = subtree.iter().map(|&at| wanted[at].off).collect();
                // There, and back: what one solution is off by, the next one keeps.
                for (parent, at) in [(to, None), (old, Some(place))] {
                    let moved = match at {
                        None => h.reparent(id, parent, Keep::World),
                        Some(at) => h.reparent_at(id, parent, at, Keep::World),
                    };
                    match moved {
                        Ok(_) => moves += 1,
                        Err(ReparentError::SingularParent(_)) => {
                            let flat = |id| h.scale(id).unwrap().cmpeq(Vec3::ZERO).any();
                            let chain = parent.into_iter().flat_map(|to| h.ancestors(to).unwrap().chain([to]));
                            assert!({ chain }.any(flat), "{name} node {index}: refused under {parent:?}");
                            break;
                        }
                        Err(error) => panic!("{name} node {index} under {parent:?}: {error}"),
                    }
                    h.update();
                    for (off, &below) in off.iter_mut().zip(&subtree) {
                        let added = accumulate(&locals(&h, ids[below])).off;
                        *off = std::array::from_fn(|i| off[i] + added[i]);
                        let place = || format!("{name} node {below} with {index} under {parent:?}");
                        check_components(h.world(ids[below]).unwrap(), &wanted[below], *off, place);
                    }
                }
                assert_eq!((h.parent(id), h.sibling_index(id)), (Ok(old), Ok(place)));
                h.set_local(id, own).unwrap();
            }
            h.update();
            assert!(ids.iter().map(|&id| h.world(id).unwrap()).eq(start.iter().copied()), "{name} node {index}");
            h.assert_well_formed();
        }
        println!("{name}: {moves} moves by components");
    }
}

fn id_index(ids: &[NodeId], id: NodeId) -> usize {
    ids.iter().position(|&other| other == id).expect("a node of the scene")
}
