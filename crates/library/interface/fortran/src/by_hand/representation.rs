//! `MPI_REGISTER_DATAREP`, whose conversion functions the library calls as Fortran has them (MPI-5.0 §14.5.3).

use std::ffi::{c_int, c_void};
use std::mem::transmute;
use std::ptr::without_provenance_mut;

use crate::abi::*;
use weft_abi_macros::routine;

use crate::language::{Width, calling};
use crate::routines::c;
use crate::{ierror, string};

/// A function of the program's.
type Address = *const ();

macro_rules! null_functions {
    ($($own:ident)*) => {$(
        /// Stands for no conversion, and is told by its address.
        #[routine]
        unsafe extern "C" fn $own(
            _userbuf: *mut c_void,
            _datatype: *const c_int,
            _count: *const c_void,
            _filebuf: *mut c_void,
            _position: *const MPI_Offset,
            _extra_state: *const isize,
            ierror: *mut c_int,
        ) {
            // SAFETY: an INTEGER.
            unsafe { *ierror = MPI_ERR_CONVERSION };
        }
    )*};
}

null_functions! { mpi_conversion_fn_null_ mpi_conversion_fn_null_c_ }

macro_rules! addresses {
    ($($name:ident)*) => {{
        unsafe extern "C" {
            $(fn $name();)*
        }
        [$($name as Address),*]
    }};
}

/// Whether a function is `MPI_CONVERSION_FN_NULL`. Where a program is linked to fixed addresses, each name of it may stand at
/// one of its own, which the dynamic linker then gives this library too.
fn is_null(function: Address) -> bool {
    let nulls = addresses! {
        mpi_conversion_fn_null_ mpi_conversion_fn_null__ mpi_conversion_fn_null MPI_CONVERSION_FN_NULL
        mpi_conversion_fn_null_c_ mpi_conversion_fn_null_c__ mpi_conversion_fn_null_c MPI_CONVERSION_FN_NULL_C
    };
    nulls.contains(&function)
}

macro_rules! registrations {
    ($($register:ident = $c_register:ident<$conversion:ty>;)*) => {$(
        #[routine]
        unsafe extern "C" fn $register(
            datarep: *const c_void,
            read_conversion_fn: Address,
            write_conversion_fn: Address,
            dtype_file_extent_fn: Address,
            extra_state: *const isize,
            ierror: *mut c_int,
            datarep_length: usize,
        ) {
            // SAFETY: Fortran's caller passes what the standard asks of each parameter.
            unsafe {
                let conversion = |function: Address| match is_null(function) {
                    true => None,
                    false => transmute::<Address, $conversion>(function),
                };
                let (read, write) = (conversion(read_conversion_fn), conversion(write_conversion_fn));
                let extent = transmute::<Address, MPI_Datarep_extent_function>(dtype_file_extent_fn);
                let name = string::trimmed(datarep, datarep_length);
                let extra_state = without_provenance_mut((*extra_state).cast_unsigned());
                let code = calling(Width::Address, || {
                    c::$c_register(name.as_ptr(), read, write, extent, extra_state)
                });
                ierror::store(ierror, code);
            }
        }
    )*};
}

registrations! {
    mpi_register_datarep_ = MPI_Register_datarep<MPI_Datarep_conversion_function>;
    mpi_register_datarep_c_f08_ = MPI_Register_datarep_c<MPI_Datarep_conversion_function_c>;
}
