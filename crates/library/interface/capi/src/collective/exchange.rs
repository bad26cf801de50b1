//! From all processes to all (MPI-5.0 §6.7, §6.8).

use weft_abi_macros::mpi;
use weft_collective_calls as collective;
use weft_handle::CommId;
use weft_objects::TypeId;

use super::{blocks, types, unless_in_place, vectors};
use crate::argument::Address;
use crate::array::{Array, Numbers};
use crate::entry::Result;

forms! {
    #[mpi(Allgather, Iallgather, Allgather_init)]
    fn allgather(
        sendbuf: Address,
        sendcount: i64,
        sendtype: TypeId,
        recvbuf: Address,
        recvcount: i64,
        recvtype: TypeId,
        comm: CommId,
    ) {
        let send = sendbuf.buffer_unless_in_place(sendcount, sendtype);
        collective::allgather(FORM, send, recvbuf.buffer(recvcount, recvtype), comm)
    }

    #[mpi(Allgatherv, Iallgatherv, Allgatherv_init)]
    fn allgatherv(
        sendbuf: Address,
        sendcount: i64,
        sendtype: TypeId,
        recvbuf: Address,
        recvcounts: Numbers,
        displs: Numbers,
        recvtype: TypeId,
        comm: CommId,
    ) {
        let send = sendbuf.buffer_unless_in_place(sendcount, sendtype);
        let receive = vectors(recvbuf, recvcounts, displs, recvtype, blocks(comm)?)?;
        collective::allgatherv(FORM, send, receive, comm)
    }

    #[mpi(Alltoall, Ialltoall, Alltoall_init)]
    fn alltoall(
        sendbuf: Address,
        sendcount: i64,
        sendtype: TypeId,
        recvbuf: Address,
        recvcount: i64,
        recvtype: TypeId,
        comm: CommId,
    ) {
        let send = sendbuf.buffer_unless_in_place(sendcount, sendtype);
        collective::alltoall(FORM, send, recvbuf.buffer(recvcount, recvtype), comm)
    }

    #[mpi(Alltoallv, Ialltoallv, Alltoallv_init)]
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
    ) {
        let ranks = blocks(comm)?;
        let send = unless_in_place(sendbuf, || vectors(sendbuf, sendcounts, sdispls, sendtype, ranks))?;
        let receive = vectors(recvbuf, recvcounts, rdispls, recvtype, ranks)?;
        collective::alltoallv(FORM, send, receive, comm)
    }

    #[mpi(Alltoallw, Ialltoallw, Alltoallw_init)]
    fn alltoallw(
        sendbuf: Address,
        sendcounts: Numbers,
        sdispls: Numbers,
        sendtypes: Array<usize>,
        recvbuf: Address,
        recvcounts: Numbers,
        rdispls: Numbers,
        recvtypes: Array<usize>,
        comm: CommId,
    ) {
        let ranks = blocks(comm)?;
        let send = unless_in_place(sendbuf, || types(sendbuf, sendcounts, sdispls, sendtypes, ranks))?;
        let receive = types(recvbuf, recvcounts, rdispls, recvtypes, ranks)?;
        collective::alltoallw(send, receive, comm)
    }
}
