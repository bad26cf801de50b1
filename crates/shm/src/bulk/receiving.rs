//! The receiver's side of bulk transfers.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use weft_transport::{Cookie, Lost, Memory, Offer, Peer};

use super::Outbox;
use super::control::{Control, CopyTarget, Offered, TransferId};
use super::copying::{self, Way};
use super::words::{ByteRing, COPY_BYTES, Claims, GIVEN_UP, RING_BYTES, RING_MAPPED, Side};
use crate::endpoint::Links;
use crate::peers::{Neighbour, lost};
use crate::segment::{Mapping, PAGE};

/// Bytes taken out of a ring before the sender is told.
const CHUNK: usize = 16 << 10;
/// A copy has about this many chunks, of sizes between these bounds.
const COPY_CHUNKS: usize = 16;
const SMALLEST_COPY: usize = 64 << 10;
const LARGEST_COPY: usize = 256 << 10;

/// A transfer to here.
struct Incoming {
    id: TransferId,
    neighbour: Arc<Neighbour>,
    target: Memory,
    /// The offer's bytes, of which the first `target.bytes` are wanted.
    offered: u64,
    cookie: Cookie,
    state: State,
}

enum State {
    /// The sender was asked for a ring.
    NeedsRing,
    /// Comes through a ring; `consumed` bytes are out.
    Taking { ring: ByteRing, consumed: u64 },
    /// Is copied from `source`, an address in the sender's memory.
    Copying {
        own: Own,
        target: CopyTarget,
        source: u64,
    },
}

/// A lane's transfers from peers. Places of the table are used again; those that have something to do are listed.
pub struct Receiving {
    table: Vec<Option<Incoming>>,
    free: Vec<u32>,
    number: u32,
    /// Places in state `Taking` or `Copying`.
    active: Vec<u32>,
    claims: Pool,
    pub finished: VecDeque<Cookie>,
}

/// Words for copies, in pages of the own segment.
struct Pool {
    free: Vec<Own>,
    /// Of complete copies, whose senders may not have noticed.
    used: Vec<Own>,
}

struct Own {
    claims: Claims,
    offset: u64,
}

/// What one step did to a transfer.
enum Step {
    Idle,
    Moved(usize),
    Finished,
    Lost(Lost),
}

impl Receiving {
    pub fn new() -> Receiving {
        Receiving {
            table: Vec::new(),
            free: Vec::new(),
            number: 0,
            active: Vec::new(),
            claims: Pool {
                free: Vec::new(),
                used: Vec::new(),
            },
            finished: VecDeque::new(),
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "those of the trait and what they act on"
    )]
    pub fn accept(
        &mut self,
        links: &mut Links,
        outbox: &mut Outbox,
        peer: Peer,
        offer: Offer,
        bytes: usize,
        mut target: Memory,
        cookie: Cookie,
    ) -> Result<(), Lost> {
        let offered =
            Offered::parse(offer).ok_or_else(|| lost(peer, "it made an offer that is none"))?;
        target.bytes = target.bytes.min(bytes);
        let neighbour = links.neighbour(peer)?;
        match offered {
            Offered::Nothing if bytes == 0 => self.finished.push_back(cookie),
            Offered::Nothing => return Err(lost(peer, "it offered nothing of something")),
            Offered::Ring { offset } => {
                let ring = ByteRing::new(outbox.map(links, peer, offset, RING_MAPPED)?);
                let state = State::Taking { ring, consumed: 0 };
                let id = self.enter(neighbour, target, bytes, cookie, state);
                self.active.push(id.place());
            }
            Offered::Call { transfer, address } => {
                let copied = address.filter(|_| {
                    target.layout.is_none() && target.bytes > 0 && copying::is_allowed(links, peer)
                });
                let words = copied.and_then(|source| Some((source, self.claims.take(links)?)));
                match words {
                    Some((source, own)) => {
                        let target = self.begin_copy(neighbour, target, bytes, cookie, source, own);
                        links.counters.copy_transfers += 1;
                        outbox.post(peer, Control::Copy { transfer, target });
                    }
                    None => {
                        let state = State::NeedsRing;
                        let receiver = self.enter(neighbour, target, bytes, cookie, state);
                        outbox.post(peer, Control::NeedRing { transfer, receiver });
                    }
                }
            }
        }
        Ok(())
    }

    fn enter(
        &mut self,
        neighbour: Arc<Neighbour>,
        target: Memory,
        offered: usize,
        cookie: Cookie,
        state: State,
    ) -> TransferId {
        let place = self.free.pop().unwrap_or_else(|| {
            self.table.push(None);
            self.table.len() as u32 - 1
        });
        self.number = self.number.wrapping_add(1);
        let id = TransferId::new(place, self.number);
        let offered = offered as u64;
        self.table[place as usize] = Some(Incoming {
            id,
            neighbour,
            target,
            offered,
            cookie,
            state,
        });
        id
    }

    fn begin_copy(
        &mut self,
        neighbour: Arc<Neighbour>,
        memory: Memory,
        offered: usize,
        cookie: Cookie,
        source: u64,
        own: Own,
    ) -> CopyTarget {
        let chunk_bytes = (memory.bytes / COPY_CHUNKS)
            .next_multiple_of(PAGE)
            .clamp(SMALLEST_COPY, LARGEST_COPY) as u64;
        let target = CopyTarget {
            words: own.offset,
            address: memory.base as u64,
            bytes: memory.bytes as u64,
            chunk_bytes,
        };
        own.claims.reset(target.chunks() as u32);
        let state = State::Copying {
            own,
            target,
            source,
        };
        let id = self.enter(neighbour, memory, offered, cookie, state);
        self.active.push(id.place());
        target
    }

    /// The sender has a ring for a transfer.
    pub fn ring(
        &mut self,
        links: &mut Links,
        outbox: &mut Outbox,
        peer: Peer,
        id: TransferId,
        offset: u64,
    ) -> Result<(), Lost> {
        let entry = self
            .table
            .get_mut(id.place() as usize)
            .and_then(Option::as_mut);
        let Some(incoming) = entry.filter(|incoming| {
            incoming.id == id
                && incoming.neighbour.rank == peer
                && matches!(incoming.state, State::NeedsRing)
        }) else {
            return Ok(());
        };
        let ring = ByteRing::new(outbox.map(links, peer, offset, RING_MAPPED)?);
        incoming.state = State::Taking { ring, consumed: 0 };
        self.active.push(id.place());
        Ok(())
    }

    #[inline]
    pub fn is_active(&self) -> bool {
        !self.active.is_empty() || !self.finished.is_empty()
    }

    /// Moves up to about `budget` bytes.
    pub fn go_on(&mut self, links: &mut Links, mut budget: usize) -> bool {
        let mut moved = false;
        let mut index = 0;
        while let Some(&place) = self.active.get(index)
            && budget > 0
        {
            let step = match &mut self.table[place as usize] {
                Some(incoming) => incoming.step(links, budget),
                None => Step::Finished,
            };
            match step {
                Step::Idle => index += 1,
                Step::Moved(bytes) => {
                    moved = true;
                    budget = budget.saturating_sub(bytes);
                    index += 1;
                }
                Step::Finished => {
                    moved = true;
                    self.active.swap_remove(index);
                    if let Some(incoming) = self.leave(place) {
                        self.finished.push_back(incoming.cookie);
                    }
                }
                Step::Lost(lost) => {
                    moved = true;
                    self.active.swap_remove(index);
                    if let Some(incoming) = self.leave(place) {
                        links.lose(lost, incoming.neighbour.rank);
                    }
                }
            }
        }
        // Whoever comes last is first in the next turn.
        if self.active.len() > 1 {
            self.active.rotate_left(1);
        }
        moved
    }

    fn leave(&mut self, place: u32) -> Option<Incoming> {
        let mut incoming = self.table[place as usize].take()?;
        self.free.push(place);
        // Only now: the sender may have released them long before this side has seen that all is copied.
        if let State::Copying { own, .. } = std::mem::replace(&mut incoming.state, State::NeedsRing)
        {
            self.claims.used.push(own);
        }
        Some(incoming)
    }

    /// Before a sleep. True if there is something to do already.
    pub fn wait(&mut self) -> bool {
        let mut ready = !self.finished.is_empty();
        for &place in &self.active {
            match self.table[place as usize]
                .as_ref()
                .map(|incoming| &incoming.state)
            {
                Some(State::Taking { ring, consumed }) => {
                    ring.receiver_waits(true);
                    ready |= ring.produced() != *consumed;
                }
                Some(State::Copying { own, target, .. }) => {
                    let claims = &own.claims;
                    claims.waits(Side::Receiver, true);
                    ready |= u64::from(claims.done()) >= target.chunks()
                        || !claims.is_claimed() && !claims.has_failed(Side::Receiver);
                }
                Some(State::NeedsRing) | None => {}
            }
        }
        ready
    }

    pub fn stop_waiting(&mut self) {
        for &place in &self.active {
            match self.table[place as usize]
                .as_ref()
                .map(|incoming| &incoming.state)
            {
                Some(State::Taking { ring, .. }) => ring.receiver_waits(false),
                Some(State::Copying { own, .. }) => own.claims.waits(Side::Receiver, false),
                Some(State::NeedsRing) | None => {}
            }
        }
    }

    pub fn forget(&mut self, peer: Peer) {
        for place in 0..self.table.len() as u32 {
            let entry = &self.table[place as usize];
            if entry
                .as_ref()
                .is_some_and(|incoming| incoming.neighbour.rank == peer)
            {
                self.active.retain(|&other| other != place);
                self.leave(place);
            }
        }
    }

    pub fn describe(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        for incoming in self.table.iter().flatten() {
            let (rank, bytes) = (incoming.neighbour.rank, incoming.target.bytes);
            match &incoming.state {
                State::NeedsRing => {
                    writeln!(
                        out,
                        "rank {rank} has no free ring for {bytes} bytes to here"
                    )
                }
                State::Taking { consumed, .. } => {
                    writeln!(
                        out,
                        "{consumed} of {bytes} bytes from rank {rank} have come"
                    )
                }
                State::Copying { own, target, .. } => writeln!(
                    out,
                    "{} of {} chunks from rank {rank} are copied",
                    own.claims.done(),
                    target.chunks()
                ),
            }?;
        }
        Ok(())
    }
}

impl Incoming {
    fn step(&mut self, links: &mut Links, budget: usize) -> Step {
        match &mut self.state {
            State::NeedsRing => Step::Idle,
            State::Taking { ring, consumed } => take(
                ring,
                &self.target,
                self.offered,
                consumed,
                &self.neighbour,
                links,
                budget,
            ),
            State::Copying {
                own,
                target,
                source,
            } => copy_chunk(
                &own.claims,
                target,
                *source,
                &self.target,
                &self.neighbour,
                links,
            ),
        }
    }
}

/// Takes what is in the ring, and gives the ring up when the target is full.
fn take(
    ring: &ByteRing,
    target: &Memory,
    offered: u64,
    consumed: &mut u64,
    neighbour: &Neighbour,
    links: &mut Links,
    budget: usize,
) -> Step {
    let wanted = target.bytes as u64;
    let mut moved = 0;
    loop {
        if *consumed == wanted {
            if wanted < offered && ring.consume(GIVEN_UP) {
                links.ring(neighbour);
            }
            return Step::Finished;
        }
        let produced = ring.produced();
        let Some(in_ring) = produced
            .checked_sub(*consumed)
            .filter(|&bytes| bytes <= RING_BYTES as u64 && produced <= offered)
        else {
            return Step::Lost(lost(neighbour.rank, "it counts more bytes than it offered"));
        };
        let at = (*consumed % RING_BYTES as u64) as usize;
        let bytes = (in_ring.min(wanted - *consumed) as usize)
            .min(CHUNK)
            .min(RING_BYTES - at);
        if bytes == 0 || moved >= budget {
            return if moved > 0 {
                Step::Moved(moved)
            } else {
                Step::Idle
            };
        }
        // SAFETY: these bytes are the receiver's (rule 1 of `words`), which is this; the target is writable
        // until it is reported as received, and is `wanted` bytes long.
        unsafe { target.write(*consumed as usize, ring.to_take(at, bytes)) };
        *consumed += bytes as u64;
        moved += bytes;
        if ring.consume(*consumed) {
            links.ring(neighbour);
        }
    }
}

/// Copies one chunk from the front out of the sender's memory.
fn copy_chunk(
    claims: &Claims,
    target: &CopyTarget,
    source: u64,
    memory: &Memory,
    neighbour: &Neighbour,
    links: &mut Links,
) -> Step {
    if u64::from(claims.done()) >= target.chunks() {
        return Step::Finished;
    }
    if claims.has_failed(Side::Receiver) {
        return match claims.has_failed(Side::Sender) {
            true => Step::Lost(lost(neighbour.rank, "neither side could copy a message")),
            false => Step::Idle,
        };
    }
    let Some(chunk) = claims.claim(Side::Receiver) else {
        return Step::Idle;
    };
    let begin = u64::from(chunk).saturating_mul(target.chunk_bytes);
    // A hostile sender can write any number of chunks.
    let bytes = target.bytes.saturating_sub(begin).min(target.chunk_bytes) as usize;
    // SAFETY: `begin + bytes` is at most the target's bytes, which are writable until reported as received.
    let copied = unsafe {
        let mine = memory.base.wrapping_add(begin as usize);
        copying::copy(
            Way::Read,
            neighbour.card.pid,
            mine,
            source.wrapping_add(begin),
            bytes,
        )
    };
    if copied.is_err() {
        claims.fail(Side::Receiver);
        return Step::Idle;
    }
    links.counters.chunks_read += 1;
    if claims.count(Side::Receiver) {
        links.ring(neighbour);
    }
    Step::Moved(bytes)
}

impl Pool {
    /// Words for a copy; none if there is no memory.
    fn take(&mut self, links: &mut Links) -> Option<Own> {
        if self.free.is_empty() {
            let released = self.used.extract_if(.., |own| own.claims.is_released());
            self.free.extend(released);
        }
        if self.free.is_empty() {
            self.make(links)?;
        }
        self.free.pop()
    }

    fn make(&mut self, links: &mut Links) -> Option<()> {
        let (offset, mapping) = links.shared.segment.carve(PAGE).ok()?;
        links.counters.bulk_bytes += PAGE as u64;
        let mapping: Arc<Mapping> = Arc::new(mapping);
        for at in (0..PAGE).step_by(COPY_BYTES) {
            let claims = Claims::new(mapping.clone(), at)?;
            self.free.push(Own {
                claims,
                offset: offset + at as u64,
            });
        }
        Some(())
    }
}
