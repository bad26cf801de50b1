//! Asking whether a message is still to come, or to be received.
//!
//! A thread that has waited for a message for a while asks its sender, if its caller wants that ([`Engine::wait_enquiring`]). Whether the message comes is
//! known to the sender's process alone, where the engine asks its maker ([`Answer`]). If it does not come, a failure is sent in place of it: behind all that
//! was sent before, so that it meets the receive only if nothing else does. A message that comes, or that nobody knows of yet, has no answer, and the
//! enquiry is repeated, each time after twice as long. Likewise a thread that waits for its long message to be taken asks the receiver, which
//! takes it and drops it if no receive is to come.
//!
//! No thread waits in an operation. The request that one waits for is kept with it ([`Engine::await_enquiring`]), and whichever thread wakes from a
//! sleep, or polls in vain, looks now and then which operations have waited for a while (`asking.rs`).

use std::sync::Arc;
use std::time::Duration;

use weft_memory::Memory;
use weft_transport::{Endpoint, Fabric, Header, Peer};
use weft_wire::{ENQUIRY_BYTES, Kind, OF_SENDER, Packet};

use crate::condition::Condition;
use crate::engine::Engine;
use crate::enquiry::{Answer, Enquiry};
use crate::lane::Lane;
use crate::operation::Awaited;
use crate::outbound::Control;
use crate::patience::Patience;
use crate::pending::Pending;
use crate::post::Route;
use crate::probe::Wanted;
use crate::request_id::RequestId;
use crate::slot::{Role, flag};
use crate::state::State;
use crate::wait::AnyOf;
use crate::waiter::{Question, Waiter};

/// A thread's wait for a receive, whose sender it asks.
struct Enquiring<'a, F: Fabric, W> {
    any: AnyOf<'a, F>,
    words: W,
    patience: Patience,
}

impl<F: Fabric, W: Fn() -> [u64; 2]> Condition for Enquiring<'_, F, W> {
    #[inline]
    fn met(&mut self) -> bool {
        self.any.met()
    }

    fn leave_parker(&mut self, parker: &Arc<Waiter>) {
        self.any.leave_parker(parker);
        if self.patience.is_over() {
            let ids = self.any.ids.iter();
            ids.for_each(|&id| self.any.engine.enquire_about(id, (self.words)()));
        }
    }

    fn longest_sleep(&self) -> Option<Duration> {
        Some(self.patience.pause())
    }
}

impl<F: Fabric> Engine<F> {
    /// Says who knows whether messages come. Before the engine is used.
    pub fn with_answer(mut self, answer: Answer) -> Engine<F> {
        self.answer = answer;
        self
    }

    /// Waits until a request is complete. If it is a receive from one process for which no message is here, that process is asked for it after a while.
    pub fn wait_enquiring(&self, id: RequestId, words: impl Fn() -> [u64; 2]) {
        let enquiring = Enquiring {
            any: AnyOf {
                engine: self,
                ids: &[id],
            },
            words,
            patience: Patience::default(),
        };
        self.block(self.lane_of(id).unwrap_or(0), enquiring);
    }

    /// Does what [`await_request`](Engine::await_request) does, and has the request's peer asked with these `words` once the operation has waited for a while.
    pub fn await_enquiring(&self, awaited: &Awaited, id: RequestId, words: [u64; 2]) -> bool {
        let pending = self.await_request(awaited, id);
        if pending && let Waiter::Operation(operation) = &*awaited.0 {
            self.operations
                .asking
                .asks(operation, Question { id, words });
        }
        pending
    }

    /// Asks about what operations have waited for, for a while.
    #[cold]
    pub(crate) fn enquire_for_operations(&self) {
        for Question { id, words } in self.operations.asking.due() {
            self.enquire_about(id, words);
        }
    }

    /// Asks the sender of messages of this route, which comes to this process.
    pub fn enquire(&self, route: &Route, words: [u64; 2]) {
        let lane = self.lane(route.lane);
        let mut state = lane.enter_soon();
        let envelope = (route.context, route.source, route.tag);
        state.enquire(route.peer, envelope, 0, words);
        self.leave(lane, state);
    }

    fn enquire_about(&self, id: RequestId, words: [u64; 2]) {
        let Some((lane, index)) = self.pending(id) else {
            return;
        };
        let mut state = lane.enter_soon();
        let slot = self.slots.find(id);
        if slot.is_some_and(|slot| !slot.is_complete()) {
            // SAFETY: pending on this lane, whose section is held.
            let slot = unsafe { Pending::new(index) };
            let cells = state.core.cells(slot);
            let envelope = (cells.context, cells.source, cells.tag);
            let (peer, is_announced) = (cells.peer, cells.has(flag::ANNOUNCED));
            match cells.role {
                Role::Receive if !is_announced => state.enquire(peer, envelope, 0, words),
                // Its envelope is ahead of the enquiry.
                Role::Send if is_announced => state.enquire(peer, envelope, OF_SENDER, words),
                _ => (),
            }
        }
        self.leave(lane, state);
    }

    /// Answers a peer, if there is anything to say.
    #[cold]
    pub(crate) fn answer(&self, lane: &Lane<F::Endpoint>, enquiry: Enquiry) {
        let Some(number) = (self.answer)(&enquiry) else {
            return;
        };
        let lane = lane.number();
        let (peer, context) = (enquiry.peer, enquiry.context);
        let (source, tag) = (enquiry.source as i32, enquiry.tag as i32);
        if enquiry.is_of_sender {
            return self.drop_message(Wanted {
                lane,
                peer,
                context,
                source,
                tag,
            });
        }
        let route = Route {
            lane,
            peer,
            context,
            source,
            tag,
        };
        // Without a request to spare nothing is said: the peer asks again.
        if let Ok(id) = self.send_failure(route, number) {
            self.detach(id);
        }
    }

    /// Receives a message that nobody asks for, if it is here.
    fn drop_message(&self, wanted: Wanted) {
        if let Ok(Some((id, _))) = self.extract(wanted) {
            let nowhere = Memory::contiguous(std::ptr::null_mut(), 0);
            self.detach(self.receive_extracted(id, nowhere));
        }
    }
}

impl<E: Endpoint> State<E> {
    fn enquire(&mut self, peer: Peer, envelope: (u32, i32, i32), flags: u8, words: [u64; 2]) {
        let (context, source, tag) = envelope;
        if peer == self.core.me || source < 0 || tag < 0 {
            return;
        }
        let packet = Packet {
            kind: Kind::Enquiry,
            flags,
            source: source as u32,
            context,
            tag: tag as u32,
        };
        let control = Control::Words {
            header: Header(packet.words()),
            body: words,
            words: (ENQUIRY_BYTES / 8) as u8,
        };
        self.control(peer, control);
    }
}
