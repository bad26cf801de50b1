//! The way in: starting sends and receives.

use weft_memory::Memory;
use weft_sync::Guard;
use weft_transport::{Endpoint, Fabric, Header, Peer};
use weft_wire::{Packet, PacketKind};

use crate::engine::{Engine, Exhausted};
use crate::lane::Lane;
use crate::pending::Pending;
use crate::posted::Posted;
use crate::request_id::RequestId;
use crate::slot::{Cells, Outcome, Role, Slot, flag};
use crate::slots::Slots;
use crate::state::State;

/// In [`Route::peer`]: a receive from any source.
pub const ANYBODY: Peer = Peer::MAX;

/// The way that a message goes and its envelope (MPI-5.0 §3.2.3), or, of a receive, what it is to come by and the pattern
/// of its envelope: negative source or tag is any.
#[derive(Clone, Copy)]
pub struct Route {
    pub lane: u32,
    /// Where to, or the process behind `source`: [`ANYBODY`] if none is given.
    pub peer: Peer,
    pub context: u32,
    /// The sender's rank in the communicator.
    pub source: i32,
    pub tag: i32,
}

/// A message to be sent, out of user memory as `M` describes it.
pub struct Outgoing<M = Memory> {
    pub route: Route,
    pub memory: M,
    /// Complete only once matched (MPI-5.0 §3.4).
    pub synchronous: bool,
}

/// A message to be received.
pub struct Incoming<M = Memory> {
    pub route: Route,
    pub memory: M,
}

/// User memory that lies together. Plain values, which the short way holds in registers and writes nowhere but to the
/// request.
#[derive(Clone, Copy)]
pub struct Span {
    pub base: *mut u8,
    pub bytes: usize,
}

impl Span {
    #[inline(always)]
    fn memory(self) -> Memory {
        Memory::contiguous(self.base, self.bytes)
    }
}

/// Memory that needs no more than a span to describe it.
fn span_of(memory: &Memory) -> Option<Span> {
    let (base, bytes) = (memory.base, memory.bytes);
    memory.layout.is_none().then_some(Span { base, bytes })
}

impl Cells {
    /// A request about to start. Its maker sets what is not set here.
    pub(crate) fn reset(&mut self, role: Role, memory: Memory) {
        debug_assert!(self.layout.is_none() && self.extra.is_none());
        let (base, bytes) = (memory.base, memory.bytes);
        self.reset_span(role, Span { base, bytes });
        self.posted = None;
        self.outcome = Outcome::default();
        if memory.layout.is_some() {
            self.flags = flag::STRIDED;
            self.layout = memory.layout;
        }
    }

    /// What a receive sets, too, whose place among the posted ones and whose outcome are written when it has them.
    #[inline(always)]
    fn reset_span(&mut self, role: Role, memory: Span) {
        self.role = role;
        self.flags = 0;
        self.awaits = 0;
        self.base = memory.base;
        self.bytes = memory.bytes;
    }

    #[inline(always)]
    fn take_route(&mut self, route: &Route) {
        self.peer = route.peer;
        self.context = route.context;
        self.source = route.source;
        self.tag = route.tag;
    }

    #[inline(always)]
    fn begin_send(&mut self, message: Outgoing) {
        self.reset(Role::Send, message.memory);
        if message.synchronous {
            self.flags |= flag::SYNCHRONOUS;
        }
        self.take_route(&message.route);
    }
}

impl<E: Endpoint> State<E> {
    /// The packet of a message that needs no request: it is short enough, and nothing waits before it.
    #[inline(always)]
    fn packet<'a>(&self, message: &Outgoing<Span>) -> Option<(Header, &'a [u8])> {
        let route = message.route;
        let (peer, Span { base, bytes }) = (route.peer, message.memory);
        if message.synchronous || bytes > Self::EAGER_BYTES_TO_ALL || peer == self.core.me {
            return None;
        }
        if self.core.outbound.waits(peer) {
            return None;
        }
        let payload: &[u8] = match bytes {
            0 => &[],
            // SAFETY: the caller of a send gives its buffer to the library until the send completes
            // (MPI-5.0 §3.4), and the shims checked that it is not null.
            _ => unsafe { std::slice::from_raw_parts(base, bytes) },
        };
        let packet = Packet {
            kind: PacketKind::Eager,
            flags: 0,
            source: route.source as u32,
            context: route.context,
            tag: route.tag as u32,
        };
        Some((Header(packet.words()), payload))
    }

    /// Sends a message that needs no request and no call, if it is one.
    #[inline(always)]
    fn send_at_once(&mut self, message: &Outgoing<Span>) -> bool {
        let Some((header, payload)) = self.packet(message) else {
            return false;
        };
        let sent = (self.endpoint).send_at_once(message.route.peer, header, payload, true);
        self.core.tally.eager += u64::from(sent);
        sent
    }

    /// Sends a message that needs no request, if it is one.
    fn send_now(&mut self, message: &Outgoing<Span>) -> bool {
        let Some((header, payload)) = self.packet(message) else {
            return false;
        };
        let sent = (self.endpoint).send(message.route.peer, header, payload, true);
        self.core.tally.eager += u64::from(sent.is_ok());
        sent.is_ok()
    }
}

impl<F: Fabric> Engine<F> {
    /// Starts a send. [`RequestId::DONE`] if it is complete already.
    pub fn send(&self, message: Outgoing) -> Result<RequestId, Exhausted> {
        let lane = self.lane(message.route.lane);
        match span_of(&message.memory) {
            Some(memory) => self.send_span(Outgoing {
                route: message.route,
                memory,
                synchronous: message.synchronous,
            }),
            None => self.send_with_request(lane, lane.enter(), message),
        }
    }

    /// As [`send`](Self::send), of memory that lies together. What a message needs in nearly every case is here, without a call, for
    /// the sake of which registers would be saved; all else is out of line.
    #[inline(always)]
    pub fn send_span(&self, message: Outgoing<Span>) -> Result<RequestId, Exhausted> {
        let lane = self.lane(message.route.lane);
        let Some(mut state) = lane.enter() else {
            return self.send_general(lane, None, message);
        };
        if !state.send_at_once(&message) {
            return self.send_general(lane, Some(state), message);
        }
        self.leave(lane, state);
        Ok(RequestId::DONE)
    }

    #[inline(never)]
    fn send_general<'a>(
        &self,
        lane: &'a Lane<F::Endpoint>,
        mut state: Option<Guard<'a, State<F::Endpoint>>>,
        message: Outgoing<Span>,
    ) -> Result<RequestId, Exhausted> {
        if let Some(mut inside) = state.take() {
            if inside.send_now(&message) {
                self.leave(lane, inside);
                return Ok(RequestId::DONE);
            }
            state = Some(inside);
        }
        let message = Outgoing {
            route: message.route,
            memory: message.memory.memory(),
            synchronous: message.synchronous,
        };
        self.start(lane, state, |cells| cells.begin_send(message))
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
    pub fn send_failure(&self, route: Route, number: u8) -> Result<RequestId, Exhausted> {
        let lane = self.lane(route.lane);
        self.start(lane, lane.enter(), |cells| {
            cells.reset(Role::Send, Memory::contiguous(std::ptr::null_mut(), 0));
            cells.take_route(&route);
            cells.flags = flag::FAILED;
            cells.extra().failure = number;
        })
    }

    /// Starts a receive.
    pub fn receive(&self, message: Incoming) -> Result<RequestId, Exhausted> {
        let Incoming { route, memory } = message;
        self.receive_with(&route, |cells| cells.reset(Role::Receive, memory))
    }

    /// As [`receive`](Self::receive), into memory that lies together.
    #[inline(always)]
    pub fn receive_span(&self, message: Incoming<Span>) -> Result<RequestId, Exhausted> {
        let Incoming { route, memory } = message;
        self.receive_with(&route, |cells| cells.reset_span(Role::Receive, memory))
    }

    /// Its message has mostly not come: where there are no unexpected ones, and nothing else is to be done first, the
    /// receive is put down among the posted ones.
    #[inline(always)]
    fn receive_with(
        &self,
        route: &Route,
        fill: impl FnOnce(&mut Cells),
    ) -> Result<RequestId, Exhausted> {
        let lane = self.lane(route.lane);
        let mut state = lane.enter_to_receive();
        let free = match &mut state {
            Some(state) => self.take_free(lane, &mut state.core),
            None => self.slots.pooled(route.lane),
        };
        let Some(slot) = free else {
            return self.give_up(lane, state);
        };
        // SAFETY: just taken from those that are free, by this thread.
        let cells = unsafe { Slots::blank(slot) };
        fill(cells);
        cells.take_route(route);
        let quiet = |state: &State<_>| {
            lane.submissions.is_empty() && state.core.matching.unexpected_len() == 0
        };
        match state {
            Some(mut state) if quiet(&state) => {
                let pattern = cells.pattern();
                // SAFETY: of the lane's table, and begun below, inside the section.
                let posted = unsafe { Posted::new(slot) };
                cells.posted = Some(state.core.matching.queue(pattern, posted));
                let id = Slots::begin(slot);
                self.leave_without_wakes(lane, state);
                Ok(id)
            }
            state => Ok(self.receive_general(lane, state, slot)),
        }
    }

    /// Starts a receive whose slot is filled, in a lane that was entered to receive, if at all.
    #[inline(never)]
    fn receive_general<'a>(
        &self,
        lane: &'a Lane<F::Endpoint>,
        state: Option<Guard<'a, State<F::Endpoint>>>,
        slot: &Slot,
    ) -> RequestId {
        // The identifier first: from its start on the request may complete and, detached, be recycled.
        let id = Slots::begin(slot);
        let Some(mut state) = state else {
            self.submit(lane, slot.index);
            return id;
        };
        if !lane.submissions.is_empty() {
            lane.serve(&mut state);
        }
        // SAFETY: begun for this lane, whose section is held: it is handed over.
        let pending = unsafe { Pending::new(slot.index) };
        if state.core.matching.posts_together() {
            state.core.defer_post(pending);
        } else {
            state.core.post(pending);
        }
        state.act();
        state.core.count_turn();
        self.leave(lane, state);
        id
    }

    #[cold]
    #[inline(never)]
    fn give_up<'a>(
        &self,
        lane: &'a Lane<F::Endpoint>,
        state: Option<Guard<'a, State<F::Endpoint>>>,
    ) -> Result<RequestId, Exhausted> {
        if let Some(state) = state {
            self.leave(lane, state);
        }
        Err(Exhausted)
    }

    /// Makes a request and hands it to its lane: at once if the caller is inside, else through its list.
    pub(crate) fn start<'a>(
        &self,
        lane: &'a Lane<F::Endpoint>,
        state: Option<Guard<'a, State<F::Endpoint>>>,
        fill: impl FnOnce(&mut Cells),
    ) -> Result<RequestId, Exhausted> {
        let Some(mut state) = state else {
            let slot = self.slots.pooled(lane.number()).ok_or(Exhausted)?;
            // SAFETY: just taken from those that are free, by this thread.
            fill(unsafe { Slots::blank(slot) });
            // The identifier first: from its start on the request may complete and, detached, be recycled.
            let id = Slots::begin(slot);
            self.submit(lane, slot.index);
            return Ok(id);
        };
        let free = self.take_free(lane, &mut state.core);
        let id = free.map(|slot| {
            // SAFETY: just taken from those that are free, by this thread.
            fill(unsafe { Slots::blank(slot) });
            let id = Slots::begin(slot);
            // SAFETY: begun for this lane, whose section is held: it is handed over.
            state.start(unsafe { Pending::new(slot.index) });
            state.act();
            id
        });
        self.leave(lane, state);
        id.ok_or(Exhausted)
    }
}
