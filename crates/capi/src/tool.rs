//! Tool support (MPI-5.0 chapter 15).

use std::ffi::c_int;

use weft_abi_macros::mpi;

use crate::entry::Result;

/// For a profiler to interpose; the library itself does nothing (MPI-5.0 §15.2.4). The variable arguments are the
/// caller's to clear away, so the fixed part alone is a valid definition.
#[mpi(Pcontrol)]
fn pcontrol(_level: c_int) -> Result<()> {
    Ok(())
}
