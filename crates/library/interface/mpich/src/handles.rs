//! Handles: an `int`, but of files.
//!
//! A predefined one has its kind and number in its bits. One of our own is the standard ABI's integer form of it, which is
//! negative: in no predefined one are both upper bits set. Only the integers of the two requests that are complete from the
//! start begin with 10, as pair types do, which are no requests.

use std::ffi::{c_int, c_void};
use std::ptr::without_provenance_mut;

use mpi_abi::integer::{self, kind};
use weft_abi::*;

use crate::symbols;
use weft_foreign::convert::Kind;

/// But of files.
pub type Handle = c_int;

/// The word in which a function of the program's is given a handle.
pub fn word(handle: Handle) -> usize {
    handle.cast_unsigned() as usize
}

/// `MPI_LB`, which is a datatype in a structure's list only.
pub fn lower_bound() -> Handle {
    0x4c00_0010
}

/// `MPI_UB`, likewise.
pub fn upper_bound() -> Handle {
    0x4c00_0011
}

/// A handle below the last predefined one that names nothing.
const NOTHING: usize = 4095;
/// The number of a handle that no call stores.
const UNTOUCHED: usize = usize::MAX;

/// Kinds of handles: the predefined ones, MPICH's and the standard's, and the library's kind.
macro_rules! handles {
    ($($name:ident = $c:ty, $kind:expr, $of:path { $($foreign:literal = $standard:ident,)* } $([usual $usual:literal = $usual_standard:ident])?)*) => {$(
        pub struct $name;

        impl Kind for $name {
            type Foreign = c_int;
            type Standard = $c;
            const UNTOUCHED: $c = without_provenance_mut(UNTOUCHED);

            #[inline]
            fn to_standard(foreign: c_int) -> $c {
                match foreign.cast_unsigned() {
                    $($foreign => $standard,)*
                    _ => without_provenance_mut(own($kind, foreign)),
                }
            }

            #[inline]
            fn to_foreign(standard: $c) -> c_int {
                $(if standard == $standard {
                    return ($foreign as u32).cast_signed();
                })*
                $of(standard.addr())
            }

            $(
                #[inline]
                fn is_usual(foreign: c_int) -> bool {
                    foreign == $usual
                }

                #[inline]
                fn usual(_: c_int) -> $c {
                    $usual_standard
                }
            )?

            #[inline]
            unsafe fn store(place: *mut c_int, standard: $c, before: $c) {
                if standard != before && standard.addr() != NOTHING {
                    // SAFETY: by this function's contract.
                    unsafe { place.write_unaligned(Self::to_foreign(standard)) };
                }
            }
        }
    )*};
}

/// One of our own.
#[inline]
fn own(kind: u8, foreign: c_int) -> usize {
    let found = match foreign < 0 {
        true if kind == kind::REQUEST => integer::request(foreign),
        true => integer::of_kind(kind, foreign),
        false => None,
    };
    found.unwrap_or(NOTHING)
}

handles! {
    COMMUNICATOR = MPI_Comm, kind::COMM, integer::of_handle {
        0x4400_0000 = MPI_COMM_WORLD, 0x4400_0001 = MPI_COMM_SELF, 0x0400_0000 = MPI_COMM_NULL,
    }
    [usual 0x4400_0000 = MPI_COMM_WORLD]
    ERRHANDLER = MPI_Errhandler, kind::ERRHANDLER, integer::of_handle {
        0x1400_0000 = MPI_ERRHANDLER_NULL, 0x5400_0000 = MPI_ERRORS_ARE_FATAL, 0x5400_0001 = MPI_ERRORS_RETURN,
        0x5400_0003 = MPI_ERRORS_ABORT,
    }
    GROUP = MPI_Group, kind::GROUP, integer::of_handle {
        0x0800_0000 = MPI_GROUP_NULL, 0x4800_0000 = MPI_GROUP_EMPTY,
    }
    INFO = MPI_Info, kind::INFO, integer::of_handle {
        0x1c00_0000 = MPI_INFO_NULL, 0x5c00_0001 = MPI_INFO_ENV,
    }
    MESSAGE = MPI_Message, kind::MESSAGE, integer::of_handle {
        0x2c00_0000 = MPI_MESSAGE_NULL, 0x6c00_0000 = MPI_MESSAGE_NO_PROC,
    }
    OPERATION = MPI_Op, kind::OP, integer::of_handle {
        0x1800_0000 = MPI_OP_NULL, 0x5800_0001 = MPI_MAX, 0x5800_0002 = MPI_MIN, 0x5800_0003 = MPI_SUM,
        0x5800_0004 = MPI_PROD, 0x5800_0005 = MPI_LAND, 0x5800_0006 = MPI_BAND, 0x5800_0007 = MPI_LOR,
        0x5800_0008 = MPI_BOR, 0x5800_0009 = MPI_LXOR, 0x5800_000a = MPI_BXOR, 0x5800_000b = MPI_MINLOC,
        0x5800_000c = MPI_MAXLOC, 0x5800_000d = MPI_REPLACE, 0x5800_000e = MPI_NO_OP,
    }
    REQUEST = MPI_Request, kind::REQUEST, integer::of_request { 0x2c00_0000 = MPI_REQUEST_NULL, }
    SESSION = MPI_Session, kind::SESSION, integer::of_handle { 0x3800_0000 = MPI_SESSION_NULL, }
    WINDOW = MPI_Win, kind::WINDOW, integer::of_handle { 0x2000_0000 = MPI_WIN_NULL, }
}

/// The predefined datatypes, by MPICH's handle. It has the size in its second byte, the number in its first.
const DATATYPES: [(u32, MPI_Datatype); 72] = [
    (0x4c00_0101, MPI_CHAR),
    (0x4c00_0102, MPI_UNSIGNED_CHAR),
    (0x4c00_0203, MPI_SHORT),
    (0x4c00_0204, MPI_UNSIGNED_SHORT),
    (0x4c00_0405, MPI_INT),
    (0x4c00_0406, MPI_UNSIGNED),
    (0x4c00_0807, MPI_LONG),
    (0x4c00_0808, MPI_UNSIGNED_LONG),
    (0x4c00_0809, MPI_LONG_LONG),
    (0x4c00_040a, MPI_FLOAT),
    (0x4c00_080b, MPI_DOUBLE),
    (0x4c00_100c, MPI_LONG_DOUBLE),
    (0x4c00_010d, MPI_BYTE),
    (0x4c00_040e, MPI_WCHAR),
    (0x4c00_010f, MPI_PACKED),
    (0x4c00_0816, MPI_2INT),
    (0x4c00_0118, MPI_SIGNED_CHAR),
    (0x4c00_0819, MPI_UNSIGNED_LONG_LONG),
    (0x4c00_011a, MPI_CHARACTER),
    (0x4c00_041b, MPI_INTEGER),
    (0x4c00_041c, MPI_REAL),
    (0x4c00_041d, MPI_LOGICAL),
    (0x4c00_081e, MPI_COMPLEX),
    (0x4c00_081f, MPI_DOUBLE_PRECISION),
    (0x4c00_0820, MPI_2INTEGER),
    (0x4c00_0821, MPI_2REAL),
    (0x4c00_1022, MPI_DOUBLE_COMPLEX),
    (0x4c00_1023, MPI_2DOUBLE_PRECISION),
    // MPIX_C_FLOAT16, which the standard has in Fortran only: as that one too it is given back.
    (0x4c00_0246, MPI_REAL2),
    (0x4c00_0226, MPI_REAL2),
    (0x4c00_0427, MPI_REAL4),
    (0x4c00_0828, MPI_COMPLEX8),
    (0x4c00_0829, MPI_REAL8),
    (0x4c00_102a, MPI_COMPLEX16),
    (0x4c00_102b, MPI_REAL16),
    (0x4c00_202c, MPI_COMPLEX32),
    (0x4c00_012d, MPI_INTEGER1),
    (0x4c00_042e, MPI_COMPLEX4),
    (0x4c00_022f, MPI_INTEGER2),
    (0x4c00_0430, MPI_INTEGER4),
    (0x4c00_0831, MPI_INTEGER8),
    (0x4c00_1032, MPI_INTEGER16),
    (0x4c00_0133, MPI_CXX_BOOL),
    (0x4c00_0834, MPI_CXX_FLOAT_COMPLEX),
    (0x4c00_1035, MPI_CXX_DOUBLE_COMPLEX),
    (0x4c00_2036, MPI_CXX_LONG_DOUBLE_COMPLEX),
    (0x4c00_0137, MPI_INT8_T),
    (0x4c00_0238, MPI_INT16_T),
    (0x4c00_0439, MPI_INT32_T),
    (0x4c00_083a, MPI_INT64_T),
    (0x4c00_013b, MPI_UINT8_T),
    (0x4c00_023c, MPI_UINT16_T),
    (0x4c00_043d, MPI_UINT32_T),
    (0x4c00_083e, MPI_UINT64_T),
    (0x4c00_013f, MPI_C_BOOL),
    (0x4c00_0840, MPI_C_FLOAT_COMPLEX),
    (0x4c00_1041, MPI_C_DOUBLE_COMPLEX),
    (0x4c00_2042, MPI_C_LONG_DOUBLE_COMPLEX),
    (0x4c00_0843, MPI_AINT),
    (0x4c00_0844, MPI_OFFSET),
    (0x4c00_0845, MPI_COUNT),
    (0x4c00_0147, MPI_LOGICAL1),
    (0x4c00_0248, MPI_LOGICAL2),
    (0x4c00_0449, MPI_LOGICAL4),
    (0x4c00_084a, MPI_LOGICAL8),
    (0x4c00_104b, MPI_LOGICAL16),
    (0x8c00_0000, MPI_FLOAT_INT),
    (0x8c00_0001, MPI_DOUBLE_INT),
    (0x8c00_0002, MPI_LONG_INT),
    (0x8c00_0003, MPI_SHORT_INT),
    (0x8c00_0004, MPI_LONG_DOUBLE_INT),
    (0x0c00_0000, MPI_DATATYPE_NULL),
];

/// The basic types have these upper bytes.
const BASIC: u32 = 0x4c00_0000;
const BASIC_END: u32 = 0x4c01_0000;

/// The basic types of the standard's, by the first byte of MPICH's.
struct Basic([MPI_Datatype; 256]);

// SAFETY: handles are numbers here; nobody follows them.
unsafe impl Sync for Basic {}

static STANDARD: Basic = {
    let mut handles = [without_provenance_mut(NOTHING); 256];
    let mut at = 0;
    while at < DATATYPES.len() {
        let (foreign, standard) = DATATYPES[at];
        if foreign >= BASIC && foreign < BASIC_END {
            handles[(foreign & 0xff) as usize] = standard;
        }
        at += 1;
    }
    Basic(handles)
};

pub struct DATATYPE;

impl Kind for DATATYPE {
    type Foreign = c_int;
    type Standard = MPI_Datatype;
    const UNTOUCHED: MPI_Datatype = without_provenance_mut(UNTOUCHED);

    #[inline]
    fn to_standard(foreign: c_int) -> MPI_Datatype {
        match DATATYPE::is_usual(foreign) {
            true => DATATYPE::usual(foreign),
            false => rare(foreign.cast_unsigned()),
        }
    }

    #[inline]
    fn is_usual(foreign: c_int) -> bool {
        foreign.cast_unsigned() >> 16 == BASIC >> 16
    }

    #[inline]
    fn usual(foreign: c_int) -> MPI_Datatype {
        STANDARD.0[(foreign & 0xff) as usize]
    }

    #[inline]
    fn to_foreign(standard: MPI_Datatype) -> c_int {
        match DATATYPES.iter().find(|(_, handle)| *handle == standard) {
            Some((foreign, _)) => foreign.cast_signed(),
            None => integer::of_handle(standard.addr()),
        }
    }
}

/// A pair type, none, or one of our own.
#[inline(never)]
fn rare(foreign: u32) -> MPI_Datatype {
    match DATATYPES.iter().find(|(number, _)| *number == foreign) {
        Some((_, standard)) => *standard,
        None => without_provenance_mut(own(kind::DATATYPE, foreign.cast_signed())),
    }
}

/// A file is a pointer in both ABIs, and none is null.
pub struct FILE;

impl Kind for FILE {
    type Foreign = *mut c_void;
    type Standard = MPI_File;
    const UNTOUCHED: MPI_File = without_provenance_mut(UNTOUCHED);

    fn to_standard(foreign: *mut c_void) -> MPI_File {
        match foreign.addr() {
            0 => MPI_FILE_NULL,
            1..=NOTHING => without_provenance_mut(NOTHING),
            own => without_provenance_mut(own),
        }
    }

    fn to_foreign(standard: MPI_File) -> *mut c_void {
        match standard == MPI_FILE_NULL {
            true => without_provenance_mut(0),
            false => standard.cast(),
        }
    }
}

/// A performance variable's handle: as the standard's, but all of a session are an address.
pub struct PVAR;

impl Kind for PVAR {
    type Foreign = MPI_T_pvar_handle;
    type Standard = MPI_T_pvar_handle;
    const UNTOUCHED: MPI_T_pvar_handle = without_provenance_mut(UNTOUCHED);

    fn to_standard(foreign: MPI_T_pvar_handle) -> MPI_T_pvar_handle {
        match foreign.addr() == symbols::all_handles() {
            true => MPI_T_PVAR_ALL_HANDLES,
            false => foreign,
        }
    }

    fn to_foreign(standard: MPI_T_pvar_handle) -> MPI_T_pvar_handle {
        standard
    }
}
