//! `MPI_Pack` and `MPI_Unpack` (MPI-5.0 §5.2): packed data are the bytes that a message would carry.

use weft_error::{Class, Error, Result, argument};
use weft_handle::CommId;
use weft_objects::comm;
use weft_objects::types::{Buffer, TypeId, committed};

/// A pack buffer: its address, its bytes, and where in it to go on.
#[derive(Clone, Copy, Debug)]
pub struct PackBuffer {
    pub address: *mut u8,
    pub size: i64,
    pub position: i64,
}

impl PackBuffer {
    /// Where the next `bytes` lie, and the position after them.
    pub(super) fn next(&self, bytes: usize) -> Result<(*mut u8, i64)> {
        let (start, size) = match (usize::try_from(self.position), usize::try_from(self.size)) {
            (Ok(start), Ok(size)) if start <= size => (start, size),
            _ => return Err(self.wrong_position()),
        };
        if size - start < bytes {
            return Err(self.full(bytes));
        }
        if self.address.is_null() && bytes > 0 {
            return Err(argument(Class::Buffer, "pack buffer", "a null pointer"));
        }
        Ok((self.address.wrapping_add(start), (start + bytes) as i64))
    }

    #[cold]
    fn wrong_position(&self) -> Error {
        let what = format_args!("{} is not in a buffer of {}", self.position, self.size);
        argument(Class::Arg, "position", what)
    }

    #[cold]
    fn full(&self, bytes: usize) -> Error {
        let what = format_args!(
            "{bytes} bytes do not fit behind position {} of a buffer of {}",
            self.position, self.size
        );
        argument(Class::Arg, "position", what)
    }
}

/// `MPI_Pack_size`: exact.
pub fn size(count: i64, datatype: TypeId, comm: CommId) -> Result<i64> {
    comm::find(comm)?;
    Ok(elements(count, datatype)? as i64)
}

/// Bytes of `count` elements.
fn elements(count: i64, datatype: TypeId) -> Result<usize> {
    let datatype = committed(datatype)?;
    let bytes = datatype.size().checked_mul(checked(count)?);
    bytes
        .filter(|&bytes| isize::try_from(bytes).is_ok())
        .ok_or(weft_datatype::Overflow.into())
}

pub(super) fn checked(count: i64) -> Result<usize> {
    usize::try_from(count)
        .map_err(|_| argument(Class::Count, "count", format_args!("{count} is negative")))
}

/// `MPI_Pack`: the position after the data.
pub fn pack(data: Buffer, into: PackBuffer, comm: CommId) -> Result<i64> {
    comm::find(comm)?;
    let memory = data.memory()?;
    let (place, after) = into.next(memory.bytes)?;
    if memory.bytes > 0 {
        // SAFETY: the caller's buffers, whose lengths were checked and which do not overlap (MPI-5.0 §5.2).
        unsafe { memory.read(0, std::slice::from_raw_parts_mut(place, memory.bytes)) };
    }
    Ok(after)
}

/// `MPI_Unpack`: the position after the data.
pub fn unpack(from: PackBuffer, data: Buffer, comm: CommId) -> Result<i64> {
    comm::find(comm)?;
    let memory = data.memory()?;
    let (place, after) = from.next(memory.bytes)?;
    if memory.bytes > 0 {
        // SAFETY: as in `pack`.
        unsafe { memory.write(0, std::slice::from_raw_parts(place, memory.bytes)) };
    }
    Ok(after)
}
