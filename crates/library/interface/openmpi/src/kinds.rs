//! One type for each kind of parameter that is converted, by the standard's name of the kind.

use std::ffi::{c_int, c_void};

use weft_abi::*;
use weft_foreign::convert::{Kind, NONE};

pub use crate::constants::*;
pub use crate::handles::*;
pub use crate::status::STATUS;

/// A rank or what stands in place of one.
pub struct RANK;

pub type RANK_NNI = RANK;

impl Kind for RANK {
    type Foreign = c_int;
    type Standard = c_int;
    const UNTOUCHED: c_int = NONE;

    #[inline]
    fn is_usual(foreign: c_int) -> bool {
        foreign >= 0
    }

    #[inline]
    fn usual(foreign: c_int) -> c_int {
        foreign
    }

    #[inline]
    fn to_standard(foreign: c_int) -> c_int {
        match foreign {
            0.. => foreign,
            -1 => MPI_ANY_SOURCE,
            -2 => MPI_PROC_NULL,
            -4 => MPI_ROOT,
            MPI_PROC_NULL => NONE,
            other => other,
        }
    }

    #[inline]
    fn to_foreign(standard: c_int) -> c_int {
        match standard {
            MPI_PROC_NULL => -2,
            other => other,
        }
    }
}

pub struct TAG;

impl Kind for TAG {
    type Foreign = c_int;
    type Standard = c_int;
    const UNTOUCHED: c_int = NONE;

    #[inline]
    fn is_usual(foreign: c_int) -> bool {
        foreign >= 0
    }

    #[inline]
    fn usual(foreign: c_int) -> c_int {
        foreign
    }

    #[inline]
    fn to_standard(foreign: c_int) -> c_int {
        match foreign {
            0.. => foreign,
            -1 => MPI_ANY_TAG,
            MPI_ANY_TAG => NONE,
            other => other,
        }
    }

    #[inline]
    fn to_foreign(standard: c_int) -> c_int {
        match standard {
            MPI_ANY_TAG => -1,
            other => other,
        }
    }
}

/// The program's own codes and classes stand above `MPI_ERR_LASTCODE` in both ABIs.
pub struct ERROR_CODE;

pub type ERROR_CLASS = ERROR_CODE;

const LAST_CODE: c_int = 92;

impl Kind for ERROR_CODE {
    type Foreign = c_int;
    type Standard = c_int;
    const UNTOUCHED: c_int = NONE;

    fn to_standard(foreign: c_int) -> c_int {
        match foreign > LAST_CODE {
            true => foreign - LAST_CODE + MPI_ERR_LASTCODE,
            false => PREDEFINED_ERROR::to_standard(foreign),
        }
    }

    /// A class that Open MPI does not have becomes the one that it has in its stead.
    fn to_foreign(standard: c_int) -> c_int {
        let known = match standard {
            MPI_ERR_ERRHANDLER => MPI_ERR_ARG,
            MPI_ERR_ABI => MPI_ERR_OTHER,
            MPI_T_ERR_NOT_SUPPORTED | MPI_T_ERR_NOT_ACCESSIBLE => MPI_T_ERR_INVALID,
            known => known,
        };
        match known > MPI_ERR_LASTCODE {
            true => known - MPI_ERR_LASTCODE + LAST_CODE,
            false => PREDEFINED_ERROR::to_foreign(known),
        }
    }
}

pub type GROUP_COMPARISON = COMM_COMPARISON;

/// An argument of a distribution; any positive number is one, but one means the default.
pub struct DTYPE_DISTRIBUTION;

impl Kind for DTYPE_DISTRIBUTION {
    type Foreign = c_int;
    type Standard = c_int;
    const UNTOUCHED: c_int = NONE;

    fn to_standard(foreign: c_int) -> c_int {
        match foreign {
            -1 => MPI_DISTRIBUTE_DFLT_DARG,
            other => other,
        }
    }

    fn to_foreign(standard: c_int) -> c_int {
        match standard {
            MPI_DISTRIBUTE_DFLT_DARG => -1,
            other => other,
        }
    }
}

/// Where a view begins.
pub struct VIEW_DISPLACEMENT;

impl Kind for VIEW_DISPLACEMENT {
    type Foreign = MPI_Offset;
    type Standard = MPI_Offset;
    const UNTOUCHED: MPI_Offset = MPI_Offset::MIN;

    fn to_standard(foreign: MPI_Offset) -> MPI_Offset {
        match foreign {
            -54278278 => MPI_DISPLACEMENT_CURRENT,
            MPI_DISPLACEMENT_CURRENT => MPI_Offset::MIN,
            other => other,
        }
    }

    fn to_foreign(standard: MPI_Offset) -> MPI_Offset {
        standard
    }
}

const IN_PLACE: usize = 1;
const UNWEIGHTED: usize = 2;
const WEIGHTS_EMPTY: usize = 3;

/// A buffer or `MPI_IN_PLACE`; `MPI_BOTTOM` is null in both ABIs.
#[inline]
pub fn buffer(address: *mut c_void) -> *mut c_void {
    match address.addr() {
        IN_PLACE => MPI_IN_PLACE,
        _ => address,
    }
}

/// The address of a detached buffer: no special one can have been attached.
pub fn detached(_: *mut c_void) {}

/// Weights, `MPI_UNWEIGHTED` or `MPI_WEIGHTS_EMPTY`.
pub fn weights(address: *mut c_int) -> *mut c_int {
    match address.addr() {
        UNWEIGHTED => MPI_UNWEIGHTED,
        WEIGHTS_EMPTY => MPI_WEIGHTS_EMPTY,
        _ => address,
    }
}

/// A copy function of attributes. Predefined ones are functions here as all others are.
pub fn copy_function<F>(function: F) -> F {
    function
}
