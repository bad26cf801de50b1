//! Partitioned communication (MPI-5.0 chapter 4).
//!
//! Each partition of the sender's is one message, started by the thread that marks it ready, in a context of its own
//! and with a tag of its own. A send and its receive are matched once, when they are made: the send tells its first
//! tag, its partitions and their length in one small message under the program's tag, in another context, where
//! neither ordinary receives nor probes look; the order in which the receives were made is the order in which they
//! take these messages. From then on the receive posts one receive per partition of the sender's at each start,
//! whatever its own partitions are.

mod checks;
mod either;
mod receive;
mod send;
mod tags;

pub(crate) use checks::{Stage, check_partitions, whole};
pub(crate) use either::Partitioned;
pub(crate) use receive::Receiving;
#[cfg(fuzzing)]
pub use receive::fuzz;
pub(crate) use send::Sending;
