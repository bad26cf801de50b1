//! Choice buffers of `mpi_f08` that are copied if they are not contiguous: those whose elements C's function must find one behind
//! the other. They are the operands of reductions (MPI-5.0 §6.9) and buffers of packed data, which no datatype describes.

use std::ffi::{c_int, c_void};
use std::ptr::copy_nonoverlapping;

use crate::abi::*;

use crate::descriptor::Descriptor;
use crate::dimension::Dimension;
use crate::handle::Handle;
use crate::{peers, sentinel};

unsafe extern "C" {
    fn PMPI_Type_get_extent_c(
        datatype: MPI_Datatype,
        lb: *mut MPI_Count,
        extent: *mut MPI_Count,
    ) -> c_int;
    fn PMPI_Comm_size(comm: MPI_Comm, size: *mut c_int) -> c_int;
    fn PMPI_Comm_rank(comm: MPI_Comm, rank: *mut c_int) -> c_int;
}

/// This process in its own group.
#[derive(Default)]
struct Own {
    rank: c_int,
    size: c_int,
}

/// None of what is no communicator.
///
/// # Safety
/// An INTEGER stands at the address.
unsafe fn own(comm: *const c_void) -> Own {
    let mut own = Own::default();
    // SAFETY: by this function's contract, and places of this function's.
    unsafe {
        if let Some(comm) = peers::communicator(comm) {
            PMPI_Comm_size(comm, &mut own.size);
            PMPI_Comm_rank(comm, &mut own.rank);
        }
    }
    own
}

/// How many bytes of a buffer a call may use, and to how many of the first ones it stores.
#[derive(Clone, Copy)]
pub struct Used {
    pub bytes: usize,
    pub stored: usize,
}

impl Used {
    /// Elements of a datatype, of which some are stored to.
    ///
    /// # Safety
    /// An INTEGER stands at the address.
    unsafe fn elements(datatype: *const c_void, used: i64, stored: i64) -> Used {
        let (mut lower, mut extent) = (0, 0);
        // SAFETY: by this function's contract, and places of this function's.
        let code = unsafe {
            let datatype = MPI_Datatype::of_fortran(datatype);
            PMPI_Type_get_extent_c(datatype, &mut lower, &mut extent)
        };
        // What is no datatype, or no count, the call itself reports.
        let bytes = |count: i64| match code {
            MPI_SUCCESS => usize::try_from(count.saturating_mul(extent)).unwrap_or(0),
            _ => 0,
        };
        Used {
            bytes: bytes(used),
            stored: bytes(stored),
        }
    }

    /// Of the same elements on all processes.
    ///
    /// # Safety
    /// As of [`Used::elements`].
    pub unsafe fn equal(datatype: *const c_void, count: impl Into<i64>) -> Used {
        let count = count.into();
        // SAFETY: by this function's contract.
        unsafe { Used::elements(datatype, count, count) }
    }

    /// Of a block for each process of `comm`.
    ///
    /// # Safety
    /// INTEGERs stand at the addresses.
    pub unsafe fn blocks(
        datatype: *const c_void,
        comm: *const c_void,
        count: impl Into<i64>,
    ) -> Used {
        let count = count.into();
        // SAFETY: by this function's contract.
        unsafe {
            let all = count.saturating_mul(own(comm).size.into());
            Used::elements(datatype, all, count)
        }
    }

    /// Of a block of its own length for each process of `comm`.
    ///
    /// # Safety
    /// INTEGERs stand at the addresses, and as many counts as there are processes.
    pub unsafe fn varying<T: Copy + Into<i64>>(
        datatype: *const c_void,
        comm: *const c_void,
        counts: *const T,
    ) -> Used {
        // SAFETY: by this function's contract.
        unsafe {
            let Own { rank, size } = own(comm);
            let count = |rank: c_int| (*counts.offset(rank as isize)).into();
            let all = (0..size).map(count).fold(0_i64, i64::saturating_add);
            let own = if size > 0 { count(rank) } else { 0 };
            Used::elements(datatype, all, own)
        }
    }

    /// Of packed data.
    pub fn packed(bytes: impl TryInto<usize>) -> Used {
        let bytes = bytes.try_into().unwrap_or(0);
        Used {
            bytes,
            stored: bytes,
        }
    }

    /// The same of a buffer that is only read.
    pub fn only_read(self) -> Used {
        Used { stored: 0, ..self }
    }
}

/// A buffer, and a copy of it where it is not contiguous.
pub struct Copied {
    base: *mut u8,
    element: usize,
    /// None of a buffer that is contiguous.
    dimensions: Vec<Dimension>,
    /// The elements one behind the other, and room for what the call says there is more.
    copy: Vec<u8>,
    stored: usize,
}

impl Copied {
    /// # Safety
    /// A descriptor of a whole array stands at the address.
    #[inline(always)]
    pub unsafe fn read(descriptor: *const c_void, used: impl FnOnce() -> Used) -> Copied {
        let descriptor = descriptor.cast::<Descriptor>();
        // SAFETY: by this function's contract.
        let (base, is_contiguous) =
            unsafe { ((*descriptor).base, Descriptor::is_contiguous(descriptor)) };
        let mut copied = Copied {
            base: sentinel::buffer(base).cast(),
            element: 0,
            dimensions: Vec::new(),
            copy: Vec::new(),
            stored: 0,
        };
        if !is_contiguous {
            // SAFETY: by this function's contract.
            unsafe { copied.fill(descriptor, used()) };
        }
        copied
    }

    /// # Safety
    /// As of [`Copied::read`].
    #[cold]
    unsafe fn fill(&mut self, descriptor: *const Descriptor, used: Used) {
        // SAFETY: by this function's contract.
        unsafe {
            self.element = (*descriptor).element;
            self.dimensions = Descriptor::dimensions(descriptor).to_vec();
        }
        let extents = self.dimensions.iter().map(|dimension| dimension.extent);
        let bytes = extents.product::<isize>().cast_unsigned() * self.element;
        self.copy = vec![0; bytes.max(used.bytes)];
        self.stored = used.stored.min(bytes);
        self.pack();
    }

    #[inline(always)]
    pub fn address(&mut self) -> *mut c_void {
        match self.is_copied() {
            false => self.base.cast(),
            true => self.copy.as_mut_ptr().cast(),
        }
    }

    #[inline(always)]
    pub fn is_copied(&self) -> bool {
        !self.dimensions.is_empty()
    }

    /// Copies the elements out of the array.
    pub fn pack(&mut self) {
        let (element, copy) = (self.element, self.copy.as_mut_ptr());
        each(&self.dimensions, self.base, element, &mut |at, offset| {
            // SAFETY: the array stands, and the copy has room for all its elements.
            unsafe { copy_nonoverlapping(at, copy.add(offset), element) };
        });
    }

    /// Brings what the call has stored to where it belongs.
    pub fn unpack(&self) {
        if self.stored == 0 {
            return;
        }
        let (element, copy) = (self.element, self.copy.as_ptr());
        each(&self.dimensions, self.base, element, &mut |at, offset| {
            let bytes = element.min(self.stored.saturating_sub(offset));
            // SAFETY: as in `pack`.
            unsafe { copy_nonoverlapping(copy.add(offset), at, bytes) };
        });
    }
}

/// Calls `use_one` with each element's address and its offset among them all, in Fortran's order.
fn each(
    dimensions: &[Dimension],
    base: *mut u8,
    element: usize,
    use_one: &mut dyn FnMut(*mut u8, usize),
) {
    fn walk(
        dimensions: &[Dimension],
        base: *mut u8,
        element: usize,
        offset: &mut usize,
        use_one: &mut dyn FnMut(*mut u8, usize),
    ) {
        let Some((outermost, inner)) = dimensions.split_last() else {
            use_one(base, *offset);
            *offset += element;
            return;
        };
        for at in 0..outermost.extent {
            let one = base.wrapping_byte_offset(at * outermost.stride);
            walk(inner, one, element, offset, use_one);
        }
    }
    walk(dimensions, base, element, &mut 0, use_one);
}
