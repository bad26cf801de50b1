//! C's interface: types, constants, and handles as integers.

use std::ffi::{c_int, c_void};
use std::ptr::without_provenance_mut;

pub use weft_abi::*;

use crate::dimension::Dimension;
use crate::handle::Handle;

/// Predefined handles are the same number in both languages, and no other number below it is a handle's.
const PREDEFINED_END: usize = 4096;

macro_rules! handles {
    ($($c:ty, $null:ident, $fromint:ident, $toint:ident;)*) => {
        unsafe extern "C" {$(
            safe fn $fromint(number: c_int) -> $c;
            safe fn $toint(handle: $c) -> c_int;
        )*}
        $(
            impl Handle for $c {
                const NULL: $c = $null;

                #[inline(always)]
                fn of_integer(number: c_int) -> $c {
                    match number {
                        0..4096 => without_provenance_mut(number as usize),
                        _ => $fromint(number),
                    }
                }

                #[inline(always)]
                fn integer(self) -> c_int {
                    match self.addr() {
                        number @ 0..PREDEFINED_END => number as c_int,
                        _ => $toint(self),
                    }
                }

                #[inline(always)]
                fn is_none(self) -> bool {
                    self == $null
                }
            }
        )*
    };
}

handles! {
    MPI_Comm, MPI_COMM_NULL, PMPI_Comm_fromint, PMPI_Comm_toint;
    MPI_Datatype, MPI_DATATYPE_NULL, PMPI_Type_fromint, PMPI_Type_toint;
    MPI_Errhandler, MPI_ERRHANDLER_NULL, PMPI_Errhandler_fromint, PMPI_Errhandler_toint;
    MPI_File, MPI_FILE_NULL, PMPI_File_fromint, PMPI_File_toint;
    MPI_Group, MPI_GROUP_NULL, PMPI_Group_fromint, PMPI_Group_toint;
    MPI_Info, MPI_INFO_NULL, PMPI_Info_fromint, PMPI_Info_toint;
    MPI_Message, MPI_MESSAGE_NULL, PMPI_Message_fromint, PMPI_Message_toint;
    MPI_Op, MPI_OP_NULL, PMPI_Op_fromint, PMPI_Op_toint;
    MPI_Request, MPI_REQUEST_NULL, PMPI_Request_fromint, PMPI_Request_toint;
    MPI_Session, MPI_SESSION_NULL, PMPI_Session_fromint, PMPI_Session_toint;
    MPI_Win, MPI_WIN_NULL, PMPI_Win_fromint, PMPI_Win_toint;
}

/// What is done before or after an operation.
pub type Hook = unsafe extern "C" fn(*mut c_void);

// What the library for C has for this one alone.
unsafe extern "C" {
    pub fn weft_type_in_section(
        datatype: MPI_Datatype,
        base: *mut c_void,
        element: usize,
        rank: usize,
        dimensions: *const Dimension,
    ) -> MPI_Datatype;
    pub fn weft_follow(
        request: *mut MPI_Request,
        comm: MPI_Comm,
        state: *mut c_void,
        before: Hook,
        after: Hook,
        release: Hook,
    ) -> c_int;
}

pub fn unweighted() -> *mut c_int {
    MPI_UNWEIGHTED
}

pub fn weights_empty() -> *mut c_int {
    MPI_WEIGHTS_EMPTY
}

/// C's number of a key.
pub fn attribute_key(number: c_int) -> c_int {
    number
}
