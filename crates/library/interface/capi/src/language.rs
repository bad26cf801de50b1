//! The language of a call's caller.
//!
//! The ABI has one entry for both languages, but what a callback is called with, and what an attribute's value is, depends
//! on the language of the program that hands it over (MPI-5.0 §19.3). So the Fortran library says before such a call whose it
//! is. The call takes the word, and with it the word is gone: what the program's callbacks then call is C again.

use std::cell::Cell;
use std::ffi::c_int;

use weft_abi_macros::exported;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    C,
    /// Attributes and extra states are `INTEGER(KIND=MPI_ADDRESS_KIND)`.
    Fortran,
    /// A deprecated function of Fortran's (MPI-5.0 §16.1): they are `INTEGER`.
    FortranInteger,
}

thread_local! {
    static CALLER: Cell<Language> = const { Cell::new(Language::C) };
}

/// Says for this thread's next call whose it is: 0 C's, 1 Fortran's, 2 Fortran's by a deprecated function. It is the Fortran
/// library's; no name of MPI.
#[exported]
extern "C" fn weft_calling_language(language: c_int) {
    CALLER.set(match language {
        1 => Language::Fortran,
        2 => Language::FortranInteger,
        _ => Language::C,
    });
}

/// The language of this thread's next call's caller.
pub fn of_next() -> Language {
    CALLER.get()
}

/// The language of this call's caller.
pub fn take() -> Language {
    CALLER.replace(Language::C)
}
