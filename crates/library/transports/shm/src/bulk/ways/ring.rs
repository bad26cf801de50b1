//! Through a ring of bytes: the sender copies in, the receiver out, at the same time.

use weft_memory::Memory;
use weft_sync::bulk::Side;
use weft_transport::{Lost, Peer};

use super::{LongWay, Message, Part, Request, Step};
use crate::bulk::byte_ring::{ByteRing, GIVEN_UP, RING_BYTES, RING_MAPPED, RingPosition, at};
use crate::bulk::common::{Common, Missing};
use crate::bulk::control::{AfterRing, RingTerms};
use crate::bulk::facts::Facts;
use crate::bulk::rings::{Lent, OpenRing, Purpose, Wanted, is_taken_over};
use crate::links::Links;
use crate::peers::{Neighbour, lost};

/// What a byte of new memory takes, in picoseconds: more than 1 us a page, on an EPYC (Zen 4).
const MEMORY_PS: u64 = 250;

/// Bytes after which the receiver is told: it begins after the first of them and ends as many after the last. Half of
/// an EPYC's fastest cache, in which the receiver takes over the lines that it has just read.
const CHUNK_BYTES: usize = 16 << 10;

pub struct RingWay;

impl LongWay for RingWay {
    type Terms = RingTerms;
    type Sender = Filling;
    type Receiver = Taking;

    /// The ring's memory is shared out to this message and to as many as came before it: as many are expected to
    /// follow. What is longer than a ring needs its sender to come and fill it again, and that may compute: a receive
    /// completes without it (MPI-5.0 §3.7.4) if the message can be copied.
    fn cost_ns(facts: &Facts) -> Option<u64> {
        if facts.bytes > RING_BYTES as u64 && facts.can_be_copied() {
            return None;
        }
        let memory_ps = facts.lacking * MEMORY_PS / (u64::from(facts.earlier) + 1);
        Some((facts.bytes * facts.pair.passed_byte_ps() + memory_ps) / 1000)
    }

    fn offer(
        links: &mut Links,
        common: &mut Common,
        message: &Message<'_>,
    ) -> Option<(Filling, RingTerms)> {
        let wanted = Wanted {
            purpose: Purpose::Offer,
            peer: message.peer,
            cookie: message.cookie,
            bytes: message.source.bytes as u64,
        };
        // Without memory for one, the receiver is called, and there may be some when it answers.
        let open = common.rings.open(links, wanted).ok()??;
        let after = match open.own {
            None => AfterRing::Return,
            Some(_) if open.is_spare => AfterRing::Borrow,
            Some(_) => AfterRing::GiveBack,
        };
        let place = open.place;
        links.counters.ring_transfers += 1;
        Some((Filling::new(open), RingTerms { place, after }))
    }

    fn accept(
        _: &mut Links,
        common: &mut Common,
        request: &Request<'_>,
        RingTerms { place, after }: RingTerms,
    ) -> Result<Option<Taking>, Missing> {
        let peer = request.neighbour.rank;
        if after == AfterRing::Return {
            let (index, ring) = common
                .rings
                .begin_return(peer, place.offset)
                .ok_or_else(|| lost(peer, "it sends through a ring that it did not borrow"))?;
            return Ok(Some(Taking {
                own: Some(index),
                ..Taking::new(ring, place, request.offered)
            }));
        }
        let ring = ByteRing::new(common.map(peer, place.offset, RING_MAPPED)?);
        Ok(Some(Taking {
            borrows: after == AfterRing::Borrow && common.rings.would_borrow(peer),
            ..Taking::new(ring, place, request.offered)
        }))
    }
}

/// The sender's part.
pub struct Filling {
    ring: ByteRing,
    place: RingPosition,
    /// The ring's index, if it is an own one.
    own: Option<usize>,
    pub produced: u64,
    /// What the receiver is known to have consumed.
    consumed: u64,
}

impl Filling {
    pub fn new(open: OpenRing) -> Filling {
        Filling {
            ring: open.ring,
            place: open.place,
            own: open.own,
            produced: 0,
            consumed: 0,
        }
    }

    /// The ring is not written again for this transfer.
    pub fn end(&self, common: &mut Common) {
        if let Some(index) = self.own {
            common.rings.note_filled(index);
        }
    }

    /// Looks at the receiver's count. What that says at once, if it ends the transfer.
    fn look(&mut self, peer: Peer) -> Option<Step> {
        match self.ring.consumed() {
            GIVEN_UP => Some(Step::Finished),
            consumed if (self.consumed..=self.produced).contains(&consumed) => {
                self.consumed = consumed;
                None
            }
            _ => Some(Step::Lost(lost(
                peer,
                "it counts bytes that were never sent",
            ))),
        }
    }

    /// Copies `bytes`, for which there is room, to `at` in the ring.
    fn fill(&mut self, source: &Memory, at: usize, bytes: usize) {
        let from = self.produced as usize;
        // SAFETY: `produced - consumed`, and so the room, are at most the ring: these bytes are the sender's
        // (rule 1 of its counts), which is this.
        let place = unsafe { self.ring.to_fill(at, bytes) };
        // SAFETY: the source is readable until it is reported as sent, and has `bytes` more bytes.
        unsafe { source.read(from, place) };
        self.produced += bytes as u64;
    }

    fn room(&self) -> usize {
        RING_BYTES - (self.produced - self.consumed) as usize
    }
}

impl Part for Filling {
    /// Copies what there is room for into the ring.
    fn step(
        &mut self,
        source: &Memory,
        neighbour: &Neighbour,
        links: &mut Links,
        budget: usize,
    ) -> Step {
        let total = source.bytes as u64;
        let mut moved = 0;
        loop {
            if self.produced == total {
                return Step::Finished;
            }
            let (at, to_end) = at(self.place.begin, self.produced);
            let left = (total - self.produced) as usize;
            let wanted = CHUNK_BYTES.min(to_end).min(left);
            if self.room() < wanted
                && let Some(end) = self.look(neighbour.rank)
            {
                return end;
            }
            let bytes = wanted.min(self.room());
            if bytes == 0 || moved >= budget {
                return Step::moved(moved);
            }
            self.fill(source, at, bytes);
            moved += bytes;
            if self.ring.produce(self.produced) {
                links.notify(neighbour);
            }
        }
    }

    fn wait(&mut self) -> bool {
        self.ring.set_waits(Side::Sender, true);
        self.produced.wrapping_sub(self.ring.consumed()) != RING_BYTES as u64
    }

    fn end_wait(&mut self) {
        self.ring.set_waits(Side::Sender, false);
    }
}

/// The receiver's part.
pub struct Taking {
    ring: ByteRing,
    place: RingPosition,
    pub consumed: u64,
    /// What the sender is known to have produced.
    produced: u64,
    /// The offer's bytes.
    offered: u64,
    /// The ring's index, if it is an own one, which the sender had borrowed.
    own: Option<usize>,
    /// The ring is borrowed when all has been taken.
    borrows: bool,
}

impl Taking {
    /// The sender has the ring again when all has been taken.
    pub fn new(ring: ByteRing, place: RingPosition, offered: u64) -> Taking {
        Taking {
            ring,
            place,
            consumed: 0,
            produced: 0,
            offered,
            own: None,
            borrows: false,
        }
    }

    /// Whether the sender writes the ring next.
    fn goes_back(&self) -> bool {
        self.own.is_none() && !self.borrows
    }

    /// Bytes in the ring; looks at the sender's count when there are none known of.
    fn available(&mut self, neighbour: &Neighbour) -> Result<usize, Lost> {
        if self.produced == self.consumed {
            let produced = self.ring.produced();
            let possible = self.produced..=self.offered.min(self.consumed + RING_BYTES as u64);
            if !possible.contains(&produced) {
                let why = "it counts more bytes than it offered";
                return Err(lost(neighbour.rank, why));
            }
            self.produced = produced;
        }
        Ok((self.produced - self.consumed) as usize)
    }

    /// Whether the sender waits for what was just taken out: for the room, or in the end for its ring. If the ring is
    /// to be borrowed, that is told instead.
    fn is_to_be_told(&self) -> bool {
        match self.consumed < self.offered {
            true => self.offered > RING_BYTES as u64,
            false => self.goes_back(),
        }
    }

    /// Copies up to `bytes` of those available, as far as there is room, and drops what there is none for. Lines that
    /// the other side writes next are taken over while they lie in the core's fastest cache.
    fn take(&mut self, target: &Memory, bytes: usize) -> usize {
        let room = (target.bytes as u64).saturating_sub(self.consumed) as usize;
        let (at, to_end) = at(self.place.begin, self.consumed);
        let takes_over = self.goes_back() && is_taken_over(self.offered);
        let bytes = match (room, takes_over) {
            (0, _) => bytes,
            (_, true) => bytes.min(to_end).min(room).min(CHUNK_BYTES),
            (_, false) => bytes.min(to_end).min(room),
        };
        if room > 0 {
            // SAFETY: these bytes are the receiver's (rule 1 of its counts), which is this; the target is writable
            // until it is reported as received, and `room` bytes of it are left.
            unsafe { target.write(self.consumed as usize, self.ring.to_take(at, bytes)) };
            if takes_over {
                // SAFETY: as above.
                unsafe { self.ring.take_over(at, bytes) };
            }
        }
        self.consumed += bytes as u64;
        bytes
    }

    fn tell(&self, count: u64, neighbour: &Neighbour, links: &mut Links) {
        if self.ring.consume(count) {
            links.notify(neighbour);
        }
    }

    /// Whether there is something to take, or a count that cannot be.
    pub fn has_data(&self) -> bool {
        let produced = self.ring.produced();
        produced > self.consumed || produced < self.produced
    }

    /// Decides, after the last step, what becomes of the ring.
    pub fn end(self, peer: Peer, common: &mut Common) {
        if let Some(index) = self.own {
            common.rings.end_return(index, self.place.begin);
        } else if self.borrows && self.consumed == self.offered {
            let lent = Lent::new(self.ring, self.place, self.offered);
            common.rings.borrow_or_return(peer, lent);
        }
    }
}

impl Part for Taking {
    /// Takes all that is in the ring before the sender is told: two sides that fill and drain by short pieces wait for
    /// each other's. Gives the ring up when the target is full; but goes on with an own one, as the sender has no other
    /// way to give it back.
    fn step(
        &mut self,
        target: &Memory,
        neighbour: &Neighbour,
        links: &mut Links,
        budget: usize,
    ) -> Step {
        let mut moved = 0;
        loop {
            if self.consumed == self.offered {
                return Step::Finished;
            }
            if self.consumed == target.bytes as u64 && self.own.is_none() {
                self.tell(GIVEN_UP, neighbour, links);
                return Step::Finished;
            }
            let bytes = match self.available(neighbour) {
                Ok(available) => available,
                Err(lost) => return Step::Lost(lost),
            };
            if bytes == 0 || moved >= budget {
                return Step::moved(moved);
            }
            moved += self.take(target, bytes);
            if self.is_to_be_told() {
                self.tell(self.consumed, neighbour, links);
            }
        }
    }

    fn wait(&mut self) -> bool {
        self.ring.set_waits(Side::Receiver, true);
        self.has_data()
    }

    fn end_wait(&mut self) {
        self.ring.set_waits(Side::Receiver, false);
    }
}
