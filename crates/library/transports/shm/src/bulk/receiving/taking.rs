//! Taking data out of a ring.

use weft_memory::Memory;
use weft_sync::bulk::Side;
use weft_transport::{Lost, Peer};

use crate::bulk::borrowed::BorrowedRing;
use crate::bulk::byte_ring::{ByteRing, GIVEN_UP, RING_BYTES, RingPosition, at};
use crate::bulk::common::Common;
use crate::bulk::transfers::Step;
use crate::links::Links;
use crate::peers::{Neighbour, lost};

/// Bytes taken before the sender is told.
const CHUNK: usize = 64 << 10;

/// A transfer that comes through a ring.
pub struct Taking {
    ring: ByteRing,
    begin: u32,
    pub consumed: u64,
    /// What the sender is known to have produced.
    produced: u64,
    /// The offer's bytes.
    offered: u64,
    after: After,
}

/// What becomes of the ring when all has been taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// The sender has it.
    Back,
    /// It may be borrowed. It lies there in the sender's segment.
    Spare(RingPosition),
    /// It is the own one of this index.
    OwnClaims { index: usize },
}

impl Taking {
    pub fn new(ring: ByteRing, begin: u32, offered: u64, after: After) -> Taking {
        Taking {
            ring,
            begin,
            consumed: 0,
            produced: 0,
            offered,
            after,
        }
    }

    /// Takes what is in the ring. Gives the ring up when the target is full; but from an own one takes all, as the sender
    /// has no other way to give it back.
    pub fn step(
        &mut self,
        target: &Memory,
        neighbour: &Neighbour,
        links: &mut Links,
        budget: usize,
    ) -> Step {
        let wanted = target.bytes as u64;
        let takes_all = matches!(self.after, After::OwnClaims { .. });
        let mut moved = 0;
        loop {
            if self.consumed == self.offered {
                return Step::Finished;
            }
            if self.consumed == wanted && !takes_all {
                self.tell(GIVEN_UP, neighbour, links);
                return Step::Finished;
            }
            let bytes = match self.available(neighbour) {
                Ok(available) => available.min(CHUNK),
                Err(lost) => return Step::Lost(lost),
            };
            if bytes == 0 || moved >= budget {
                return if moved > 0 {
                    Step::Moved(moved)
                } else {
                    Step::Idle
                };
            }
            let bytes = self.take(target, bytes);
            moved += bytes;
            // If the ring is to be borrowed, that is told instead, in the end.
            if self.consumed < self.offered || !matches!(self.after, After::Spare(_)) {
                self.tell(self.consumed, neighbour, links);
            }
        }
    }

    /// Bytes in the ring; looks at the sender's count when there are none known of.
    fn available(&mut self, neighbour: &Neighbour) -> Result<usize, Lost> {
        if self.produced == self.consumed {
            let produced = self.ring.produced();
            let possible = self.consumed..=self.offered.min(self.consumed + RING_BYTES as u64);
            if !possible.contains(&produced) {
                let why = "it counts more bytes than it offered";
                return Err(lost(neighbour.rank, why));
            }
            self.produced = produced;
        }
        Ok((self.produced - self.consumed) as usize)
    }

    /// Copies up to `bytes` of those available, as far as there is room, and drops what there is none for.
    fn take(&mut self, target: &Memory, bytes: usize) -> usize {
        let room = (target.bytes as u64).saturating_sub(self.consumed) as usize;
        let (at, to_end) = at(self.begin, self.consumed);
        let bytes = match room {
            0 => bytes,
            _ => bytes.min(to_end).min(room),
        };
        if room > 0 {
            // SAFETY: these bytes are the receiver's (rule 1 of its counts), which is this; the target is writable
            // until it is reported as received, and `room` bytes of it are left.
            unsafe { target.write(self.consumed as usize, self.ring.to_take(at, bytes)) };
        }
        self.consumed += bytes as u64;
        bytes
    }

    fn tell(&self, count: u64, neighbour: &Neighbour, links: &mut Links) {
        if self.ring.consume(count) {
            links.notify(neighbour);
        }
    }

    /// Before a sleep. True if there is something to do already.
    pub fn wait(&self) -> bool {
        self.ring.set_waits(Side::Receiver, true);
        self.ring.produced() != self.consumed
    }

    /// Whether there is something to take.
    pub fn has_data(&self) -> bool {
        self.ring.produced() != self.consumed
    }

    pub fn end_wait(&self) {
        self.ring.set_waits(Side::Receiver, false);
    }

    /// Decides, after the last step, what becomes of the ring.
    pub fn end(self, peer: Peer, common: &mut Common) {
        match self.after {
            After::Back => {}
            After::OwnClaims { index } => common.rings.end_return(index, self.begin),
            After::Spare(_) if self.consumed < self.offered => {}
            After::Spare(place) => {
                let ring = self.ring;
                common
                    .borrowed
                    .borrow_or_return(peer, BorrowedRing { ring, place }, self.offered)
            }
        }
    }
}
