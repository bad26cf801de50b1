//! Routines that C does not have (MPI-5.0 §19.1).

use std::ffi::{c_int, c_void};

use weft_abi_macros::routine;

/// Keeps the compiler from moving accesses to the buffer over this call: that it is called is all it does (§19.1.8).
#[routine]
unsafe extern "C" fn mpi_f_sync_reg_(_buf: *const c_void) {}

macro_rules! sizes {
    ($($name:ident: $bytes:expr;)*) => {$(
        #[routine]
        unsafe extern "C" fn $name(_x: *const c_void, size: *mut c_int, ierror: *mut c_int) {
            // SAFETY: two INTEGERs.
            unsafe {
                *size = $bytes;
                *ierror = weft_abi::MPI_SUCCESS;
            }
        }
    )*};
}

// The generic MPI_SIZEOF of the module `mpi` chooses by the type of its argument (§19.1.9).
sizes! {
    mpi_sizeof_integer1_: 1;
    mpi_sizeof_integer2_: 2;
    mpi_sizeof_integer4_: 4;
    mpi_sizeof_integer8_: 8;
    mpi_sizeof_integer16_: 16;
    mpi_sizeof_real4_: 4;
    mpi_sizeof_real8_: 8;
    mpi_sizeof_real10_: 16;
    mpi_sizeof_real16_: 16;
    mpi_sizeof_complex4_: 8;
    mpi_sizeof_complex8_: 16;
    mpi_sizeof_complex10_: 32;
    mpi_sizeof_complex16_: 32;
    mpi_sizeof_logical1_: 1;
    mpi_sizeof_logical2_: 2;
    mpi_sizeof_logical4_: 4;
    mpi_sizeof_logical8_: 8;
    mpi_sizeof_logical16_: 16;
    mpi_sizeof_character1_: 1;
}
