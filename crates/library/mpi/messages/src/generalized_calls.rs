//! The calls of generalized requests (MPI-5.0 §13.2): `MPI_Grequest_start` and `MPI_Grequest_complete`.

use weft_error::{Class, Error, Result, argument};
use weft_process::engine::engine;

use super::compound::{Compound, Form};
use super::generalized::{Functions, Generalized};
use crate::request::Request;

/// `MPI_Grequest_start`.
pub fn start(functions: Box<dyn Functions>) -> Result<Request> {
    let id = engine().external(0)?;
    Compound::Generalized(Generalized::new(functions, id)).register()
}

/// `MPI_Grequest_complete`.
pub fn complete(request: Request) -> Result<()> {
    let Form::Compound(compound) = request.form()? else {
        return Err(not_generalized());
    };
    let Compound::Generalized(generalized) = &*compound else {
        return Err(not_generalized());
    };
    match generalized.complete()? {
        true => generalized.end_as(request),
        false => Ok(()),
    }
}

#[cold]
fn not_generalized() -> Error {
    argument(Class::Request, "request", "not a generalized request")
}
