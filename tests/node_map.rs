//! `NodeMap` against a plain map of ids, in which no slot has a second entry.

use posetree::{Hierarchy, NodeId, NodeMap, Transform};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Ids of the same few slots in several generations: row by generation, all of a row alive at once.
fn ids(slots: usize, generations: usize) -> Vec<Vec<NodeId>> {
    let mut h = Hierarchy::new();
    let mut rows = Vec::new();
    for _ in 0..generations {
        let mut row: Vec<_> = (0..slots).map(|_| h.add_root(Transform::IDENTITY).unwrap()).collect();
        row.iter().for_each(|&id| assert_eq!(h.remove_subtree(id), Ok(1)));
        row.sort();
        rows.push(row);
    }
    rows
}

const SLOTS: usize = 12;
const GENERATIONS: usize = 4;

/// By slot: generation and value.
type Model = HashMap<usize, (usize, Rc<u32>)>;

struct Subject {
    ids: Vec<Vec<NodeId>>,
    map: NodeMap<Rc<u32>>,
    model: Model,
}

impl Subject {
    /// What the model says of an id.
    fn held(&self, slot: usize, generation: usize) -> Option<Rc<u32>> {
        self.model.get(&slot).filter(|held| held.0 == generation).map(|held| held.1.clone())
    }

    fn pairs(&self) -> Vec<(NodeId, u32)> {
        let sorted: BTreeMap<_, _> = self.model.iter().collect();
        sorted.into_iter().map(|(&slot, (generation, value))| (self.ids[*generation][slot], **value)).collect()
    }

    fn step(&mut self, (kind, slot, generation, n): (u8, usize, usize, u32)) {
        let (slot, generation) = (slot % SLOTS, generation % GENERATIONS);
        let id = self.ids[generation][slot];
        let held = self.held(slot, generation);
        let newer = self.model.get(&slot).is_some_and(|held| held.0 > generation);
        match kind % 12 {
            0..=3 => {
                assert_eq!(self.map.insert(id, Rc::new(n)), held);
                if !newer {
                    self.model.insert(slot, (generation, Rc::new(n)));
                }
            }
            4 => {
                let got = self.map.get_or_insert_with(id, || Rc::new(n)).map(|value| value.clone());
                assert_eq!(got.is_none(), newer);
                if !newer {
                    assert_eq!(got.as_deref(), Some(held.as_deref().unwrap_or(&n)));
                    self.model.entry(slot).and_modify(|at| at.0 = generation).or_insert((generation, Rc::new(n)));
                    self.model.get_mut(&slot).unwrap().1 = got.unwrap();
                }
            }
            5 | 6 => {
                assert_eq!(self.map.remove(id), held);
                if held.is_some() {
                    self.model.remove(&slot);
                }
            }
            7 => {
                if let Some(value) = self.map.get_mut(id) {
                    *value = Rc::new(n);
                    self.model.insert(slot, (generation, Rc::new(n)));
                }
            }
            8 => {
                let mut asked = Vec::new();
                self.map.retain(|id, value| {
                    asked.push((id, **value));
                    **value % 3 != n % 3
                });
                assert_eq!(asked, self.pairs());
                self.model.retain(|_, held| *held.1 % 3 != n % 3);
            }
            9 if n % 4 == 0 => {
                let wanted = self.pairs();
                match n % 3 {
                    0 => assert!(self.map.drain().map(|(id, value)| (id, *value)).eq(wanted)),
                    // Leaves some behind in the iterator.
                    1 => {
                        assert!(self.map.drain().take(2).map(|(id, value)| (id, *value)).eq(wanted.into_iter().take(2)))
                    }
                    _ => self.map.clear(),
                }
                self.model.clear();
            }
            10 => {
                self.map.values_mut().for_each(|value| *value = Rc::new(**value ^ n));
                self.map.iter_mut().rev().for_each(|(_, value)| *value = Rc::new(**value + 1));
                self.model.values_mut().for_each(|held| held.1 = Rc::new((*held.1 ^ n) + 1));
            }
            _ => {
                // Through every conversion, and in another order.
                let map = std::mem::take(&mut self.map);
                let copy = map.clone();
                self.map = map.into_iter().rev().collect();
                assert_eq!(copy, self.map);
            }
        }
    }

    fn check(&self) {
        let (map, pairs) = (&self.map, self.pairs());
        assert_eq!((map.len(), map.is_empty()), (pairs.len(), pairs.is_empty()));
        assert!(map.iter().map(|(id, value)| (id, **value)).eq(pairs.iter().copied()));
        assert!(map.iter().rev().map(|(id, value)| (id, **value)).eq(pairs.iter().rev().copied()));
        assert_eq!((map.iter().len(), map.keys().len(), map.values().len()), (pairs.len(), pairs.len(), pairs.len()));
        assert!(map.keys().eq(pairs.iter().map(|pair| pair.0)));
        assert!(map.values().map(|value| **value).eq(pairs.iter().map(|pair| pair.1)));
        assert_eq!(format!("{map:?}"), format!("{:?}", pairs.iter().copied().collect::<BTreeMap<_, _>>()));
        for generation in 0..GENERATIONS {
            for slot in 0..SLOTS {
                let (id, held) = (self.ids[generation][slot], self.held(slot, generation));
                assert_eq!(map.get(id), held.as_ref());
                assert_eq!(map.contains_key(id), held.is_some());
                if let Some(held) = held {
                    assert_eq!(map[id], held);
                }
            }
        }
        // Equal exactly if the same nodes have the same values, whatever the room behind.
        let mut other: NodeMap<Rc<u32>> = map.clone().into_iter().collect();
        assert_eq!(&other, map);
        if let Some((id, value)) = pairs.last() {
            other.insert(*id, Rc::new(value + 1));
            assert_ne!(&other, map);
            other.remove(*id);
            assert_ne!(&other, map);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_map_by_node_is_a_map(
        steps in prop::collection::vec((any::<u8>(), any::<usize>(), any::<usize>(), 0u32..1000), 1..60),
    ) {
        let mut subject = Subject { ids: ids(SLOTS, GENERATIONS), map: NodeMap::new(), model: HashMap::new() };
        for step in steps {
            subject.step(step);
            subject.check();
        }
    }
}

#[test]
fn nothing_is_dropped_twice_or_never() {
    let value = Rc::new(0);
    let ids = ids(3, 2);
    let mut map: NodeMap<Rc<u32>> = ids.iter().flatten().map(|&id| (id, value.clone())).collect();
    assert_eq!(Rc::strong_count(&value), 4, "the newer ones replaced the older ones");
    assert_eq!(map.insert(ids[0][0], value.clone()), None);
    assert_eq!(Rc::strong_count(&value), 4, "an older one is dropped at once");
    drop(map.drain().next());
    assert_eq!((Rc::strong_count(&value), map.len()), (1, 0));
}

#[test]
#[should_panic(expected = "1v1 has no value in this map")]
fn indexing_without_a_value_panics() {
    let map = NodeMap::from_iter([(ids(2, 1)[0][0], 1)]);
    let _ = map[ids(2, 1)[0][1]];
}

#[test]
#[should_panic(expected = "0v1 has no value in this map")]
fn indexing_an_older_node_to_change_it_panics() {
    let ids = ids(1, 2);
    let mut map = NodeMap::from_iter([(ids[1][0], 1)]);
    map[ids[0][0]] = 2;
}

#[test]
fn traits_that_callers_count_on() {
    const fn shared<T: Send + Sync + Clone + std::fmt::Debug + Default + Eq>() {}
    shared::<NodeMap<u8>>();
    let mut map = NodeMap::with_capacity(9);
    let id = ids(1, 1)[0][0];
    map.insert(id, 'a');
    map[id] = 'b';
    assert_eq!(format!("{:?} {:?}", map.iter(), map), "Iter with 1 left {0v1: 'b'}");
    for (_, value) in &mut map {
        *value = 'c';
    }
    assert!((&map).into_iter().eq([(id, &'c')]));
}
