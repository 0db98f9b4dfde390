//! Trees and graphs as text, compared with what they should be, character by character.

use posetree::glam::{Affine3A, Mat3, Quat, Vec3};
use posetree::{ComponentHierarchy, Error, Geometry, Hierarchy, HierarchyOf, Keep, NodeId, Transform};

fn at(x: f32, y: f32, z: f32) -> Transform {
    Transform::from_position(Vec3::new(x, y, z))
}

/// Two roots; of the first: two children, of which the first has two.
fn forest<A: Geometry<Transform = Transform>>() -> (HierarchyOf<A>, Vec<NodeId>) {
    let mut h = HierarchyOf::new();
    let parents = [None, Some(0), Some(1), Some(1), Some(0), None];
    let locals: Vec<_> = (0..6_u8).map(|n| at(f32::from(n), 1.0, 0.0)).collect();
    let ids = h.extend(None, &parents, &locals).unwrap();
    h.update();
    (h, ids)
}

#[test]
fn every_line_is_as_it_should_be() -> Result<(), Error> {
    fn check<A: Geometry<Transform = Transform>>() -> Result<(), Error> {
        let (mut h, ids) = forest::<A>();
        let expected = "\
0v1 (0.0, 1.0, 0.0)
├── 1v1 (1.0, 2.0, 0.0)
│   ├── 2v1 (3.0, 3.0, 0.0)
│   └── 3v1 (4.0, 3.0, 0.0)
└── 4v1 (4.0, 2.0, 0.0)
5v1 (5.0, 1.0, 0.0)";
        assert_eq!(h.to_string(), expected);
        assert_eq!(h.tree(None)?.to_string(), expected);
        // A tree ends with its root's last descendant, and knows nothing of the root's siblings.
        assert_eq!(h.tree(ids[3])?.to_string(), "3v1 (4.0, 3.0, 0.0)");
        let expected = "1v1 (1.0, 2.0, 0.0)\n├── 2v1 (3.0, 3.0, 0.0)\n└── 3v1 (4.0, 3.0, 0.0)";
        assert_eq!(h.tree(ids[1])?.to_string(), expected);

        // After edits: another shape, a slot with its second node, dirt from a node down, worlds read anew.
        h.remove_subtree(ids[2])?;
        h.add_root(at(0.5, 0.0, 0.0))?;
        h.reparent(ids[1], ids[4], Keep::World)?;
        h.reparent(ids[5], ids[0], Keep::Local)?;
        let expected = "\
0v1 (0.0, 1.0, 0.0)
├── 4v1 (4.0, 2.0, 0.0)
│   └── 1v1 (1.0, 2.0, 0.0) dirty
│       └── 3v1 (4.0, 3.0, 0.0) dirty
└── 5v1 (5.0, 2.0, 0.0) dirty
2v3 (0.5, 0.0, 0.0) dirty";
        assert_eq!(h.to_string(), expected);
        assert_eq!(h.tree(ids[3])?.to_string(), "3v1 (4.0, 3.0, 0.0) dirty");
        h.update();
        assert_eq!(h.to_string(), expected.replace(" dirty", ""));
        assert!(h.tree(ids[2]).is_err());
        h.clear();
        assert_eq!(h.to_string(), "");
        Ok(())
    }
    check::<posetree::Matrices>()?;
    check::<posetree::Components>()
}

#[test]
fn marks_say_what_a_node_holds() -> Result<(), Error> {
    let mut h = Hierarchy::new();
    let flat = h.add_root(Transform::from_scale(Vec3::new(-1.0, 0.0, 1.0)))?;
    let mirrored = h.add_child(flat, Transform::from_scale(Vec3::new(-1.0, 1.0, 1.0)))?;
    let sheared = h.add_child(mirrored, Transform::IDENTITY)?;
    h.set_local_matrix(sheared, Affine3A::from_mat3(Mat3::from_cols(Vec3::X, Vec3::ONE, -Vec3::Z)))?;
    let plain = h.add_child(mirrored, Transform::IDENTITY)?;
    h.set_local_matrix(plain, Affine3A::from_translation(Vec3::X))?;
    h.update();
    h.set_position(plain, Vec3::new(0.5, 0.0, 0.0))?;
    let expected = "\
0v1 (0.0, 0.0, 0.0) flat
└── 1v1 (0.0, 0.0, 0.0) mirrored
    ├── 2v1 (0.0, 0.0, 0.0) shear, mirrored
    └── 3v1 (0.5, 0.0, 0.0) matrix, dirty";
    assert_eq!(h.to_string(), expected);
    Ok(())
}

#[test]
fn a_precision_is_that_of_positions() -> Result<(), Error> {
    let mut h = ComponentHierarchy::new();
    let root = h.add_root(at(1.0 / 3.0, -0.0, 1e3))?;
    assert_eq!(format!("{h:.2}"), "0v1 (0.33, -0.00, 1000.00) dirty");
    assert_eq!(format!("{:.0}", h.tree(root)?), "0v1 (0, -0, 1000) dirty");
    Ok(())
}

#[test]
fn the_plane_and_double_precision_are_printed_alike() -> Result<(), Error> {
    use posetree::glam::{DVec2, DVec3, Vec2};
    let mut plane = posetree::Hierarchy2::new();
    let root = plane.add_root(posetree::Transform2::from_scale(Vec2::new(-1.0, 1.0)))?;
    plane.add_child(root, posetree::Transform2::from_position(Vec2::new(2.0, 0.5)))?;
    plane.update();
    assert_eq!(plane.to_string(), "0v1 (0.0, 0.0) mirrored\n└── 1v1 (-2.0, 0.5)");
    let mut double = posetree::DHierarchy::new();
    double.add_root(posetree::DTransform::from_position(DVec3::new(1e9 + 0.25, 0.0, 0.0)))?;
    assert_eq!(double.to_string(), "0v1 (1000000000.25, 0.0, 0.0) dirty");
    let mut both = posetree::DComponentHierarchy2::new();
    both.add_root(posetree::DTransform2::from_scale(DVec2::new(0.0, 1.0)))?;
    assert_eq!(both.to_string(), "0v1 (0.0, 0.0) flat, dirty");
    assert!(both.to_dot().contains("flat, dirty"));
    Ok(())
}

#[test]
fn names_stay_on_their_line() -> Result<(), Error> {
    let (h, ids) = forest::<posetree::Matrices>();
    let names = ["", "two words", "line\nbreak", "tab\tand\r\u{2028}", "\"quoted\" \\ ├──", "&amp;"];
    let name = |id: NodeId| names[ids.iter().position(|&known| known == id).unwrap()];
    let expected = r#"0v1 (0.0, 1.0, 0.0)
├── 1v1 two words (1.0, 2.0, 0.0)
│   ├── 2v1 line\nbreak (3.0, 3.0, 0.0)
│   └── 3v1 tab\tand\r\u{2028} (4.0, 3.0, 0.0)
└── 4v1 "quoted" \ ├── (4.0, 2.0, 0.0)
5v1 &amp; (5.0, 1.0, 0.0)"#;
    assert_eq!(h.tree(None)?.with_names(name).to_string(), expected);
    // Names need not be strings.
    assert_eq!(h.tree(ids[5])?.with_names(|_| 7).to_string(), "5v1 7 (5.0, 1.0, 0.0)");
    Ok(())
}

#[test]
fn a_graph_quotes_what_it_must() -> Result<(), Error> {
    let (mut h, ids) = forest::<posetree::Matrices>();
    h.set_scale(ids[5], Vec3::ZERO)?;
    let names = ["", "a\\", "\"", "line\nbreak", "\\n", "&amp;"];
    let name = |id: NodeId| names[ids.iter().position(|&known| known == id).unwrap()];
    let expected = r#"digraph {
    graph [ordering=out];
    node [shape=box];
    "0v1" [label="0v1\n(0.0, 1.0, 0.0)"];
    "1v1" [label="1v1 a\\\n(1.0, 2.0, 0.0)"];
    "0v1" -> "1v1";
    "2v1" [label="2v1 \"\n(3.0, 3.0, 0.0)"];
    "1v1" -> "2v1";
    "3v1" [label="3v1 line\\nbreak\n(4.0, 3.0, 0.0)"];
    "1v1" -> "3v1";
    "4v1" [label="4v1 \\n\n(4.0, 2.0, 0.0)"];
    "0v1" -> "4v1";
    "5v1" [label="5v1 &amp;amp;\n(5.0, 1.0, 0.0)\nflat, dirty"];
}
"#;
    assert_eq!(h.tree(None)?.with_names(name).to_dot(), expected);
    // Without names, and of a subtree: no edge to what is outside.
    assert!(h.to_dot().contains("[label=\"3v1\\n(4.0, 3.0, 0.0)\"]"));
    let edges = |dot: &str| dot.matches("->").count();
    assert_eq!((edges(&h.to_dot()), edges(&h.tree(ids[1])?.to_dot()), edges(&h.tree(ids[3])?.to_dot())), (4, 2, 0));
    assert_eq!(Hierarchy::new().to_dot(), "digraph {\n    graph [ordering=out];\n    node [shape=box];\n}\n");
    Ok(())
}

/// Each line of a chain would be longer than the one before it, and each world as deep.
#[test]
fn a_deep_chain_takes_a_line_of_bounded_length_a_node() -> Result<(), Error> {
    const DEPTH: usize = 1_000_000;
    let mut h = Hierarchy::new();
    let parents: Vec<_> = (0..DEPTH).map(|n| n.checked_sub(1)).collect();
    let ids = h.extend(None, &parents, &vec![at(0.0, 0.0, 1.0); DEPTH])?;
    let text = h.to_string();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), DEPTH);
    assert!(lines.iter().all(|line| line.chars().count() <= 4 * 32 + 50));
    assert_eq!(lines[32], format!("{}└── 32v1 (0.0, 0.0, 33.0) dirty", "    ".repeat(31)));
    assert_eq!(lines[33], "[33] 33v1 (0.0, 0.0, 34.0) dirty");
    assert_eq!(lines[DEPTH - 1], "[999999] 999999v1 (0.0, 0.0, 1000000.0) dirty");
    assert_eq!(h.to_dot().lines().count(), 3 + DEPTH + DEPTH - 1 + 1);
    assert_eq!(h.tree(ids[DEPTH - 2])?.to_string().lines().count(), 2);
    Ok(())
}

/// Bars belong to the levels that have more to come, also after the walk was below the indented levels.
#[test]
fn bars_go_on_where_siblings_follow() -> Result<(), Error> {
    let mut h = Hierarchy::new();
    let root = h.add_root(Transform::IDENTITY)?;
    let mut deep = root;
    for _ in 0..40 {
        deep = h.add_child(deep, Transform::IDENTITY)?;
    }
    h.add_child(root, Transform::from_rotation(Quat::IDENTITY))?;
    h.update();
    let text = h.to_string();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[2], "│   └── 2v1 (0.0, 0.0, 0.0)");
    assert_eq!(lines[40], "[40] 40v1 (0.0, 0.0, 0.0)");
    assert_eq!(lines[41], "└── 41v1 (0.0, 0.0, 0.0)");
    Ok(())
}
