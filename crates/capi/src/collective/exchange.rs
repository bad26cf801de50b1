//! From all processes to all (MPI-5.0 §6.7, §6.8).

use weft_abi_macros::mpi;
use weft_mpi::{CommId, TypeId, collective};

use super::vectors;
use crate::argument::Address;
use crate::array::Numbers;
use crate::entry::Result;

#[mpi(Allgather)]
fn allgather(
    sendbuf: Address,
    sendcount: i64,
    sendtype: TypeId,
    recvbuf: Address,
    recvcount: i64,
    recvtype: TypeId,
    comm: CommId,
) -> Result<()> {
    let send = sendbuf.buffer_unless_in_place(sendcount, sendtype);
    collective::allgather(send, recvbuf.buffer(recvcount, recvtype), comm)
}

#[mpi(Allgatherv)]
fn allgatherv(
    sendbuf: Address,
    sendcount: i64,
    sendtype: TypeId,
    recvbuf: Address,
    recvcounts: Numbers,
    displs: Numbers,
    recvtype: TypeId,
    comm: CommId,
) -> Result<()> {
    let send = sendbuf.buffer_unless_in_place(sendcount, sendtype);
    let receive = vectors(recvbuf, recvcounts, displs, recvtype, comm)?;
    collective::allgatherv(send, receive, comm)
}

#[mpi(Alltoall)]
fn alltoall(
    sendbuf: Address,
    sendcount: i64,
    sendtype: TypeId,
    recvbuf: Address,
    recvcount: i64,
    recvtype: TypeId,
    comm: CommId,
) -> Result<()> {
    let send = sendbuf.buffer_unless_in_place(sendcount, sendtype);
    collective::alltoall(send, recvbuf.buffer(recvcount, recvtype), comm)
}

#[mpi(Alltoallv)]
fn alltoallv(
    sendbuf: Address,
    sendcounts: Numbers,
    sdispls: Numbers,
    sendtype: TypeId,
    recvbuf: Address,
    recvcounts: Numbers,
    rdispls: Numbers,
    recvtype: TypeId,
    comm: CommId,
) -> Result<()> {
    let send = match sendbuf.is_in_place() {
        true => None,
        false => Some(vectors(sendbuf, sendcounts, sdispls, sendtype, comm)?),
    };
    let receive = vectors(recvbuf, recvcounts, rdispls, recvtype, comm)?;
    collective::alltoallv(send, receive, comm)
}
