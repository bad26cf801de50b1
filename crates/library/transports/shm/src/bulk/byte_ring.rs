//! A ring of bytes that the two sides of a transfer share, in one side's segment.
//!
//! The sides count as [`weft_sync::bulk::StreamCounts`] says; byte 0 of a transfer stands at the place `begin`, which the
//! offer tells.

use std::io;
use std::ops::Deref;
use std::sync::Arc;

use weft_sync::bulk::StreamCounts;
use weft_sync::lines;

use crate::segment::{Mapping, PAGE, Segment};

/// Bytes of a ring's data. Its words stand in the page before them. It is as much as a core's own cache holds of today's processors: lines of a ring
/// that is shorter are still in there, as the other side has left them, when they are written again, which takes two cores that share a cache twice as long.
pub const RING_BYTES: usize = 1 << 20;
/// What a ring takes of a segment.
pub const RING_MAPPED: usize = PAGE + RING_BYTES;
/// Rule 3 of the counts.
pub const GIVEN_UP: u64 = StreamCounts::GIVEN_UP;
/// Rule 2 of the counts.
pub const BORROWED: u64 = StreamCounts::BORROWED;

const _: () = assert!(size_of::<StreamCounts>() <= PAGE);

/// A ring of bytes, on either side.
#[derive(Clone)]
pub struct ByteRing {
    mapping: Arc<Mapping>,
}

impl ByteRing {
    /// The mapping is [`RING_MAPPED`] bytes long.
    pub fn new(mapping: Arc<Mapping>) -> ByteRing {
        assert_eq!(mapping.bytes(), RING_MAPPED);
        ByteRing { mapping }
    }

    /// Has memory behind `bytes` from `at` on of the own ring that lies at `offset`, its page of words included, or fails.
    pub fn have_memory(
        &self,
        segment: &Segment,
        offset: u64,
        at: usize,
        bytes: usize,
    ) -> io::Result<()> {
        segment.fill(&self.mapping, offset, at, bytes)
    }

    /// Bytes from place `at` of the ring on, up to its end.
    fn data(&self, at: usize, bytes: usize) -> *mut u8 {
        assert!(at < RING_BYTES && bytes <= RING_BYTES - at);
        // SAFETY: by the assertion the bytes lie in the mapping.
        unsafe { self.mapping.base().add(PAGE + at) }
    }

    /// # Safety
    /// The bytes are the sender's (rule 1 of the counts), the caller is the sender, and holds no other slice of them.
    #[expect(
        clippy::mut_from_ref,
        reason = "the ring is shared memory; who may write where is rule 1"
    )]
    pub unsafe fn to_fill(&self, at: usize, bytes: usize) -> &mut [u8] {
        // SAFETY: `data` checked the place; by the contract nobody else touches it.
        unsafe { std::slice::from_raw_parts_mut(self.data(at, bytes), bytes) }
    }

    /// # Safety
    /// The bytes are the receiver's (rule 1 of the counts) and the caller is the receiver.
    pub unsafe fn to_take(&self, at: usize, bytes: usize) -> &[u8] {
        // SAFETY: `data` checked the place; by the contract nobody writes to it.
        unsafe { std::slice::from_raw_parts(self.data(at, bytes), bytes) }
    }

    /// Takes their lines over ([`weft_sync::lines`]).
    ///
    /// # Safety
    /// The contract of [`to_take`](Self::to_take); and the caller holds no slice of these bytes.
    pub unsafe fn take_over(&self, at: usize, bytes: usize) {
        // SAFETY: `data` checked the place; by the contract nobody touches it.
        unsafe { lines::take_over(self.data(at, bytes), bytes) };
    }
}

impl Deref for ByteRing {
    type Target = StreamCounts;

    fn deref(&self) -> &StreamCounts {
        // SAFETY: the mapping is page-aligned and longer than the counts, which are atomics.
        unsafe { &*self.mapping.base().cast::<StreamCounts>() }
    }
}

/// Where a transfer lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingPosition {
    /// Of the ring, in its owner's segment.
    pub offset: u64,
    /// Of the transfer's first byte, in the ring.
    pub begin: u32,
}

impl RingPosition {
    /// The place of another transfer, after one of `bytes` here. Lines that were written lately are still in the other
    /// side's caches, and dearer to write again than those that were not.
    pub fn after(self, bytes: u64) -> RingPosition {
        let end = (u64::from(self.begin) + bytes).next_multiple_of(64) % RING_BYTES as u64;
        RingPosition {
            begin: end as u32,
            ..self
        }
    }
}

/// Where in the ring byte `count` of a transfer that begins at `begin` stands, and the bytes from there to the ring's end.
pub fn at(begin: u32, count: u64) -> (usize, usize) {
    let at = (u64::from(begin) + count) as usize % RING_BYTES;
    (at, RING_BYTES - at)
}
