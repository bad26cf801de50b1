//! MPI's objects and operations over the engine: communicators, groups, datatypes, requests, collectives.
//!
//! The functions here are what the C interface's shims call: they take handles as identifiers, check every
//! argument, and return the standard's error classes. They know no C type.
//!
//! Each module uses the ones above it in this list, and nothing below it.

mod constants;

pub mod handle;

pub mod error;

mod told;

pub mod process;

pub mod objects;

pub mod messages;

pub mod collective;

pub mod creation;

pub mod window;

pub mod file;

pub mod tool;

pub mod lifetime;

#[cfg(fuzzing)]
pub mod fuzzed;

pub use constants::{ANY_SOURCE, ANY_TAG, PROC_NULL, TAG_UB, UNDEFINED};
pub use error::{Class, Error, Result};
pub use handle::{CommId, FileId, GroupId, InfoId, SessionId, WindowId};
pub use objects::op::OpId;
pub use objects::request::{Request, Status};
pub use objects::types::TypeId;
pub use weft_collective::Counts;
pub use weft_datatype::{Datatype, Op, Predefined};
