//! Attributes, whose values are integers in Fortran (MPI-5.0 §7.7, §16.1, §19.3.7).

use std::ffi::{c_int, c_void};
use std::mem::transmute;
use std::ptr::without_provenance_mut;

use crate::abi::*;
use weft_abi_macros::routine;

use crate::handle::Handle;
use crate::ierror;
use crate::language::{Width, calling};
use crate::routines::c;

/// A function of the program's.
type Address = *const ();

/// The integer of a width, as the word that C takes.
///
/// # Safety
/// Such an integer stands at the address.
unsafe fn word(address: *const c_void, width: Width) -> *mut c_void {
    // SAFETY: by this function's contract.
    let number = unsafe {
        match width {
            Width::Address => *address.cast::<isize>(),
            Width::Integer => *address.cast::<c_int>() as isize,
        }
    };
    without_provenance_mut(number.cast_unsigned())
}

/// Stores the word that C gave, if it gave one; an INTEGER takes its lower half (MPI-5.0 §19.3.7).
///
/// # Safety
/// An integer of that width stands at the first address, a LOGICAL at the second.
unsafe fn store(number: isize, flag: *const c_int, address: *mut c_void, width: Width) {
    // SAFETY: by this function's contract.
    unsafe {
        match width {
            _ if *flag == 0 => {}
            Width::Address => *address.cast() = number,
            Width::Integer => *address.cast() = number as c_int,
        }
    }
}

macro_rules! attributes {
    ($($width:ident, $handle:ty, $create:ident = $c_create:ident<$copy:ty, $delete:ty>, $set:ident = $c_set:ident,
       $get:ident = $c_get:ident;)*) => {$(
        #[routine]
        unsafe extern "C" fn $create(
            copy: Address,
            delete: Address,
            keyval: *mut c_int,
            extra_state: *const c_void,
            ierror: *mut c_int,
        ) {
            // SAFETY: Fortran's caller passes what the standard asks of each parameter.
            unsafe {
                let copy = transmute::<Address, $copy>(copy);
                let delete = transmute::<Address, $delete>(delete);
                let extra_state = word(extra_state, Width::$width);
                ierror::store(ierror, calling(Width::$width, || c::$c_create(copy, delete, keyval, extra_state)));
            }
        }

        #[routine]
        unsafe extern "C" fn $set(
            object: *const c_void,
            keyval: *const c_int,
            value: *const c_void,
            ierror: *mut c_int,
        ) {
            // SAFETY: as above.
            unsafe {
                let object = <$handle>::of_fortran(object);
                let value = word(value, Width::$width);
                ierror::store(ierror, calling(Width::$width, || c::$c_set(object, attribute_key(*keyval), value)));
            }
        }

        #[routine]
        unsafe extern "C" fn $get(
            object: *const c_void,
            keyval: *const c_int,
            value: *mut c_void,
            flag: *mut c_int,
            ierror: *mut c_int,
        ) {
            // SAFETY: as above.
            unsafe {
                let object = <$handle>::of_fortran(object);
                let mut number = 0_isize;
                let place = (&raw mut number).cast();
                let code = calling(Width::$width, || c::$c_get(object, attribute_key(*keyval), place, flag));
                if code == MPI_SUCCESS {
                    store(number, flag, value, Width::$width);
                }
                ierror::store(ierror, code);
            }
        }
    )*};
}

attributes! {
    Address, MPI_Comm,
    mpi_comm_create_keyval_ = MPI_Comm_create_keyval<MPI_Comm_copy_attr_function, MPI_Comm_delete_attr_function>,
    mpi_comm_set_attr_ = MPI_Comm_set_attr, mpi_comm_get_attr_ = MPI_Comm_get_attr;
    Address, MPI_Datatype,
    mpi_type_create_keyval_ = MPI_Type_create_keyval<MPI_Type_copy_attr_function, MPI_Type_delete_attr_function>,
    mpi_type_set_attr_ = MPI_Type_set_attr, mpi_type_get_attr_ = MPI_Type_get_attr;
    Address, MPI_Win,
    mpi_win_create_keyval_ = MPI_Win_create_keyval<MPI_Win_copy_attr_function, MPI_Win_delete_attr_function>,
    mpi_win_set_attr_ = MPI_Win_set_attr, mpi_win_get_attr_ = MPI_Win_get_attr;
    Integer, MPI_Comm,
    mpi_keyval_create_ = MPI_Keyval_create<MPI_Copy_function, MPI_Delete_function>,
    mpi_attr_put_ = MPI_Attr_put, mpi_attr_get_ = MPI_Attr_get;
}
