//! Reductions (MPI-5.0 §6.9, §6.11).

use std::ffi::c_int;

use weft_abi_macros::mpi;
use weft_mpi::collective::{self, Reduce};
use weft_mpi::{CommId, Op, TypeId};

use crate::argument::Address;
use crate::entry::Result;
use crate::output::Out;

#[mpi(Reduce)]
fn reduce(
    sendbuf: Address,
    recvbuf: Address,
    count: i64,
    datatype: TypeId,
    op: Op,
    root: c_int,
    comm: CommId,
) -> Result<()> {
    collective::reduce(arguments(sendbuf, recvbuf, count, datatype, op), root, comm)
}

#[mpi(Allreduce)]
fn allreduce(
    sendbuf: Address,
    recvbuf: Address,
    count: i64,
    datatype: TypeId,
    op: Op,
    comm: CommId,
) -> Result<()> {
    collective::allreduce(arguments(sendbuf, recvbuf, count, datatype, op), comm)
}

#[mpi(Scan)]
fn scan(
    sendbuf: Address,
    recvbuf: Address,
    count: i64,
    datatype: TypeId,
    op: Op,
    comm: CommId,
) -> Result<()> {
    collective::scan(arguments(sendbuf, recvbuf, count, datatype, op), comm)
}

#[mpi(Exscan)]
fn exscan(
    sendbuf: Address,
    recvbuf: Address,
    count: i64,
    datatype: TypeId,
    op: Op,
    comm: CommId,
) -> Result<()> {
    collective::exscan(arguments(sendbuf, recvbuf, count, datatype, op), comm)
}

fn arguments(sendbuf: Address, recvbuf: Address, count: i64, datatype: TypeId, op: Op) -> Reduce {
    Reduce {
        input: (!sendbuf.is_in_place()).then(|| sendbuf.pointer().cast_const()),
        output: recvbuf.pointer(),
        count,
        datatype,
        op,
    }
}

#[mpi(Op_commutative)]
fn op_commutative(op: Op, commute: Out<bool>) -> Result<()> {
    commute.set(op.is_commutative());
    Ok(())
}
