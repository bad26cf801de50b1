//! Communicators: a group and the contexts in which its messages travel (MPI-5.0 chapter 7).

pub(crate) mod arena;
pub(crate) mod begun;
mod communicator;
pub mod hints;
pub mod info;
pub(crate) mod lanes;
mod members;
pub(crate) mod nearness;
pub(crate) mod numbers;
pub(crate) mod operations;
pub mod predefined;
mod reference;
mod references;
mod table;
pub mod topology;
mod traffic;

pub use communicator::Comm;
pub(crate) use members::members;
pub(crate) use reference::CommReference;
pub(crate) use table::{begin, current, register, remove, self_comm, share_known, whole_job};
pub use table::{find, find_known, handler_of, set_handler, share};
pub(crate) use traffic::{Traffic, is_of, number_of};
