//! What either side of a copy does with its claims.

use std::io;

use weft_sync::bulk::{Claimant, Side};
use weft_sync::cells::Malformed;

use super::claims::Claims;
use super::control::CopyTarget;
use super::transfers::Step;
use crate::links::Links;
use crate::peers::{Neighbour, lost};

/// The receiver copies a message of up to so many bytes alone, by one call of the kernel.
pub const SMALLEST_CHUNK: u64 = 32 << 10;

/// One side's part of a copy.
pub struct Copying {
    pub claims: Claims,
    pub target: CopyTarget,
    pub claimant: Claimant,
}

impl Copying {
    /// For words that are new, or were just told by the receiver. The target has fewer than 2^32 chunks.
    pub fn new(side: Side, claims: Claims, target: CopyTarget) -> Copying {
        Copying {
            claims,
            target,
            claimant: Claimant::new(side, target.chunks() as u32),
        }
    }

    /// Claims a chunk and has it copied by `copy`, which is told where it begins and how long it is; both lie within the
    /// target's bytes. Not if all is copied.
    pub fn copy_one(
        &mut self,
        neighbour: &Neighbour,
        links: &mut Links,
        copy: impl FnOnce(u64, usize) -> io::Result<()>,
    ) -> Step {
        let side = self.claimant.side;
        if self.claims.has_failed(side) {
            return match self.claims.has_failed(side.other()) {
                true => Step::Lost(lost(neighbour.rank, "neither side could copy a message")),
                false => Step::Idle,
            };
        }
        let chunk = match self.claims.claim(&mut self.claimant) {
            Ok(Some(chunk)) => chunk,
            Ok(None) => return Step::Idle,
            Err(Malformed(why)) => return Step::Lost(lost(neighbour.rank, &format!("it {why}"))),
        };
        let begin = u64::from(chunk) * self.target.chunk_bytes;
        let bytes = (self.target.bytes - begin).min(self.target.chunk_bytes) as usize;
        if copy(begin, bytes).is_err() {
            self.claims.fail(&mut self.claimant);
            return Step::Idle;
        }
        if self.claims.count(&mut self.claimant) {
            links.notify(neighbour);
        }
        Step::Moved(bytes)
    }

    /// Whether both sides together have copied every chunk.
    pub fn is_complete(&self, neighbour: &Neighbour) -> Result<bool, Step> {
        let complete = self.claims.is_complete(&self.claimant);
        complete.map_err(|Malformed(why)| Step::Lost(lost(neighbour.rank, &format!("it {why}"))))
    }

    /// Before this side sleeps. True if there is something to do already, a lie of the other side's included.
    pub fn wait(&self) -> bool {
        let side = self.claimant.side;
        self.claims.set_waits(side, true);
        self.claims.is_complete(&self.claimant) != Ok(false)
            || !self.claims.is_claimed() && !self.claims.has_failed(side)
    }

    pub fn end_wait(&self) {
        self.claims.set_waits(self.claimant.side, false);
    }
}
