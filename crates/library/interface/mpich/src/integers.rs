//! Handles in Fortran's form and by the ABI's functions.

use std::ffi::{c_int, c_void};

use weft_abi::*;
use weft_abi_macros::foreign;
use weft_foreign::convert::Kind;

use crate::functions::standard;
use crate::handles::Handle;
use crate::kinds::FILE;

/// The same integers as in C.
macro_rules! integers {
    ($($toint:ident $fromint:ident $c2f:ident $f2c:ident;)*) => {$(
        #[foreign]
        pub extern "C" fn $toint(handle: Handle) -> c_int {
            handle
        }

        #[foreign]
        extern "C" fn $fromint(handle: c_int) -> Handle {
            handle
        }

        #[foreign]
        extern "C" fn $c2f(handle: Handle) -> c_int {
            handle
        }

        #[foreign]
        extern "C" fn $f2c(handle: c_int) -> Handle {
            handle
        }
    )*};
}

integers! {
    MPI_Comm_toint MPI_Comm_fromint MPI_Comm_c2f MPI_Comm_f2c;
    MPI_Errhandler_toint MPI_Errhandler_fromint MPI_Errhandler_c2f MPI_Errhandler_f2c;
    MPI_Group_toint MPI_Group_fromint MPI_Group_c2f MPI_Group_f2c;
    MPI_Info_toint MPI_Info_fromint MPI_Info_c2f MPI_Info_f2c;
    MPI_Message_toint MPI_Message_fromint MPI_Message_c2f MPI_Message_f2c;
    MPI_Op_toint MPI_Op_fromint MPI_Op_c2f MPI_Op_f2c;
    MPI_Request_toint MPI_Request_fromint MPI_Request_c2f MPI_Request_f2c;
    MPI_Session_toint MPI_Session_fromint MPI_Session_c2f MPI_Session_f2c;
    MPI_Type_toint MPI_Type_fromint MPI_Type_c2f MPI_Type_f2c;
    MPI_Win_toint MPI_Win_fromint MPI_Win_c2f MPI_Win_f2c;
}

/// A file is a pointer, and so has a number in Fortran.
#[foreign]
pub extern "C" fn MPI_File_toint(file: *mut c_void) -> c_int {
    match FILE::to_standard(file) {
        MPI_FILE_NULL => 0,
        // SAFETY: the conversion follows no pointer.
        file => unsafe { standard::MPI_File_toint(file) },
    }
}

#[foreign]
unsafe extern "C" fn MPI_File_fromint(file: c_int) -> *mut c_void {
    match file {
        0.. => std::ptr::null_mut(),
        // SAFETY: as above.
        _ => FILE::to_foreign(unsafe { standard::MPI_File_fromint(file) }),
    }
}

#[foreign]
extern "C" fn MPI_File_c2f(file: *mut c_void) -> c_int {
    MPI_File_toint(file)
}

#[foreign]
unsafe extern "C" fn MPI_File_f2c(file: c_int) -> *mut c_void {
    // SAFETY: as the caller has promised.
    unsafe { MPI_File_fromint(file) }
}
