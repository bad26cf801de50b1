//! Graph topologies (MPI-5.0 §8.5.3, §8.5.5, §8.5.8).

use std::ffi::c_int;

use weft_abi_macros::mpi;
use weft_communicators::topology;
use weft_error::Class;
use weft_handle::CommId;
use weft_objects::comm;
use weft_objects::comm::topology::graph;
use weft_objects::topology::edge_count;

use super::store;
use crate::argument::Length;
use crate::array::{Array, ArrayMut};
use crate::entry::Result;
use crate::output::Out;

#[mpi(Graph_create)]
fn graph_create(
    comm_old: CommId,
    nnodes: Length,
    index: Array<c_int>,
    edges: Array<c_int>,
    _reorder: bool,
    comm_graph: Out<Option<CommId>>,
) -> Result<()> {
    let index = index.slice(nnodes)?;
    let edges = edges.slice(Length(edge_count(index)?))?;
    comm_graph.set(topology::graph_create(comm_old, index, edges)?);
    Ok(())
}

#[mpi(Graph_map)]
fn graph_map(
    comm: CommId,
    nnodes: Length,
    index: Array<c_int>,
    edges: Array<c_int>,
    newrank: Out<c_int>,
) -> Result<()> {
    let index = index.slice(nnodes)?;
    let edges = edges.slice(Length(edge_count(index)?))?;
    newrank.set(topology::graph_map(comm, index, edges)?);
    Ok(())
}

#[mpi(Graphdims_get)]
fn graphdims_get(comm: CommId, nnodes: Out<c_int>, nedges: Out<c_int>) -> Result<()> {
    let graph = graph(comm::find(comm)?)?;
    nnodes.set(graph.index().len() as c_int);
    nedges.set(graph.edges().len() as c_int);
    Ok(())
}

#[mpi(Graph_get)]
fn graph_get(
    comm: CommId,
    maxindex: Length,
    maxedges: Length,
    index: ArrayMut<c_int>,
    edges: ArrayMut<c_int>,
) -> Result<()> {
    let graph = graph(comm::find(comm)?)?;
    store(graph.index(), index.slice(maxindex)?);
    store(graph.edges(), edges.slice(maxedges)?);
    Ok(())
}

#[mpi(Graph_neighbors_count)]
fn graph_neighbors_count(comm: CommId, rank: c_int, nneighbors: Out<c_int>) -> Result<()> {
    let comm = comm::find(comm)?;
    let graph = graph(comm)?;
    let rank = comm.check_rank(Class::Rank, "rank", rank)?;
    nneighbors.set(graph.neighbours(rank).len() as c_int);
    Ok(())
}

#[mpi(Graph_neighbors)]
fn graph_neighbors(
    comm: CommId,
    rank: c_int,
    maxneighbors: Length,
    neighbors: ArrayMut<c_int>,
) -> Result<()> {
    let comm = comm::find(comm)?;
    let graph = graph(comm)?;
    let rank = comm.check_rank(Class::Rank, "rank", rank)?;
    store(graph.neighbours(rank), neighbors.slice(maxneighbors)?);
    Ok(())
}
