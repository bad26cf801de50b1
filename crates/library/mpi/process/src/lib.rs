//! This process: whether MPI may be called in it, its place in the job, its engine.

pub mod background;
pub mod engine;
pub mod job;
pub mod network;
pub mod phase;
pub mod prices;
pub mod report;
pub mod thread;
pub mod thread_level;
pub mod trace;
pub mod transport;
