//! Readers of changes, each at its own pace, and previous poses, over the random edits of the scripts.

use super::scripts::{KINDS, Step};
use super::*;
use crate::{NotTracked, Version, Worlds};
use alloc::collections::BTreeSet;
use proptest::prelude::*;

/// What happened when, in views: a mark is what `is_dirty` told before an update.
#[derive(Default)]
struct History {
    now: usize,
    changed: BTreeMap<NodeId, usize>,
    removed: Vec<(usize, NodeId)>,
}

/// Knows the world only by what it is told has changed.
#[derive(Clone, Default)]
struct Reader {
    seen: Version,
    time: usize,
    worlds: BTreeMap<NodeId, u64>,
    buffer: Vec<u64>,
}

impl Reader {
    /// Whether what was removed is exactly known is told, and whether rows were listed one by one.
    fn read(&mut self, worlds: Worlds<'_, Hash>, history: &History, live: &BTreeMap<NodeId, u64>) -> (bool, bool) {
        let listed: Vec<_> = worlds.changed_since(self.seen).collect();
        let changed: BTreeSet<_> = listed.iter().copied().collect();
        assert_eq!(listed.len(), changed.len(), "a node is listed twice");
        let later = history.changed.iter().filter(|&(_, &time)| time > self.time).map(|(&id, _)| id);
        assert_eq!(changed, later.collect(), "what changed since {:?}", self.seen);

        let removals = history.removed.iter().rev().take_while(|(time, _)| *time > self.time).map(|&(_, id)| id);
        let told = worlds.removed_since(self.seen);
        let exact = told.is_some();
        match told {
            Some(removed) => {
                // What was taken out and restored is there, and may be gone more than once.
                let gone: BTreeSet<_> = removals.filter(|id| !live.contains_key(id)).collect();
                assert_eq!(removed.clone().collect::<BTreeSet<_>>(), gone, "removed since {:?}", self.seen);
                removed.for_each(|id| _ = self.worlds.remove(&id));
            }
            None => {
                assert!(removals.count() > 1024, "a short list of removals is forgotten");
                self.worlds.retain(|&id, _| worlds.get(id).is_ok());
            }
        }
        self.worlds.extend(changed.iter().map(|&id| (id, worlds[id])));
        assert_eq!(self.worlds, *live, "worlds by changes");

        let rows = worlds.rows();
        self.buffer.resize(rows.len(), 1);
        let (mut end, mut all) = (None, false);
        let is_new = |row| worlds.id_of_row(row).is_none_or(|id| changed.contains(&id));
        for range in worlds.changed_rows_since(self.seen) {
            assert!(end.is_none_or(|end| range.start > end + 64), "{range:?} could be one with the range before");
            all = range == (0..rows.len());
            assert!(all || is_new(range.start) && is_new(range.end - 1), "{range:?} could be shorter");
            end = Some(range.end);
            self.buffer[range.clone()].copy_from_slice(&rows[range]);
        }
        assert_eq!(self.buffer, rows, "rows by changes");
        (self.seen, self.time) = (worlds.version(), history.now);
        (exact, !all)
    }
}

/// What previous poses are to be, while they are on.
#[derive(Default)]
struct Past {
    tracked: bool,
    /// After the last update, and after the one before.
    worlds: [BTreeMap<NodeId, u64>; 2],
    /// Nodes that were dirty when their past was forgotten; so are those that are not in the last worlds.
    fresh: BTreeSet<NodeId>,
    /// Rows by changes, and the versions of the last two steps.
    buffer: Vec<u64>,
    seen: [Version; 2],
}

impl Past {
    /// An update that is no step: only what had no past has one now.
    fn update_within_step(&mut self, now: BTreeMap<NodeId, u64>) {
        let [last, before] = &mut self.worlds;
        let new = now.iter().filter(|(id, _)| self.fresh.contains(id) || !last.contains_key(id));
        before.extend(new);
        *last = now;
        self.fresh.clear();
    }

    fn update(&mut self, now: BTreeMap<NodeId, u64>) {
        let [last, before] = &mut self.worlds;
        *before = now.clone();
        let known = last.iter().filter(|(id, _)| !self.fresh.contains(id) && now.contains_key(id));
        before.extend(known);
        *last = now;
        self.fresh.clear();
    }

    /// The past of those nodes ends now.
    fn forget(&mut self, ids: &[NodeId], h: &HierarchyOf<Hash>) {
        for &id in ids {
            if h.is_dirty(id).unwrap() {
                self.fresh.insert(id);
            } else {
                self.worlds[1].insert(id, self.worlds[0][&id]);
            }
        }
    }

    fn check(&self, pair: &Pair, id: NodeId) {
        if !self.tracked {
            assert_eq!(pair.h.world_previous(id), Err(NotTracked.into()));
        } else if self.fresh.contains(&id) || !self.worlds[0].contains_key(&id) {
            assert_eq!(pair.h.world_previous(id), Ok(pair.world(id)), "{id:?} has no past");
        } else {
            assert_eq!(pair.h.world_previous(id), Ok(self.worlds[1][&id]), "the past of {id:?}");
        }
    }

    /// After an update.
    fn read(&mut self, worlds: Worlds<'_, Hash>, is_step: bool) {
        let [last, seen] = self.seen;
        if is_step {
            self.seen = [worlds.version(), last];
        }
        let Some(rows) = worlds.previous_rows() else { return assert!(!self.tracked) };
        assert_eq!(rows.len(), worlds.rows().len());
        for (row, world) in rows.iter().enumerate() {
            assert_eq!(*world, worlds.id_of_row(row).map_or(0, |id| self.worlds[1][&id]), "previous row {row}");
        }
        self.buffer.resize(rows.len(), 1);
        worlds.changed_rows_since(seen).for_each(|range| self.buffer[range.clone()].copy_from_slice(&rows[range]));
        assert_eq!(self.buffer, rows, "previous rows by changes");
    }
}

struct Watch {
    pair: Pair,
    past: Past,
    history: History,
    readers: [Reader; 3],
    /// The nodes that were there after the last step.
    live: BTreeSet<NodeId>,
    /// How often an answer was exact, and rows were listed.
    told: [usize; 2],
}

impl Watch {
    fn new() -> Self {
        let (history, readers) = (History::default(), Default::default());
        Self { pair: Pair::new(), past: Past::default(), history, readers, live: BTreeSet::new(), told: [0; 2] }
    }

    /// After a step: what is gone has gone before the next view, and has no past should it come back.
    fn note_removals(&mut self) {
        let live = self.pair.live.iter().copied().collect();
        for id in self.live.difference(&live) {
            self.history.removed.push((self.history.now + 1, *id));
            self.history.changed.remove(id);
            self.past.worlds.iter_mut().for_each(|worlds| _ = worlds.remove(id));
            self.past.fresh.remove(id);
        }
        self.live = live;
    }

    /// Updates, if anything is dirty or by the way, and lets some of the readers read.
    fn view(&mut self, readers: u32) {
        self.history.now += 1;
        let before = self.pair.h.worlds().map(|worlds| worlds.version());
        let dirty: Vec<_> = self.pair.live.iter().copied().filter(|&id| self.pair.h.is_dirty(id).unwrap()).collect();
        for &id in &dirty {
            self.history.changed.insert(id, self.history.now);
        }
        #[cfg(feature = "rayon")]
        let mut parallel = self.pair.h.clone();
        // A view of what is clean is as good as an update.
        if before.is_none() || readers % 2 == 0 {
            let is_step = readers % 6 < 4;
            if is_step {
                self.past.update(self.pair.worlds());
                self.pair.update();
            } else {
                self.past.update_within_step(self.pair.worlds());
                self.pair.h.update_within_step();
            }
            self.past.read(self.pair.h.worlds().unwrap(), is_step);
        }
        let worlds = self.pair.h.worlds().unwrap();
        assert!(before.is_none_or(|before| before == worlds.version()), "a clean update makes no version");
        let live = self.pair.live.iter().map(|&id| (id, worlds[id])).collect();
        #[cfg(feature = "rayon")]
        {
            let parallel = parallel.update_parallel();
            for Reader { seen, .. } in &self.readers {
                assert_eq!(parallel.version(), worlds.version());
                assert!(parallel.changed_since(*seen).eq(worlds.changed_since(*seen)));
                assert!(parallel.changed_rows_since(*seen).eq(worlds.changed_rows_since(*seen)));
                assert!(
                    parallel.removed_since(*seen).map(Vec::from_iter)
                        == worlds.removed_since(*seen).map(Vec::from_iter)
                );
            }
        }
        for (n, reader) in self.readers.iter_mut().enumerate() {
            if n == 0 || readers >> (4 * n) & 15 < 6 / n as u32 {
                let (exact, listed) = reader.read(worlds, &self.history, &live);
                self.told[0] += usize::from(exact);
                self.told[1] += usize::from(listed);
            }
        }
    }

    fn step(&mut self, step: Step) {
        match (step.0 % KINDS, self.pair.pick(step.1)) {
            // Updates are seen by the model.
            (27 | 28, _) => self.view(step.1),
            (20 | 21, Some(id)) if step.3 % 2 == 0 => {
                self.pair.h.forget_previous(id).unwrap();
                self.past.forget(&self.pair.forest.subtree(id), &self.pair.h);
            }
            (29, _) if step.3 % 3 == 0 => self.track(step.3 % 2 == 0),
            _ => {
                self.pair.step(step);
                self.note_removals();
            }
        }
        if let Some(&id) = self.pair.dead.last() {
            assert!(self.pair.h.world_previous(id).is_err() && self.pair.h.forget_previous(id).is_err());
        }
    }

    fn track(&mut self, on: bool) {
        if on && !self.past.tracked {
            self.past.forget(&self.pair.live, &self.pair.h);
            self.past.seen = [Version::default(); 2];
        }
        self.past.tracked = on;
        self.pair.h.track_previous(on);
        assert_eq!(self.pair.h.tracks_previous(), on);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn readers_are_told_what_changed(steps in prop::collection::vec((any::<Step>(), 0u32..3), 1..80)) {
        let mut watch = Watch::new();
        watch.track(true);
        for (step, view) in steps {
            watch.step(step);
            watch.pair.h.assert_well_formed();
            watch.pair.live.iter().for_each(|&id| watch.past.check(&watch.pair, id));
            if view == 0 {
                watch.view(step.3);
            }
        }
    }
}

/// Thousands of nodes, in which rows are compacted and updates sort when they see fit.
fn long(seed: u64, steps: usize, every: usize, quiet: &[u8]) -> [usize; 2] {
    let mut random = Random(seed);
    let mut watch = Watch::new();
    for at in 0..steps {
        let mut kind = random.next() as u8 % KINDS;
        let thinning = at % 1000 > 900;
        if !thinning && matches!(kind, 8 | 9 | 31) || quiet.contains(&kind) {
            kind = [0, 6, 7, 22][random.below(4)];
        }
        let n = [(); 3].map(|()| random.next() as u32);
        watch.step((kind, n[0], n[1], n[2]));
        (0..4).filter_map(|nth| watch.pair.pick(n[1] ^ nth)).for_each(|id| watch.past.check(&watch.pair, id));
        if at % every == 0 {
            watch.view(random.next() as u32);
        }
        if at % 500 == 0 {
            watch.pair.check();
        }
    }
    watch.told
}

#[test]
fn readers_of_long_scripts_are_told_what_changed() {
    let [exact, listed] = long(0x2545_f491_4f6c_dd1d, 6_000, 20, &[29, 30]);
    assert!(exact > 100 && listed > 100, "{exact} and {listed} answers in detail");
    long(0x9e37_79b9_7f4a_7c15, 3_000, 5, &[29]);
    long(0xd134_2543_de82_ef95, 4_000, 200, &[]);
}

/// Rows that are swept because it is faster than to leave them out have not changed.
#[test]
fn rows_swept_by_the_way_are_not_listed() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let mut watch = Watch::new();
    let up = |n: usize| [0, 1, 2, 1][n % 4];
    let parents: Vec<_> = (0..20_000).map(|n| (up(n) != 0).then(|| n - up(n))).collect();
    let locals: Vec<_> = parents.iter().map(|_| random.pose()).collect();
    let ids = watch.pair.h.extend(None, &parents, &locals).unwrap();
    for (at, &id) in ids.iter().enumerate() {
        let parent = parents[at].map(|parent| ids[parent]);
        let index = watch.pair.forest.list(parent).len();
        watch.pair.inserted(id, parent, index, locals[at]);
    }
    watch.view(0);
    for percent in [1, 20, 40, 90] {
        for &id in &ids {
            if random.below(100) < percent {
                watch.pair.set(id, random.pose());
            }
        }
        let due = ids.iter().filter(|&&id| watch.pair.h.is_dirty(id).unwrap()).count();
        let computed = update(&mut watch.pair.h.clone());
        assert!(percent < 20 || computed > due, "{computed} rows were computed for {due}");
        watch.view(0);
    }
}

#[test]
fn a_reader_that_comes_too_late_is_told_so() {
    let mut h = HierarchyOf::<Hash>::new();
    let old: Vec<_> = (0..8_000).map(|n| h.add_root(pose(1, n)).unwrap()).collect();
    let start = h.update().version();
    // 1024 and a quarter of the slots.
    for (n, &id) in old[..3_024].iter().enumerate() {
        h.remove_subtree(id).unwrap();
        let worlds = h.update();
        assert!(worlds.removed_since(start).unwrap().eq(old[..=n].iter().copied()));
        assert!(worlds.removed_since(worlds.version()).unwrap().eq([]));
    }
    h.remove_subtree(old[3_024]).unwrap();
    let worlds = h.update();
    assert!(worlds.removed_since(start).is_none());
    assert!(worlds.removed_since(Version::default()).is_none());
    assert_eq!(worlds.removed_since(worlds.version()).unwrap().count(), 0);

    // Without a reader, and without an update, nothing grows.
    for _ in 0..100_000 {
        let id = h.add_root(1).unwrap();
        h.remove_subtree(id).unwrap();
    }
    assert_eq!(h.update().removed_since(Version::default()).map(|removed| removed.count()), None);
    h.clear();
    h.assert_well_formed();
    assert!(h.update().rows().is_empty());
    assert_eq!(h.update().changed_rows_since(start).count(), 0);
}
