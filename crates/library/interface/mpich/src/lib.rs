//! `libmpi.so.12`: MPICH's ABI, for programs that are built with MPICH 3.1 or later, Intel MPI, Cray MPICH or MVAPICH.
//!
//! Each function converts its arguments, calls that of the standard ABI, which is in this library too, and converts what
//! comes out. Which function converts what follows from the table (`foreign_functions!`), how a kind of parameter is
//! converted is in `kinds`, `handles` and `constants`; `by_hand` has the functions that are not like the others, `removed`
//! those that the standard no longer has. `unsafe` is where addresses of the program's are used: in all but `constants`.
// Kinds are named as the standard names them.
#![allow(
    non_camel_case_types,
    clippy::upper_case_acronyms,
    clippy::too_many_arguments
)]

#[path = "../../foreign/families/by_hand.rs"]
mod by_hand;
mod constants;
mod functions;
mod handles;
#[path = "../../foreign/families/ignored.rs"]
mod ignored;
mod integers;
mod kinds;
#[path = "../../foreign/families/numbers.rs"]
mod numbers;
#[path = "../../foreign/families/program.rs"]
mod program;
#[path = "../../foreign/families/removed.rs"]
mod removed;
mod sections;
mod status;
mod symbols;
