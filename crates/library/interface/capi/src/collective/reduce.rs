//! Reductions and scans (MPI-5.0 §6.9 to §6.11).

use std::ffi::c_int;

use weft_abi_macros::mpi;
use weft_collective_calls as collective;
use weft_collective_calls::Reduce;
use weft_handle::CommId;
use weft_objects::comm;
use weft_objects::{OpId, TypeId};

use crate::argument::Address;
use crate::array::Numbers;
use crate::entry::Result;

forms! {
    #[mpi(Reduce, Ireduce, Reduce_init)]
    fn reduce(
        sendbuf: Address,
        recvbuf: Address,
        count: i64,
        datatype: TypeId,
        op: OpId,
        root: c_int,
        comm: CommId,
    ) {
        collective::reduce(FORM, arguments(sendbuf, recvbuf, count, datatype, op), root, comm)
    }

    #[mpi(Allreduce, Iallreduce, Allreduce_init)]
    fn allreduce(
        sendbuf: Address,
        recvbuf: Address,
        count: i64,
        datatype: TypeId,
        op: OpId,
        comm: CommId,
    ) {
        collective::allreduce(FORM, arguments(sendbuf, recvbuf, count, datatype, op), comm)
    }

    #[mpi(Reduce_scatter_block, Ireduce_scatter_block, Reduce_scatter_block_init)]
    fn reduce_scatter_block(
        sendbuf: Address,
        recvbuf: Address,
        recvcount: i64,
        datatype: TypeId,
        op: OpId,
        comm: CommId,
    ) {
        let arguments = arguments(sendbuf, recvbuf, recvcount, datatype, op);
        collective::reduce_scatter_block(FORM, arguments, comm)
    }

    #[mpi(Reduce_scatter, Ireduce_scatter, Reduce_scatter_init)]
    fn reduce_scatter(
        sendbuf: Address,
        recvbuf: Address,
        recvcounts: Numbers,
        datatype: TypeId,
        op: OpId,
        comm: CommId,
    ) {
        let counts = recvcounts.counts(comm::find(comm)?.size() as usize)?;
        let arguments = arguments(sendbuf, recvbuf, 0, datatype, op);
        collective::reduce_scatter(FORM, arguments, &counts, comm)
    }

    #[mpi(Scan, Iscan, Scan_init)]
    fn scan(
        sendbuf: Address,
        recvbuf: Address,
        count: i64,
        datatype: TypeId,
        op: OpId,
        comm: CommId,
    ) {
        collective::scan(arguments(sendbuf, recvbuf, count, datatype, op), comm)
    }

    #[mpi(Exscan, Iexscan, Exscan_init)]
    fn exscan(
        sendbuf: Address,
        recvbuf: Address,
        count: i64,
        datatype: TypeId,
        op: OpId,
        comm: CommId,
    ) {
        collective::exscan(arguments(sendbuf, recvbuf, count, datatype, op), comm)
    }
}

#[mpi(Reduce_local)]
fn reduce_local(
    inbuf: Address,
    inoutbuf: Address,
    count: i64,
    datatype: TypeId,
    op: OpId,
) -> Result<()> {
    collective::reduce_local(arguments(inbuf, inoutbuf, count, datatype, op))
}

fn arguments(sendbuf: Address, recvbuf: Address, count: i64, datatype: TypeId, op: OpId) -> Reduce {
    Reduce {
        input: (!sendbuf.is_in_place()).then(|| sendbuf.pointer().cast_const()),
        output: recvbuf.pointer(),
        count,
        datatype,
        op,
    }
}
