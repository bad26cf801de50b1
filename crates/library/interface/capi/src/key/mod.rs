//! Attribute keys and values, as the caller's language has them (MPI-5.0 §7.7, §19.3.7).

mod c;
mod fortran;
mod holding;

use std::ffi::c_void;

use weft_objects::attributes::{Functions, Value};

use crate::language::{self, Language};
use crate::output::{Out, OutAddress};
use c::CFunctions;
pub use c::{Copy, Delete};
use fortran::FortranFunctions;
use holding::Holding;

/// The functions of a key, and how they are called: as the language has it whose call creates the key.
pub fn functions<Id: Holding + 'static>(
    copy: Copy<Id::C>,
    delete: Delete<Id::C>,
    extra_state: *mut c_void,
) -> Box<dyn Functions> {
    match language::take() {
        Language::C => Box::new(CFunctions::<Id>::new(copy, delete, extra_state)),
        language => Box::new(FortranFunctions::<Id>::new(
            copy.map(|function| function as *const ()),
            delete.map(|function| function as *const ()),
            extra_state.addr().cast_signed(),
            language,
        )),
    }
}

/// The value that a call sets.
pub fn given(attribute: *mut c_void) -> Value {
    match language::take() {
        Language::C => Value::Pointer(attribute.expose_provenance()),
        _ => Value::integer(attribute.addr().cast_signed()),
    }
}

/// Stores an attribute's value, if it has one, and whether it has.
pub fn store(value: Option<&Value>, place: OutAddress, flag: Out<bool>) {
    let word = value.map(|value| match language::take() {
        Language::C => value.pointer(),
        _ => value.number().cast_unsigned(),
    });
    place.set_word(word, flag);
}

/// A predefined attribute's value: C gets the place where it stands, Fortran what stands there (MPI-5.0 §19.3.7).
pub fn store_predefined<T: Into<i64> + std::marker::Copy>(
    standing: Option<*const T>,
    place: OutAddress,
    flag: Out<bool>,
) {
    let word = standing.map(|standing| match language::take() {
        Language::C => standing.expose_provenance(),
        // SAFETY: a predefined attribute's place, which lives as long as its object.
        _ => (unsafe { standing.read() }).into() as usize,
    });
    place.set_word(word, flag);
}
