//! Routines that C does not have (MPI-5.0 §19.1).

use std::ffi::{c_int, c_void};

use crate::abi::{MPI_SUCCESS, MPI_Status};
use weft_abi_macros::routine;

use crate::{descriptor, ierror};

/// Keeps the compiler from moving accesses to the buffer over this call: that it is called is all it does (§19.1.8).
#[routine]
unsafe extern "C" fn mpi_f_sync_reg_(_buf: *const c_void) {}

#[routine]
unsafe extern "C" fn mpi_f_sync_reg_f08ts_(_buf: *const c_void) {}

/// Of any type: a descriptor knows how large an element is.
#[routine]
unsafe extern "C" fn mpi_sizeof_f08ts_(x: *const c_void, size: *mut c_int, ierror: *mut c_int) {
    // SAFETY: a descriptor and two INTEGERs.
    unsafe {
        *size = descriptor::element_size(x) as c_int;
        ierror::store(ierror, MPI_SUCCESS);
    }
}

// A status has the same words in both forms (MPI-5.0 §19.3.5).
macro_rules! status_conversions {
    ($($name:ident)*) => {$(
        #[routine]
        unsafe extern "C" fn $name(from: *const MPI_Status, to: *mut MPI_Status, ierror: *mut c_int) {
            // SAFETY: two statuses, and an INTEGER if there is one.
            unsafe {
                *to = *from;
                ierror::store(ierror, MPI_SUCCESS);
            }
        }
    )*};
}

status_conversions! { mpi_status_f2f08_f08_ mpi_status_f082f_f08_ }

// `==` and `/=` of handles (MPI-5.0 §2.5.1).
macro_rules! operators {
    ($($equal:ident $unequal:ident)*) => {$(
        #[routine]
        unsafe extern "C" fn $equal(a: *const c_int, b: *const c_int) -> c_int {
            // SAFETY: two handles.
            unsafe { (*a == *b).into() }
        }

        #[routine]
        unsafe extern "C" fn $unequal(a: *const c_int, b: *const c_int) -> c_int {
            // SAFETY: two handles.
            unsafe { (*a != *b).into() }
        }
    )*};
}

operators! {
    mpi_comm_eq_f08_ mpi_comm_ne_f08_
    mpi_datatype_eq_f08_ mpi_datatype_ne_f08_
    mpi_errhandler_eq_f08_ mpi_errhandler_ne_f08_
    mpi_file_eq_f08_ mpi_file_ne_f08_
    mpi_group_eq_f08_ mpi_group_ne_f08_
    mpi_info_eq_f08_ mpi_info_ne_f08_
    mpi_message_eq_f08_ mpi_message_ne_f08_
    mpi_op_eq_f08_ mpi_op_ne_f08_
    mpi_request_eq_f08_ mpi_request_ne_f08_
    mpi_session_eq_f08_ mpi_session_ne_f08_
    mpi_win_eq_f08_ mpi_win_ne_f08_
}
