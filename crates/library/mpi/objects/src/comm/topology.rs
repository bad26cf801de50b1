//! The topology of a communicator.

use weft_error::{Class, Error, Result, argument};

use super::communicator::Comm;
use crate::topology::{Cart, DistGraph, Graph, Neighbours, Topology};

impl Comm {
    /// This process's neighbours; an error if there is no topology.
    pub fn neighbours(&self) -> Result<Neighbours> {
        let topology = self.topology().ok_or_else(|| not_a("no topology"))?;
        Ok(topology.neighbours(self.rank()))
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
