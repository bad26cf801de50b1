//! The sender's side of bulk transfers.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use weft_transport::{Cookie, Lost, Memory, Offer, Peer};

use super::Outbox;
use super::control::{Control, CopyTarget, Offered, TransferId};
use super::copying::{self, Way};
use super::rings::{For, RING_BYTES, Rings};
use super::words::{ByteRing, Claims, GIVEN_UP, Side};
use crate::endpoint::Links;
use crate::peers::{Neighbour, lost};
use crate::segment::PAGE;

/// Contiguous messages from this size on are copied from process to process.
const COPIES_FROM_BYTES: usize = 1 << 20;
/// Chunks of a ring grow with what has gone before, so that the receiver starts early.
const FIRST_CHUNK: usize = 8 << 10;
const LARGEST_CHUNK: usize = 32 << 10;

/// A transfer from here.
struct Outgoing {
    id: TransferId,
    neighbour: Arc<Neighbour>,
    source: Memory,
    cookie: Cookie,
    state: State,
}

enum State {
    /// The receiver has not answered the call.
    Called,
    /// The receiver has, and waits for a ring.
    NeedsRing { receiver: TransferId },
    /// Goes through ring `ring`; `produced` bytes are in.
    Filling { ring: usize, produced: u64 },
    /// Is copied.
    Copying { claims: Claims, target: CopyTarget },
}

/// A lane's transfers to peers. Places of the table are used again; those that have something to do are listed.
pub struct Sending {
    table: Vec<Option<Outgoing>>,
    free: Vec<u32>,
    number: u32,
    rings: Rings,
    /// Places in state `Filling` or `Copying`.
    active: Vec<u32>,
    /// Places in state `NeedsRing`, in order.
    need_rings: VecDeque<TransferId>,
    begun: bool,
    pub finished: VecDeque<Cookie>,
}

/// What one step did to a transfer.
enum Step {
    Idle,
    Moved(usize),
    Finished,
    Lost(Lost),
}

impl Sending {
    pub fn new() -> Sending {
        Sending {
            table: Vec::new(),
            free: Vec::new(),
            number: 0,
            rings: Rings::new(),
            active: Vec::new(),
            need_rings: VecDeque::new(),
            begun: false,
            finished: VecDeque::new(),
        }
    }

    pub fn offer(
        &mut self,
        links: &mut Links,
        peer: Peer,
        source: Memory,
        cookie: Cookie,
    ) -> Offer {
        let Ok(neighbour) = links.neighbour(peer) else {
            // The engine is told of the loss, or was; the packet with this offer will be refused.
            return Offered::Nothing.emit();
        };
        if source.bytes == 0 {
            self.finished.push_back(cookie);
            return Offered::Nothing.emit();
        }
        let from = links
            .shared
            .options
            .copies_from_bytes
            .unwrap_or(COPIES_FROM_BYTES);
        let address =
            (source.layout.is_none() && source.bytes >= from && copying::is_allowed(links, peer))
                .then_some(source.base as u64);
        let bytes = source.bytes as u64;
        let ring = match address {
            Some(_) => None,
            None => self.rings.take(links, For::Offer, peer, cookie, bytes),
        };
        let state = match ring {
            Some(ring) => State::Filling { ring, produced: 0 },
            None => State::Called,
        };
        let id = self.enter(neighbour, source, cookie, state);
        match ring {
            None => Offered::Call {
                transfer: id,
                address,
            }
            .emit(),
            Some(ring) => {
                links.counters.ring_transfers += 1;
                self.active.push(id.place());
                // The rest follows when the receiver has been told, so that it starts early.
                self.step(id.place(), links, FIRST_CHUNK);
                self.begun = true;
                Offered::Ring {
                    offset: self.rings.offset(ring),
                }
                .emit()
            }
        }
    }

    fn enter(
        &mut self,
        neighbour: Arc<Neighbour>,
        source: Memory,
        cookie: Cookie,
        state: State,
    ) -> TransferId {
        let place = self.free.pop().unwrap_or_else(|| {
            self.table.push(None);
            self.table.len() as u32 - 1
        });
        self.number = self.number.wrapping_add(1);
        let id = TransferId::new(place, self.number);
        self.table[place as usize] = Some(Outgoing {
            id,
            neighbour,
            source,
            cookie,
            state,
        });
        id
    }

    fn leave(&mut self, place: u32) -> Option<Outgoing> {
        let outgoing = self.table[place as usize].take()?;
        self.free.push(place);
        if let State::Filling { ring, .. } = outgoing.state {
            self.rings.fill(ring);
        }
        Some(outgoing)
    }

    /// The transfer of that name to `peer`, in state `Called`.
    fn called(&mut self, peer: Peer, id: TransferId) -> Option<&mut Outgoing> {
        let outgoing = self.table.get_mut(id.place() as usize)?.as_mut()?;
        let right = outgoing.id == id
            && outgoing.neighbour.rank == peer
            && matches!(outgoing.state, State::Called);
        right.then_some(outgoing)
    }

    pub fn retract(&mut self, peer: Peer, cookie: Cookie) {
        let found = self.table.iter().position(|entry| {
            entry.as_ref().is_some_and(|outgoing| {
                outgoing.cookie == cookie && outgoing.neighbour.rank == peer
            })
        });
        if let Some(place) = found {
            self.active.retain(|&other| other as usize != place);
            self.leave(place as u32);
        }
        // Even if all is in the ring and the table knows nothing of it any more.
        self.rings.retract(peer, cookie);
    }

    /// The receiver answers a call: through a ring.
    pub fn need_ring(&mut self, peer: Peer, id: TransferId, receiver: TransferId) {
        if let Some(outgoing) = self.called(peer, id) {
            outgoing.state = State::NeedsRing { receiver };
            self.need_rings.push_back(id);
        }
    }

    /// The receiver answers a call: by copying.
    pub fn copy(
        &mut self,
        links: &mut Links,
        outbox: &mut Outbox,
        peer: Peer,
        id: TransferId,
        target: CopyTarget,
    ) -> Result<(), Lost> {
        let Some(outgoing) = self.called(peer, id) else {
            return Ok(());
        };
        let malformed = || lost(peer, "it asked for a copy that cannot be");
        let fits = target.bytes <= outgoing.source.bytes as u64
            && (PAGE as u64..1 << 40).contains(&target.chunk_bytes)
            && target.chunks() <= u64::from(u32::MAX)
            && outgoing.source.layout.is_none();
        if !fits {
            return Err(malformed());
        }
        let page = target.words & !(PAGE as u64 - 1);
        let mapping = outbox.map(links, peer, page, PAGE)?;
        let claims = Claims::new(mapping, (target.words - page) as usize).ok_or_else(malformed)?;
        outgoing.state = State::Copying { claims, target };
        self.active.push(id.place());
        Ok(())
    }

    #[inline]
    pub fn has_begun(&self) -> bool {
        self.begun
    }

    #[inline]
    pub fn is_active(&self) -> bool {
        !self.active.is_empty() || !self.finished.is_empty() || !self.need_rings.is_empty()
    }

    /// Moves up to about `budget` bytes.
    pub fn go_on(&mut self, links: &mut Links, outbox: &mut Outbox, mut budget: usize) -> bool {
        self.begun = false;
        let mut moved = self.hand_out_rings(links, outbox);
        let mut index = 0;
        while let Some(&place) = self.active.get(index)
            && budget > 0
        {
            match self.step(place, links, budget) {
                Step::Idle => index += 1,
                Step::Moved(bytes) => {
                    moved = true;
                    budget = budget.saturating_sub(bytes);
                    index += 1;
                }
                Step::Finished => {
                    moved = true;
                    self.active.swap_remove(index);
                    if let Some(outgoing) = self.leave(place) {
                        self.finished.push_back(outgoing.cookie);
                    }
                }
                Step::Lost(lost) => {
                    moved = true;
                    self.active.swap_remove(index);
                    if let Some(outgoing) = self.leave(place) {
                        links.lose(lost, outgoing.neighbour.rank);
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

    /// Gives rings to answered calls.
    fn hand_out_rings(&mut self, links: &mut Links, outbox: &mut Outbox) -> bool {
        let mut moved = false;
        while let Some(&id) = self.need_rings.front() {
            let entry = self.table[id.place() as usize]
                .as_mut()
                .filter(|entry| entry.id == id);
            if let Some(outgoing) = entry
                && let State::NeedsRing { receiver } = outgoing.state
            {
                let peer = outgoing.neighbour.rank;
                let bytes = outgoing.source.bytes as u64;
                let cookie = outgoing.cookie;
                let ring = self.rings.take(links, For::Answered, peer, cookie, bytes);
                let Some(ring) = ring else {
                    break;
                };
                outgoing.state = State::Filling { ring, produced: 0 };
                links.counters.ring_transfers += 1;
                outbox.post(
                    peer,
                    Control::Ring {
                        receiver,
                        offset: self.rings.offset(ring),
                    },
                );
                self.active.push(id.place());
                links.disturb();
                moved = true;
            }
            self.need_rings.pop_front();
        }
        moved
    }

    fn step(&mut self, place: u32, links: &mut Links, budget: usize) -> Step {
        let Some(outgoing) = &mut self.table[place as usize] else {
            return Step::Idle;
        };
        let neighbour = outgoing.neighbour.clone();
        match &mut outgoing.state {
            State::Called | State::NeedsRing { .. } => Step::Idle,
            State::Filling { ring, produced } => {
                let ring = self.rings.ring(*ring);
                fill(ring, &outgoing.source, produced, &neighbour, links, budget)
            }
            State::Copying { claims, target } => {
                copy_chunk(claims, target, &outgoing.source, &neighbour, links)
            }
        }
    }

    /// Called now and then.
    pub fn rest(&mut self, links: &mut Links) {
        self.rings.rest(links);
    }

    /// Before a sleep. True if there is something to do already.
    pub fn wait(&mut self) -> bool {
        let mut ready = !self.finished.is_empty();
        for &place in &self.active {
            let Some(outgoing) = &self.table[place as usize] else {
                continue;
            };
            match &outgoing.state {
                State::Called | State::NeedsRing { .. } => {}
                State::Filling { ring, produced } => {
                    let ring = self.rings.ring(*ring);
                    ring.sender_waits(true);
                    ready |= produced.wrapping_sub(ring.consumed()) != RING_BYTES as u64;
                }
                State::Copying { claims, target } => {
                    claims.waits(Side::Sender, true);
                    ready |= u64::from(claims.done()) >= target.chunks()
                        || !claims.is_claimed() && !claims.has_failed(Side::Sender);
                }
            }
        }
        // Answered calls without a ring wait for rings, all of which are in use, for their receivers to take
        // something out; an idle turn now and then is enough, as those receivers are at it.
        ready | !self.need_rings.is_empty()
    }

    pub fn stop_waiting(&mut self) {
        for &place in &self.active {
            match self.table[place as usize]
                .as_ref()
                .map(|outgoing| &outgoing.state)
            {
                Some(State::Filling { ring, .. }) => self.rings.ring(*ring).sender_waits(false),
                Some(State::Copying { claims, .. }) => claims.waits(Side::Sender, false),
                _ => {}
            }
        }
    }

    pub fn forget(&mut self, peer: Peer) {
        for place in 0..self.table.len() as u32 {
            let entry = &self.table[place as usize];
            if entry
                .as_ref()
                .is_some_and(|outgoing| outgoing.neighbour.rank == peer)
            {
                self.active.retain(|&other| other != place);
                self.leave(place);
            }
        }
        self.rings.forget(peer);
    }

    pub fn is_drained(&self) -> bool {
        self.table.iter().all(Option::is_none) && self.rings.all_free()
    }

    pub fn describe(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        for outgoing in self.table.iter().flatten() {
            let (rank, bytes) = (outgoing.neighbour.rank, outgoing.source.bytes);
            match &outgoing.state {
                State::Called => {
                    writeln!(
                        out,
                        "rank {rank} has not taken up an offer of {bytes} bytes"
                    )
                }
                State::NeedsRing { .. } => {
                    writeln!(out, "{bytes} bytes to rank {rank} wait for a free ring")
                }
                State::Filling { produced, .. } => {
                    writeln!(
                        out,
                        "{produced} of {bytes} bytes to rank {rank} are on their way"
                    )
                }
                State::Copying { claims, target } => writeln!(
                    out,
                    "{} of {} chunks to rank {rank} are copied",
                    claims.done(),
                    target.chunks()
                ),
            }?;
        }
        Ok(())
    }
}

/// Copies what there is room for into the ring.
fn fill(
    ring: &ByteRing,
    source: &Memory,
    produced: &mut u64,
    neighbour: &Neighbour,
    links: &mut Links,
    budget: usize,
) -> Step {
    let total = source.bytes as u64;
    let mut moved = 0;
    loop {
        let consumed = ring.consumed();
        if consumed == GIVEN_UP || *produced == total {
            return Step::Finished;
        }
        let Some(in_ring) = produced.checked_sub(consumed) else {
            return Step::Lost(lost(neighbour.rank, "it counts bytes that were never sent"));
        };
        let at = (*produced % RING_BYTES as u64) as usize;
        let room = (RING_BYTES - in_ring as usize).min(RING_BYTES - at);
        let chunk = (*produced as usize).clamp(FIRST_CHUNK, LARGEST_CHUNK);
        let bytes = chunk.min(room).min((total - *produced) as usize);
        if bytes == 0 || moved >= budget {
            return if moved > 0 {
                Step::Moved(moved)
            } else {
                Step::Idle
            };
        }
        // SAFETY: `produced - consumed` and so the room are at most the ring: these bytes are the sender's
        // (rule 1 of `words`), which is this, and the source is readable until it is reported as sent.
        unsafe { source.read(*produced as usize, ring.to_fill(at, bytes)) };
        *produced += bytes as u64;
        moved += bytes;
        if ring.produce(*produced) {
            links.ring(neighbour);
        }
    }
}

/// Copies one chunk from the back into the receiver's memory.
fn copy_chunk(
    claims: &Claims,
    target: &CopyTarget,
    source: &Memory,
    neighbour: &Neighbour,
    links: &mut Links,
) -> Step {
    if u64::from(claims.done()) >= target.chunks() {
        claims.release();
        return Step::Finished;
    }
    if claims.has_failed(Side::Sender) {
        return match claims.has_failed(Side::Receiver) {
            true => Step::Lost(lost(neighbour.rank, "neither side could copy a message")),
            false => Step::Idle,
        };
    }
    let Some(chunk) = claims.claim(Side::Sender) else {
        return Step::Idle;
    };
    let begin = u64::from(chunk).saturating_mul(target.chunk_bytes);
    let bytes = target.bytes.saturating_sub(begin).min(target.chunk_bytes) as usize;
    // SAFETY: `begin + bytes` is at most the target's bytes, which are at most the source's (checked when the
    // copy was agreed); the source is readable until it is reported as sent.
    let copied = unsafe {
        let mine = source.base.wrapping_add(begin as usize);
        copying::copy(
            Way::Write,
            neighbour.card.pid,
            mine,
            target.address.wrapping_add(begin),
            bytes,
        )
    };
    if copied.is_err() {
        claims.fail(Side::Sender);
        return Step::Idle;
    }
    links.counters.chunks_written += 1;
    if claims.count(Side::Sender) {
        links.ring(neighbour);
    }
    Step::Moved(bytes)
}
