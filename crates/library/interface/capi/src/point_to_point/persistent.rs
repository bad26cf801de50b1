//! Persistent requests (MPI-5.0 §3.9).

use std::ffi::c_int;

use weft_abi_macros::mpi;
use weft_handle::CommId;
use weft_messages::Request;
use weft_messages::persistent;
use weft_messages::point_to_point::Mode;
use weft_objects::TypeId;

use crate::argument::{Address, Length};
use crate::array::ArrayMut;
use crate::entry::Result;
use crate::output::Out;

#[mpi(Send_init)]
fn send_init(
    buf: Address,
    count: i64,
    datatype: TypeId,
    dest: c_int,
    tag: c_int,
    comm: CommId,
    request: Out<Request>,
) -> Result<()> {
    let buffer = buf.buffer(count, datatype);
    request.set(persistent::send_init(
        buffer,
        dest,
        tag,
        comm,
        Mode::Standard,
    )?);
    Ok(())
}

#[mpi(Bsend_init)]
fn bsend_init(
    buf: Address,
    count: i64,
    datatype: TypeId,
    dest: c_int,
    tag: c_int,
    comm: CommId,
    request: Out<Request>,
) -> Result<()> {
    let buffer = buf.buffer(count, datatype);
    request.set(persistent::send_init(
        buffer,
        dest,
        tag,
        comm,
        Mode::Buffered,
    )?);
    Ok(())
}

#[mpi(Ssend_init)]
fn ssend_init(
    buf: Address,
    count: i64,
    datatype: TypeId,
    dest: c_int,
    tag: c_int,
    comm: CommId,
    request: Out<Request>,
) -> Result<()> {
    let buffer = buf.buffer(count, datatype);
    request.set(persistent::send_init(
        buffer,
        dest,
        tag,
        comm,
        Mode::Synchronous,
    )?);
    Ok(())
}

#[mpi(Rsend_init)]
fn rsend_init(
    buf: Address,
    count: i64,
    datatype: TypeId,
    dest: c_int,
    tag: c_int,
    comm: CommId,
    request: Out<Request>,
) -> Result<()> {
    let buffer = buf.buffer(count, datatype);
    request.set(persistent::send_init(buffer, dest, tag, comm, Mode::Ready)?);
    Ok(())
}

#[mpi(Recv_init)]
fn recv_init(
    buf: Address,
    count: i64,
    datatype: TypeId,
    source: c_int,
    tag: c_int,
    comm: CommId,
    request: Out<Request>,
) -> Result<()> {
    let buffer = buf.buffer(count, datatype);
    request.set(persistent::receive_init(buffer, source, tag, comm)?);
    Ok(())
}

#[mpi(Start)]
fn start(request: &mut Request) -> Result<()> {
    persistent::start(*request)
}

#[mpi(Startall)]
fn startall(count: Length, array_of_requests: ArrayMut<Request>) -> Result<()> {
    let requests = array_of_requests.slice(count)?;
    requests
        .iter()
        .try_for_each(|&request| persistent::start(request))
}
