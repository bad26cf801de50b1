//! Handles of Fortran's predefined, unnamed datatypes (MPI-5.0 §19.1.9): one for each combination of arguments,
//! committed, never freed.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use weft_datatype::{Datatype, Envelope};
use weft_error::{Class, Error, Result, argument};

use super::annotation::Annotation;
use super::datatype::{TypeId, as_predefined, register, register_annotated};

/// What tells such datatypes apart: constructor, precision, range.
type Arguments = (u8, Option<i32>, Option<i32>);

static HANDLES: Mutex<BTreeMap<Arguments, TypeId>> = Mutex::new(BTreeMap::new());

/// `MPI_Type_create_f90_real`: none is `MPI_UNDEFINED`.
pub fn real(precision: Option<i32>, range: Option<i32>) -> Result<TypeId> {
    check(precision, range)?;
    let datatype = Datatype::fortran_real(precision, range);
    handle_of(&datatype.ok_or_else(too_large)?)
}

/// `MPI_Type_create_f90_complex`.
pub fn complex(precision: Option<i32>, range: Option<i32>) -> Result<TypeId> {
    check(precision, range)?;
    let datatype = Datatype::fortran_complex(precision, range);
    handle_of(&datatype.ok_or_else(too_large)?)
}

/// `MPI_Type_create_f90_integer`.
pub fn integer(range: i32) -> Result<TypeId> {
    check(None, Some(range))?;
    handle_of(&Datatype::fortran_integer(range).ok_or_else(too_large)?)
}

fn check(precision: Option<i32>, range: Option<i32>) -> Result<()> {
    if precision.is_none() && range.is_none() {
        let what = "MPI_UNDEFINED like the range; one of them has to be given";
        return Err(argument(Class::Arg, "p", what));
    }
    for (name, value) in [("p", precision), ("r", range)] {
        if let Some(value) = value.filter(|value| *value < 0) {
            let what = format_args!("{value} is negative");
            return Err(argument(Class::Arg, name, what));
        }
    }
    Ok(())
}

#[cold]
fn too_large() -> Error {
    let what = "no kind of number has as much precision or range";
    argument(Class::Arg, "r", what)
}

/// The handle of a predefined datatype.
fn handle_of(datatype: &Datatype) -> Result<TypeId> {
    let arguments = match datatype.envelope() {
        Envelope::FortranReal { precision, range } => (0, precision, range),
        Envelope::FortranComplex { precision, range } => (1, precision, range),
        Envelope::FortranInteger { range } => (2, None, Some(range)),
        _ => {
            let named = datatype.predefined();
            return Ok(TypeId::predefined(named.expect("asked of predefined ones")));
        }
    };
    let mut handles = HANDLES.lock();
    if let Some(&known) = handles.get(&arguments) {
        return Ok(known);
    }
    let annotation = Annotation::default();
    let handle = register_annotated(datatype.clone(), true, annotation)?;
    debug_assert!(as_predefined(handle).is_none());
    handles.insert(arguments, handle);
    Ok(handle)
}

/// A handle for a datatype that was used to make another: the same for a predefined one, else a new one
/// (MPI-5.0 §5.1.13).
pub fn constituent(datatype: &Datatype) -> Result<TypeId> {
    match datatype.predefined() {
        Some(_) => handle_of(datatype),
        None => register(datatype.clone()),
    }
}
