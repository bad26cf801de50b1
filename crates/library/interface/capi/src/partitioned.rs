//! Partitioned communication (MPI-5.0 chapter 4). The count of the two `init` functions is an `int`, with a large-count
//! form beside it; a caller that was compiled for the `MPI_Count` of an earlier text passes the same register, of
//! which the `int` is the lower half.

use std::ffi::c_int;

use weft_abi_macros::mpi;
use weft_handle::{CommId, InfoId};
use weft_messages::Request;
use weft_messages::partitioned_calls;
use weft_objects::TypeId;
use weft_objects::info;

use crate::argument::{Address, Length};
use crate::array::Array;
use crate::entry::Result;
use crate::output::Out;

/// No key means anything here; what is no info object is an error.
fn check(info: Option<InfoId>) -> Result<()> {
    info.map_or(Ok(()), info::check)
}

#[mpi(Psend_init)]
fn psend_init(
    buf: Address,
    partitions: c_int,
    count: i64,
    datatype: TypeId,
    dest: c_int,
    tag: c_int,
    comm: CommId,
    info: Option<InfoId>,
    request: Out<Request>,
) -> Result<()> {
    check(info)?;
    let buffer = buf.buffer(count, datatype);
    request.set(partitioned_calls::send_init(
        buffer, partitions, dest, tag, comm,
    )?);
    Ok(())
}

#[mpi(Precv_init)]
fn precv_init(
    buf: Address,
    partitions: c_int,
    count: i64,
    datatype: TypeId,
    source: c_int,
    tag: c_int,
    comm: CommId,
    info: Option<InfoId>,
    request: Out<Request>,
) -> Result<()> {
    check(info)?;
    let buffer = buf.buffer(count, datatype);
    request.set(partitioned_calls::receive_init(
        buffer, partitions, source, tag, comm,
    )?);
    Ok(())
}

#[mpi(Pready)]
fn pready(partition: c_int, request: Request) -> Result<()> {
    partitioned_calls::ready(partition, request)
}

#[mpi(Pready_range)]
fn pready_range(partition_low: c_int, partition_high: c_int, request: Request) -> Result<()> {
    partitioned_calls::ready_range(partition_low, partition_high, request)
}

#[mpi(Pready_list)]
fn pready_list(length: Length, array_of_partitions: Array<c_int>, request: Request) -> Result<()> {
    partitioned_calls::ready_list(array_of_partitions.slice(length)?, request)
}

#[mpi(Parrived)]
fn parrived(request: Request, partition: c_int, flag: Out<bool>) -> Result<()> {
    flag.set(partitioned_calls::arrived(request, partition)?);
    Ok(())
}
