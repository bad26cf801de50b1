//! A value for `MPI_FETCH_AND_OP` or `MPI_COMPARE_AND_SWAP` whose bytes stand apart: an error of the call. Their datatypes are
//! predefined (MPI-5.0 §12.3.4), so no other one can describe it.

use std::ffi::{c_int, c_void};

use crate::abi::*;

use crate::handle::Handle;

unsafe extern "C" {
    fn MPI_Win_call_errhandler(win: MPI_Win, errorcode: c_int) -> c_int;
}

/// Says which argument of which call it is, and calls the window's error handler. The code for IERROR.
///
/// # Safety
/// An INTEGER stands at the address.
#[cold]
pub unsafe fn value(what: &str, win: *const c_void) -> c_int {
    eprintln!("weft: {what}: one value of the datatype is in several elements that stand apart");
    // SAFETY: a handle of the caller's; a wrong one is an error of its own.
    unsafe { MPI_Win_call_errhandler(MPI_Win::of_fortran(win), MPI_ERR_BUFFER) };
    MPI_ERR_BUFFER
}
