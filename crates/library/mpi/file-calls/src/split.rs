//! Split collective access (MPI-5.0 §14.4.5): one on a file at a time, begun by one call and ended by another.

use weft_error::{Class, Result, argument};
use weft_handle::FileId;
use weft_messages::completion;
use weft_messages::request::{Request, Status};
use weft_objects::types::Buffer;

use super::collective::start_all;
use super::form::{Direction, Pair, Positioning, Split};
use super::object::share;

/// `MPI_File_read_all_begin` and its kin.
pub fn begin(
    id: FileId,
    direction: Direction,
    positioning: Positioning,
    buffer: Buffer,
) -> Result<()> {
    let file = share(id)?;
    file.check_no_split()?;
    let request = start_all(id, direction, positioning, buffer)?;
    *file.split.lock() = Some(Split {
        direction,
        pair: Pair::of(positioning),
        address: buffer.address.addr(),
        request,
    });
    Ok(())
}

/// `MPI_File_read_all_end` and its kin. The buffer is the one that the access was begun with.
pub fn end(id: FileId, direction: Direction, pair: Pair, address: *const u8) -> Result<Status> {
    let file = share(id)?;
    let mut split = file.split.lock();
    let wrong = |name: &str, what: &str| Err(argument(Class::Arg, name, what));
    match &*split {
        None => return wrong("fh", "no split collective access is begun"),
        Some(begun) if (begun.direction, begun.pair) != (direction, pair) => {
            return wrong("fh", "the access was begun by another call's first half");
        }
        Some(begun) if begun.address != address.addr() => {
            return wrong("buf", "not the buffer that the access was begun with");
        }
        Some(_) => {}
    }
    let begun = split.take();
    drop(split);
    let mut request = begun.map_or(Request::NULL, |begun| begun.request);
    let status = completion::wait(&mut request)?;
    status.check()?;
    Ok(status)
}
