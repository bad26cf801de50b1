//! Copying out of the sender's memory.

use weft_memory::Memory;

use crate::bulk::transfers::Step;
use crate::cma::Way;
use crate::links::Links;
use crate::peers::Neighbour;

/// What one call of the kernel copies: long enough that the call itself costs nothing to speak of, short enough that
/// packets are not kept waiting for long. It takes some 50 us where a byte takes 50 ps (an AMD EPYC,
/// cores that share a cache).
const CALL_BYTES: usize = 1 << 20;

/// A transfer that is copied from the front. Its sender waits until it is told that all is copied.
pub struct Copying {
    /// An address in the sender's memory.
    source: u64,
    pub copied: usize,
}

impl Copying {
    /// From `source` on, from byte `copied` on.
    pub fn new(source: u64, copied: usize) -> Copying {
        Copying { source, copied }
    }

    /// Copies what one call of the kernel copies.
    pub fn step(&mut self, target: &Memory, neighbour: &Neighbour, links: &mut Links) -> Step {
        if self.is_complete(target) {
            return Step::Finished;
        }
        let bytes = (target.bytes - self.copied).min(CALL_BYTES);
        let mine = target.base.wrapping_add(self.copied);
        let theirs = self.source.wrapping_add(self.copied as u64);
        // SAFETY: so many bytes of the target are left, which is writable until it is reported as received, and has no
        // gaps.
        if unsafe { neighbour.copy(Way::Read, mine, theirs, bytes) }.is_err() {
            return Step::Refused;
        }
        links.counters.copies += 1;
        self.copied += bytes;
        Step::Moved(bytes)
    }

    pub fn is_complete(&self, target: &Memory) -> bool {
        self.copied == target.bytes
    }
}
