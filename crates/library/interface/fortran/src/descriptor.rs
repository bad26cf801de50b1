//! C's descriptors, by which choice buffers of `mpi_f08` come (MPI-5.0 §19.1.2).
//!
//! Of a descriptor are read only the parts that all compilers lay out alike.

use std::ffi::c_void;
use std::slice::from_raw_parts;

use crate::dimension::{self, Dimension};

/// `CFI_cdesc_t`, up to its first dimension.
#[repr(C)]
pub struct Descriptor {
    pub base: *mut c_void,
    /// Bytes of an element.
    pub element: usize,
    version: i32,
    rank: i8,
    /// Compilers differ in the order of type and attribute.
    _others: [i8; 3],
    dimensions: [Dimension; 0],
}

impl Descriptor {
    /// # Safety
    /// A descriptor of a whole array stands at the address, with its dimensions behind it.
    #[inline(always)]
    pub unsafe fn dimensions<'a>(this: *const Descriptor) -> &'a [Dimension] {
        // SAFETY: by this function's contract.
        unsafe {
            let first = (&raw const (*this).dimensions).cast::<Dimension>();
            from_raw_parts(first, (*this).rank.cast_unsigned().into())
        }
    }

    /// Whether the elements touch, one behind the other; so do none.
    ///
    /// # Safety
    /// As of [`Descriptor::dimensions`].
    #[inline(always)]
    pub unsafe fn is_contiguous(this: *const Descriptor) -> bool {
        // SAFETY: by this function's contract.
        unsafe { dimension::are_contiguous((*this).element, Descriptor::dimensions(this)) }
    }
}

/// Address and length of a string that a descriptor holds.
///
/// # Safety
/// A descriptor stands at the address.
pub unsafe fn text(descriptor: *mut c_void) -> (*mut c_void, usize) {
    // SAFETY: by this function's contract.
    unsafe {
        let descriptor = &*descriptor.cast_const().cast::<Descriptor>();
        (descriptor.base, descriptor.element)
    }
}

/// # Safety
/// A descriptor stands at the address.
pub unsafe fn element_size(descriptor: *const c_void) -> usize {
    // SAFETY: by this function's contract.
    unsafe { (*descriptor.cast::<Descriptor>()).element }
}
