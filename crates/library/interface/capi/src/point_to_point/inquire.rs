//! What a status holds (MPI-5.0 §3.2.5, §5.1.11).

use std::ffi::c_int;

use weft_abi::MPI_Status;
use weft_abi_macros::mpi;
use weft_objects::TypeId;
use weft_objects::types;

use crate::entry::Result;
use crate::output::{Out, OutCount};
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

#[mpi(Get_count)]
fn get_count(status: &MPI_Status, datatype: TypeId, count: OutCount) -> Result<()> {
    let whole = types::find(datatype)?.count(status::bytes(status) as usize);
    count.set(whole.map(|whole| whole as i64));
    Ok(())
}

#[mpi(Get_elements)]
fn get_elements(status: &MPI_Status, datatype: TypeId, count: OutCount) -> Result<()> {
    elements(status, datatype, count)
}

#[mpi(Get_elements_x)]
fn get_elements_x(status: &MPI_Status, datatype: TypeId, count: OutCount) -> Result<()> {
    elements(status, datatype, count)
}

fn elements(status: &MPI_Status, datatype: TypeId, count: OutCount) -> Result<()> {
    let basic = types::find(datatype)?.elements(status::bytes(status) as usize);
    count.set(basic.map(|basic| basic as i64));
    Ok(())
}
