//! Point-to-point communication (MPI-5.0 chapter 3): what a status holds.

use std::ffi::c_int;

use weft_abi::MPI_Status;
use weft_abi_macros::mpi;

use crate::argument::Out;
use crate::entry::Result;
use crate::status;

#[mpi(Status_get_source)]
fn status_get_source(status: &MPI_Status, source: Out<c_int>) -> Result<()> {
    source.set(status.MPI_SOURCE);
    Ok(())
}

#[mpi(Status_get_tag)]
fn status_get_tag(status: &MPI_Status, tag: Out<c_int>) -> Result<()> {
    tag.set(status.MPI_TAG);
    Ok(())
}

#[mpi(Status_get_error)]
fn status_get_error(status: &MPI_Status, err: Out<c_int>) -> Result<()> {
    err.set(status.MPI_ERROR);
    Ok(())
}

#[mpi(Test_cancelled)]
fn test_cancelled(status: &MPI_Status, flag: Out<bool>) -> Result<()> {
    flag.set(status::is_cancelled(status));
    Ok(())
}
