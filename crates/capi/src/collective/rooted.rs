//! From one process to all and from all to one (MPI-5.0 §6.4 to §6.6). Where the standard says that an argument is
//! significant only at the root, it is not looked at elsewhere.

use std::ffi::c_int;

use weft_abi_macros::mpi;
use weft_mpi::{CommId, TypeId, collective};

use super::{is_root, vectors};
use crate::argument::Address;
use crate::array::Numbers;
use crate::entry::Result;

#[mpi(Bcast)]
fn bcast(buffer: Address, count: i64, datatype: TypeId, root: c_int, comm: CommId) -> Result<()> {
    collective::bcast(buffer.buffer(count, datatype), root, comm)
}

#[mpi(Gather)]
fn gather(
    sendbuf: Address,
    sendcount: i64,
    sendtype: TypeId,
    recvbuf: Address,
    recvcount: i64,
    recvtype: TypeId,
    root: c_int,
    comm: CommId,
) -> Result<()> {
    let send = sendbuf.buffer_unless_in_place(sendcount, sendtype);
    collective::gather(send, recvbuf.buffer(recvcount, recvtype), root, comm)
}

#[mpi(Gatherv)]
fn gatherv(
    sendbuf: Address,
    sendcount: i64,
    sendtype: TypeId,
    recvbuf: Address,
    recvcounts: Numbers,
    displs: Numbers,
    recvtype: TypeId,
    root: c_int,
    comm: CommId,
) -> Result<()> {
    let send = sendbuf.buffer_unless_in_place(sendcount, sendtype);
    let receive = match is_root(comm, root)? {
        true => Some(vectors(recvbuf, recvcounts, displs, recvtype, comm)?),
        false => None,
    };
    collective::gatherv(send, receive, root, comm)
}

#[mpi(Scatter)]
fn scatter(
    sendbuf: Address,
    sendcount: i64,
    sendtype: TypeId,
    recvbuf: Address,
    recvcount: i64,
    recvtype: TypeId,
    root: c_int,
    comm: CommId,
) -> Result<()> {
    let receive = recvbuf.buffer_unless_in_place(recvcount, recvtype);
    collective::scatter(sendbuf.buffer(sendcount, sendtype), receive, root, comm)
}

#[mpi(Scatterv)]
fn scatterv(
    sendbuf: Address,
    sendcounts: Numbers,
    displs: Numbers,
    sendtype: TypeId,
    recvbuf: Address,
    recvcount: i64,
    recvtype: TypeId,
    root: c_int,
    comm: CommId,
) -> Result<()> {
    let receive = recvbuf.buffer_unless_in_place(recvcount, recvtype);
    let send = match is_root(comm, root)? {
        true => Some(vectors(sendbuf, sendcounts, displs, sendtype, comm)?),
        false => None,
    };
    collective::scatterv(send, receive, root, comm)
}
