//! The memory that operations work on: users' buffers, blocks of them, scratch. The only module that
//! touches bytes.
//!
//! A [`Memory`], a [`Reduction`] and the [`Blocks`] are promises: whoever made one from the arguments of an
//! MPI call vouches that the buffer is valid, and nobody else's, until the operation is over (MPI-5.0 §2.5.1,
//! §6.1). All the unsafe code here leans on that, and on scratch living as long as the future that owns it,
//! which is driven to completion.

mod blocks;
mod counts;
mod operator;
mod packed;
mod parts;
mod plain;
mod reduction;
mod scratch;

use std::ops::Range;

use weft_datatype::Datatype;
use weft_memory::Memory;

pub use blocks::{Blocks, Mixed, MixedBlock, Uniform, Varying};
pub use counts::Counts;
pub use operator::{Combine, PredefinedOp};
pub(crate) use packed::Packed;
pub(crate) use parts::{Parts, Slices};
pub use plain::PlainReduction;
pub(crate) use reduction::Operand;
pub use reduction::Reduction;
pub(crate) use scratch::Scratch;
pub use scratch::prepare_thread;

/// The memory of elements whose total size was checked when the operation's arguments were taken.
fn described(datatype: &Datatype, base: *mut u8, count: usize) -> Memory {
    datatype
        .memory(base, count)
        .expect("a part of a buffer is not larger than the buffer")
}

/// Words as a message's memory.
pub(crate) fn words_memory(words: &mut [u64]) -> Memory {
    Memory::contiguous(words.as_mut_ptr().cast(), size_of_val(words))
}

/// An empty message's memory.
pub(crate) const NOTHING: Memory = Memory::contiguous(std::ptr::null_mut(), 0);

/// The part of contiguous memory at these packed bytes.
#[inline]
pub(crate) fn window(memory: &Memory, bytes: Range<usize>) -> Memory {
    debug_assert!(memory.layout.is_none() && bytes.end <= memory.bytes);
    Memory::contiguous(memory.base.wrapping_add(bytes.start), bytes.len())
}

/// Block `index` of `count` that are all as long in contiguous memory.
pub(crate) fn equal_part(memory: &Memory, index: usize, count: usize) -> Memory {
    let bytes = memory.bytes / count;
    window(memory, index * bytes..(index + 1) * bytes)
}

/// Copies as [`copy`] does, between places without gaps.
#[inline(always)]
pub(crate) fn copy_together(from: &Memory, to: &Memory) {
    debug_assert!(from.layout.is_none() && to.layout.is_none());
    // SAFETY: as in `copy`.
    unsafe { weft_memory::copy(from.base, to.base, from.bytes.min(to.bytes)) };
}

/// Bytes that are copied at once between places with gaps: a page, which stays in a core's cache.
const CHUNK: usize = 4096;

/// Copies packed bytes from one place to another, as many as fit.
#[inline]
pub fn copy(from: &Memory, to: &Memory) {
    let bytes = from.bytes.min(to.bytes);
    if bytes == 0 {
        return;
    }
    // SAFETY: memories are valid by the promise they are, and a part of one is asked for. They are different
    // buffers or scratch, so the slices overlap nothing that is written meanwhile.
    unsafe {
        if to.layout.is_none() {
            from.read(0, std::slice::from_raw_parts_mut(to.base, bytes));
        } else if from.layout.is_none() {
            to.write(0, std::slice::from_raw_parts(from.base, bytes));
        } else {
            // Not on the stack, which may be small.
            let mut chunk = vec![0u8; bytes.min(CHUNK)];
            for offset in (0..bytes).step_by(CHUNK) {
                let part = &mut chunk[..(bytes - offset).min(CHUNK)];
                from.read(offset, part);
                to.write(offset, part);
            }
        }
    }
}
