//! Where a routine says how it went.

use std::ffi::c_int;

/// Stores a code; in `mpi_f08` a caller may leave the argument away (MPI-5.0 §19.1.2).
///
/// # Safety
/// An INTEGER stands at the address, if there is one.
#[inline(always)]
pub unsafe fn store(ierror: *mut c_int, code: c_int) {
    if !ierror.is_null() {
        // SAFETY: by this function's contract.
        unsafe { *ierror = code };
    }
}
