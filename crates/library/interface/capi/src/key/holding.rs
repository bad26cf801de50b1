//! The objects that have attributes.

use std::ffi::c_int;

use weft_handle::{CommId, WindowId};
use weft_objects::TypeId;

use crate::foreign::Handed;
use crate::output::Output;

/// An identifier of objects that have attributes.
pub trait Holding: Output<C: Handed> {
    /// The object whose identifier has that number.
    fn of(number: u64) -> Self;

    /// Its handle as an integer of Fortran's.
    fn integer(number: u64) -> c_int;
}

macro_rules! holding {
    ($($id:ty,)*) => {$(
        impl Holding for $id {
            fn of(number: u64) -> $id {
                // SAFETY: the caller of MPI sees to it that the object stays while a call works on it (MPI-5.0 §2.5.1).
                unsafe { <$id>::named(number) }
            }

            fn integer(number: u64) -> c_int {
                <$id>::of(number).into_c().integer()
            }
        }
    )*};
}

holding! { CommId, TypeId, WindowId, }
