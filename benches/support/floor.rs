//! What the machine can do: the same product over the same rows with nothing around it, and a copy that
//! reads and writes the same bytes without arithmetic.

use posetree::glam::{BVec4A, Vec4, Vec4Swizzles};
use posetree::{Error, Hierarchy, NodeId};

type Rows = [[f32; 4]; 3];

#[derive(Debug)]
pub(crate) struct Floor {
    parents: Vec<u32>,
    locals: Vec<Rows>,
    pub(crate) worlds: Vec<Rows>,
}

impl Floor {
    /// The rows of a hierarchy, in its own order.
    pub(crate) fn new(hierarchy: &mut Hierarchy) -> Result<Self, Error> {
        let worlds = hierarchy.update();
        let count = worlds.rows().len();
        let ids: Vec<NodeId> = (0..count).filter_map(|row| worlds.id_of_row(row)).collect();
        let hierarchy = &*hierarchy;
        let worlds = hierarchy.worlds().expect("just updated");
        let mut floor = Self { parents: Vec::new(), locals: Vec::new(), worlds: worlds.rows().to_vec() };
        for id in ids {
            floor.parents.push(match hierarchy.parent(id)? {
                Some(parent) => worlds.row_of(parent)? as u32,
                None => u32::MAX,
            });
            let columns = hierarchy.local_matrix(id)?.to_cols_array_2d();
            floor.locals.push([0, 1, 2].map(|row| columns.map(|column| column[row])));
        }
        Ok(floor)
    }

    #[inline(never)]
    pub(crate) fn product(&mut self) {
        let last = BVec4A::new(false, false, false, true);
        for (row, (&parent, local)) in self.parents.iter().zip(&self.locals).enumerate() {
            self.worlds[row] = match self.worlds.get(parent as usize) {
                None => *local,
                Some(parent) => {
                    let [x, y, z] = local.map(Vec4::from_array);
                    parent.map(|p| {
                        let p = Vec4::from_array(p);
                        let moved = Vec4::select(last, p, Vec4::ZERO);
                        ((x * p.xxxx() + y * p.yyyy()) + (z * p.zzzz() + moved)).to_array()
                    })
                }
            };
        }
    }

    pub(crate) fn copy(&mut self) {
        copy(&self.parents, &self.locals, &mut self.worlds);
    }

    /// The same in parts, for as many threads.
    pub(crate) fn copies(&mut self, parts: usize) -> impl Iterator<Item = impl FnOnce() + Send> {
        let len = self.worlds.len().div_ceil(parts);
        let read = self.parents.chunks(len).zip(self.locals.chunks(len));
        read.zip(self.worlds.chunks_mut(len)).map(|((parents, locals), worlds)| move || copy(parents, locals, worlds))
    }
}

#[inline(never)]
fn copy(parents: &[u32], locals: &[Rows], worlds: &mut [Rows]) {
    let mut sum = 0_u32;
    for ((&parent, local), world) in parents.iter().zip(locals).zip(worlds) {
        sum = sum.wrapping_add(parent);
        *world = *local;
    }
    std::hint::black_box(sum);
}
