//! Asking a communicator (MPI-5.0 §7.4.1, §7.8), and its hints (§7.4.4).

use std::ffi::{CStr, c_int};

use weft_abi::{MPI_CONGRUENT, MPI_IDENT, MPI_MAX_OBJECT_NAME, MPI_SIMILAR, MPI_UNEQUAL};
use weft_abi_macros::mpi;
use weft_handle::{CommId, GroupId, InfoId};
use weft_objects::comm::{self, info};
use weft_objects::group::{self, Comparison};

use crate::entry::Result;
use crate::output::{Out, OutString};

#[mpi(Comm_rank)]
fn comm_rank(comm: CommId, rank: Out<c_int>) -> Result<()> {
    rank.set(comm::find_known(comm)?.rank() as c_int);
    Ok(())
}

#[mpi(Comm_size)]
fn comm_size(comm: CommId, size: Out<c_int>) -> Result<()> {
    size.set(comm::find_known(comm)?.size() as c_int);
    Ok(())
}

#[mpi(Comm_group)]
fn comm_group(comm: CommId, group: Out<GroupId>) -> Result<()> {
    group.set(group::register(comm::find(comm)?.group().clone())?);
    Ok(())
}

#[mpi(Comm_compare)]
fn comm_compare(comm1: CommId, comm2: CommId, result: Out<c_int>) -> Result<()> {
    result.set(compared(comm::find(comm1)?.compare(comm::find(comm2)?)));
    Ok(())
}

/// The ABI's number of a comparison's result.
pub fn compared(comparison: Comparison) -> c_int {
    match comparison {
        Comparison::Identical => MPI_IDENT,
        Comparison::Congruent => MPI_CONGRUENT,
        Comparison::Similar => MPI_SIMILAR,
        Comparison::Unequal => MPI_UNEQUAL,
    }
}

/// The null handle has a name too (MPI-5.0 §7.8).
#[mpi(Comm_get_name)]
fn comm_get_name(comm: Option<CommId>, comm_name: OutString, resultlen: Out<c_int>) -> Result<()> {
    let name = match comm {
        Some(comm) => comm::find(comm)?.name(),
        None => c"MPI_COMM_NULL".to_owned(),
    };
    resultlen.set(comm_name.set(name.as_bytes(), MPI_MAX_OBJECT_NAME));
    Ok(())
}

#[mpi(Comm_set_name)]
fn comm_set_name(comm: CommId, comm_name: &CStr) -> Result<()> {
    comm::find(comm)?.set_name(comm_name);
    Ok(())
}

#[mpi(Comm_get_info)]
fn comm_get_info(comm: CommId, info_used: Out<InfoId>) -> Result<()> {
    info_used.set(info::get(comm)?);
    Ok(())
}

#[mpi(Comm_set_info)]
fn comm_set_info(comm: CommId, info: InfoId) -> Result<()> {
    info::set(comm, info)
}
