//! Asking whether a message is still to come, or to be received.
//!
//! A thread that has waited for a message for a while asks its sender, if its caller wants that ([`Engine::wait_enquiring`]). Whether the message comes is
//! known to the sender's process alone, where the engine asks its maker ([`Answer`]). A message that comes, or that
//! nobody knows of yet, has no answer, and the enquiry is repeated, each time after twice as long. Likewise a thread
//! that waits for its long message to be taken asks the receiver, which takes it and drops it if no receive is to
//! come.
//!
//! Rules:
//! 1. An enquiry names the request that waits by its cookie, and the answer repeats it: it fails that receive, or
//!    drops that send's message, and nothing else. What was said about a request that is over, or whose message has
//!    come, is dropped where it arrives: the slot has another generation, or the receive is not posted any more.
//! 2. An answer leaves behind all messages that were sent before, so that it finds the receive posted only if none of
//!    them matched.
//! 3. A peer that asks costs no request, and room for one answer on each lane: while that waits, further ones are not
//!    said. Who has no answer asks again.
//!
//! No thread waits in an operation. The request that one waits for is kept with it ([`Engine::await_enquiring`]), and whichever thread wakes from a
//! sleep, or polls in vain, looks now and then which operations have waited for a while (`asking.rs`).

use std::sync::Arc;
use std::time::{Duration, Instant};

use weft_memory::Memory;
use weft_transport::{Cookie, Endpoint, Fabric, Header, Peer, Refused};
use weft_wire::{ANSWER_BYTES, ENQUIRY_BYTES, OF_SENDER, Packet, PacketKind};

use crate::condition::Condition;
use crate::engine::Engine;
use crate::enquiry::{Answer, Enquiry};
use crate::lane::Lane;
use crate::operation::Awaited;
use crate::outbound::Control;
use crate::pending::Pending;
use crate::post::Route;
use crate::posted::Posted;
use crate::request_id::RequestId;
use crate::slot::{Role, Slot, flag};
use crate::slots::Slots;
use crate::state::{Core, State};
use crate::status::Failure;
use crate::wait::AnyOf;
use crate::waiter::{Question, Waiter};
use crate::waiting::Patience;

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
        if self.patience.is_over(Instant::now()) {
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

    /// Asks the sender of messages of this route, which comes to this process, for a wait that is not for a message.
    pub fn enquire(&self, route: &Route, words: [u64; 2]) {
        let lane = self.lane(route.lane);
        let mut state = lane.enter_soon();
        let envelope = (route.context, route.source, route.tag);
        state.enquire(RequestId::DONE, route.peer, envelope, 0, words);
        self.leave(lane, state);
    }

    pub(crate) fn enquire_about(&self, id: RequestId, words: [u64; 2]) {
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
                Role::Receive if !is_announced => state.enquire(id, peer, envelope, 0, words),
                // Its envelope is ahead of the enquiry.
                Role::Send if is_announced => state.enquire(id, peer, envelope, OF_SENDER, words),
                _ => (),
            }
        }
        self.leave(lane, state);
    }

    /// Answers a peer about the request that it names by this cookie, if there is anything to say.
    #[cold]
    pub(crate) fn answer(&self, lane: &Lane<F::Endpoint>, enquiry: Enquiry, cookie: Cookie) {
        let Some(number) = (self.answer)(&enquiry) else {
            return;
        };
        let mut state = lane.enter_soon();
        match enquiry.is_of_sender {
            true => self.drop_message(lane, &mut state, enquiry.peer, cookie),
            false => state.answer(enquiry.peer, cookie, number),
        }
        self.leave(lane, state);
    }

    /// Receives a message that nobody asks for, if it is here. Without a request to spare it stays, and the peer asks
    /// again.
    fn drop_message(
        &self,
        lane: &Lane<F::Endpoint>,
        state: &mut State<F::Endpoint>,
        peer: Peer,
        cookie: Cookie,
    ) {
        let Some(message) = state.core.announced(peer, cookie) else {
            return;
        };
        let Some(slot) = self.take_free(lane, &mut state.core) else {
            return;
        };
        let taken = state.core.matching.remove(message);
        let (envelope, unexpected) = taken.expect("it was just found");
        state.core.unstored(&unexpected);
        // SAFETY: just taken from those that are free, by this thread.
        let cells = unsafe { Slots::blank(slot) };
        let nowhere = Memory::contiguous(std::ptr::null_mut(), 0);
        cells.reset(Role::Receive, nowhere);
        cells.flags = flag::DETACHED;
        Slots::begin(slot);
        // SAFETY: begun for this lane, whose section is held: it is handed over.
        let receive = unsafe { Pending::new(slot.index) };
        state.core.join(receive, envelope, unexpected);
        state.act();
    }
}

impl<E: Endpoint> State<E> {
    /// Asks `peer` about a request: [`RequestId::DONE`] if the answer is not for one.
    fn enquire(
        &mut self,
        id: RequestId,
        peer: Peer,
        envelope: (u32, i32, i32),
        flags: u8,
        words: [u64; 2],
    ) {
        let (context, source, tag) = envelope;
        if peer == self.core.me || source < 0 || tag < 0 {
            return;
        }
        let packet = Packet {
            kind: PacketKind::Enquiry,
            flags,
            source: source as u32,
            context,
            tag: tag as u32,
        };
        let control = Control::Words {
            header: Header(packet.words()),
            body: [id.bits(), words[0], words[1]],
            words: (ENQUIRY_BYTES / 8) as u8,
        };
        self.control(peer, control);
    }

    /// Tells `peer` that its receive gets no message: rules 2 and 3.
    fn answer(&mut self, peer: Peer, cookie: Cookie, number: u8) {
        if cookie == RequestId::DONE.bits() {
            return;
        }
        let answer = Control::Words {
            header: Header(Packet::control(PacketKind::Answer).words()),
            body: [cookie, number.into(), 0],
            words: (ANSWER_BYTES / 8) as u8,
        };
        if !self.core.outbound.waits(peer) {
            match self.transmit_control(peer, answer) {
                Ok(()) | Err(Refused::Lost) => return,
                Err(refused) => drop(self.core.full(peer, refused)),
            }
        }
        self.core.outbound.push_answer(peer, answer);
    }
}

impl Core {
    /// A peer says that a receive gets no message: rule 1.
    pub(crate) fn answered(&mut self, from: Peer, cookie: Cookie, number: u8) {
        let id = RequestId::from_bits(cookie);
        if !self.slots.named(id).is_some_and(Slot::is_pending) {
            return;
        }
        // It may be another lane's. What stands among this one's posted receives is this one's.
        let is_it = |posted: &Posted| posted.slot().index == id.index() && posted.peer() == from;
        let found = self
            .matching
            .posted_iter()
            .find(|(_, _, posted)| is_it(posted))
            .map(|(_, _, posted)| posted.pending());
        if let Some(slot) = found
            && self.slots.id(slot.index()) == id
            && self.withdraw(slot)
        {
            self.fail(slot, Failure::Operation(number));
        }
    }
}
