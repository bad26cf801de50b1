//! Barrier, and from one process to all and from all to one (MPI-5.0 §6.3 to §6.6). Where the standard says that an
//! argument is significant only at the root, it is not looked at elsewhere.

use std::ffi::c_int;

use weft_abi_macros::mpi;
use weft_collective_calls as collective;
use weft_handle::CommId;
use weft_objects::TypeId;

use super::{blocks, is_root, vectors};
use crate::argument::Address;
use crate::array::Numbers;
use crate::entry::Result;

forms! {
    #[mpi(Barrier, Ibarrier, Barrier_init)]
    fn barrier(comm: CommId,) { collective::barrier(FORM, comm) }

    #[mpi(Bcast, Ibcast, Bcast_init)]
    fn bcast(
        buffer: Address,
        count: i64,
        datatype: TypeId,
        root: c_int,
        comm: CommId,
    ) {
        collective::bcast(FORM, buffer.buffer(count, datatype), root, comm)
    }

    #[mpi(Gather, Igather, Gather_init)]
    fn gather(
        sendbuf: Address,
        sendcount: i64,
        sendtype: TypeId,
        recvbuf: Address,
        recvcount: i64,
        recvtype: TypeId,
        root: c_int,
        comm: CommId,
    ) {
        let send = sendbuf.buffer_unless_in_place(sendcount, sendtype);
        collective::gather(FORM, send, recvbuf.buffer(recvcount, recvtype), root, comm)
    }

    #[mpi(Gatherv, Igatherv, Gatherv_init)]
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
    ) {
        let send = sendbuf.buffer_unless_in_place(sendcount, sendtype);
        let receive = match is_root(comm, root)? {
            true => Some(vectors(recvbuf, recvcounts, displs, recvtype, blocks(comm)?)?),
            false => None,
        };
        collective::gatherv(FORM, send, receive, root, comm)
    }

    #[mpi(Scatter, Iscatter, Scatter_init)]
    fn scatter(
        sendbuf: Address,
        sendcount: i64,
        sendtype: TypeId,
        recvbuf: Address,
        recvcount: i64,
        recvtype: TypeId,
        root: c_int,
        comm: CommId,
    ) {
        let receive = recvbuf.buffer_unless_in_place(recvcount, recvtype);
        collective::scatter(FORM, sendbuf.buffer(sendcount, sendtype), receive, root, comm)
    }

    #[mpi(Scatterv, Iscatterv, Scatterv_init)]
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
    ) {
        let receive = recvbuf.buffer_unless_in_place(recvcount, recvtype);
        let send = match is_root(comm, root)? {
            true => Some(vectors(sendbuf, sendcounts, displs, sendtype, blocks(comm)?)?),
            false => None,
        };
        collective::scatterv(FORM, send, receive, root, comm)
    }
}
