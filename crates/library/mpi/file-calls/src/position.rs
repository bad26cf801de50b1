//! File pointers (MPI-5.0 §14.4.3, §14.4.4): asked for and set.

use weft_error::{Class, Result, argument};
use weft_handle::FileId;

use super::agreement::{check_same, exchange, once};
use super::object::{File, share};

/// From where a seek counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whence {
    Start,
    Current,
    End,
}

/// Where a seek leads, in etypes.
fn target(
    file: &File,
    offset: i64,
    whence: Whence,
    current: impl FnOnce() -> Result<i64>,
) -> Result<i64> {
    let from = match whence {
        Whence::Start => 0,
        Whence::Current => current()?,
        Whence::End => {
            let size = file
                .descriptor
                .size()
                .map_err(|error| file.failed(&error))?;
            file.seen().etype_at(size)
        }
    };
    let to = from.checked_add(offset).filter(|&to| to >= 0);
    to.ok_or_else(|| {
        let what = format_args!("{offset} leads before the beginning of the view, or too far");
        argument(Class::Arg, "offset", what)
    })
}

/// `MPI_File_seek`.
pub fn seek(id: FileId, offset: i64, whence: Whence) -> Result<()> {
    let file = share(id)?;
    file.mode.check_random()?;
    let mut position = file.position.lock();
    let current = *position;
    *position = target(&file, offset, whence, || Ok(current))?;
    Ok(())
}

/// `MPI_File_get_position`.
pub fn position(id: FileId) -> Result<i64> {
    let file = share(id)?;
    file.mode.check_random()?;
    let position = *file.position.lock();
    Ok(position)
}

/// `MPI_File_seek_shared`.
pub fn seek_shared(id: FileId, offset: i64, whence: Whence) -> Result<()> {
    let file = share(id)?;
    let allowed = file.mode.check_random();
    let words = allowed.map(|()| [offset, whence as i64]);
    exchange(&file.comm, words, |told| {
        check_same(told, 0, "offset")?;
        check_same(told, 1, "whence")
    })?;
    once(&file, || {
        let to = target(&file, offset, whence, || file.shared.load())?;
        file.shared.store(to)
    })
}

/// `MPI_File_get_position_shared`.
pub fn position_shared(id: FileId) -> Result<i64> {
    let file = share(id)?;
    file.mode.check_random()?;
    file.shared.load()
}
