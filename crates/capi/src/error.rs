//! Error classes, codes and strings (MPI-5.0 §9.4).

use std::ffi::c_int;

use weft_abi::{MPI_ERR_ARG, MPI_MAX_ERROR_STRING};
use weft_abi_macros::mpi;
use weft_mpi::error::strings;

use crate::argument::{Out, OutString};
use crate::entry::{Error, Result};

#[mpi(Error_class)]
fn error_class(errorcode: c_int, errorclass: Out<c_int>) -> Result<()> {
    known(errorcode)?;
    errorclass.set(errorcode);
    Ok(())
}

#[mpi(Error_string)]
fn error_string(errorcode: c_int, string: OutString, resultlen: Out<c_int>) -> Result<()> {
    resultlen.set(string.set(known(errorcode)?, MPI_MAX_ERROR_STRING));
    Ok(())
}

/// The string of a code, every one of which is a class of its own.
fn known(code: c_int) -> Result<&'static str> {
    strings::predefined(code)
        .ok_or_else(|| Error::new(MPI_ERR_ARG, format!("{code} is no error code")))
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
