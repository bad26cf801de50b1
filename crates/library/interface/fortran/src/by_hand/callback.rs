//! Routines that take functions of the program's, which the library calls as Fortran has them.

use std::ffi::{c_int, c_void};
use std::mem::transmute;
use std::ptr::without_provenance_mut;

use crate::abi::*;
use weft_abi_macros::routine;

use crate::handle::Handle;
use crate::ierror;
use crate::language::{Width, calling};
use crate::routines::c;

/// A function of the program's.
type Address = *const ();

#[routine]
unsafe extern "C" fn mpi_op_create_(
    user_fn: Address,
    commute: *const c_int,
    op: *mut c_void,
    ierror: *mut c_int,
) {
    let mut made = MPI_Op::NULL;
    // SAFETY: Fortran's caller passes what the standard asks of each parameter.
    unsafe {
        let function = transmute::<Address, MPI_User_function>(user_fn);
        ierror::store(
            ierror,
            calling(Width::Address, || {
                c::MPI_Op_create(function, *commute, &mut made)
            }),
        );
        made.into_fortran(op);
    }
}

#[routine]
unsafe extern "C" fn mpi_op_create_c_f08_(
    user_fn: Address,
    commute: *const c_int,
    op: *mut c_void,
    ierror: *mut c_int,
) {
    let mut made = MPI_Op::NULL;
    // SAFETY: as above.
    unsafe {
        let function = transmute::<Address, MPI_User_function_c>(user_fn);
        let code = calling(Width::Address, || {
            c::MPI_Op_create_c(function, *commute, &mut made)
        });
        ierror::store(ierror, code);
        made.into_fortran(op);
    }
}

macro_rules! error_handlers {
    ($($create:ident = $c_create:ident<$function:ty>;)*) => {$(
        #[routine]
        unsafe extern "C" fn $create(function: Address, errhandler: *mut c_void, ierror: *mut c_int) {
            let mut made = MPI_Errhandler::NULL;
            // SAFETY: as above.
            unsafe {
                let function = transmute::<Address, $function>(function);
                ierror::store(ierror, calling(Width::Address, || c::$c_create(function, &mut made)));
                made.into_fortran(errhandler);
            }
        }
    )*};
}

error_handlers! {
    mpi_comm_create_errhandler_ = MPI_Comm_create_errhandler<MPI_Comm_errhandler_function>;
    mpi_file_create_errhandler_ = MPI_File_create_errhandler<MPI_File_errhandler_function>;
    mpi_session_create_errhandler_ = MPI_Session_create_errhandler<MPI_Session_errhandler_function>;
    mpi_win_create_errhandler_ = MPI_Win_create_errhandler<MPI_Win_errhandler_function>;
}

#[routine]
unsafe extern "C" fn mpi_grequest_start_(
    query_fn: Address,
    free_fn: Address,
    cancel_fn: Address,
    extra_state: *const isize,
    request: *mut c_void,
    ierror: *mut c_int,
) {
    let mut made = MPI_Request::NULL;
    // SAFETY: as above.
    unsafe {
        let query = transmute::<Address, MPI_Grequest_query_function>(query_fn);
        let free = transmute::<Address, MPI_Grequest_free_function>(free_fn);
        let cancel = transmute::<Address, MPI_Grequest_cancel_function>(cancel_fn);
        let extra_state = without_provenance_mut((*extra_state).cast_unsigned());
        ierror::store(
            ierror,
            calling(Width::Address, || {
                c::MPI_Grequest_start(query, free, cancel, extra_state, &mut made)
            }),
        );
        made.into_fortran(request);
    }
}
