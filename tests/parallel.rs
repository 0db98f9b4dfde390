//! `update_parallel` gives the bits of `update`, whatever the shape of what is dirty.
#![cfg(feature = "rayon")]

use posetree::glam::{DQuat, Quat, Vec2, Vec3};
use posetree::{
    ComponentHierarchy, Components, Components2, DComponents, DComponents2, DMatrices, DMatrices2, DTransform,
    DTransform2, Geometry, HierarchyOf, Keep, Matrices, Matrices2, NodeId, Transform, Transform2,
};

/// A splitmix64 generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

const NODES: usize = 70_000;

type Parent = fn(usize, &mut Random) -> Option<usize>;

/// Random, a chain, one wide parent, a chain with bushes, many roots, and a tree of fours.
const SHAPES: [(&str, Parent); 6] = [
    ("random", |n, random| (n > 0).then(|| random.below(n))),
    ("chain", |n, _| n.checked_sub(1)),
    ("wide", |n, _| (n > 0).then_some(0)),
    ("bushes", |n, _| n.checked_sub(1).map(|n| n - n % 60)),
    ("roots", |n, _| (n % 68 != 0).then(|| n - 1)),
    ("fours", |n, _| n.checked_sub(1).map(|n| n / 4)),
];

trait Kind: Geometry {
    fn transform(position: Vec3, angle: f32, scale: Vec3) -> Self::Transform;
    /// To the bit.
    fn same(a: &Self::Row, b: &Self::Row) -> bool;
}

macro_rules! kinds {
    ($($Matrices:ident, $Components:ident, $Transform:ident: $transform:expr, $rotation:expr;)+) => {$(
        impl Kind for $Matrices {
            fn transform(position: Vec3, angle: f32, scale: Vec3) -> $Transform {
                $transform(position, angle, scale)
            }

            fn same(a: &Self::Row, b: &Self::Row) -> bool {
                let [a, b] = [a, b].map(|row| row.as_flattened().iter().map(|number| number.to_bits()));
                a.eq(b)
            }
        }

        impl Kind for $Components {
            fn transform(position: Vec3, angle: f32, scale: Vec3) -> $Transform {
                $transform(position, angle, scale)
            }

            fn same(a: &$Transform, b: &$Transform) -> bool {
                let [a, b] = [a, b].map(|t| {
                    let numbers = t.position.to_array().into_iter().chain($rotation(t.rotation)).chain(t.scale.to_array());
                    numbers.map(|number| number.to_bits())
                });
                a.eq(b)
            }
        }
    )+};
}
kinds! {
    Matrices, Components, Transform:
        |p, angle, s| Transform::new(p, Quat::from_rotation_y(angle), s), |q: Quat| q.to_array();
    DMatrices, DComponents, DTransform:
        |p: Vec3, angle: f32, s: Vec3| DTransform::new(p.as_dvec3(), DQuat::from_rotation_y(angle.into()), s.as_dvec3()),
        |q: DQuat| q.to_array();
    Matrices2, Components2, Transform2:
        |p: Vec3, angle, s: Vec3| Transform2::new(p.truncate(), angle, Vec2::new(s.y, s.z)), |angle| [angle];
    DMatrices2, DComponents2, DTransform2:
        |p: Vec3, angle: f32, s: Vec3| {
            DTransform2::new(p.truncate().as_dvec2(), angle.into(), Vec2::new(s.y, s.z).as_dvec2())
        },
        |angle| [angle];
}

fn local<A: Kind>(random: &mut Random) -> A::Transform {
    let number = |random: &mut Random| random.below(2001) as f32 / 1000.0 - 1.0;
    let position = Vec3::new(number(random), number(random), number(random));
    A::transform(position, number(random), Vec3::new(1.0, 1.001, -0.999))
}

#[track_caller]
fn assert_same<A: Kind>(got: &[A::Row], want: &[A::Row], what: &str) {
    assert_eq!(got.len(), want.len(), "{what}");
    if let Some(row) = got.iter().zip(want).position(|(got, want)| !A::same(got, want)) {
        panic!("{what}: row {row} is {:?}, not {:?}", got[row], want[row]);
    }
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

fn compares<A: Kind>(pools: &[rayon::ThreadPool]) {
    for (name, parent) in SHAPES {
        let mut random = Random(7);
        let parents: Vec<_> = (0..NODES).map(|n| parent(n, &mut random)).collect();
        let locals: Vec<_> = (0..NODES).map(|_| local::<A>(&mut random)).collect();
        let mut h = HierarchyOf::<A>::new();
        let outside = h.add_root(local::<A>(&mut random)).unwrap();
        let ids: Vec<NodeId> = h.extend(outside, &parents, &locals).unwrap();
        for round in 0..6 {
            let mut by_one = h.clone();
            let want = by_one.update().rows();
            for pool in pools {
                let mut by_many = h.clone();
                let got = pool.install(|| by_many.update_parallel().rows().to_vec());
                assert_same::<A>(&got, want, &format!("{name}, round {round}"));
                by_many.assert_well_formed();
            }
            h.update();
            // A root, half of everything, holes in runs, a moved subtree, everything.
            match round {
                0 => h.set_local(outside, local::<A>(&mut random)).unwrap(),
                1 => ids.iter().step_by(2).for_each(|&id| h.set_local(id, local::<A>(&mut random)).unwrap()),
                2 => {
                    // So many that cuts would fall on holes.
                    let leaves: Vec<_> = h.leaves(outside).unwrap().collect();
                    for leaf in leaves {
                        if random.below(4) != 0 {
                            h.remove_subtree(leaf).unwrap();
                        }
                    }
                    h.set_local(outside, local::<A>(&mut random)).unwrap();
                }
                3 => {
                    let child = h.first_child(outside).unwrap().unwrap();
                    h.detach(child, Keep::Local).unwrap();
                    h.set_local(outside, local::<A>(&mut random)).unwrap();
                }
                _ => {
                    for &id in &ids {
                        if h.contains(id) {
                            h.set_local(id, local::<A>(&mut random)).unwrap();
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn bits_are_those_of_one_thread() {
    let pools = [pool(1), pool(2), pool(5)];
    compares::<Matrices>(&pools);
    compares::<Components>(&pools);
    compares::<DMatrices>(&pools);
    compares::<DComponents>(&pools);
    compares::<Matrices2>(&pools);
    compares::<Components2>(&pools);
    compares::<DMatrices2>(&pools);
    compares::<DComponents2>(&pools);
}

#[test]
fn an_empty_hierarchy_updates_too() {
    assert!(ComponentHierarchy::new().update_parallel().rows().is_empty());
}

/// A few nodes of a large tree hang elsewhere than where they lie: before, behind and outside of what is swept, under
/// what is dirty and what is not. What lies between them is shared all the same, and they come out right.
#[test]
fn bits_are_those_of_one_thread_with_strays() {
    let pools = [pool(2), pool(5)];
    for (seed, (name, parent)) in SHAPES.into_iter().enumerate() {
        let mut random = Random(seed as u64);
        let parents: Vec<_> = (0..NODES).map(|n| parent(n, &mut random)).collect();
        let locals: Vec<_> = (0..NODES).map(|_| local::<Matrices>(&mut random)).collect();
        let mut h = posetree::Hierarchy::new();
        let tops = [(); 2].map(|()| h.add_root(local::<Matrices>(&mut random)).unwrap());
        let ids = h.extend(tops[0], &parents, &locals).unwrap();
        h.update();
        for round in 0..12 {
            for _ in 0..[1, 3, 40][round % 3] {
                let (id, parent) = (ids[random.below(NODES)], ids[random.below(NODES)]);
                let parent = if random.below(4) == 0 { tops[1] } else { parent };
                // Into its own subtree it is refused.
                _ = h.reparent(id, parent, Keep::Local);
            }
            // One of them, or both, or some node in between.
            tops.iter().take(1 + round % 2).for_each(|&top| h.set_local(top, local::<Matrices>(&mut random)).unwrap());
            h.set_local(ids[random.below(NODES)], local::<Matrices>(&mut random)).unwrap();
            let mut by_one = h.clone();
            let want = by_one.update().rows();
            for pool in &pools {
                let mut by_many = h.clone();
                let got = pool.install(|| by_many.update_parallel().rows().to_vec());
                assert_same::<Matrices>(&got, want, &format!("{name}, round {round}"));
                by_many.assert_well_formed();
            }
            h.update();
        }
    }
}

/// A large subtree hangs under a node that lies behind it, or before it with others between, and is shared all the
/// same.
#[test]
fn parents_are_found_behind_what_is_swept_and_before_it() {
    let pool = pool(2);
    for (name, parent) in SHAPES {
        let mut random = Random(3);
        let mut h = posetree::Hierarchy::new();
        let first = h.add_root(local::<Matrices>(&mut random)).unwrap();
        h.add_root(local::<Matrices>(&mut random)).unwrap();
        let parents: Vec<_> = (0..NODES).map(|n| parent(n, &mut random)).collect();
        let locals: Vec<_> = (0..NODES).map(|_| local::<Matrices>(&mut random)).collect();
        let ids = h.extend(None, &parents, &locals).unwrap();
        h.update();
        let last = h.add_root(local::<Matrices>(&mut random)).unwrap();
        h.update();
        for top in [last, first] {
            h.reparent(ids[0], top, Keep::Local).unwrap();
            h.set_local(top, local::<Matrices>(&mut random)).unwrap();
            let mut by_one = h.clone();
            let want = by_one.update().rows();
            pool.install(|| h.update_parallel());
            assert_same::<Matrices>(h.update().rows(), want, name);
        }
    }
}

/// Every other character of a crowd moves, some of them roots, some below groups that rest.
#[test]
fn characters_of_a_crowd_are_shared() {
    const BONES: usize = 50;
    let mut random = Random(5);
    let mut h = posetree::Hierarchy::new();
    let mut dirty = Vec::new();
    let mut group = None;
    for character in 0..4_000 {
        if character % 100 == 0 {
            // Groups in groups: what is above a character is some rows before it.
            group = Some(h.add_root(local::<Matrices>(&mut random)).unwrap()).filter(|_| character % 300 != 0);
            for _ in 0..character / 500 {
                group = Some(match group {
                    Some(group) => h.add_child(group, local::<Matrices>(&mut random)).unwrap(),
                    None => h.add_root(local::<Matrices>(&mut random)).unwrap(),
                });
            }
        }
        let parents: Vec<_> = (0..BONES).map(|n| (n > 0).then(|| n - 1 - random.below(n.min(3)))).collect();
        let locals: Vec<_> = (0..BONES).map(|_| local::<Matrices>(&mut random)).collect();
        let ids = h.extend(group, &parents, &locals).unwrap();
        dirty.extend((character % 2 == 0).then_some(ids[0]));
    }
    h.update();
    h.optimize();
    h.update();
    let pool = pool(2);
    for _ in 0..3 {
        dirty.iter().for_each(|&id| h.set_local(id, local::<Matrices>(&mut random)).unwrap());
        let mut by_one = h.clone();
        let want = by_one.update().rows();
        pool.install(|| h.update_parallel());
        assert_same::<Matrices>(h.update().rows(), want, "a crowd");
    }
}
