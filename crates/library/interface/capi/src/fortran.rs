//! What the ABI says about Fortran (MPI-5.0 §20.4.1).
//!
//! The sizes and logical values are fixed: those of gfortran with its default kinds. So they are known from the start,
//! and a program that wants to set them gets what it gets for a second attempt, `MPI_ERR_ABI`.

use std::ffi::{CString, c_int, c_void};

use weft_abi_macros::mpi;
use weft_error::Class;
use weft_error::argument;
use weft_handle::InfoId;
use weft_objects::Predefined;
use weft_objects::info;

use crate::argument::Address;
use crate::entry::{Error, Result};
use crate::output::Out;

const SIZES: [Predefined; 4] = [
    Predefined::Logical,
    Predefined::Integer,
    Predefined::Real,
    Predefined::DoublePrecision,
];

/// The optional types, all of which are supported.
const OPTIONAL: [Predefined; 19] = [
    Predefined::Logical1,
    Predefined::Logical2,
    Predefined::Logical4,
    Predefined::Logical8,
    Predefined::Logical16,
    Predefined::Integer1,
    Predefined::Integer2,
    Predefined::Integer4,
    Predefined::Integer8,
    Predefined::Integer16,
    Predefined::Real2,
    Predefined::Real4,
    Predefined::Real8,
    Predefined::Real16,
    Predefined::Complex4,
    Predefined::Complex8,
    Predefined::Complex16,
    Predefined::Complex32,
    Predefined::DoubleComplex,
];

#[mpi(Abi_get_fortran_info)]
fn abi_get_fortran_info(info: Out<InfoId>) -> Result<()> {
    let known = info::create()?;
    let set = |datatype: Predefined, what: &str, value: &str| {
        let key = format!("{}_{what}", datatype.name().to_lowercase());
        let [key, value] = [key, value.to_owned()]
            .map(|text| CString::new(text).expect("names and numbers hold no null"));
        info::set(known, &key, &value)
    };
    for datatype in SIZES {
        set(datatype, "size", &datatype.size().to_string())?;
    }
    for datatype in OPTIONAL {
        set(datatype, "supported", "true")?;
    }
    info.set(known);
    Ok(())
}

#[mpi(Abi_set_fortran_info)]
fn abi_set_fortran_info(info: InfoId) -> Result<()> {
    info::check(info)?;
    Err(set_already())
}

#[mpi(Abi_set_fortran_booleans)]
fn abi_set_fortran_booleans(
    logical_size: c_int,
    _logical_true: *mut c_void,
    _logical_false: *mut c_void,
) -> Result<()> {
    check_size(logical_size)?;
    Err(set_already())
}

/// True is 1 and false is 0, in a LOGICAL of any size.
#[mpi(Abi_get_fortran_booleans)]
fn abi_get_fortran_booleans(
    logical_size: c_int,
    logical_true: Address,
    logical_false: Address,
    is_set: Out<bool>,
) -> Result<()> {
    let bytes = check_size(logical_size)?;
    logical_true.store("logical_true", &1u128.to_ne_bytes()[..bytes])?;
    logical_false.store("logical_false", &0u128.to_ne_bytes()[..bytes])?;
    is_set.set(true);
    Ok(())
}

fn check_size(bytes: c_int) -> Result<usize> {
    match bytes {
        1 | 2 | 4 | 8 | 16 => Ok(bytes as usize),
        _ => {
            let what = format_args!("no LOGICAL has {bytes} bytes");
            Err(argument(Class::Arg, "logical_size", what))
        }
    }
}

#[cold]
fn set_already() -> Error {
    Error::new(
        Class::Abi,
        "the properties of Fortran are those of gfortran and are set already",
    )
}

// The bytes above are the lower ones of the number.
const _: () = assert!(cfg!(target_endian = "little"));
