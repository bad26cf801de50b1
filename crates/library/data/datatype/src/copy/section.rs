//! Data in an array section of Fortran's whose elements stand apart (MPI-5.0 §19.1.12).
//!
//! The standard has a datatype, its count and all displacements of a call be about a *virtual contiguous array*: the
//! section's elements one behind the other. So an address of that array is the section's first byte and a virtual
//! displacement; where a run of virtual bytes really stands follows from the section's dimensions.

use std::sync::Arc;

use super::Copier;
use super::blocks::{Direction, Pack, Unpack, copy_blocks};
use weft_memory::Layout;

/// Where the elements of an array section stand.
#[derive(Clone, Debug)]
pub struct Section {
    /// Address of the first element.
    base: usize,
    /// Bytes of one run of elements that touch.
    block: usize,
    /// The runs, the innermost dimension first; never none. No two of them could be one.
    dimensions: Vec<Dimension>,
}

/// A dimension of an array section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// Elements; at least one.
    pub extent: usize,
    /// Bytes from one element to the next, of either sign.
    pub stride: isize,
}

/// So many runs of virtual bytes, at a distance from the section's first byte, and `stride` apart.
struct Grid {
    displacement: isize,
    count: usize,
    stride: isize,
    block: usize,
}

impl Section {
    /// A section of elements of `element` bytes, not none, whose first one is at `base`; the innermost dimension first.
    pub fn new(base: *mut u8, element: usize, dimensions: &[Dimension]) -> Section {
        let mut block = element;
        let mut merged = Vec::<Dimension>::new();
        for &dimension in dimensions.iter().filter(|dimension| dimension.extent > 1) {
            let continues = |before: isize| before == dimension.stride;
            match merged.last_mut() {
                None if continues(block as isize) => block *= dimension.extent,
                Some(last) if continues(last.stride.wrapping_mul(last.extent as isize)) => {
                    last.extent *= dimension.extent;
                }
                _ => merged.push(dimension),
            }
        }
        if merged.is_empty() {
            let stride = block as isize;
            merged.push(Dimension { extent: 1, stride });
        }
        Section {
            base: base.addr(),
            block,
            dimensions: merged,
        }
    }

    /// The run with this number, and how many follow it up to the end of the innermost dimension, itself included. The
    /// outermost dimension has no end: as in C, a count that leads out of the array is the program's error.
    fn run(&self, number: isize) -> (isize, usize) {
        let (outermost, inner) = self.dimensions.split_last().expect("there is one");
        let (mut displacement, mut rest) = (0_isize, number);
        for dimension in inner {
            let extent = dimension.extent as isize;
            let index = rest.rem_euclid(extent);
            displacement = displacement.wrapping_add(dimension.stride.wrapping_mul(index));
            rest = rest.div_euclid(extent);
        }
        let displacement = displacement.wrapping_add(outermost.stride.wrapping_mul(rest));
        let following = match inner.first() {
            None => usize::MAX,
            Some(first) => first.extent - number.rem_euclid(first.extent as isize) as usize,
        };
        (displacement, following)
    }

    /// Calls `visit` with where the virtual bytes from `from` on stand, in their order.
    fn visit(&self, from: isize, bytes: usize, visit: &mut impl FnMut(Grid)) {
        let stride = self.dimensions[0].stride;
        let mut number = from.div_euclid(self.block as isize);
        let mut within = from.rem_euclid(self.block as isize) as usize;
        let mut left = bytes;
        while left > 0 {
            let (displacement, following) = self.run(number);
            let whole = match within {
                0 => following.min(left / self.block),
                _ => 0,
            };
            // One that the bytes begin or end in, or all that are whole.
            let grid = match whole {
                0 => Grid {
                    displacement: displacement.wrapping_add(within as isize),
                    count: 1,
                    stride,
                    block: left.min(self.block - within),
                },
                count => Grid {
                    displacement,
                    count,
                    stride,
                    block: self.block,
                },
            };
            left -= grid.count * grid.block;
            number += grid.count as isize;
            within = 0;
            visit(grid);
        }
    }
}

/// A datatype's pack and unpack, its buffers lying in a section's virtual contiguous array.
#[derive(Debug)]
pub(crate) struct InSection {
    section: Section,
    datatype: Arc<Copier>,
}

impl InSection {
    pub fn new(section: Section, datatype: Arc<Copier>) -> InSection {
        InSection { section, datatype }
    }

    /// Calls `visit` with where the packed bytes `window` of elements stand whose first one is at the section's beginning.
    pub fn visit_runs(&self, window: std::ops::Range<usize>, visit: &mut impl FnMut(isize, usize)) {
        self.datatype.runs(window, &mut |at, bytes| {
            self.section.visit(at, bytes, &mut |grid| {
                for index in 0..grid.count as isize {
                    let at = grid.stride.wrapping_mul(index);
                    visit(grid.displacement.wrapping_add(at), grid.block);
                }
            });
            true
        });
    }

    /// Copies the packed bytes `window` of elements whose first one is at `user`, an address of the virtual array.
    ///
    /// # Safety
    /// The section's bytes that belong to the window, and `packed` for its length, are valid for `D::copy`.
    unsafe fn copy<D: Direction>(
        &self,
        user: *mut u8,
        mut packed: *mut u8,
        window: std::ops::Range<usize>,
    ) {
        let virtual_base = user.addr().wrapping_sub(self.section.base) as isize;
        let first = user.wrapping_offset(virtual_base.wrapping_neg());
        self.datatype.runs(window, &mut |at, bytes| {
            let from = virtual_base.wrapping_add(at);
            self.section.visit(from, bytes, &mut |grid| {
                let at = first.wrapping_offset(grid.displacement);
                // SAFETY: the grids of all runs are the window's bytes in their order; by this function's contract.
                unsafe { copy_blocks::<D>(at, packed, grid.count, grid.stride, grid.block) };
                packed = packed.wrapping_add(grid.count * grid.block);
            });
            true
        });
    }
}

// SAFETY: `copy` touches the section's bytes that the datatype's type map says, taken as displacements in the virtual
// array; those are what the layout covers.
unsafe impl Layout for InSection {
    unsafe fn pack(&self, base: *const u8, offset: usize, out: &mut [u8]) {
        let window = offset..offset + out.len();
        // SAFETY: the section is valid for reads by the caller's contract, `Pack` only reads there, and `out` holds as many
        // bytes as the window.
        unsafe { self.copy::<Pack>(base.cast_mut(), out.as_mut_ptr(), window) }
    }

    unsafe fn unpack(&self, base: *mut u8, offset: usize, data: &[u8]) {
        let window = offset..offset + data.len();
        // SAFETY: the section is valid for writes by the caller's contract, `Unpack` only reads through `data`, which
        // holds as many bytes as the window.
        unsafe { self.copy::<Unpack>(base, data.as_ptr().cast_mut(), window) }
    }
}
