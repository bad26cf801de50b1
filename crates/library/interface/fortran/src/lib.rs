//! `libmpifort_abi.so.1`: the routines of `mpif.h` and of the modules `mpi` and `mpi_f08` (MPI-5.0 §19.1), on the C interface.
//!
//! Each routine turns Fortran's arguments into C's, calls the function of C by its MPI_ name, so that a tool for C sees the call
//! (§15.2), and turns the results back. `fortran_routines!` makes them from the table of the ABI; those that follow no rule
//! stand in `by_hand`. An INTEGER is an `int`, and a status has the same words in both languages.
//!
//! `unsafe` is everywhere here, for one reason: all arguments are addresses that Fortran's compilers pass, and the compilers
//! of old interfaces check nothing. That they are what the standard asks of the caller is what every routine rests on.
#![allow(clippy::too_many_arguments)]

/// This library has a reserve of its own.
#[global_allocator]
static ALLOCATOR: weft_reserve::Reserving = weft_reserve::Reserving;

mod abi;
mod blocks;
mod copied;
mod descriptor;
mod dimension;
mod extra;
mod handle;
mod ierror;
mod index;
mod kept;
mod language;
mod peers;
mod refused;
mod section;
mod sentinel;
mod special;
mod string;

mod by_hand;
mod routines;
