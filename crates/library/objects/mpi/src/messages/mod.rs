//! Messages between two processes, and requests for them.

pub mod buffered;
pub mod completion;
pub mod external;
pub mod generalized;
pub(crate) mod operation;
pub mod packing;
pub mod partitioned;
pub mod persistent;
pub mod point_to_point;
pub mod probe;
