//! Sending (MPI-5.0 §3.2, §3.4, §3.7.2): four modes, blocking and not.

use std::ffi::c_int;

use weft_abi_macros::mpi;
use weft_handle::CommId;
use weft_messages::Request;
use weft_messages::point_to_point::{self, Mode};
use weft_objects::TypeId;

use crate::argument::Address;
use crate::entry::Result;
use crate::output::Out;

#[mpi(Send)]
fn send(
    buf: Address,
    count: i64,
    datatype: TypeId,
    dest: c_int,
    tag: c_int,
    comm: CommId,
) -> Result<()> {
    point_to_point::send(buf.buffer(count, datatype), dest, tag, comm, Mode::Standard)
}

#[mpi(Bsend)]
fn bsend(
    buf: Address,
    count: i64,
    datatype: TypeId,
    dest: c_int,
    tag: c_int,
    comm: CommId,
) -> Result<()> {
    point_to_point::send(buf.buffer(count, datatype), dest, tag, comm, Mode::Buffered)
}

#[mpi(Ssend)]
fn ssend(
    buf: Address,
    count: i64,
    datatype: TypeId,
    dest: c_int,
    tag: c_int,
    comm: CommId,
) -> Result<()> {
    point_to_point::send(
        buf.buffer(count, datatype),
        dest,
        tag,
        comm,
        Mode::Synchronous,
    )
}

#[mpi(Rsend)]
fn rsend(
    buf: Address,
    count: i64,
    datatype: TypeId,
    dest: c_int,
    tag: c_int,
    comm: CommId,
) -> Result<()> {
    point_to_point::send(buf.buffer(count, datatype), dest, tag, comm, Mode::Ready)
}

#[mpi(Isend)]
fn isend(
    buf: Address,
    count: i64,
    datatype: TypeId,
    dest: c_int,
    tag: c_int,
    comm: CommId,
    request: Out<Request>,
) -> Result<()> {
    request.set(point_to_point::isend(
        buf.buffer(count, datatype),
        dest,
        tag,
        comm,
        Mode::Standard,
    )?);
    Ok(())
}

#[mpi(Ibsend)]
fn ibsend(
    buf: Address,
    count: i64,
    datatype: TypeId,
    dest: c_int,
    tag: c_int,
    comm: CommId,
    request: Out<Request>,
) -> Result<()> {
    request.set(point_to_point::isend(
        buf.buffer(count, datatype),
        dest,
        tag,
        comm,
        Mode::Buffered,
    )?);
    Ok(())
}

#[mpi(Issend)]
fn issend(
    buf: Address,
    count: i64,
    datatype: TypeId,
    dest: c_int,
    tag: c_int,
    comm: CommId,
    request: Out<Request>,
) -> Result<()> {
    request.set(point_to_point::isend(
        buf.buffer(count, datatype),
        dest,
        tag,
        comm,
        Mode::Synchronous,
    )?);
    Ok(())
}

#[mpi(Irsend)]
fn irsend(
    buf: Address,
    count: i64,
    datatype: TypeId,
    dest: c_int,
    tag: c_int,
    comm: CommId,
    request: Out<Request>,
) -> Result<()> {
    request.set(point_to_point::isend(
        buf.buffer(count, datatype),
        dest,
        tag,
        comm,
        Mode::Ready,
    )?);
    Ok(())
}
