//! Virtual topologies (MPI-5.0 chapter 8): which processes are neighbours.

mod cart;
mod dims;
mod dist_graph;
mod graph;
mod kinds;

pub use cart::Cart;
pub use dims::fill as dims_create;
pub use dist_graph::{DistGraph, Side};
pub use graph::{Graph, edge_count};
pub use kinds::{Neighbours, Topology};
