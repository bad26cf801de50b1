//! A ring of bytes that the two sides of a transfer share, in one side's segment.
//!
//! The sender counts `produced`, the receiver `consumed`, both from zero for each transfer; byte 0 of a transfer stands
//! at the place `begin`, which the offer tells.
//! 1. Bytes from `consumed` to `produced` are the receiver's, the others of the ring the sender's.
//! 2. Whoever has taken all, `consumed` being the transfer's length, touches the ring no more: it is the sender's again.
//!    But a receiver that stores [`KEPT`] instead keeps it for a transfer back, in which it is the sender; see `kept`.
//! 3. A receiver that wants no more stores [`GIVEN_UP`] and touches the ring no more; the sender may fill it to the end
//!    before it notices.
//! 4. A side that sleeps sets its `waits` and then looks at the other's count again; the other counts, then
//!    reads that `waits` (SeqCst all four).
//!
//! Each count is on a line that only one side writes while a transfer goes on; those that say who sleeps are on a third,
//! which both read and hardly anybody writes.

use std::sync::Arc;

use weft_sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::Side;
use crate::segment::{Mapping, PAGE};

/// Bytes of a ring's data. Its words stand in the page before them.
pub const RING_BYTES: usize = 512 << 10;
/// What a ring takes of a segment.
pub const RING_MAPPED: usize = PAGE + RING_BYTES;
/// See rule 3.
pub const GIVEN_UP: u64 = u64::MAX;
/// See rule 2.
pub const KEPT: u64 = u64::MAX - 1;

#[repr(C, align(64))]
struct Count(AtomicU64);

#[repr(C, align(64))]
struct Waits {
    sender: AtomicU32,
    receiver: AtomicU32,
}

#[repr(C)]
struct Words {
    produced: Count,
    consumed: Count,
    waits: Waits,
}

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

    fn words(&self) -> &Words {
        // SAFETY: the mapping is page-aligned and longer than the words, which are atomics.
        unsafe { &*self.mapping.base().cast::<Words>() }
    }

    /// Makes the ring new, between two transfers: the message that tells of the next publishes it.
    pub fn reset(&self) {
        let words = self.words();
        words.produced.0.store(0, Ordering::Relaxed);
        words.consumed.0.store(0, Ordering::Relaxed);
        for waits in [&words.waits.sender, &words.waits.receiver] {
            if waits.load(Ordering::Relaxed) != 0 {
                waits.store(0, Ordering::Relaxed);
            }
        }
    }

    pub fn produced(&self) -> u64 {
        self.words().produced.0.load(Ordering::SeqCst)
    }

    pub fn consumed(&self) -> u64 {
        self.words().consumed.0.load(Ordering::SeqCst)
    }

    /// True if the receiver waits: ring its doorbell.
    pub fn produce(&self, count: u64) -> bool {
        self.words().produced.0.swap(count, Ordering::SeqCst);
        self.words().waits.receiver.load(Ordering::SeqCst) != 0
    }

    /// True if the sender waits: ring its doorbell.
    pub fn consume(&self, count: u64) -> bool {
        self.words().consumed.0.swap(count, Ordering::SeqCst);
        self.words().waits.sender.load(Ordering::SeqCst) != 0
    }

    pub fn waits(&self, side: Side, waits: bool) {
        let word = match side {
            Side::Receiver => &self.words().waits.receiver,
            Side::Sender => &self.words().waits.sender,
        };
        word.swap(u32::from(waits), Ordering::SeqCst);
    }

    /// Bytes from place `at` of the ring on, up to its end.
    fn data(&self, at: usize, bytes: usize) -> *mut u8 {
        assert!(at < RING_BYTES && bytes <= RING_BYTES - at);
        // SAFETY: by the assertion the bytes lie in the mapping.
        unsafe { self.mapping.base().add(PAGE + at) }
    }

    /// # Safety
    /// The bytes are the sender's (rule 1), the caller is the sender, and holds no other slice of them.
    #[expect(
        clippy::mut_from_ref,
        reason = "the ring is shared memory; who may write where is rule 1"
    )]
    pub unsafe fn to_fill(&self, at: usize, bytes: usize) -> &mut [u8] {
        // SAFETY: `data` checked the place; by the contract nobody else touches it.
        unsafe { std::slice::from_raw_parts_mut(self.data(at, bytes), bytes) }
    }

    /// # Safety
    /// The bytes are the receiver's (rule 1) and the caller is the receiver.
    pub unsafe fn to_take(&self, at: usize, bytes: usize) -> &[u8] {
        // SAFETY: `data` checked the place; by the contract nobody writes to it.
        unsafe { std::slice::from_raw_parts(self.data(at, bytes), bytes) }
    }
}

/// Where a transfer lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Of the ring, in its owner's segment.
    pub offset: u64,
    /// Of the transfer's first byte, in the ring.
    pub begin: u32,
}

impl Place {
    /// The place of another transfer, after one of `bytes` here. Lines that were written lately are still in the other
    /// side's caches, and dearer to write again than those that were not.
    pub fn after(self, bytes: u64) -> Place {
        let end = (u64::from(self.begin) + bytes).next_multiple_of(64) % RING_BYTES as u64;
        Place {
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
