//! `MPI_TYPE_GET_CONTENTS`, which stores fewer datatypes than its array may have.

use std::ffi::{c_int, c_void};

use crate::abi::*;
use weft_abi_macros::routine;

use crate::handle::{Handle, Handles};
use crate::ierror;
use crate::routines::c;

unsafe extern "C" {
    fn PMPI_Type_get_envelope(
        datatype: MPI_Datatype,
        num_integers: *mut c_int,
        num_addresses: *mut c_int,
        num_datatypes: *mut c_int,
        combiner: *mut c_int,
    ) -> c_int;
    fn PMPI_Type_get_envelope_c(
        datatype: MPI_Datatype,
        num_integers: *mut MPI_Count,
        num_addresses: *mut MPI_Count,
        num_large_counts: *mut MPI_Count,
        num_datatypes: *mut MPI_Count,
        combiner: *mut c_int,
    ) -> c_int;
}

#[routine]
unsafe extern "C" fn mpi_type_get_contents_(
    datatype: *const c_void,
    max_integers: *const c_int,
    max_addresses: *const c_int,
    max_datatypes: *const c_int,
    array_of_integers: *mut c_int,
    array_of_addresses: *mut MPI_Aint,
    array_of_datatypes: *mut c_void,
    ierror: *mut c_int,
) {
    // SAFETY: Fortran's caller passes what the standard asks of each parameter.
    unsafe {
        let datatype = MPI_Datatype::of_fortran(datatype);
        let mut datatypes = Handles::<MPI_Datatype>::room(*max_datatypes);
        let code = c::MPI_Type_get_contents(
            datatype,
            *max_integers,
            *max_addresses,
            *max_datatypes,
            array_of_integers,
            array_of_addresses,
            datatypes.as_mut_ptr(),
        );
        if code == MPI_SUCCESS {
            let (mut integers, mut addresses, mut stored, mut combiner) = (0, 0, 0, 0);
            PMPI_Type_get_envelope(
                datatype,
                &mut integers,
                &mut addresses,
                &mut stored,
                &mut combiner,
            );
            datatypes.shorten(stored);
            datatypes.write(array_of_datatypes);
        }
        ierror::store(ierror, code);
    }
}

#[routine]
unsafe extern "C" fn mpi_type_get_contents_c_f08_(
    datatype: *const c_void,
    max_integers: *const MPI_Count,
    max_addresses: *const MPI_Count,
    max_large_counts: *const MPI_Count,
    max_datatypes: *const MPI_Count,
    array_of_integers: *mut c_int,
    array_of_addresses: *mut MPI_Aint,
    array_of_large_counts: *mut MPI_Count,
    array_of_datatypes: *mut c_void,
    ierror: *mut c_int,
) {
    // SAFETY: as above.
    unsafe {
        let datatype = MPI_Datatype::of_fortran(datatype);
        let mut datatypes = Handles::<MPI_Datatype>::room(*max_datatypes);
        let code = c::MPI_Type_get_contents_c(
            datatype,
            *max_integers,
            *max_addresses,
            *max_large_counts,
            *max_datatypes,
            array_of_integers,
            array_of_addresses,
            array_of_large_counts,
            datatypes.as_mut_ptr(),
        );
        if code == MPI_SUCCESS {
            let (mut integers, mut addresses, mut counts, mut stored, mut combiner) =
                (0, 0, 0, 0, 0);
            PMPI_Type_get_envelope_c(
                datatype,
                &mut integers,
                &mut addresses,
                &mut counts,
                &mut stored,
                &mut combiner,
            );
            datatypes.shorten(stored);
            datatypes.write(array_of_datatypes);
        }
        ierror::store(ierror, code);
    }
}
