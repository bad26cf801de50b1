//! Looking at messages before receiving them (MPI-5.0 §3.8).

use weft_matching::{Envelope, Pattern};
use weft_memory::Memory;
use weft_transport::{Fabric, Peer};

use crate::engine::Engine;
use crate::pending::Pending;
use crate::request_id::RequestId;
use crate::slot::Role;
use crate::slots::Slots;
use crate::state::Core;
use crate::status::{Failure, Status};
use crate::unexpected::{Extracted, Unexpected};

/// Which messages a probe asks for: negative source or tag is any.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    pub lane: u32,
    /// The process behind `source`: [`ANYBODY`](crate::ANYBODY) if none is given.
    pub peer: Peer,
    pub context: u32,
    pub source: i32,
    pub tag: i32,
}

impl Wanted {
    fn pattern(&self) -> Pattern {
        Pattern {
            context: self.context,
            source: self.source,
            tag: self.tag,
        }
    }
}

/// Why a matched probe has no message to give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotExtracted {
    Exhausted,
    /// None is here, and none can come.
    Failed(Failure),
}

fn status(envelope: &Envelope, unexpected: &Unexpected) -> Status {
    Status {
        source: envelope.source,
        tag: envelope.tag,
        bytes: unexpected.payload.bytes(),
        failure: None,
        cancelled: false,
        context: envelope.context,
        receive: true,
    }
}

impl<F: Fabric> Engine<F> {
    /// The oldest message that is wanted, if one is here; progresses first if none is. It fails if none can come.
    pub fn probe(&self, wanted: Wanted) -> Result<Option<Status>, Failure> {
        self.look(wanted, |core, pattern| {
            core.matching
                .peek(pattern)
                .map(|(_, envelope, message)| status(&envelope, message))
        })
    }

    /// Waits for a wanted message.
    pub fn probe_blocking(&self, wanted: Wanted) -> Result<Status, Failure> {
        let mut found = Ok(None);
        self.block_on_arrival(wanted.lane, || {
            // Asked again after it was met, it keeps what it found: another thread may have taken the message.
            if matches!(found, Ok(None)) {
                found = self.probe(wanted);
            }
            !matches!(found, Ok(None))
        });
        Ok(found?.expect("the wait ends when a message is found"))
    }

    /// Takes the oldest wanted message out of matching (MPI-5.0 §3.8.2): it is received by the identifier
    /// returned, a pending request that [`Engine::receive_extracted`] fills in.
    pub fn extract(&self, wanted: Wanted) -> Result<Option<(RequestId, Status)>, NotExtracted> {
        let taken = self.look(wanted, |core, pattern| {
            core.matching.peek(pattern)?;
            // Before the message is taken, which without a request would be lost.
            let Some(slot) = self.slots.pooled(wanted.lane) else {
                return Some(Err(NotExtracted::Exhausted));
            };
            let (envelope, unexpected) = core.matching.take(pattern)?;
            core.unstored(&unexpected);
            let status = status(&envelope, &unexpected);
            // SAFETY: just taken from those that are free, by this thread.
            let cells = unsafe { Slots::blank(slot) };
            let nowhere = Memory::contiguous(std::ptr::null_mut(), 0);
            cells.reset(Role::Message, nowhere);
            cells.context = wanted.context;
            cells.source = envelope.source;
            cells.tag = envelope.tag;
            cells.extra().extracted = Some(Extracted {
                envelope,
                unexpected,
            });
            Some(Ok((Slots::begin(slot), status)))
        });
        taken.map_err(NotExtracted::Failed)?.transpose()
    }

    /// Waits for a wanted message and takes it out.
    pub fn extract_blocking(&self, wanted: Wanted) -> Result<(RequestId, Status), NotExtracted> {
        let mut found = Ok(None);
        self.block_on_arrival(wanted.lane, || {
            // Asked again after it was met, it does not take a second message.
            if matches!(found, Ok(None)) {
                found = self.extract(wanted);
            }
            !matches!(found, Ok(None))
        });
        Ok(found?.expect("the wait ends when a message is found"))
    }

    /// Whether `message` is one that [`Engine::extract`] returned and that is not received.
    pub fn is_extracted(&self, message: RequestId) -> bool {
        // SAFETY: a message slot belongs to the user's thread until it is received (slot protocol, rule 1).
        self.slots.find(message).is_some()
            && unsafe { self.slots.cells(message.index()) }.role == Role::Message
    }

    /// Receives an extracted message; the request keeps the message's identifier.
    pub fn receive_extracted(&self, message: RequestId, memory: Memory) -> RequestId {
        let index = message.index();
        // SAFETY: as in `is_extracted`.
        let cells = unsafe { self.slots.cells(index) };
        let lane = self.lane(cells.lane());
        cells.base = memory.base;
        cells.bytes = memory.bytes;
        cells.layout = memory.layout;
        match lane.enter() {
            Some(mut state) => {
                // SAFETY: handed over here, to the lane that the message was taken out of.
                state.start(unsafe { Pending::new(index) });
                state.act();
                self.leave(lane, state);
            }
            None => self.submit(lane, index),
        }
        message
    }

    fn look<T>(
        &self,
        wanted: Wanted,
        mut find: impl FnMut(&mut Core, Pattern) -> Option<T>,
    ) -> Result<Option<T>, Failure> {
        let lane = self.lane(wanted.lane);
        let mut state = lane.enter_soon();
        let mut found = find(&mut state.core, wanted.pattern());
        if found.is_some() {
            state.core.count_turn();
        } else {
            state.poll();
            found = find(&mut state.core, wanted.pattern());
        }
        state.act();
        let can_come = match found {
            Some(_) => Ok(()),
            None => state.can_come(wanted.context, wanted.source, wanted.peer),
        };
        self.leave(lane, state);
        // A program may do nothing but probe until a message comes.
        if found.is_none() {
            self.serve_callers();
        }
        can_come.map(|()| found)
    }
}
