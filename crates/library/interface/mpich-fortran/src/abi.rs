//! MPICH's interface for C: types, constants, and handles as integers, which are the same but of files.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::{null_mut, without_provenance_mut};

pub use weft_abi::callback::*;
pub use weft_abi::{MPI_Aint, MPI_Count, MPI_Offset};

use crate::dimension::Dimension;
use crate::handle::Handle;

#[repr(C)]
pub struct MPI_Status([c_int; 5]);

pub const MPI_SUCCESS: c_int = 0;
pub const MPI_ERR_BUFFER: c_int = 1;
pub const MPI_ERR_IN_STATUS: c_int = 17;
pub const MPI_ERR_CONVERSION: c_int = 23;
pub const MPI_UNDEFINED: c_int = -32766;
pub const MPI_GRAPH: c_int = 1;
pub const MPI_CART: c_int = 2;
pub const MPI_DIST_GRAPH: c_int = 3;
pub const MPI_MAX_DATAREP_STRING: usize = 128;
pub const MPI_MAX_ERROR_STRING: usize = 512;
pub const MPI_MAX_INFO_KEY: usize = 255;
pub const MPI_MAX_LIBRARY_VERSION_STRING: usize = 8192;
pub const MPI_MAX_OBJECT_NAME: usize = 128;
pub const MPI_MAX_PORT_NAME: usize = 256;
pub const MPI_MAX_PROCESSOR_NAME: usize = 128;
pub const MPI_BOTTOM: *mut c_void = null_mut();
pub const MPI_IN_PLACE: *mut c_void = without_provenance_mut(usize::MAX);
pub const MPI_BUFFER_AUTOMATIC: *mut c_void = without_provenance_mut(usize::MAX - 1);
pub const MPI_STATUS_IGNORE: *mut MPI_Status = without_provenance_mut(1);
pub const MPI_ARGV_NULL: *mut *mut c_char = null_mut();
pub const MPI_ARGVS_NULL: *mut *mut *mut c_char = null_mut();
pub const MPI_ERRCODES_IGNORE: *mut c_int = null_mut();

macro_rules! handles {
    ($($name:ident = $null:literal;)*) => {$(
        #[repr(transparent)]
        #[derive(Clone, Copy)]
        pub struct $name(c_int);

        impl Handle for $name {
            const NULL: $name = $name($null);

            #[inline(always)]
            fn of_integer(number: c_int) -> $name {
                $name(number)
            }

            #[inline(always)]
            fn integer(self) -> c_int {
                self.0
            }

            fn is_none(self) -> bool {
                self.0 == $null
            }
        }
    )*};
}

handles! {
    MPI_Comm = 0x0400_0000;
    MPI_Datatype = 0x0c00_0000;
    MPI_Errhandler = 0x1400_0000;
    MPI_Group = 0x0800_0000;
    MPI_Info = 0x1c00_0000;
    MPI_Message = 0x2c00_0000;
    MPI_Op = 0x1800_0000;
    MPI_Request = 0x2c00_0000;
    MPI_Session = 0x3800_0000;
    MPI_Win = 0x2000_0000;
}

/// A pointer in C.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct MPI_File(*mut c_void);

unsafe extern "C" {
    safe fn PMPI_File_f2c(number: c_int) -> MPI_File;
    safe fn PMPI_File_c2f(file: MPI_File) -> c_int;
}

impl Handle for MPI_File {
    const NULL: MPI_File = MPI_File(null_mut());

    fn of_integer(number: c_int) -> MPI_File {
        PMPI_File_f2c(number)
    }

    fn integer(self) -> c_int {
        PMPI_File_c2f(self)
    }

    fn is_none(self) -> bool {
        self.0.is_null()
    }
}

/// What is done before or after an operation.
pub type Hook = unsafe extern "C" fn(*mut c_void);

// What the library for C has for this one alone.
unsafe extern "C" {
    #[link_name = "weft_mpich_type_in_section"]
    pub fn weft_type_in_section(
        datatype: MPI_Datatype,
        base: *mut c_void,
        element: usize,
        rank: usize,
        dimensions: *const Dimension,
    ) -> MPI_Datatype;
    #[link_name = "weft_mpich_follow"]
    pub fn weft_follow(
        request: *mut MPI_Request,
        comm: MPI_Comm,
        state: *mut c_void,
        before: Hook,
        after: Hook,
        release: Hook,
    ) -> c_int;
    static MPI_UNWEIGHTED: *mut c_int;
    static MPI_WEIGHTS_EMPTY: *mut c_int;
}

pub fn unweighted() -> *mut c_int {
    // SAFETY: nobody changes it.
    unsafe { MPI_UNWEIGHTED }
}

pub fn weights_empty() -> *mut c_int {
    // SAFETY: as above.
    unsafe { MPI_WEIGHTS_EMPTY }
}

/// C's number of a key: a predefined one has in Fortran a number of its own, which is the next, for its value is another.
pub fn attribute_key(number: c_int) -> c_int {
    match number {
        0x6440_0000..0x6440_0010 | 0x6600_0000..0x6600_0010 => number - 1,
        own => own,
    }
}
