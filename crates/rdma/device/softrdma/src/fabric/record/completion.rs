//! A completion queue as it stands in its owner's segment.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::fabric::lock::SharedLock;
use crate::fabric::mapping::Shared;

#[repr(C, align(64))]
pub(in crate::fabric) struct Producers {
    pub(in crate::fabric) lock: SharedLock,
    pub(in crate::fabric) generation: AtomicU32,
    pub(in crate::fabric) tail: AtomicU32,
    /// A head that was seen; the true one is not behind it. Spares producers the consumer's line.
    pub(in crate::fabric) seen_head: AtomicU32,
    /// Offset of the slots.
    pub(in crate::fabric) ring: AtomicU64,
    /// How many there are, a power of two.
    pub(in crate::fabric) slots: AtomicU32,
    /// Completions that the user asked room for.
    pub(in crate::fabric) capacity: AtomicU32,
    /// 0 while there is no intent.
    pub(in crate::fabric) coupled_offset: AtomicU64,
    pub(in crate::fabric) coupled_value: AtomicU32,
    pub(in crate::fabric) coupled_position: AtomicU32,
    /// Completions were lost.
    pub(in crate::fabric) overrun: AtomicU32,
    /// Which of the owner's completion channels, plus one; 0 for none.
    pub(in crate::fabric) channel: AtomicU32,
    /// Not 0 if completions carry the time.
    pub(in crate::fabric) stamped: AtomicU32,
}

#[repr(C, align(64))]
pub(in crate::fabric) struct Consumer {
    pub(in crate::fabric) head: AtomicU32,
    pub(in crate::fabric) armed: AtomicU32,
    /// An event did not fit into the channel's socket (`notify`).
    pub(in crate::fabric) event_waits: AtomicU32,
}

/// A completion queue in its owner's segment.
#[repr(C, align(128))]
pub struct CqRecord {
    pub(in crate::fabric) producers: Producers,
    pub(in crate::fabric) consumer: Consumer,
}

// SAFETY: atomic integers only.
unsafe impl Shared for CqRecord {}

const _: () = assert!(size_of::<CqRecord>() == 128);

impl CqRecord {
    /// The owner, before anyone else knows the queue: completions carry the time.
    pub fn stamp(&self, stamped: bool) {
        self.producers
            .stamped
            .store(u32::from(stamped), Ordering::Relaxed);
    }

    pub(in crate::fabric) fn generation(&self) -> &AtomicU32 {
        &self.producers.generation
    }

    /// Lays an empty queue out. Nobody else knows its name yet.
    pub(in crate::fabric) fn found(
        &self,
        ring: u64,
        slots: u32,
        capacity: u32,
        channel: Option<u32>,
    ) {
        let producers = &self.producers;
        for word in [
            &producers.tail,
            &producers.seen_head,
            &producers.overrun,
            &producers.coupled_value,
            &producers.coupled_position,
            &self.consumer.head,
            &self.consumer.armed,
            &self.consumer.event_waits,
        ] {
            word.store(0, Ordering::Relaxed);
        }
        producers.coupled_offset.store(0, Ordering::Relaxed);
        self.lay(ring, slots, capacity);
        producers
            .channel
            .store(channel.map_or(0, |channel| channel + 1), Ordering::Relaxed);
    }

    /// Says where the slots are. The caller holds the lock or is alone.
    pub(in crate::fabric) fn lay(&self, ring: u64, slots: u32, capacity: u32) {
        self.producers.ring.store(ring, Ordering::Relaxed);
        self.producers.slots.store(slots, Ordering::Relaxed);
        self.producers.capacity.store(capacity, Ordering::Relaxed);
    }
}
