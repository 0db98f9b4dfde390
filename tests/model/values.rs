//! Positions, rotations and scales from the bits of a number.

use super::*;
use posetree::glam::{EulerRot, Quat};

/// A number in [0, 1).
fn part(seed: u32, shift: u32) -> f32 {
    (seed.rotate_right(shift) & 0xff) as f32 / 256.0
}

fn vector(seed: u32, size: f32) -> Vec3 {
    (Vec3::new(part(seed, 3), part(seed, 11), part(seed, 19)) * 2.0 - 1.0) * size
}

pub(crate) fn position(seed: u32) -> Vec3 {
    vector(seed.rotate_left(7), [3.0, 3.0, 3.0, 1e6, 1e-6][seed as usize % 5])
}

pub(crate) fn rotation(seed: u32) -> Quat {
    let [x, y, z] = vector(seed.wrapping_mul(0x9e37_79b9), 3.0).to_array();
    match seed % 7 {
        0 => Quat::IDENTITY,
        1 => Quat::from_rotation_z(core::f32::consts::FRAC_PI_2),
        _ => Quat::from_euler(EulerRot::XYZ, x, y, z),
    }
}

/// Uniform, uneven, mirrored, tiny, huge, a needle or a disc, and at times flat.
pub(crate) fn scale(seed: u32) -> Vec3 {
    let seed = seed.rotate_left(13);
    let uneven = vector(seed, 1.0).abs() + 0.4;
    match seed % 24 {
        0..=5 => Vec3::ONE,
        6..=8 => Vec3::splat(uneven.x),
        9..=13 => uneven,
        14 | 15 => uneven * Vec3::new(1.0, -1.0, 1.0),
        16 | 17 => -uneven,
        18 => Vec3::splat(1e-6),
        19 => Vec3::splat(1e6),
        20 => uneven * Vec3::new(1.0, 1e-6, 1.0),
        21 => uneven * Vec3::new(1e6, 1.0, -1.0),
        22 => uneven * Vec3::new(1.0, 0.0, 1.0),
        _ => [Vec3::ZERO, uneven * Vec3::X][seed as usize / 24 % 2],
    }
}

/// A number that stands for a needle or a disc: where a solution nearly fails, or does.
pub(crate) fn thin(seed: u32) -> u32 {
    (seed / 48 * 24 + 20 + seed % 2).rotate_right(13)
}

/// A number that stands for a millionth: a few of them in a row are below the normal numbers, a few more zero.
pub(crate) fn tiny(seed: u32) -> u32 {
    (seed / 48 * 24 + 18).rotate_right(13)
}

pub(crate) fn transform(seed: u32) -> Transform {
    Transform::new(position(seed), rotation(seed), scale(seed))
}

pub(crate) fn keep(seed: u32) -> Keep {
    [Keep::Local, Keep::World, Keep::WorldTrs][(seed >> 8) as usize % 3]
}

/// A transform's matrix, sheared.
pub(crate) fn matrix(seed: u32) -> Affine3A {
    let shear = Affine3A::from_cols_array(&[1.0, 0.0, 0.0, 0.5, 1.0, 0.0, -0.3, 0.2, 1.0, 0.0, 0.0, 0.0]);
    let matrix = transform(seed).to_affine();
    if seed % 4 == 0 { matrix } else { matrix * shear }
}
