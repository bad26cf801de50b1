//! Neighbourhood collectives (MPI-5.0 §8.6).

use weft_abi_macros::mpi;
use weft_collective_calls as collective;
use weft_handle::CommId;
use weft_objects::TypeId;
use weft_objects::comm;
use weft_objects::topology::Neighbours;

use super::{types, unless_in_place, vectors};
use crate::argument::Address;
use crate::array::{Array, Numbers};
use crate::entry::Result;

/// How many sources and destinations this process has.
pub fn degrees(comm: CommId) -> Result<(usize, usize)> {
    let Neighbours {
        sources,
        destinations,
    } = comm::find(comm)?.neighbours()?;
    Ok((sources.len(), destinations.len()))
}

forms! {
    #[mpi(Neighbor_allgather, Ineighbor_allgather, Neighbor_allgather_init)]
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
        collective::neighbor_allgather(send, recvbuf.buffer(recvcount, recvtype), comm)
    }

    #[mpi(Neighbor_allgatherv, Ineighbor_allgatherv, Neighbor_allgatherv_init)]
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
        let (sources, _) = degrees(comm)?;
        let send = sendbuf.buffer_unless_in_place(sendcount, sendtype);
        let receive = vectors(recvbuf, recvcounts, displs, recvtype, sources)?;
        collective::neighbor_allgatherv(send, receive, comm)
    }

    #[mpi(Neighbor_alltoall, Ineighbor_alltoall, Neighbor_alltoall_init)]
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
        collective::neighbor_alltoall(send, recvbuf.buffer(recvcount, recvtype), comm)
    }

    #[mpi(Neighbor_alltoallv, Ineighbor_alltoallv, Neighbor_alltoallv_init)]
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
        let (sources, destinations) = degrees(comm)?;
        let send = unless_in_place(sendbuf, || {
            vectors(sendbuf, sendcounts, sdispls, sendtype, destinations)
        })?;
        let receive = vectors(recvbuf, recvcounts, rdispls, recvtype, sources)?;
        collective::neighbor_alltoallv(send, receive, comm)
    }

    #[mpi(Neighbor_alltoallw, Ineighbor_alltoallw, Neighbor_alltoallw_init)]
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
        let (sources, destinations) = degrees(comm)?;
        let send = unless_in_place(sendbuf, || {
            types(sendbuf, sendcounts, sdispls, sendtypes, destinations)
        })?;
        let receive = types(recvbuf, recvcounts, rdispls, recvtypes, sources)?;
        collective::neighbor_alltoallw(send, receive, comm)
    }
}
