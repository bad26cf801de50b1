//! Data and functions that programs use by name.

use std::ffi::{c_int, c_void};

use weft_abi::MPI_SUCCESS;

use crate::handles::Handle;

/// An address that stands in a variable.
#[repr(transparent)]
pub struct Pointer(*const c_int);

// SAFETY: the address is of a static, and nobody changes it.
unsafe impl Sync for Pointer {}

impl Pointer {
    pub const fn to(address: *const c_int) -> Pointer {
        Pointer(address)
    }
}

/// Room for an info key, with the terminating null.
pub const MAX_INFO_KEY: usize = 36;

/// The predefined functions of attributes, which do as the standard says of them (MPI-5.0 §7.7.2).
macro_rules! attribute_functions {
    ($($null_copy:ident $dup:ident $null_delete:ident;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $null_copy(
            _object: Handle,
            _keyval: c_int,
            _extra_state: *mut c_void,
            _attribute_in: *mut c_void,
            _attribute_out: *mut c_void,
            flag: *mut c_int,
        ) -> c_int {
            // SAFETY: the caller passes a place for a flag.
            unsafe { flag.write(0) };
            MPI_SUCCESS
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $dup(
            _object: Handle,
            _keyval: c_int,
            _extra_state: *mut c_void,
            attribute_in: *mut c_void,
            attribute_out: *mut c_void,
            flag: *mut c_int,
        ) -> c_int {
            // SAFETY: the caller passes places for an address and a flag.
            unsafe {
                attribute_out.cast::<*mut c_void>().write_unaligned(attribute_in);
                flag.write(1);
            }
            MPI_SUCCESS
        }

        #[unsafe(no_mangle)]
        pub extern "C" fn $null_delete(
            _object: Handle,
            _keyval: c_int,
            _attribute: *mut c_void,
            _extra_state: *mut c_void,
        ) -> c_int {
            MPI_SUCCESS
        }
    )*};
}

attribute_functions! {
    OMPI_C_MPI_COMM_NULL_COPY_FN OMPI_C_MPI_COMM_DUP_FN OMPI_C_MPI_COMM_NULL_DELETE_FN;
    OMPI_C_MPI_TYPE_NULL_COPY_FN OMPI_C_MPI_TYPE_DUP_FN OMPI_C_MPI_TYPE_NULL_DELETE_FN;
    OMPI_C_MPI_WIN_NULL_COPY_FN OMPI_C_MPI_WIN_DUP_FN OMPI_C_MPI_WIN_NULL_DELETE_FN;
    OMPI_C_MPI_NULL_COPY_FN OMPI_C_MPI_DUP_FN OMPI_C_MPI_NULL_DELETE_FN;
}

/// Whether the library takes buffers in a device's memory: it does not.
#[unsafe(no_mangle)]
pub extern "C" fn MPIX_Query_cuda_support() -> c_int {
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn MPIX_Query_rocm_support() -> c_int {
    0
}
