//! A hierarchy beside its model: what is compared after each step, and what may be refused.

use super::*;
use forest::Forest;

pub(crate) struct Pair<A: Kind> {
    pub(crate) h: HierarchyOf<A>,
    pub(crate) forest: Forest<Own>,
}

/// Element by element, within `bound` times the sizes given.
pub(crate) fn near(what: &str, got: &M, want: &M, size: &M, bound: f64) -> Outcome {
    for ((got, want), size) in got.elements().into_iter().zip(want.elements()).zip(size.elements()) {
        let allowed = bound * size;
        prop_assert!((got - want).abs() <= allowed, "{what}: got {got:e}, want {want:e}, allowed {allowed:e}");
    }
    Ok(())
}

pub(crate) fn near_vector(what: &str, got: DVec2, want: DVec2, bound: f64) -> Outcome {
    let off = (got - want).abs().max_element();
    prop_assert!(off <= bound, "{what}: got {got}, want {want}, off by {off:e}, allowed {bound:e}");
    Ok(())
}

/// Angles that turn alike.
pub(crate) fn near_angle(what: &str, got: f64, want: f64, bound: f64) -> Outcome {
    near_vector(what, M::turn(got).x, M::turn(want).x, bound)
}

impl<A: Kind> Pair<A> {
    pub(crate) fn new() -> Self {
        Self { h: HierarchyOf::new(), forest: Forest::new() }
    }

    pub(crate) fn pick(&self, n: u16) -> Option<NodeId> {
        let order = self.forest.pre_order();
        (!order.is_empty()).then(|| order[usize::from(n) % order.len()])
    }

    pub(crate) fn own(&self, id: NodeId) -> Own {
        self.forest.nodes[&id].value
    }

    pub(crate) fn product(&self, path: &[NodeId]) -> Pose {
        path.iter().fold(Pose::IDENTITY, |pose, &id| A::below(&pose, &self.own(id)))
    }

    pub(crate) fn path(&self, id: Option<NodeId>) -> Vec<NodeId> {
        id.map_or(vec![], |id| self.forest.path(id))
    }

    pub(crate) fn above(&self, id: NodeId) -> Vec<NodeId> {
        self.path(self.forest.parent(id))
    }

    pub(crate) fn take_over(&mut self, id: NodeId) {
        self.forest.nodes.get_mut(&id).unwrap().value = A::own(&self.h, id);
    }

    /// The ways down to two nodes, from where poses under them are compared.
    pub(crate) fn ways(&self, old: Option<NodeId>, new: Option<NodeId>) -> (Vec<NodeId>, Vec<NodeId>) {
        if A::MATRICES || old == new { self.forest.diverging(old, new) } else { (self.path(old), self.path(new)) }
    }

    /// Whether a node surely, or perhaps, has no inverse.
    pub(crate) fn flat(&self, id: NodeId) -> (bool, bool) {
        let own = self.own(id);
        let zero = own.t.scale.cmpeq(DVec2::ZERO).any();
        let sides = own.m.x.length() * own.m.y.length();
        (zero, zero || A::MATRICES && own.m.determinant().abs() <= 1e3 * A::EPS * sides)
    }

    /// Whether under these nodes a pose may be refused: one is flat, or rounding, stretched by their condition,
    /// is a good part of the largest misfit, 2⁻¹⁰.
    pub(crate) fn may_refuse(&self, to: &[NodeId]) -> bool {
        let thin = A::MATRICES && self.product(to).m.condition() * A::EPS > 1e-5;
        thin || to.iter().any(|&id| self.flat(id).1)
    }

    /// Whether an operation was refused; if so, rightly, and it has changed nothing.
    pub(crate) fn refused<T>(
        &self,
        before: &HierarchyOf<A>,
        result: Result<T, impl Into<Error>>,
        to: &[NodeId],
    ) -> Outcome<bool> {
        let Err(error) = result.map_err(Into::into) else { return Ok(false) };
        prop_assert_eq!(self.h.worlds().is_some(), before.worlds().is_some());
        for id in self.forest.pre_order() {
            prop_assert_eq!(bits_of(A::own(&self.h, id)), bits_of(A::own(before, id)), "{:?} after a refusal", id);
            prop_assert_eq!(bits_of(self.h.world(id)), bits_of(before.world(id)), "world of {:?} after a refusal", id);
        }
        match error {
            Error::SingularParent(refusal) => {
                prop_assert_eq!(Some(&refusal.parent), to.last());
                prop_assert!(self.may_refuse(to), "{}", error);
            }
            Error::Degenerate(_) | Error::Cycle(_) | Error::NotTrs(_) => {}
            _ => prop_assert!(false, "{}", error),
        }
        Ok(true)
    }

    /// Shape, invariants, locals, and every world: as read now, after an update, and by the model.
    pub(crate) fn check(&self) -> Outcome {
        self.h.assert_well_formed();
        self.forest.assert_shape(&self.h);
        let mut updated = self.h.clone();
        updated.update();
        updated.assert_well_formed();
        let worlds = updated.worlds().unwrap();
        for id in self.forest.pre_order() {
            let own = self.own(id);
            prop_assert_eq!(bits_of(A::own(&self.h, id)), bits_of(own), "local of {:?}", id);
            prop_assert_eq!(bits_of(self.h.world(id)), bits_of(updated.world(id)), "lazily read");
            prop_assert!(worlds.get(id).is_ok());
            // Sine and cosine to one last digit, and a product.
            if self.h.local(id).is_ok() {
                let trs = M::trs(&own.t);
                let bound = if A::MATRICES { 16.0 } else { 2.0 };
                let size = M { x: DVec2::splat(own.t.scale.x), y: DVec2::splat(own.t.scale.y), t: DVec2::ZERO }.abs();
                near("local matrix", &own.m, &trs, &size, bound * A::eps())?;
            }
            self.check_world(id)?;
        }
        Ok(())
    }

    fn check_world(&self, id: NodeId) -> Outcome {
        let pose = self.product(&self.path(Some(id)));
        let matrix = A::wide_matrix_of(self.h.world_matrix(id).unwrap());
        if A::MATRICES {
            // A row of a product is two multiplications and two additions: 3 u |P||L| a level, carried along.
            return near("world", &matrix, &pose.m, &pose.size, 1.6 * pose.depth * A::eps());
        }
        let read = |v: Result<A::Vector, _>| A::wide_vector(v.unwrap());
        // Each level rounds an angle by up to ε, of a large local one by more, and turns an offset by what is off.
        let turned = 6.0 * pose.depth * A::eps();
        near_vector("position", read(self.h.world_position(id)), pose.m.t, turned * pose.size.t.max_element())?;
        near_angle("rotation", A::wide_angle(self.h.world_rotation(id).unwrap()), pose.angle, turned)?;
        let scale = read(self.h.world_scale(id));
        near_vector(
            "scale",
            scale / pose.scale.abs().max(DVec2::splat(1e-300)),
            pose.scale / pose.scale.abs().max(DVec2::splat(1e-300)),
            pose.depth * A::eps(),
        )?;
        let column = M { x: DVec2::splat(pose.scale.x), y: DVec2::splat(pose.scale.y), t: pose.size.t }.abs();
        near("world matrix", &matrix, &pose.m, &column, turned + 4.0 * A::eps())
    }

    /// What was solved for under the nodes of a way down gives the wanted pose: by matrices as the law says,
    /// by components part by part.
    pub(crate) fn solved(&mut self, id: NodeId, to: &[NodeId], wanted: &Pose, keep: Keep) -> Outcome {
        prop_assert!(!to.iter().any(|&id| self.flat(id).0), "solved under a flat node");
        self.take_over(id);
        let (parent, own) = (self.product(to), self.own(id));
        let got = A::below(&parent, &own);
        // Products of the chains, in float64, which are the hierarchy's own and the model's.
        let noise = 4.0 * f64::EPSILON * (got.depth + wanted.depth + 2.0);
        if A::MATRICES {
            let size = parent.m.abs().times(&own.m.abs());
            let lawful = match keep {
                Keep::WorldTrs => times(&parent.m.abs().times(&columns(&own.m)), 32.0 * A::EPS),
                _ => times(&size, A::LAW * A::EPS),
            };
            let bound = add(&lawful, &times(&add(&got.size, &wanted.size), noise));
            near("solved", &got.m, &wanted.m, &bound, 1.0)
        } else {
            let reach = got.size.t.max_element() + wanted.size.t.max_element();
            near_vector("solved position", got.m.t, wanted.m.t, (2.0 * A::EPS + noise) * reach)?;
            near_angle("solved rotation", got.angle, wanted.angle, 2.0 * A::EPS + 4.0 * noise)?;
            let off = (got.scale - wanted.scale).abs();
            prop_assert!(off.cmple((A::EPS + noise) * wanted.scale.abs()).all(), "solved scale {}", got.scale);
            Ok(())
        }
    }

    /// The world position of a node is now as wanted, and nothing else of its own has changed.
    pub(crate) fn moved(&mut self, id: NodeId, wanted: DVec2, size: f64) -> Outcome {
        let (was, parent) = (self.own(id), self.product(&self.above(id)));
        self.take_over(id);
        let now = self.own(id);
        prop_assert_eq!(bits_of(now.t.with_position(was.t.position)), bits_of(was.t));
        prop_assert_eq!(bits_of(M { t: was.m.t, ..now.m }), bits_of(was.m));
        let got = A::below(&parent, &now);
        // The position is rounded, and the sum of it and an offset.
        let noise = 8.0 * f64::EPSILON * (got.depth + 1.0);
        let reach = got.size.t.max_element() + size;
        near_vector("world position", got.m.t, wanted, (A::EPS + noise) * reach)
    }
}

fn add(a: &M, b: &M) -> M {
    M { x: a.x + b.x, y: a.y + b.y, t: a.t + b.t }
}

fn times(m: &M, factor: f64) -> M {
    M { x: m.x * factor, y: m.y * factor, t: m.t * factor }
}

/// Each element as large as the largest of its column.
pub(crate) fn columns(m: &M) -> M {
    let largest = |v: DVec2| DVec2::splat(v.abs().max_element());
    M { x: largest(m.x), y: largest(m.y), t: largest(m.t) }
}
