//! Component poses and what hangs under them, of many nodes: the loops behind updates of nodes that do not inherit
//! everything.

use super::Accumulate;
use crate::Inherit;

/// Writes those of an implementation over rows of that type. Not generic, so that they are compiled in this crate,
/// as it is optimised.
macro_rules! poses {
    ($Row:ty) => {
        #[inline(never)]
        fn pose(
            above: &[u32],
            inherits: &[Inherit],
            transforms: &[Self::Transform],
            poses: &mut [Self::Transform],
            places: &[u32],
        ) {
            super::poses::pose::<Self>(above, inherits, transforms, poses, places);
        }

        #[inline(never)]
        fn hang(
            rows: &[u32],
            above: &[u32],
            inherits: &[Inherit],
            locals: &[$Row],
            poses: &[Self::Transform],
            worlds: &mut [$Row],
        ) {
            super::poses::hang::<Self>(rows, above, inherits, locals, poses, worlds);
        }
    };
}
pub(super) use poses;

/// The body of every `pose`.
#[inline(always)]
pub(super) fn pose<A: Accumulate>(
    above: &[u32],
    inherits: &[Inherit],
    transforms: &[A::Transform],
    poses: &mut [A::Transform],
    places: &[u32],
) {
    let Some(&first) = transforms.first() else { return };
    // On a way down what is above is at hand: it need not come back from memory.
    let (mut last, mut pose) = (None, first);
    for &place in places {
        let (at, parent) = (place as usize, above[place as usize]);
        let own = &transforms[at];
        if last == Some(parent) {
            pose = A::combined(&pose, inherits[at], own);
        } else {
            pose = match poses.get(parent as usize) {
                Some(above) => A::combined(above, inherits[at], own),
                None => *own,
            };
        }
        poses[at] = pose;
        last = Some(place);
    }
}

/// The body of every `hang`.
#[inline(always)]
pub(super) fn hang<A: Accumulate>(
    rows: &[u32],
    above: &[u32],
    inherits: &[Inherit],
    locals: &[A::Row],
    poses: &[A::Transform],
    worlds: &mut [A::Row],
) {
    for (((&row, &above), &inherit), local) in rows.iter().zip(above).zip(inherits).zip(locals) {
        worlds[row as usize] = match poses.get(above as usize) {
            Some(above) => A::hung(above, inherit, local),
            None => A::root(local),
        };
    }
}
