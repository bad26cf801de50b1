//! The libibverbs ABI as Rust types, its inline calls, and loading by `dlopen`.
//!
//! Layouts and values are those of rdma-core's newest release. The ABI only ever grows at the end of a structure (and
//! `verbs_context` at its beginning), so they also serve programs that were compiled against an older header; where a
//! caller says how long its structure is, that length decides. `tests/layout.rs` compares every size and offset with the
//! headers that are installed.
//!
//! Names are C's. Objects and work requests name one another and stand in `object`; all else is grouped by the object it
//! belongs to. C enumerations are integers with constants, not Rust enums: what a foreign caller stores in them is any
//! integer.
//!
//! All types are valid when all their bytes are zero, and `Default` gives just that.
#![allow(non_camel_case_types)]

mod macros;

pub mod export;
pub mod inline;
mod library;

mod address;
mod completion;
mod context;
mod counters;
mod device;
mod domain;
mod event;
mod flow;
mod memory;
mod object;
mod path_record;
mod port;
mod queue_pair;
mod queue_pair_ex;
mod shared_receive;
mod software;
mod work_completion;
mod work_queue;

pub use address::*;
pub use completion::*;
pub use context::*;
pub use counters::*;
pub use device::*;
pub use domain::*;
pub use event::*;
pub use flow::*;
pub use library::{LIBRARY, Library, LoadError};
pub use memory::*;
pub use object::*;
pub use path_record::*;
pub use port::*;
pub use queue_pair::*;
pub use queue_pair_ex::*;
pub use shared_receive::*;
pub use software::*;
pub use work_completion::*;
pub use work_queue::*;
