//! Data and functions that programs use by name.

use std::ffi::{c_int, c_void};

use weft_abi::MPI_SUCCESS;

/// An address that stands in a variable.
#[repr(transparent)]
pub struct Pointer(*const c_int);

// SAFETY: the address is of a static, and nobody changes it.
unsafe impl Sync for Pointer {}

static PLACES: [c_int; 3] = [0; 3];

#[unsafe(no_mangle)]
pub static MPI_UNWEIGHTED: Pointer = Pointer(&PLACES[0]);
#[unsafe(no_mangle)]
pub static MPI_WEIGHTS_EMPTY: Pointer = Pointer(&PLACES[1]);
#[unsafe(no_mangle)]
pub static MPI_T_PVAR_ALL_HANDLES: Pointer = Pointer(&PLACES[2]);

#[unsafe(no_mangle)]
pub static MPIR_F08_MPI_STATUS_IGNORE_OBJ: [c_int; 5] = [0; 5];
#[unsafe(no_mangle)]
pub static MPIR_F08_MPI_STATUSES_IGNORE_OBJ: [c_int; 5] = [0; 5];

pub fn unweighted() -> *mut c_int {
    (&raw const PLACES[0]).cast_mut()
}

pub fn weights_empty() -> *mut c_int {
    (&raw const PLACES[1]).cast_mut()
}

pub fn all_handles() -> usize {
    (&raw const PLACES[2]).addr()
}

/// Room for an info key, with the terminating null.
pub const MAX_INFO_KEY: usize = 255;

/// `MPI_DUP_FN`, `MPI_COMM_DUP_FN` and so on: copies the word (MPI-5.0 §7.7.2). The library knows it by its address, and
/// programs may call it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIR_Dup_fn(
    _object: c_int,
    _keyval: c_int,
    _extra_state: *mut c_void,
    attribute_in: *mut c_void,
    attribute_out: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: the caller passes places for an address and a flag.
    unsafe {
        attribute_out
            .cast::<*mut c_void>()
            .write_unaligned(attribute_in);
        flag.write(1);
    }
    MPI_SUCCESS
}

pub fn duplicating() -> usize {
    MPIR_Dup_fn as *const () as usize
}

/// Whether the library takes buffers in a device's memory: it does not.
#[unsafe(no_mangle)]
pub extern "C" fn MPIX_Query_cuda_support() -> c_int {
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIX_Query_hip_support() -> c_int {
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIX_Query_ze_support() -> c_int {
    0
}

/// The same by the kind of device.
///
/// # Safety
/// A place for an `int` stands at the address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_GPU_query_support(_kind: c_int, is_supported: *mut c_int) -> c_int {
    // SAFETY: by this function's contract.
    unsafe { is_supported.write(0) };
    MPI_SUCCESS
}
