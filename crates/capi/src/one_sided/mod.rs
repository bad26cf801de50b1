//! One-sided communication (MPI-5.0 chapter 12), and what chapter 7 says of windows.

mod accumulate;
mod attribute;
mod create;
mod inquire;
mod synchronize;
mod transfer;

use weft_mpi::TypeId;
use weft_mpi::window::TargetBuffer;

/// The target arguments of an access.
#[inline]
fn target(rank: i32, displacement: i64, count: i64, datatype: TypeId) -> TargetBuffer {
    TargetBuffer {
        rank,
        displacement,
        count,
        datatype,
    }
}
