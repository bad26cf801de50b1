//! Keeping the core for a moment where it would be given up to wait, on a host with more processes than cores.
//!
//! A process says to the host's others when it *waits*: from the first look in vain on it has nothing to do for them until something comes. Who
//! waits for one that does not wait *stays* instead of yielding, for a moment: what that one is to do comes sooner than
//! a core that was given up comes back. Otherwise the last of four ranks to come to a barrier on two cores yields to one that is
//! there already, for want of a word that is 100 ns away, and the barrier takes three switches of threads where two do.
//!
//! That a process does not wait is a hint only. It may compute for long, the kernel may have given its core to another, and of its threads
//! the last one to begin or end a wait speaks for all. So a stay is short, and one in vain is followed by yields.

use weft_transport::{Endpoint, Fabric};

use crate::at_work::Told;
use crate::condition::Condition;
use crate::engine::Engine;
use crate::pending::Pending;
use crate::request_id::RequestId;
use crate::slot::Role;

/// Looks of one stay: for longer than the other takes to send what it is about to, and less than two switches of threads.
const LOOKS: u32 = 20;

impl<F: Fabric> Engine<F> {
    /// Before a yield: whether something came within a stay.
    pub(crate) fn stay(
        &self,
        lane: u32,
        told: &mut Told<'_, F>,
        condition: &mut impl Condition,
    ) -> bool {
        told.that_it_waits();
        if !condition.comes_soon() || self.stays.pass_over() {
            return false;
        }
        for _ in 0..LOOKS {
            std::hint::spin_loop();
            if self.progress_lane(lane) || condition.met() {
                return true;
            }
            if !condition.comes_soon() {
                return false;
            }
        }
        self.stays.was_in_vain();
        false
    }

    /// Whether the process that a request waits for is at work.
    pub(crate) fn comes_soon(&self, id: RequestId) -> bool {
        let Some((lane, index)) = self.pending(id) else {
            return true;
        };
        let Some(mut state) = lane.enter() else {
            return false;
        };
        // Asked again: from here on it stays so, as completing it takes the section.
        let comes_soon = self.is_complete(id) || {
            // SAFETY: pending on this lane, whose section is held.
            let slot = unsafe { Pending::new(index) };
            let cells = state.core.cells(slot);
            let (role, peer) = (cells.role, cells.peer);
            matches!(role, Role::Send | Role::Receive) && state.endpoint.is_at_work(peer)
        };
        self.leave(lane, state);
        comes_soon
    }
}
