//! `cargo xtask header`: the headers of C and Fortran and the generated Rust files, from the table in crates/library/interface/abi/table.

mod c;
mod rust;

use std::fs;

use crate::fortran;
use crate::root::root;

type Generator = fn() -> String;

const OUTPUTS: [(&str, Generator); 7] = [
    ("include/mpi.h", c::header),
    ("include/mpi-ext.h", c::extensions),
    ("include/mpif.h", fortran::include_file),
    ("include/fortran/mpi.f90", fortran::module),
    ("include/fortran/mpi_f08.f90", fortran::f08_module),
    (
        "crates/library/interface/abi/src/constants.rs",
        rust::constants,
    ),
    (
        "crates/library/interface/abi/src/callback.rs",
        rust::callbacks,
    ),
];

pub fn write() -> Result<(), String> {
    for (path, text) in OUTPUTS {
        fs::write(root().join(path), text()).map_err(|error| format!("{path}: {error}"))?;
    }
    Ok(())
}

pub fn check() -> Result<(), String> {
    for (path, text) in OUTPUTS {
        let found =
            fs::read_to_string(root().join(path)).map_err(|error| format!("{path}: {error}"))?;
        if found != text() {
            return Err(format!("{path} is stale: run `cargo xtask header`"));
        }
    }
    Ok(())
}
