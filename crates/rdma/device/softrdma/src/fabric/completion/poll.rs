//! The consumer: a thread of the process that owns the queue.

use std::sync::atomic::Ordering;

use weft_sync::arming;

use super::entry::{Carried, Completion, Entry, load, store};
use super::push::PushError;
use super::queue::{Arm, Cq};
use crate::fabric::lock::PATIENT;
use crate::fabric::processes::Processes;

/// What only the owner does, one thread at a time.
impl Cq<'_> {
    /// How many completions can be polled.
    #[inline]
    pub fn pending(&self) -> u32 {
        let tail = arming::published(&self.record.producers.tail);
        let head = self.record.consumer.head.load(Ordering::Relaxed);
        let slots = self.record.producers.slots.load(Ordering::Relaxed);
        tail.wrapping_sub(head).min(slots)
    }

    /// The completion that is `ahead` behind the oldest, which stays; none if there are not so many.
    #[inline]
    pub fn peek(&self, ahead: u32) -> Option<Completion> {
        if ahead >= self.pending() {
            return None;
        }
        let head = self.record.consumer.head.load(Ordering::Relaxed);
        let entry = self.entry(head.wrapping_add(ahead))?;
        Some(Completion::from_words(load(&entry.completion)))
    }

    /// What the completion that is `ahead` behind the oldest carries, if it does.
    #[cold]
    pub fn carried(&self, ahead: u32) -> Option<Carried> {
        self.whole(ahead)
            .map(|[_, carried]| Carried::from_words(&carried))
    }

    /// As [`peek`](Self::peek), with all that is there.
    pub(in crate::fabric) fn whole(&self, ahead: u32) -> Option<Entry> {
        if ahead >= self.pending() {
            return None;
        }
        let head = self.record.consumer.head.load(Ordering::Relaxed);
        let entry = self.entry(head.wrapping_add(ahead))?;
        Some([load(&entry.completion), load(&entry.carried)])
    }

    /// Gives the oldest `count` back, which were peeked at.
    #[inline]
    pub fn consume(&self, count: u32) {
        let head = &self.record.consumer.head;
        let value = head.load(Ordering::Relaxed).wrapping_add(count);
        head.store(value, Ordering::Release);
    }

    /// Takes the oldest, without what it carries.
    #[inline]
    pub fn poll(&self) -> Option<Completion> {
        let completion = self.peek(0)?;
        self.consume(1);
        Some(completion)
    }

    /// Wants one event. Look at the queue again before you wait for it. A wish for any completion is not weakened.
    pub fn arm(&self, arm: Arm) {
        arming::arm(&self.record.consumer.armed, arm as u32);
    }

    /// Completions were lost: the queue is of no more use.
    pub fn overrun(&self) -> bool {
        self.record.producers.overrun.load(Ordering::Relaxed) != 0
    }

    pub fn capacity(&self) -> u32 {
        self.record.producers.capacity.load(Ordering::Relaxed)
    }

    /// Offset and slots of the ring.
    pub(in crate::fabric) fn ring(&self) -> (u64, u32) {
        let producers = &self.record.producers;
        (
            producers.ring.load(Ordering::Relaxed),
            producers.slots.load(Ordering::Relaxed),
        )
    }

    /// Drops the completions for which `doomed` holds, as the destruction of a queue pair does with its own.
    pub fn sweep(
        &self,
        processes: &Processes,
        doomed: impl Fn(&Completion) -> bool,
    ) -> Result<(), PushError> {
        let held = self.lock(processes, PATIENT)?;
        let head = self.record.consumer.head.load(Ordering::Relaxed);
        let mut remaining = head.wrapping_add(self.pending());
        // From the youngest to the oldest, what stays moves up; then the head does. Producers are shut out.
        for ahead in (0..self.pending()).rev() {
            let stays = |entry: &Entry| !doomed(&Completion::from_words(entry[0]));
            if let Some(entry) = self.whole(ahead).filter(stays) {
                remaining = remaining.wrapping_sub(1);
                self.write_at(remaining, &entry);
            }
        }
        self.record
            .consumer
            .head
            .store(remaining, Ordering::Release);
        drop(held);
        Ok(())
    }

    /// Writes the completions that wait, oldest first, where the ring is now. Producers are shut out.
    pub(in crate::fabric) fn rewrite(&self, waiting: &[Entry]) {
        let head = self.record.consumer.head.load(Ordering::Relaxed);
        for (ahead, entry) in waiting.iter().enumerate() {
            self.write_at(head.wrapping_add(ahead as u32), entry);
        }
    }

    fn write_at(&self, position: u32, whole: &Entry) {
        if let Some(entry) = self.entry(position) {
            store(&entry.completion, &whole[0]);
            store(&entry.carried, &whole[1]);
        }
    }
}
