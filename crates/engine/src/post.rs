//! The way in: starting sends and receives.

use std::ptr::NonNull;

use weft_matching::Pattern;
use weft_sync::Guard;
use weft_transport::{Endpoint, Fabric, Header, Memory, Peer};
use weft_wire::{Kind, Packet};

use crate::lane::{Lane, State};
use crate::matched::Posted;
use crate::slot::{Cells, OF_LANE, Outcome, POOLED, Role, flag};
use crate::slots::{RequestId, Slots};
use crate::{Engine, Exhausted};

/// A message to be sent, out of user memory as `M` describes it.
pub struct Outgoing<M = Memory> {
    pub lane: u32,
    pub peer: Peer,
    pub context: u32,
    /// This process's rank in the communicator.
    pub source: u32,
    pub tag: u32,
    pub memory: M,
    /// Complete only once matched (MPI-5.0 §3.4).
    pub synchronous: bool,
}

/// A message to be received: negative source or tag is any.
pub struct Incoming<M = Memory> {
    pub lane: u32,
    /// The process behind `source`, if one is given.
    pub peer: Option<Peer>,
    pub context: u32,
    pub source: i32,
    pub tag: i32,
    pub memory: M,
}

/// User memory that lies together. Plain values, which the short way holds in registers and writes nowhere but to the
/// request.
#[derive(Clone, Copy)]
pub struct Span {
    pub base: *mut u8,
    pub bytes: usize,
}

impl<M> Outgoing<M> {
    #[inline(always)]
    fn with<N>(self, memory: N) -> Outgoing<N> {
        Outgoing {
            lane: self.lane,
            peer: self.peer,
            context: self.context,
            source: self.source,
            tag: self.tag,
            memory,
            synchronous: self.synchronous,
        }
    }
}

impl Outgoing<Span> {
    #[inline(always)]
    fn whole(self) -> Outgoing {
        let memory = Memory::contiguous(self.memory.base, self.memory.bytes);
        self.with(memory)
    }
}

impl<M> Incoming<M> {
    #[inline(always)]
    fn with<N>(self, memory: N) -> Incoming<N> {
        Incoming {
            lane: self.lane,
            peer: self.peer,
            context: self.context,
            source: self.source,
            tag: self.tag,
            memory,
        }
    }

    #[inline(always)]
    fn pattern(&self) -> Pattern {
        Pattern {
            context: self.context,
            source: self.source,
            tag: self.tag,
        }
    }
}

impl Incoming<Span> {
    #[inline(always)]
    fn whole(self) -> Incoming {
        let memory = Memory::contiguous(self.memory.base, self.memory.bytes);
        self.with(memory)
    }
}

/// Memory that needs no more than a span to describe it.
fn span_of(memory: &Memory) -> Option<Span> {
    let (base, bytes) = (memory.base, memory.bytes);
    memory.layout.is_none().then_some(Span { base, bytes })
}

impl Cells {
    /// A request about to start. What is not set here, whoever starts it sets.
    pub(crate) fn reset(&mut self, role: Role, lane: u32, memory: Memory) {
        let (base, bytes) = (memory.base, memory.bytes);
        self.reset_span(role, lane, Span { base, bytes });
        self.layout = memory.layout;
    }

    /// As [`reset`](Self::reset), of memory that lies together. A free slot has no layout: it was let go.
    #[inline(always)]
    fn reset_span(&mut self, role: Role, lane: u32, memory: Span) {
        debug_assert!(self.layout.is_none() && self.extra.is_none());
        self.role = role;
        self.lane = lane as u8;
        self.flags = 0;
        self.parts = 0;
        self.base = memory.base;
        self.bytes = memory.bytes;
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

    /// The envelope that a receive asks for.
    #[inline(always)]
    fn ask<M>(&mut self, message: &Incoming<M>) {
        self.peer = message.peer.unwrap_or(u32::MAX);
        self.context = message.context;
        self.source = message.source;
        self.tag = message.tag;
    }
}

impl<E: Endpoint> State<E> {
    /// Sends a message that needs no request, if nothing stands in its way.
    #[inline(always)]
    fn send_now(&mut self, message: &Outgoing<Span>) -> bool {
        let (peer, Span { base, bytes }) = (message.peer, message.memory);
        if message.synchronous || bytes > self.eager_bytes() || peer == self.core.me {
            return false;
        }
        if self.core.outbound.waits(peer) {
            return false;
        }
        let payload: &[u8] = match bytes {
            0 => &[],
            // SAFETY: the caller of a send gives its buffer to the library until the send completes
            // (MPI-5.0 §3.4), and the shims checked that it is not null.
            _ => unsafe { std::slice::from_raw_parts(base, bytes) },
        };
        let packet = Packet {
            kind: Kind::Eager,
            flags: 0,
            source: message.source,
            context: message.context,
            tag: message.tag,
        };
        let header = Header(packet.words());
        if self.endpoint.send(peer, header, payload, true).is_err() {
            return false;
        }
        self.core.tally.eager += 1;
        true
    }
}

impl<F: Fabric> Engine<F> {
    /// Starts a send. [`RequestId::DONE`] if it is complete already.
    pub fn send(&self, message: Outgoing) -> Result<RequestId, Exhausted> {
        if let Some(span) = span_of(&message.memory) {
            return self.send_span(message.with(span));
        }
        let lane = self.lane(message.lane);
        self.send_with_request(lane, lane.enter(), message)
    }

    /// As [`send`](Self::send), of memory that lies together.
    #[inline(always)]
    pub fn send_span(&self, message: Outgoing<Span>) -> Result<RequestId, Exhausted> {
        let lane = self.lane(message.lane);
        let Some(mut state) = lane.enter() else {
            return self.send_with_request(lane, None, message.whole());
        };
        if !state.send_now(&message) {
            return self.send_with_request(lane, Some(state), message.whole());
        }
        self.leave(lane, state);
        Ok(RequestId::DONE)
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
    pub fn receive(&self, message: Incoming) -> Result<RequestId, Exhausted> {
        if let Some(span) = span_of(&message.memory) {
            return self.receive_span(message.with(span));
        }
        let lane = self.lane(message.lane);
        self.receive_generally(lane, lane.enter(), message)
    }

    /// As [`receive`](Self::receive), into memory that lies together.
    #[inline(always)]
    pub fn receive_span(&self, message: Incoming<Span>) -> Result<RequestId, Exhausted> {
        let lane = self.lane(message.lane);
        let Some(mut state) = lane.enter_to_receive() else {
            return self.receive_generally(lane, None, message.whole());
        };
        let Some((index, slot)) = self.take_free(lane, &mut state.core) else {
            self.leave(lane, state);
            return Err(Exhausted);
        };
        let cells = Slots::blank(slot);
        cells.reset_span(Role::Receive, message.lane, message.memory);
        cells.ask(&message);
        let id = Slots::begin(slot, index, OF_LANE);
        if state.core.matching.posts_together() {
            state.core.put_off(index);
        } else {
            let Span { base, bytes } = message.memory;
            let posted = Posted {
                place: NonNull::from(slot),
                slot: index,
                strided: false,
                base,
                bytes,
            };
            state.core.post_as(message.pattern(), posted);
        }
        state.act();
        self.leave(lane, state);
        Ok(id)
    }

    #[inline(never)]
    fn receive_generally<'a>(
        &self,
        lane: &'a Lane<F::Endpoint>,
        state: Option<Guard<'a, State<F::Endpoint>>>,
        message: Incoming,
    ) -> Result<RequestId, Exhausted> {
        self.start(lane, state, |cells| {
            cells.ask(&message);
            cells.reset(Role::Receive, message.lane, message.memory);
        })
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
            let slot = self.slots.at(index);
            fill(Slots::blank(slot));
            // The identifier first: from its start on the request may complete and, detached, be recycled.
            let id = Slots::begin(slot, index, POOLED);
            self.submit(lane, index);
            return Ok(id);
        };
        let free = self.take_free(lane, &mut state.core);
        let id = free.map(|(index, slot)| {
            fill(Slots::blank(slot));
            let id = Slots::begin(slot, index, OF_LANE);
            state.start(index);
            state.act();
            id
        });
        self.leave(lane, state);
        id.ok_or(Exhausted)
    }
}
