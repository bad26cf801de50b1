//! The kinds of topologies, and the neighbours of a process.

use super::cart::Cart;
use super::dist_graph::DistGraph;
use super::graph::Graph;

/// The neighbours of a process, in the order in which neighbourhood collectives name them (MPI-5.0 §8.6).
/// `MPI_PROC_NULL` and repeated ranks are among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbours {
    /// From whom it receives.
    pub sources: Vec<i32>,
    /// To whom it sends.
    pub destinations: Vec<i32>,
}

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
            Topology::DistGraph(graph) => Neighbours {
                sources: graph.incoming().ranks.clone(),
                destinations: graph.outgoing().ranks.clone(),
            },
        }
    }
}
