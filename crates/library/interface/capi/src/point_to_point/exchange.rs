//! Sending and receiving in one call (MPI-5.0 §3.10).

use std::ffi::c_int;

use weft_abi_macros::mpi;
use weft_handle::CommId;
use weft_messages::Request;
use weft_messages::point_to_point::{self, Direction, Exchange};
use weft_objects::TypeId;

use crate::argument::Address;
use crate::entry::Result;
use crate::output::Out;
use crate::status::OutStatus;

#[mpi(Sendrecv)]
fn sendrecv(
    sendbuf: Address,
    sendcount: i64,
    sendtype: TypeId,
    dest: c_int,
    sendtag: c_int,
    recvbuf: Address,
    recvcount: i64,
    recvtype: TypeId,
    source: c_int,
    recvtag: c_int,
    comm: CommId,
    status: OutStatus,
) -> Result<()> {
    let send = half(sendbuf, sendcount, sendtype, dest, sendtag);
    let receive = half(recvbuf, recvcount, recvtype, source, recvtag);
    status.complete(point_to_point::send_receive(send, receive, comm)?)
}

#[mpi(Isendrecv)]
fn isendrecv(
    sendbuf: Address,
    sendcount: i64,
    sendtype: TypeId,
    dest: c_int,
    sendtag: c_int,
    recvbuf: Address,
    recvcount: i64,
    recvtype: TypeId,
    source: c_int,
    recvtag: c_int,
    comm: CommId,
    request: Out<Request>,
) -> Result<()> {
    let send = half(sendbuf, sendcount, sendtype, dest, sendtag);
    let receive = half(recvbuf, recvcount, recvtype, source, recvtag);
    request.set(point_to_point::isend_receive(send, receive, comm)?);
    Ok(())
}

#[mpi(Sendrecv_replace)]
fn sendrecv_replace(
    buf: Address,
    count: i64,
    datatype: TypeId,
    dest: c_int,
    sendtag: c_int,
    source: c_int,
    recvtag: c_int,
    comm: CommId,
    status: OutStatus,
) -> Result<()> {
    let buffer = buf.buffer(count, datatype);
    let exchange = exchange(dest, sendtag, source, recvtag);
    status.complete(point_to_point::send_receive_replace(
        buffer, exchange, comm,
    )?)
}

#[mpi(Isendrecv_replace)]
fn isendrecv_replace(
    buf: Address,
    count: i64,
    datatype: TypeId,
    dest: c_int,
    sendtag: c_int,
    source: c_int,
    recvtag: c_int,
    comm: CommId,
    request: Out<Request>,
) -> Result<()> {
    let buffer = buf.buffer(count, datatype);
    let exchange = exchange(dest, sendtag, source, recvtag);
    request.set(point_to_point::isend_receive_replace(
        buffer, exchange, comm,
    )?);
    Ok(())
}

fn half(address: Address, count: i64, datatype: TypeId, partner: c_int, tag: c_int) -> Direction {
    Direction {
        buffer: address.buffer(count, datatype),
        partner,
        tag,
    }
}

fn exchange(dest: c_int, send_tag: c_int, source: c_int, receive_tag: c_int) -> Exchange {
    Exchange {
        dest,
        send_tag,
        source,
        receive_tag,
    }
}
