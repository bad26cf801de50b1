//! Messages between two processes, and requests for them.

pub mod buffered;
pub mod completion;
pub(crate) mod compound;
pub mod external;
pub mod followed;
pub mod generalized;
pub mod generalized_calls;
pub(crate) mod lingering;
pub(crate) mod operation;
pub mod packing;
pub(crate) mod partitioned;
pub mod partitioned_calls;
pub mod persistent;
pub mod point_to_point;
pub mod probe;
pub(crate) mod start;

#[cfg(fuzzing)]
pub(crate) use partitioned::fuzz;
