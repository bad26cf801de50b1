//! Open MPI's interface for C: types, constants, and handles as integers, which the library for C numbers.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::{null_mut, without_provenance_mut};

pub use weft_abi::callback::*;
pub use weft_abi::{MPI_Aint, MPI_Count, MPI_Offset};

use crate::handle::Handle;

#[repr(C)]
pub struct MPI_Status([c_int; 6]);

pub const MPI_SUCCESS: c_int = 0;
pub const MPI_ERR_IN_STATUS: c_int = 18;
pub const MPI_ERR_CONVERSION: c_int = 25;
pub const MPI_UNDEFINED: c_int = -32766;
pub const MPI_CART: c_int = 1;
pub const MPI_GRAPH: c_int = 2;
pub const MPI_DIST_GRAPH: c_int = 3;
pub const MPI_MAX_DATAREP_STRING: usize = 128;
pub const MPI_MAX_ERROR_STRING: usize = 256;
pub const MPI_MAX_INFO_KEY: usize = 36;
pub const MPI_MAX_LIBRARY_VERSION_STRING: usize = 256;
pub const MPI_MAX_OBJECT_NAME: usize = 64;
pub const MPI_MAX_PORT_NAME: usize = 1024;
pub const MPI_MAX_PROCESSOR_NAME: usize = 256;
pub const MPI_BOTTOM: *mut c_void = null_mut();
pub const MPI_IN_PLACE: *mut c_void = without_provenance_mut(1);
/// Its programs have none.
pub const MPI_BUFFER_AUTOMATIC: *mut c_void = null_mut();
pub const MPI_STATUS_IGNORE: *mut MPI_Status = null_mut();
pub const MPI_ARGV_NULL: *mut *mut c_char = null_mut();
pub const MPI_ARGVS_NULL: *mut *mut *mut c_char = null_mut();
pub const MPI_ERRCODES_IGNORE: *mut c_int = null_mut();

pub fn unweighted() -> *mut c_int {
    without_provenance_mut(2)
}

pub fn weights_empty() -> *mut c_int {
    without_provenance_mut(3)
}

macro_rules! handles {
    ($($name:ident $f2c:ident $c2f:ident $null:literal;)*) => {
        unsafe extern "C" {$(
            safe fn $f2c(number: c_int) -> $name;
            safe fn $c2f(handle: $name) -> c_int;
        )*}
        $(
            /// The address of an object, or null where nothing is stored.
            #[repr(transparent)]
            #[derive(Clone, Copy)]
            pub struct $name(*mut c_void);

            impl Handle for $name {
                const NULL: $name = $name(null_mut());

                #[inline(always)]
                fn of_integer(number: c_int) -> $name {
                    $f2c(number)
                }

                #[inline(always)]
                fn integer(self) -> c_int {
                    match self.0.is_null() {
                        true => $null,
                        false => $c2f(self),
                    }
                }

                fn is_none(self) -> bool {
                    self.integer() == $null
                }
            }
        )*
    };
}

handles! {
    MPI_Comm PMPI_Comm_f2c PMPI_Comm_c2f 2;
    MPI_Datatype PMPI_Type_f2c PMPI_Type_c2f 0;
    MPI_Errhandler PMPI_Errhandler_f2c PMPI_Errhandler_c2f 0;
    MPI_File PMPI_File_f2c PMPI_File_c2f 0;
    MPI_Group PMPI_Group_f2c PMPI_Group_c2f 0;
    MPI_Info PMPI_Info_f2c PMPI_Info_c2f 0;
    MPI_Message PMPI_Message_f2c PMPI_Message_c2f 0;
    MPI_Op PMPI_Op_f2c PMPI_Op_c2f 0;
    MPI_Request PMPI_Request_f2c PMPI_Request_c2f 0;
    MPI_Session PMPI_Session_f2c PMPI_Session_c2f 0;
    MPI_Win PMPI_Win_f2c PMPI_Win_c2f 0;
}

/// C's number of a key.
pub fn attribute_key(number: c_int) -> c_int {
    number
}
