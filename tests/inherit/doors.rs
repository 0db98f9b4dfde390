//! What is set in world coordinates reads back as that, whatever is inherited.

use super::model::{Tree, columns, condition, forests, near};
use super::*;
use crate::bits::bits_of;
use posetree::glam::{DAffine3, DMat3, DQuat, DVec3};
use posetree::{Error, Space, WorldError};

#[derive(Clone, Copy, Debug)]
enum Door {
    Position(Vec3),
    Move(Vec3),
    Rotate(Quat),
    RotateAround(Vec3, Quat),
    Transform(Transform),
    Rotation(Quat),
    Scale(Vec3),
    LookAt(Vec3),
}

fn doors() -> impl Strategy<Value = Door> {
    let scale = || stage::scale().prop_map(|scale| scale.clamp(Vec3::splat(-4.0), Vec3::splat(4.0)));
    prop_oneof![
        stage::vector(9.0).prop_map(Door::Position),
        stage::vector(9.0).prop_map(Door::Move),
        stage::rotation().prop_map(Door::Rotate),
        (stage::vector(9.0), stage::rotation()).prop_map(|(point, q)| Door::RotateAround(point, q)),
        (stage::vector(9.0), stage::rotation(), scale()).prop_map(|(p, r, s)| Door::Transform(Transform::new(p, r, s))),
        stage::rotation().prop_map(Door::Rotation),
        scale().prop_map(Door::Scale),
        stage::vector(9.0).prop_map(Door::LookAt),
    ]
}

fn wide(q: Quat) -> DQuat {
    q.as_dquat().normalize()
}

fn close(what: &str, got: DVec3, want: DVec3, bound: f64) -> Outcome {
    let off = (got - want).abs().max_element();
    prop_assert!(off <= bound, "{what}: got {got}, want {want}, off by {off:e}, allowed {bound:e}");
    Ok(())
}

impl<A: Kind> Tree<A> {
    fn open(&mut self, at: usize, door: Door) -> Outcome {
        let id = self.ids[at % self.ids.len()];
        let (before, bits, was) = (self.clone(), self.bits(), self.world(id));
        let (parent, inherit) = (self.parent(id), self.inherit(id));
        let frame = self.frame(parent, inherit);
        let positioned = parent.is_none() || inherit.position;
        let of_frame = condition(frame.matrix.matrix3);
        let of_own = condition(self.local(id).matrix.matrix3);
        let result: Result<(), WorldError> = match door {
            Door::Position(v) => self.h.set_world_position(id, v),
            Door::Move(v) => self.h.translate(id, v, Space::World),
            Door::Rotate(q) => self.h.rotate(id, q, Space::World),
            Door::RotateAround(point, q) => self.h.rotate_around(id, point, q, Space::World),
            Door::Transform(transform) => self.h.set_world_transform(id, transform),
            Door::Rotation(q) => self.h.set_world_rotation(id, q),
            Door::Scale(s) => self.h.set_world_scale(id, s),
            Door::LookAt(target) => self.h.look_at(id, target, Vec3::new(0.1, 1.0, 0.2)),
        };
        self.h.assert_well_formed();
        let is_moved = matches!(door, Door::Position(_) | Door::Move(_));
        if let Err(error) = result {
            prop_assert_eq!(self.bits(), bits, "a refusal changed something");
            prop_assert!(positioned || !is_moved, "{error}");
            let sound = of_frame < 1e3 && (of_own < 1e3 || !matches!(door, Door::LookAt(_)));
            prop_assert!(!sound, "{} of a parent with the condition {of_frame}", Error::from(error));
            return Ok(());
        }
        self.check_world(id)?;
        let now = self.world(id);
        if of_frame > 1e3 && (positioned || !is_moved) {
            // So little is left of it in float32 that bounds say nothing.
            return Ok(());
        }
        let bound = 64.0 * EPS * if of_frame > 1e3 { 1.0 } else { of_frame };
        let reach = was.size.translation.max_element() + frame.size.translation.max_element();
        let moved =
            |want: DVec3| close("position", now.matrix.translation, want, bound * (want.abs().max_element() + reach));
        let unmoved = || {
            prop_assert_eq!(self.h.position(id), before.h.position(id));
            Ok(())
        };
        let unturned = || {
            prop_assert_eq!(self.h.rotation(id), before.h.rotation(id));
            prop_assert_eq!(self.h.scale(id), before.h.scale(id));
            prop_assert_eq!(self.h.local_matrix(id).unwrap().matrix3, before.h.local_matrix(id).unwrap().matrix3);
            Ok(())
        };
        let linear = |want: DMat3, size: DMat3| {
            let [got, want] = [now.matrix.matrix3, want].map(|matrix3| DAffine3 { matrix3, translation: DVec3::ZERO });
            near("linear part", &got, &want, &columns(&DAffine3 { matrix3: size, translation: DVec3::ZERO }), bound)
        };
        let turned = |q: Quat| {
            let size = was.size.matrix3 + now.size.matrix3;
            if A::reads_shear() {
                return linear(DMat3::from_quat(wide(q)) * was.matrix.matrix3, size * 3.0);
            }
            linear(DMat3::from_quat(wide(q) * was.rotation) * DMat3::from_diagonal(was.scale), size)
        };
        match door {
            Door::Position(v) => moved(v.as_dvec3()).and_then(|()| unturned()),
            Door::Move(v) => moved(was.matrix.translation + v.as_dvec3()).and_then(|()| unturned()),
            Door::Rotate(q) => turned(q).and_then(|()| unmoved()),
            Door::RotateAround(point, q) => {
                let point = point.as_dvec3();
                turned(q)?;
                moved(point + wide(q) * (was.matrix.translation - point))
            }
            Door::Transform(transform) => {
                let want = stage::Pose::of_trs(&transform).matrix;
                linear(want.matrix3, now.size.matrix3)?;
                moved(want.translation)?;
                // In world coordinates it is what was set, to the bit.
                prop_assert!(positioned || bits_of(self.h.position(id).unwrap()) == bits_of(transform.position));
                Ok(())
            }
            Door::Rotation(q) if of_own < 1e3 => {
                unmoved()?;
                let got = DMat3::from_quat(wide(self.h.world_rotation(id).unwrap()));
                let want = DMat3::from_quat(wide(q));
                (0..3).try_for_each(|i| close("axis", got.col(i), want.col(i), bound * of_own))
            }
            Door::Scale(s) => {
                unmoved()?;
                let got = self.h.world_scale(id).unwrap().as_dvec3().abs();
                // Of a matrix, the rounding of its shear is in it too.
                let of_own = if self.h.is_trs(id).unwrap() { 1.0 } else { condition(self.local(id).matrix.matrix3) };
                close("scale", got, s.as_dvec3().abs(), bound * of_own * s.as_dvec3().abs().max_element())
            }
            Door::LookAt(target) if of_own < 1e3 => {
                unmoved()?;
                let view = target.as_dvec3() - now.matrix.translation;
                let blur = 1.0 + reach / view.length();
                close("view", -now.matrix.matrix3.z_axis.normalize(), view.normalize(), bound * of_own * blur)
            }
            Door::Rotation(_) | Door::LookAt(_) => unmoved(),
        }
    }

    /// `W(to)⁻¹ W(from)`, seen from the world by the model.
    fn between(&self, a: usize, b: usize) -> Outcome {
        let (from, to) = (self.ids[a % self.ids.len()], self.ids[b % self.ids.len()]);
        let (start, end) = (self.world(from), self.world(to));
        let of_end = condition(end.matrix.matrix3);
        match self.h.transform_between(from, to) {
            Ok(got) if of_end < 1e3 => {
                let want = end.matrix.inverse() * start.matrix;
                let offset = start.size.translation.max_element() + end.size.translation.max_element();
                // Solved in float64, whose noise the way back magnifies, and rounded once.
                let back = stage::frobenius(end.matrix.matrix3.inverse());
                let mut allowed = columns(&stage::sizes(&want));
                allowed.matrix3 *= EPS + 1e-12 * of_end;
                allowed.translation *= EPS + 1e-12 * of_end;
                allowed.translation += DVec3::splat(1e-12 * of_end * back * offset);
                near("between", &stage::wide(&got), &want, &allowed, 1.0)
            }
            Ok(_) => Ok(()),
            Err(error) => {
                prop_assert!(of_end > 1e3, "{error} although the condition is {of_end}");
                Ok(())
            }
        }
    }

    /// Worlds that the model can invert have an inverse; ones with an exact zero on the way have none.
    fn inverses(&self) -> Outcome {
        for &id in &self.ids {
            let world = self.world(id);
            let of_world = condition(world.matrix.matrix3);
            match self.h.world_inverse(id) {
                Ok(_) => prop_assert!(of_world.is_finite()),
                Err(error) => prop_assert!(of_world > 1e3, "{error}, condition {of_world}"),
            }
            if of_world < 1e3 {
                prop_assert_eq!(self.h.is_mirrored(id).unwrap(), world.matrix.matrix3.determinant() < 0.0);
            }
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn doors_of_matrices(mut tree in forests::<Matrices>(), steps in prop::collection::vec((0..50usize, doors()), 1..5)) {
        steps.into_iter().try_for_each(|(at, door)| tree.open(at, door))?;
    }

    #[test]
    fn doors_of_components(mut tree in forests::<Components>(), steps in prop::collection::vec((0..50usize, doors()), 1..5)) {
        steps.into_iter().try_for_each(|(at, door)| tree.open(at, door))?;
    }

    #[test]
    fn between_nodes_of_matrices(tree in forests::<Matrices>(), a in 0..50usize, b in 0..50usize) {
        tree.between(a, b)?;
        tree.inverses()?;
    }

    #[test]
    fn between_nodes_of_components(tree in forests::<Components>(), a in 0..50usize, b in 0..50usize) {
        tree.between(a, b)?;
        tree.inverses()?;
    }
}
