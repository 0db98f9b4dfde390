//! What rounding may do, and what may be refused.

use super::*;
use posetree::glam::{DAffine3, DMat3, DQuat, DVec3};

/// Noise of the model's own products, of which there are fewer than thirty in a row.
const WIDE: f64 = 1e-14;

/// The largest misfit that is still a solution.
const MISFIT: f64 = 1.0 / 1024.0;

pub(crate) fn map(m: &DAffine3, f: impl Fn(DVec3) -> DVec3) -> DAffine3 {
    let DMat3 { x_axis, y_axis, z_axis } = m.matrix3;
    DAffine3 { matrix3: DMat3::from_cols(f(x_axis), f(y_axis), f(z_axis)), translation: f(m.translation) }
}

fn add(a: &DAffine3, b: &DAffine3) -> DAffine3 {
    DAffine3 { matrix3: a.matrix3 + b.matrix3, translation: a.translation + b.translation }
}

fn times(m: &DAffine3, factor: f64) -> DAffine3 {
    map(m, |column| column * factor)
}

fn splat(value: f64) -> DAffine3 {
    let v = DVec3::splat(value);
    DAffine3 { matrix3: DMat3::from_cols(v, v, v), translation: v }
}

/// Each element as large as the largest of its column.
fn columns(size: &DAffine3) -> DAffine3 {
    map(size, |column| DVec3::splat(column.max_element()))
}

pub(crate) fn near(got: &DAffine3, want: &DAffine3, bound: &DAffine3) -> Outcome {
    let [got, want, bound] = [got, want, bound].map(DAffine3::to_cols_array);
    for ((got, want), bound) in got.into_iter().zip(want).zip(bound) {
        prop_assert!((got - want).abs() <= bound, "got {got:e}, want {want:e}, allowed {bound:e}");
    }
    Ok(())
}

pub(crate) fn pose<A: Kind>(own: &Own) -> Pose {
    let (rotation, scale) = (own.transform.rotation.as_dquat().normalize(), own.transform.scale.as_dvec3());
    let mut matrix = stage::wide(&own.matrix);
    if !A::reads_shear() {
        matrix = DAffine3::from_scale_rotation_translation(scale, rotation, own.transform.position.as_dvec3());
    }
    Pose { matrix, rotation, scale, size: stage::sizes(&matrix) }
}

/// `T * R * S`, written down from the definition of a quaternion's matrix.
pub(crate) fn trs(t: &Transform) -> DAffine3 {
    let DQuat { x, y, z, w } = t.rotation.as_dquat();
    let s = t.scale.as_dvec3();
    let matrix3 = DMat3::from_cols(
        DVec3::new(1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)) * s.x,
        DVec3::new(2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)) * s.y,
        DVec3::new(2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)) * s.z,
    );
    DAffine3 { matrix3, translation: t.position.as_dvec3() }
}

/// A transform's matrix in float32: an element on the diagonal of R is off by 5 u (two squares of at most
/// two together, their sum, the difference), off it by 4 u, and the scale adds one: 6 u = 3 ε.
pub(crate) fn of_trs(matrix: &Affine3A, t: &Transform) -> Outcome {
    let size = t.scale.as_dvec3().abs() * (3.0 * EPS) + 8.0 * UNDERFLOW;
    let matrix3 = DMat3::from_cols(DVec3::splat(size.x), DVec3::splat(size.y), DVec3::splat(size.z));
    near(&stage::wide(matrix), &trs(t), &DAffine3 { matrix3, translation: DVec3::ZERO })
}

impl<A: Kind> Pair<A> {
    /// How far the last world of a path may be off, element by element; `None` where it may overflow.
    ///
    /// With u = ε/2, a row of a product of matrices is three multiplications and three additions, each
    /// term in at most four of them: `4 u |P||L|` at each level, and what was off before times `|L|`. In
    /// components: a product of quaternions, normalised, and a vector turned by one, some 16 u a level.
    pub(crate) fn bound(&self, path: &[NodeId]) -> Option<DAffine3> {
        let (mut world, mut off) = (Pose::IDENTITY, splat(0.0));
        for (level, &id) in path.iter().enumerate() {
            let local = self.local(id);
            let scale = world.scale.abs();
            world = A::below(&world, &local);
            let below = splat(16.0 * UNDERFLOW);
            if A::reads_shear() {
                let carried = DAffine3 {
                    matrix3: off.matrix3 * local.size.matrix3,
                    translation: off.matrix3 * local.size.translation + off.translation,
                };
                let rounded = if level == 0 { splat(0.0) } else { times(&world.size, 2.02 * EPS) };
                off = add(&add(&carried, &rounded), &below);
            } else {
                // The sizes have no factors below one, as the scale's underflow has: it is carried apart.
                let reach = scale.max_element() * local.matrix.translation.abs().max_element();
                let lost = |column: DVec3, factor: f64| column * factor.abs();
                let carried = DAffine3 {
                    matrix3: DMat3::from_cols(
                        lost(off.matrix3.x_axis, local.scale.x),
                        lost(off.matrix3.y_axis, local.scale.y),
                        lost(off.matrix3.z_axis, local.scale.z),
                    ),
                    translation: off.translation
                        + off.matrix3 * DVec3::splat(local.matrix.translation.abs().max_element())
                        + reach * 16.0 * EPS * (level + 1) as f64,
                };
                off = add(&add(&carried, &times(&columns(&world.size), 8.0 * EPS)), &below);
            }
            let largest = world.size.to_cols_array().into_iter().fold(0.0, f64::max);
            if 4.0 * largest > f64::from(f32::MAX) {
                return None;
            }
        }
        Some(off)
    }

    /// Whether a node surely, or perhaps, has no inverse.
    fn flat(&self, id: NodeId) -> (bool, bool) {
        let zero = self.own(id).transform.scale.cmpeq(Vec3::ZERO).any();
        (zero, zero || is_noise(self.local(id).matrix.matrix3))
    }

    /// The law of what was solved for, under the nodes of a way down: `|P L - W| ≤ 2 ε |P||L|`.
    pub(crate) fn solved(&mut self, id: NodeId, to: &[NodeId], wanted: &Pose, keep: Keep) -> Outcome {
        prop_assert!(!to.iter().any(|&id| self.flat(id).0), "solved under a flat node");
        self.take_over(id);
        if keep == Keep::WorldTrs {
            let held = self.h.local(id).unwrap().to_affine();
            prop_assert!(!A::reads_shear() || bits(held) == bits(self.own(id).matrix), "not held as a transform");
        }
        let (parent, local) = (self.product(to), self.local(id));
        let got = A::below(&parent, &local);
        let lawful = match (A::reads_shear(), keep) {
            (true, Keep::World) => times(&got.size, 2.0 * EPS),
            // What was solved for is taken for a transform if that is within 24 ε of it by the column (`try_from`).
            (true, _) => times(&(parent.size * columns(&local.size)), 26.0 * EPS),
            (false, _) => times(&columns(&got.size), 4.0 * EPS),
        };
        // Below the normal numbers a matrix is rounded once. A scale is, and its products with a rotation's
        // elements, none above one, are again.
        let roundings = if A::reads_shear() && keep == Keep::WorldTrs { 2.0 } else { 1.0 };
        let least = DAffine3 { translation: DVec3::ZERO, ..parent.size } * splat(roundings * UNDERFLOW);
        let noise = times(&add(&columns(&got.size), &columns(&wanted.size)), WIDE);
        near(&got.matrix, &wanted.matrix, &add(&add(&lawful, &least), &noise))?;
        self.misfit(&parent, &local, wanted).map_or(Ok(()), |misfit| {
            prop_assert!(misfit <= 1.01 * MISFIT, "what was solved for misses by {misfit:e}");
            Ok(())
        })
    }

    /// How far a local value misses its wanted pose: the worst column, in units of its largest element.
    /// `None` if the model cannot tell, being as far from exact itself.
    fn misfit(&self, parent: &Pose, local: &Pose, wanted: &Pose) -> Option<f64> {
        let got = A::below(parent, local);
        let column = |i: usize| {
            let [got, want, size] = [&got.matrix, &wanted.matrix, &columns(&got.size)].map(|m| m.matrix3.col(i));
            relative((got - want).abs().max_element(), want.abs().max_element(), size.max_element())
        };
        let (got, want, origin) = (got.matrix.translation, wanted.matrix.translation, parent.matrix.translation);
        let [off, far, near, origin] = [got - want, want, want - origin, origin].map(|v| v.abs().max_element());
        let size = parent.size.transform_point3(local.size.translation) + wanted.size.translation;
        let position = if off <= 4.0 * EPS * (far + origin) {
            Some(0.0)
        } else {
            relative(off, far.max(near), size.max_element())
        };
        let all = [column(0)?, column(1)?, column(2)?, position?];
        Some(all.into_iter().fold(0.0, |a, b| if b.is_nan() { f64::INFINITY } else { b.max(a) }))
    }

    /// The best local value there is, by the model's own elimination; then rounded.
    fn best(&self, parent: &Pose, wanted: &Pose) -> (Pose, bool) {
        let offset = wanted.matrix.translation - parent.matrix.translation;
        let own = if A::reads_shear() {
            let column = |v: DVec3| eliminate(parent.matrix.matrix3, v).as_vec3();
            let [x, y, z] = [0, 1, 2].map(|i| column(wanted.matrix.matrix3.col(i)));
            let matrix = Affine3A::from_cols(x.into(), y.into(), z.into(), column(offset).into());
            Own { transform: Transform::IDENTITY, matrix }
        } else {
            let back = parent.rotation.inverse();
            let rotation = (back * wanted.rotation).normalize().as_quat();
            let position = (back * offset / parent.scale).as_vec3();
            let transform = Transform::new(position, rotation, (wanted.scale / parent.scale).as_vec3());
            Own { transform, matrix: Affine3A::IDENTITY }
        };
        (pose::<A>(&own), own.matrix.is_finite() && own.transform.is_finite())
    }

    /// Whether half a last bit of a local value is a good part of the largest misfit.
    fn is_thin(&self, parent: &Pose, local: &Pose, wanted: &Pose) -> bool {
        let rounded = times(&(DAffine3 { translation: DVec3::ZERO, ..parent.size } * local.size), 0.5 * EPS);
        let origin = parent.matrix.translation.abs().max_element();
        let [lost, mut want] = [rounded, wanted.matrix].map(|m| columns(&stage::sizes(&m)));
        want.translation = want.translation.max(DVec3::splat(origin));
        let columns = lost.to_cols_array().into_iter().zip(want.to_cols_array());
        columns.into_iter().any(|(lost, want)| lost > 0.2 * MISFIT * want)
    }

    /// A refusal to solve for a pose must have its cause in the model.
    pub(crate) fn refused_rightly(&self, error: Error, to: &[NodeId], wanted: &Pose, keep: Keep) -> Outcome {
        let parent = self.product(to);
        let (best, finite) = self.best(&parent, wanted);
        let misfit = if finite { self.misfit(&parent, &best, wanted) } else { Some(f64::INFINITY) };
        // What rounding to float32 may do is what it might have done to the hierarchy's solution.
        let misses = misfit.is_none_or(|misfit| misfit > 0.99 * MISFIT) || self.is_thin(&parent, &best, wanted);
        match error {
            Error::SingularParent(refusal) => {
                prop_assert_eq!(Some(&refusal.parent), to.last());
                let drowned = is_noise(parent.matrix.matrix3) || is_beyond_float64(parent.matrix.matrix3);
                let flat = drowned || to.iter().any(|&id| self.flat(id).1);
                prop_assert!(flat || misses, "{} although a value misses by {:?}", error, misfit);
            }
            Error::NonFinite(_) => prop_assert!(misses, "{} although a value misses by {:?}", error, misfit),
            Error::NotTrs(_) => {
                prop_assert!(A::reads_shear() && keep == Keep::WorldTrs);
                let right = skew(best.matrix.matrix3) <= EPS;
                let sound = stage::condition(parent.matrix.matrix3) < 1e3;
                prop_assert!(!(right && sound), "{} although columns are at right angles", error);
            }
            _ => prop_assert!(false, "{}", error),
        }
        Ok(())
    }
}

/// Whether a parent's thinnest side is below 2⁻⁴⁰ of a column. The pose that is solved for is a rounded
/// product, and such a side magnifies its 2⁻⁵³ to more than 2⁻¹³ of the local value along that side: which
/// of the values that give the pose to within float64 is found, and so what rounding it to float32 moves,
/// is open then, and the hierarchy's need not be the model's.
fn is_beyond_float64(m: DMat3) -> bool {
    let x = m.x_axis.normalize_or_zero();
    let y = m.y_axis - x * x.dot(m.y_axis);
    let y = y - x * x.dot(y);
    let normal = x.cross(y.normalize_or_zero());
    let thin = |side: f64, column: DVec3| side <= 2f64.powi(-40) * column.length();
    thin(y.length(), m.y_axis) || thin(normal.dot(m.z_axis).abs(), m.z_axis)
}

/// `off / size`, or `None` where it is within what the model's own rounding, of `products`, explains.
fn relative(off: f64, size: f64, products: f64) -> Option<f64> {
    if off <= f64::from(f32::MIN_POSITIVE) || off <= 0.1 * MISFIT * size {
        return Some(0.0);
    }
    // Of a pose that is all cancellation the model knows no digit.
    (WIDE * products < 0.01 * off).then_some(off / size)
}

/// Whether the determinant is, as far as float64 can tell, zero.
fn is_noise(m: DMat3) -> bool {
    let unit = |column: DVec3| column / column.abs().max_element();
    let det = DMat3::from_cols(unit(m.x_axis), unit(m.y_axis), unit(m.z_axis)).determinant();
    det.is_nan() || det.abs() < 1e-13
}

/// The largest cosine between two columns.
fn skew(m: DMat3) -> f64 {
    let unit = |v: DVec3| (v / v.abs().max_element()).normalize_or_zero();
    let [x, y, z] = [m.x_axis, m.y_axis, m.z_axis].map(unit);
    x.dot(y).abs().max(x.dot(z).abs()).max(y.dot(z).abs())
}

/// The solution of `m x = v` by Gauss's elimination with pivots, refined twice.
fn eliminate(m: DMat3, v: DVec3) -> DVec3 {
    let mut x = DVec3::ZERO;
    for _ in 0..3 {
        x += eliminate_once(m, v - m * x);
    }
    x
}

fn eliminate_once(m: DMat3, v: DVec3) -> DVec3 {
    let mut rows = [0, 1, 2].map(|i| [m.row(i).x, m.row(i).y, m.row(i).z, v[i]]);
    for at in 0..3 {
        let pivot = (at..3).max_by(|&a, &b| rows[a][at].abs().total_cmp(&rows[b][at].abs())).unwrap();
        rows.swap(at, pivot);
        for row in 0..3 {
            if row != at {
                let factor = rows[row][at] / rows[at][at];
                rows[row] = core::array::from_fn(|i| rows[row][i] - factor * rows[at][i]);
            }
        }
    }
    DVec3::new(rows[0][3] / rows[0][0], rows[1][3] / rows[1][1], rows[2][3] / rows[2][2])
}
