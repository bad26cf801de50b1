//! Virtual topologies (MPI-5.0 chapter 8). `reorder` is a permission that is not used.

mod cart;
mod dist_graph;
mod graph;

use std::ffi::c_int;

use weft_abi::{MPI_CART, MPI_DIST_GRAPH, MPI_GRAPH, MPI_UNDEFINED};
use weft_abi_macros::mpi;
use weft_handle::CommId;
use weft_objects::comm;
use weft_objects::topology::Topology;

use crate::entry::Result;
use crate::output::Out;

#[mpi(Topo_test)]
fn topo_test(comm: CommId, status: Out<c_int>) -> Result<()> {
    status.set(match comm::find(comm)?.topology() {
        Some(Topology::Cart(_)) => MPI_CART,
        Some(Topology::Graph(_)) => MPI_GRAPH,
        Some(Topology::DistGraph(_)) => MPI_DIST_GRAPH,
        None => MPI_UNDEFINED,
    });
    Ok(())
}

/// Stores as much of `from` as there is room for.
fn store(from: &[c_int], room: &mut [c_int]) {
    let length = from.len().min(room.len());
    room[..length].copy_from_slice(&from[..length]);
}
