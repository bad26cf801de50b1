//! How long the arrays of datatypes are that a call with one for each process has (MPI-5.0 §6.8, §8.6); for a library that
//! converts them. What is no such communicator has none, which the call itself reports.

use std::ffi::c_void;

use weft_abi::{MPI_Comm, MPI_IN_PLACE};
use weft_handle::CommId;

use crate::collective::{blocks as blocks_of, neighbor};
use crate::entry::FromC;

fn named(comm: MPI_Comm) -> Option<CommId> {
    // SAFETY: the conversion follows no pointer.
    unsafe { CommId::from_c(comm, "comm") }.ok()
}

/// One for each process, of the remote group where there is one.
pub fn blocks(comm: MPI_Comm) -> usize {
    named(comm)
        .and_then(|comm| blocks_of(comm).ok())
        .unwrap_or(0)
}

/// As [`blocks`], but none with `MPI_IN_PLACE`, where the datatypes mean nothing.
pub fn unless_in_place(sendbuf: *const c_void, comm: MPI_Comm) -> usize {
    match sendbuf == MPI_IN_PLACE.cast_const() {
        true => 0,
        false => blocks(comm),
    }
}

/// Sources and destinations among the neighbors.
pub fn neighbors(comm: MPI_Comm) -> (usize, usize) {
    named(comm)
        .and_then(|comm| neighbor::degrees(comm).ok())
        .unwrap_or((0, 0))
}
