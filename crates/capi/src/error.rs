//! Errors (MPI-5.0 §9.3 to §9.5): handlers, classes, codes and strings.

use std::ffi::c_int;

use weft_abi::MPI_MAX_ERROR_STRING;
use weft_abi_macros::mpi;
use weft_mpi::error::{Handler, handler, strings};
use weft_mpi::{Class, CommId, process};

use crate::argument::{Out, OutString};
use crate::entry::{Error, Result};
use crate::handle::InOut;

#[mpi(Comm_get_errhandler)]
fn comm_get_errhandler(comm: CommId, errhandler: Out<Handler>) -> Result<()> {
    errhandler.set(handler::handler_of(comm)?);
    Ok(())
}

#[mpi(Comm_set_errhandler)]
fn comm_set_errhandler(comm: CommId, errhandler: Handler) -> Result<()> {
    handler::set_handler(comm, errhandler)
}

#[mpi(Comm_call_errhandler)]
fn comm_call_errhandler(comm: CommId, errorcode: c_int) -> Result<()> {
    match handler::handler_of(comm)? {
        Handler::Return => Ok(()),
        Handler::Fatal | Handler::Abort => {
            let text = strings::string(errorcode);
            process::abort(
                errorcode,
                &format!("MPI_Comm_call_errhandler: error {errorcode}: {text}"),
            )
        }
    }
}

/// A predefined handler is handed out by `MPI_Comm_get_errhandler`, and so may be freed; it stays (MPI-5.0 §9.3.1).
#[mpi(Errhandler_free)]
fn errhandler_free(errhandler: InOut<Handler>) -> Result<()> {
    errhandler.get("errhandler")?;
    errhandler.clear();
    Ok(())
}

#[mpi(Error_class)]
fn error_class(errorcode: c_int, errorclass: Out<c_int>) -> Result<()> {
    known(errorcode)?;
    errorclass.set(errorcode);
    Ok(())
}

#[mpi(Error_string)]
fn error_string(errorcode: c_int, string: OutString, resultlen: Out<c_int>) -> Result<()> {
    resultlen.set(string.set(known(errorcode)?.as_bytes(), MPI_MAX_ERROR_STRING));
    Ok(())
}

/// The string of a code, every one of which is a class of its own.
fn known(code: c_int) -> Result<&'static str> {
    strings::predefined(code)
        .ok_or_else(|| Error::new(Class::Arg, format!("errorcode: {code} is no error code")))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use weft_abi::table;

    use super::*;

    #[test]
    fn every_class_has_a_line_of_its_own() {
        let constants = table::sections()
            .iter()
            .flat_map(|section| &section.constants);
        let classes = constants.filter(|constant| {
            constant.name.contains("ERR_") && constant.name != "MAX_ERROR_STRING"
        });
        let classes: Vec<_> = classes
            .filter(|constant| !constant.name.contains("BIND"))
            .collect();
        let lines: HashSet<_> = classes
            .iter()
            .map(|class| known(class.number() as c_int).unwrap())
            .collect();
        assert_eq!(lines.len(), classes.len());
        assert!(
            lines
                .iter()
                .all(|line| line.len() < MPI_MAX_ERROR_STRING as usize)
        );
    }
}
