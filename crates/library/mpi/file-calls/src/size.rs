//! A file's size, and when what was written is on the device and seen by others (MPI-5.0 §14.2.4 to §14.2.6, §14.6.1).

use weft_error::{Class, Result, argument};
use weft_handle::FileId;

use super::agreement::{check_same, exchange, once, settle};
use super::object::{File, share};

/// A size that all processes give, of a file that may be written.
fn agreed(file: &File, size: i64) -> Result<u64> {
    let checked = file
        .mode
        .check_writable()
        .and_then(|()| match u64::try_from(size) {
            Ok(bytes) => Ok(bytes),
            Err(_) => Err(argument(
                Class::Arg,
                "size",
                format_args!("{size} is negative"),
            )),
        });
    let words = checked.as_ref().map(|_| [size]).map_err(Clone::clone);
    exchange(&file.comm, words, |told| check_same(told, 0, "size"))?;
    checked
}

/// `MPI_File_set_size`.
pub fn set_size(id: FileId, size: i64) -> Result<()> {
    let file = share(id)?;
    let bytes = agreed(&file, size)?;
    file.mark_written();
    once(&file, || {
        let set = file.descriptor.set_size(bytes);
        set.map_err(|error| file.failed(&error))
    })
}

/// `MPI_File_preallocate`.
pub fn preallocate(id: FileId, size: i64) -> Result<()> {
    let file = share(id)?;
    let bytes = agreed(&file, size)?;
    file.mark_written();
    once(&file, || {
        let allocated = file.descriptor.allocate(bytes);
        allocated.map_err(|error| file.failed(&error))
    })
}

/// `MPI_File_get_size`.
pub fn size(id: FileId) -> Result<i64> {
    let file = share(id)?;
    let size = file.descriptor.size();
    Ok(size.map_err(|error| file.failed(&error))? as i64)
}

impl File {
    /// What this process wrote is on the device.
    pub(super) fn sync(&self) -> Result<()> {
        match self.take_written() {
            true => self.descriptor.sync().map_err(|error| self.failed(&error)),
            false => Ok(()),
        }
    }
}

/// `MPI_File_sync`.
pub fn sync(id: FileId) -> Result<()> {
    let file = share(id)?;
    settle(&file.comm, file.sync())
}

/// `MPI_File_set_atomicity`.
pub fn set_atomicity(id: FileId, atomic: bool) -> Result<()> {
    let file = share(id)?;
    // Nobody's next access is still of the other mode: all have come.
    let flag = Ok([i64::from(atomic)]);
    exchange(&file.comm, flag, |told| check_same(told, 0, "flag"))?;
    file.set_atomic(atomic);
    Ok(())
}
