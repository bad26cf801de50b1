//! User memory whose bytes do not lie together.

use std::sync::Arc;

use weft_memory::{Layout, Memory};

/// Bytes that lie together, and that no adapter is told of.
pub struct Scattered;

// SAFETY: touches the bytes of the span that are packed.
unsafe impl Layout for Scattered {
    unsafe fn pack(&self, base: *const u8, offset: usize, out: &mut [u8]) {
        for (index, byte) in out.iter_mut().enumerate() {
            // SAFETY: by this function's contract.
            *byte = unsafe { *base.add(offset + index) };
        }
    }
    unsafe fn unpack(&self, base: *mut u8, offset: usize, data: &[u8]) {
        for (index, byte) in data.iter().enumerate() {
            // SAFETY: by this function's contract.
            unsafe { *base.add(offset + index) = *byte };
        }
    }
}

/// Every second byte of memory twice as long.
struct EverySecond;

// SAFETY: touches bytes 0, 2, 4 ... of the span, as many as are packed.
unsafe impl Layout for EverySecond {
    unsafe fn pack(&self, base: *const u8, offset: usize, out: &mut [u8]) {
        for (index, byte) in out.iter_mut().enumerate() {
            // SAFETY: by this function's contract.
            *byte = unsafe { *base.add(2 * (offset + index)) };
        }
    }
    unsafe fn unpack(&self, base: *mut u8, offset: usize, data: &[u8]) {
        for (index, byte) in data.iter().enumerate() {
            // SAFETY: by this function's contract.
            unsafe { *base.add(2 * (offset + index)) = *byte };
        }
    }
}

pub fn strided(bytes: &mut [u8]) -> Memory {
    Memory {
        base: bytes.as_mut_ptr(),
        bytes: bytes.len() / 2,
        layout: Some(Arc::new(EverySecond)),
    }
}
