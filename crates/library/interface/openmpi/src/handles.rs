//! Handles: addresses of objects that begin with the standard's handle (`objects`), or one of our own as it is, whose upper
//! bits say its kind, as no address has any.

use std::ffi::c_void;
use std::ptr::without_provenance_mut;

use weft_abi::*;
use weft_foreign::convert::Kind;

use crate::objects::{self, NOTHING, Predefined};

pub type Handle = *mut c_void;

/// The word in which a function of the program's is given a handle.
pub fn word(handle: Handle) -> usize {
    handle.addr()
}

/// Own handles are numbers from here on; addresses of a process are below 2^56.
const FIRST_OWN: usize = 1 << 60;
/// No object lies below, and the standard's predefined handles do.
const PREDEFINED_END: usize = NOTHING + 1;
/// The number of a handle that no call stores.
const UNTOUCHED: usize = usize::MAX;

/// `MPI_LB`, which is a datatype in a structure's list only.
pub fn lower_bound() -> Handle {
    (&raw const objects::ompi_mpi_lb).cast_mut().cast()
}

/// `MPI_UB`, likewise.
pub fn upper_bound() -> Handle {
    (&raw const objects::ompi_mpi_ub).cast_mut().cast()
}

pub fn is_own(handle: usize) -> bool {
    handle >= FIRST_OWN
}

/// Whether a handle is the address of an object: neither below all of them nor one of our own.
#[inline]
fn is_object(foreign: Handle) -> bool {
    // What is below wraps to a large number. Half, as the first of our own become a little less than `FIRST_OWN`.
    foreign.addr().wrapping_sub(PREDEFINED_END) < FIRST_OWN / 2
}

/// The standard's handle of an object.
#[inline]
fn of_object(foreign: Handle) -> usize {
    // SAFETY: the program passes a handle, which is the address of an object here or of its copy of one.
    unsafe { foreign.cast::<usize>().read_unaligned() }
}

/// The standard's handle of one that may be anything.
#[inline]
fn standard(foreign: Handle) -> usize {
    match foreign.addr() {
        own if is_own(own) => own,
        _ if is_object(foreign) => of_object(foreign).min(NOTHING),
        _ => NOTHING,
    }
}

/// The program's handle of one of the standard's; null if that names nothing.
#[inline]
fn foreign(standard: usize, all: impl FnOnce() -> Option<Predefined>) -> Handle {
    match is_own(standard) {
        true => without_provenance_mut(standard),
        false => all().map_or(std::ptr::null_mut(), |one| {
            without_provenance_mut(one.address)
        }),
    }
}

macro_rules! handles {
    ($($name:ident = $c:ty, $all:path;)*) => {$(
        pub struct $name;

        impl Kind for $name {
            type Foreign = Handle;
            type Standard = $c;
            const UNTOUCHED: $c = without_provenance_mut(UNTOUCHED);

            #[inline]
            fn to_standard(foreign: Handle) -> $c {
                without_provenance_mut(standard(foreign))
            }

            #[inline]
            fn to_foreign(standard: $c) -> Handle {
                foreign(standard.addr(), || $all().find(|one| one.standard == standard.addr()))
            }

            #[inline]
            fn is_usual(foreign: Handle) -> bool {
                is_object(foreign)
            }

            #[inline]
            fn usual(foreign: Handle) -> $c {
                without_provenance_mut(of_object(foreign))
            }

            #[inline]
            unsafe fn store(place: *mut Handle, standard: $c, before: $c) {
                if standard != before && standard.addr() != NOTHING {
                    // SAFETY: by this function's contract.
                    unsafe { place.write_unaligned(Self::to_foreign(standard)) };
                }
            }
        }
    )*};
}

handles! {
    COMMUNICATOR = MPI_Comm, objects::communicators;
    DATATYPE = MPI_Datatype, objects::datatypes;
    ERRHANDLER = MPI_Errhandler, objects::errhandlers;
    FILE = MPI_File, objects::files;
    GROUP = MPI_Group, objects::groups;
    INFO = MPI_Info, objects::infos;
    MESSAGE = MPI_Message, objects::messages;
    OPERATION = MPI_Op, objects::operations;
    REQUEST = MPI_Request, objects::requests;
    SESSION = MPI_Session, objects::sessions;
    WINDOW = MPI_Win, objects::windows;
}

/// A performance variable's handle: as the standard's, but all of a session are -1.
pub struct PVAR;

impl Kind for PVAR {
    type Foreign = MPI_T_pvar_handle;
    type Standard = MPI_T_pvar_handle;
    const UNTOUCHED: MPI_T_pvar_handle = without_provenance_mut(UNTOUCHED - 1);

    fn to_standard(foreign: MPI_T_pvar_handle) -> MPI_T_pvar_handle {
        match foreign.addr() {
            usize::MAX => MPI_T_PVAR_ALL_HANDLES,
            _ => foreign,
        }
    }

    fn to_foreign(standard: MPI_T_pvar_handle) -> MPI_T_pvar_handle {
        standard
    }
}
