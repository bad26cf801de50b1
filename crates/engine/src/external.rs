//! Requests that something outside the engine completes: the program (MPI-5.0 §13.2), or the last of several threads
//! that work on one operation. For who waits they are requests like any other.

use std::sync::atomic::Ordering;

use weft_transport::{Fabric, Memory};

use crate::slot::{COMPLETE, POOLED, Role};
use crate::slots::RequestId;
use crate::{Engine, Exhausted};

impl<F: Fabric> Engine<F> {
    /// A request of a lane, pending until [`complete_external`](Self::complete_external).
    pub fn external(&self, lane: u32) -> Result<RequestId, Exhausted> {
        let index = self.slots.fresh().ok_or(Exhausted)?;
        let nothing = Memory::contiguous(std::ptr::null_mut(), 0);
        self.slots.begin(index, POOLED, |cells| {
            cells.reset(Role::External, lane, nothing)
        });
        Ok(self.slots.id(index))
    }

    /// Completes an external request and wakes who waits for it. False if it is none that is pending.
    pub fn complete_external(&self, id: RequestId) -> bool {
        let Some((lane, index)) = self.pending(id) else {
            return false;
        };
        let mut state = lane.enter_soon();
        let pending = self.slots.at(index).state.load(Ordering::Acquire) != COMPLETE
            && state.core.cells(index).role == Role::External;
        if pending {
            state.core.complete(index);
        }
        self.leave(lane, state);
        pending
    }
}
