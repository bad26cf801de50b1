//! One type for each kind of parameter that is converted, by the standard's name of the kind.

use std::ffi::{c_int, c_void};

use weft_abi::*;
use weft_foreign::convert::{Kind, NONE};

pub use crate::constants::*;
pub use crate::handles::*;
pub use crate::numbers::*;
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

pub type GROUP_COMPARISON = COMM_COMPARISON;

/// `MPI_IN_PLACE`, `MPI_UNWEIGHTED` and `MPI_WEIGHTS_EMPTY`: addresses at which nothing lies.
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
