//! Distributed graph topologies (MPI-5.0 §8.5.4, §8.5.5).

use std::ffi::c_int;

use weft_abi::{MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY};
use weft_abi_macros::mpi;
use weft_communicators::dist_graph::{Adjacent, Edges, count};
use weft_communicators::topology;
use weft_error::Class;
use weft_error::argument;
use weft_handle::{CommId, InfoId};
use weft_objects::comm;
use weft_objects::comm::topology::dist_graph;
use weft_objects::topology::Side;

use super::store;
use crate::argument::Length;
use crate::array::{Array, ArrayMut};
use crate::entry::Result;
use crate::output::Out;

/// As many weights as edges, or none for a graph without.
fn weights<'a>(array: Array<'a, c_int>, edges: usize) -> Result<Option<&'a [c_int]>> {
    if array.is_at(MPI_UNWEIGHTED) {
        return Ok(None);
    }
    if array.is_at(MPI_WEIGHTS_EMPTY) {
        return match edges {
            0 => Ok(Some(&[])),
            _ => {
                let what = format_args!("MPI_WEIGHTS_EMPTY, but there are {edges} edges");
                Err(argument(Class::Arg, "weights", what))
            }
        };
    }
    array.slice(Length(edges)).map(Some)
}

#[mpi(Dist_graph_create_adjacent)]
fn dist_graph_create_adjacent(
    comm_old: CommId,
    indegree: Length,
    sources: Array<c_int>,
    sourceweights: Array<c_int>,
    outdegree: Length,
    destinations: Array<c_int>,
    destweights: Array<c_int>,
    info: Option<InfoId>,
    _reorder: bool,
    comm_dist_graph: Out<CommId>,
) -> Result<()> {
    let adjacent = Adjacent {
        sources: sources.slice(indegree)?,
        source_weights: weights(sourceweights, indegree.0)?,
        destinations: destinations.slice(outdegree)?,
        destination_weights: weights(destweights, outdegree.0)?,
    };
    let made = topology::dist_graph_create_adjacent(comm_old, adjacent, info)?;
    comm_dist_graph.set(made);
    Ok(())
}

#[mpi(Dist_graph_create)]
fn dist_graph_create(
    comm_old: CommId,
    n: Length,
    sources: Array<c_int>,
    degrees: Array<c_int>,
    destinations: Array<c_int>,
    weights: Array<c_int>,
    info: Option<InfoId>,
    _reorder: bool,
    comm_dist_graph: Out<CommId>,
) -> Result<()> {
    let degrees = degrees.slice(n)?;
    let count = count(degrees)?;
    let edges = Edges {
        sources: sources.slice(n)?,
        degrees,
        destinations: destinations.slice(Length(count))?,
        weights: self::weights(weights, count)?,
    };
    comm_dist_graph.set(topology::dist_graph_create(comm_old, edges, info)?);
    Ok(())
}

#[mpi(Dist_graph_neighbors_count)]
fn dist_graph_neighbors_count(
    comm: CommId,
    indegree: Out<c_int>,
    outdegree: Out<c_int>,
    weighted: Out<bool>,
) -> Result<()> {
    let graph = dist_graph(comm::find(comm)?)?;
    indegree.set(graph.incoming().ranks.len() as c_int);
    outdegree.set(graph.outgoing().ranks.len() as c_int);
    weighted.set(graph.is_weighted());
    Ok(())
}

#[mpi(Dist_graph_neighbors)]
fn dist_graph_neighbors(
    comm: CommId,
    maxindegree: Length,
    sources: ArrayMut<c_int>,
    sourceweights: ArrayMut<c_int>,
    maxoutdegree: Length,
    destinations: ArrayMut<c_int>,
    destweights: ArrayMut<c_int>,
) -> Result<()> {
    let graph = dist_graph(comm::find(comm)?)?;
    store_side(graph.incoming(), maxindegree, sources, sourceweights)?;
    store_side(graph.outgoing(), maxoutdegree, destinations, destweights)
}

/// A graph without weights leaves the caller's as they are, and `MPI_UNWEIGHTED` wants none.
fn store_side(
    side: &Side,
    room: Length,
    ranks: ArrayMut<c_int>,
    weights: ArrayMut<c_int>,
) -> Result<()> {
    store(&side.ranks, ranks.slice(room)?);
    if let Some(known) = &side.weights
        && !weights.is_at(MPI_UNWEIGHTED)
        && !weights.is_at(MPI_WEIGHTS_EMPTY)
    {
        store(known, weights.slice(room)?);
    }
    Ok(())
}
