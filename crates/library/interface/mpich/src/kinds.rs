//! One type for each kind of parameter that is converted, by the standard's name of the kind.

use std::ffi::{c_int, c_void};
use std::mem::transmute_copy;
use std::ptr::without_provenance_mut;

use weft_abi::*;

pub use crate::constants::*;
pub use crate::handles::*;
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

pub struct TAG;

impl Kind for TAG {
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
            -1 => MPI_ANY_TAG,
            MPI_ANY_TAG => NONE,
            other => other,
        }
    }

    #[inline]
    fn to_foreign(standard: c_int) -> c_int {
        match standard {
            MPI_ANY_TAG => -1,
            other => other,
        }
    }
}

/// The program's own codes and classes stand above `MPI_ERR_LASTCODE` in both ABIs.
pub struct ERROR_CODE;

pub type ERROR_CLASS = ERROR_CODE;

const LAST_CODE: c_int = 0x3fff_ffff;

impl Kind for ERROR_CODE {
    type Foreign = c_int;
    type Standard = c_int;
    const UNTOUCHED: c_int = NONE;

    fn to_standard(foreign: c_int) -> c_int {
        match foreign > LAST_CODE {
            true => foreign - LAST_CODE + MPI_ERR_LASTCODE,
            false => PREDEFINED_ERROR::to_standard(foreign),
        }
    }

    fn to_foreign(standard: c_int) -> c_int {
        match standard > MPI_ERR_LASTCODE {
            true => standard - MPI_ERR_LASTCODE + LAST_CODE,
            false => PREDEFINED_ERROR::to_foreign(standard),
        }
    }
}

pub type GROUP_COMPARISON = COMM_COMPARISON;

/// An argument of a distribution; any positive number is one, but one means the default.
pub struct DTYPE_DISTRIBUTION;

impl Kind for DTYPE_DISTRIBUTION {
    type Foreign = c_int;
    type Standard = c_int;
    const UNTOUCHED: c_int = NONE;

    fn to_standard(foreign: c_int) -> c_int {
        match foreign {
            -49767 => MPI_DISTRIBUTE_DFLT_DARG,
            other => other,
        }
    }

    fn to_foreign(standard: c_int) -> c_int {
        match standard {
            MPI_DISTRIBUTE_DFLT_DARG => -49767,
            other => other,
        }
    }
}

/// Where a view begins.
pub struct VIEW_DISPLACEMENT;

impl Kind for VIEW_DISPLACEMENT {
    type Foreign = MPI_Offset;
    type Standard = MPI_Offset;
    const UNTOUCHED: MPI_Offset = MPI_Offset::MIN;

    fn to_standard(foreign: MPI_Offset) -> MPI_Offset {
        match foreign {
            -54278278 => MPI_DISPLACEMENT_CURRENT,
            MPI_DISPLACEMENT_CURRENT => MPI_Offset::MIN,
            other => other,
        }
    }

    fn to_foreign(standard: MPI_Offset) -> MPI_Offset {
        standard
    }
}

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
