//! Types that every way of going through an operation shares.

use weft_objects::op::OpId;
use weft_objects::types::TypeId;

/// A reduction's arguments: no input is `MPI_IN_PLACE`.
#[derive(Clone, Copy)]
pub struct Reduce {
    pub input: Option<*const u8>,
    pub output: *mut u8,
    pub count: i64,
    pub datatype: TypeId,
    pub op: OpId,
}

/// An operation is over, and right: the call has nothing more to do.
pub(super) struct Over;
