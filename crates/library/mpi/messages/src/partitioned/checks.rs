//! What both sides check, and where an operation of either stands.

use weft_error::{Class, Error, Result, argument};
use weft_objects::types::Buffer;

/// Where a partitioned operation stands.
pub(crate) enum Stage {
    Inactive,
    Pending,
    Complete,
}

#[cold]
pub(super) fn inactive_only(what: &str) -> Error {
    argument(Class::Request, "request", what)
}

/// A checked number of partitions: positive (MPI-5.0 §4.2.1).
pub(crate) fn check_partitions(partitions: i32) -> Result<u32> {
    match u32::try_from(partitions) {
        Ok(partitions) if partitions > 0 => Ok(partitions),
        _ => {
            let what = format_args!("{partitions} is not positive");
            Err(argument(Class::Arg, "partitions", what))
        }
    }
}

/// The whole buffer of `partitions` times what `buffer` says.
pub(crate) fn whole(buffer: Buffer, partitions: u32) -> Result<Buffer> {
    let count = buffer.count.checked_mul(i64::from(partitions));
    let count = count.ok_or(weft_datatype::Overflow)?;
    Ok(Buffer { count, ..buffer })
}
