//! Receiving (MPI-5.0 §3.2.4, §3.7.2), and what a matched probe found (§3.8.3).

use std::ffi::c_int;

use weft_abi_macros::mpi;
use weft_handle::CommId;
use weft_messages::Request;
use weft_messages::point_to_point;
use weft_messages::probe::{self, Message};
use weft_objects::TypeId;

use crate::argument::Address;
use crate::entry::Result;
use crate::handle::InOut;
use crate::output::Out;
use crate::status::OutStatus;

#[mpi(Recv)]
fn recv(
    buf: Address,
    count: i64,
    datatype: TypeId,
    source: c_int,
    tag: c_int,
    comm: CommId,
    status: OutStatus,
) -> Result<()> {
    let buffer = buf.buffer(count, datatype);
    status.complete(point_to_point::receive(buffer, source, tag, comm)?)
}

#[mpi(Irecv)]
fn irecv(
    buf: Address,
    count: i64,
    datatype: TypeId,
    source: c_int,
    tag: c_int,
    comm: CommId,
    request: Out<Request>,
) -> Result<()> {
    let buffer = buf.buffer(count, datatype);
    request.set(point_to_point::ireceive(buffer, source, tag, comm)?);
    Ok(())
}

#[mpi(Mrecv)]
fn mrecv(
    buf: Address,
    count: i64,
    datatype: TypeId,
    message: InOut<Message>,
    status: OutStatus,
) -> Result<()> {
    let received = probe::mreceive(buf.buffer(count, datatype), message.get("message")?)?;
    message.clear();
    status.complete(received)
}

#[mpi(Imrecv)]
fn imrecv(
    buf: Address,
    count: i64,
    datatype: TypeId,
    message: InOut<Message>,
    request: Out<Request>,
) -> Result<()> {
    let started = probe::imreceive(buf.buffer(count, datatype), message.get("message")?)?;
    message.clear();
    request.set(started);
    Ok(())
}
