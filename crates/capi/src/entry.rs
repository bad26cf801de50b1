//! The run-time half of `#[mpi]`: parameters from C, errors to their handler.

use std::borrow::Cow;
use std::ffi::c_int;

use weft_abi::{MPI_ERR_UNSUPPORTED_OPERATION, MPI_T_ERR_NOT_SUPPORTED};
use weft_mpi::error::strings;

pub type Result<T> = std::result::Result<T, Error>;

/// An error class with what is wrong, in a few words. Boxed, so that a result is one register where nothing is wrong.
#[derive(Debug)]
pub struct Error(Box<(c_int, Cow<'static, str>)>);

impl Error {
    #[cold]
    pub fn new(class: c_int, detail: impl Into<Cow<'static, str>>) -> Error {
        Error(Box::new((class, detail.into())))
    }
}

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

/// The object a call was made on, whose error handler an error goes to.
pub enum Object {
    None,
}

/// Hands an error to the error handler (MPI-5.0 §9.3) and returns what the function returns if that comes back.
#[cold]
pub fn raise(error: Error, _object: Object, function: &'static str) -> c_int {
    // No call sets an error handler yet, so it is the initial one, MPI_ERRORS_ARE_FATAL.
    let (class, detail) = *error.0;
    eprintln!("{function}: {detail} ({})", strings::string(class));
    std::process::abort()
}

/// What a function does that is not implemented. Those of the tool interface never call an error handler
/// (MPI-5.0 §15.3.9).
#[cold]
pub fn unsupported(function: &'static str) -> c_int {
    if function.starts_with("MPI_T_") {
        return MPI_T_ERR_NOT_SUPPORTED;
    }
    let error = Error::new(MPI_ERR_UNSUPPORTED_OPERATION, "not implemented in WeftMPI");
    raise(error, Object::None, function)
}
