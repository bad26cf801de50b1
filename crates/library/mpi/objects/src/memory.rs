//! Memory from the library (MPI-5.0 §9.2). Any memory serves every call alike, so this is ordinary memory.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::sync::LazyLock;
use weft_error::{Class, Result, argument};
use weft_handle::InfoId;

use crate::info;

/// What was allocated and not freed, by address.
static BLOCKS: LazyLock<Mutex<BTreeMap<usize, Vec<u8>>>> = LazyLock::new(Mutex::default);

pub const ALIGNMENT: &CStr = c"mpi_minimum_memory_alignment";

/// What the allocator of C gives.
const LEAST_ALIGNMENT: usize = 16;

/// The alignment that a hint asks for; what is no power of two is no value of it.
pub fn wanted_alignment(info: InfoId) -> Result<Option<usize>> {
    let text = info::value(info, ALIGNMENT)?;
    let wanted = text.and_then(|text| text.to_str().ok()?.parse::<usize>().ok());
    Ok(wanted.filter(|bytes| bytes.is_power_of_two()))
}

/// `MPI_Alloc_mem`. Memory of no bytes has an address of its own too.
pub fn allocate(bytes: i64, info: Option<InfoId>) -> Result<*mut u8> {
    let bytes = usize::try_from(bytes)
        .map_err(|_| argument(Class::Arg, "size", format_args!("{bytes} is negative")))?;
    let wanted = info.map_or(Ok(None), wanted_alignment)?;
    let alignment = wanted.unwrap_or(LEAST_ALIGNMENT).max(LEAST_ALIGNMENT);
    let room = bytes.max(1).saturating_add(alignment);
    let mut block = weft_reserve::with_capacity(room).map_err(|_| {
        let what = format_args!("there is no memory for {bytes} bytes");
        argument(Class::NoMem, "size", what)
    })?;
    let start: *mut u8 = block.as_mut_ptr();
    let base = start.wrapping_add(start.align_offset(alignment));
    BLOCKS.lock().insert(base.addr(), block);
    Ok(base)
}

/// `MPI_Free_mem`. Nothing is freed at a null pointer, as with `free` of C.
pub fn free(base: *mut u8) -> Result<()> {
    if base.is_null() || BLOCKS.lock().remove(&base.addr()).is_some() {
        return Ok(());
    }
    let what = "not what MPI_Alloc_mem returned, or freed already";
    Err(argument(Class::Base, "base", what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_aligned_as_asked_for() {
        for (text, expected) in [("4096", 4096), ("64", 64), ("3", 16), ("-8", 16), ("x", 16)] {
            let info = info::create_with(&[(ALIGNMENT, text)]).unwrap();
            let base = allocate(100, Some(info)).unwrap();
            assert!(base.addr().is_multiple_of(expected), "{text}");
            free(base).unwrap();
        }
    }

    #[test]
    fn freed_once() {
        let (empty, other) = (allocate(0, None).unwrap(), allocate(0, None).unwrap());
        assert!(!empty.is_null() && empty != other);
        free(empty).unwrap();
        assert_eq!(free(empty).unwrap_err().class, Class::Base);
        assert_eq!(free(other.wrapping_add(1)).unwrap_err().class, Class::Base);
        free(other).unwrap();
        free(std::ptr::null_mut()).unwrap();
        assert_eq!(allocate(-1, None).unwrap_err().class, Class::Arg);
        assert_eq!(allocate(i64::MAX, None).unwrap_err().class, Class::NoMem);
    }
}
