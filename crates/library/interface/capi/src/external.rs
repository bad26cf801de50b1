//! External interfaces (MPI-5.0 chapter 13): filling in a status.

use std::ffi::c_int;

use weft_abi::MPI_Status;
use weft_abi_macros::mpi;
use weft_error::Class;
use weft_error::argument;
use weft_objects::TypeId;
use weft_objects::types;

use crate::argument::Length;
use crate::entry::{self, Result};
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

#[mpi(Status_set_elements)]
fn status_set_elements(status: &mut MPI_Status, datatype: TypeId, count: Length) -> Result<()> {
    elements(status, datatype, count)
}

#[mpi(Status_set_elements_x)]
fn status_set_elements_x(status: &mut MPI_Status, datatype: TypeId, count: Length) -> Result<()> {
    elements(status, datatype, count)
}

/// A later `MPI_Get_elements` with the same datatype returns `count` (MPI-5.0 §13.3).
fn elements(status: &mut MPI_Status, datatype: TypeId, count: Length) -> Result<()> {
    if types::as_predefined(datatype).is_none() {
        entry::enter()?;
    }
    let bytes = types::find(datatype)?.bytes_of(count.0).ok_or_else(|| {
        let what = format_args!("no data of the datatype have {} elements", count.0);
        argument(Class::Count, "count", what)
    })?;
    status::set_bytes(status, bytes as u64);
    Ok(())
}
