//! A completion queue by its name: what producers and the consumer have in common.

use std::sync::atomic::{AtomicU32, Ordering};

use super::entry::{CqEntry, ENTRY_BYTES};
use crate::fabric::record::completion::CqRecord;
use crate::fabric::segment::{ObjectId, Segment};

/// When a completion queue wants an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Arm {
    /// At the next completion of a solicited message, or with an error.
    Solicited = 1,
    /// At the next completion.
    Any = 2,
}

/// A completion queue, by name.
#[derive(Clone, Copy)]
pub struct Cq<'a> {
    pub(super) segment: &'a Segment,
    pub(super) record: &'a CqRecord,
    pub(super) id: ObjectId,
}

impl Segment {
    /// The completion queue of that name; its record is checked for the generation each time its lock is taken.
    #[inline]
    pub fn cq(&self, id: ObjectId) -> Cq<'_> {
        Cq {
            segment: self,
            record: self.cq_record(id.index),
            id,
        }
    }
}

impl<'a> Cq<'a> {
    pub fn id(&self) -> ObjectId {
        self.id
    }

    #[inline]
    pub(super) fn entry(&self, position: u32) -> Option<&'a CqEntry> {
        let producers = &self.record.producers;
        let slots = producers.slots.load(Ordering::Relaxed);
        let slot = u64::from(position & slots.wrapping_sub(1));
        let ring = producers.ring.load(Ordering::Relaxed);
        let offset = ring.checked_add(slot * ENTRY_BYTES)?;
        self.segment.mapping().at(offset)
    }

    /// Whether completions carry the time.
    #[inline]
    pub fn is_stamped(&self) -> bool {
        self.record.producers.stamped.load(Ordering::Relaxed) != 0
    }

    /// The owner's channel that its events go to.
    pub fn channel(&self) -> Option<u32> {
        self.record
            .producers
            .channel
            .load(Ordering::Relaxed)
            .checked_sub(1)
    }

    pub(in crate::fabric) fn event_waits(&self) -> &AtomicU32 {
        &self.record.consumer.event_waits
    }
}
