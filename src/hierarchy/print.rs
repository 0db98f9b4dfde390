//! A hierarchy as text: an indented tree, and a graph for Graphviz.

use super::HierarchyOf;
use crate::accumulate::geometry::Shared as _;
use crate::accumulate::{Accumulate, Geometry, Matrices};
use crate::topology::NONE;
use crate::{NodeId, StaleNode};
use alloc::{string::String, vec::Vec};
use core::fmt::{self, Write};

/// The deepest level that is indented. Below it the level is written as a number: a chain of a million
/// nodes would otherwise take 4 characters for each pair of them.
const MAX_INDENT: usize = 32;

/// A node and what is below it, or a whole hierarchy, as text. Made by [`HierarchyOf::tree`].
///
/// [`Display`](fmt::Display) writes a line a node, depth first, without a line break at the end: the id,
/// the name if there is one, the world position, and marks. A precision, as in `{:.2}`, is that of the
/// positions. The marks are:
/// - `matrix`: the node holds a matrix that position, rotation and scale hold too; `shear`: one that they
///   do not;
/// - `flat`: its own scale has a zero, or its own matrix none of some direction;
/// - `mirrored`: its own value mirrors;
/// - `dirty`: its world waits for an update. The position is right all the same.
///
/// Below level 32 a line begins with its level in brackets instead of an indentation. Any depth, O(nodes),
/// dirty or not: worlds are computed on the way down, but a dirty node that does not inherit everything costs its
/// depth.
#[derive(Clone, Copy)]
pub struct Tree<'a, A: Accumulate = Matrices, F = fn(NodeId) -> &'static str> {
    hierarchy: &'a HierarchyOf<A>,
    /// [`NONE`] for all roots.
    root: u32,
    name: F,
}

impl<A: Accumulate> HierarchyOf<A> {
    /// A view that prints a node and what is below it, or everything for `None`. Of a whole hierarchy
    /// `Display` is the same.
    ///
    /// # Errors
    /// [`StaleNode`].
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform, glam::Vec3};
    /// let mut h = Hierarchy::new();
    /// let body = h.add_root(Transform::from_position(Vec3::Y))?;
    /// let arm = h.add_child(body, Transform::from_scale(Vec3::new(-1.0, 1.0, 1.0)))?;
    /// h.add_child(arm, Transform::from_position(Vec3::X))?;
    /// h.add_child(body, Transform::from_position(Vec3::Y))?;
    /// h.update();
    /// let names = ["body", "arm", "hand", "head"];
    /// let tree = h.tree(None)?.with_names(|id| names[h.worlds().unwrap().row_of(id).unwrap()]);
    /// let expected = "\
    /// 0v1 body (0.0, 1.0, 0.0)
    /// ├── 1v1 arm (0.0, 1.0, 0.0) mirrored
    /// │   └── 2v1 hand (-1.0, 1.0, 0.0)
    /// └── 3v1 head (0.0, 2.0, 0.0)";
    /// assert_eq!(tree.to_string(), expected);
    /// assert_eq!(h.tree(arm)?.to_string(), "1v1 (0.0, 1.0, 0.0) mirrored\n└── 2v1 (-1.0, 1.0, 0.0)");
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[doc(alias = "print_tree")]
    pub fn tree(&self, id: impl Into<Option<NodeId>>) -> Result<Tree<'_, A>, StaleNode> {
        Ok(Tree { root: self.topology.slot_or_none(id.into())?, ..self.forest() })
    }

    fn forest(&self) -> Tree<'_, A> {
        Tree { hierarchy: self, root: NONE, name: |_| "" }
    }
}

impl<A: Geometry> HierarchyOf<A> {
    /// The hierarchy as a graph in the language of Graphviz, a box a node. As [`Tree::to_dot`], for the
    /// whole. O(nodes).
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::IDENTITY)?;
    /// h.add_child(root, Transform::IDENTITY)?;
    /// assert!(h.to_dot().contains(r#""0v1" -> "1v1";"#));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[must_use]
    pub fn to_dot(&self) -> String {
        self.forest().to_dot()
    }
}

impl<'a, A: Accumulate, F> Tree<'a, A, F> {
    /// The same with a name after each id. An empty name writes nothing, and a line break or another
    /// control character in a name is written escaped, so that a node stays a line.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform};
    /// use std::collections::HashMap;
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::IDENTITY)?;
    /// let names = HashMap::from([(root, "lamp")]);
    /// let tree = h.tree(root)?.with_names(|id| names.get(&id).copied().unwrap_or_default());
    /// assert_eq!(tree.to_string(), "0v1 lamp (0.0, 0.0, 0.0) dirty");
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[must_use]
    pub fn with_names<N: fmt::Display, G: Fn(NodeId) -> N>(self, name: G) -> Tree<'a, A, G> {
        Tree { hierarchy: self.hierarchy, root: self.root, name }
    }
}

/// A node on the walk.
struct Visit<'a, A: Geometry> {
    slot: u32,
    depth: usize,
    marks: Marked,
    position: &'a A::Vector,
}

#[derive(Clone, Copy, Default, PartialEq)]
struct Marked {
    matrix: bool,
    shear: bool,
    flat: bool,
    mirrored: bool,
    dirty: bool,
}

impl fmt::Display for Marked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = [
            (self.matrix, "matrix"),
            (self.shear, "shear"),
            (self.flat, "flat"),
            (self.mirrored, "mirrored"),
            (self.dirty, "dirty"),
        ];
        let mut words = words.into_iter().filter_map(|(set, word)| set.then_some(word));
        f.write_str(words.next().unwrap_or_default())?;
        words.try_for_each(|word| write!(f, ", {word}"))
    }
}

impl<A: Geometry, F: Fn(NodeId) -> N, N: fmt::Display> Tree<'_, A, F> {
    /// The tree as a graph in the language of Graphviz, a box a node, with what [`Display`](fmt::Display)
    /// writes as its label, and an edge to each child. Any name is safe. O(nodes), any depth.
    ///
    /// ```
    /// use posetree::{Hierarchy, Transform};
    /// let mut h = Hierarchy::new();
    /// let root = h.add_root(Transform::IDENTITY)?;
    /// h.update();
    /// let dot = h.tree(root)?.with_names(|_| r#"a "name""#).to_dot();
    /// assert!(dot.contains(r#""0v1" [label="0v1 a \"name\"\n(0.0, 0.0, 0.0)"];"#));
    /// # Ok::<(), posetree::Error>(())
    /// ```
    #[must_use]
    pub fn to_dot(&self) -> String {
        let mut dot = String::from("digraph {\n    graph [ordering=out];\n    node [shape=box];\n");
        let (mut name, topology) = (String::new(), &self.hierarchy.topology);
        let written = self.walk(|visit| {
            let id = topology.live(visit.slot);
            self.put_name(id, &mut name);
            write!(dot, "    \"{id:?}\" [label=\"{id:?}")?;
            if !name.is_empty() {
                write!(dot, " {}", Escaped(&name))?;
            }
            write!(dot, "\\n{}", Bare(visit.position, None))?;
            let marks = visit.marks;
            if marks != Marked::default() {
                write!(dot, "\\n{marks}")?;
            }
            dot.write_str("\"];\n")?;
            match topology.id(topology.links(visit.slot).parent) {
                Some(parent) if visit.depth > 0 => writeln!(dot, "    \"{parent:?}\" -> \"{id:?}\";"),
                _ => Ok(()),
            }
        });
        debug_assert!(written.is_ok(), "a string takes everything");
        dot.push_str("}\n");
        dot
    }

    /// Visits the nodes depth first, computing the worlds that are not there on the way down.
    fn walk(&self, mut visit: impl FnMut(&Visit<'_, A>) -> fmt::Result) -> fmt::Result {
        let h = self.hierarchy;
        let mut path: Vec<(A::Row, bool)> = Vec::new();
        let mut at = if self.root == NONE { h.topology.ends(NONE).0 } else { self.root };
        while at != NONE {
            let row = h.order.row(at);
            let (world, dirty) = match path.last() {
                Some((_, dirty)) if h.inherits.is_reduced(row) && (*dirty || h.marks.get(row)) => (h.fresh(row), true),
                None => (h.fresh(row), h.is_dirty(h.topology.live(at)) == Ok(true)),
                Some((above, true)) => (A::product(above, h.locals.row(row)), true),
                Some((above, false)) if h.marks.get(row) => (A::product(above, h.locals.row(row)), true),
                Some((_, false)) => (h.worlds.rows()[row as usize], false),
            };
            let own = h.own(at);
            let shear = A::as_trs(&own).is_err();
            let flat = A::is_flat(&own);
            let marks = Marked {
                matrix: own.matrix.is_some() && !shear,
                shear,
                flat,
                mirrored: !flat && A::Shared::is_mirrored(&A::wide_matrix(&A::world(&A::root(&own.local())))),
                dirty,
            };
            let position = &A::position_of(&world);
            visit(&Visit { slot: at, depth: path.len(), marks, position })?;

            path.push((world, dirty));
            let mut next = h.topology.links(at).first;
            while next == NONE && at != self.root {
                path.pop();
                let links = h.topology.links(at);
                (next, at) = (links.next, links.parent);
            }
            at = next;
        }
        Ok(())
    }

    /// The name without control characters; of one that fails to be written, what there is.
    fn put_name(&self, id: NodeId, name: &mut String) {
        name.clear();
        let _ = write!(OneLine(name), "{}", (self.name)(id));
    }
}

impl<A: Geometry, F: Fn(NodeId) -> N, N: fmt::Display> fmt::Display for Tree<'_, A, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut name, topology) = (String::new(), &self.hierarchy.topology);
        // By level: whether the node on the path has a sibling to come.
        let mut more = [false; MAX_INDENT + 1];
        let mut first = true;
        self.walk(|visit| {
            if !core::mem::take(&mut first) {
                f.write_char('\n')?;
            }
            if visit.depth > MAX_INDENT {
                write!(f, "[{}] ", visit.depth)?;
            } else if visit.depth > 0 {
                more[visit.depth] = topology.links(visit.slot).next != NONE;
                for more in &more[1..visit.depth] {
                    f.write_str(if *more { "│   " } else { "    " })?;
                }
                f.write_str(if more[visit.depth] { "├── " } else { "└── " })?;
            }
            let id = topology.live(visit.slot);
            self.put_name(id, &mut name);
            write!(f, "{id:?} {name}")?;
            f.write_str(if name.is_empty() { "" } else { " " })?;
            write!(f, "{}", Bare(visit.position, f.precision()))?;
            let marks = visit.marks;
            if marks != Marked::default() {
                write!(f, " {marks}")?;
            }
            Ok(())
        })
    }
}

impl<A: Accumulate, F> fmt::Debug for Tree<'_, A, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tree").field(&self.hierarchy.topology.id(self.root)).finish()
    }
}

impl<A: Geometry> fmt::Display for HierarchyOf<A> {
    /// As [`Tree`], for the whole.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.forest().fmt(f)
    }
}

/// A value as `Debug` writes it, without the name of its type.
struct Bare<'a, T>(&'a T, Option<usize>);

impl<T: fmt::Debug> fmt::Display for Bare<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = Rest { f, begun: false };
        match self.1 {
            Some(precision) => write!(rest, "{:.precision$?}", self.0),
            None => write!(rest, "{:?}", self.0),
        }
    }
}

/// Passes on what is written from the first bracket on.
struct Rest<'a, 'b> {
    f: &'a mut fmt::Formatter<'b>,
    begun: bool,
}

impl Write for Rest<'_, '_> {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        if self.begun {
            return self.f.write_str(s);
        }
        match s.find('(') {
            Some(at) => {
                self.begun = true;
                self.f.write_str(&s[at..])
            }
            None => Ok(()),
        }
    }
}

/// Control characters, which would end the line or garble it, as Rust writes them in a literal.
struct OneLine<'a>(&'a mut String);

impl Write for OneLine<'_> {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        for c in s.chars() {
            // The two separators end a line too, without being control characters.
            if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') {
                self.0.extend(c.escape_default());
            } else {
                self.0.push(c);
            }
        }
        Ok(())
    }
}

/// Text within a quoted label of Graphviz: there a backslash begins an escape and an ampersand an entity.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            '"' => f.write_str("\\\""),
            '\\' => f.write_str("\\\\"),
            '&' => f.write_str("&amp;"),
            c => f.write_char(c),
        })
    }
}
