//! What the standard no longer has and older libraries do: functions of MPI-1 (MPI-5.0 §17), and the datatypes `MPI_LB`
//! and `MPI_UB`, which mark the bounds of a structure.

use std::ffi::{c_int, c_void};
use std::slice::from_raw_parts;

use weft_abi::*;
use weft_abi_macros::foreign;
use weft_foreign::convert::{Array, Kind, Place, length};

use crate::functions::standard;
use crate::handles::{self, Handle};
use crate::kinds::{COMMUNICATOR, DATATYPE, ERRHANDLER};

#[foreign]
unsafe extern "C" fn MPI_Address(location: *const c_void, address: *mut MPI_Aint) -> c_int {
    // SAFETY: as the caller has promised; so below.
    unsafe { standard::MPI_Get_address(location, address) }
}

#[foreign]
unsafe extern "C" fn MPI_Errhandler_create(
    function: MPI_Comm_errhandler_function,
    errhandler: *mut Handle,
) -> c_int {
    let mut place = Place::<ERRHANDLER>::room(errhandler);
    // SAFETY: as above.
    unsafe {
        let code = standard::MPI_Comm_create_errhandler(function, place.address());
        place.store();
        code
    }
}

#[foreign]
unsafe extern "C" fn MPI_Errhandler_get(comm: Handle, errhandler: *mut Handle) -> c_int {
    let mut place = Place::<ERRHANDLER>::room(errhandler);
    // SAFETY: as above.
    unsafe {
        let code =
            standard::MPI_Comm_get_errhandler(COMMUNICATOR::to_standard(comm), place.address());
        place.store();
        code
    }
}

#[foreign]
unsafe extern "C" fn MPI_Errhandler_set(comm: Handle, errhandler: Handle) -> c_int {
    let errhandler = ERRHANDLER::to_standard(errhandler);
    // SAFETY: as above.
    unsafe { standard::MPI_Comm_set_errhandler(COMMUNICATOR::to_standard(comm), errhandler) }
}

#[foreign]
unsafe extern "C" fn MPI_Type_extent(datatype: Handle, extent: *mut MPI_Aint) -> c_int {
    let mut lower = 0;
    // SAFETY: as above.
    unsafe { standard::MPI_Type_get_extent(DATATYPE::to_standard(datatype), &mut lower, extent) }
}

#[foreign]
unsafe extern "C" fn MPI_Type_lb(datatype: Handle, displacement: *mut MPI_Aint) -> c_int {
    let mut extent = 0;
    // SAFETY: as above.
    unsafe {
        standard::MPI_Type_get_extent(DATATYPE::to_standard(datatype), displacement, &mut extent)
    }
}

#[foreign]
unsafe extern "C" fn MPI_Type_ub(datatype: Handle, displacement: *mut MPI_Aint) -> c_int {
    let (mut lower, mut extent) = (0, 0);
    // SAFETY: as above.
    unsafe {
        let code =
            standard::MPI_Type_get_extent(DATATYPE::to_standard(datatype), &mut lower, &mut extent);
        if code == MPI_SUCCESS {
            displacement.write(lower + extent);
        }
        code
    }
}

#[foreign]
unsafe extern "C" fn MPI_Type_hvector(
    count: c_int,
    blocklength: c_int,
    stride: MPI_Aint,
    oldtype: Handle,
    newtype: *mut Handle,
) -> c_int {
    let mut place = Place::<DATATYPE>::room(newtype);
    let oldtype = DATATYPE::to_standard(oldtype);
    // SAFETY: as above.
    unsafe {
        let code =
            standard::MPI_Type_create_hvector(count, blocklength, stride, oldtype, place.address());
        place.store();
        code
    }
}

#[foreign]
unsafe extern "C" fn MPI_Type_hindexed(
    count: c_int,
    lengths: *const c_int,
    displacements: *const MPI_Aint,
    oldtype: Handle,
    newtype: *mut Handle,
) -> c_int {
    let mut place = Place::<DATATYPE>::room(newtype);
    let oldtype = DATATYPE::to_standard(oldtype);
    // SAFETY: as above.
    unsafe {
        let code = standard::MPI_Type_create_hindexed(
            count,
            lengths,
            displacements,
            oldtype,
            place.address(),
        );
        place.store();
        code
    }
}

#[foreign]
unsafe extern "C" fn MPI_Type_struct(
    count: c_int,
    lengths: *const c_int,
    displacements: *const MPI_Aint,
    types: *const Handle,
    newtype: *mut Handle,
) -> c_int {
    // SAFETY: as the caller has promised.
    unsafe { MPI_Type_create_struct(count, lengths, displacements, types, newtype) }
}

/// The elements of a structure, and its bounds where they are marked.
#[derive(Default)]
struct Structure {
    lengths: Vec<c_int>,
    displacements: Vec<MPI_Aint>,
    types: Vec<MPI_Datatype>,
    lower: Option<MPI_Aint>,
    upper: Option<MPI_Aint>,
}

impl Structure {
    /// # Safety
    /// So many elements stand at each address.
    unsafe fn read(
        count: usize,
        lengths: *const c_int,
        displacements: *const MPI_Aint,
        types: *const Handle,
    ) -> Structure {
        let mut structure = Structure::default();
        if count == 0 || lengths.is_null() || displacements.is_null() || types.is_null() {
            return structure;
        }
        // SAFETY: by this function's contract.
        let (lengths, displacements, types) = unsafe {
            (
                from_raw_parts(lengths, count),
                from_raw_parts(displacements, count),
                from_raw_parts(types, count),
            )
        };
        for ((&length, &displacement), &datatype) in lengths.iter().zip(displacements).zip(types) {
            let bound = |found: Option<MPI_Aint>, choose: fn(MPI_Aint, MPI_Aint) -> MPI_Aint| {
                Some(found.map_or(displacement, |found| choose(found, displacement)))
            };
            match datatype {
                _ if datatype == handles::lower_bound() => {
                    structure.lower = bound(structure.lower, MPI_Aint::min)
                }
                _ if datatype == handles::upper_bound() => {
                    structure.upper = bound(structure.upper, MPI_Aint::max)
                }
                _ => {
                    structure.lengths.push(length);
                    structure.displacements.push(displacement);
                    structure.types.push(DATATYPE::to_standard(datatype));
                }
            }
        }
        structure
    }

    /// Gives a datatype its marked bounds.
    fn bounded(&self, datatype: &mut MPI_Datatype) -> c_int {
        if self.lower.is_none() && self.upper.is_none() {
            return MPI_SUCCESS;
        }
        let (mut lower, mut extent, mut unbounded) = (0, 0, *datatype);
        // SAFETY: places of this function's.
        unsafe {
            let code = standard::MPI_Type_get_extent(unbounded, &mut lower, &mut extent);
            if code != MPI_SUCCESS {
                return code;
            }
            let upper = self.upper.unwrap_or(lower + extent);
            let lower = self.lower.unwrap_or(lower);
            let code = standard::MPI_Type_create_resized(unbounded, lower, upper - lower, datatype);
            standard::MPI_Type_free(&mut unbounded);
            code
        }
    }
}

#[foreign]
unsafe extern "C" fn MPI_Type_create_struct(
    count: c_int,
    lengths: *const c_int,
    displacements: *const MPI_Aint,
    types: *const Handle,
    newtype: *mut Handle,
) -> c_int {
    // SAFETY: as the caller has promised.
    let structure = unsafe { Structure::read(length(count), lengths, displacements, types) };
    // Where nothing was read, the call below reports why.
    let count = match structure.lower.or(structure.upper) {
        None => count,
        Some(_) => structure.types.len() as c_int,
    };
    let mut place = Place::<DATATYPE>::room(newtype);
    let made = place.address();
    // SAFETY: as above; the vectors are as long as the count, or the count is wrong or an address null.
    unsafe {
        let mut code = standard::MPI_Type_create_struct(
            count,
            if lengths.is_null() {
                lengths
            } else {
                structure.lengths.as_ptr()
            },
            if displacements.is_null() {
                displacements
            } else {
                structure.displacements.as_ptr()
            },
            if types.is_null() {
                std::ptr::null()
            } else {
                structure.types.as_ptr()
            },
            made,
        );
        if code == MPI_SUCCESS {
            code = structure.bounded(&mut *made);
        }
        place.store();
        code
    }
}

/// Newer than the marks of bounds.
#[foreign]
unsafe extern "C" fn MPI_Type_create_struct_c(
    count: MPI_Count,
    lengths: *const MPI_Count,
    displacements: *const MPI_Count,
    types: *const Handle,
    newtype: *mut Handle,
) -> c_int {
    let mut place = Place::<DATATYPE>::room(newtype);
    // SAFETY: as the caller has promised.
    unsafe {
        let mut types = Array::<DATATYPE>::holding(types, length(count));
        let code = standard::MPI_Type_create_struct_c(
            count,
            lengths,
            displacements,
            types.address(),
            place.address(),
        );
        place.store();
        code
    }
}
