//! Kinds that other libraries convert alike, but for a number.

use std::ffi::c_int;

use weft_abi::*;
use weft_foreign::convert::{Kind, NONE};

use crate::constants::{DEFAULT_ARGUMENT, LAST_CODE, PREDEFINED_ERROR, PROC_FAILED, stand_in};

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

impl Kind for ERROR_CODE {
    type Foreign = c_int;
    type Standard = c_int;
    const UNTOUCHED: c_int = NONE;

    fn to_standard(foreign: c_int) -> c_int {
        match foreign > LAST_CODE {
            true => foreign - LAST_CODE + MPI_ERR_LASTCODE,
            false if foreign == PROC_FAILED => MPI_ERR_PROC_ABORTED,
            false => PREDEFINED_ERROR::to_standard(foreign),
        }
    }

    fn to_foreign(standard: c_int) -> c_int {
        let known = stand_in(standard);
        match known > MPI_ERR_LASTCODE {
            true => known - MPI_ERR_LASTCODE + LAST_CODE,
            // Programs that go on after failures look for this one.
            false if known == MPI_ERR_PROC_ABORTED => PROC_FAILED,
            false => PREDEFINED_ERROR::to_foreign(known),
        }
    }
}

/// An argument of a distribution; any positive number is one, but one means the default.
pub struct DTYPE_DISTRIBUTION;

impl Kind for DTYPE_DISTRIBUTION {
    type Foreign = c_int;
    type Standard = c_int;
    const UNTOUCHED: c_int = NONE;

    fn to_standard(foreign: c_int) -> c_int {
        match foreign {
            DEFAULT_ARGUMENT => MPI_DISTRIBUTE_DFLT_DARG,
            other => other,
        }
    }

    fn to_foreign(standard: c_int) -> c_int {
        match standard {
            MPI_DISTRIBUTE_DFLT_DARG => DEFAULT_ARGUMENT,
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
