//! Atomic operations on a peer's memory: atomic among all that use this device (IBV_ATOMIC_HCA), not with the peer's processor.
//!
//! A word in the peer's segment is changed by the processor's own instruction, by everybody. A word elsewhere is read and
//! written under one of the locks in the peer's segment that its address chooses, by everybody, its owner included. A
//! holder that dies in between has or has not written, and the next needs to know no more.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::layout::process;
use super::lock::{Busy, SharedLock};
use super::mapping::Shared;
use super::memory::{self, Direction, Local, MemoryError, Reach};
use super::processes::Processes;
use super::record::region::Span;
use super::segment::Segment;

const STRIPES: usize = 64;

#[repr(C, align(64))]
struct Stripe(SharedLock);

/// Locks for the words of a process.
#[repr(C)]
pub struct AtomicLocks([Stripe; STRIPES]);

// SAFETY: atomic integers only.
unsafe impl Shared for AtomicLocks {}

impl Segment {
    fn atomic_locks(&self) -> &AtomicLocks {
        self.fixed(process::ATOMICS)
    }
}

/// What to do with a word of 8 bytes in the processor's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    FetchAdd(u64),
    CompareSwap { compare: u64, swap: u64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicError {
    Busy,
    Memory(MemoryError),
}

impl From<Busy> for AtomicError {
    fn from(_: Busy) -> AtomicError {
        AtomicError::Busy
    }
}

impl From<MemoryError> for AtomicError {
    fn from(error: MemoryError) -> AtomicError {
        AtomicError::Memory(error)
    }
}

impl Operation {
    /// What the word becomes.
    pub fn apply(self, old: u64) -> u64 {
        match self {
            Operation::FetchAdd(more) => old.wrapping_add(more),
            Operation::CompareSwap { compare, swap } if old == compare => swap,
            Operation::CompareSwap { .. } => old,
        }
    }
}

/// Changes the word at `span` (8 bytes, aligned) and gives what it was.
pub fn execute(
    operation: Operation,
    segment: &Segment,
    reach: Reach,
    span: Span,
    processes: &Processes,
    patience: Duration,
) -> Result<u64, AtomicError> {
    if let Some(segment_offset) = span.segment_offset {
        let word: &AtomicU64 = segment
            .mapping()
            .at(segment_offset)
            .ok_or(MemoryError::Fault)?;
        return Ok(match operation {
            Operation::FetchAdd(more) => word.fetch_add(more, Ordering::SeqCst),
            Operation::CompareSwap { compare, swap } => word
                .compare_exchange(compare, swap, Ordering::SeqCst, Ordering::SeqCst)
                .unwrap_or_else(|old| old),
        });
    }
    let stripe = (span.address >> 3) as usize % STRIPES;
    let _held = segment.atomic_locks().0[stripe]
        .0
        .take(processes, patience)?;
    let old = transfer(Direction::Read, segment, reach, span, 0)?;
    let new = operation.apply(old);
    if new != old {
        transfer(Direction::Write, segment, reach, span, new)?;
    }
    Ok(old)
}

fn transfer(
    direction: Direction,
    segment: &Segment,
    reach: Reach,
    span: Span,
    mut word: u64,
) -> Result<u64, MemoryError> {
    let here = Local {
        address: &raw mut word as u64,
        length: 8,
    };
    // SAFETY: `word` is readable and writable.
    unsafe { memory::copy(direction, segment, reach, &[here], &[span])? };
    Ok(word)
}
