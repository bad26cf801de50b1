//! The words that the two sides of a copy share, in the receiver's segment.
//!
//! `claim` holds the first chunk not claimed from the front and the first of those claimed from the back. Only the
//! receiver moves the front and only the sender the back, so each can also take its last step back.
//! 1. A side copies what it has claimed and then counts it in `done`. All are done: the transfer is complete.
//! 2. The sender's last touch is `released`; after it the receiver may use the words for another copy.
//! 3. A side that cannot copy sets its `failed` bit and leaves the rest to the other.
//! 4. A side that sleeps sets its `waits` and then looks at `claim` and `done` again; the other changes those, then reads
//!    that `waits` (SeqCst all four).

use std::sync::Arc;

use weft_sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::Side;
use crate::segment::Mapping;

/// Bytes of the words of one copy.
pub const COPY_BYTES: usize = 128;
const FAILED_RECEIVER: u32 = 1;
const FAILED_SENDER: u32 = 2;

#[repr(C, align(64))]
struct CopyWords {
    claim: AtomicU64,
    done: AtomicU32,
    receiver_waits: AtomicU32,
    sender_waits: AtomicU32,
    released: AtomicU32,
    failed: AtomicU32,
}

const _: () = assert!(size_of::<CopyWords>() <= COPY_BYTES);

/// The words of one copy, on either side.
#[derive(Clone)]
pub struct Claims {
    mapping: Arc<Mapping>,
    at: usize,
}

impl Claims {
    /// The words at `at` of a mapped page; none if there is no place for such there.
    pub fn new(mapping: Arc<Mapping>, at: usize) -> Option<Claims> {
        let fits = at.is_multiple_of(COPY_BYTES) && at < mapping.bytes();
        fits.then_some(Claims { mapping, at })
    }

    fn words(&self) -> &CopyWords {
        // SAFETY: `new` checked place and alignment (mappings are whole pages); the words are atomics.
        unsafe { &*self.mapping.base().add(self.at).cast::<CopyWords>() }
    }

    /// Makes the words new, for `chunks` chunks.
    pub fn reset(&self, chunks: u32) {
        let words = self.words();
        words.claim.store(u64::from(chunks) << 32, Ordering::SeqCst);
        for word in [
            &words.done,
            &words.receiver_waits,
            &words.sender_waits,
            &words.released,
            &words.failed,
        ] {
            word.store(0, Ordering::SeqCst);
        }
    }

    /// Claims a chunk for `side`; none if all are claimed.
    pub fn claim(&self, side: Side) -> Option<u32> {
        let claim = &self.words().claim;
        let mut now = claim.load(Ordering::SeqCst);
        loop {
            let (front, back) = (now as u32, (now >> 32) as u32);
            if front >= back {
                return None;
            }
            let (next, chunk) = match side {
                Side::Receiver => (now + 1, front),
                Side::Sender => (now - (1 << 32), back - 1),
            };
            match claim.compare_exchange_weak(now, next, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => return Some(chunk),
                Err(other) => now = other,
            }
        }
    }

    /// Takes back the last claim of `side`, which cannot copy.
    pub fn fail(&self, side: Side) {
        let words = self.words();
        match side {
            Side::Receiver => words.claim.fetch_sub(1, Ordering::SeqCst),
            Side::Sender => words.claim.fetch_add(1 << 32, Ordering::SeqCst),
        };
        let bit = match side {
            Side::Receiver => FAILED_RECEIVER,
            Side::Sender => FAILED_SENDER,
        };
        words.failed.fetch_or(bit, Ordering::SeqCst);
    }

    pub fn has_failed(&self, side: Side) -> bool {
        let bit = match side {
            Side::Receiver => FAILED_RECEIVER,
            Side::Sender => FAILED_SENDER,
        };
        self.words().failed.load(Ordering::SeqCst) & bit != 0
    }

    /// Counts a chunk as copied by `side`. True if the other side waits: ring its doorbell.
    pub fn count(&self, side: Side) -> bool {
        self.words().done.fetch_add(1, Ordering::SeqCst);
        self.other_waits(side)
    }

    /// Whether the side that is not `side` sleeps.
    pub fn other_waits(&self, side: Side) -> bool {
        let waits = match side {
            Side::Receiver => &self.words().sender_waits,
            Side::Sender => &self.words().receiver_waits,
        };
        waits.load(Ordering::SeqCst) != 0
    }

    pub fn done(&self) -> u32 {
        self.words().done.load(Ordering::SeqCst)
    }

    /// Whether all chunks are claimed.
    pub fn is_claimed(&self) -> bool {
        let now = self.words().claim.load(Ordering::SeqCst);
        now as u32 >= (now >> 32) as u32
    }

    pub fn waits(&self, side: Side, waits: bool) {
        let word = match side {
            Side::Receiver => &self.words().receiver_waits,
            Side::Sender => &self.words().sender_waits,
        };
        word.swap(u32::from(waits), Ordering::SeqCst);
    }

    /// The sender's last touch (rule 2).
    pub fn release(&self) {
        self.words().released.store(1, Ordering::SeqCst);
    }

    pub fn is_released(&self) -> bool {
        self.words().released.load(Ordering::SeqCst) != 0
    }
}
