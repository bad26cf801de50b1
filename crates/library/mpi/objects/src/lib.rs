//! MPI's objects: what each is, and the calls on it that need no other process.

pub mod attributes;
pub mod comm;
mod constants;
pub mod group;
pub mod handler;
pub mod hardware;
pub mod info;
pub mod memory;
pub mod op;
pub mod session;
pub mod topology;
pub mod types;

pub use constants::{ANY_SOURCE, ANY_TAG, PROC_NULL, TAG_UB, UNDEFINED};
pub use op::OpId;
pub use types::TypeId;
pub use weft_datatype::{Datatype, Op, Predefined};
