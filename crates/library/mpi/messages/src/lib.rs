//! Messages between two processes, and requests for them.

pub mod buffered;
pub mod completion;
pub mod compound;
pub mod external;
pub mod followed;
pub mod generalized;
pub mod generalized_calls;
pub mod lingering;
pub mod operation;
pub mod packing;
pub(crate) mod partitioned;
pub mod partitioned_calls;
pub mod persistent;
pub mod point_to_point;
pub mod probe;
pub mod request;
pub mod start;

#[cfg(fuzzing)]
pub use partitioned::fuzz;

pub use request::{Request, Status};
