//! From the beginning to the end: of a process, of a session, of a communicator, of an error.

#![forbid(unsafe_code)]

mod alone;
pub mod comm;
pub mod handles;
pub mod models;
pub mod raise;
pub mod session;
mod start;
