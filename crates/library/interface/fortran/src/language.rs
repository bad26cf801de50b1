//! Calls that tell C's interface whose they are, for their callbacks and attributes (`mpi_abi`'s `language`).

use std::ffi::c_int;

unsafe extern "C" {
    safe fn weft_calling_language(language: c_int);
}

/// The width of the integers that stand for attributes and extra states.
#[derive(Clone, Copy)]
pub enum Width {
    Address = 1,
    /// Of the deprecated routines (MPI-5.0 §16.1).
    Integer = 2,
}

/// Makes `call` a call of Fortran's. One that fails before it takes the word leaves it behind, so it is taken back.
pub fn calling<R>(width: Width, call: impl FnOnce() -> R) -> R {
    weft_calling_language(width as c_int);
    let result = call();
    weft_calling_language(0);
    result
}
