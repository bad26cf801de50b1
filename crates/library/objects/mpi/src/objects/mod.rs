//! MPI's objects: what each is, and the calls on it that need no other process.

pub mod attributes;
pub mod comm;
pub mod group;
pub mod handler;
pub mod hardware;
pub mod info;
pub mod memory;
pub mod op;
pub mod request;
pub mod session;
pub mod topology;
pub mod types;
