//! MPI's objects and operations over the engine: communicators, groups, datatypes, requests, collectives.
//!
//! The functions here are what the C interface's shims call: they take handles as identifiers, check every
//! argument, and return the standard's error classes. They know no C type.

pub mod attributes;
pub mod buffered;
pub mod collective;
pub mod comm;
pub mod completion;
mod context;
pub mod create;
pub mod error;
pub mod from_group;
pub mod generalized;
pub mod group;
pub mod hardware;
pub mod hints;
pub mod info;
pub mod intercomm;
pub mod lifetime;
mod members;
pub mod memory;
pub mod op;
pub mod operation;
pub mod partitioned;
pub mod persistent;
pub mod point_to_point;
pub mod probe;
pub mod process;
pub mod request;
pub mod session;
pub mod split_type;
mod spread;
mod table;
pub mod tool;
pub mod topology;
pub mod types;
pub mod window;
mod words;

pub use comm::CommId;
pub use error::{Class, Error, Result};
pub use group::GroupId;
pub use info::InfoId;
pub use op::OpId;
pub use request::{Request, Status};
pub use session::SessionId;
pub use types::TypeId;
pub use weft_collective::Counts;
pub use weft_datatype::{Datatype, Op, Predefined};
pub use window::WindowId;

/// Special ranks, tags and values; the ABI's numbers.
pub const ANY_SOURCE: i32 = -1;
pub const ANY_TAG: i32 = -2;
pub const PROC_NULL: i32 = -3;
pub const UNDEFINED: i32 = -32766;
/// The largest tag: all that an `int` holds.
pub const TAG_UB: i32 = i32::MAX;
