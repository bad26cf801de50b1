//! Parts of arrays as datatypes: `MPI_Type_create_subarray` and `MPI_Type_create_darray` (MPI-5.0 §5.1.3, §5.1.4).
//!
//! Both are built dimension by dimension, the fastest first. Elements of a dimension lie `stride` bytes apart: the
//! extent of the old type times the sizes of all faster dimensions.

use crate::body::{Assembly, Body, Part};
use crate::subarray::{Darray, Distribution, Order, Subarray};
use crate::{Datatype, Envelope, Overflow};

/// The dimensions of an array, the fastest first.
fn fastest_first(order: Order, dimensions: usize) -> Box<dyn Iterator<Item = usize>> {
    match order {
        Order::C => Box::new((0..dimensions).rev()),
        Order::Fortran => Box::new(0..dimensions),
    }
}

fn signed(number: usize) -> Result<isize, Overflow> {
    isize::try_from(number).map_err(|_| Overflow)
}

fn product(stride: isize, number: usize) -> Result<isize, Overflow> {
    stride.checked_mul(signed(number)?).ok_or(Overflow)
}

impl Datatype {
    /// A part of an array of `old`, with the whole array's extent (MPI_Type_create_subarray).
    pub fn subarray(array: Subarray, old: &Datatype) -> Result<Datatype, Overflow> {
        let mut body = old.body();
        let mut stride = old.extent();
        for dimension in fastest_first(array.order, array.sizes.len()) {
            let start = product(stride, array.starts[dimension])?;
            body = body
                .repeated(array.subsizes[dimension], stride)?
                .moved(start)?;
            stride = product(stride, array.sizes[dimension])?;
        }
        let body = body.resized(0, stride)?;
        Datatype::derived(Envelope::Subarray(Box::new(array), old.clone()), body)
    }

    /// What one process has of a distributed array of `old`, with the whole array's extent
    /// (MPI_Type_create_darray).
    pub fn darray(array: Darray, old: &Datatype) -> Result<Datatype, Overflow> {
        let mut body = old.body();
        let mut stride = old.extent();
        for dimension in fastest_first(array.order, array.sizes.len()) {
            body = array.share(dimension).of(&body, stride)?;
            stride = product(stride, array.sizes[dimension])?;
        }
        let body = body.resized(0, stride)?;
        Datatype::derived(Envelope::Darray(Box::new(array), old.clone()), body)
    }
}

/// What a process has of one dimension: blocks of `block` of `size` elements, the first at `place` blocks, then every
/// `processes`-th.
struct Share {
    size: usize,
    block: usize,
    place: usize,
    processes: usize,
}

impl Darray {
    fn share(&self, dimension: usize) -> Share {
        let (size, processes) = (self.sizes[dimension], self.processes[dimension]);
        let block = match self.distributions[dimension] {
            Distribution::None => size,
            Distribution::Block => self.blocks[dimension].unwrap_or(size.div_ceil(processes)),
            Distribution::Cyclic => self.blocks[dimension].unwrap_or(1),
        };
        // The grid's processes are numbered by rows, whatever the order of the array.
        let faster: usize = self.processes[dimension + 1..].iter().product();
        Share {
            size,
            block,
            place: self.rank / faster % processes,
            processes,
        }
    }
}

impl Share {
    fn of(&self, element: &Body, stride: isize) -> Result<Body, Overflow> {
        let blocks = self.size.div_ceil(self.block);
        let mine = blocks.saturating_sub(self.place).div_ceil(self.processes);
        if mine == 0 {
            return element.repeated(0, stride);
        }
        let block_stride = product(stride, self.block)?;
        let at = |block: usize| product(block_stride, self.place + block * self.processes);
        let last = self.place + (mine - 1) * self.processes;
        let cut = self.size - last * self.block;
        // All are whole blocks but the last one of the dimension.
        let whole = if cut < self.block { mine - 1 } else { mine };
        let mut assembly = Assembly::with_capacity(2);
        let block = element.repeated(self.block, stride)?;
        let step = product(block_stride, self.processes);
        let step = if whole > 1 { step? } else { 0 };
        let mut append = |body: Body, count, extent, displacement| {
            let mut part = Part::new(body, extent);
            assembly.place(&mut part, count, displacement)?;
            assembly.bound(&part)
        };
        append(block, whole, step, at(0)?)?;
        if whole < mine {
            append(element.clone(), cut, stride, at(whole)?)?;
        }
        Ok(assembly.finish())
    }
}
