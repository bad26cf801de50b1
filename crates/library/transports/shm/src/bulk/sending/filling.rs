//! Filling a ring.

use weft_memory::Memory;
use weft_sync::bulk::Side;

use crate::bulk::byte_ring::{ByteRing, GIVEN_UP, RING_BYTES, at};
use crate::bulk::common::Common;
use crate::bulk::transfers::Step;
use crate::links::Links;
use crate::peers::{Neighbour, lost};

/// A transfer is filled in about this many chunks, of sizes between these bounds: the receiver begins after the first and
/// ends a chunk after the last.
const CHUNKS: usize = 8;
const SMALLEST_CHUNK: usize = 4 << 10;
const LARGEST_CHUNK: usize = 32 << 10;

/// A transfer that goes through a ring.
pub struct Filling {
    ring: ByteRing,
    begin: u32,
    /// The ring's index, if it is an own one.
    pub own: Option<usize>,
    /// Bytes after which the receiver is told.
    chunk: usize,
    pub produced: u64,
    /// What the receiver is known to have consumed.
    consumed: u64,
    /// The receiver may have copied the rest from the source itself, and count all as consumed.
    may_be_copied: bool,
}

/// Bytes after which the receiver is told, for a transfer of `bytes`.
fn chunk(bytes: usize) -> usize {
    (bytes / CHUNKS)
        .next_multiple_of(SMALLEST_CHUNK)
        .clamp(SMALLEST_CHUNK, LARGEST_CHUNK)
}

impl Filling {
    pub fn new(
        ring: ByteRing,
        begin: u32,
        own: Option<usize>,
        bytes: usize,
        may_be_copied: bool,
    ) -> Filling {
        Filling {
            ring,
            begin,
            own,
            chunk: chunk(bytes),
            produced: 0,
            consumed: 0,
            may_be_copied,
        }
    }

    /// The ring is not written again for this transfer.
    pub fn end(&self, common: &mut Common) {
        if let Some(index) = self.own {
            common.rings.fill(index);
        }
    }

    /// Copies what there is room for into the ring.
    pub fn step(
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
            let (at, to_end) = at(self.begin, self.produced);
            let wanted = self.chunk.min(to_end).min((total - self.produced) as usize);
            if self.room() < wanted {
                match self.ring.consumed() {
                    GIVEN_UP => return Step::Finished,
                    consumed if (self.consumed..=self.produced).contains(&consumed) => {
                        self.consumed = consumed;
                    }
                    consumed if self.may_be_copied && consumed == total => return Step::Finished,
                    _ => {
                        let why = "it counts bytes that were never sent";
                        return Step::Lost(lost(neighbour.rank, why));
                    }
                }
            }
            let bytes = wanted.min(self.room());
            if bytes == 0 || moved >= budget {
                return if moved > 0 {
                    Step::Moved(moved)
                } else {
                    Step::Idle
                };
            }
            self.fill(source, at, bytes);
            self.produced += bytes as u64;
            moved += bytes;
            if self.ring.produce(self.produced) {
                links.notify(neighbour);
            }
        }
    }

    /// Copies `bytes`, for which there is room, to `at` in the ring.
    fn fill(&self, source: &Memory, at: usize, bytes: usize) {
        let from = self.produced as usize;
        // SAFETY: `produced - consumed`, and so the room, are at most the ring: these bytes are the sender's
        // (rule 1 of its counts), which is this.
        let place = unsafe { self.ring.to_fill(at, bytes) };
        // SAFETY: the source is readable until it is reported as sent, and has `bytes` more bytes.
        unsafe { source.read(from, place) };
    }

    fn room(&self) -> usize {
        RING_BYTES - (self.produced - self.consumed) as usize
    }

    /// Before a sleep. True if there is something to do already.
    pub fn wait(&self) -> bool {
        self.ring.set_waits(Side::Sender, true);
        self.produced.wrapping_sub(self.ring.consumed()) != RING_BYTES as u64
    }

    pub fn end_wait(&self) {
        self.ring.set_waits(Side::Sender, false);
    }
}
