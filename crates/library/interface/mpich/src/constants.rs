//! Constants by the kind of parameter that has them: MPICH's value, and the standard's name.

use std::ffi::c_int;

use weft_abi::*;

use crate::convert::Kind;

/// What no constant is, in either ABI.
pub const NONE: c_int = c_int::MIN;

/// Kinds with values of their own. A number without a name stays as it is, unless it has a meaning in the other ABI.
macro_rules! values {
    ($($kind:ident { $($foreign:literal = $standard:ident,)* })*) => {$(
        pub struct $kind;

        impl Kind for $kind {
            type Foreign = c_int;
            type Standard = c_int;
            const UNTOUCHED: c_int = NONE;

            #[inline]
            fn to_standard(foreign: c_int) -> c_int {
                match foreign {
                    $($foreign => $standard,)*
                    $(#[allow(unreachable_patterns)] $standard => NONE,)*
                    other => other,
                }
            }

            #[inline]
            fn to_foreign(standard: c_int) -> c_int {
                match standard {
                    $($standard => $foreign,)*
                    other => other,
                }
            }
        }
    )*};
}

/// Kinds whose values are sets of bits. A bit without a name becomes one that has none in the other ABI.
macro_rules! bits {
    ($($kind:ident { $($foreign:literal = $standard:ident,)* })*) => {$(
        pub struct $kind;

        impl Kind for $kind {
            type Foreign = c_int;
            type Standard = c_int;
            const UNTOUCHED: c_int = NONE;

            fn to_standard(foreign: c_int) -> c_int {
                let mut known = 0;
                $(if foreign & $foreign != 0 {
                    known |= $standard;
                })*
                match foreign & !($($foreign |)* 0) {
                    0 => known,
                    _ => known | UNNAMED_BIT,
                }
            }

            fn to_foreign(standard: c_int) -> c_int {
                let mut known = 0;
                $(if standard & $standard != 0 {
                    known |= $foreign;
                })*
                known
            }
        }
    )*};
}

const UNNAMED_BIT: c_int = 1 << 30;

bits! {
    ACCESS_MODE {
        1 = MPI_MODE_CREATE, 2 = MPI_MODE_RDONLY, 4 = MPI_MODE_WRONLY, 8 = MPI_MODE_RDWR,
        16 = MPI_MODE_DELETE_ON_CLOSE, 32 = MPI_MODE_UNIQUE_OPEN, 64 = MPI_MODE_EXCL, 128 = MPI_MODE_APPEND,
        256 = MPI_MODE_SEQUENTIAL,
    }
    ASSERT {
        1024 = MPI_MODE_NOCHECK, 2048 = MPI_MODE_NOSTORE, 4096 = MPI_MODE_NOPUT, 8192 = MPI_MODE_NOPRECEDE,
        16384 = MPI_MODE_NOSUCCEED,
    }
}

values! {
    BIND_TYPE {
        9700 = MPI_T_BIND_NO_OBJECT, 9701 = MPI_T_BIND_MPI_COMM, 9702 = MPI_T_BIND_MPI_DATATYPE,
        9703 = MPI_T_BIND_MPI_ERRHANDLER, 9704 = MPI_T_BIND_MPI_FILE, 9705 = MPI_T_BIND_MPI_GROUP,
        9706 = MPI_T_BIND_MPI_OP, 9707 = MPI_T_BIND_MPI_REQUEST, 9708 = MPI_T_BIND_MPI_WIN,
        9709 = MPI_T_BIND_MPI_MESSAGE, 9710 = MPI_T_BIND_MPI_INFO, 9711 = MPI_T_BIND_MPI_SESSION,
    }
    CALLBACK_SAFETY {
        0 = MPI_T_CB_REQUIRE_NONE, 1 = MPI_T_CB_REQUIRE_MPI_RESTRICTED, 2 = MPI_T_CB_REQUIRE_THREAD_SAFE,
        3 = MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE,
    }
    // MPICH's 5, 8 and 11 are of functions of Fortran's that MPI-3.0 removed.
    COMBINER {
        1 = MPI_COMBINER_NAMED, 2 = MPI_COMBINER_DUP, 3 = MPI_COMBINER_CONTIGUOUS, 4 = MPI_COMBINER_VECTOR,
        6 = MPI_COMBINER_HVECTOR, 7 = MPI_COMBINER_INDEXED, 9 = MPI_COMBINER_HINDEXED,
        10 = MPI_COMBINER_INDEXED_BLOCK, 12 = MPI_COMBINER_STRUCT, 13 = MPI_COMBINER_SUBARRAY,
        14 = MPI_COMBINER_DARRAY, 15 = MPI_COMBINER_F90_REAL, 16 = MPI_COMBINER_F90_COMPLEX,
        17 = MPI_COMBINER_F90_INTEGER, 18 = MPI_COMBINER_RESIZED, 19 = MPI_COMBINER_HINDEXED_BLOCK,
        20 = MPI_COMBINER_VALUE_INDEX,
    }
    COMM_COMPARISON { 0 = MPI_IDENT, 1 = MPI_CONGRUENT, 2 = MPI_SIMILAR, 3 = MPI_UNEQUAL, }
    DISTRIB_ENUM { 121 = MPI_DISTRIBUTE_BLOCK, 122 = MPI_DISTRIBUTE_CYCLIC, 123 = MPI_DISTRIBUTE_NONE, }
    FLAVOR {
        1 = MPI_WIN_FLAVOR_CREATE, 2 = MPI_WIN_FLAVOR_ALLOCATE, 3 = MPI_WIN_FLAVOR_DYNAMIC,
        4 = MPI_WIN_FLAVOR_SHARED,
    }
    KEYVAL {
        0x2400_0000 = MPI_KEYVAL_INVALID, 0x6440_0001 = MPI_TAG_UB, 0x6440_0003 = MPI_HOST, 0x6440_0005 = MPI_IO,
        0x6440_0007 = MPI_WTIME_IS_GLOBAL, 0x6440_0009 = MPI_UNIVERSE_SIZE, 0x6440_000b = MPI_LASTUSEDCODE,
        0x6440_000d = MPI_APPNUM, 0x6600_0001 = MPI_WIN_BASE, 0x6600_0003 = MPI_WIN_SIZE,
        0x6600_0005 = MPI_WIN_DISP_UNIT, 0x6600_0007 = MPI_WIN_CREATE_FLAVOR, 0x6600_0009 = MPI_WIN_MODEL,
    }
    LOCK_TYPE { 234 = MPI_LOCK_EXCLUSIVE, 235 = MPI_LOCK_SHARED, }
    MODEL { 1 = MPI_WIN_SEPARATE, 2 = MPI_WIN_UNIFIED, }
    ORDER { 56 = MPI_ORDER_C, 57 = MPI_ORDER_FORTRAN, }
    SOURCE_ORDERING { 0 = MPI_T_SOURCE_ORDERED, 1 = MPI_T_SOURCE_UNORDERED, }
    SPLIT_TYPE {
        1 = MPI_COMM_TYPE_SHARED, 2 = MPI_COMM_TYPE_HW_GUIDED, 3 = MPI_COMM_TYPE_HW_UNGUIDED,
        4 = MPI_COMM_TYPE_RESOURCE_GUIDED,
    }
    THREAD_LEVEL {
        0 = MPI_THREAD_SINGLE, 1 = MPI_THREAD_FUNNELED, 2 = MPI_THREAD_SERIALIZED, 3 = MPI_THREAD_MULTIPLE,
    }
    TOOL_VAR_VERBOSITY {
        221 = MPI_T_VERBOSITY_USER_BASIC, 222 = MPI_T_VERBOSITY_USER_DETAIL, 223 = MPI_T_VERBOSITY_USER_ALL,
        224 = MPI_T_VERBOSITY_TUNER_BASIC, 225 = MPI_T_VERBOSITY_TUNER_DETAIL, 226 = MPI_T_VERBOSITY_TUNER_ALL,
        227 = MPI_T_VERBOSITY_MPIDEV_BASIC, 228 = MPI_T_VERBOSITY_MPIDEV_DETAIL, 229 = MPI_T_VERBOSITY_MPIDEV_ALL,
    }
    TOPOLOGY_TYPE { 1 = MPI_GRAPH, 2 = MPI_CART, 3 = MPI_DIST_GRAPH, }
    TYPECLASS { 1 = MPI_TYPECLASS_REAL, 2 = MPI_TYPECLASS_INTEGER, 3 = MPI_TYPECLASS_COMPLEX, }
    UPDATE_MODE { 600 = MPI_SEEK_SET, 602 = MPI_SEEK_CUR, 604 = MPI_SEEK_END, }
    VARIABLE_SCOPE {
        60438 = MPI_T_SCOPE_CONSTANT, 60439 = MPI_T_SCOPE_READONLY, 60440 = MPI_T_SCOPE_LOCAL,
        60441 = MPI_T_SCOPE_GROUP, 60442 = MPI_T_SCOPE_GROUP_EQ, 60443 = MPI_T_SCOPE_ALL,
        60444 = MPI_T_SCOPE_ALL_EQ,
    }
    PVAR_CLASS {
        240 = MPI_T_PVAR_CLASS_STATE, 241 = MPI_T_PVAR_CLASS_LEVEL, 242 = MPI_T_PVAR_CLASS_SIZE,
        243 = MPI_T_PVAR_CLASS_PERCENTAGE, 244 = MPI_T_PVAR_CLASS_HIGHWATERMARK,
        245 = MPI_T_PVAR_CLASS_LOWWATERMARK, 246 = MPI_T_PVAR_CLASS_COUNTER, 247 = MPI_T_PVAR_CLASS_AGGREGATE,
        248 = MPI_T_PVAR_CLASS_TIMER, 249 = MPI_T_PVAR_CLASS_GENERIC,
    }
    PREDEFINED_ERROR {
        0 = MPI_SUCCESS, 1 = MPI_ERR_BUFFER, 2 = MPI_ERR_COUNT, 3 = MPI_ERR_TYPE, 4 = MPI_ERR_TAG,
        5 = MPI_ERR_COMM, 6 = MPI_ERR_RANK, 7 = MPI_ERR_ROOT, 8 = MPI_ERR_GROUP, 9 = MPI_ERR_OP,
        10 = MPI_ERR_TOPOLOGY, 11 = MPI_ERR_DIMS, 12 = MPI_ERR_ARG, 13 = MPI_ERR_UNKNOWN, 14 = MPI_ERR_TRUNCATE,
        15 = MPI_ERR_OTHER, 16 = MPI_ERR_INTERN, 17 = MPI_ERR_IN_STATUS, 18 = MPI_ERR_PENDING,
        19 = MPI_ERR_REQUEST, 20 = MPI_ERR_ACCESS, 21 = MPI_ERR_AMODE, 22 = MPI_ERR_BAD_FILE,
        23 = MPI_ERR_CONVERSION, 24 = MPI_ERR_DUP_DATAREP, 25 = MPI_ERR_FILE_EXISTS, 26 = MPI_ERR_FILE_IN_USE,
        27 = MPI_ERR_FILE, 28 = MPI_ERR_INFO, 29 = MPI_ERR_INFO_KEY, 30 = MPI_ERR_INFO_VALUE,
        31 = MPI_ERR_INFO_NOKEY, 32 = MPI_ERR_IO, 33 = MPI_ERR_NAME, 34 = MPI_ERR_NO_MEM, 35 = MPI_ERR_NOT_SAME,
        36 = MPI_ERR_NO_SPACE, 37 = MPI_ERR_NO_SUCH_FILE, 38 = MPI_ERR_PORT, 39 = MPI_ERR_QUOTA,
        40 = MPI_ERR_READ_ONLY, 41 = MPI_ERR_SERVICE, 42 = MPI_ERR_SPAWN, 43 = MPI_ERR_UNSUPPORTED_DATAREP,
        44 = MPI_ERR_UNSUPPORTED_OPERATION, 45 = MPI_ERR_WIN, 46 = MPI_ERR_BASE, 47 = MPI_ERR_LOCKTYPE,
        48 = MPI_ERR_KEYVAL, 49 = MPI_ERR_RMA_CONFLICT, 50 = MPI_ERR_RMA_SYNC, 51 = MPI_ERR_SIZE,
        52 = MPI_ERR_DISP, 53 = MPI_ERR_ASSERT, 55 = MPI_ERR_RMA_RANGE, 56 = MPI_ERR_RMA_ATTACH,
        57 = MPI_ERR_RMA_SHARED, 58 = MPI_ERR_RMA_FLAVOR, 59 = MPI_T_ERR_MEMORY, 60 = MPI_T_ERR_NOT_INITIALIZED,
        61 = MPI_T_ERR_CANNOT_INIT, 62 = MPI_T_ERR_INVALID_INDEX, 63 = MPI_T_ERR_INVALID_ITEM,
        64 = MPI_T_ERR_INVALID_HANDLE, 65 = MPI_T_ERR_OUT_OF_HANDLES, 66 = MPI_T_ERR_OUT_OF_SESSIONS,
        67 = MPI_T_ERR_INVALID_SESSION, 68 = MPI_T_ERR_CVAR_SET_NOT_NOW, 69 = MPI_T_ERR_CVAR_SET_NEVER,
        70 = MPI_T_ERR_PVAR_NO_STARTSTOP, 71 = MPI_T_ERR_PVAR_NO_WRITE, 72 = MPI_T_ERR_PVAR_NO_ATOMIC,
        73 = MPI_T_ERR_INVALID_NAME, 74 = MPI_T_ERR_INVALID, 75 = MPI_ERR_SESSION, 76 = MPI_ERR_PROC_ABORTED,
        77 = MPI_ERR_VALUE_TOO_LARGE, 78 = MPI_T_ERR_NOT_SUPPORTED, 79 = MPI_T_ERR_NOT_ACCESSIBLE,
        80 = MPI_ERR_ERRHANDLER, 81 = MPI_ERR_ABI, 0x3fff_ffff = MPI_ERR_LASTCODE,
    }
}
