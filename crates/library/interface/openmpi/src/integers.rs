//! Handles in Fortran's form, and by the standard ABI's functions: a predefined one has Open MPI's number, one of our own the
//! standard ABI's, which is negative.

use std::ffi::c_int;
use std::ptr::{null_mut, without_provenance_mut};

use mpi_abi::integer::{self, kind};
use weft_abi_macros::foreign;
use weft_foreign::convert::Kind;

use crate::handles::{Handle, is_own};
use crate::kinds::*;
use crate::objects::{self, Predefined};

/// What a handle has that names nothing.
const NO_NUMBER: c_int = -1;

fn number(handle: usize, mut all: impl Iterator<Item = Predefined>) -> c_int {
    let found = all.find(|one| one.number >= 0 && [one.address, one.standard].contains(&handle));
    found.map_or(NO_NUMBER, |one| one.number)
}

fn handle(number: c_int, mut all: impl Iterator<Item = Predefined>) -> Handle {
    let found = all.find(|one| number >= 0 && one.number == number);
    found.map_or(null_mut(), |one| without_provenance_mut(one.address))
}

fn own(handle: Option<usize>) -> Handle {
    handle.map_or(null_mut(), without_provenance_mut)
}

macro_rules! integers {
    ($($kind:ident $all:ident $toint:ident $fromint:ident $c2f:ident $f2c:ident, $of:path, $to:expr;)*) => {$(
        #[foreign]
        pub extern "C" fn $toint(object: Handle) -> c_int {
            match $kind::to_standard(object).addr() {
                own if is_own(own) => $of(own),
                // Of two objects for one handle each has its number.
                _ if objects::$all().any(|one| one.address == object.addr()) => {
                    number(object.addr(), objects::$all())
                }
                standard => number(standard, objects::$all()),
            }
        }

        #[foreign]
        extern "C" fn $fromint(integer: c_int) -> Handle {
            let to: fn(c_int) -> Option<usize> = $to;
            match integer {
                0.. => handle(integer, objects::$all()),
                _ => own(to(integer)),
            }
        }

        #[foreign]
        extern "C" fn $c2f(object: Handle) -> c_int {
            $toint(object)
        }

        #[foreign]
        extern "C" fn $f2c(integer: c_int) -> Handle {
            $fromint(integer)
        }
    )*};
}

integers! {
    COMMUNICATOR communicators MPI_Comm_toint MPI_Comm_fromint MPI_Comm_c2f MPI_Comm_f2c,
        integer::of_handle, |number| integer::of_kind(kind::COMM, number);
    ERRHANDLER errhandlers MPI_Errhandler_toint MPI_Errhandler_fromint MPI_Errhandler_c2f MPI_Errhandler_f2c,
        integer::of_handle, |number| integer::of_kind(kind::ERRHANDLER, number);
    FILE files MPI_File_toint MPI_File_fromint MPI_File_c2f MPI_File_f2c,
        integer::of_handle, |number| integer::of_kind(kind::FILE, number);
    GROUP groups MPI_Group_toint MPI_Group_fromint MPI_Group_c2f MPI_Group_f2c,
        integer::of_handle, |number| integer::of_kind(kind::GROUP, number);
    INFO infos MPI_Info_toint MPI_Info_fromint MPI_Info_c2f MPI_Info_f2c,
        integer::of_handle, |number| integer::of_kind(kind::INFO, number);
    MESSAGE messages MPI_Message_toint MPI_Message_fromint MPI_Message_c2f MPI_Message_f2c,
        integer::of_handle, |number| integer::of_kind(kind::MESSAGE, number);
    OPERATION operations MPI_Op_toint MPI_Op_fromint MPI_Op_c2f MPI_Op_f2c,
        integer::of_handle, |number| integer::of_kind(kind::OP, number);
    REQUEST requests MPI_Request_toint MPI_Request_fromint MPI_Request_c2f MPI_Request_f2c,
        integer::of_request, integer::request;
    SESSION sessions MPI_Session_toint MPI_Session_fromint MPI_Session_c2f MPI_Session_f2c,
        integer::of_handle, |number| integer::of_kind(kind::SESSION, number);
    DATATYPE datatypes MPI_Type_toint MPI_Type_fromint MPI_Type_c2f MPI_Type_f2c,
        integer::of_handle, |number| integer::of_kind(kind::DATATYPE, number);
    WINDOW windows MPI_Win_toint MPI_Win_fromint MPI_Win_c2f MPI_Win_f2c,
        integer::of_handle, |number| integer::of_kind(kind::WINDOW, number);
}
