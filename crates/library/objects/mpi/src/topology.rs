//! Virtual topologies (MPI-5.0 chapter 8): who is whose neighbour, known to a communicator from when it is made.
//!
//! Ranks are not reordered: all processes of a communicator reach each other through the same memory.

mod cart;
mod dims;
mod dist_graph;
mod graph;

use std::sync::Arc;

pub use cart::Cart;
pub use dims::fill as dims_create;
pub use dist_graph::{Adjacent, DistGraph, Edges, Side, count as edges_of};
pub use graph::{Graph, edge_count};

use crate::comm::{Comm, CommId, register};
use crate::create::{agreed, child};
use crate::error::handler::argument;
use crate::error::{Class, Error, Result};
use crate::group::Group;
use crate::hints::{self, Hints};
use crate::info::InfoId;
use crate::intercomm::check_intra;
use crate::process::process;

/// A communicator's topology.
#[derive(Debug)]
pub enum Topology {
    Cart(Cart),
    Graph(Graph),
    DistGraph(DistGraph),
}

/// The neighbours of a process, in the order in which neighbourhood collectives name them (MPI-5.0 §8.6).
/// `MPI_PROC_NULL` and repeated ranks are among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbours {
    /// From whom it receives.
    pub sources: Vec<i32>,
    /// To whom it sends.
    pub destinations: Vec<i32>,
}

impl Comm {
    /// This process's neighbours; an error if there is no topology.
    pub fn neighbours(&self) -> Result<Neighbours> {
        let both = |ranks: Vec<i32>| Neighbours {
            sources: ranks.clone(),
            destinations: ranks,
        };
        match self.topology() {
            Some(Topology::Cart(cart)) => Ok(both(cart.neighbours(self.rank()))),
            Some(Topology::Graph(graph)) => Ok(both(graph.neighbours(self.rank()).to_vec())),
            Some(Topology::DistGraph(graph)) => Ok(graph.neighbours()),
            None => Err(not_a("no topology")),
        }
    }
}

#[cold]
fn not_a(what: &str) -> Error {
    argument(Class::Topology, "comm", format_args!("has {what}"))
}

/// The Cartesian topology of a communicator.
pub fn cart(comm: &Comm) -> Result<&Cart> {
    match comm.topology() {
        Some(Topology::Cart(cart)) => Ok(cart),
        _ => Err(not_a("no Cartesian topology")),
    }
}

/// The graph topology of a communicator.
pub fn graph(comm: &Comm) -> Result<&Graph> {
    match comm.topology() {
        Some(Topology::Graph(graph)) => Ok(graph),
        _ => Err(not_a("no graph topology")),
    }
}

/// The distributed graph topology of a communicator.
pub fn dist_graph(comm: &Comm) -> Result<&DistGraph> {
    match comm.topology() {
        Some(Topology::DistGraph(graph)) => Ok(graph),
        _ => Err(not_a("no distributed graph topology")),
    }
}

/// The communicator whose processes are to get a topology.
fn old(comm: CommId) -> Result<Arc<Comm>> {
    let comm = crate::comm::share(comm)?;
    check_intra(&comm, "comm_old")?;
    Ok(comm)
}

/// A communicator of a part of `comm`'s processes; `group` and its topology for those in it.
fn make(comm: &Comm, part: Option<(Group, Topology)>) -> Result<Option<CommId>> {
    make_with(comm, part, Hints::default())
}

/// The same, with hints for the new communicator.
fn make_with(comm: &Comm, part: Option<(Group, Topology)>, hints: Hints) -> Result<Option<CommId>> {
    let (number, spread) = agreed(comm, hints.promised())?;
    let Some((group, topology)) = part else {
        process().contexts.release(number);
        return Ok(None);
    };
    let mut made = child(comm, number, group);
    made.set_topology(Arc::new(topology));
    made.set_spread(spread);
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
        false => crate::UNDEFINED,
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
    let comm = crate::comm::share(comm)?;
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
    let hints = hints::of(info)?;
    let comm = old(comm)?;
    let graph = DistGraph::adjacent(&comm, adjacent)?;
    all_of(&comm, graph, hints)
}

/// `MPI_Dist_graph_create`: every process gives some edges, whosever they are.
pub fn dist_graph_create(comm: CommId, edges: Edges<'_>, info: Option<InfoId>) -> Result<CommId> {
    let hints = hints::of(info)?;
    let comm = old(comm)?;
    let graph = DistGraph::gathered(&comm, edges)?;
    all_of(&comm, graph, hints)
}

fn all_of(comm: &Comm, graph: DistGraph, hints: Hints) -> Result<CommId> {
    let part = (comm.group().clone(), Topology::DistGraph(graph));
    let made = make_with(comm, Some(part), hints)?;
    Ok(made.expect("every process is in the graph"))
}
