//! The run-time half of `#[mpi]`: parameters from C, errors to their handler.

use std::ffi::c_int;

use weft_abi::{
    MPI_Comm, MPI_Errhandler, MPI_T_ERR_CANNOT_INIT, MPI_T_ERR_INVALID, MPI_T_ERR_NOT_SUPPORTED,
    MPI_T_ERR_PVAR_NO_ATOMIC,
};
use weft_error as error;
use weft_error::Class;
use weft_handle::{CommId, FileId, SessionId, WindowId};
use weft_lifetime::raise;
use weft_objects::handler::{Handler, Kind};
use weft_process::phase::{Phase, phase, world};

use crate::{foreign, language, naming};

pub use weft_error::{Error, Result};

/// A parameter made from its C form. The conversion is the check: what comes out is valid.
#[diagnostic::on_unimplemented(
    message = "a parameter of type `{Self}` is not made from the C type `{C}`",
    label = "the ABI has `{C}` here"
)]
pub trait FromC<C>: Sized {
    /// # Safety
    /// `raw` is what the standard asks of the parameter `name` in the function being called: a pointer that is not
    /// null and no special address is valid for the access that the function makes, until it returns.
    unsafe fn from_c(raw: C, name: &'static str) -> Result<Self>;
}

/// The object a call was made on, whose error handler an error goes to: its handle's number. One word each and no more, so that
/// it is handed over in registers.
pub enum Object {
    None,
    Comm(usize),
    Win(usize),
    Session(usize),
    File(usize),
    /// None, but the call is given a handler, for what it makes.
    GivenForComm(usize),
    GivenForSession(usize),
}

/// Lets a call in between `MPI_Init` and `MPI_Finalize` only.
#[inline(always)]
pub fn enter() -> Result<()> {
    match phase() {
        Phase::Active => Ok(()),
        other => Err(outside(other)),
    }
}

#[cold]
#[inline(never)]
fn outside(phase: Phase) -> Error {
    let what = match (phase, world()) {
        (Phase::Before, _) => "called before MPI_Init or MPI_Session_init",
        (_, Phase::Before) => "called after the last MPI_Session_finalize",
        _ => "called after MPI_Finalize",
    };
    Error::new(Class::Other, what)
}

/// Hands an error to the error handler (MPI-5.0 §9.3) and returns what the function returns if that comes back.
/// `called` is the function's name, a parenthesis, and its parameters as [`naming`] reads them.
#[cold]
#[inline(never)]
pub fn raise(wrong: Error, object: Object, called: &'static str) -> c_int {
    foreign::code(handed(wrong, object, called))
}

fn handed(wrong: Error, object: Object, called: &'static str) -> c_int {
    // The error handler may call C's functions.
    language::take();
    let (function, parameters) = called.split_once('(').unwrap_or((called, ""));
    let wrong = naming::as_in(wrong, parameters);
    if function.starts_with(TOOLS) {
        return tool_code(&wrong);
    }
    let object = match object {
        Object::Comm(number) if phase() != Phase::Before => {
            let handle: MPI_Comm = std::ptr::without_provenance_mut(number);
            // SAFETY: a communicator's conversion follows no pointer.
            let comm = unsafe { CommId::from_c(handle, "comm") };
            comm.map_or(error::Object::None, error::Object::Comm)
        }
        Object::Win(number) => {
            // SAFETY: C's caller sees to it that the object stays while a call works on it (MPI-5.0 §2.5.1).
            error::Object::Window(unsafe { WindowId::named(number as u64) })
        }
        Object::Session(number) => error::Object::Session(SessionId(number as u64)),
        // `MPI_FILE_NULL`, and what is no file, have the default handler (MPI-5.0 §14.7).
        Object::File(number) => error::Object::File(Some(FileId(number as u64))),
        Object::GivenForComm(number) => return raise_given(wrong, number, Kind::Comm, function),
        Object::GivenForSession(number) => {
            return raise_given(wrong, number, Kind::Session, function);
        }
        _ => error::Object::None,
    };
    raise::raise(&wrong, function, object)
}

/// Hands an error to the handler that the call was given, if it is one for objects of that kind.
fn raise_given(wrong: Error, number: usize, kind: Kind, function: &str) -> c_int {
    let handle: MPI_Errhandler = std::ptr::without_provenance_mut(number);
    // SAFETY: a handler's conversion follows no pointer.
    let handler = unsafe { Handler::from_c(handle, "errhandler") };
    match handler.and_then(|handler| handler.for_kind(kind)) {
        Ok(handler) => raise::raise_to(&handler, &wrong, function),
        Err(_) => raise::raise(&wrong, function, error::Object::None),
    }
}

/// The names of the tool interface, which calls no error handler and has codes of its own (MPI-5.0 §15.3.10).
const TOOLS: &str = "MPI_T_";

fn tool_code(error: &Error) -> c_int {
    match error.code() {
        code @ MPI_T_ERR_CANNOT_INIT..=MPI_T_ERR_PVAR_NO_ATOMIC => code,
        _ => MPI_T_ERR_INVALID,
    }
}

/// What a function does that is not implemented. Those of the tool interface never call an error handler
/// (MPI-5.0 §15.3.9).
#[cold]
pub fn unsupported(function: &'static str) -> c_int {
    if function.starts_with(TOOLS) {
        return MPI_T_ERR_NOT_SUPPORTED;
    }
    let error = Error::new(Class::UnsupportedOperation, "not implemented in WeftMPI");
    raise(error, Object::None, function)
}
