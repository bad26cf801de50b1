//! What the modules of other libraries have beside MPI's procedures.

use std::ffi::c_int;

use crate::abi::MPI_SUCCESS;
use crate::ierror;

/// `==` of two handles, or of one and its integer.
pub unsafe extern "C" fn equal(a: *const c_int, b: *const c_int) -> c_int {
    // SAFETY: two handles.
    unsafe { (*a == *b).into() }
}

/// `/=` of them.
pub unsafe extern "C" fn unequal(a: *const c_int, b: *const c_int) -> c_int {
    // SAFETY: two handles.
    unsafe { (*a != *b).into() }
}

/// Keeps the compiler from moving accesses to the buffer over this call: that it is called is all it does (MPI-5.0 §19.1.8).
pub extern "C" fn keep_order() {}

/// `MPI_SIZEOF` of what has so many bytes.
pub unsafe extern "C" fn size_of<const BYTES: c_int>(
    _x: *const (),
    size: *mut c_int,
    ierror: *mut c_int,
) {
    // SAFETY: two INTEGERs, the second one if there is one.
    unsafe {
        *size = BYTES;
        ierror::store(ierror, MPI_SUCCESS);
    }
}
