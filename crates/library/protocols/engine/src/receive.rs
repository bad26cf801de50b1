//! Starting a receive, and joining a message with the receive it matched.

use std::sync::atomic::Ordering;

use weft_matching::{Envelope, Post};
use weft_memory::Memory;
use weft_transport::{BulkDescriptor, Endpoint, Refused};

use crate::outbound::Control;
use crate::pending::Pending;
use crate::posted::Posted;
use crate::slot::{Outcome, PLAIN, Role, awaits};
use crate::state::{Action, Core, State};
use crate::status::Failure;
use crate::unexpected::{Payload, Unexpected};

impl<E: Endpoint> State<E> {
    /// Starts a request that the lane has just been given.
    #[inline]
    pub(crate) fn start(&mut self, slot: Pending) {
        match self.core.cells(slot).role {
            Role::Send => self.start_send(slot),
            Role::Receive => self.core.post(slot),
            Role::Message => self.core.join_extracted(slot),
            Role::Access(_) => self.start_access(slot),
            Role::External | Role::Operation => {}
        }
    }

    /// Does what arrivals and matches asked of the endpoint.
    #[inline]
    pub(crate) fn act(&mut self) {
        if !self.core.actions.is_empty() {
            self.act_all();
        }
    }

    /// One by one: what is done may drop others, or add some.
    fn act_all(&mut self) {
        while let Some(action) = self.core.actions.pop_front() {
            match action {
                Action::Control { peer, control } => self.control(peer, control),
                Action::BulkCancel { peer, slot } => {
                    self.endpoint
                        .bulk_cancel(peer, self.core.slots.id(slot.index()).bits());
                    self.core.cancelled(slot);
                }
                Action::Flush { peer } => self.flush(peer),
                Action::Throttle { peer, on } => self.endpoint.throttle(peer, on),
                Action::End { peer, why } => {
                    self.endpoint.end(peer, &why);
                    self.core.lose(peer, &why);
                }
            }
        }
    }

    /// Has the transport move the bytes of the message that the receive in `slot` has matched.
    pub(crate) fn bulk_receive(
        &mut self,
        slot: Pending,
        descriptor: BulkDescriptor,
        bytes: u64,
    ) -> Result<(), Refused> {
        let cookie = self.core.slots.id(slot.index()).bits();
        let cells = self.core.cells(slot);
        let peer = cells.peer;
        let target = Memory {
            bytes: cells.outcome.bytes as usize,
            ..cells.memory()
        };
        self.endpoint
            .bulk_receive(peer, descriptor, bytes as usize, target, cookie)
    }
}

impl Core {
    /// Posts a receive: the oldest unexpected message it matches, or a place in the tables.
    #[inline]
    pub fn post(&mut self, slot: Pending) {
        // SAFETY: of this lane's table, and pending on it: it was handed over to be posted.
        let posted = unsafe { Posted::new(self.slots.at(slot.index())) };
        let pattern = posted.pattern();
        match self.matching.post(pattern, posted) {
            Post::Queued(id) => self.cells(slot).posted = Some(id),
            Post::Matched {
                envelope,
                unexpected,
                ..
            } => {
                // What stands there may be an earlier receive's, and of another lane.
                self.cells(slot).posted = None;
                self.unstored(&unexpected);
                self.join(slot, envelope, unexpected);
            }
        }
    }

    /// Receives a message that was taken out before by a matched probe.
    pub fn join_extracted(&mut self, slot: Pending) {
        let cells = self.cells(slot);
        cells.role = Role::Receive;
        let extracted = cells
            .extra()
            .extracted
            .take()
            .expect("a message slot holds its message");
        self.join(slot, extracted.envelope, extracted.unexpected);
    }

    /// Joins an unexpected message with the receive in `slot`.
    pub fn join(&mut self, slot: Pending, envelope: Envelope, unexpected: Unexpected) {
        let Unexpected {
            payload,
            peer,
            synchronous,
            cookie,
        } = unexpected;
        let cells = self.cells(slot);
        let room = cells.bytes as u64;
        cells.peer = peer;
        cells.outcome = Outcome::received(envelope.source, envelope.tag, payload.bytes(), room);
        let taken = cells.outcome.bytes as usize;
        if synchronous && peer != self.me {
            self.acknowledge_match(peer, cookie);
        }
        match payload {
            Payload::Short { bytes, .. } => self.fill(slot, &bytes[..taken]),
            Payload::Stored(bytes) => self.fill(slot, &bytes[..taken]),
            Payload::Dropped { .. } => self.fail(slot, Failure::NoMemory),
            Payload::Failed(number) => self.fail(slot, Failure::Operation(number)),
            Payload::ToSelf { slot: send, .. } => self.copy_to_self(send, slot, taken),
            Payload::Rts { bytes, descriptor } => self.take_up(slot, descriptor, bytes),
            Payload::RtsOnly { .. } => self.ask_for(slot, cookie),
        }
    }

    /// Completes a receive with bytes that are here.
    #[inline]
    pub fn fill(&mut self, slot: Pending, bytes: &[u8]) {
        let cells = self.cells(slot);
        cells.write(bytes);
        if cells.is_plain() {
            let place = self.slots.at(slot.index());
            debug_assert!(place.is_pending(), "a request completes once");
            return place.state.store(PLAIN, Ordering::Release);
        }
        self.complete(slot);
    }

    /// Has the bulk transfer of an RTS taken up for the receive in `slot`, whose outcome is written.
    pub fn take_up(&mut self, slot: Pending, descriptor: BulkDescriptor, bytes: u64) {
        self.announce(slot, awaits::BULK);
        let peer = self.cells(slot).peer;
        let control = Control::BulkReceive {
            slot,
            descriptor,
            bytes,
        };
        self.actions.push_back(Action::Control { peer, control });
    }

    /// Asks the sender for a payload that it kept back.
    pub fn ask_for(&mut self, slot: Pending, cookie: u64) {
        self.announce(slot, awaits::PACKET);
        let peer = self.cells(slot).peer;
        let control = Control::Cts { slot, cookie };
        self.actions.push_back(Action::Control { peer, control });
    }
}
