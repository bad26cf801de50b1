//! The program's functions of error handlers, as the library calls them; `key` has those of attribute keys.
//!
//! Every call hands C what MPI-5.0 §9.3 says: handles and words that the program gave, and places that live as long
//! as the call.
//!
//! A C++ exception must not leave such a function, nor one of a reduction or a generalized request: MPI may hold locks
//! then, and other processes wait for what it was about to do. All of them are called by `C-unwind`, so that an exception that
//! arrives ends the process there, with a word about it, instead of being undefined behaviour.

use std::ffi::c_int;

use weft_abi::{
    MPI_COMM_NULL, MPI_Comm, MPI_FILE_NULL, MPI_File, MPI_SESSION_NULL, MPI_Session, MPI_WIN_NULL,
    MPI_Win,
};
use weft_handle::CommId;
use weft_objects::handler::{Function, NO_OBJECT};

use crate::argument::null_pointer;
use crate::entry::{FromC, Result};
use crate::foreign::{self, Handed};
use crate::language::{self, Language};
use crate::output::Output;

type ErrorOfC<H> = unsafe extern "C-unwind" fn(*mut H, *mut c_int, ...);
type ErrorOfFortran = unsafe extern "C-unwind" fn(*mut c_int, *mut c_int);

/// A function of an error handler for objects of C type `H`.
pub struct ErrorFunction<H>(ErrorOfC<H>);

impl<H> FromC<Option<ErrorOfC<H>>> for ErrorFunction<H> {
    unsafe fn from_c(raw: Option<ErrorOfC<H>>, name: &'static str) -> Result<ErrorFunction<H>> {
        raw.map(ErrorFunction).ok_or_else(|| null_pointer(name))
    }
}

/// An object whose errors may go to a function of the program's.
pub trait Failing: Sized {
    /// The C handle of the object whose identifier has that number.
    fn handle(number: u64) -> Self;
}

impl Failing for MPI_Comm {
    fn handle(number: u64) -> MPI_Comm {
        match number {
            NO_OBJECT => MPI_COMM_NULL,
            // SAFETY: C's caller sees to it that the object stays while a call works on it (MPI-5.0 §2.5.1).
            _ => unsafe { CommId::named(number) }.into_c(),
        }
    }
}

macro_rules! failing_as_numbered {
    ($($c:ty, $null:expr;)*) => {$(
        impl Failing for $c {
            fn handle(number: u64) -> $c {
                match number {
                    NO_OBJECT => $null,
                    _ => std::ptr::without_provenance_mut(number as usize),
                }
            }
        }
    )*};
}

failing_as_numbered! {
    MPI_File, MPI_FILE_NULL;
    MPI_Win, MPI_WIN_NULL;
    MPI_Session, MPI_SESSION_NULL;
}

impl<H: Failing + Handed + 'static> ErrorFunction<H> {
    /// As the library calls it.
    pub fn boxed(self) -> Function {
        let ErrorFunction(function) = self;
        if language::take() != Language::C {
            // SAFETY: the program's function is one of Fortran's, which takes two integers by reference (MPI-5.0 §9.3.1).
            let function = unsafe { std::mem::transmute::<ErrorOfC<H>, ErrorOfFortran>(function) };
            return Box::new(move |object, code| {
                let mut number = H::handle(object).integer();
                let mut code = foreign::code(code);
                // SAFETY: as below.
                unsafe { function(&raw mut number, &raw mut code) };
                foreign::code_of(code)
            });
        }
        Box::new(move |object, code| {
            let mut handle = H::handle(object).handed();
            let mut code = foreign::code(code);
            // SAFETY: the program's function for such objects, which stays valid while an object has the handler.
            unsafe { function(&raw mut handle, &raw mut code) };
            foreign::code_of(code)
        })
    }
}
