//! Errors (MPI-5.0 §9.3 to §9.5): handlers, classes, codes and strings.

use std::ffi::{CStr, c_int};

use weft_abi::MPI_MAX_ERROR_STRING;
use weft_abi_macros::mpi;
use weft_mpi::error::{Handler, codes, handler};
use weft_mpi::{CommId, process};

use crate::entry::Result;
use crate::handle::InOut;
use crate::output::{Out, OutString};

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
            let text = codes::text_of(errorcode).unwrap_or_default();
            let text = text.to_string_lossy();
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
    errorclass.set(codes::class_of(errorcode)?);
    Ok(())
}

#[mpi(Error_string)]
fn error_string(errorcode: c_int, string: OutString, resultlen: Out<c_int>) -> Result<()> {
    let text = codes::text_of(errorcode)?;
    resultlen.set(string.set(text.as_bytes(), MPI_MAX_ERROR_STRING));
    Ok(())
}

#[mpi(Add_error_class)]
fn add_error_class(errorclass: Out<c_int>) -> Result<()> {
    errorclass.set(codes::add_class());
    Ok(())
}

#[mpi(Add_error_code)]
fn add_error_code(errorclass: c_int, errorcode: Out<c_int>) -> Result<()> {
    errorcode.set(codes::add_code(errorclass)?);
    Ok(())
}

#[mpi(Add_error_string)]
fn add_error_string(errorcode: c_int, string: &CStr) -> Result<()> {
    codes::add_string(errorcode, string)
}

#[mpi(Remove_error_class)]
fn remove_error_class(errorclass: c_int) -> Result<()> {
    codes::remove_class(errorclass)
}

#[mpi(Remove_error_code)]
fn remove_error_code(errorcode: c_int) -> Result<()> {
    codes::remove_code(errorcode)
}

#[mpi(Remove_error_string)]
fn remove_error_string(errorcode: c_int) -> Result<()> {
    codes::remove_string(errorcode)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use weft_abi::table;
    use weft_mpi::error::strings;

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
            .map(|class| strings::predefined(class.number() as c_int).unwrap())
            .collect();
        assert_eq!(lines.len(), classes.len());
        assert!(
            lines
                .iter()
                .all(|line| line.len() < MPI_MAX_ERROR_STRING as usize)
        );
    }
}
