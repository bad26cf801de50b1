//! Making virtual topologies (MPI-5.0 chapter 8), which are known to a communicator from when it is made.
//!
//! Ranks are not reordered: all processes of a communicator reach each other through the same memory.

use std::sync::Arc;

use weft_error::Result;
use weft_handle::{CommId, InfoId};
use weft_objects::comm::hints::{self, Hints};
use weft_objects::comm::numbers::contexts;
use weft_objects::comm::topology::cart;
use weft_objects::comm::{Comm, register};
use weft_objects::group::Group;
use weft_objects::topology::{Cart, DistGraph, Graph, Topology};

use super::dist_graph::{self, Adjacent, Edges};
use crate::create::{agreed, child};

/// The communicator whose processes are to get a topology.
fn old(comm: CommId) -> Result<Arc<Comm>> {
    let comm = weft_objects::comm::share_unrevoked(comm)?;
    comm.check_intra("comm_old")?;
    Ok(comm)
}

/// A communicator of a part of `comm`'s processes; `group` and its topology for those in it.
fn make(comm: &Comm, part: Option<(Group, Topology)>) -> Result<Option<CommId>> {
    make_with(comm, part, Hints::default())
}

/// The same, with hints for the new communicator.
fn make_with(comm: &Comm, part: Option<(Group, Topology)>, hints: Hints) -> Result<Option<CommId>> {
    let (number, selection) = agreed(comm, hints.promised())?;
    let Some((group, topology)) = part else {
        contexts().release(number);
        return Ok(None);
    };
    let mut made = child(comm, number, group);
    made.set_topology(Arc::new(topology));
    made.set_lane_selection(selection);
    made.set_hints(hints);
    register(made).map(Some)
}

/// As [`make`], of the first `nodes` processes.
fn make_of_first(comm: &Comm, nodes: u32, topology: Topology) -> Result<Option<CommId>> {
    let first = || comm.group().part(0..nodes);
    let part = (comm.rank() < nodes).then(|| (first(), topology));
    make(comm, part)
}

/// The rank that a topology of `nodes` processes would give this one (`MPI_Cart_map`, `MPI_Graph_map`).
fn mapped(comm: &Comm, nodes: u32) -> i32 {
    match comm.rank() < nodes {
        true => comm.rank() as i32,
        false => weft_objects::UNDEFINED,
    }
}

/// `MPI_Cart_create`: no communicator for processes outside the grid.
pub fn cart_create(comm: CommId, dims: &[i32], periods: &[bool]) -> Result<Option<CommId>> {
    let comm = old(comm)?;
    let cart = Cart::new(dims, periods, comm.size())?;
    make_of_first(&comm, cart.size(), Topology::Cart(cart))
}

/// `MPI_Cart_map`.
pub fn cart_map(comm: CommId, dims: &[i32], periods: &[bool]) -> Result<i32> {
    let comm = old(comm)?;
    Ok(mapped(&comm, Cart::new(dims, periods, comm.size())?.size()))
}

/// `MPI_Cart_sub`: the part of the grid that this process is in when the dimensions not to `remain` are cut.
pub fn cart_sub(comm: CommId, remain: &[bool]) -> Result<CommId> {
    let comm = weft_objects::comm::share_unrevoked(comm)?;
    let (part, ranks) = cart(&comm)?.part(comm.rank(), remain);
    let group = comm.group().part(ranks.into_iter());
    let made = make(&comm, Some((group, Topology::Cart(part))))?;
    Ok(made.expect("every process is in a part"))
}

/// `MPI_Graph_create`: no communicator for processes that are no nodes.
pub fn graph_create(comm: CommId, index: &[i32], edges: &[i32]) -> Result<Option<CommId>> {
    let comm = old(comm)?;
    let graph = Graph::new(index, edges, comm.size())?;
    make_of_first(&comm, graph.size(), Topology::Graph(graph))
}

/// `MPI_Graph_map`.
pub fn graph_map(comm: CommId, index: &[i32], edges: &[i32]) -> Result<i32> {
    let comm = old(comm)?;
    Ok(mapped(&comm, Graph::new(index, edges, comm.size())?.size()))
}

/// `MPI_Dist_graph_create_adjacent`: every process gives its own edges.
pub fn dist_graph_create_adjacent(
    comm: CommId,
    adjacent: Adjacent<'_>,
    info: Option<InfoId>,
) -> Result<CommId> {
    let hints = hints::from_info(info)?;
    let comm = old(comm)?;
    let graph = dist_graph::adjacent(&comm, adjacent)?;
    all_of(&comm, graph, hints)
}

/// `MPI_Dist_graph_create`: every process gives some edges, whosever they are.
pub fn dist_graph_create(comm: CommId, edges: Edges<'_>, info: Option<InfoId>) -> Result<CommId> {
    let hints = hints::from_info(info)?;
    let comm = old(comm)?;
    let graph = dist_graph::gathered(&comm, edges)?;
    all_of(&comm, graph, hints)
}

fn all_of(comm: &Comm, graph: DistGraph, hints: Hints) -> Result<CommId> {
    let part = (comm.group().clone(), Topology::DistGraph(graph));
    let made = make_with(comm, Some(part), hints)?;
    Ok(made.expect("every process is in the graph"))
}
