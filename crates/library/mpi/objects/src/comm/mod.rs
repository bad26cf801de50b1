//! Communicators: a group and the contexts in which its messages travel (MPI-5.0 chapter 7).

pub mod arena;
pub mod begun;
mod communicator;
pub mod hints;
pub mod info;
pub mod lanes;
mod members;
pub mod nearness;
pub mod numbers;
pub mod operations;
pub mod predefined;
mod reference;
mod references;
mod table;
pub mod topology;
mod traffic;

pub use communicator::Comm;
pub use members::members;
pub use reference::CommReference;
pub use table::{begin, current, register, remove, self_comm, share_known, whole_job};
pub use table::{find, find_known, handler_of, set_handler, share, share_unrevoked};
pub use traffic::{Traffic, context_of, is_of, number_of};
