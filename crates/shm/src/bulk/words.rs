//! The words that the two sides of a transfer share, in one side's segment.
//!
//! Ring of bytes: the sender counts `produced`, the receiver `consumed`, both from zero for each transfer.
//! 1. Bytes from `consumed` to `produced` are the receiver's, the others of the ring the sender's.
//! 2. `consumed` is [`GIVEN_UP`] when the receiver wants no more; neither side touches the ring after that, nor after
//!    `consumed` has reached the transfer's length, but its owner, who may use it for another transfer.
//! 3. A side that sleeps sets its `waits` and then looks at the other's count again; the other counts, then
//!    reads that `waits` (SeqCst all four).
//!
//! Words of a copy: `claim` holds the first chunk not claimed from the front and the first of those claimed from the
//! back. Only the receiver moves the front and only the sender the back, so each can also take its last step back.
//! 4. A side copies what it has claimed and then counts it in `done`. All are done: the transfer is complete.
//! 5. The sender's last touch is `released`; after it the receiver may use the words for another copy.
//! 6. A side that cannot copy sets its `failed` bit and leaves the rest to the other.

use std::sync::Arc;

use weft_sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::segment::{Mapping, PAGE};

/// Bytes of a ring's data. Its words stand in the page before them.
pub const RING_BYTES: usize = 512 << 10;
/// What a ring takes of a segment.
pub const RING_MAPPED: usize = PAGE + RING_BYTES;
/// See rule 2.
pub const GIVEN_UP: u64 = u64::MAX;

#[repr(C, align(64))]
struct Count {
    count: AtomicU64,
    waits: AtomicU32,
}

#[repr(C)]
struct RingWords {
    sender: Count,
    receiver: Count,
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

    fn words(&self) -> &RingWords {
        // SAFETY: the mapping is page-aligned and longer than the words, which are atomics.
        unsafe { &*self.mapping.base().cast::<RingWords>() }
    }

    /// Makes the ring new, between two transfers.
    pub fn reset(&self) {
        for side in [&self.words().sender, &self.words().receiver] {
            side.count.store(0, Ordering::SeqCst);
            side.waits.store(0, Ordering::SeqCst);
        }
    }

    pub fn produced(&self) -> u64 {
        self.words().sender.count.load(Ordering::SeqCst)
    }

    pub fn consumed(&self) -> u64 {
        self.words().receiver.count.load(Ordering::SeqCst)
    }

    /// True if the receiver waits: ring its doorbell.
    pub fn produce(&self, count: u64) -> bool {
        self.words().sender.count.swap(count, Ordering::SeqCst);
        self.words().receiver.waits.load(Ordering::SeqCst) != 0
    }

    /// True if the sender waits: ring its doorbell.
    pub fn consume(&self, count: u64) -> bool {
        self.words().receiver.count.swap(count, Ordering::SeqCst);
        self.words().sender.waits.load(Ordering::SeqCst) != 0
    }

    pub fn sender_waits(&self, waits: bool) {
        self.words()
            .sender
            .waits
            .swap(u32::from(waits), Ordering::SeqCst);
    }

    pub fn receiver_waits(&self, waits: bool) {
        self.words()
            .receiver
            .waits
            .swap(u32::from(waits), Ordering::SeqCst);
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

/// Which side of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Receiver,
    Sender,
}

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

    /// The sender's last touch (rule 5).
    pub fn release(&self) {
        self.words().released.store(1, Ordering::SeqCst);
    }

    pub fn is_released(&self) -> bool {
        self.words().released.load(Ordering::SeqCst) != 0
    }
}
