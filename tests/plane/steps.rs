//! Random doors, and what each must have done.

use super::pair::{columns, near_angle, near_vector};
use super::*;

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Add(Option<u16>, u32),
    SetLocal(u16, u32),
    SetFactor(u16, u8, u32),
    SetMatrix(u16, u32),
    DropShear(u16),
    Reparent(u16, Option<u16>, Keep),
    SetWorld(u16, u32),
    SetWorldPosition(u16, u32),
    SetWorldRotation(u16, u32),
    SetWorldScale(u16, u32),
    Translate(u16, u32, Space),
    Place(u16, u32, Space),
    Rotate(u16, Option<u32>, u32, Space),
    AimAt(u16, u32),
    Remove(u16),
    Update,
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
    let node = any::<u16>();
    let parent = prop_oneof![1 => Just(None), 5 => node.prop_map(Some)];
    let keep = prop::sample::select(vec![Keep::Local, Keep::World, Keep::WorldTrs]);
    let space = prop::sample::select(vec![Space::Local, Space::Parent, Space::World]);
    let seed = any::<u32>();
    prop_oneof![
        6 => (parent.clone(), seed).prop_map(|(parent, seed)| Step::Add(parent, seed)),
        1 => (node, seed).prop_map(|(id, seed)| Step::SetLocal(id, seed)),
        2 => (node, 0..3u8, seed).prop_map(|(id, which, seed)| Step::SetFactor(id, which, seed)),
        1 => (node, seed).prop_map(|(id, seed)| Step::SetMatrix(id, seed)),
        1 => node.prop_map(Step::DropShear),
        4 => (node, parent, keep).prop_map(|(id, parent, keep)| Step::Reparent(id, parent, keep)),
        2 => (node, seed).prop_map(|(id, seed)| Step::SetWorld(id, seed)),
        1 => (node, seed).prop_map(|(id, seed)| Step::SetWorldPosition(id, seed)),
        2 => (node, seed).prop_map(|(id, seed)| Step::SetWorldRotation(id, seed)),
        2 => (node, seed).prop_map(|(id, seed)| Step::SetWorldScale(id, seed)),
        2 => (node, seed, space.clone()).prop_map(|(id, seed, space)| Step::Translate(id, seed, space)),
        1 => (node, seed, space.clone()).prop_map(|(id, seed, space)| Step::Place(id, seed, space)),
        3 => (node, prop::option::of(seed), seed, space)
            .prop_map(|(id, about, seed, space)| Step::Rotate(id, about, seed, space)),
        2 => (node, seed).prop_map(|(id, seed)| Step::AimAt(id, seed)),
        1 => node.prop_map(Step::Remove),
        1 => Just(Step::Update),
    ]
}

/// A number in [-1, 1).
fn part(seed: u32, shift: u32) -> f64 {
    f64::from((seed.rotate_right(shift) & 0xffff) as i32 - 0x8000) / 32768.0
}

/// At times zeros of either sign.
fn vector(seed: u32) -> DVec2 {
    DVec2::new(part(seed, 3), part(seed, 17)) * [3.0, 3.0, 3.0, 3.0, 1e5, 1e-3, 0.0][seed as usize % 7]
}

/// Also beyond a turn, as setters keep it.
fn angle(seed: u32) -> f64 {
    let turn = [0.0, core::f64::consts::FRAC_PI_2, core::f64::consts::PI];
    match seed % 7 {
        at @ 0..=2 => turn[at as usize],
        3 => 20.0 * part(seed, 5),
        _ => 3.1 * part(seed, 5),
    }
}

/// Uniform, uneven, mirrored in both ways, and at times flat.
fn scale(seed: u32) -> DVec2 {
    let uneven = DVec2::new(part(seed, 7), part(seed, 13)).abs() * 2.0 + 0.3;
    match seed.rotate_left(13) % 20 {
        0..=5 => DVec2::ONE,
        6..=8 => DVec2::splat(uneven.x),
        9..=13 => uneven,
        14 => uneven * DVec2::new(1.0, -1.0),
        15 => uneven.x * DVec2::new(1.0, -1.0),
        16 => uneven * DVec2::new(-1.0, 1.0),
        17 => [-uneven, DVec2::new(-1.0, 1.0)][seed as usize % 2],
        18 => uneven * 1e3,
        _ => [DVec2::ZERO, uneven * DVec2::X, uneven * DVec2::Y][seed as usize % 3],
    }
}

fn transform(seed: u32) -> DTransform2 {
    DTransform2::new(vector(seed), angle(seed.wrapping_mul(0x9e37_79b9)), scale(seed))
}

/// A transform's matrix, sheared three times of four.
fn matrix(seed: u32) -> M {
    let m = M::trs(&transform(seed));
    if seed % 4 == 0 { m } else { M { y: m.y + m.x * 0.5, ..m } }
}

/// Whether an angle is stored as those are that were turned to.
fn is_wrapped(angle: f64) -> bool {
    angle.abs() <= f64::from(core::f32::consts::PI)
}

impl<A: Kind> Pair<A> {
    pub(crate) fn step(&mut self, step: &Step) -> Outcome {
        let pick = |n: u16| self.pick(n);
        match *step {
            Step::Add(parent, seed) if self.forest.nodes.len() < 8 => {
                let (parent, local) = (parent.and_then(pick), A::transform(transform(seed)));
                let id = match parent {
                    Some(parent) => self.h.add_child(parent, local).unwrap(),
                    None => self.h.add_root(local).unwrap(),
                };
                let index = self.forest.list(parent).len();
                self.forest.insert(id, parent, index, Own { t: DTransform2::IDENTITY, m: M::IDENTITY });
                self.set_trs(id, local)
            }
            Step::Add(..) => Ok(()),
            Step::Update => {
                let worlds: Worlds<'_, A> = self.h.update();
                prop_assert!(worlds.rows().len() >= self.forest.nodes.len());
                Ok(())
            }
            Step::Reparent(id, parent, keep) => {
                let Some(id) = pick(id) else { return Ok(()) };
                self.reparent(id, parent.and_then(pick), keep)
            }
            Step::SetLocal(id, _)
            | Step::SetFactor(id, ..)
            | Step::SetMatrix(id, _)
            | Step::DropShear(id)
            | Step::SetWorld(id, _)
            | Step::SetWorldPosition(id, _)
            | Step::SetWorldRotation(id, _)
            | Step::SetWorldScale(id, _)
            | Step::Translate(id, ..)
            | Step::Place(id, ..)
            | Step::Rotate(id, ..)
            | Step::AimAt(id, _)
            | Step::Remove(id) => {
                let Some(id) = pick(id) else { return Ok(()) };
                self.edit(id, step)
            }
        }
    }

    /// Takes over a value that is held as given.
    fn set_trs(&mut self, id: NodeId, local: A::Transform) -> Outcome {
        prop_assert_eq!(self.h.local(id), Ok(local));
        self.take_over(id);
        prop_assert_eq!(self.own(id).t, A::wide_transform(local), "as given, also the angle");
        Ok(())
    }

    fn edit(&mut self, id: NodeId, step: &Step) -> Outcome {
        let (before, was, to) = (self.h.clone(), self.own(id), self.above(id));
        let world = self.product(&self.path(Some(id)));
        match *step {
            Step::SetLocal(_, seed) => {
                let local = A::transform(transform(seed));
                self.h.set_local(id, local).unwrap();
                self.set_trs(id, local)
            }
            Step::SetFactor(_, which, seed) => self.set_factor(id, which, &transform(seed)),
            Step::SetMatrix(_, seed) => {
                let given = A::matrix_of(&matrix(seed));
                let result = self.h.set_local_matrix(id, given);
                let fits = A::MATRICES || seed % 4 == 0 || result.is_ok();
                if self.refused(&before, result, &to)? {
                    prop_assert!(!fits, "a matrix without shear was refused");
                    return Ok(());
                }
                self.take_over(id);
                let (now, given) = (self.own(id), A::wide_matrix_of(given));
                prop_assert!(!A::MATRICES || now.m == given, "kept exactly");
                near("imported", &now.m, &given, &columns(&given), 16.0 * A::eps())
            }
            Step::DropShear(_) => {
                let residual = f64::from(self.h.drop_shear(id).unwrap());
                self.take_over(id);
                let now = self.own(id);
                prop_assert_eq!(now.t, was.t);
                near("dropped", &now.m, &was.m, &columns(&was.m), residual * 1.000_001 + 1e-300)
            }
            Step::SetWorld(_, seed) => {
                let (wanted, given) = (matrix(seed), transform(seed));
                let (result, own) = if seed % 2 == 0 {
                    let given = A::matrix_of(&wanted);
                    (self.h.set_world(id, given), Own { t: given_factors(&wanted), m: A::wide_matrix_of(given) })
                } else {
                    let given = A::wide_transform(A::transform(given));
                    let m = M::trs(&given);
                    (self.h.set_world_transform(id, A::transform(given)), Own { t: given, m })
                };
                let result = result.map_err(Error::from);
                if !A::MATRICES && matches!(result, Err(Error::NotTrs(_))) {
                    prop_assert!(seed % 4 != 0, "refused without shear");
                    return self.refused(&before, result, &to).map(drop);
                }
                if self.refused(&before, result, &to)? {
                    return Ok(());
                }
                if !A::MATRICES && seed % 2 == 0 {
                    // Taken apart, which takes signs after the node's own: by matrices, then.
                    self.take_over(id);
                    let got = self.product(&self.path(Some(id)));
                    let size = M { t: got.size.t, ..columns(&own.m) };
                    return near("world matrix", &got.m, &own.m, &size, 32.0 * A::eps());
                }
                // The matrix of a transform rounds its sine, cosine and product before it is solved for.
                if A::MATRICES && seed % 2 == 1 {
                    self.take_over(id);
                    let got = self.product(&self.path(Some(id)));
                    let size =
                        M { x: got.size.x + own.t.scale.x.abs(), y: got.size.y + own.t.scale.y.abs(), t: got.size.t };
                    return near("world transform", &got.m, &own.m, &size, 12.0 * A::eps());
                }
                self.solved(id, &to, &A::below(&Pose::IDENTITY, &own), Keep::World)
            }
            Step::SetWorldPosition(_, seed) | Step::Place(_, seed, Space::World) => {
                let wanted = A::wide_vector(A::vector(vector(seed)));
                let result = match step {
                    Step::Place(..) => self.h.set_position_in(id, A::vector(wanted), Space::World),
                    _ => self.h.set_world_position(id, A::vector(wanted)),
                };
                if self.refused(&before, result, &to)? {
                    return Ok(());
                }
                self.moved(id, wanted, wanted.abs().max_element())
            }
            Step::SetWorldRotation(_, seed) => {
                let wanted = A::wide_angle(A::angle(angle(seed)));
                let result = self.h.set_world_rotation(id, A::angle(wanted));
                if self.refused(&before, result, &to)? {
                    return Ok(());
                }
                self.take_over(id);
                let (parent, now) = (self.product(&to), self.own(id));
                prop_assert!(is_wrapped(now.t.rotation));
                prop_assert_eq!(bits_of(now.t.with_rotation(was.t.rotation)), bits_of(was.t), "position and scale");
                let turned = parent.m.times(&M::turn(now.t.rotation));
                let got = if A::MATRICES { turned.factors().0 } else { parent.angle + now.t.rotation };
                let stretch = if A::MATRICES { parent.m.condition() } else { 1.0 };
                let bound = 4.0 * A::eps() * (parent.depth + 2.0) * stretch;
                near_angle("world rotation", got, wanted, bound)
            }
            Step::SetWorldScale(_, seed) => {
                let wanted = A::wide_vector(A::vector(scale(seed)));
                let result = self.h.set_world_scale(id, A::vector(wanted));
                if self.refused(&before, result, &to)? {
                    return Ok(());
                }
                self.take_over(id);
                let (parent, now) = (self.product(&to), self.own(id));
                prop_assert_eq!(bits_of(now.t.with_scale(was.t.scale)), bits_of(was.t));
                let by = if A::MATRICES { parent.m.times(&M::turn(now.t.rotation)).factors().1 } else { parent.scale };
                let stretch = if A::MATRICES { parent.m.condition() } else { 1.0 };
                let bound = 4.0 * A::eps() * (parent.depth + 2.0) * stretch * wanted.abs().max_element();
                near_vector("world scale", by * now.t.scale, wanted, bound)
            }
            Step::Translate(_, seed, space) => {
                let by = A::wide_vector(A::vector(vector(seed)));
                let result = self.h.translate(id, A::vector(by), space);
                if space == Space::World {
                    if self.refused(&before, result, &to)? {
                        return Ok(());
                    }
                    return self.moved(id, world.m.t + by, by.abs().max_element());
                }
                result.unwrap();
                let by = if space == Space::Local { M::turn(was.t.rotation).vector(by) } else { by };
                self.placed(id, &was, was.t.position + by, was.t.position.length() + 2.0 * by.length())
            }
            Step::Place(_, seed, space) => {
                let at = A::wide_vector(A::vector(vector(seed)));
                self.h.set_position_in(id, A::vector(at), space).unwrap();
                let (wanted, reach) = match space {
                    Space::Local => (was.m.point(at), was.m.abs().point(at.abs()).length()),
                    _ => (at, 0.0),
                };
                self.placed(id, &was, wanted, 4.0 * reach)
            }
            Step::Rotate(_, about, seed, space) => {
                let by = A::wide_angle(A::angle(angle(seed)));
                let about = about.map(|seed| A::wide_vector(A::vector(vector(seed))));
                let result = match about {
                    Some(point) => self.h.rotate_around(id, A::vector(point), A::angle(by), space),
                    None => self.h.rotate(id, A::angle(by), space),
                };
                if space == Space::World {
                    if self.refused(&before, result, &to)? {
                        return Ok(());
                    }
                    return self.turned_in_world(id, &was, &world, by, about);
                }
                result.unwrap();
                self.turned(id, &was, by, about, space)
            }
            Step::AimAt(_, seed) => {
                let target = A::wide_vector(A::vector(vector(seed)));
                let ray = target - world.m.t;
                let size = world.size.t.max_element() + target.abs().max_element();
                let result = self.h.aim_at(id, A::vector(target)).map_err(Error::from);
                if matches!(result, Err(Error::Degenerate(_))) {
                    let near = ray.abs().max_element() <= 20.0 * A::eps() * size;
                    let x = if A::MATRICES { was.t.scale.x } else { world.scale.x };
                    prop_assert!(near || x == 0.0, "degenerate although {} is ahead", ray);
                }
                if self.refused(&before, result, &to)? {
                    return Ok(());
                }
                self.take_over(id);
                let (now, parent) = (self.own(id), self.product(&to));
                prop_assert!(is_wrapped(now.t.rotation));
                prop_assert_eq!(now.t.with_rotation(was.t.rotation), was.t);
                let (stretch, forward) = (parent.m.condition(), A::below(&parent, &now).m.x.normalize());
                let stretch = if A::MATRICES { stretch } else { 1.0 };
                let lost = f64::EPSILON * 8.0 * (world.depth + 1.0) * size / ray.length();
                let bound = (8.0 * A::EPS + 8.0 * f64::EPSILON * (world.depth + 1.0)) * stretch + lost * stretch;
                near_vector("forward", forward, ray.normalize(), bound)
            }
            Step::Remove(_) => {
                let removed = self.forest.remove_subtree(id);
                prop_assert_eq!(self.h.remove_subtree(id), Ok(removed.len()));
                prop_assert!(removed.iter().all(|&id| self.h.world(id).is_err()));
                Ok(())
            }
            _ => unreachable!("needs no node, or two"),
        }
    }

    fn reparent(&mut self, id: NodeId, parent: Option<NodeId>, keep: Keep) -> Outcome {
        let (before, old) = (self.h.clone(), self.forest.parent(id));
        let result = self.h.reparent(id, parent, keep).map_err(Error::from);
        let cycle = parent.is_some_and(|parent| self.forest.is_at_or_above(id, parent));
        prop_assert_eq!(cycle, matches!(result, Err(Error::Cycle(_))));
        let (from, to) = self.ways(old, parent);
        let wanted = A::below(&self.product(&from), &self.own(id));
        if let Err(Error::NotTrs(_)) = result {
            prop_assert!(A::MATRICES && keep == Keep::WorldTrs);
            let parent = self.product(&to).m;
            let (x, y) = (parent.solve(wanted.m.x), parent.solve(wanted.m.y));
            let lean = (x.dot(y) / (x.length() * y.length())).abs();
            let noise = A::eps() * parent.condition() * wanted.m.condition();
            prop_assert!(!(lean < A::EPS && noise < 1e-3), "refused although columns are at right angles");
        }
        if self.refused(&before, result, &to)? {
            return Ok(());
        }
        let count = self.forest.list(parent).len() - usize::from(parent == old);
        self.forest.relocate(id, parent, count);
        if keep == Keep::Local || (keep == Keep::World && parent == old) {
            return Ok(()); // The next check compares what was not to change.
        }
        self.solved(id, &to, &wanted, keep)
    }

    /// One of position, rotation and scale; of a matrix the rest stays, shear included.
    fn set_factor(&mut self, id: NodeId, which: u8, to: &DTransform2) -> Outcome {
        let was = self.own(id);
        let shear = A::shear(self.h.local_decomposed(id).unwrap());
        let shear = if self.h.is_trs(id).unwrap() { 0.0 } else { shear };
        let to = A::wide_transform(A::transform(*to));
        let mut want = was.t;
        match which {
            0 => want.position = to.position,
            1 => want.rotation = to.rotation,
            _ => want.scale = to.scale,
        }
        match which {
            0 => self.h.set_position(id, A::vector(to.position)).unwrap(),
            1 => self.h.set_rotation(id, A::angle(to.rotation)).unwrap(),
            _ => self.h.set_scale(id, A::vector(to.scale)).unwrap(),
        }
        self.take_over(id);
        let now = self.own(id);
        prop_assert_eq!(now.t, want);
        if which == 0 {
            prop_assert_eq!(M { t: was.m.t, ..now.m }, was.m);
        }
        let mut whole = M::trs(&want);
        whole.y += M::turn(want.rotation).x * shear;
        // Recomposed from rounded factors; a matrix as set may be off its factors by as much again.
        let size = M {
            x: DVec2::splat(want.scale.x.abs()),
            y: DVec2::splat(want.scale.y.abs() + shear.abs()),
            t: DVec2::ZERO,
        };
        near("with a factor", &now.m, &whole, &size, 16.0 * A::eps())
    }

    /// A local position is now as wanted, and nothing else has changed.
    fn placed(&mut self, id: NodeId, was: &Own, wanted: DVec2, size: f64) -> Outcome {
        self.take_over(id);
        let now = self.own(id);
        prop_assert_eq!(now.t.with_position(was.t.position), was.t);
        prop_assert_eq!(M { t: was.m.t, ..now.m }, was.m);
        near_vector("position", now.t.position, wanted, 2.0 * A::eps() * size)
    }

    fn turned(&mut self, id: NodeId, was: &Own, by: f64, about: Option<DVec2>, space: Space) -> Outcome {
        self.take_over(id);
        let now = self.own(id);
        prop_assert!(is_wrapped(now.t.rotation));
        near_angle("rotation", now.t.rotation, was.t.rotation + by, 8.0 * A::eps())?;
        prop_assert_eq!(now.t.scale, was.t.scale);
        match about {
            None => prop_assert_eq!(now.t.position, was.t.position),
            Some(point) if space == Space::Local => {
                // Seen from the node the point is where it was.
                let reach = was.m.abs().point(point.abs()) + now.m.abs().point(point.abs());
                let bound = 8.0 * A::eps() * (reach + was.t.position.abs()).max_element();
                near_vector("hinge", now.m.point(point), was.m.point(point), bound)?;
            }
            Some(point) => {
                let wanted = point + M::turn(by).vector(was.t.position - point);
                let bound = 8.0 * A::eps() * (was.t.position.length() + point.length());
                near_vector("position", now.t.position, wanted, bound)?;
            }
        }
        Ok(())
    }

    /// The world's linear part is `Rot(by)` times what it was, or with components the world's angle has grown.
    fn turned_in_world(&mut self, id: NodeId, was: &Own, world: &Pose, by: f64, about: Option<DVec2>) -> Outcome {
        self.take_over(id);
        let (now, got) = (self.own(id), self.product(&self.path(Some(id))));
        let eps = A::eps() * (world.depth + 2.0);
        let Some(point) = about else {
            prop_assert_eq!(now.t.position, was.t.position);
            return self.linear_turned(&got, world, by, eps, &now, id);
        };
        let wanted = point + M::turn(by).vector(world.m.t - point);
        let reach = got.size.t.max_element() + world.size.t.max_element() + point.abs().max_element();
        near_vector("world position", got.m.t, wanted, 4.0 * eps * reach)?;
        self.linear_turned(&got, world, by, eps, &now, id)
    }

    fn linear_turned(&self, got: &Pose, world: &Pose, by: f64, eps: f64, now: &Own, id: NodeId) -> Outcome {
        if !A::MATRICES {
            prop_assert_eq!(got.scale, world.scale);
            return near_angle("world rotation", got.angle, world.angle + by, 4.0 * eps);
        }
        // A parent counts as a rotation times one factor up to 32 ε; else every element is solved for.
        let norm = self.product(&self.above(id)).m.norm();
        let wanted = M::turn(by).times(&M { t: DVec2::ZERO, ..world.m });
        let size = |own: DVec2, world: DVec2| DVec2::splat(norm * own.length() + world.abs().element_sum());
        let size = M { x: size(now.m.x, world.size.x), y: size(now.m.y, world.size.y), t: DVec2::ZERO };
        near("turned", &M { t: DVec2::ZERO, ..got.m }, &wanted, &size, 48.0 * A::eps() + 4.0 * eps)
    }
}

/// Position, angle and scale of a matrix, shear left out.
fn given_factors(m: &M) -> DTransform2 {
    let (rotation, scale) = m.factors();
    DTransform2::new(m.t, rotation, scale)
}
