//! `libmpi_mpifh.so.40`: Fortran for programs that are built with Open MPI, on `libmpi.so.40`.
//!
//! The same routines as the standard ABI's (`fortran`), by Open MPI's types and constants for C (`abi`): these modules differ,
//! and where the special addresses lie (`blocks`), and the names that Open MPI's modules have (`modules`). Its module `mpi_f08`
//! takes buffers by their addresses, as `mpif.h` does.
#![allow(
    non_camel_case_types,
    clippy::too_many_arguments,
    clippy::upper_case_acronyms
)]

/// This library has a reserve of its own.
#[global_allocator]
static ALLOCATOR: weft_reserve::Reserving = weft_reserve::Reserving;

mod abi;
mod blocks;
#[path = "../../fortran/src/handle.rs"]
mod handle;
#[path = "../../fortran/src/ierror.rs"]
mod ierror;
#[path = "../../fortran/src/index.rs"]
mod index;
#[path = "../../fortran/src/language.rs"]
mod language;
mod modules;
#[path = "../../fortran/src/peers.rs"]
mod peers;
#[path = "../../fortran/src/routines.rs"]
mod routines;
#[path = "../../fortran/src/sentinel.rs"]
mod sentinel;
#[path = "../../fortran/src/special.rs"]
mod special;
#[path = "../../fortran/src/string.rs"]
mod string;

#[path = "../../fortran/families/mod.rs"]
mod family;

#[path = "../../fortran/src/by_hand/mod.rs"]
mod by_hand;
