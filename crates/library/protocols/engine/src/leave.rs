//! Letting a lane's section go, with what was gathered for then; free slots for a lane's requests.

use std::sync::atomic::Ordering;

use weft_sync::Guard;
use weft_transport::{Fabric, Peer};

use crate::engine::Engine;
use crate::lane::Lane;
use crate::slot::{NIL, Slot};
use crate::slots::Slots;
use crate::state::{Afterwards, Core, State};

impl<F: Fabric> Engine<F> {
    /// Lets go, once nothing waits for the section, wakes whom it concerns, and looks at all lanes if that is due.
    #[inline(always)]
    pub(crate) fn leave<'a>(
        &self,
        lane: &'a Lane<F::Endpoint>,
        state: Guard<'a, State<F::Endpoint>>,
    ) {
        if !state.core.afterwards.is_empty() {
            return self.leave_and_act(lane, state);
        }
        self.leave_without_wakes(lane, state);
    }

    /// As [`leave`](Self::leave), of who cannot have completed anything.
    #[inline(always)]
    pub(crate) fn leave_without_wakes<'a>(
        &self,
        lane: &'a Lane<F::Endpoint>,
        state: Guard<'a, State<F::Endpoint>>,
    ) {
        debug_assert!(state.core.afterwards.is_empty() && state.core.actions.is_empty());
        if let Some(again) = state.leave() {
            self.serve_and_leave(lane, again);
        }
    }

    #[cold]
    #[inline(never)]
    fn leave_and_act<'a>(
        &self,
        lane: &'a Lane<F::Endpoint>,
        mut state: Guard<'a, State<F::Endpoint>>,
    ) {
        let afterwards = std::mem::take(&mut state.core.afterwards);
        let again = state.leave();
        let (mut peers, mut enquiries, mut looks) = (Vec::new(), Vec::new(), false);
        let (mut notices, mut lost) = (Vec::new(), Vec::new());
        for what in afterwards {
            match what {
                Afterwards::Wake(waiter) => waiter.tell(),
                Afterwards::Connect(peer) => peers.push(peer),
                Afterwards::Answer(enquiry, cookie) => enquiries.push((enquiry, cookie)),
                Afterwards::Notice(notice) => notices.push(notice),
                Afterwards::Lost(peer) => lost.push(peer),
                Afterwards::LookAtAllLanes => looks = true,
            }
        }
        self.ring_if_asleep();
        if let Some(again) = again {
            self.serve_and_leave(lane, again);
        }
        if !peers.is_empty() {
            self.connect(lane, peers);
        }
        for (enquiry, cookie) in enquiries {
            self.answer(lane, enquiry, cookie);
        }
        // What was said before it was lost comes first.
        notices.into_iter().for_each(self.listener.notice);
        lost.into_iter().for_each(self.listener.lost);
        if looks && self.look_at_all_lanes(Some(lane.number())) {
            let mut state = lane.enter_soon();
            state.core.all_lanes.come_soon();
            self.leave(lane, state);
        }
    }

    /// Has links made, and sends what waited for them.
    #[cold]
    fn connect(&self, lane: &Lane<F::Endpoint>, mut peers: Vec<Peer>) {
        peers.sort_unstable();
        peers.dedup();
        peers.iter().for_each(|&peer| self.fabric.connect(peer));
        let mut state = lane.enter_soon();
        state.poll();
        self.leave(lane, state);
    }

    #[cold]
    #[inline(never)]
    fn serve_and_leave<'a>(
        &self,
        lane: &'a Lane<F::Endpoint>,
        mut state: Guard<'a, State<F::Endpoint>>,
    ) {
        state.clear_mark();
        lane.serve(&mut state);
        self.leave(lane, state);
    }

    /// A free slot for a request of the lane.
    #[inline(always)]
    pub(crate) fn take_free(&self, lane: &Lane<F::Endpoint>, core: &mut Core) -> Option<&Slot> {
        if core.free.is_empty() {
            self.refill(lane, core);
        }
        core.free.pop(&self.slots)
    }

    /// Gets free slots for the lane, if there are any: those that were given back, else a fresh one.
    #[inline(never)]
    fn refill(&self, lane: &Lane<F::Endpoint>, core: &mut Core) {
        let mut first = lane.returned.take_linked();
        if first == NIL
            && let Some(index) = self.slots.fresh()
        {
            let slot = self.slots.at(index);
            slot.link.store(NIL, Ordering::Relaxed);
            // SAFETY: just taken from those that are free, by this thread.
            unsafe { Slots::blank(slot) }.lane = lane.number() as u8;
            first = index;
        }
        core.free.begin_at(first, &self.slots);
    }

    /// Gives a freed slot back to where it belongs, by [`Cells::lane`](crate::slot::Cells), from a thread that is not in
    /// the section.
    #[inline]
    pub(crate) fn give_back(&self, lane: u8, slot: &Slot) {
        // With POOLED it is no lane's number.
        match self.lanes.get(lane.into()) {
            Some(lane) => lane.returned.push_plainly(slot.index, &slot.link),
            None => self.slots.give_back(slot.index),
        }
    }

    /// Hands a filled slot to a lane that was found held: through its list.
    pub(crate) fn submit(&self, lane: &Lane<F::Endpoint>, slot: u32) {
        lane.submissions.push(slot, &*self.slots);
        if let Some(state) = lane.section.enter_or_notify() {
            self.serve_and_leave(lane, state);
        }
    }
}
