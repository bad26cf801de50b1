//! Receive requests as they stand in their owner's segment: the ring of a queue pair or of a shared receive queue, and the
//! request that a message under way has taken.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::fabric::lock::SharedLock;
use crate::fabric::mapping::Shared;

/// Entries that a receive request can have at most.
pub const MAX_RECEIVE_SGES: usize = 32;

pub(in crate::fabric) const WORD: u64 = 8;

/// Where a ring's record has its head.
pub(in crate::fabric) const HEAD: u64 = std::mem::offset_of!(Takers, head) as u64;

pub(in crate::fabric) const NOTHING: u64 = 0;
pub(in crate::fabric) const FINISH: u64 = 1 << 62;
pub(in crate::fabric) const TAKE: u64 = 2 << 62;

#[repr(C, align(64))]
pub(in crate::fabric) struct Takers {
    pub(in crate::fabric) lock: SharedLock,
    pub(in crate::fabric) head: AtomicU32,
    /// NOTHING, or FINISH and the completion queue's name, or TAKE and the queue pair's index.
    pub(in crate::fabric) intent: AtomicU64,
    /// Offset of the slots; 0 while there is no ring.
    pub(in crate::fabric) ring: AtomicU64,
    /// How many slots, a power of two.
    pub(in crate::fabric) slots: AtomicU32,
    pub(in crate::fabric) max_sges: AtomicU32,
    /// Requests the user asked room for.
    pub(in crate::fabric) capacity: AtomicU32,
    /// An event is wanted when fewer requests are left; 0 for none.
    pub(in crate::fabric) limit: AtomicU32,
}

/// A ring's words.
#[repr(C, align(64))]
pub struct RingRecord {
    pub(in crate::fabric) takers: Takers,
    pub(in crate::fabric) tail: PosterLine,
}

#[repr(C, align(64))]
pub(in crate::fabric) struct PosterLine(pub(in crate::fabric) AtomicU32);

/// A shared receive queue in its owner's segment.
#[repr(C, align(64))]
pub struct SrqRecord {
    pub ring: RingRecord,
    pub generation: AtomicU32,
    /// The device and port it belongs to; the owner's matter.
    pub device: AtomicU32,
    /// Protection domain, by which the keys in requests are judged.
    pub pd: AtomicU32,
    /// XRC domain's name, 0 for an ordinary SRQ.
    pub xrc_domain: AtomicU32,
    /// [`ObjectId`](super::super::segment::ObjectId) of an XRC SRQ's completion queue.
    pub cq: AtomicU64,
    /// The QPs that use it read this: an error state.
    pub state: AtomicU32,
}

// SAFETY: atomic integers only.
unsafe impl Shared for RingRecord {}
// SAFETY: as above.
unsafe impl Shared for SrqRecord {}

const _: () = assert!(size_of::<RingRecord>() == 128 && size_of::<SrqRecord>() == 192);

/// In a process segment: one for each queue pair of the process and of the fabric.
#[repr(C, align(64))]
pub struct ReceivingRecord {
    /// EMPTY or BUSY.
    pub(in crate::fabric) state: AtomicU32,
    /// The request's position in its ring.
    pub(in crate::fabric) position: AtomicU32,
    pub(in crate::fabric) wr_id: AtomicU64,
    pub(in crate::fabric) sges: AtomicU64,
    pub(in crate::fabric) arrived: AtomicU64,
    pub(in crate::fabric) entries: [[AtomicU64; 2]; MAX_RECEIVE_SGES],
}

pub(in crate::fabric) const EMPTY: u32 = 0;
pub(in crate::fabric) const BUSY: u32 = 1;

// SAFETY: atomic integers only.
unsafe impl Shared for ReceivingRecord {}

impl RingRecord {
    /// Passes requests up to `head`. Under the lock, or by who mends what its dead holder began.
    #[inline]
    pub(in crate::fabric) fn advance(&self, head: u32) {
        self.takers.head.store(head, Ordering::Release);
    }

    /// Lays an empty ring out: by the owner alone, or under the lock.
    pub(in crate::fabric) fn found(&self, ring: u64, slots: u32, capacity: u32, max_sges: u32) {
        self.takers.intent.store(NOTHING, Ordering::Relaxed);
        self.takers.head.store(0, Ordering::Relaxed);
        self.tail.0.store(0, Ordering::Relaxed);
        self.takers.limit.store(0, Ordering::Relaxed);
        self.lay(ring, slots, capacity, max_sges);
    }

    /// Says where the slots are.
    pub(in crate::fabric) fn lay(&self, ring: u64, slots: u32, capacity: u32, max_sges: u32) {
        self.takers.ring.store(ring, Ordering::Relaxed);
        self.takers.slots.store(slots, Ordering::Relaxed);
        self.takers.max_sges.store(max_sges, Ordering::Relaxed);
        self.takers.capacity.store(capacity, Ordering::Relaxed);
    }
}

/// A piece of memory that a receive request names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sge {
    pub address: u64,
    pub length: u32,
    pub lkey: u32,
}

impl Sge {
    pub(in crate::fabric) fn words(self) -> [u64; 2] {
        [
            self.address,
            u64::from(self.length) | u64::from(self.lkey) << 32,
        ]
    }

    pub(in crate::fabric) fn from_words([address, rest]: [u64; 2]) -> Sge {
        Sge {
            address,
            length: rest as u32,
            lkey: (rest >> 32) as u32,
        }
    }
}

/// Bytes of a slot for requests of up to `max_sges` entries: identifier, count, entries.
pub fn slot_bytes(max_sges: u32) -> u64 {
    (2 + 2 * u64::from(max_sges)) * WORD
}
