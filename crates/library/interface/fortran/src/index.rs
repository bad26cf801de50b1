//! Indices of requests.

use std::ffi::c_int;

/// Counts `count` indices from 1, as Fortran does; `MPI_UNDEFINED` stays (MPI-5.0 §3.7.5).
///
/// # Safety
/// So many indices stand there.
pub unsafe fn from_one(indices: *mut c_int, count: c_int) {
    for at in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: by this function's contract.
        let index = unsafe { &mut *indices.add(at) };
        if *index >= 0 {
            *index += 1;
        }
    }
}
