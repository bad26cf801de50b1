//! `MPI_Pack_external` and its kin (MPI-5.0 §5.3): packed data in the representation "external32".

use std::ffi::CStr;

use weft_error::{Class, Result, argument};
use weft_objects::types::{Buffer, TypeId, committed};

use super::packing::{PackBuffer, checked};

fn check_representation(name: &CStr) -> Result<()> {
    if name == c"external32" {
        return Ok(());
    }
    let what = format_args!("{name:?} is not \"external32\"");
    Err(argument(Class::Arg, "datarep", what))
}

/// `MPI_Pack_external_size`.
pub fn size(representation: &CStr, count: i64, datatype: TypeId) -> Result<i64> {
    check_representation(representation)?;
    let datatype = committed(datatype)?;
    let bytes = datatype.external_size(checked(count)?);
    Ok(bytes.ok_or(weft_datatype::Overflow)? as i64)
}

/// `MPI_Pack_external`: the position after the data.
pub fn pack(representation: &CStr, data: Buffer, into: PackBuffer) -> Result<i64> {
    let bytes = size(representation, data.count, data.datatype)? as usize;
    let memory = data.memory()?;
    let (place, after) = into.next(bytes)?;
    if bytes > 0 {
        // SAFETY: the caller's buffer, which is as long behind `place`.
        let out = unsafe { std::slice::from_raw_parts_mut(place, bytes) };
        // SAFETY: the caller's other buffer; what is asked for is within its packed bytes.
        let read = |offset, part: &mut [u8]| unsafe { memory.read(offset, part) };
        committed(data.datatype)?.to_external(data.count as usize, read, out);
    }
    Ok(after)
}

/// `MPI_Unpack_external`: the position after the data.
pub fn unpack(representation: &CStr, from: PackBuffer, data: Buffer) -> Result<i64> {
    let bytes = size(representation, data.count, data.datatype)? as usize;
    let memory = data.memory()?;
    let (place, after) = from.next(bytes)?;
    if bytes > 0 {
        // SAFETY: as in `pack`.
        let packed = unsafe { std::slice::from_raw_parts(place, bytes) };
        // SAFETY: as in `pack`.
        let write = |offset, part: &[u8]| unsafe { memory.write(offset, part) };
        committed(data.datatype)?.from_external(data.count as usize, packed, write);
    }
    Ok(after)
}
