//! External interfaces (MPI-5.0 chapter 13): filling in a status.

use std::ffi::c_int;

use weft_abi::MPI_Status;
use weft_abi_macros::mpi;

use crate::entry::Result;
use crate::status;

#[mpi(Status_set_source)]
fn status_set_source(status: &mut MPI_Status, source: c_int) -> Result<()> {
    status.MPI_SOURCE = source;
    Ok(())
}

#[mpi(Status_set_tag)]
fn status_set_tag(status: &mut MPI_Status, tag: c_int) -> Result<()> {
    status.MPI_TAG = tag;
    Ok(())
}

#[mpi(Status_set_error)]
fn status_set_error(status: &mut MPI_Status, err: c_int) -> Result<()> {
    status.MPI_ERROR = err;
    Ok(())
}

#[mpi(Status_set_cancelled)]
fn status_set_cancelled(status: &mut MPI_Status, flag: bool) -> Result<()> {
    status::set_cancelled(status, flag);
    Ok(())
}
