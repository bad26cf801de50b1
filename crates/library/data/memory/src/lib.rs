//! User memory, as everything below the C interface names it: what a transport reads and writes, what collectives move.

mod copy;

use std::ops::Range;
use std::sync::Arc;

pub use copy::{boxed, copy};

/// How a message's packed bytes lie in user memory that is not contiguous.
///
/// # Safety
/// Implementations touch, and tell of, only the bytes that the layout covers, relative to `base`.
pub unsafe trait Layout: Send + Sync {
    /// Copies packed bytes `offset .. offset + out.len()` out of user memory.
    ///
    /// # Safety
    /// `base` is valid for the layout's whole span for reads.
    unsafe fn pack(&self, base: *const u8, offset: usize, out: &mut [u8]);
    /// Copies packed bytes `offset .. offset + data.len()` into user memory.
    ///
    /// # Safety
    /// `base` is valid for the layout's whole span for writes.
    unsafe fn unpack(&self, base: *mut u8, offset: usize, data: &[u8]);
    /// How many bytes lie together, on average; 0 if the layout does not tell where its runs lie.
    fn run_bytes(&self) -> usize {
        0
    }
    /// Tells where the packed bytes of `window` lie, run by run in their order: by place relative to `base`, and length, until
    /// `visit` returns false. Whether it never did. A layout whose [`run_bytes`](Self::run_bytes) is 0 is not asked.
    fn runs(&self, window: Range<usize>, visit: &mut dyn FnMut(isize, usize) -> bool) -> bool {
        let _ = visit;
        unreachable!("a layout that tells no runs was asked for those of {window:?}")
    }
}

/// A message's bytes in user memory: contiguous, or described by a layout.
#[derive(Clone)]
pub struct Memory {
    pub base: *mut u8,
    /// Packed length.
    pub bytes: usize,
    pub layout: Option<Arc<dyn Layout>>,
}

// SAFETY: a `Memory` is a promise by the MPI caller that the buffer stays valid and untouched until the
// operation completes (MPI-5.0 §3.7.2); which thread then does the copying does not matter.
unsafe impl Send for Memory {}
// SAFETY: nothing is read or written through it but by unsafe functions, whose callers see to the bytes.
unsafe impl Sync for Memory {}

impl Memory {
    pub const fn contiguous(base: *mut u8, bytes: usize) -> Memory {
        Memory {
            base,
            bytes,
            layout: None,
        }
    }

    /// Packed bytes `offset .. offset + bytes` alone; what lies beyond the end is left out.
    pub fn part(&self, offset: usize, bytes: usize) -> Memory {
        let offset = offset.min(self.bytes);
        let bytes = bytes.min(self.bytes - offset);
        match &self.layout {
            None => Memory::contiguous(self.base.wrapping_add(offset), bytes),
            Some(whole) => Memory {
                base: self.base,
                bytes,
                layout: Some(Arc::new(Part {
                    whole: whole.clone(),
                    offset,
                })),
            },
        }
    }

    /// Copies packed bytes `offset .. offset + out.len()` into `out`.
    ///
    /// # Safety
    /// The user's buffer is valid for reads and `offset + out.len() <= self.bytes`.
    #[inline]
    pub unsafe fn read(&self, offset: usize, out: &mut [u8]) {
        debug_assert!(offset + out.len() <= self.bytes);
        match &self.layout {
            // SAFETY: by this function's contract.
            None => unsafe { copy(self.base.add(offset), out.as_mut_ptr(), out.len()) },
            // SAFETY: by this function's contract.
            Some(layout) => unsafe { layout.pack(self.base, offset, out) },
        }
    }

    /// Copies `data` to packed offset `offset`.
    ///
    /// # Safety
    /// The user's buffer is valid for writes and `offset + data.len() <= self.bytes`.
    #[inline]
    pub unsafe fn write(&self, offset: usize, data: &[u8]) {
        debug_assert!(offset + data.len() <= self.bytes);
        match &self.layout {
            // SAFETY: by this function's contract.
            None => unsafe { copy(data.as_ptr(), self.base.add(offset), data.len()) },
            // SAFETY: by this function's contract.
            Some(layout) => unsafe { layout.unpack(self.base, offset, data) },
        }
    }
}

/// A layout without its first `offset` packed bytes.
struct Part {
    whole: Arc<dyn Layout>,
    offset: usize,
}

// SAFETY: touches what the whole layout covers.
unsafe impl Layout for Part {
    unsafe fn pack(&self, base: *const u8, offset: usize, out: &mut [u8]) {
        // SAFETY: by this function's contract.
        unsafe { self.whole.pack(base, self.offset + offset, out) }
    }

    unsafe fn unpack(&self, base: *mut u8, offset: usize, data: &[u8]) {
        // SAFETY: by this function's contract.
        unsafe { self.whole.unpack(base, self.offset + offset, data) }
    }

    fn run_bytes(&self) -> usize {
        self.whole.run_bytes()
    }

    fn runs(&self, window: Range<usize>, visit: &mut dyn FnMut(isize, usize) -> bool) -> bool {
        let window = self.offset + window.start..self.offset + window.end;
        self.whole.runs(window, visit)
    }
}
