//! Collective communication (MPI-5.0 chapter 6).

mod exchange;
mod reduce;
mod rooted;

use std::ffi::c_int;

use weft_abi_macros::mpi;
use weft_mpi::collective::{self, Vectors};
use weft_mpi::{CommId, Request, TypeId, comm};

use crate::argument::Address;
use crate::array::Numbers;
use crate::entry::Result;
use crate::output::Out;

#[mpi(Barrier)]
fn barrier(comm: CommId) -> Result<()> {
    collective::barrier(comm)
}

#[mpi(Ibarrier)]
fn ibarrier(comm: CommId, request: Out<Request>) -> Result<()> {
    request.set(collective::ibarrier(comm)?);
    Ok(())
}

/// Whether this process is the root, so that the root's arguments count. A root that is no rank is no process's; the
/// operation finds it out.
fn is_root(comm: CommId, root: c_int) -> Result<bool> {
    Ok(comm::find(comm)?.rank() as c_int == root)
}

/// A buffer with a count and a displacement per rank of a communicator.
fn vectors<'a>(
    address: Address,
    counts: Numbers<'a>,
    displacements: Numbers<'a>,
    datatype: TypeId,
    comm: CommId,
) -> Result<Vectors<'a>> {
    let ranks = comm::find(comm)?.size();
    Ok(Vectors {
        address: address.pointer(),
        counts: counts.of_ranks(ranks)?,
        displacements: displacements.of_ranks(ranks)?,
        datatype,
    })
}
