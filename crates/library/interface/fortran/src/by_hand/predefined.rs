//! The predefined functions of attribute keys (MPI-5.0 §7.7, §16.1): procedures of Fortran's, which the library calls as any.

use std::ffi::c_int;

use crate::abi::MPI_SUCCESS;
use weft_abi_macros::routine;

const FALSE: c_int = 0;
const TRUE: c_int = 1;

macro_rules! functions {
    ($($number:ty, $null_copy:ident, $dup:ident, $null_delete:ident;)*) => {$(
        #[routine]
        unsafe extern "C" fn $null_copy(
            _object: *const c_int,
            _keyval: *const c_int,
            _extra_state: *const $number,
            _attribute_val_in: *const $number,
            _attribute_val_out: *mut $number,
            flag: *mut c_int,
            ierror: *mut c_int,
        ) {
            // SAFETY: the caller passes what the standard asks of each parameter.
            unsafe {
                *flag = FALSE;
                *ierror = MPI_SUCCESS;
            }
        }

        #[routine]
        unsafe extern "C" fn $dup(
            _object: *const c_int,
            _keyval: *const c_int,
            _extra_state: *const $number,
            attribute_val_in: *const $number,
            attribute_val_out: *mut $number,
            flag: *mut c_int,
            ierror: *mut c_int,
        ) {
            // SAFETY: as above.
            unsafe {
                *attribute_val_out = *attribute_val_in;
                *flag = TRUE;
                *ierror = MPI_SUCCESS;
            }
        }

        #[routine]
        unsafe extern "C" fn $null_delete(
            _object: *const c_int,
            _keyval: *const c_int,
            _attribute_val: *const $number,
            _extra_state: *const $number,
            ierror: *mut c_int,
        ) {
            // SAFETY: as above.
            unsafe { *ierror = MPI_SUCCESS };
        }
    )*};
}

functions! {
    isize, mpi_comm_null_copy_fn_, mpi_comm_dup_fn_, mpi_comm_null_delete_fn_;
    isize, mpi_type_null_copy_fn_, mpi_type_dup_fn_, mpi_type_null_delete_fn_;
    isize, mpi_win_null_copy_fn_, mpi_win_dup_fn_, mpi_win_null_delete_fn_;
    c_int, mpi_null_copy_fn_, mpi_dup_fn_, mpi_null_delete_fn_;
}
