//! Leaving waiters in requests, and telling them when those complete.
//!
//! A waiter is left in a request under the section of the request's lane, so either the thread that completes the request finds it, or
//! the one that leaves it finds the request complete. It is told once, after the section is let go. One thread at a time waits for
//! a request (MPI-5.0 §3.7.3); operations, any number (several flushes of one buffer, MPI-5.0 §3.6).

use std::sync::Arc;

use weft_transport::{Endpoint, Fabric};

use crate::engine::Engine;
use crate::pending::Pending;
use crate::request_id::RequestId;
use crate::slot::{Role, flag};
use crate::state::{Afterwards, Core, State};
use crate::waiter::Waiter;

impl<F: Fabric> Engine<F> {
    /// Leaves a waiter in a request. False if it is complete, or finished.
    pub(crate) fn leave_waiter(&self, id: RequestId, waiter: &Arc<Waiter>) -> bool {
        let Some((lane, index)) = self.pending(id) else {
            return false;
        };
        let mut state = lane.enter_soon();
        // Asked again: from here on it stays so, as completing it takes the section.
        let slot = self.slots.find(id);
        let pending = slot.is_some_and(|slot| !slot.is_complete());
        if pending {
            // SAFETY: pending on this lane, whose section is held.
            let slot = unsafe { Pending::new(index) };
            state.core.leave_waiter(slot, waiter);
            state.expect_sender(slot);
        }
        self.leave(lane, state);
        pending
    }
}

impl<E: Endpoint> State<E> {
    /// A thread that waits for a message of one peer learns of that peer's death, be it that nothing ever came from there by this
    /// lane, or that the peer was dead before.
    fn expect_sender(&mut self, slot: Pending) {
        let cells = self.core.cells(slot);
        let (context, source, peer) = (cells.context, cells.source, cells.peer);
        if cells.role != Role::Receive || cells.has(flag::ANNOUNCED) {
            return;
        }
        if let Err(failure) = self.can_come(context, source, peer)
            && self.core.withdraw(slot)
        {
            self.core.fail(slot, failure);
        }
    }
}

impl Core {
    fn leave_waiter(&mut self, slot: Pending, waiter: &Arc<Waiter>) {
        let cells = self.cells(slot);
        if !cells.has(flag::AWAITED) {
            cells.flags |= flag::AWAITED;
            // One of an earlier request may stand there.
            cells.waiter = None;
        }
        let first = &mut cells.waiter;
        if first.as_ref().is_none_or(|first| waiter.replaces(first)) {
            *first = Some(waiter.clone());
            return;
        }
        let further = &mut cells.extra().waiters;
        match further.iter_mut().find(|other| waiter.replaces(other)) {
            Some(other) => *other = waiter.clone(),
            None => further.push(waiter.clone()),
        }
    }

    /// All that wait for a request are to be told once the section is let go.
    pub(crate) fn tell_waiters(&mut self, slot: Pending) {
        let cells = self.cells(slot);
        let first = cells.waiter.take();
        let further = cells
            .extra
            .as_mut()
            .map(|extra| std::mem::take(&mut extra.waiters));
        let wakes = first.into_iter().chain(further.into_iter().flatten());
        self.afterwards.extend(wakes.map(Afterwards::Wake));
    }
}
