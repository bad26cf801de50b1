//! What the library for Fortran asks of this one for array sections, in MPICH's handles; no names of MPI.

use std::ffi::{c_int, c_void};

use mpi_abi::section::{self, Described, Hook};
use weft_abi_macros::exported;
use weft_foreign::convert::{Kind, Place};

use crate::handles::Handle;
use crate::kinds::{COMMUNICATOR, DATATYPE, REQUEST};

/// # Safety
/// As of `weft_type_in_section`.
#[exported]
unsafe extern "C" fn weft_mpich_type_in_section(
    datatype: Handle,
    base: *mut c_void,
    element: usize,
    rank: usize,
    dimensions: *const Described,
) -> Handle {
    let datatype = DATATYPE::to_standard(datatype);
    // SAFETY: by this function's contract.
    let made = unsafe { section::weft_type_in_section(datatype, base, element, rank, dimensions) };
    DATATYPE::to_foreign(made)
}

/// # Safety
/// As of `weft_follow`.
#[exported]
unsafe extern "C" fn weft_mpich_follow(
    request: *mut Handle,
    comm: Handle,
    state: *mut c_void,
    before: Hook,
    after: Hook,
    release: Hook,
) -> c_int {
    // SAFETY: by this function's contract.
    unsafe {
        let mut place = Place::<REQUEST>::holding(request);
        let comm = COMMUNICATOR::to_standard(comm);
        let code = section::weft_follow(place.address(), comm, state, before, after, release);
        place.store();
        code
    }
}
