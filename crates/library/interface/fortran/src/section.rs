//! Choice buffers of `mpi_f08` that a datatype describes: array sections, whose elements may stand anywhere (MPI-5.0 §19.1.12).
//!
//! A section that is not contiguous is what the standard calls a virtual contiguous array: datatype, count and displacements are
//! about the elements one behind the other. So a call gets a datatype that has them lie there, which is freed when the call
//! returns and lives on in the operations that use it. Nothing is copied.

use std::ffi::{c_int, c_void};

use crate::abi::*;

use crate::descriptor::Descriptor;
use crate::handle::{Handle, Handles};
use crate::sentinel;

unsafe extern "C" {
    fn PMPI_Type_free(datatype: *mut MPI_Datatype) -> c_int;
    fn PMPI_Type_size_c(datatype: MPI_Datatype, size: *mut MPI_Count) -> c_int;
}

/// Where the first element stands, whatever the others are.
///
/// # Safety
/// A descriptor stands at the address.
#[inline(always)]
pub unsafe fn address(descriptor: *const c_void) -> *mut c_void {
    // SAFETY: by this function's contract.
    sentinel::buffer(unsafe { (*descriptor.cast::<Descriptor>()).base })
}

/// Where one value of a datatype stands: in the first element. None if it has parts of several that stand apart.
///
/// # Safety
/// A descriptor stands at the first address, an INTEGER at the second.
pub unsafe fn value(descriptor: *const c_void, datatype: *const c_void) -> Option<*mut c_void> {
    // SAFETY: by this function's contract.
    unsafe {
        let mut size = 0;
        let at = descriptor.cast::<Descriptor>();
        let fits = Descriptor::is_contiguous(at) || {
            PMPI_Type_size_c(MPI_Datatype::of_fortran(datatype), &mut size);
            usize::try_from(size).is_ok_and(|size| size <= (*at).element)
        };
        fits.then(|| address(descriptor))
    }
}

/// A buffer for one call.
pub struct Section {
    descriptor: *const Descriptor,
    is_contiguous: bool,
}

impl Section {
    /// # Safety
    /// A descriptor of a whole array stands at the address for the length of the call.
    #[inline(always)]
    pub unsafe fn read(descriptor: *const c_void) -> Section {
        let descriptor = descriptor.cast::<Descriptor>();
        Section {
            descriptor,
            // SAFETY: by this function's contract.
            is_contiguous: unsafe { Descriptor::is_contiguous(descriptor) },
        }
    }

    #[inline(always)]
    pub fn address(&self) -> *mut c_void {
        // SAFETY: by the contract of `read`.
        unsafe { address(self.descriptor.cast()) }
    }

    /// The datatype that describes the buffer to C's function.
    #[inline(always)]
    pub fn datatype(&self, datatype: MPI_Datatype) -> Described {
        match self.is_contiguous {
            true => Described::as_it_is(datatype),
            false => self.in_section(datatype),
        }
    }

    #[cold]
    fn in_section(&self, datatype: MPI_Datatype) -> Described {
        // SAFETY: by the contract of `read`; the array stands until the operation is over, as the standard asks.
        let made = unsafe {
            let Descriptor { base, element, .. } = *self.descriptor;
            let dimensions = Descriptor::dimensions(self.descriptor);
            let (rank, first) = (dimensions.len(), dimensions.as_ptr());
            weft_type_in_section(datatype, base, element, rank, first)
        };
        match made.is_none() {
            true => Described::as_it_is(datatype),
            false => Described {
                datatype: made,
                is_made: true,
            },
        }
    }

    /// The same for an array of datatypes; what it returns stays until C's function has returned.
    pub fn datatypes(&self, datatypes: &mut Handles<MPI_Datatype>) -> Vec<Described> {
        if self.is_contiguous {
            return Vec::new();
        }
        let each = datatypes.slice().iter_mut().map(|datatype| {
            let described = self.in_section(*datatype);
            *datatype = described.datatype;
            described
        });
        each.collect()
    }
}

/// A datatype for one call.
pub struct Described {
    pub datatype: MPI_Datatype,
    /// It was made for this call.
    is_made: bool,
}

impl Described {
    #[inline(always)]
    fn as_it_is(datatype: MPI_Datatype) -> Described {
        Described {
            datatype,
            is_made: false,
        }
    }
}

impl Drop for Described {
    #[inline(always)]
    fn drop(&mut self) {
        if self.is_made {
            // SAFETY: made for this call; operations that use it go on (MPI-5.0 §5.1.9).
            unsafe { PMPI_Type_free(&mut self.datatype) };
        }
    }
}
