//! The way in: starting sends and receives, and asking for their outcome.

use std::sync::atomic::Ordering;

use weft_sync::Guard;
use weft_transport::{Endpoint, Fabric, Header, Memory, Peer};
use weft_wire::{Kind, Packet};

use crate::lane::{Lane, State};
use crate::slot::{COMPLETE, Cells, OF_LANE, Outcome, POOLED, Role, Slot, flag};
use crate::slots::{RequestId, Slots};
use crate::status::Status;
use crate::{Engine, Exhausted};

/// A message to be sent.
pub struct Outgoing {
    pub lane: u32,
    pub peer: Peer,
    pub context: u32,
    /// This process's rank in the communicator.
    pub source: u32,
    pub tag: u32,
    pub memory: Memory,
    /// Complete only once matched (MPI-5.0 §3.4).
    pub synchronous: bool,
}

/// A message to be received: negative source or tag is any.
pub struct Incoming {
    pub lane: u32,
    /// The process behind `source`, if one is given.
    pub peer: Option<Peer>,
    pub context: u32,
    pub source: i32,
    pub tag: i32,
    pub memory: Memory,
}

impl Cells {
    /// A request about to start. What is not set here, whoever starts it sets.
    #[inline(always)]
    pub(crate) fn reset(&mut self, role: Role, lane: u32, memory: Memory) {
        self.role = role;
        self.lane = lane as u8;
        self.flags = 0;
        self.parts = 0;
        self.base = memory.base;
        self.bytes = memory.bytes;
        self.layout = memory.layout;
        self.posted = None;
        self.outcome = Outcome::default();
    }

    #[inline(always)]
    fn begin_send(&mut self, message: Outgoing) {
        self.reset(Role::Send, message.lane, message.memory);
        if message.synchronous {
            self.flags |= flag::SYNCHRONOUS;
        }
        self.peer = message.peer;
        self.context = message.context;
        self.source = message.source as i32;
        self.tag = message.tag as i32;
    }
}

impl<E: Endpoint> State<E> {
    /// Sends a message that needs no request, if nothing stands in its way.
    #[inline(always)]
    fn send_now(&mut self, message: &Outgoing) -> bool {
        let Outgoing {
            peer,
            context,
            source,
            tag,
            ..
        } = *message;
        let bytes = message.memory.bytes;
        let plain = !message.synchronous && message.memory.layout.is_none();
        if !plain || bytes > self.eager_bytes() || peer == self.core.me {
            return false;
        }
        if self.core.outbound.waits(peer) {
            return false;
        }
        let payload: &[u8] = match bytes {
            0 => &[],
            // SAFETY: the caller of a send gives its buffer to the library until the send completes
            // (MPI-5.0 §3.4), and the shims checked that it is not null.
            _ => unsafe { std::slice::from_raw_parts(message.memory.base, bytes) },
        };
        let packet = Packet {
            kind: Kind::Eager,
            flags: 0,
            source,
            context,
            tag,
        };
        self.endpoint
            .send(peer, Header(packet.words()), payload, true)
            .is_ok()
    }
}

impl<F: Fabric> Engine<F> {
    /// Starts a send. [`RequestId::DONE`] if it is complete already.
    #[inline(always)]
    pub fn send(&self, message: Outgoing) -> Result<RequestId, Exhausted> {
        let lane = self.lane(message.lane);
        let entered = lane.enter();
        match entered {
            Some(mut state) => {
                if state.send_now(&message) {
                    state.core.tally.eager += 1;
                    self.leave(lane, state);
                    return Ok(RequestId::DONE);
                }
                self.send_with_request(lane, Some(state), message)
            }
            None => self.send_with_request(lane, None, message),
        }
    }

    #[inline(never)]
    fn send_with_request<'a>(
        &self,
        lane: &'a Lane<F::Endpoint>,
        state: Option<Guard<'a, State<F::Endpoint>>>,
        message: Outgoing,
    ) -> Result<RequestId, Exhausted> {
        self.start(lane, state, |cells| cells.begin_send(message))
    }

    /// Sends that its maker failed, in place of a message: the receive that matches fails by this number.
    #[cold]
    pub fn send_failure(&self, message: Outgoing, number: u8) -> Result<RequestId, Exhausted> {
        let lane = self.lane(message.lane);
        self.start(lane, lane.enter(), |cells| {
            cells.begin_send(message);
            cells.flags = flag::FAILED;
            (cells.bytes, cells.layout) = (0, None);
            cells.extra().failure = number;
        })
    }

    /// Starts a receive.
    #[inline(always)]
    pub fn receive(&self, message: Incoming) -> Result<RequestId, Exhausted> {
        let lane = self.lane(message.lane);
        let fill = |cells: &mut Cells| {
            cells.reset(Role::Receive, message.lane, message.memory);
            cells.peer = message.peer.unwrap_or(u32::MAX);
            cells.context = message.context;
            cells.source = message.source;
            cells.tag = message.tag;
        };
        let Some(mut state) = lane.enter_to_receive() else {
            return self.start(lane, None, fill);
        };
        let Some(index) = self.take_free(lane, &mut state.core) else {
            self.leave(lane, state);
            return Err(Exhausted);
        };
        let slot = self.slots.begin(index, OF_LANE, fill);
        let id = RequestId::new(index, slot.generation.load(Ordering::Relaxed));
        if state.core.matching.posts_together() {
            state.core.put_off(index);
        } else {
            state.core.post_at(slot, index);
        }
        state.act();
        self.leave(lane, state);
        Ok(id)
    }

    /// Makes a request and hands it to its lane: at once if the caller is inside, else through its list.
    fn start<'a>(
        &self,
        lane: &'a Lane<F::Endpoint>,
        state: Option<Guard<'a, State<F::Endpoint>>>,
        fill: impl FnOnce(&mut Cells),
    ) -> Result<RequestId, Exhausted> {
        let Some(mut state) = state else {
            let index = self.slots.fresh().ok_or(Exhausted)?;
            self.slots.begin(index, POOLED, fill);
            // The identifier first: from its start on the request may complete and, detached, be recycled.
            let id = self.slots.id(index);
            self.submit(lane, index);
            return Ok(id);
        };
        let index = self.take_free(lane, &mut state.core);
        let id = index.map(|index| {
            self.slots.begin(index, OF_LANE, fill);
            let id = self.slots.id(index);
            state.start(index);
            state.act();
            id
        });
        self.leave(lane, state);
        id.ok_or(Exhausted)
    }

    /// Whether the identifier names a request that is not finished, or [`RequestId::DONE`].
    #[inline]
    pub fn exists(&self, id: RequestId) -> bool {
        id == RequestId::DONE || self.slots.find(id).is_some()
    }

    /// The identifier of the request that is at an index now.
    pub fn current(&self, index: u32) -> Option<RequestId> {
        self.slots.current(index)
    }

    /// Whether the request is complete. One load; no progress is made.
    #[inline]
    pub fn is_complete(&self, id: RequestId) -> bool {
        match self.slots.find(id) {
            Some(slot) => slot.state.load(Ordering::Acquire) == COMPLETE,
            None => true,
        }
    }

    /// The outcome of a complete request, which stays.
    #[inline]
    pub fn status(&self, id: RequestId) -> Status {
        if id == RequestId::DONE {
            return Status::EMPTY;
        }
        // SAFETY: the request is complete, so its cells are the finishing thread's (slot protocol, rule 4).
        Status::of(unsafe { self.slots.cells(id.index()) })
    }

    /// The outcome of a complete request, whose identifier names nothing from here on.
    #[inline]
    pub fn finish(&self, id: RequestId) -> Status {
        if id == RequestId::DONE {
            return Status::EMPTY;
        }
        debug_assert!(self.is_complete(id) && self.exists(id));
        self.finish_slot(self.slots.at(id.index()), id.index())
    }

    #[inline]
    fn finish_slot(&self, slot: &Slot, index: u32) -> Status {
        // SAFETY: complete, and finished by this thread (rule 4).
        let cells = unsafe { &*slot.cells.get() };
        let (status, lane) = (Status::of(cells), u32::from(cells.lane));
        // SAFETY: as above; the reference is not used again.
        unsafe { Slots::end(slot) };
        self.give_back(lane, slot, index);
        status
    }

    /// Finishes a request if it exists and is complete; the fast way.
    #[inline]
    pub fn finish_complete(&self, id: RequestId) -> Option<Status> {
        let slot = self.slots.complete_one(id)?;
        Some(self.finish_slot(slot, id.index()))
    }

    /// Finishes a request whose outcome nobody asks for, if it exists, is complete and went well.
    #[inline]
    pub fn finish_quietly(&self, id: RequestId) -> bool {
        let Some(slot) = self.slots.complete_one(id) else {
            return false;
        };
        // SAFETY: complete, and finished by this thread (rule 4).
        let cells = unsafe { &*slot.cells.get() };
        if cells.outcome.failure.is_some() {
            return false;
        }
        let lane = u32::from(cells.lane);
        // SAFETY: as above; the reference is not used again.
        unsafe { Slots::end(slot) };
        self.give_back(lane, slot, id.index());
        true
    }

    /// Waits for a request, if it exists, and finishes it.
    #[inline(never)]
    pub fn wait_existing(&self, id: RequestId) -> Option<Status> {
        self.slots.find(id)?;
        self.wait_any(&[id]);
        Some(self.finish(id))
    }

    /// Waits for a request and finishes it.
    #[inline]
    pub fn wait(&self, id: RequestId) -> Status {
        if let Some(status) = self.finish_complete(id) {
            return status;
        }
        self.wait_any(&[id]);
        self.finish(id)
    }

    /// Nobody will ask for this request's outcome: it is recycled when it is complete.
    pub fn detach(&self, id: RequestId) {
        if let Some((lane, index)) = self.pending(id) {
            let mut state = lane.enter_soon();
            let pending = self.slots.at(index).state.load(Ordering::Acquire) != COMPLETE;
            if pending {
                let cells = state.core.cells(index);
                cells.flags |= flag::DETACHED;
                if cells.role.outlives_its_call() {
                    state.core.detached += 1;
                }
            }
            self.leave(lane, state);
            if pending {
                return;
            }
        }
        if id != RequestId::DONE && self.exists(id) {
            self.finish(id);
        }
    }

    /// Progresses until every send of this process has left it and every operation is over that nobody will finish.
    pub fn drain(&self) {
        self.block_on_arrival(0, || {
            self.progress();
            self.lanes.iter().filter_map(|lane| lane.get()).all(|lane| {
                let state = lane.enter_soon();
                let drained = state.core.detached == 0 && state.core.outbound.is_empty();
                self.leave(lane, state);
                drained
            })
        });
    }

    /// The lane of a request that exists.
    pub(crate) fn lane_of(&self, id: RequestId) -> Option<u32> {
        self.slots.find(id)?;
        // SAFETY: `lane` is written before a request is handed over and not again while it exists.
        Some(u32::from(unsafe {
            (*self.slots.at(id.index()).cells.get()).lane
        }))
    }

    /// The lane and slot of a request that is not complete yet.
    pub(crate) fn pending(&self, id: RequestId) -> Option<(&Lane<F::Endpoint>, u32)> {
        if self.is_complete(id) {
            return None;
        }
        Some((self.lane(self.lane_of(id)?), id.index()))
    }
}
