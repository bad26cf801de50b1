//! The way out: asking for the outcome of requests, and doing without.

use std::sync::atomic::Ordering;

use weft_transport::Fabric;

use crate::engine::Engine;
use crate::lane::Lane;
use crate::pending::Pending;
use crate::request_id::RequestId;
use crate::slot::{PLAIN, Slot, flag};
use crate::slots::Slots;
use crate::status::Status;

impl<F: Fabric> Engine<F> {
    /// Whether the identifier names a request that is not finished, or [`RequestId::DONE`].
    #[inline]
    pub fn exists(&self, id: RequestId) -> bool {
        id == RequestId::DONE || self.slots.find(id).is_some()
    }

    /// The identifier of the request that is at an index now.
    pub fn current(&self, index: u32) -> Option<RequestId> {
        self.slots.current(index)
    }

    /// Whether the request is complete. One load; no progress is made.
    #[inline]
    pub fn is_complete(&self, id: RequestId) -> bool {
        match self.slots.find(id) {
            Some(slot) => slot.is_complete(),
            None => true,
        }
    }

    /// Whether the identifier names a request that is not complete. One load, as above.
    #[inline]
    pub fn is_pending(&self, id: RequestId) -> bool {
        self.slots.named(id).is_some_and(Slot::is_pending)
    }

    /// The outcome of a complete request, which stays.
    #[inline]
    pub fn status(&self, id: RequestId) -> Status {
        if id == RequestId::DONE {
            return Status::EMPTY;
        }
        // SAFETY: the request is complete, so its cells are the finishing thread's (slot protocol, rule 4).
        unsafe { self.slots.cells(id.index()) }.status()
    }

    /// The outcome of a complete request, whose identifier names nothing from here on.
    #[inline]
    pub fn finish(&self, id: RequestId) -> Status {
        if id == RequestId::DONE {
            return Status::EMPTY;
        }
        debug_assert!(self.is_complete(id) && self.exists(id));
        self.finish_slot(self.slots.at(id.index()))
    }

    #[inline]
    fn finish_slot(&self, slot: &Slot) -> Status {
        // SAFETY: complete, and finished by this thread (rule 4).
        let cells = unsafe { &*slot.cells.get() };
        let (status, lane) = (cells.status(), cells.lane);
        // SAFETY: as above; the reference is not used again.
        unsafe { Slots::end(slot) };
        self.give_back(lane, slot);
        status
    }

    /// Finishes a request if it exists and is complete; the fast way.
    #[inline]
    pub fn finish_complete(&self, id: RequestId) -> Option<Status> {
        let slot = self.slots.complete_one(id)?;
        Some(self.finish_slot(slot))
    }

    /// Finishes a request whose outcome is not asked for, if it exists, is complete and went well.
    #[inline]
    pub fn finish_if_successful(&self, id: RequestId) -> bool {
        let Some(slot) = self.slots.named(id) else {
            return false;
        };
        if slot.state.load(Ordering::Acquire) != PLAIN {
            return slot.is_complete() && self.finish_well(slot);
        }
        // SAFETY: complete, and finished by this thread (rule 4).
        let lane = unsafe { (*slot.cells.get()).lane };
        // SAFETY: as above, and a plain end holds nothing.
        unsafe { Slots::end_plain(slot) };
        self.give_back(lane, slot);
        true
    }

    /// Finishes a complete request if it went well.
    #[inline(never)]
    fn finish_well(&self, slot: &Slot) -> bool {
        // SAFETY: complete, and finished by this thread (rule 4); the reference is not used again.
        let well = unsafe { (*slot.cells.get()).outcome.failure.is_none() };
        if well {
            self.finish_slot(slot);
        }
        well
    }

    /// As [`finish_if_successful`](Self::finish_if_successful), after a turn of progress for it: most often that brings what has come.
    #[inline(never)]
    pub fn progress_and_finish_if_successful(&self, id: RequestId) -> bool {
        let Some(lane) = self.lane_of(id) else {
            return false;
        };
        self.progress_lane(lane);
        self.finish_if_successful(id)
    }

    /// Waits for a request, if it exists, and finishes it.
    #[inline(never)]
    pub fn wait_existing(&self, id: RequestId) -> Option<Status> {
        self.slots.find(id)?;
        self.wait_any(&[id]);
        Some(self.finish(id))
    }

    /// Waits for a request and finishes it.
    #[inline]
    pub fn wait(&self, id: RequestId) -> Status {
        if let Some(status) = self.finish_complete(id) {
            return status;
        }
        self.wait_any(&[id]);
        self.finish(id)
    }

    /// The request's outcome will not be asked for: it is recycled when it is complete.
    pub fn detach(&self, id: RequestId) {
        if let Some((lane, index)) = self.pending(id) {
            let mut state = lane.enter_soon();
            let pending = !self.slots.at(index).is_complete();
            if pending {
                // SAFETY: pending on this lane, whose section is held.
                let cells = state.core.cells(unsafe { Pending::new(index) });
                cells.flags |= flag::DETACHED;
                if cells.role.outlives_its_call() {
                    state.core.detached += 1;
                }
            }
            self.leave(lane, state);
            if pending {
                return;
            }
        }
        if id != RequestId::DONE && self.exists(id) {
            self.finish(id);
        }
    }

    /// Progresses until every send of this process has left it and every operation is over that was detached.
    pub fn drain(&self) {
        self.block_on_arrival(0, || {
            self.progress();
            self.lanes.made().all(|lane| {
                let state = lane.enter_soon();
                let drained = state.core.detached == 0 && state.core.outbound.is_empty();
                self.leave(lane, state);
                drained
            })
        });
    }

    /// The lane of a request that exists.
    pub(crate) fn lane_of(&self, id: RequestId) -> Option<u32> {
        self.slots.find(id)?;
        // SAFETY: `lane` is written before a request is handed over and not again while it exists.
        Some(unsafe { (*self.slots.at(id.index()).cells.get()).lane() })
    }

    /// The lane and slot of a request that is not complete yet.
    pub(crate) fn pending(&self, id: RequestId) -> Option<(&Lane<F::Endpoint>, u32)> {
        if self.is_complete(id) {
            return None;
        }
        Some((self.lane(self.lane_of(id)?), id.index()))
    }
}
