//! Taking data out of a ring.

use std::cell::Cell;

use weft_memory::Memory;
use weft_sync::bulk::Side;
use weft_transport::{Lost, Peer};

use super::copying::Copying;
use crate::bulk::borrowed::BorrowedRing;
use crate::bulk::byte_ring::{ByteRing, GIVEN_UP, RING_BYTES, RingPosition, at};
use crate::bulk::common::Common;
use crate::bulk::rings::is_taken_over;
use crate::bulk::transfers::Step;
use crate::links::Links;
use crate::peers::{Neighbour, lost};

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
    /// The ring's lines are taken over with what lies in them: the other side is the next that writes them.
    takes_over: bool,
    /// What it may copy past the ring.
    rest: Option<Rest>,
}

/// The rest of a transfer longer than a ring, which its receiver copies from the sender's memory if the sender does not
/// come to fill the ring: it computes. So a receive completes though its sender makes no further call (MPI-5.0 §3.7.4).
///
/// The sender reports the source as sent once it has produced all. It can have done so only where less than a ring's bytes
/// are not told as consumed: while more are left, what is copied is what was sent. The rest is told when all of it is
/// copied.
struct Rest {
    /// The source's address in the sender's memory.
    source: u64,
    /// Steps in which nothing was there. A thread that wants to sleep has waited for long enough.
    idle_steps: Cell<u32>,
    /// It is being copied.
    copying: Option<Copying>,
}

/// Idle steps after which the sender counts as absent: some microseconds, in which it would have filled 64 KiB (the EPYC
/// of `choice`).
const PATIENCE: u32 = 256;

/// Bytes whose lines are taken over while they lie in the core's fastest cache, half of the 32 KiB of an EPYC's.
const TAKEN_OVER_AT_A_TIME: usize = 16 << 10;

/// What becomes of the ring when all has been taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// The sender has it.
    Back,
    /// It may be borrowed. It lies there in the sender's segment, and so many bytes from there on have memory.
    Spare(RingPosition, u32),
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
            takes_over: matches!(after, After::Back) && is_taken_over(offered),
            rest: None,
        }
    }

    /// The source lies there.
    pub fn may_copy_from(&mut self, source: u64) {
        self.rest = Some(Rest {
            source,
            idle_steps: Cell::new(0),
            copying: None,
        });
    }

    /// Takes all that is in the ring before the sender is told: two sides that fill and drain by short pieces wait for each other's. Gives the ring up
    /// when the target is full; but goes on with an own one, as the sender has no other way to give it back.
    pub fn step(
        &mut self,
        target: &Memory,
        neighbour: &Neighbour,
        links: &mut Links,
        budget: usize,
    ) -> Step {
        if self.is_copying() {
            return self.copy_rest(target, neighbour, links);
        }
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
                Ok(available) => available,
                Err(lost) => return Step::Lost(lost),
            };
            if bytes == 0 && moved == 0 && self.is_sender_absent() {
                return self.copy_rest(target, neighbour, links);
            }
            if bytes == 0 || moved >= budget {
                return if moved > 0 {
                    Step::Moved(moved)
                } else {
                    Step::Idle
                };
            }
            moved += self.take(target, bytes);
            if self.is_to_be_told() {
                self.tell(self.consumed, neighbour, links);
            }
        }
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
            if let Some(rest) = &self.rest
                && produced != self.produced
            {
                rest.idle_steps.set(0);
            }
            self.produced = produced;
        }
        Ok((self.produced - self.consumed) as usize)
    }

    /// Whether the sender waits for what was just taken out: for the room, or in the end for its ring. If the ring is to be borrowed, that is told instead.
    fn is_to_be_told(&self) -> bool {
        match self.after {
            _ if self.consumed < self.offered => self.offered > RING_BYTES as u64,
            After::Back => true,
            After::Spare(..) | After::OwnClaims { .. } => false,
        }
    }

    fn is_copying(&self) -> bool {
        self.rest
            .as_ref()
            .is_some_and(|rest| rest.copying.is_some())
    }

    /// Nothing is in the ring: whether that has been so for long, and the rest may be copied.
    fn is_sender_absent(&self) -> bool {
        let is_long = self.offered - self.consumed > RING_BYTES as u64;
        self.rest.as_ref().filter(|_| is_long).is_some_and(|rest| {
            let steps = rest.idle_steps.get() + 1;
            rest.idle_steps.set(steps.min(PATIENCE));
            steps >= PATIENCE
        })
    }

    /// Copies a piece of the rest. All that the sender has produced was taken, and told as consumed.
    #[cold]
    fn copy_rest(&mut self, target: &Memory, neighbour: &Neighbour, links: &mut Links) -> Step {
        let Some(rest) = &mut self.rest else {
            return Step::Idle;
        };
        let consumed = self.consumed as usize;
        let copying = rest
            .copying
            .get_or_insert_with(|| Copying::new(rest.source, consumed));
        match copying.step(target, neighbour, links) {
            // The ring is the other way; a sender that has died is found out as ever.
            Step::Refused => {
                self.rest = None;
                Step::Idle
            }
            Step::Finished => {
                self.consumed = self.offered;
                self.tell(self.offered, neighbour, links);
                Step::Finished
            }
            step => step,
        }
    }

    /// Copies up to `bytes` of those available, as far as there is room, and drops what there is none for.
    fn take(&mut self, target: &Memory, bytes: usize) -> usize {
        let room = (target.bytes as u64).saturating_sub(self.consumed) as usize;
        let (at, to_end) = at(self.begin, self.consumed);
        let bytes = match room {
            0 => bytes,
            _ => bytes.min(to_end).min(room),
        };
        let bytes = match self.takes_over {
            true => bytes.min(TAKEN_OVER_AT_A_TIME),
            false => bytes,
        };
        if room > 0 {
            // SAFETY: these bytes are the receiver's (rule 1 of its counts), which is this; the target is writable
            // until it is reported as received, and `room` bytes of it are left.
            unsafe { target.write(self.consumed as usize, self.ring.to_take(at, bytes)) };
            if self.takes_over {
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

    /// Before a sleep. True if there is something to do already.
    pub fn wait(&self) -> bool {
        self.ring.set_waits(Side::Receiver, true);
        if let Some(rest) = &self.rest
            && self.offered - self.consumed > RING_BYTES as u64
        {
            rest.idle_steps.set(PATIENCE);
            return true;
        }
        self.has_data()
    }

    /// Whether there is something to take, or a count that cannot be.
    pub fn has_data(&self) -> bool {
        let produced = self.ring.produced();
        produced > self.consumed || produced < self.produced
    }

    pub fn end_wait(&self) {
        self.ring.set_waits(Side::Receiver, false);
    }

    /// Decides, after the last step, what becomes of the ring.
    pub fn end(self, peer: Peer, common: &mut Common) {
        match self.after {
            After::Back => {}
            After::OwnClaims { index } => common.rings.end_return(index, self.begin),
            After::Spare(..) if self.consumed < self.offered => {}
            After::Spare(place, room) => {
                let ring = self.ring;
                common.borrowed.borrow_or_return(
                    peer,
                    BorrowedRing { ring, place, room },
                    self.offered,
                )
            }
        }
    }
}
