//! Sections that are not contiguous, of calls that use them after they return: an error of the call.

use std::ffi::{c_int, c_void};

use weft_abi::*;

use crate::handle::Handle;

mod c {
    use super::*;

    unsafe extern "C" {
        pub fn MPI_Comm_call_errhandler(comm: MPI_Comm, errorcode: c_int) -> c_int;
        pub fn MPI_Win_call_errhandler(win: MPI_Win, errorcode: c_int) -> c_int;
    }
}

/// Whose error handler is called.
pub enum To {
    Comm(MPI_Comm),
    Win(MPI_Win),
}

impl To {
    /// # Safety
    /// An INTEGER stands at the address.
    pub unsafe fn comm(comm: *const c_void) -> To {
        // SAFETY: by this function's contract.
        To::Comm(unsafe { Handle::of_fortran(comm) })
    }

    /// # Safety
    /// An INTEGER stands at the address.
    pub unsafe fn win(win: *const c_void) -> To {
        // SAFETY: by this function's contract.
        To::Win(unsafe { Handle::of_fortran(win) })
    }

    /// Of a call without one.
    pub fn own() -> To {
        To::Comm(MPI_COMM_SELF)
    }
}

/// Says which argument of which call it is, and calls the handler. The code for IERROR.
///
/// # Safety
/// MPI may be called.
pub unsafe fn section(what: &str, to: To) -> c_int {
    eprintln!(
        "weft: {what}: a section that is not contiguous, which only blocking calls take (MPI_SUBARRAYS_SUPPORTED is .false.)"
    );
    // SAFETY: handles of the caller's; a wrong one is an error of its own.
    unsafe {
        match to {
            To::Comm(comm) => c::MPI_Comm_call_errhandler(comm, MPI_ERR_BUFFER),
            To::Win(win) => c::MPI_Win_call_errhandler(win, MPI_ERR_BUFFER),
        };
    }
    MPI_ERR_BUFFER
}
