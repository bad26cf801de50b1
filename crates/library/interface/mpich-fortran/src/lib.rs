//! `libmpifort.so.12`: Fortran for programs that are built with MPICH or Intel MPI, on `libmpi.so.12`.
//!
//! The same routines as the standard ABI's (`fortran`), by MPICH's types and constants for C (`abi`): these modules differ, and
//! where the special addresses lie (`blocks`), how arrays are described (`descriptor`), and the names that MPICH's modules
//! have (`modules`).
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
#[path = "../../fortran/src/copied.rs"]
mod copied;
mod descriptor;
#[path = "../../fortran/src/dimension.rs"]
mod dimension;
#[path = "../../fortran/src/handle.rs"]
mod handle;
#[path = "../../fortran/src/ierror.rs"]
mod ierror;
#[path = "../../fortran/src/index.rs"]
mod index;
#[path = "../../fortran/src/kept.rs"]
mod kept;
#[path = "../../fortran/src/language.rs"]
mod language;
mod modules;
#[path = "../../fortran/src/peers.rs"]
mod peers;
#[path = "../../fortran/src/refused.rs"]
mod refused;
#[path = "../../fortran/src/routines.rs"]
mod routines;
#[path = "../../fortran/src/section.rs"]
mod section;
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
