//! The kinds of topologies.

use super::cart::Cart;
use super::dist_graph::DistGraph;
use super::graph::Graph;
use super::neighbours::Neighbours;

/// A communicator's topology.
#[derive(Debug)]
pub enum Topology {
    Cart(Cart),
    Graph(Graph),
    DistGraph(DistGraph),
}

impl Topology {
    /// The neighbours of the process of this rank.
    pub fn neighbours(&self, rank: u32) -> Neighbours {
        let both = |ranks: Vec<i32>| Neighbours {
            sources: ranks.clone(),
            destinations: ranks,
        };
        match self {
            Topology::Cart(cart) => both(cart.neighbours(rank)),
            Topology::Graph(graph) => both(graph.neighbours(rank).to_vec()),
            Topology::DistGraph(graph) => graph.neighbours(),
        }
    }
}
