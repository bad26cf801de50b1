//! Algorithms among ranks that are taken to be alike: those of one host, or one of each. Of each operation one is chosen by a table.

pub mod allgather;
pub mod allreduce;
pub mod alltoall;
pub mod barrier;
pub mod bcast;
pub mod gather;
pub mod reduce;
pub mod reduce_scatter;
pub mod scan;
pub mod scatter;
