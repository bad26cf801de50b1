//! Texts for which Open MPI's programs have less room than the standard ABI asks: they are cut. And the version of the standard.

use std::ffi::{c_char, c_int};

use weft_abi::*;
use weft_abi_macros::foreign;
use weft_foreign::convert::Kind;

use crate::functions::standard;
use crate::handles::Handle;
use crate::kinds::{COMMUNICATOR, DATATYPE, ERROR_CODE, WINDOW};

/// `MPI_MAX_OBJECT_NAME`, `MPI_MAX_ERROR_STRING` and `MPI_MAX_LIBRARY_VERSION_STRING`, with the terminating null.
const OBJECT_NAME: usize = 64;
const ERROR_STRING: usize = 256;
const LIBRARY_VERSION: usize = 256;
/// The longest of the standard's.
const ROOM: usize = MPI_MAX_LIBRARY_VERSION_STRING as usize;

/// Has a call store a text, and gives the program as much of it as it has room for.
///
/// # Safety
/// The program's places, with room for that much; the call stores no more than [`ROOM`] bytes.
unsafe fn cut(
    text: *mut c_char,
    length: *mut c_int,
    room: usize,
    call: impl FnOnce(*mut c_char, *mut c_int) -> c_int,
) -> c_int {
    if text.is_null() || length.is_null() {
        return call(text, length);
    }
    let mut whole = [0; ROOM];
    let mut bytes = 0;
    let code = call(whole.as_mut_ptr(), &mut bytes);
    if code == MPI_SUCCESS {
        let kept = (bytes as usize).min(room - 1);
        // SAFETY: by this function's contract.
        unsafe {
            text.copy_from_nonoverlapping(whole.as_ptr(), kept);
            text.add(kept).write(0);
            length.write(kept as c_int);
        }
    }
    code
}

#[foreign]
unsafe extern "C" fn MPI_Comm_get_name(
    comm: Handle,
    name: *mut c_char,
    length: *mut c_int,
) -> c_int {
    let comm = COMMUNICATOR::to_standard(comm);
    // SAFETY: as the caller has promised; so below.
    unsafe {
        cut(name, length, OBJECT_NAME, |text, length| {
            standard::MPI_Comm_get_name(comm, text, length)
        })
    }
}

#[foreign]
unsafe extern "C" fn MPI_Type_get_name(
    datatype: Handle,
    name: *mut c_char,
    length: *mut c_int,
) -> c_int {
    let datatype = DATATYPE::to_standard(datatype);
    // SAFETY: as above.
    unsafe {
        cut(name, length, OBJECT_NAME, |text, length| {
            standard::MPI_Type_get_name(datatype, text, length)
        })
    }
}

#[foreign]
unsafe extern "C" fn MPI_Win_get_name(win: Handle, name: *mut c_char, length: *mut c_int) -> c_int {
    let win = WINDOW::to_standard(win);
    // SAFETY: as above.
    unsafe {
        cut(name, length, OBJECT_NAME, |text, length| {
            standard::MPI_Win_get_name(win, text, length)
        })
    }
}

#[foreign]
unsafe extern "C" fn MPI_Error_string(code: c_int, text: *mut c_char, length: *mut c_int) -> c_int {
    let code = ERROR_CODE::to_standard(code);
    // SAFETY: as above.
    unsafe {
        cut(text, length, ERROR_STRING, |text, length| {
            standard::MPI_Error_string(code, text, length)
        })
    }
}

#[foreign]
unsafe extern "C" fn MPI_Get_library_version(version: *mut c_char, length: *mut c_int) -> c_int {
    // SAFETY: as above.
    unsafe {
        cut(version, length, LIBRARY_VERSION, |text, length| {
            standard::MPI_Get_library_version(text, length)
        })
    }
}

/// That of Open MPI 4's and 5's headers: a program that asks wants to know which of their names mean something.
#[foreign]
unsafe extern "C" fn MPI_Get_version(version: *mut c_int, subversion: *mut c_int) -> c_int {
    if version.is_null() || subversion.is_null() {
        // SAFETY: the call refuses what is null.
        return unsafe { standard::MPI_Get_version(version, subversion) };
    }
    // SAFETY: the program's places.
    unsafe {
        version.write(3);
        subversion.write(1);
    }
    MPI_SUCCESS
}
