//! The steps of a script: each is done to the hierarchy and to the model.

use super::values::{keep, matrix, position, rotation, scale, transform};
use super::*;

/// What is done, and numbers from which the nodes, places and values for it are picked.
pub(crate) type Step = (u8, u16, u16, u32);

impl<A: Kind> Pair<A> {
    pub(crate) fn step(&mut self, (kind, a, b, seed): Step) -> Outcome {
        let parent = if b % 5 == 0 { None } else { self.pick(b / 5) };
        let local = transform(seed);
        let Some(id) = self.pick(a) else {
            let id = self.h.add_root(local).unwrap();
            return self.inserted(id, None, 0, &local);
        };
        let end = self.forest.list(parent).len();
        let (siblings, place) = (self.forest.list(self.forest.parent(id)).len(), self.forest.index(id));
        match kind % 44 {
            0 | 1 => {
                let new = match parent {
                    Some(parent) => self.h.add_child(parent, local).unwrap(),
                    None => self.h.add_root(local).unwrap(),
                };
                self.inserted(new, parent, end, &local)
            }
            2 => {
                let index = usize::from(a) % (end + 1);
                let new = self.h.insert_child_at(parent, index, local).unwrap();
                prop_assert!(self.h.insert_child_at(parent, end + 2, local).is_err());
                self.inserted(new, parent, index, &local)
            }
            3 => {
                let new = self.h.insert_before(id, local).unwrap();
                self.inserted(new, self.forest.parent(id), place, &local)
            }
            4 => {
                let new = self.h.insert_after(id, local).unwrap();
                self.inserted(new, self.forest.parent(id), place + 1, &local)
            }
            5 | 6 => self.extend(parent, end, seed),
            7 => {
                let removed = self.forest.remove_subtree(id);
                prop_assert_eq!(self.h.remove_subtree(id), Ok(removed.len()));
                self.gone.extend(removed);
                Ok(())
            }
            8 => {
                let mut removed = Vec::new();
                for child in self.forest.list(Some(id)).to_vec() {
                    removed.extend(self.forest.remove_subtree(child));
                }
                prop_assert_eq!(self.h.remove_children(id), Ok(removed.len()));
                self.gone.extend(removed);
                Ok(())
            }
            9 | 10 => self.promote(id, keep(seed)),
            11..=15 => self.reparent(id, parent, None, keep(seed)),
            16 => self.reparent(id, parent, Some(usize::from(a) % (end + 2)), keep(seed)),
            17 => self.reparent(id, None, None, keep(seed)),
            18 => self.detach_children(id, keep(seed)),
            19 | 20 => self.move_among_siblings(id, usize::from(b) % (siblings + 1), seed),
            21 => {
                self.h.set_local(id, local).unwrap();
                self.set_trs(id, local)
            }
            22 => {
                // The last of what is given for a node stays; all or none.
                let (other, more) = (self.pick(b).unwrap(), transform(!seed));
                let before = self.h.clone();
                let wrong = Transform { scale: Vec3::NAN, ..local };
                let result = self.h.set_locals(&[(id, local), (other, wrong)]);
                prop_assert!(matches!(self.refused(&before, &result)?, Some(Error::NonFinite(_))));
                self.h.set_locals(&[(id, more), (other, more), (id, local)]).unwrap();
                if other != id {
                    self.set_trs(other, more)?;
                }
                self.set_trs(id, local)
            }
            23..=25 => self.set_factor(id, kind % 3, seed),
            26 => self.set_local_matrix(id, &matrix(seed)),
            27 => {
                let held = self.own(id).transform;
                let kept = self.h.local(id).is_ok();
                let lost = self.h.drop_shear(id).unwrap();
                prop_assert!(lost >= 0.0 && (!kept || lost <= 16.0 * f32::EPSILON), "dropped {}", lost);
                self.set_trs(id, held)
            }
            28 | 29 => self.set_world(id, seed),
            30 => self.set_world_position(id, position(seed)),
            31 => {
                self.h.optimize();
                Ok(())
            }
            32 => {
                prop_assert_eq!(self.h.update().rows().len() >= self.forest.nodes.len(), true);
                Ok(())
            }
            33 => {
                self.h = self.h.clone();
                Ok(())
            }
            34 if seed % 16 == 0 => {
                self.h.clear();
                self.gone.extend(self.forest.pre_order());
                self.forest = Forest::new();
                Ok(())
            }
            36 | 37 if self.forest.nodes.len() < 200 => self.clone_subtree(id, parent),
            38 if self.forest.nodes.len() < 30 => self.append(parent),
            39 => self.flatten(id, keep(seed)),
            40 | 41 => self.take(id),
            42 => self.restore(parent, seed),
            43 => self.discard(),
            _ => self.use_stale(id, keep(seed)),
        }
    }

    fn inserted(&mut self, id: NodeId, parent: Option<NodeId>, index: usize, local: &Transform) -> Outcome {
        self.forest.insert(id, parent, index, Own { transform: *local, matrix: Affine3A::IDENTITY });
        self.set_trs(id, *local)
    }

    /// Takes over a value that is held as given, with a matrix of its own rounding.
    fn set_trs(&mut self, id: NodeId, local: Transform) -> Outcome {
        prop_assert_eq!(self.h.local(id), Ok(local));
        self.take_over(id);
        law::of_trs(&self.own(id).matrix, &local)
    }

    /// Parents before and behind their children.
    fn extend(&mut self, parent: Option<NodeId>, end: usize, seed: u32) -> Outcome {
        let locals: Vec<_> = (0..4).map(|i| transform(seed.wrapping_mul(2 * i + 1))).collect();
        let ids = self.h.extend(parent, &[Some(2), None, Some(1), Some(2)], &locals).unwrap();
        self.inserted(ids[1], parent, end, &locals[1])?;
        self.inserted(ids[2], Some(ids[1]), 0, &locals[2])?;
        self.inserted(ids[0], Some(ids[2]), 0, &locals[0])?;
        self.inserted(ids[3], Some(ids[2]), 1, &locals[3])
    }

    fn reparent(&mut self, id: NodeId, parent: Option<NodeId>, index: Option<usize>, keep: Keep) -> Outcome {
        let (before, old) = (self.h.clone(), self.forest.parent(id));
        let result = match (index, parent) {
            (Some(index), _) => self.h.reparent_at(id, parent, index, keep),
            (None, None) => self.h.detach(id, keep),
            (None, Some(parent)) => self.h.reparent(id, parent, keep),
        };
        let count = self.forest.list(parent).len() - usize::from(old == parent);
        let cycle = parent.is_some_and(|parent| self.forest.is_at_or_above(id, parent));
        let (from, to) = self.ways(old, parent);
        let wanted = A::below(&self.product(&from), &self.local(id));
        let due = if index.is_some_and(|index| index > count) { "index" } else { "cycle" };
        let Some(error) = self.refused(&before, &result)? else {
            prop_assert!(!(cycle || due == "index"), "done although the {} is wrong", due);
            prop_assert_eq!(result.unwrap(), old);
            self.forest.relocate(id, parent, index.unwrap_or(count));
            return match keep {
                // The next check compares what was not to change.
                Keep::Local => Ok(()),
                Keep::World if parent == old => Ok(()),
                _ => self.solved(id, &to, &wanted, keep),
            };
        };
        match error {
            Error::OutOfRange(_) => prop_assert_eq!(due, "index"),
            Error::Cycle(_) => prop_assert!(cycle),
            _ => {
                prop_assert!(keep != Keep::Local);
                self.refused_rightly(error, &to, &wanted, keep)?;
            }
        }
        Ok(())
    }

    /// What children of a node are to look like from above it, or from the world.
    fn children(&self, id: NodeId, parent: Option<NodeId>) -> (Vec<NodeId>, Vec<NodeId>, Vec<Pose>) {
        let (from, to) = self.ways(Some(id), parent);
        let children = self.forest.list(Some(id)).to_vec();
        let wanted = children.iter().map(|&child| A::below(&self.product(&from), &self.local(child))).collect();
        (children, to, wanted)
    }

    fn promote(&mut self, id: NodeId, keep: Keep) -> Outcome {
        let (before, parent) = (self.h.clone(), self.forest.parent(id));
        let (children, to, wanted) = self.children(id, parent);
        let result = self.h.remove_and_promote(id, keep);
        if let Some(error) = self.refused(&before, &result)? {
            return self.some_refused_rightly(error, &to, &wanted, keep);
        }
        self.forest.promote(id);
        self.gone.push(id);
        self.all_solved(&children, &to, &wanted, keep)
    }

    fn detach_children(&mut self, id: NodeId, keep: Keep) -> Outcome {
        let before = self.h.clone();
        let (children, to, wanted) = self.children(id, None);
        let result = self.h.detach_children(id, keep);
        if let Some(error) = self.refused(&before, &result)? {
            return self.some_refused_rightly(error, &to, &wanted, keep);
        }
        for &child in &children {
            self.forest.relocate(child, None, self.forest.roots.len());
        }
        self.all_solved(&children, &to, &wanted, keep)
    }

    pub(crate) fn all_solved(&mut self, ids: &[NodeId], to: &[NodeId], wanted: &[Pose], keep: Keep) -> Outcome {
        if keep == Keep::Local {
            return Ok(());
        }
        ids.iter().zip(wanted).try_for_each(|(&id, wanted)| self.solved(id, to, wanted, keep))
    }

    /// One of several that are done together was to be refused.
    pub(crate) fn some_refused_rightly(&self, error: Error, to: &[NodeId], wanted: &[Pose], keep: Keep) -> Outcome {
        prop_assert!(keep != Keep::Local);
        let mut last = Ok(());
        for wanted in wanted {
            last = self.refused_rightly(error, to, wanted, keep);
            if last.is_ok() {
                break;
            }
        }
        last
    }

    fn move_among_siblings(&mut self, id: NodeId, index: usize, seed: u32) -> Outcome {
        let before = self.h.clone();
        let parent = self.forest.parent(id);
        let siblings = self.forest.list(parent).to_vec();
        let sibling = siblings[index.min(siblings.len() - 1)];
        let at = self.forest.index(sibling) - usize::from(self.forest.index(id) < self.forest.index(sibling));
        let (result, at) = match seed % 3 {
            0 => (self.h.move_to_index(id, index), index),
            1 => (self.h.move_before(id, sibling), at),
            _ => (self.h.move_after(id, sibling), at + usize::from(id != sibling)),
        };
        match self.refused(&before, &result)? {
            None => self.forest.relocate(id, parent, at),
            Some(error) => prop_assert!(matches!(error, Error::OutOfRange(_)) && index == siblings.len()),
        }
        prop_assert_eq!(self.h.worlds().is_some(), before.worlds().is_some(), "the order of siblings marks nothing");
        Ok(())
    }

    /// One of position, rotation and scale; of a matrix the rest stays, shear included.
    fn set_factor(&mut self, id: NodeId, which: u8, seed: u32) -> Outcome {
        let (before, was) = (self.h.clone(), *self.own(id));
        let mut want = was.transform;
        let result = match which {
            0 => {
                want.position = position(seed);
                self.h.set_position(id, want.position)
            }
            1 => {
                want.rotation = rotation(seed);
                self.h.set_rotation(id, want.rotation)
            }
            _ => {
                want.scale = scale(seed);
                self.h.set_scale(id, want.scale)
            }
        };
        prop_assert!(self.refused(&before, &result)?.is_none());
        self.take_over(id);
        prop_assert_eq!(self.own(id).transform, want);
        let matrix = self.own(id).matrix;
        prop_assert_eq!(Vec3::from(matrix.translation), want.position);
        if which == 0 {
            let translation = was.matrix.translation;
            prop_assert_eq!(bits(Affine3A { translation, ..matrix }), bits(was.matrix));
            return Ok(());
        }
        // Shear that is within rounding does not count as such, and goes.
        let shear = if before.local(id).is_ok() { Vec3::ZERO } else { before.local_decomposed(id).unwrap().shear };
        let (shear, s) = (shear.as_dvec3(), want.scale.as_dvec3());
        let r = law::trs(&want.with_scale(Vec3::ONE)).matrix3;
        let columns = [
            r.x_axis * s.x,
            r.x_axis * shear.x + r.y_axis * s.y,
            r.x_axis * shear.y + r.y_axis * shear.z + r.z_axis * s.z,
        ];
        for (i, column) in columns.into_iter().enumerate() {
            // Recomposed in float32: a transform's rounding, and two products with the shear.
            let size = s[i].abs() + [0.0, shear.x.abs(), shear.y.abs() + shear.z.abs()][i];
            let off = (stage::wide(&matrix).matrix3.col(i) - column).abs().max_element();
            prop_assert!(off <= 8.0 * EPS * size + 16.0 * UNDERFLOW, "column {i} is off by {off:e} of {size:e}");
        }
        Ok(())
    }

    fn set_local_matrix(&mut self, id: NodeId, matrix: &Affine3A) -> Outcome {
        let before = self.h.clone();
        let result = self.h.set_local_matrix(id, *matrix);
        match self.refused(&before, &result)? {
            Some(error) => prop_assert!(matches!(error, Error::NotTrs(_)) && !A::reads_shear()),
            None => self.take_over(id),
        }
        if result.is_ok() && A::reads_shear() {
            prop_assert_eq!(bits(self.own(id).matrix), bits(*matrix), "kept exactly");
        }
        Ok(())
    }

    fn set_world(&mut self, id: NodeId, seed: u32) -> Outcome {
        let before = self.h.clone();
        let given = transform(seed);
        let (mut own, sheared) =
            (Own { transform: given, matrix: given.to_affine() }, A::reads_shear() && seed % 2 == 0);
        let result = if sheared {
            own.matrix = matrix(seed);
            self.h.set_world(id, own.matrix)
        } else {
            self.h.set_world_transform(id, given)
        };
        let (to, wanted) = (self.path(self.forest.parent(id)), law::pose::<A>(&own));
        match self.refused(&before, &result)? {
            Some(error) => self.refused_rightly(error, &to, &wanted, Keep::World),
            None => self.solved(id, &to, &wanted, Keep::World),
        }
    }

    /// Only the position is solved for: the rest is wanted as it is.
    fn set_world_position(&mut self, id: NodeId, position: Vec3) -> Outcome {
        let before = self.h.clone();
        let (to, own) = (self.path(self.forest.parent(id)), *self.own(id));
        let result = self.h.set_world_position(id, position);
        let parent = self.product(&to);
        let mut wanted = A::below(&parent, &self.local(id));
        wanted.matrix.translation = position.as_dvec3();
        wanted.size.translation = position.as_dvec3().abs();
        if let Some(error) = self.refused(&before, &result)? {
            return self.refused_rightly(error, &to, &wanted, Keep::World);
        }
        self.solved(id, &to, &wanted, Keep::World)?;
        let now = *self.own(id);
        let rest = Own {
            transform: now.transform.with_position(own.transform.position),
            matrix: Affine3A { translation: own.matrix.translation, ..now.matrix },
        };
        prop_assert_eq!(rest.bits(), own.bits(), "only the position was to change");
        Ok(())
    }

    fn use_stale(&mut self, id: NodeId, keep: Keep) -> Outcome {
        // What is out is stale too.
        let out = self.out.last().map(|(subtree, _)| subtree.root());
        let Some(gone) = out.or(self.gone.last().copied()) else { return Ok(()) };
        let before = self.h.clone();
        let (h, nan) = (&mut self.h, Transform::from_position(Vec3::NAN));
        let results: [Result<(), Error>; 16] = [
            h.add_child(gone, nan).map(drop).map_err(Error::from),
            h.insert_before(gone, nan).map(drop).map_err(Error::from),
            h.insert_after(gone, nan).map(drop).map_err(Error::from),
            h.insert_child_at(gone, 9, nan).map(drop).map_err(Error::from),
            h.extend(gone, &[Some(0)], &[]).map(drop).map_err(Error::from),
            h.remove_and_promote(gone, keep).map_err(Error::from),
            h.reparent(id, gone, keep).map(drop).map_err(Error::from),
            h.reparent(gone, id, keep).map(drop).map_err(Error::from),
            h.detach_children(gone, keep).map_err(Error::from),
            h.move_before(id, gone).map_err(Error::from),
            h.set_local(gone, nan).map_err(Error::from),
            h.set_scale(gone, Vec3::NAN).map_err(Error::from),
            h.set_local_matrix(gone, Affine3A::NAN).map_err(Error::from),
            h.set_world(gone, Affine3A::NAN).map_err(Error::from),
            h.set_world_position(gone, Vec3::NAN).map_err(Error::from),
            h.drop_shear(gone).map(drop).map_err(Error::from),
        ];
        for result in results {
            prop_assert!(matches!(result, Err(Error::StaleNode(stale)) if stale.node == gone), "{:?}", result);
            self.refused(&before, &result)?;
        }
        let nan = Transform::from_position(Vec3::NAN);
        for result in [
            self.h.set_local(id, nan).map_err(Error::from),
            self.h.add_child(id, nan).map(drop).map_err(Error::from),
            self.h.set_world_transform(id, nan).map_err(Error::from),
            self.h.set_local_matrix(id, Affine3A::NAN).map_err(Error::from),
            self.h.set_world(id, Affine3A::NAN).map_err(Error::from),
        ] {
            prop_assert!(matches!(result, Err(Error::NonFinite(_))), "{:?}", result);
            self.refused(&before, &result)?;
        }
        Ok(())
    }
}
