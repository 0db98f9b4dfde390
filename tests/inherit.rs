//! Nodes that do not inherit everything, in both kinds of hierarchy, beside a float64 model written down from
//! the formulas of `Inherit`.
//!
//! ε is float32's spacing at one, u = ε/2 one rounding. Reading: a level of matrices is three products and
//! three sums of at most four roundings, 4 u of what is added up; a level of components a product of
//! quaternions, normalised, and a vector turned by it, 16 u of a column's or an offset's length, and what it
//! turned a wrong way before it carries on. `16 ε` of a column's size for each level is above both.
//! Solving: the law of `reparent`.

#[path = "common/bits.rs"]
mod bits;
#[path = "inherit/doors.rs"]
mod doors;
#[path = "inherit/flat.rs"]
mod flat;
#[path = "inherit/keep.rs"]
mod keep;
#[path = "inherit/model.rs"]
mod model;
#[path = "doors/stage.rs"]
#[allow(dead_code, reason = "the doors' tests use all of it")]
mod stage;

use model::{Tree, forests, inherits};
use posetree::glam::{Quat, Vec3};
use posetree::{Components, Geometry, HierarchyOf, Inherit, Keep, Matrices, Transform};
use proptest::prelude::*;
use proptest::test_runner::Config;
use stage::Kind;

pub(crate) const EPS: f64 = f32::EPSILON as f64;

pub(crate) fn config() -> Config {
    let default = Config::default();
    Config { cases: default.cases.max(1000), failure_persistence: None, ..default }
}

type Outcome = Result<(), TestCaseError>;

/// Every world is that of the model, and the same bits read before an update, after it, and after a sort.
fn reads<A: Kind>(mut tree: Tree<A>, edited: &[usize]) -> Outcome {
    tree.h.assert_well_formed();
    for id in tree.ids.clone() {
        tree.check_world(id)?;
    }
    for &at in edited {
        let id = tree.ids[at % tree.ids.len()];
        tree.h.set_position(id, Vec3::new(at as f32, 1.0, -2.0)).unwrap();
        let lazy = tree.bits();
        for sorted in [false, true] {
            let mut other = tree.h.clone();
            if sorted {
                other.optimize();
            }
            other.update();
            other.assert_well_formed();
            prop_assert_eq!(&lazy, &Tree { h: other, ids: tree.ids.clone() }.bits());
        }
        tree.check_world(id)?;
        tree.h.update();
    }
    tree.ids.iter().try_for_each(|&id| tree.check_world(id))
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn matrices_read_as_the_formulas_say(tree in forests::<Matrices>(), edited in prop::collection::vec(0..50usize, 0..4)) {
        reads(tree, &edited)?;
    }

    #[test]
    fn components_read_as_the_formulas_say(tree in forests::<Components>(), edited in prop::collection::vec(0..50usize, 0..4)) {
        reads(tree, &edited)?;
    }

    #[test]
    fn a_scale_through_zero_makes_nothing_jump_in_matrices(
        above in (stage::rotation(), stage::scale()), turn in stage::rotation(), inherit in inherits(),
        local in (stage::vector(2.0), stage::rotation()), axes in 1..8u8,
    ) {
        through_zero::<Matrices>(above, turn, inherit, local, axes)?;
    }

    #[test]
    fn a_scale_through_zero_makes_nothing_jump_in_components(
        above in (stage::rotation(), stage::scale()), turn in stage::rotation(), inherit in inherits(),
        local in (stage::vector(2.0), stage::rotation()), axes in 1..8u8,
    ) {
        through_zero::<Components>(above, turn, inherit, local, axes)?;
    }
}

/// A parent's scale goes from 1 to -1 along some axes. The world of a node below is linear in it, and so
/// moves in each step by no more than the step times the sizes of what it is multiplied with; and by what both
/// reads round: 8 ε of the sizes (of component poses; of matrices less) in each of three products.
fn through_zero<A: Kind>(
    (top_rotation, top_scale): (Quat, Vec3),
    turn: Quat,
    inherit: Inherit,
    (position, rotation): (Vec3, Quat),
    axes: u8,
) -> Outcome {
    let mut h = posetree::HierarchyOf::<A>::new();
    let top = h.add_root(Transform::new(Vec3::ONE, top_rotation, top_scale)).unwrap();
    let parent = h.add_child(top, Transform::from_rotation(turn)).unwrap();
    let node = h.add_child(parent, Transform::new(position, rotation, Vec3::ONE)).unwrap();
    let below = h.add_child(node, Transform::from_position(Vec3::ONE)).unwrap();
    h.set_inherit(node, inherit, Keep::Local).unwrap();
    let reach = top_scale.abs().max_element() * 3.0 * (position.abs().max_element() + 2.0);
    let steps = 40;
    let allowed = 2.0 / steps as f32 * reach + 2.0 * 3.0 * 8.0 * f32::EPSILON * (1.0 + reach);
    let mut last: Option<[[f32; 12]; 2]> = None;
    for step in 0..=steps {
        let factor = 1.0 - 2.0 * step as f32 / steps as f32;
        let along = |axis: u8| if axes >> axis & 1 == 1 { factor } else { 1.0 };
        h.set_scale(parent, Vec3::new(along(0), along(1), along(2))).unwrap();
        let now: [[f32; 12]; 2] = [node, below].map(|id| h.world_matrix(id).unwrap().to_cols_array());
        if let Some(last) = last {
            for (now, last) in now.iter().zip(&last) {
                for (now, last) in now.iter().zip(last) {
                    prop_assert!((now - last).abs() <= allowed, "{last} jumped to {now} at {factor}");
                }
            }
        }
        last = Some(now);
    }
    Ok(())
}

/// The three parts, one by one, where all numbers are exact.
#[test]
fn each_part_by_itself() {
    let half = Quat::from_xyzw(0.0, 0.0, 1.0, 0.0);
    let parent = Transform::new(Vec3::new(10.0, 0.0, 0.0), half, Vec3::new(2.0, 4.0, 8.0));
    let local = Transform::from_position(Vec3::new(1.0, 1.0, 1.0)).with_scale(Vec3::splat(3.0));
    let off = |position: bool, rotation: bool, scale: bool| Inherit {
        position: !position,
        rotation: !rotation,
        scale: !scale,
    };
    let cases = [
        (off(false, false, false), Transform::new(Vec3::new(8.0, -4.0, 8.0), half, Vec3::new(6.0, 12.0, 24.0))),
        (off(true, false, false), Transform::new(Vec3::ONE, half, Vec3::new(6.0, 12.0, 24.0))),
        (
            off(false, true, false),
            Transform::new(Vec3::new(12.0, 4.0, 8.0), Quat::IDENTITY, Vec3::new(6.0, 12.0, 24.0)),
        ),
        (off(false, false, true), Transform::new(Vec3::new(9.0, -1.0, 1.0), half, Vec3::splat(3.0))),
        (off(false, true, true), Transform::new(Vec3::new(11.0, 1.0, 1.0), Quat::IDENTITY, Vec3::splat(3.0))),
        (off(true, true, false), Transform::new(Vec3::ONE, Quat::IDENTITY, Vec3::new(6.0, 12.0, 24.0))),
        (off(true, false, true), Transform::new(Vec3::ONE, half, Vec3::splat(3.0))),
        (Inherit::NONE, local),
    ];
    fn world<A: Kind>(parent: Transform, local: Transform, inherit: Inherit) -> posetree::glam::Affine3A {
        let mut h = posetree::HierarchyOf::<A>::new();
        let root = h.add_root(parent).unwrap();
        let node = h.add_child(root, local).unwrap();
        h.set_inherit(node, inherit, Keep::Local).unwrap();
        assert_eq!(h.inherit(node), Ok(inherit));
        h.world_matrix(node).unwrap()
    }
    for (inherit, expected) in cases {
        assert_eq!(world::<Matrices>(parent, local, inherit), expected.to_affine(), "{inherit:?}");
        assert_eq!(world::<Components>(parent, local, inherit), expected.to_affine(), "{inherit:?}");
    }
}

/// What a root is to inherit is kept for when it gets a parent.
#[test]
fn a_root_has_nothing_to_inherit() {
    let mut h = posetree::Hierarchy::new();
    let local = Transform::new(Vec3::X, Quat::from_rotation_z(0.5), Vec3::new(1.0, 2.0, 3.0));
    let node = h.add_root(local).unwrap();
    let before = h.world(node).unwrap();
    for (inherit, keep) in [(Inherit::NONE, Keep::World), (Inherit::ALL, Keep::WorldTrs), (Inherit::NONE, Keep::Local)]
    {
        h.set_inherit(node, inherit, keep).unwrap();
        assert_eq!((h.world(node), h.local(node)), (Ok(before), Ok(local)));
    }
    let parent = h.add_root(Transform::new(Vec3::Y, Quat::from_rotation_x(1.0), Vec3::ZERO)).unwrap();
    h.reparent(node, parent, Keep::World).unwrap(); // the flat parent is nothing to it
    assert_eq!((h.world(node), h.local(node)), (Ok(before), Ok(local)));
    h.detach(node, Keep::Local).unwrap();
    assert_eq!((h.world(node), h.inherit(node)), (Ok(before), Ok(Inherit::NONE)));
}

/// The same in double precision, where float32 would not tell the positions apart.
#[test]
fn each_part_in_double_precision() {
    use posetree::DTransform;
    use posetree::glam::{DQuat, DVec3};
    fn check<A: Geometry<Transform = DTransform, Vector = DVec3, Rotation = DQuat>>() {
        let mut h = HierarchyOf::<A>::new();
        let half = DQuat::from_xyzw(0.0, 0.0, 1.0, 0.0);
        let far = DVec3::new(1e9, 0.0, 0.0);
        let root = h.add_root(DTransform::new(far, half, DVec3::splat(2.0))).unwrap();
        let at = |inherit: Inherit, keep: Keep| {
            let mut h = h.clone();
            let node = h.add_child(root, DTransform::from_position(DVec3::new(0.125, 0.0, 0.0))).unwrap();
            h.set_inherit(node, inherit, keep).unwrap();
            h.assert_well_formed();
            let worlds = (h.world_position(node).unwrap(), h.world_scale(node).unwrap());
            h.set_world_position(node, far).unwrap();
            assert_eq!(h.world_position(node), Ok(far));
            worlds
        };
        let [all, one, two] = [DVec3::new(1e9 - 0.25, 0.0, 0.0), DVec3::ONE, DVec3::splat(2.0)];
        assert_eq!(at(Inherit::ALL, Keep::Local), (all, two));
        assert_eq!(at(Inherit { scale: false, ..Inherit::ALL }, Keep::Local).0, far - DVec3::new(0.125, 0.0, 0.0));
        assert_eq!(at(Inherit { rotation: false, ..Inherit::ALL }, Keep::Local).0, far + DVec3::new(0.25, 0.0, 0.0));
        assert_eq!(at(Inherit { position: false, ..Inherit::ALL }, Keep::Local).0, DVec3::new(0.125, 0.0, 0.0));
        assert_eq!(at(Inherit::NONE, Keep::Local), (DVec3::new(0.125, 0.0, 0.0), one));
        for inherit in [Inherit::NONE, Inherit { scale: false, ..Inherit::ALL }] {
            assert_eq!(at(inherit, Keep::World), (all, two));
        }
    }
    check::<posetree::DMatrices>();
    check::<posetree::DComponents>();
}

#[test]
fn each_part_in_the_plane() {
    use posetree::Transform2;
    use posetree::glam::Vec2;
    fn check<A: Geometry<Transform = Transform2, Vector = Vec2, Rotation = f32>>() {
        let mut h = HierarchyOf::<A>::new();
        let quarter = std::f32::consts::FRAC_PI_2;
        let root = h.add_root(Transform2::new(Vec2::new(10.0, 0.0), quarter, Vec2::splat(2.0))).unwrap();
        let at = |inherit: Inherit, keep: Keep| {
            let mut h = h.clone();
            let node = h.add_child(root, Transform2::from_position(Vec2::X)).unwrap();
            h.set_inherit(node, inherit, keep).unwrap();
            h.assert_well_formed();
            let lazy = h.world_matrix(node).unwrap();
            h.update();
            assert_eq!(h.world_matrix(node).unwrap(), lazy);
            let world =
                (h.world_position(node).unwrap(), h.world_rotation(node).unwrap(), h.world_scale(node).unwrap());
            h.set_world_rotation(node, 0.5).unwrap();
            assert!((h.world_rotation(node).unwrap() - 0.5).abs() < 1e-6);
            world
        };
        let check = |inherit, keep, position: Vec2, rotation: f32, scale: f32| {
            let world = at(inherit, keep);
            assert!(world.0.abs_diff_eq(position, 1e-5) && (world.1 - rotation).abs() < 1e-6, "{inherit:?}: {world:?}");
            assert!(world.2.abs_diff_eq(Vec2::splat(scale), 1e-6), "{inherit:?}: {world:?}");
        };
        check(Inherit::ALL, Keep::Local, Vec2::new(10.0, 2.0), quarter, 2.0);
        check(Inherit { scale: false, ..Inherit::ALL }, Keep::Local, Vec2::new(10.0, 1.0), quarter, 1.0);
        check(Inherit { rotation: false, ..Inherit::ALL }, Keep::Local, Vec2::new(12.0, 0.0), 0.0, 2.0);
        check(Inherit { position: false, ..Inherit::ALL }, Keep::Local, Vec2::X, quarter, 2.0);
        check(Inherit::NONE, Keep::Local, Vec2::X, 0.0, 1.0);
        check(Inherit::NONE, Keep::World, Vec2::new(10.0, 2.0), quarter, 2.0);
    }
    check::<posetree::Matrices2>();
    check::<posetree::Components2>();
}
