//! Communicators that processes make together.

#![forbid(unsafe_code)]

pub mod create;
pub mod dist_graph;
pub mod duplicate;
mod exchange;
pub mod from_group;
pub mod intercomm;
pub mod split_type;
pub mod topology;
