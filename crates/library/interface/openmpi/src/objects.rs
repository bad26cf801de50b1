//! The objects whose addresses are Open MPI's predefined handles.
//!
//! # Protocol
//! 1. An object begins with the standard's handle that it stands for. The rest is room: a program has copies of the objects
//!    that it names in its own memory, as long as its own library's objects were (R_X86_64_COPY). The dynamic linker fills
//!    them from these before anything runs, and nobody writes to either after that.
//! 2. The address that counts is the copy's. Each use of an address here goes through the table of global offsets, into
//!    which the dynamic linker puts that one; linking by `-Bsymbolic` would break it.
//! 3. So the standard's handle is found by one load, whichever copy a program names.

use std::ptr::without_provenance_mut;

use weft_abi::*;

/// The number of a handle that names nothing.
pub const NOTHING: usize = 4095;
/// A datatype of Open MPI's that the standard ABI has not: it is no datatype.
const NO_TYPE: MPI_Datatype = without_provenance_mut(NOTHING);

/// An object that begins with a handle.
#[repr(C, align(16))]
pub struct Object<H, const ROOM: usize> {
    standard: H,
    room: [u8; ROOM],
}

// SAFETY: the handle is a number; nobody follows it.
unsafe impl<H, const ROOM: usize> Sync for Object<H, ROOM> {}

/// A predefined handle.
#[derive(Clone, Copy)]
pub struct Predefined {
    /// Its number in Fortran; none if that is negative.
    pub number: i32,
    pub address: usize,
    pub standard: usize,
}

const WORD: usize = size_of::<usize>();

/// The objects of a kind: the number in Fortran, the object's name, the standard's handle. Of two with the same handle the
/// first is given out.
macro_rules! objects {
    ($($all:ident: $handle:ty, $bytes:literal bytes { $($number:literal $name:ident = $standard:expr,)* })*) => {$(
        $(
            #[unsafe(no_mangle)]
            #[allow(non_upper_case_globals)]
            pub static $name: Object<$handle, { $bytes - WORD }> = Object {
                standard: $standard,
                room: [0; $bytes - WORD],
            };
        )*

        pub fn $all() -> impl Iterator<Item = Predefined> {
            let all: [(i32, usize, $handle); _] = [$(($number, (&raw const $name).addr(), $standard),)*];
            all.into_iter().map(|(number, address, standard)| Predefined {
                number,
                address,
                standard: standard.addr(),
            })
        }
    )*};
}

objects! {
    datatypes: MPI_Datatype, 512 bytes {
        0 ompi_mpi_datatype_null = MPI_DATATYPE_NULL,
        1 ompi_mpi_byte = MPI_BYTE,
        2 ompi_mpi_packed = MPI_PACKED,
        3 ompi_mpi_ub = NO_TYPE,
        4 ompi_mpi_lb = NO_TYPE,
        5 ompi_mpi_character = MPI_CHARACTER,
        6 ompi_mpi_logical = MPI_LOGICAL,
        7 ompi_mpi_integer = MPI_INTEGER,
        8 ompi_mpi_integer1 = MPI_INTEGER1,
        9 ompi_mpi_integer2 = MPI_INTEGER2,
        10 ompi_mpi_integer4 = MPI_INTEGER4,
        11 ompi_mpi_integer8 = MPI_INTEGER8,
        12 ompi_mpi_integer16 = MPI_INTEGER16,
        13 ompi_mpi_real = MPI_REAL,
        14 ompi_mpi_real4 = MPI_REAL4,
        15 ompi_mpi_real8 = MPI_REAL8,
        16 ompi_mpi_real16 = MPI_REAL16,
        17 ompi_mpi_dblprec = MPI_DOUBLE_PRECISION,
        18 ompi_mpi_cplex = MPI_COMPLEX,
        19 ompi_mpi_complex8 = MPI_COMPLEX8,
        20 ompi_mpi_complex16 = MPI_COMPLEX16,
        21 ompi_mpi_complex32 = MPI_COMPLEX32,
        22 ompi_mpi_dblcplex = MPI_DOUBLE_COMPLEX,
        23 ompi_mpi_2real = MPI_2REAL,
        24 ompi_mpi_2dblprec = MPI_2DOUBLE_PRECISION,
        25 ompi_mpi_2integer = MPI_2INTEGER,
        26 ompi_mpi_2cplex = NO_TYPE,
        27 ompi_mpi_2dblcplex = NO_TYPE,
        // MPIX_C_FLOAT16, which the standard has in Fortran only: as that one too it is given back.
        -1 ompi_mpi_short_float = MPI_REAL2,
        28 ompi_mpi_real2 = MPI_REAL2,
        29 ompi_mpi_logical1 = MPI_LOGICAL1,
        30 ompi_mpi_logical2 = MPI_LOGICAL2,
        31 ompi_mpi_logical4 = MPI_LOGICAL4,
        32 ompi_mpi_logical8 = MPI_LOGICAL8,
        33 ompi_mpi_wchar = MPI_WCHAR,
        34 ompi_mpi_char = MPI_CHAR,
        35 ompi_mpi_unsigned_char = MPI_UNSIGNED_CHAR,
        36 ompi_mpi_signed_char = MPI_SIGNED_CHAR,
        37 ompi_mpi_short = MPI_SHORT,
        38 ompi_mpi_unsigned_short = MPI_UNSIGNED_SHORT,
        39 ompi_mpi_int = MPI_INT,
        40 ompi_mpi_unsigned = MPI_UNSIGNED,
        41 ompi_mpi_long = MPI_LONG,
        42 ompi_mpi_unsigned_long = MPI_UNSIGNED_LONG,
        43 ompi_mpi_long_long_int = MPI_LONG_LONG,
        44 ompi_mpi_unsigned_long_long = MPI_UNSIGNED_LONG_LONG,
        45 ompi_mpi_float = MPI_FLOAT,
        46 ompi_mpi_double = MPI_DOUBLE,
        47 ompi_mpi_long_double = MPI_LONG_DOUBLE,
        48 ompi_mpi_float_int = MPI_FLOAT_INT,
        49 ompi_mpi_double_int = MPI_DOUBLE_INT,
        50 ompi_mpi_longdbl_int = MPI_LONG_DOUBLE_INT,
        51 ompi_mpi_long_int = MPI_LONG_INT,
        52 ompi_mpi_2int = MPI_2INT,
        53 ompi_mpi_short_int = MPI_SHORT_INT,
        54 ompi_mpi_cxx_bool = MPI_CXX_BOOL,
        55 ompi_mpi_cxx_cplex = MPI_CXX_FLOAT_COMPLEX,
        56 ompi_mpi_cxx_dblcplex = MPI_CXX_DOUBLE_COMPLEX,
        57 ompi_mpi_cxx_ldblcplex = MPI_CXX_LONG_DOUBLE_COMPLEX,
        58 ompi_mpi_int8_t = MPI_INT8_T,
        59 ompi_mpi_uint8_t = MPI_UINT8_T,
        60 ompi_mpi_int16_t = MPI_INT16_T,
        61 ompi_mpi_uint16_t = MPI_UINT16_T,
        62 ompi_mpi_int32_t = MPI_INT32_T,
        63 ompi_mpi_uint32_t = MPI_UINT32_T,
        64 ompi_mpi_int64_t = MPI_INT64_T,
        65 ompi_mpi_uint64_t = MPI_UINT64_T,
        66 ompi_mpi_aint = MPI_AINT,
        67 ompi_mpi_offset = MPI_OFFSET,
        68 ompi_mpi_c_bool = MPI_C_BOOL,
        69 ompi_mpi_c_float_complex = MPI_C_FLOAT_COMPLEX,
        70 ompi_mpi_c_double_complex = MPI_C_DOUBLE_COMPLEX,
        71 ompi_mpi_c_long_double_complex = MPI_C_LONG_DOUBLE_COMPLEX,
        72 ompi_mpi_count = MPI_COUNT,
        -1 ompi_mpi_complex4 = MPI_COMPLEX4,
        -1 ompi_mpi_c_complex = MPI_C_FLOAT_COMPLEX,
        -1 ompi_mpi_ldblcplex = MPI_C_LONG_DOUBLE_COMPLEX,
        -1 ompi_mpi_c_short_float_complex = MPI_COMPLEX4,
        -1 ompi_mpi_cxx_sfltcplex = MPI_COMPLEX4,
    }
    operations: MPI_Op, 2048 bytes {
        0 ompi_mpi_op_null = MPI_OP_NULL,
        1 ompi_mpi_op_max = MPI_MAX,
        2 ompi_mpi_op_min = MPI_MIN,
        3 ompi_mpi_op_sum = MPI_SUM,
        4 ompi_mpi_op_prod = MPI_PROD,
        5 ompi_mpi_op_land = MPI_LAND,
        6 ompi_mpi_op_band = MPI_BAND,
        7 ompi_mpi_op_lor = MPI_LOR,
        8 ompi_mpi_op_bor = MPI_BOR,
        9 ompi_mpi_op_lxor = MPI_LXOR,
        10 ompi_mpi_op_bxor = MPI_BXOR,
        11 ompi_mpi_op_maxloc = MPI_MAXLOC,
        12 ompi_mpi_op_minloc = MPI_MINLOC,
        13 ompi_mpi_op_replace = MPI_REPLACE,
        14 ompi_mpi_op_no_op = MPI_NO_OP,
    }
    communicators: MPI_Comm, 512 bytes {
        0 ompi_mpi_comm_world = MPI_COMM_WORLD,
        1 ompi_mpi_comm_self = MPI_COMM_SELF,
        2 ompi_mpi_comm_null = MPI_COMM_NULL,
    }
    groups: MPI_Group, 256 bytes {
        0 ompi_mpi_group_null = MPI_GROUP_NULL,
        1 ompi_mpi_group_empty = MPI_GROUP_EMPTY,
    }
    infos: MPI_Info, 256 bytes {
        0 ompi_mpi_info_null = MPI_INFO_NULL,
        1 ompi_mpi_info_env = MPI_INFO_ENV,
    }
    messages: MPI_Message, 256 bytes {
        0 ompi_message_null = MPI_MESSAGE_NULL,
        1 ompi_message_no_proc = MPI_MESSAGE_NO_PROC,
    }
    requests: MPI_Request, 256 bytes {
        0 ompi_request_null = MPI_REQUEST_NULL,
    }
    errhandlers: MPI_Errhandler, 1024 bytes {
        0 ompi_mpi_errhandler_null = MPI_ERRHANDLER_NULL,
        1 ompi_mpi_errors_are_fatal = MPI_ERRORS_ARE_FATAL,
        2 ompi_mpi_errors_return = MPI_ERRORS_RETURN,
        3 ompi_mpi_errors_abort = MPI_ERRORS_ABORT,
        -1 ompi_mpi_errors_throw_exceptions = MPI_ERRORS_ARE_FATAL,
    }
    windows: MPI_Win, 512 bytes {
        0 ompi_mpi_win_null = MPI_WIN_NULL,
    }
    files: MPI_File, 1536 bytes {
        0 ompi_mpi_file_null = MPI_FILE_NULL,
    }
    sessions: MPI_Session, 512 bytes {
        0 ompi_mpi_instance_null = MPI_SESSION_NULL,
    }
}
