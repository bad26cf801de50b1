//! Environment (MPI-5.0 chapter 9).

use std::ffi::c_int;

use weft_abi::{
    MPI_MAX_LIBRARY_VERSION_STRING, MPI_MAX_PROCESSOR_NAME, MPI_SUBVERSION, MPI_VERSION,
};
use weft_abi_macros::mpi;

use crate::argument::{Out, OutString};
use crate::entry::Result;
use crate::system;

const LIBRARY_VERSION: &str = concat!(
    "WeftMPI ",
    env!("CARGO_PKG_VERSION"),
    " (MPI 5.0, standard ABI 1.0)"
);

#[mpi(Get_version)]
fn get_version(version: Out<c_int>, subversion: Out<c_int>) -> Result<()> {
    version.set(MPI_VERSION);
    subversion.set(MPI_SUBVERSION);
    Ok(())
}

#[mpi(Get_library_version)]
fn get_library_version(version: OutString, resultlen: Out<c_int>) -> Result<()> {
    resultlen.set(version.set(LIBRARY_VERSION, MPI_MAX_LIBRARY_VERSION_STRING));
    Ok(())
}

#[mpi(Get_processor_name)]
fn get_processor_name(name: OutString, resultlen: Out<c_int>) -> Result<()> {
    resultlen.set(name.set(&system::host_name(), MPI_MAX_PROCESSOR_NAME));
    Ok(())
}

#[mpi(Wtime)]
fn wtime() -> f64 {
    system::seconds()
}

#[mpi(Wtick)]
fn wtick() -> f64 {
    system::clock_resolution_seconds()
}
