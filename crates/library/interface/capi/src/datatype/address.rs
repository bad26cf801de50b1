//! Addresses (MPI-5.0 §5.1.5).

use std::ffi::c_void;

use weft_abi_macros::mpi;

use crate::entry::Result;
use crate::output::Out;

#[mpi(Get_address)]
fn get_address(location: *const c_void, address: Out<isize>) -> Result<()> {
    address.set(location.addr() as isize);
    Ok(())
}

/// Addresses wrap like the unsigned integers they are (MPI-5.0 §5.1.5).
#[mpi(Aint_add)]
fn aint_add(base: isize, disp: isize) -> isize {
    base.wrapping_add(disp)
}

#[mpi(Aint_diff)]
fn aint_diff(addr1: isize, addr2: isize) -> isize {
    addr1.wrapping_sub(addr2)
}
