//! Handles: integers in Fortran (MPI-5.0 §20.4).

use std::ffi::{c_int, c_void};

/// A handle of C's.
pub trait Handle: Copy {
    /// What a call has as the place of a result, before it stores one.
    const NULL: Self;

    /// The handle of an integer; the null handle if no object has it.
    fn of_integer(number: c_int) -> Self;

    fn integer(self) -> c_int;

    fn is_none(self) -> bool;

    /// # Safety
    /// An INTEGER stands at the address.
    #[inline(always)]
    unsafe fn of_fortran(address: *const c_void) -> Self {
        // SAFETY: by this function's contract.
        Self::of_integer(unsafe { *address.cast::<c_int>() })
    }

    /// # Safety
    /// An INTEGER stands at the address.
    #[inline(always)]
    unsafe fn into_fortran(self, address: *mut c_void) {
        // SAFETY: by this function's contract.
        unsafe { *address.cast::<c_int>() = self.integer() }
    }
}

/// So many handles stand on the stack.
const FEW: usize = 16;

/// An array of handles as C has it.
pub struct Handles<H> {
    few: [H; FEW],
    /// In place of the few if there are more.
    many: Vec<H>,
    length: usize,
}

impl<H: Handle> Handles<H> {
    /// Room for so many null handles.
    pub fn room(length: impl TryInto<usize>) -> Handles<H> {
        let length = length.try_into().unwrap_or(0);
        Handles {
            few: [H::NULL; FEW],
            many: match length > FEW {
                true => vec![H::NULL; length],
                false => Vec::new(),
            },
            length,
        }
    }

    /// # Safety
    /// So many INTEGERs stand at the address.
    pub unsafe fn read(address: *const c_void, length: impl TryInto<usize>) -> Handles<H> {
        let mut handles = Handles::room(length);
        for (at, handle) in handles.slice().iter_mut().enumerate() {
            // SAFETY: by this function's contract.
            *handle = unsafe { H::of_fortran(address.cast::<c_int>().add(at).cast()) };
        }
        handles
    }

    /// # Safety
    /// As many INTEGERs as there are handles stand at the address.
    pub unsafe fn write(&mut self, address: *mut c_void) {
        for (at, handle) in self.slice().iter().enumerate() {
            // SAFETY: by this function's contract.
            unsafe { handle.into_fortran(address.cast::<c_int>().add(at).cast()) };
        }
    }

    pub fn as_mut_ptr(&mut self) -> *mut H {
        self.slice().as_mut_ptr()
    }

    /// Leaves the first ones, so many at most.
    pub fn shorten(&mut self, length: impl TryInto<usize>) {
        self.length = self.length.min(length.try_into().unwrap_or(0));
    }

    pub fn slice(&mut self) -> &mut [H] {
        match self.many.is_empty() {
            true => &mut self.few[..self.length],
            false => &mut self.many[..self.length],
        }
    }
}
