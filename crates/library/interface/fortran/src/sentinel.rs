//! The special addresses: in Fortran variables that are told by where they stand (MPI-5.0 §2.5.4, §19.1.16).
//!
//! `mpif.h` and the module `mpi` declare them in common blocks (`blocks`). The linker gives a common block of the program the
//! name that is defined here too, and the program's definition wins, so the address that this library looks up is the
//! program's.

use std::ffi::{c_int, c_void};

use crate::abi::*;
use crate::blocks::integer_at;
pub use crate::blocks::is_no_arguments;
use crate::special::{
    BOTTOM, BUFFER_AUTOMATIC, ERRCODES_IGNORE, IN_PLACE, STATUSES, UNWEIGHTED, WEIGHTS_EMPTY,
};

/// A buffer's address in C.
#[inline(always)]
pub fn buffer(address: *mut c_void) -> *mut c_void {
    match integer_at(address) {
        None => address,
        Some(BOTTOM) => MPI_BOTTOM,
        Some(IN_PLACE) => MPI_IN_PLACE,
        Some(BUFFER_AUTOMATIC) => MPI_BUFFER_AUTOMATIC,
        Some(_) => address,
    }
}

/// A status, or several.
#[inline(always)]
pub fn status(address: *mut c_void) -> *mut MPI_Status {
    match integer_at(address) {
        Some(STATUSES..) => MPI_STATUS_IGNORE,
        _ => address.cast(),
    }
}

pub fn weights(address: *mut c_void) -> *mut c_int {
    match integer_at(address) {
        Some(UNWEIGHTED) => unweighted(),
        Some(WEIGHTS_EMPTY) => weights_empty(),
        _ => address.cast(),
    }
}

pub fn errcodes(address: *mut c_void) -> *mut c_int {
    match integer_at(address) {
        Some(ERRCODES_IGNORE) => MPI_ERRCODES_IGNORE,
        _ => address.cast(),
    }
}
