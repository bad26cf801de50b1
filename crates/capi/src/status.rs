//! What the internal words of `MPI_Status` hold, and references to statuses.

use weft_abi::{MPI_ERR_ARG, MPI_Status};

use crate::entry::{Error, FromC, Result};

/// The words: bytes received, low and high half; whether the request was cancelled.
const CANCELLED: usize = 2;

pub fn is_cancelled(status: &MPI_Status) -> bool {
    status.MPI_internal[CANCELLED] != 0
}

pub fn set_cancelled(status: &mut MPI_Status, cancelled: bool) {
    status.MPI_internal[CANCELLED] = cancelled.into();
}

#[cold]
#[inline(never)]
fn no_status(name: &str) -> Error {
    Error::new(
        MPI_ERR_ARG,
        format!("`{name}` is MPI_STATUS_IGNORE or null, and the function needs a status"),
    )
}

impl FromC<*const MPI_Status> for &MPI_Status {
    unsafe fn from_c(raw: *const MPI_Status, name: &'static str) -> Result<Self> {
        // SAFETY: not null, so a status of the caller's, valid during the call.
        unsafe { raw.as_ref() }.ok_or_else(|| no_status(name))
    }
}

impl FromC<*mut MPI_Status> for &mut MPI_Status {
    unsafe fn from_c(raw: *mut MPI_Status, name: &'static str) -> Result<Self> {
        // SAFETY: as above; the standard forbids other accesses during the call.
        unsafe { raw.as_mut() }.ok_or_else(|| no_status(name))
    }
}
