//! Producers: any process that has a completion for the queue.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::entry::{Carried, Completion, store};
use super::queue::{Arm, Cq};
use crate::fabric::lock::{Busy, Held};
use crate::fabric::processes::Processes;
use weft_sync::arming;

/// What is pushed.
#[derive(Clone, Copy)]
pub struct Cqe<'a> {
    pub completion: &'a Completion,
    pub carried: Option<&'a Carried>,
    /// It answers a solicited event, or has an error.
    pub solicited: bool,
}

/// A completion stands in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Pushed {
    /// An event was wanted: send one to this channel of the owner's (`notify`).
    pub notify: Option<u32>,
}

/// Why a completion could not be pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushError {
    Busy,
    /// The queue is full, or there is no ring where its record says: the completion is lost. `first` is set for the first that
    /// finds it so: it tells the owner.
    Overrun {
        first: bool,
    },
    /// The queue was destroyed.
    Gone,
    /// The producer had a condition, which was not met.
    Refused,
}

impl From<Busy> for PushError {
    fn from(_: Busy) -> PushError {
        PushError::Busy
    }
}

/// The store that goes along with a push: of a word in the same segment, which others change only along with pushes to
/// the same queue, or never at the same time.
pub(in crate::fabric) struct CoupledStore<'a> {
    pub offset: u64,
    pub word: &'a AtomicU32,
    pub from: u32,
    pub to: u32,
}

impl<'a> Cq<'a> {
    /// Pushes `completion`. `solicited`: it answers a solicited event, or has an error.
    #[inline]
    pub fn push(
        &self,
        processes: &Processes,
        completion: &Completion,
        solicited: bool,
        patience: Duration,
    ) -> Result<Pushed, PushError> {
        let held = self.lock(processes, patience)?;
        let cqe = Cqe {
            completion,
            carried: None,
            solicited,
        };
        let position = self.write(&held, &cqe)?;
        self.publish(position);
        drop(held);
        Ok(self.pushed(solicited))
    }

    /// As [`push`](Self::push), and settles a receive request: both or neither, whatever happens to this process. None if
    /// it is settled already. `condition` is asked once nothing else can prevent it.
    #[inline]
    pub(in crate::fabric) fn push_with_store(
        &self,
        processes: &Processes,
        cqe: &Cqe<'_>,
        coupled: &CoupledStore<'_>,
        patience: Duration,
        condition: impl FnOnce() -> bool,
    ) -> Result<Option<Pushed>, PushError> {
        let held = self.lock(processes, patience)?;
        if coupled.word.load(Ordering::Relaxed) != coupled.from {
            return Ok(None);
        }
        let position = self.write(&held, cqe)?;
        if !condition() {
            return Err(PushError::Refused);
        }
        let producers = &self.record.producers;
        producers
            .coupled_position
            .store(position, Ordering::Relaxed);
        producers.coupled_value.store(coupled.to, Ordering::Relaxed);
        producers
            .coupled_offset
            .store(coupled.offset, Ordering::Release);
        coupled.word.store(coupled.to, Ordering::Release);
        self.publish(position);
        producers.coupled_offset.store(0, Ordering::Release);
        drop(held);
        Ok(Some(self.pushed(cqe.solicited)))
    }

    /// Takes the producers' lock and mends what a dead holder left.
    #[inline]
    pub(in crate::fabric) fn lock(
        &self,
        processes: &Processes,
        patience: Duration,
    ) -> Result<Held<'a>, PushError> {
        let producers = &self.record.producers;
        let held = producers.lock.take(processes, patience)?;
        if producers.coupled_offset.load(Ordering::Relaxed) != 0 {
            self.mend();
        }
        if producers.generation.load(Ordering::Relaxed) != self.id.generation {
            return Err(PushError::Gone);
        }
        Ok(held)
    }

    #[cold]
    fn mend(&self) {
        let producers = &self.record.producers;
        let position = producers.coupled_position.load(Ordering::Relaxed);
        let unpublished = producers.tail.load(Ordering::Relaxed) == position;
        let offset = producers.coupled_offset.load(Ordering::Relaxed);
        let word = self.segment.mapping().at::<AtomicU32>(offset);
        let settled = word.is_some_and(|word| {
            word.load(Ordering::Relaxed) == producers.coupled_value.load(Ordering::Relaxed)
        });
        if unpublished && settled {
            self.publish(position);
        }
        producers.coupled_offset.store(0, Ordering::Release);
    }

    /// Writes the completion where the next goes and gives its position; it is not there before it is published.
    #[inline]
    fn write(&self, _held: &Held<'_>, cqe: &Cqe<'_>) -> Result<u32, PushError> {
        let producers = &self.record.producers;
        let tail = producers.tail.load(Ordering::Relaxed);
        let capacity = producers.capacity.load(Ordering::Relaxed);
        if tail.wrapping_sub(producers.seen_head.load(Ordering::Relaxed)) >= capacity {
            let head = self.record.consumer.head.load(Ordering::Acquire);
            producers.seen_head.store(head, Ordering::Relaxed);
            if tail.wrapping_sub(head) >= capacity {
                return Err(self.lost());
            }
        }
        let entry = self.entry(tail).ok_or_else(|| self.lost())?;
        store(&entry.completion, &cqe.completion.words());
        if let Some(carried) = cqe.carried {
            store(&entry.carried, &carried.words());
        }
        Ok(tail)
    }

    #[cold]
    fn lost(&self) -> PushError {
        let first = self.record.producers.overrun.swap(1, Ordering::Relaxed) == 0;
        PushError::Overrun { first }
    }

    #[inline]
    fn publish(&self, position: u32) {
        arming::publish(&self.record.producers.tail, position.wrapping_add(1));
    }

    #[inline]
    fn pushed(&self, solicited: bool) -> Pushed {
        let wanted = |level| level != Arm::Solicited as u32 || solicited;
        let notify = match arming::take(&self.record.consumer.armed, wanted) {
            true => self.channel(),
            false => None,
        };
        Pushed { notify }
    }
}
