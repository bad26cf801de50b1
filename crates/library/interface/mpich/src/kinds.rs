//! One type for each kind of parameter that is converted, by the standard's name of the kind.

use std::ffi::{c_int, c_void};
use std::mem::transmute_copy;
use std::ptr::without_provenance_mut;

use weft_abi::*;

pub use crate::constants::*;
pub use crate::handles::*;
pub use crate::numbers::*;
pub use crate::status::STATUS;
use crate::symbols;
use weft_foreign::convert::{Kind, NONE};

/// A rank or what stands in place of one.
pub struct RANK;

pub type RANK_NNI = RANK;

impl Kind for RANK {
    type Foreign = c_int;
    type Standard = c_int;
    const UNTOUCHED: c_int = NONE;

    #[inline]
    fn is_usual(foreign: c_int) -> bool {
        foreign >= 0
    }

    #[inline]
    fn usual(foreign: c_int) -> c_int {
        foreign
    }

    #[inline]
    fn to_standard(foreign: c_int) -> c_int {
        match foreign {
            0.. => foreign,
            -1 => MPI_PROC_NULL,
            -2 => MPI_ANY_SOURCE,
            -3 => MPI_ROOT,
            MPI_ROOT => NONE,
            other => other,
        }
    }

    #[inline]
    fn to_foreign(standard: c_int) -> c_int {
        match standard {
            MPI_PROC_NULL => -1,
            MPI_ANY_SOURCE => -2,
            MPI_ROOT => -3,
            other => other,
        }
    }
}

pub type GROUP_COMPARISON = COMM_COMPARISON;

/// `MPI_IN_PLACE` and `MPI_BUFFER_AUTOMATIC`: addresses at which nothing lies.
const IN_PLACE: usize = usize::MAX;
const BUFFER_AUTOMATIC: usize = usize::MAX - 1;

/// A buffer, `MPI_IN_PLACE` or `MPI_BUFFER_AUTOMATIC`; `MPI_BOTTOM` is null in both ABIs.
#[inline]
pub fn buffer(address: *mut c_void) -> *mut c_void {
    match address.addr() {
        IN_PLACE => MPI_IN_PLACE,
        BUFFER_AUTOMATIC => MPI_BUFFER_AUTOMATIC,
        _ => address,
    }
}

/// The address of a detached buffer.
///
/// # Safety
/// The place is the program's and holds what the call has stored, or null.
pub unsafe fn detached(place: *mut c_void) {
    let place = place.cast::<*mut c_void>();
    // SAFETY: by this function's contract.
    unsafe {
        if !place.is_null() && place.read_unaligned() == MPI_BUFFER_AUTOMATIC {
            place.write_unaligned(without_provenance_mut(BUFFER_AUTOMATIC));
        }
    }
}

/// Weights, `MPI_UNWEIGHTED` or `MPI_WEIGHTS_EMPTY`.
pub fn weights(address: *mut c_int) -> *mut c_int {
    match address {
        _ if address == symbols::unweighted() => MPI_UNWEIGHTED,
        _ if address == symbols::weights_empty() => MPI_WEIGHTS_EMPTY,
        _ => address,
    }
}

/// A copy function of attributes: a function of the program's, or `MPI_COMM_DUP_FN` and its kin, of which there is one
/// here. None is null in both ABIs.
///
/// # Safety
/// `F` is a pointer to a function that may be null.
pub unsafe fn copy_function<F: Copy>(function: F) -> F {
    const { assert!(size_of::<F>() == size_of::<usize>()) };
    // SAFETY: as wide, and by this function's contract a pointer.
    let address: usize = unsafe { transmute_copy(&function) };
    match address == symbols::duplicating() {
        // SAFETY: as above; the standard ABI's functions are numbers, and called by nobody.
        true => unsafe { transmute_copy(&MPI_COMM_DUP_FN) },
        false => function,
    }
}
