//! Communicators: a group and the contexts in which its messages travel (MPI-5.0 chapter 7).

pub(crate) mod arena;
mod communicator;
mod held;
pub mod hints;
mod holders;
pub mod info;
pub(crate) mod lanes;
mod members;
pub(crate) mod numbers;
pub mod predefined;
mod table;
pub mod topology;
mod traffic;

pub use communicator::Comm;
pub(crate) use held::Held;
pub(crate) use members::members;
pub(crate) use table::{begin, current, everyone, myself, register, remove};
pub use table::{find, handler_of, set_handler, share};
pub(crate) use traffic::{Traffic, number_of};
