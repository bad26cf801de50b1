//! The receive request of a message that is under way, too long to be moved while the ring is locked.
//!
//! One message is received at a time by a queue pair, so there is one of these for each, in the segment of the process whose
//! requests it takes. [`ReceiveQueueGuard::take`](super::receive::ReceiveQueueGuard::take) fills it; [`Receiving::finish`] empties it and pushes the
//! completion, both or neither (`completion`, rule 3). The executor of the message does that, or the owner, when it
//! flushes a queue pair whose peer is dead: the completion queue's lock lets one of them.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::completion::entry::Completion;
use super::completion::push::{CoupledStore, Cqe, PushError, Pushed};
use super::completion::queue::Cq;
use super::layout::process;
use super::numbers::{FABRIC_QPS, FABRIC_SLOT, Number, QUEUES};
use super::processes::Processes;
use super::record::receive::{BUSY, EMPTY, MAX_RECEIVE_SGES, ReceivingRecord, Sge};
use super::segment::Segment;

/// The place for one queue pair's message.
#[derive(Clone, Copy)]
pub struct Receiving<'a> {
    record: &'a ReceivingRecord,
    offset: u64,
}

impl Segment {
    /// Where a message to queue pair `number` waits for its rest.
    #[inline]
    pub fn receiving(&self, number: Number) -> Receiving<'_> {
        Receiving::of(self, number)
    }
}

impl<'a> Receiving<'a> {
    /// Of the queue pair `number`, whose requests come from `segment`.
    fn of(segment: &'a Segment, number: Number) -> Receiving<'a> {
        let index = match number.slot() {
            FABRIC_SLOT => QUEUES + u64::from(number.index()) % FABRIC_QPS,
            _ => u64::from(number.index()),
        };
        let offset = process::RECEIVINGS + index * size_of::<ReceivingRecord>() as u64;
        let record = segment.mapping().at(offset);
        Receiving {
            record: record.expect("inside the fixed part"),
            offset,
        }
    }

    pub(super) fn begin(
        &self,
        position: u32,
        wr_id: u64,
        sges: impl ExactSizeIterator<Item = Sge>,
    ) {
        let record = self.record;
        record.position.store(position, Ordering::Relaxed);
        record.wr_id.store(wr_id, Ordering::Relaxed);
        record.arrived.store(0, Ordering::Relaxed);
        record.sges.store(sges.len() as u64, Ordering::Relaxed);
        for (entry, sge) in record.entries.iter().zip(sges) {
            let [address, rest] = sge.words();
            entry[0].store(address, Ordering::Relaxed);
            entry[1].store(rest, Ordering::Relaxed);
        }
        record.state.store(BUSY, Ordering::Release);
    }

    /// Whether it has the request that stood at `position`.
    pub(super) fn holds(&self, position: u32) -> bool {
        self.busy() && self.record.position.load(Ordering::Relaxed) == position
    }

    /// Whether a message is under way.
    pub fn busy(&self) -> bool {
        self.record.state.load(Ordering::Acquire) == BUSY
    }

    pub fn wr_id(&self) -> u64 {
        self.record.wr_id.load(Ordering::Relaxed)
    }

    pub fn sges(&self) -> impl ExactSizeIterator<Item = Sge> + use<'a> {
        let count = self.record.sges.load(Ordering::Relaxed);
        let entries = &self.record.entries[..count.min(MAX_RECEIVE_SGES as u64) as usize];
        entries.iter().map(|entry| {
            Sge::from_words([
                entry[0].load(Ordering::Relaxed),
                entry[1].load(Ordering::Relaxed),
            ])
        })
    }

    /// Bytes of the message that have arrived.
    pub fn arrived(&self) -> u64 {
        self.record.arrived.load(Ordering::Relaxed)
    }

    pub fn set_arrived(&self, bytes: u64) {
        self.record.arrived.store(bytes, Ordering::Relaxed);
    }

    /// Ends the message with `completion` in `cq`, which is in the same segment. None if somebody else has ended it.
    pub fn finish(
        &self,
        processes: &Processes,
        cq: Cq<'_>,
        completion: &Completion,
        solicited: bool,
        patience: Duration,
    ) -> Result<Option<Pushed>, PushError> {
        let cqe = Cqe {
            completion,
            carried: None,
            solicited,
        };
        self.finish_if(processes, cq, &cqe, patience, || true)
    }

    /// As [`finish`](Self::finish), if `condition` says yes; it is asked once nothing else can prevent the completion.
    pub fn finish_if(
        &self,
        processes: &Processes,
        cq: Cq<'_>,
        cqe: &Cqe<'_>,
        patience: Duration,
        condition: impl FnOnce() -> bool,
    ) -> Result<Option<Pushed>, PushError> {
        let coupled = CoupledStore {
            offset: self.offset,
            word: &self.record.state,
            from: BUSY,
            to: EMPTY,
        };
        cq.push_with_store(processes, cqe, &coupled, patience, condition)
    }

    /// Forgets what was under way: the queue pair is made anew.
    pub fn clear(&self) {
        self.record.state.store(EMPTY, Ordering::Release);
    }
}
