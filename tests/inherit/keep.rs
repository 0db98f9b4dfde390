//! What keeps the world keeps it, whoever on the way up does not inherit everything.

use super::model::{Tree, columns, condition, forests, hung, inherits, near};
use super::*;
use posetree::glam::DAffine3;
use posetree::{NodeId, ReparentError};
use stage::Pose;

/// What is done with a node.
#[derive(Clone, Copy, Debug)]
enum Change {
    Inherit(Inherit),
    /// The number of the new parent; the node becomes a root where that is at or below it.
    Reparent(usize),
    Promote,
}

fn changes() -> impl Strategy<Value = (usize, Change, Keep)> {
    let change = prop_oneof![
        3 => inherits().prop_map(Change::Inherit),
        1 => Just(Change::Inherit(Inherit::ALL)),
        4 => (0..50usize).prop_map(Change::Reparent),
        1 => Just(Change::Promote),
    ];
    (0..50usize, change, prop_oneof![1 => Just(Keep::Local), 3 => Just(Keep::World), 2 => Just(Keep::WorldTrs)])
}

/// A node that is to keep its world: where it hangs afterwards, what it inherits there, and what it was.
struct Due {
    id: NodeId,
    parent: Option<NodeId>,
    inherit: Inherit,
    wanted: Pose,
}

impl<A: Kind> Tree<A> {
    fn due(&self, id: NodeId, parent: Option<NodeId>, inherit: Inherit) -> Due {
        Due { id, parent, inherit, wanted: self.world(id) }
    }

    /// The law: `|P L - W| ≤ 2 ε |P||L|` element by element. What is to be held as a transform is taken for one if that
    /// is within 24 ε of it by the column (`try_from`); in components the world is right by the column.
    fn kept(&self, due: &Due, frame: &Pose, keep: Keep) -> Outcome {
        let inherit = if due.parent.is_some() { due.inherit } else { Inherit::ALL };
        let local = self.local(due.id);
        let got = hung::<A>(frame, inherit, &local);
        if keep == Keep::WorldTrs {
            prop_assert!(self.h.is_trs(due.id).unwrap());
        }
        // What the model's float64 is off by, of all that was added up on both sides.
        let noise = columns(&due.wanted.size);
        let noise = DAffine3 { translation: noise.translation + got.size.translation, ..noise };
        let (law, times) = match (A::reads_shear(), keep) {
            (true, Keep::World) => (got.size, 2.0),
            (true, _) => (hung::<A>(frame, inherit, &Pose { size: columns(&local.size), ..local }).size, 26.0),
            (false, _) => (columns(&got.size), 32.0),
        };
        let mut allowed = law;
        allowed.matrix3 = law.matrix3 * (times * EPS) + noise.matrix3 * 1e-12;
        allowed.translation = law.translation * (times * EPS) + noise.translation * 1e-12;
        near("kept", &got.matrix, &due.wanted.matrix, &allowed, 1.0)
    }

    fn change(&mut self, at: usize, change: Change, keep: Keep) -> Outcome {
        let id = self.ids[at % self.ids.len()];
        let old = self.parent(id);
        let before = (self.clone(), self.bits());
        let (dues, result): (Vec<Due>, Result<(), ReparentError>) = match change {
            Change::Inherit(inherit) => (vec![self.due(id, old, inherit)], self.h.set_inherit(id, inherit, keep)),
            Change::Reparent(parent) => {
                let parent = self.ids[parent % self.ids.len()];
                let inside = parent == id || self.h.is_ancestor_of(id, parent).unwrap();
                let parent = (!inside).then_some(parent);
                let due = self.due(id, parent, self.inherit(id));
                (vec![due], self.h.reparent(id, parent, keep).map(|_| ()))
            }
            Change::Promote => {
                let children: Vec<_> = self.h.children(id).unwrap().collect();
                let dues = children.into_iter().map(|child| self.due(child, old, self.inherit(child))).collect();
                let result = self.h.remove_and_promote(id, keep);
                if result.is_ok() {
                    self.ids.retain(|&other| other != id);
                }
                (dues, result)
            }
        };
        self.h.assert_well_formed();
        let before_bits = before.1;
        let before = before.0;
        let frame = |due: &Due| before.frame(due.parent, due.inherit);
        match result {
            Ok(()) if keep == Keep::Local => {
                for due in dues {
                    prop_assert_eq!(self.transform(due.id), before.transform(due.id));
                    self.check_world(due.id)?;
                }
            }
            Ok(()) => {
                for due in dues {
                    self.kept(&due, &frame(&due), keep)?;
                    self.check_world(due.id)?;
                }
            }
            Err(error) => {
                prop_assert_eq!(self.bits(), before_bits, "a refusal changed something");
                self.ids.iter().try_for_each(|&id| {
                    prop_assert_eq!(self.inherit(id), before.inherit(id));
                    Ok::<(), TestCaseError>(())
                })?;
                prop_assert!(keep != Keep::Local);
                let sound = |due: &Due| condition(frame(due).matrix.matrix3) < 1e3;
                match error {
                    ReparentError::SingularParent(refusal) => {
                        let culprits = dues.iter().filter(|due| due.parent == Some(refusal.parent));
                        prop_assert!(!culprits.into_iter().all(sound), "{error}");
                    }
                    ReparentError::NotTrs(_) => prop_assert!(A::reads_shear() && keep == Keep::WorldTrs),
                    _ => prop_assert!(false, "{error}"),
                }
            }
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn matrices_keep_their_worlds(mut tree in forests::<Matrices>(), steps in prop::collection::vec(changes(), 1..5)) {
        steps.into_iter().try_for_each(|(at, change, keep)| {
            if tree.ids.is_empty() { return Ok(()); }
            tree.change(at, change, keep)
        })?;
    }

    #[test]
    fn components_keep_their_worlds(mut tree in forests::<Components>(), steps in prop::collection::vec(changes(), 1..5)) {
        steps.into_iter().try_for_each(|(at, change, keep)| {
            if tree.ids.is_empty() { return Ok(()); }
            tree.change(at, change, keep)
        })?;
    }
}
