//! Strategies for property tests: transforms by kind, trees by shape, hierarchies, and edits of them.
//!
//! [`transforms`] and their kinds are in three dimensions and float32; [`transforms2`], [`dtransforms`] and
//! [`dtransforms2`] are for the other hierarchies, and trees and edits for all of them.
//!
//! Everything shrinks: numbers towards those of [`Transform::IDENTITY`], trees and scripts towards fewer
//! entries, parents towards none, edits towards adding a root.
//!
//! ```
//! use posetree::{Hierarchy, Matrices, strategies::{self, Shape}};
//! use proptest::prelude::*;
//! let hierarchies = strategies::hierarchies::<Matrices>(Shape::Random, 1..20, strategies::transforms());
//! let edits = prop::collection::vec(strategies::edits(strategies::transforms()), 0..20);
//! proptest!(|(mut h in hierarchies, edits in edits)| {
//!     for edit in &edits {
//!         let (before, nodes) = (h.to_string(), h.len());
//!         if edit.apply(&mut h).is_err() {
//!             prop_assert_eq!((h.to_string(), h.len()), (before, nodes)); // refused, and nothing changed
//!         }
//!     }
//!     prop_assert_eq!(h.ids().count(), h.len());
//! });
//! ```

use crate::accumulate::Accumulate;
use crate::{DTransform, DTransform2, Error, HierarchyOf, Inherit, Keep, NodeId, Transform, Transform2};
use alloc::{vec, vec::Vec};
use core::fmt::Debug;
use glam::{BVec3, DVec2, DVec3, EulerRot, Quat, Vec2, Vec3};
use proptest::collection::{SizeRange, vec};
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::{Index, select};

/// How far positions go along each axis.
const FAR: f32 = 100.0;

/// The natural logarithm of 16: scale factors are from 1/16 to 16.
const LARGE: f32 = 2.772_588_7;

/// Unit quaternions in all directions.
pub fn rotations() -> impl Strategy<Value = Quat> + Clone {
    // Not uniform over the rotations, but every one of them, and the angles shrink to none.
    use core::f32::consts::{FRAC_PI_2, PI};
    (-PI..=PI, -FRAC_PI_2..=FRAC_PI_2, -PI..=PI)
        .prop_map(|(y, x, z)| Quat::from_euler(EulerRot::YXZ, y, x, z).normalize())
}

/// Vectors of up to `size` along each axis.
pub fn vectors(size: f32) -> impl Strategy<Value = Vec3> + Clone {
    (-size..=size, -size..=size, -size..=size).prop_map(|(x, y, z)| Vec3::new(x, y, z))
}

/// Three factors from 1/16 to 16, each as likely below one as above.
fn factors() -> impl Strategy<Value = Vec3> + Clone {
    vectors(LARGE).prop_map(Vec3::exp)
}

fn with_scale(scale: impl Strategy<Value = Vec3> + Clone) -> impl Strategy<Value = Transform> + Clone {
    (vectors(FAR), rotations(), scale).prop_map(|(p, r, s)| Transform::new(p, r, s))
}

/// Which axes, out of those sets of axes.
fn axes(sets: &'static [u32]) -> impl Strategy<Value = BVec3> + Clone {
    select(sets).prop_map(|bits| BVec3::new(bits & 1 != 0, bits & 2 != 0, bits & 4 != 0))
}

/// Position and rotation; the scale is one. Positions, here and below, are up to 100 along each axis.
pub fn rigid_transforms() -> impl Strategy<Value = Transform> + Clone {
    with_scale(Just(Vec3::ONE))
}

/// Position, rotation, and one factor from 1/16 to 16.
pub fn uniform_transforms() -> impl Strategy<Value = Transform> + Clone {
    with_scale((-LARGE..=LARGE).prop_map(|factor| Vec3::splat(factor).exp()))
}

/// Position, rotation, and three factors from 1/16 to 16.
pub fn nonuniform_transforms() -> impl Strategy<Value = Transform> + Clone {
    with_scale(factors())
}

/// As [`nonuniform_transforms`], with one factor negative, or all three.
pub fn mirrored_transforms() -> impl Strategy<Value = Transform> + Clone {
    let signs = axes(&[0b001, 0b010, 0b100, 0b111]);
    with_scale((factors(), signs).prop_map(|(scale, negative)| Vec3::select(negative, -scale, scale)))
}

/// As [`nonuniform_transforms`], with a factor of zero, or two, or all three.
pub fn flat_transforms() -> impl Strategy<Value = Transform> + Clone {
    let zeros = axes(&[0b001, 0b010, 0b100, 0b011, 0b101, 0b110, 0b111]);
    with_scale((factors(), zeros).prop_map(|(scale, zero)| Vec3::select(zero, Vec3::ZERO, scale)))
}

/// Any of the kinds above; one in ten is mirrored, one in ten flat.
pub fn transforms() -> impl Strategy<Value = Transform> + Clone {
    prop_oneof![
        3 => rigid_transforms(),
        2 => uniform_transforms(),
        3 => nonuniform_transforms(),
        1 => mirrored_transforms(),
        1 => flat_transforms(),
    ]
}

/// As [`transforms`], in double precision: positions and rotations with digits that float32 has not.
pub fn dtransforms() -> impl Strategy<Value = DTransform> + Clone {
    (transforms(), digits(), digits(), digits()).prop_map(|(t, x, y, z)| {
        let t = t.as_dtransform().normalized();
        t.with_position(t.position + DVec3::new(x, y, z))
    })
}

/// As [`transforms`], in the plane: angles from -π to π, one in ten mirrored, one in ten flat.
pub fn transforms2() -> impl Strategy<Value = Transform2> + Clone {
    use core::f32::consts::PI;
    let factors = || (-LARGE..=LARGE, -LARGE..=LARGE).prop_map(|(x, y)| Vec2::new(x, y).exp());
    let scale = prop_oneof![
        3 => Just(Vec2::ONE),
        2 => (-LARGE..=LARGE).prop_map(|factor| Vec2::splat(factor).exp()),
        3 => factors(),
        1 => (factors(), select(vec![Vec2::new(-1.0, 1.0), Vec2::new(1.0, -1.0)])).prop_map(|(s, sign)| s * sign),
        1 => (factors(), select(vec![Vec2::Y, Vec2::X, Vec2::ZERO])).prop_map(|(s, left)| s * left),
    ];
    (-FAR..=FAR, -FAR..=FAR, -PI..=PI, scale).prop_map(|(x, y, r, s)| Transform2::new(Vec2::new(x, y), r, s))
}

/// As [`transforms2`], in double precision: positions and angles with digits that float32 has not.
pub fn dtransforms2() -> impl Strategy<Value = DTransform2> + Clone {
    (transforms2(), digits(), digits(), digits()).prop_map(|(t, x, y, r)| {
        let t = t.as_dtransform2();
        DTransform2 { position: t.position + DVec2::new(x, y), rotation: t.rotation + r, ..t }
    })
}

/// What is below the last digit of a float32 of the size of a position or an angle.
fn digits() -> impl Strategy<Value = f64> + Clone {
    -1e-7..=1e-7
}

/// What a tree looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Shape {
    /// Each node under the one before it.
    Chain,
    /// All nodes under the first.
    Wide,
    /// Each node under any of those before it, or a root.
    Random,
}

impl Shape {
    fn parent(self, entry: usize, drawn: &Index) -> Option<usize> {
        match self {
            Self::Chain => entry.checked_sub(1),
            Self::Wide => (entry > 0).then_some(0),
            Self::Random => drawn.index(entry + 1).checked_sub(1),
        }
    }
}

/// Parents as [`HierarchyOf::extend`] takes them, of a number of entries in `size`.
///
/// ```
/// use posetree::strategies::{Shape, parents};
/// use proptest::prelude::*;
/// proptest!(|(wide in parents(Shape::Wide, 1..9))| {
///     prop_assert!(wide[0].is_none() && wide[1..].iter().all(|&parent| parent == Some(0)));
/// });
/// ```
pub fn parents(shape: Shape, size: impl Into<SizeRange>) -> impl Strategy<Value = Vec<Option<usize>>> + Clone {
    vec(any::<Index>(), size)
        .prop_map(move |drawn| drawn.iter().enumerate().map(|(entry, drawn)| shape.parent(entry, drawn)).collect())
}

/// Hierarchies of a number of nodes in `size`, all of them dirty. Local values that the hierarchy refuses,
/// because they are not finite or no rotations, are drawn again.
pub fn hierarchies<A: Accumulate>(
    shape: Shape,
    size: impl Into<SizeRange>,
    locals: impl Strategy<Value = A::Transform> + Clone,
) -> impl Strategy<Value = HierarchyOf<A>> + Clone {
    vec((any::<Index>(), locals), size).prop_filter_map("local values are refused", move |nodes| {
        let parents = nodes.iter().enumerate().map(|(entry, (drawn, _))| shape.parent(entry, drawn));
        let (parents, locals): (Vec<_>, Vec<_>) = parents.zip(nodes.iter().map(|&(_, local)| local)).unzip();
        let mut h = HierarchyOf::new();
        h.extend(None, &parents, &locals).is_ok().then_some(h)
    })
}

/// One edit of any hierarchy. `T` is the type of its local values.
///
/// A node is given as a number: of the nodes in depth-first order the one with that number, counted on
/// from the first after the last. So any edit fits any hierarchy, and one means the same in two
/// hierarchies of one shape.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Edit<T> {
    /// [`add_root`](HierarchyOf::add_root).
    AddRoot(T),
    /// [`add_child`](HierarchyOf::add_child).
    AddChild(usize, T),
    /// [`insert_child_at`](HierarchyOf::insert_child_at).
    InsertChildAt(Option<usize>, usize, T),
    /// [`set_local`](HierarchyOf::set_local).
    SetLocal(usize, T),
    /// [`reparent`](HierarchyOf::reparent).
    Reparent(usize, Option<usize>, Keep),
    /// [`reparent_at`](HierarchyOf::reparent_at).
    ReparentAt(usize, Option<usize>, usize, Keep),
    /// [`move_to_index`](HierarchyOf::move_to_index).
    MoveToIndex(usize, usize),
    /// [`remove_subtree`](HierarchyOf::remove_subtree).
    RemoveSubtree(usize),
    /// [`remove_children`](HierarchyOf::remove_children).
    RemoveChildren(usize),
    /// [`remove_and_promote`](HierarchyOf::remove_and_promote).
    RemoveAndPromote(usize, Keep),
    /// [`flatten`](HierarchyOf::flatten).
    Flatten(usize, Keep),
    /// [`clone_subtree`](HierarchyOf::clone_subtree).
    CloneSubtree(usize, Option<usize>),
    /// [`set_inherit`](HierarchyOf::set_inherit).
    SetInherit(usize, Inherit, Keep),
    /// [`clear`](HierarchyOf::clear).
    Clear,
    /// [`update`](HierarchyOf::update).
    Update,
    /// [`optimize`](HierarchyOf::optimize).
    Optimize,
}

impl<T: Copy> Edit<T> {
    /// Does the edit. One that names a node of an empty hierarchy does nothing. O(nodes), to find the
    /// node, and what the edit costs.
    ///
    /// # Errors
    /// What the hierarchy refuses, such as a cycle; nothing changed.
    ///
    /// ```
    /// use posetree::{Hierarchy, Keep, Transform, strategies::Edit};
    /// let mut h = Hierarchy::new();
    /// Edit::AddRoot(Transform::IDENTITY).apply(&mut h)?;
    /// Edit::AddChild(0, Transform::IDENTITY).apply(&mut h)?;
    /// assert_eq!(h.len(), 2);
    /// assert!(Edit::Reparent(0, Some(1), Keep::Local).apply(&mut h).is_err());
    /// # Ok::<(), posetree::Error>(())
    /// ```
    pub fn apply<A: Accumulate<Transform = T>>(&self, h: &mut HierarchyOf<A>) -> Result<(), Error> {
        let pick = |h: &HierarchyOf<A>, n: usize| -> Option<NodeId> { h.ids().nth(n.checked_rem(h.len())?) };
        let pick_parent = |h: &HierarchyOf<A>, n: Option<usize>| n.and_then(|n| pick(h, n));
        let node = match *self {
            Self::AddRoot(_) | Self::InsertChildAt(..) | Self::Clear | Self::Update | Self::Optimize => None,
            Self::AddChild(n, _)
            | Self::SetLocal(n, _)
            | Self::Reparent(n, ..)
            | Self::ReparentAt(n, ..)
            | Self::MoveToIndex(n, _)
            | Self::RemoveSubtree(n)
            | Self::RemoveChildren(n)
            | Self::RemoveAndPromote(n, _)
            | Self::Flatten(n, _)
            | Self::CloneSubtree(n, _)
            | Self::SetInherit(n, ..) => match pick(h, n) {
                None => return Ok(()),
                node => node,
            },
        };
        match (*self, node) {
            (Self::AddRoot(local), _) => drop(h.add_root(local)?),
            (Self::InsertChildAt(parent, index, local), _) => {
                h.insert_child_at(pick_parent(h, parent), index, local)?;
            }
            (Self::Clear, _) => h.clear(),
            (Self::Update, _) => drop(h.update()),
            (Self::Optimize, _) => h.optimize(),
            (_, None) => {}
            (Self::AddChild(_, local), Some(id)) => drop(h.add_child(id, local)?),
            (Self::SetLocal(_, local), Some(id)) => h.set_local(id, local)?,
            (Self::Reparent(_, parent, keep), Some(id)) => drop(h.reparent(id, pick_parent(h, parent), keep)?),
            (Self::ReparentAt(_, parent, index, keep), Some(id)) => {
                h.reparent_at(id, pick_parent(h, parent), index, keep)?;
            }
            (Self::MoveToIndex(_, index), Some(id)) => h.move_to_index(id, index)?,
            (Self::RemoveSubtree(_), Some(id)) => drop(h.remove_subtree(id)?),
            (Self::RemoveChildren(_), Some(id)) => drop(h.remove_children(id)?),
            (Self::RemoveAndPromote(_, keep), Some(id)) => h.remove_and_promote(id, keep)?,
            (Self::Flatten(_, keep), Some(id)) => h.flatten(id, keep)?,
            (Self::CloneSubtree(_, parent), Some(id)) => drop(h.clone_subtree(id, pick_parent(h, parent))?),
            (Self::SetInherit(_, inherit, keep), Some(id)) => h.set_inherit(id, inherit, keep)?,
        }
        Ok(())
    }
}

/// Edits with such local values. More nodes are added than removed; about one in forty clears.
pub fn edits<T: Copy + Debug + 'static>(
    locals: impl Strategy<Value = T> + Clone + 'static,
) -> impl Strategy<Value = Edit<T>> + Clone {
    let node = || any::<u16>().prop_map(usize::from);
    let parent = || proptest::option::weighted(0.8, node());
    let keep = select(&[Keep::Local, Keep::World, Keep::WorldTrs][..]);
    // Beyond most lists now and then.
    let index = 0_usize..6;
    prop_oneof![
        4 => locals.clone().prop_map(Edit::AddRoot),
        8 => (node(), locals.clone()).prop_map(|(parent, local)| Edit::AddChild(parent, local)),
        4 => (parent(), index.clone(), locals.clone())
            .prop_map(|(parent, index, local)| Edit::InsertChildAt(parent, index, local)),
        6 => (node(), locals).prop_map(|(node, local)| Edit::SetLocal(node, local)),
        4 => (node(), parent(), keep.clone()).prop_map(|(node, parent, keep)| Edit::Reparent(node, parent, keep)),
        2 => (node(), parent(), index.clone(), keep.clone())
            .prop_map(|(node, parent, index, keep)| Edit::ReparentAt(node, parent, index, keep)),
        2 => (node(), index).prop_map(|(node, index)| Edit::MoveToIndex(node, index)),
        2 => node().prop_map(Edit::RemoveSubtree),
        1 => node().prop_map(Edit::RemoveChildren),
        2 => (node(), keep.clone()).prop_map(|(node, keep)| Edit::RemoveAndPromote(node, keep)),
        1 => (node(), keep.clone()).prop_map(|(node, keep)| Edit::Flatten(node, keep)),
        1 => (node(), parent()).prop_map(|(node, parent)| Edit::CloneSubtree(node, parent)),
        2 => (node(), inherits(), keep).prop_map(|(node, inherit, keep)| Edit::SetInherit(node, inherit, keep)),
        1 => Just(Edit::Clear),
        3 => Just(Edit::Update),
        1 => Just(Edit::Optimize),
    ]
}

/// Any of the eight; shrinks to [`Inherit::ALL`].
fn inherits() -> impl Strategy<Value = Inherit> + Clone {
    any::<[bool; 3]>().prop_map(|off| {
        let [position, rotation, scale] = off.map(|off| !off);
        Inherit { position, rotation, scale }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Components, DComponents, Matrices, Matrices2};
    use proptest::prelude::*;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    /// The simplest value that a draw shrinks to.
    fn simplest<S: Strategy>(strategy: S, runner: &mut TestRunner) -> S::Value {
        let mut tree = strategy.new_tree(runner).unwrap();
        while tree.simplify() {}
        tree.current()
    }

    #[test]
    fn everything_shrinks_to_the_simplest() {
        let mut runner = TestRunner::deterministic();
        for _ in 0..100 {
            assert_eq!(simplest(rigid_transforms(), &mut runner), Transform::IDENTITY);
            assert_eq!(simplest(uniform_transforms(), &mut runner), Transform::IDENTITY);
            assert_eq!(simplest(nonuniform_transforms(), &mut runner), Transform::IDENTITY);
            assert_eq!(simplest(transforms(), &mut runner), Transform::IDENTITY);
            assert_eq!(simplest(dtransforms(), &mut runner), DTransform::IDENTITY);
            assert_eq!(simplest(transforms2(), &mut runner), Transform2::IDENTITY);
            assert_eq!(simplest(dtransforms2(), &mut runner), DTransform2::IDENTITY);
            let mirrored = Transform::from_scale(Vec3::new(-1.0, 1.0, 1.0));
            assert_eq!(simplest(mirrored_transforms(), &mut runner), mirrored);
            let flat = Transform::from_scale(Vec3::new(0.0, 1.0, 1.0));
            assert_eq!(simplest(flat_transforms(), &mut runner), flat);
            assert_eq!(simplest(parents(Shape::Random, 3..9), &mut runner), [None; 3]);
            assert_eq!(simplest(edits(transforms()), &mut runner), Edit::AddRoot(Transform::IDENTITY));
            let h = simplest(hierarchies::<Matrices>(Shape::Chain, 2..9, transforms()), &mut runner);
            assert_eq!((h.len(), h.roots().count()), (2, 1));
        }
    }

    /// The plane and double precision have every kind too: a hierarchy takes each, and keeps its bits.
    #[test]
    fn all_kinds_are_drawn_in_the_plane_and_in_double_precision() {
        fn drawn<S: Strategy>(strategy: S, runner: &mut TestRunner) -> Vec<S::Value> {
            (0..1000).map(|_| strategy.new_tree(runner).unwrap().current()).collect()
        }
        macro_rules! check {
            ($Hierarchy:ident, $strategy:ident, $narrowed:expr, $runner:expr) => {
                let mut h = crate::$Hierarchy::new();
                let all = drawn($strategy(), $runner);
                for &t in &all {
                    let id = h.add_root(t).unwrap();
                    assert_eq!(h.local(id), Ok(t));
                }
                // One in ten each: a thousand draws with fewer than 50 are not to be expected, at p < 1e-8.
                assert!(all.iter().filter(|t| t.is_mirrored()).count() >= 50);
                assert!(all.iter().filter(|t| t.scale.to_array().contains(&0.0)).count() >= 50);
                assert!(all.iter().filter(|t| $narrowed(t)).count() <= 100, "digits of float32 alone");
            };
        }
        let runner = &mut TestRunner::deterministic();
        check!(Hierarchy2, transforms2, |_: &Transform2| false, runner);
        check!(DHierarchy, dtransforms, |t: &&DTransform| t.as_transform().as_dtransform() == **t, runner);
        check!(DHierarchy2, dtransforms2, |t: &&DTransform2| t.as_transform2().as_dtransform2() == **t, runner);
    }

    fn check_edits<A: Accumulate>(mut h: HierarchyOf<A>, edits: &[Edit<A::Transform>]) -> Result<(), TestCaseError> {
        for edit in edits {
            let (before, nodes) = (alloc::format!("{h:?}"), h.len());
            if edit.apply(&mut h).is_err() {
                prop_assert_eq!(&alloc::format!("{h:?}"), &before);
            }
            h.assert_well_formed();
            match edit {
                Edit::AddRoot(_) => prop_assert_eq!(h.len(), nodes + 1),
                Edit::AddChild(..) => prop_assert_eq!(h.len(), nodes + usize::from(nodes > 0)),
                Edit::Clear => prop_assert!(h.is_empty()),
                Edit::RemoveSubtree(_) => prop_assert!(h.len() < nodes.max(1)),
                _ => {}
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn kinds_are_what_they_are_called(
            rigid in rigid_transforms(),
            uniform in uniform_transforms(),
            nonuniform in nonuniform_transforms(),
            mirrored in mirrored_transforms(),
            flat in flat_transforms(),
            any in transforms(),
        ) {
            prop_assert_eq!(rigid.scale, Vec3::ONE);
            prop_assert_eq!(uniform.scale, Vec3::splat(uniform.scale.x));
            prop_assert!(mirrored.is_mirrored());
            prop_assert!(flat.scale.cmpeq(Vec3::ZERO).any() && !flat.is_mirrored());
            // 16 to within the rounding of a logarithm and of its inverse.
            let sizes = 1.0 / 16.001..16.001;
            for t in [uniform, nonuniform, mirrored] {
                prop_assert!(t.scale.abs().to_array().iter().all(|factor| sizes.contains(factor)));
            }
            for t in [rigid, uniform, nonuniform, mirrored, flat, any] {
                prop_assert!(t.position.abs().max_element() <= FAR);
                // A hierarchy takes it, and keeps its bits.
                let mut h = crate::Hierarchy::new();
                let id = h.add_root(t).unwrap();
                prop_assert_eq!(h.local(id), Ok(t));
            }
        }

        #[test]
        fn shapes_are_what_they_are_called(
            chain in parents(Shape::Chain, 5),
            wide in parents(Shape::Wide, 5),
            random in parents(Shape::Random, 1..50),
        ) {
            prop_assert_eq!(chain, [None, Some(0), Some(1), Some(2), Some(3)]);
            prop_assert_eq!(wide, [None, Some(0), Some(0), Some(0), Some(0)]);
            let before = |(entry, parent): (usize, &Option<usize>)| parent.is_none_or(|parent| parent < entry);
            prop_assert!((1..50).contains(&random.len()) && random.iter().enumerate().all(before));
        }

        #[test]
        fn any_edit_fits_any_hierarchy(
            matrices in hierarchies::<Matrices>(Shape::Random, 0..12, transforms()),
            components in hierarchies::<Components>(Shape::Random, 0..12, transforms()),
            edits in vec(edits(transforms()), 0..30),
        ) {
            check_edits(matrices, &edits)?;
            check_edits(components, &edits)?;
        }

        #[test]
        fn any_edit_fits_the_plane_and_double_precision(
            plane in hierarchies::<Matrices2>(Shape::Random, 0..12, transforms2()),
            double in hierarchies::<DComponents>(Shape::Random, 0..12, dtransforms()),
            edits2 in vec(edits(transforms2()), 0..30),
            dedits in vec(edits(dtransforms()), 0..30),
        ) {
            check_edits(plane, &edits2)?;
            check_edits(double, &dedits)?;
        }
    }
}
