//! Requests that something outside the engine completes: the program (MPI-5.0 §13.2), or the last of several threads
//! that work on one operation. To a thread that waits they are requests like any other.

use weft_memory::Memory;
use weft_transport::Fabric;

use crate::engine::{Engine, Exhausted};
use crate::pending::Pending;
use crate::request_id::RequestId;
use crate::slot::{Outcome, Role, flag};
use crate::slots::Slots;
use crate::status::Status;

impl<F: Fabric> Engine<F> {
    /// A request of a lane, pending until [`complete_external`](Self::complete_external).
    pub fn external(&self, lane: u32) -> Result<RequestId, Exhausted> {
        self.open(Role::External, lane, 0)
    }

    /// As [`external`](Self::external), of an operation on something: `context` is told with a failure.
    pub fn external_in(&self, lane: u32, context: u32) -> Result<RequestId, Exhausted> {
        self.open(Role::External, lane, context)
    }

    /// Completes an external request with its outcome, and wakes who waits for it. False if it is none that is pending.
    pub fn complete_external_with(&self, id: RequestId, status: Status) -> bool {
        self.close(Role::External, id, status)
    }

    /// Completes an external request and wakes who waits for it. False if it is none that is pending.
    pub fn complete_external(&self, id: RequestId) -> bool {
        self.close(Role::External, id, Status::EMPTY)
    }

    /// A request for which nothing arrives.
    pub(crate) fn open(&self, role: Role, lane: u32, context: u32) -> Result<RequestId, Exhausted> {
        let slot = self.slots.pooled(lane).ok_or(Exhausted)?;
        // SAFETY: just taken from those that are free, by this thread.
        let cells = unsafe { Slots::blank(slot) };
        cells.reset(role, Memory::contiguous(std::ptr::null_mut(), 0));
        cells.context = context;
        Ok(Slots::begin(slot))
    }

    /// Completes a request of this role. False if it is none that is pending.
    pub(crate) fn close(&self, role: Role, id: RequestId, status: Status) -> bool {
        let Some((lane, index)) = self.pending(id) else {
            return false;
        };
        let mut state = lane.enter_soon();
        // SAFETY: pending on this lane, whose section is held.
        let slot = (!self.slots.at(index).is_complete()).then(|| unsafe { Pending::new(index) });
        let found = slot.filter(|&slot| state.core.cells(slot).role == role);
        if let Some(slot) = found {
            let cells = state.core.cells(slot);
            cells.outcome = Outcome {
                source: status.source,
                tag: status.tag,
                bytes: status.bytes,
                failure: status.failure,
                cancelled: status.cancelled,
            };
            // So the status tells of a message, if there was one. One that was freed is counted by its role.
            if status.receive && !cells.has(flag::DETACHED) {
                cells.role = Role::Receive;
            }
            state.core.complete(slot);
        }
        self.leave(lane, state);
        found.is_some()
    }
}
