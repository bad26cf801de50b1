//! What the standard no longer has and older libraries do: MPI-1's routines, whose addresses are INTEGERs (MPI-5.0 §17).

use std::ffi::{c_int, c_void};
use std::mem::transmute;

use weft_abi_macros::routine;

use crate::abi::*;
use crate::handle::{Handle, Handles};
use crate::language::{Width, calling};
use crate::routines::c;
use crate::{ierror, sentinel};

/// A function of the program's.
type Address = *const ();

/// An address as an INTEGER, which has only the lower half of a large one.
fn integer(address: MPI_Aint) -> c_int {
    address as c_int
}

#[routine]
unsafe extern "C" fn mpi_address_(location: *mut c_void, address: *mut c_int, ierror: *mut c_int) {
    let mut found = 0;
    // SAFETY: Fortran's caller passes what the standard asks of each parameter; so below.
    unsafe {
        let code = c::MPI_Get_address(sentinel::buffer(location), &mut found);
        *address = integer(found);
        ierror::store(ierror, code);
    }
}

/// Lower bound and extent of a datatype, of which `choose` makes an INTEGER.
///
/// # Safety
/// Three INTEGERs stand at the addresses.
unsafe fn bounds(
    datatype: *const c_void,
    place: *mut c_int,
    ierror: *mut c_int,
    choose: fn(MPI_Aint, MPI_Aint) -> MPI_Aint,
) {
    let (mut lower, mut extent) = (0, 0);
    // SAFETY: by this function's contract.
    unsafe {
        let datatype = MPI_Datatype::of_fortran(datatype);
        let code = c::MPI_Type_get_extent(datatype, &mut lower, &mut extent);
        if code == MPI_SUCCESS {
            *place = integer(choose(lower, extent));
        }
        ierror::store(ierror, code);
    }
}

#[routine]
unsafe extern "C" fn mpi_type_extent_(
    datatype: *const c_void,
    extent: *mut c_int,
    ierror: *mut c_int,
) {
    // SAFETY: as above.
    unsafe { bounds(datatype, extent, ierror, |_, extent| extent) };
}

#[routine]
unsafe extern "C" fn mpi_type_lb_(
    datatype: *const c_void,
    displacement: *mut c_int,
    ierror: *mut c_int,
) {
    // SAFETY: as above.
    unsafe { bounds(datatype, displacement, ierror, |lower, _| lower) };
}

#[routine]
unsafe extern "C" fn mpi_type_ub_(
    datatype: *const c_void,
    displacement: *mut c_int,
    ierror: *mut c_int,
) {
    // SAFETY: as above.
    unsafe {
        bounds(datatype, displacement, ierror, |lower, extent| {
            lower + extent
        })
    };
}

#[routine]
unsafe extern "C" fn mpi_type_hvector_(
    count: *const c_int,
    blocklength: *const c_int,
    stride: *const c_int,
    oldtype: *const c_void,
    newtype: *mut c_void,
    ierror: *mut c_int,
) {
    let mut made = MPI_Datatype::NULL;
    // SAFETY: as above.
    unsafe {
        let oldtype = MPI_Datatype::of_fortran(oldtype);
        let stride = *stride as MPI_Aint;
        let code = c::MPI_Type_create_hvector(*count, *blocklength, stride, oldtype, &mut made);
        made.into_fortran(newtype);
        ierror::store(ierror, code);
    }
}

/// Displacements in bytes.
///
/// # Safety
/// So many INTEGERs stand at the address.
unsafe fn displacements(address: *const c_int, count: c_int) -> Vec<MPI_Aint> {
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: by this function's contract.
    let each = (0..count).map(|at| unsafe { *address.add(at) } as MPI_Aint);
    each.collect()
}

#[routine]
unsafe extern "C" fn mpi_type_hindexed_(
    count: *const c_int,
    lengths: *const c_int,
    offsets: *const c_int,
    oldtype: *const c_void,
    newtype: *mut c_void,
    ierror: *mut c_int,
) {
    let mut made = MPI_Datatype::NULL;
    // SAFETY: as above.
    unsafe {
        let oldtype = MPI_Datatype::of_fortran(oldtype);
        let offsets = displacements(offsets, *count);
        let code =
            c::MPI_Type_create_hindexed(*count, lengths, offsets.as_ptr(), oldtype, &mut made);
        made.into_fortran(newtype);
        ierror::store(ierror, code);
    }
}

#[routine]
unsafe extern "C" fn mpi_type_struct_(
    count: *const c_int,
    lengths: *const c_int,
    offsets: *const c_int,
    types: *const c_void,
    newtype: *mut c_void,
    ierror: *mut c_int,
) {
    let mut made = MPI_Datatype::NULL;
    // SAFETY: as above.
    unsafe {
        let offsets = displacements(offsets, *count);
        let mut types = Handles::<MPI_Datatype>::read(types, *count);
        let code = c::MPI_Type_create_struct(
            *count,
            lengths,
            offsets.as_ptr(),
            types.as_mut_ptr(),
            &mut made,
        );
        made.into_fortran(newtype);
        ierror::store(ierror, code);
    }
}

#[routine]
unsafe extern "C" fn mpi_errhandler_create_(
    function: Address,
    errhandler: *mut c_void,
    ierror: *mut c_int,
) {
    let mut made = MPI_Errhandler::NULL;
    // SAFETY: as above.
    unsafe {
        let function = transmute::<Address, MPI_Comm_errhandler_function>(function);
        let code = calling(Width::Address, || {
            c::MPI_Comm_create_errhandler(function, &mut made)
        });
        made.into_fortran(errhandler);
        ierror::store(ierror, code);
    }
}

#[routine]
unsafe extern "C" fn mpi_errhandler_get_(
    comm: *const c_void,
    errhandler: *mut c_void,
    ierror: *mut c_int,
) {
    let mut found = MPI_Errhandler::NULL;
    // SAFETY: as above.
    unsafe {
        let code = c::MPI_Comm_get_errhandler(MPI_Comm::of_fortran(comm), &mut found);
        found.into_fortran(errhandler);
        ierror::store(ierror, code);
    }
}

#[routine]
unsafe extern "C" fn mpi_errhandler_set_(
    comm: *const c_void,
    errhandler: *const c_void,
    ierror: *mut c_int,
) {
    // SAFETY: as above.
    unsafe {
        let errhandler = MPI_Errhandler::of_fortran(errhandler);
        let code = c::MPI_Comm_set_errhandler(MPI_Comm::of_fortran(comm), errhandler);
        ierror::store(ierror, code);
    }
}
