//! gfortran's own descriptors, by which choice buffers of MPICH's `mpi_f08` come: its routines are no BIND(C) ones.

use std::ffi::c_void;
use std::ops::Deref;

use crate::dimension::{self, Dimension};

/// What gfortran has had since GCC 8, up to the first dimension.
#[repr(C)]
pub struct Descriptor {
    pub base: *mut c_void,
    _offset: isize,
    /// Bytes of an element.
    pub element: usize,
    _version: i32,
    rank: i8,
    _type: i8,
    _attribute: i16,
    /// Bytes from one element to the next where a stride is 1.
    span: isize,
    dimensions: [Native; 0],
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Native {
    stride: isize,
    lower: isize,
    upper: isize,
}

/// The most that an array has in Fortran.
const MOST: usize = 15;

/// The dimensions as C's descriptors have them.
pub struct Dimensions {
    all: [Dimension; MOST],
    rank: usize,
}

impl Deref for Dimensions {
    type Target = [Dimension];

    #[inline(always)]
    fn deref(&self) -> &[Dimension] {
        &self.all[..self.rank]
    }
}

impl Descriptor {
    /// # Safety
    /// A descriptor of an array stands at the address, with its dimensions behind it.
    #[inline(always)]
    pub unsafe fn dimensions(this: *const Descriptor) -> Dimensions {
        // SAFETY: by this function's contract.
        let (span, rank, first) = unsafe {
            let first = (&raw const (*this).dimensions).cast::<Native>();
            ((*this).span, (*this).rank, first)
        };
        let none = Dimension {
            lower_bound: 0,
            extent: 0,
            stride: 0,
        };
        let rank = usize::try_from(rank).unwrap_or(0).min(MOST);
        let mut dimensions = Dimensions {
            all: [none; MOST],
            rank,
        };
        for (at, dimension) in dimensions.all[..rank].iter_mut().enumerate() {
            // SAFETY: by this function's contract.
            let native = unsafe { *first.add(at) };
            let extent = native.upper - native.lower + 1;
            *dimension = Dimension {
                lower_bound: native.lower,
                // The last one of an array whose size is not known ends two before it begins.
                extent: match at + 1 == rank {
                    true => extent.max(-1),
                    false => extent.max(0),
                },
                stride: native.stride * span,
            };
        }
        dimensions
    }

    /// Whether the elements touch, one behind the other; so do none.
    ///
    /// # Safety
    /// As of [`Descriptor::dimensions`].
    #[inline(always)]
    pub unsafe fn is_contiguous(this: *const Descriptor) -> bool {
        // SAFETY: by this function's contract.
        unsafe { dimension::are_contiguous((*this).element, &Descriptor::dimensions(this)) }
    }
}
