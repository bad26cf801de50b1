//! Receive requests: the ring of a queue pair or of a shared receive queue, in its owner's segment. The owner posts, whoever
//! executes a SEND takes.
//!
//! # Protocol
//! 1. `tail` counts requests posted and `head` requests used up, modulo 2^32. The owner, one thread at a time, writes a
//!    request's slot and then `tail` (release). It reuses a slot once `head` has passed it (acquire).
//! 2. A process that wants the oldest request holds `lock` and writes `head`. It looks at the request (a [`ReceiveQueueGuard`]), moves the bytes, and
//!    ends with one of
//!    - [`ReceiveQueueGuard::finish`]: the completion is pushed and `head` passes the request, both or neither (`completion`, rule 3);
//!    - [`ReceiveQueueGuard::take`]: the request moves to the queue pair's [`Receiving`], for a message too long to hold the lock for;
//!    - dropping the turn: the request stays the oldest.
//! 3. `intent` says what a holder is about: FINISH names the completion queue; whoever finds it takes that queue's lock, by
//!    which the push is mended, and `head` with it. TAKE names the queue pair; its `Receiving` tells by the position
//!    whether it has the request.
//! 4. What a slot holds is the owner's word and may be nonsense: counts are cut to what a slot can hold, and addresses go
//!    through keys like any others.
//! 5. The owner changes ring and generation holding `lock`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::completion::entry::Completion;
use super::completion::push::{CoupledStore, Cqe, PushError, Pushed};
use super::completion::queue::Cq;
use super::layout::process;
use super::lock::{Busy, Held};
use super::numbers::Number;
use super::processes::Processes;
use super::receiving::Receiving;
use super::record::queue_pair::QpRecord;
use super::record::receive::{
    FINISH, HEAD, MAX_RECEIVE_SGES, NOTHING, RingRecord, Sge, SrqRecord, TAKE, WORD, slot_bytes,
};
use super::segment::{ObjectId, Segment};

/// All receive requests are in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// A receive ring, mapped.
#[derive(Clone, Copy)]
pub struct Ring<'a> {
    segment: &'a Segment,
    record: &'a RingRecord,
    offset: u64,
}

impl Segment {
    /// The receive ring of queue pair `index`.
    #[inline]
    pub fn receive_ring(&self, index: u16) -> Ring<'_> {
        Ring::of_qp(self, index)
    }

    /// The receive ring of shared receive queue `index`.
    #[inline]
    pub fn shared_ring(&self, index: u16) -> Ring<'_> {
        Ring::of_srq(self, index)
    }
}

impl<'a> Ring<'a> {
    fn of_qp(segment: &'a Segment, index: u16) -> Ring<'a> {
        let record = process::QPS + u64::from(index) * size_of::<QpRecord>() as u64;
        Ring {
            segment,
            record: &segment.qp(index).ring,
            offset: record + std::mem::offset_of!(QpRecord, ring) as u64,
        }
    }

    fn of_srq(segment: &'a Segment, index: u16) -> Ring<'a> {
        let record = process::SRQS + u64::from(index) * size_of::<SrqRecord>() as u64;
        Ring {
            segment,
            record: &segment.srq(index).ring,
            offset: record + std::mem::offset_of!(SrqRecord, ring) as u64,
        }
    }

    /// Takes the lock, so that nobody else takes requests.
    #[inline]
    pub fn lock(
        &self,
        processes: &'a Processes,
        patience: Duration,
    ) -> Result<ReceiveQueueGuard<'a>, Busy> {
        let held = self.record.takers.lock.take(processes, patience)?;
        if self.record.takers.intent.load(Ordering::Relaxed) != NOTHING {
            self.mend(processes, patience)?;
        }
        Ok(ReceiveQueueGuard {
            ring: *self,
            processes,
            held,
        })
    }

    /// Ends what a dead holder began. If that cannot be done now, the intent stays for the next.
    #[cold]
    fn mend(&self, processes: &Processes, patience: Duration) -> Result<(), Busy> {
        let takers = &self.record.takers;
        let intent = takers.intent.load(Ordering::Relaxed);
        match intent & (3 << 62) {
            FINISH => {
                if let Some(id) = ObjectId::from_word(intent & !(3 << 62)) {
                    match self.segment.cq(id).lock(processes, patience) {
                        Ok(held) => drop(held),
                        Err(PushError::Busy) => return Err(Busy),
                        // The queue is gone, and with it the completion.
                        Err(_) => {}
                    }
                }
            }
            TAKE => {
                let receiving = self.segment.receiving(Number::from_bits(intent as u32));
                let position = takers.head.load(Ordering::Relaxed);
                if receiving.holds(position) {
                    self.record.advance(position.wrapping_add(1));
                }
            }
            _ => {}
        }
        takers.intent.store(NOTHING, Ordering::Release);
        Ok(())
    }

    /// The words of slot `position`; none if the record is nonsense.
    fn slot(&self, position: u32) -> Option<Slot<'a>> {
        let takers = &self.record.takers;
        let slots = takers.slots.load(Ordering::Relaxed);
        let max_sges = takers
            .max_sges
            .load(Ordering::Relaxed)
            .min(MAX_RECEIVE_SGES as u32);
        let index = u64::from(position & slots.wrapping_sub(1));
        let ring = takers.ring.load(Ordering::Relaxed);
        let offset = ring.checked_add(index * slot_bytes(max_sges))?;
        // The whole slot is there, so that its words are found one by one.
        self.segment
            .mapping()
            .address_of(offset, slot_bytes(max_sges))?;
        Some(Slot {
            segment: self.segment,
            offset,
            max_sges,
        })
    }

    /// Requests that wait.
    pub fn posted(&self) -> u32 {
        let takers = &self.record.takers;
        let tail = self.record.tail.0.load(Ordering::Acquire);
        let slots = takers.slots.load(Ordering::Relaxed);
        tail.wrapping_sub(takers.head.load(Ordering::Acquire))
            .min(slots)
    }

    /// Owner only, one thread at a time: posts a request. Entries beyond what the ring has room for are the caller's error.
    #[inline]
    pub fn post(&self, wr_id: u64, sges: &[Sge]) -> Result<(), Full> {
        let takers = &self.record.takers;
        let tail = self.record.tail.0.load(Ordering::Relaxed);
        let head = takers.head.load(Ordering::Acquire);
        if tail.wrapping_sub(head) >= takers.capacity.load(Ordering::Relaxed) {
            return Err(Full);
        }
        let slot = self.slot(tail).ok_or(Full)?;
        slot.write(wr_id, sges);
        self.record
            .tail
            .0
            .store(tail.wrapping_add(1), Ordering::Release);
        Ok(())
    }

    /// Wants to know when fewer than `limit` requests are left; 0 for never.
    pub fn set_limit(&self, limit: u32) {
        self.record.takers.limit.store(limit, Ordering::SeqCst);
    }

    /// The limit that still stands.
    pub fn limit(&self) -> u32 {
        self.record.takers.limit.load(Ordering::SeqCst)
    }

    /// True once for each limit, if the ring has fallen below it.
    pub fn limit_reached(&self) -> bool {
        let limit = &self.record.takers.limit;
        let value = limit.load(Ordering::Relaxed);
        value != 0
            && self.posted() < value
            && limit
                .compare_exchange(value, 0, Ordering::SeqCst, Ordering::Relaxed)
                .is_ok()
    }

    /// Offset of the slots, how many, and entries of each.
    pub(super) fn layout(&self) -> (u64, u32, u32) {
        let takers = &self.record.takers;
        (
            takers.ring.load(Ordering::Relaxed),
            takers.slots.load(Ordering::Relaxed),
            takers.max_sges.load(Ordering::Relaxed),
        )
    }

    pub fn capacity(&self) -> u32 {
        self.record.takers.capacity.load(Ordering::Relaxed)
    }
}

/// A request's words.
#[derive(Clone, Copy)]
struct Slot<'a> {
    segment: &'a Segment,
    offset: u64,
    max_sges: u32,
}

impl Slot<'_> {
    #[inline]
    fn word(&self, index: u64) -> &AtomicU64 {
        let word = self.segment.mapping().at(self.offset + index * WORD);
        word.expect("the slot was seen to be there")
    }

    #[inline]
    fn write(&self, wr_id: u64, sges: &[Sge]) {
        let sges = &sges[..sges.len().min(self.max_sges as usize)];
        self.word(0).store(wr_id, Ordering::Relaxed);
        self.word(1).store(sges.len() as u64, Ordering::Relaxed);
        for (index, sge) in sges.iter().enumerate() {
            let [address, rest] = sge.words();
            self.word(2 + 2 * index as u64)
                .store(address, Ordering::Relaxed);
            self.word(3 + 2 * index as u64)
                .store(rest, Ordering::Relaxed);
        }
    }

    fn wr_id(&self) -> u64 {
        self.word(0).load(Ordering::Relaxed)
    }

    fn count(&self) -> usize {
        self.word(1)
            .load(Ordering::Relaxed)
            .min(u64::from(self.max_sges)) as usize
    }

    fn sge(&self, index: usize) -> Sge {
        let word = 2 + 2 * index as u64;
        Sge::from_words([
            self.word(word).load(Ordering::Relaxed),
            self.word(word + 1).load(Ordering::Relaxed),
        ])
    }
}

/// The right to take the oldest request.
pub struct ReceiveQueueGuard<'a> {
    ring: Ring<'a>,
    processes: &'a Processes,
    held: Held<'a>,
}

/// The oldest request, which stays where it is.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    slot: Slot<'a>,
}

impl Request<'_> {
    pub fn wr_id(&self) -> u64 {
        self.slot.wr_id()
    }

    pub fn sges(&self) -> impl ExactSizeIterator<Item = Sge> {
        (0..self.slot.count()).map(|index| self.slot.sge(index))
    }
}

/// A message was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Received {
    pub pushed: Pushed,
    /// The ring fell below its limit: tell its owner.
    pub limit_reached: bool,
}

impl<'a> ReceiveQueueGuard<'a> {
    /// The oldest request, or none: receiver not ready.
    #[inline]
    pub fn request(&self) -> Option<Request<'a>> {
        if self.ring.posted() == 0 {
            return None;
        }
        let slot = self.ring.slot(self.position())?;
        Some(Request { slot })
    }

    fn position(&self) -> u32 {
        self.ring.record.takers.head.load(Ordering::Relaxed)
    }

    /// Uses the oldest request up with `completion`, in `cq` of the same process. After an error it is still the oldest.
    #[inline]
    pub fn finish(
        &self,
        cq: Cq<'_>,
        completion: &Completion,
        solicited: bool,
        patience: Duration,
    ) -> Result<Received, PushError> {
        let cqe = Cqe {
            completion,
            carried: None,
            solicited,
        };
        self.finish_if(cq, &cqe, patience, || true)
    }

    /// As [`finish`](Self::finish), if `condition` says yes; it is asked once nothing else can prevent the completion.
    #[inline]
    pub fn finish_if(
        &self,
        cq: Cq<'_>,
        cqe: &Cqe<'_>,
        patience: Duration,
        condition: impl FnOnce() -> bool,
    ) -> Result<Received, PushError> {
        let takers = &self.ring.record.takers;
        let position = self.position();
        let coupled = CoupledStore {
            offset: self.ring.offset + HEAD,
            word: &takers.head,
            from: position,
            to: position.wrapping_add(1),
        };
        takers
            .intent
            .store(FINISH | cq.id().word(), Ordering::Release);
        let pushed = cq.push_with_store(self.processes, cqe, &coupled, patience, condition);
        takers.intent.store(NOTHING, Ordering::Release);
        Ok(Received {
            // Nobody else moves the head while this turn lasts.
            pushed: pushed?.ok_or(PushError::Gone)?,
            limit_reached: self.ring.limit_reached(),
        })
    }

    /// Moves the oldest request to the [`Receiving`] of queue pair `qp`, which is not busy. None if there is no request.
    pub fn take(self, qp: Number) -> Option<Taken<'a>> {
        let request = self.request()?;
        let position = self.position();
        let takers = &self.ring.record.takers;
        let receiving = self.ring.segment.receiving(qp);
        takers
            .intent
            .store(TAKE | u64::from(qp.bits()), Ordering::Release);
        receiving.begin(position, request.wr_id(), request.sges());
        self.ring.record.advance(position.wrapping_add(1));
        takers.intent.store(NOTHING, Ordering::Release);
        drop(self.held);
        Some(Taken {
            receiving,
            limit_reached: self.ring.limit_reached(),
        })
    }

    /// Throws the oldest request away.
    pub fn discard(&self) {
        if self.ring.posted() != 0 {
            self.ring.record.advance(self.position().wrapping_add(1));
        }
    }
}

/// A request that was taken off its ring.
pub struct Taken<'a> {
    pub receiving: Receiving<'a>,
    /// Tell the ring's owner.
    pub limit_reached: bool,
}
