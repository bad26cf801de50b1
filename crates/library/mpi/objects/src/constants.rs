//! Special ranks, tags and values; the ABI's numbers.

pub const ANY_SOURCE: i32 = -1;
pub const ANY_TAG: i32 = -2;
pub const PROC_NULL: i32 = -3;
pub const UNDEFINED: i32 = -32766;
/// The largest tag: all that an `int` holds.
pub const TAG_UB: i32 = i32::MAX;
