//! Environment (MPI-5.0 chapter 9), and initialization and its end (chapter 11).

use std::ffi::{c_char, c_int};

use weft_abi::{
    MPI_Comm, MPI_MAX_LIBRARY_VERSION_STRING, MPI_MAX_PROCESSOR_NAME, MPI_SUBVERSION,
    MPI_THREAD_FUNNELED, MPI_THREAD_MULTIPLE, MPI_THREAD_SERIALIZED, MPI_THREAD_SINGLE,
    MPI_VERSION,
};
use weft_abi_macros::mpi;
use weft_handle::{CommId, InfoId};
use weft_lifetime::models;
use weft_objects::{hardware, memory};
use weft_process::job;
use weft_process::phase::{Phase, world};
use weft_process::thread_level::ThreadLevel;

use crate::argument::Address;
use crate::entry::Result;
use crate::output::{Out, OutAddress, OutString};
use crate::system;

const LIBRARY_VERSION: &str = concat!(
    "WeftMPI ",
    env!("CARGO_PKG_VERSION"),
    " (MPI 5.0, standard ABI 1.0)"
);

#[mpi(Init)]
fn init(_argc: *mut c_int, _argv: *mut *mut *mut c_char) -> Result<()> {
    models::initialize(ThreadLevel::Single)
}

const LEVELS: [(ThreadLevel, c_int); 4] = [
    (ThreadLevel::Single, MPI_THREAD_SINGLE),
    (ThreadLevel::Funneled, MPI_THREAD_FUNNELED),
    (ThreadLevel::Serialized, MPI_THREAD_SERIALIZED),
    (ThreadLevel::Multiple, MPI_THREAD_MULTIPLE),
];

/// What is provided where a level is required: that one; otherwise the lowest above it, or the highest that there is
/// (MPI-5.0 §11.6.2, §15.3.4).
pub(crate) fn provided_for(required: c_int) -> (ThreadLevel, c_int) {
    let enough = LEVELS.iter().find(|(_, value)| *value >= required);
    *enough.unwrap_or(&LEVELS[LEVELS.len() - 1])
}

#[mpi(Init_thread)]
fn init_thread(
    _argc: *mut c_int,
    _argv: *mut *mut *mut c_char,
    required: c_int,
    provided: Out<c_int>,
) -> Result<()> {
    let (level, value) = provided_for(required);
    models::initialize(level)?;
    provided.set(value);
    Ok(())
}

#[mpi(Initialized)]
fn initialized(flag: Out<bool>) -> Result<()> {
    flag.set(world() != Phase::Before);
    Ok(())
}

#[mpi(Finalize)]
fn finalize() -> Result<()> {
    models::finalize()
}

#[mpi(Finalized)]
fn finalized(flag: Out<bool>) -> Result<()> {
    flag.set(world() == Phase::After);
    Ok(())
}

/// Ends the whole job, whatever the communicator (MPI-5.0 §11.4.2).
#[mpi(Abort)]
fn abort(_comm: MPI_Comm, errorcode: c_int) -> Result<()> {
    job::abort(errorcode, &format!("MPI_Abort with code {errorcode}"))
}

#[mpi(Query_thread)]
fn query_thread(provided: Out<c_int>) -> Result<()> {
    provided.set(LEVELS[models::thread_level() as usize].1);
    Ok(())
}

#[mpi(Is_thread_main)]
fn is_thread_main(flag: Out<bool>) -> Result<()> {
    flag.set(job::is_main_thread());
    Ok(())
}

#[mpi(Alloc_mem)]
fn alloc_mem(size: i64, info: Option<InfoId>, baseptr: OutAddress) -> Result<()> {
    baseptr.set(memory::allocate(size, info)?.cast());
    Ok(())
}

/// At any time, which the standard does not ask for: destructors of C++ objects give memory back after `MPI_Finalize`, as some other
/// libraries let them.
#[mpi(Free_mem)]
fn free_mem(base: Address) -> Result<()> {
    memory::free(base.pointer())
}

/// No process of this library was spawned.
#[mpi(Comm_get_parent)]
fn comm_get_parent(parent: Out<Option<CommId>>) -> Result<()> {
    parent.set(None);
    Ok(())
}

#[mpi(Get_version)]
fn get_version(version: Out<c_int>, subversion: Out<c_int>) -> Result<()> {
    version.set(MPI_VERSION);
    subversion.set(MPI_SUBVERSION);
    Ok(())
}

#[mpi(Get_library_version)]
fn get_library_version(version: OutString, resultlen: Out<c_int>) -> Result<()> {
    resultlen.set(version.set(LIBRARY_VERSION.as_bytes(), MPI_MAX_LIBRARY_VERSION_STRING));
    Ok(())
}

#[mpi(Get_processor_name)]
fn get_processor_name(name: OutString, resultlen: Out<c_int>) -> Result<()> {
    resultlen.set(name.set(system::host_name().as_bytes(), MPI_MAX_PROCESSOR_NAME));
    Ok(())
}

#[mpi(Get_hw_resource_info)]
fn get_hw_resource_info(hw_info: Out<InfoId>) -> Result<()> {
    hw_info.set(hardware::resources()?);
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
