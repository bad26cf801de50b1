//! This process: whether MPI may be called in it, its place in the job, its engine.

pub(crate) mod background;
pub mod engine;
pub mod job;
pub(crate) mod network;
pub mod phase;
pub(crate) mod prices;
pub(crate) mod report;
pub(crate) mod thread;
pub mod thread_level;
pub(crate) mod trace;
pub(crate) mod transport;
