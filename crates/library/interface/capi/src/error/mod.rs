//! Errors (MPI-5.0 §9.3 to §9.5): classes, codes and strings.

mod handler;

use std::ffi::{CStr, c_int};

use weft_abi::MPI_MAX_ERROR_STRING;
use weft_abi_macros::mpi;
use weft_error::codes;

use crate::entry::Result;
use crate::output::{Out, OutString};

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
    errorclass.set(codes::add_class()?);
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
    use weft_error::strings;

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
