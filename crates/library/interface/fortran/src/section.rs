//! Choice buffers of `mpi_f08`: arrays by C's descriptor, whose elements may stand anywhere (MPI-5.0 §19.1.12).
//!
//! Of a descriptor are read only the parts that all compilers lay out alike. A section that is not contiguous is what the
//! standard calls a virtual contiguous array: the datatype and the count are about the elements one behind the other. So it is
//! copied for the time of a call, whatever the datatype is, and a reduction sees an ordinary array too.

use std::ffi::c_void;
use std::ptr::copy_nonoverlapping;
use std::slice::from_raw_parts;

use crate::sentinel;

/// `CFI_cdesc_t`, up to its first dimension.
#[repr(C)]
pub struct Descriptor {
    base: *mut c_void,
    element: usize,
    version: i32,
    rank: i8,
    /// Compilers differ in the order of type and attribute.
    _others: [i8; 3],
    dimensions: [Dimension; 0],
}

#[repr(C)]
struct Dimension {
    _lower_bound: isize,
    /// -1 for the last one of an array whose size is not known.
    extent: isize,
    /// Bytes from one element to the next.
    stride: isize,
}

impl Descriptor {
    /// # Safety
    /// A descriptor stands at the address, with its dimensions behind it.
    unsafe fn dimensions(this: &*const Descriptor) -> &[Dimension] {
        // SAFETY: by this function's contract.
        unsafe {
            let first = (&raw const (**this).dimensions).cast::<Dimension>();
            from_raw_parts(first, (**this).rank.cast_unsigned().into())
        }
    }
}

/// A buffer for one call.
pub struct Section {
    descriptor: *const Descriptor,
    address: *mut c_void,
    /// The elements one behind the other, where they do not stand so in the array.
    copy: Vec<u8>,
    is_changed: bool,
}

impl Section {
    /// Whatever the elements are: where the first one stands.
    ///
    /// # Safety
    /// A descriptor stands at the address.
    pub unsafe fn address_alone(descriptor: *mut c_void) -> Section {
        let descriptor = descriptor.cast_const().cast::<Descriptor>();
        Section {
            descriptor,
            // SAFETY: by this function's contract.
            address: sentinel::buffer(unsafe { (*descriptor).base }),
            copy: Vec::new(),
            is_changed: false,
        }
    }

    /// # Safety
    /// A descriptor of a whole array stands at the address.
    pub unsafe fn read(descriptor: *mut c_void) -> Section {
        // SAFETY: by this function's contract.
        unsafe {
            let mut section = Section::address_alone(descriptor);
            let dimensions = Descriptor::dimensions(&section.descriptor);
            let element = (*section.descriptor).element;
            if !is_contiguous(dimensions, element) {
                let elements: isize = dimensions
                    .iter()
                    .map(|dimension| dimension.extent)
                    .product();
                section.copy = vec![0; elements.cast_unsigned() * element];
                let base = section.address.cast();
                let copy = section.copy.as_mut_ptr();
                each(dimensions, base, element, &mut |at, offset| {
                    copy_nonoverlapping(at, copy.add(offset), element);
                });
                section.address = copy.cast();
            }
            section
        }
    }

    /// The buffer of an operation that goes on when the call has returned; none if it is not contiguous, of which no copy
    /// can be held until then.
    ///
    /// # Safety
    /// As of [`Section::read`].
    pub unsafe fn kept(descriptor: *mut c_void) -> Option<Section> {
        // SAFETY: by this function's contract.
        unsafe {
            let section = Section::address_alone(descriptor);
            let dimensions = Descriptor::dimensions(&section.descriptor);
            let is_whole = is_contiguous(dimensions, (*section.descriptor).element);
            is_whole.then_some(section)
        }
    }

    /// A buffer that the call stores to.
    ///
    /// # Safety
    /// As of [`Section::read`].
    pub unsafe fn changed(descriptor: *mut c_void) -> Section {
        // SAFETY: by this function's contract.
        let mut section = unsafe { Section::read(descriptor) };
        section.is_changed = true;
        section
    }

    pub fn address(&self) -> *mut c_void {
        self.address
    }

    /// After the call: brings what it has stored to where it belongs.
    ///
    /// # Safety
    /// The descriptor and the array still stand.
    pub unsafe fn finish(self) {
        if self.copy.is_empty() || !self.is_changed {
            return;
        }
        // SAFETY: by this function's contract.
        unsafe {
            let element = (*self.descriptor).element;
            let dimensions = Descriptor::dimensions(&self.descriptor);
            let base = (*self.descriptor).base.cast();
            each(dimensions, base, element, &mut |at, offset| {
                copy_nonoverlapping(self.copy.as_ptr().add(offset), at, element);
            });
        }
    }
}

fn is_contiguous(dimensions: &[Dimension], element: usize) -> bool {
    let mut expected = element.cast_signed();
    for dimension in dimensions {
        if dimension.extent == 0 || dimension.extent == -1 {
            return true;
        }
        if dimension.extent > 1 && dimension.stride != expected {
            // A dimension without elements, further out, leaves nothing to copy.
            return dimensions.iter().any(|dimension| dimension.extent == 0);
        }
        expected *= dimension.extent;
    }
    true
}

/// Calls `use_one` with each element's address and its offset among them all, in Fortran's order.
///
/// # Safety
/// The array stands at `base`.
unsafe fn each(
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

/// Address and length of a string that a descriptor holds.
///
/// # Safety
/// A descriptor stands at the address.
pub unsafe fn text(descriptor: *mut c_void) -> (*mut c_void, usize) {
    // SAFETY: by this function's contract.
    unsafe {
        let descriptor = &*descriptor.cast_const().cast::<Descriptor>();
        (descriptor.base, descriptor.element)
    }
}

/// # Safety
/// A descriptor stands at the address.
pub unsafe fn element_size(descriptor: *const c_void) -> usize {
    // SAFETY: by this function's contract.
    unsafe { (*descriptor.cast::<Descriptor>()).element }
}
