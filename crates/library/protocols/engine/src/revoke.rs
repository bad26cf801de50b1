//! Ending all that is pending in contexts that are revoked: whose communicator one of its processes has given up.
//!
//! A posted receive fails, and a whole message that nobody has received is dropped; of one that is announced the envelope
//! stays, for its sender to take back. A send that has not left fails; one whose
//! message has been announced is taken back, if the receiver has not matched it, and fails; one that is matched goes on to
//! its end, as its receive does, and then has failed nevertheless. What begins afterwards fails where somebody waits for
//! it or looks at it, as after a loss ([`Members::is_revoked`](crate::peers::Members::is_revoked)).

use weft_transport::{Endpoint, Fabric};

use crate::engine::Engine;
use crate::pending::Pending;
use crate::slot::Role;
use crate::state::{Afterwards, State};
use crate::status::Failure;

impl<F: Fabric> Engine<F> {
    /// Ends what is pending in the contexts of which this is true.
    #[cold]
    pub fn revoke(&self, is_revoked: impl Fn(u32) -> bool) {
        for lane in self.lanes.made() {
            let mut state = lane.enter_soon();
            state.revoke(&is_revoked);
            state.act();
            self.leave(lane, state);
        }
    }
}

impl<E: Endpoint> State<E> {
    pub(crate) fn revoke(&mut self, is_revoked: &dyn Fn(u32) -> bool) {
        self.core
            .fail_posted(Failure::Revoked, |_, context, _, _| is_revoked(context));
        self.drop_unexpected(is_revoked);
        for slot in self.sends(is_revoked) {
            self.core.cells(slot).outcome.failure = Some(Failure::Revoked);
            self.cancel_send(slot);
        }
        let wakes = self.core.probers.drain(..).map(Afterwards::Wake);
        self.core.afterwards.extend(wakes);
    }

    fn drop_unexpected(&mut self, is_revoked: &dyn Fn(u32) -> bool) {
        let unexpected = self.core.matching.unexpected_iter();
        let here = unexpected
            .filter(|(_, envelope, message)| is_revoked(envelope.context) && message.is_whole());
        let here: Vec<_> = here.map(|(id, _, _)| id).collect();
        for id in here {
            if let Some((_, message)) = self.core.matching.remove(id) {
                self.core.unstored(&message);
            }
        }
    }

    /// Sends that wait for room, or for their receivers.
    fn sends(&mut self, is_revoked: &dyn Fn(u32) -> bool) -> Vec<Pending> {
        let slots = self.core.slots.clone();
        let queued = self.core.outbound.peers();
        let queued = queued.flat_map(|(_, queue)| queue.iter(&slots));
        let mut sends: Vec<Pending> = queued.collect();
        sends.extend(self.core.in_flight.iter().copied());
        sends.retain(|&slot| {
            let cells = self.core.cells(slot);
            cells.role == Role::Send && is_revoked(cells.context)
        });
        sends
    }
}
