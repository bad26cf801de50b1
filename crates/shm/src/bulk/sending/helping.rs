//! Helping a receiver that copies: from the back.

use weft_transport::Memory;

use crate::bulk::Side;
use crate::bulk::claims::Claims;
use crate::bulk::control::CopyTarget;
use crate::bulk::copying::{self, Way};
use crate::bulk::transfers::Step;
use crate::endpoint::Links;
use crate::peers::{Neighbour, lost};

/// A transfer that is copied.
pub struct Helping {
    pub claims: Claims,
    pub target: CopyTarget,
}

impl Helping {
    /// Copies one chunk from the back into the receiver's memory.
    pub fn step(&self, source: &Memory, neighbour: &Neighbour, links: &mut Links) -> Step {
        let Helping { claims, target } = self;
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
            let theirs = target.address.wrapping_add(begin);
            copying::copy(Way::Write, neighbour.card.pid, mine, theirs, bytes)
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

    /// Before a sleep. True if there is something to do already.
    pub fn wait(&self) -> bool {
        self.claims.waits(Side::Sender, true);
        u64::from(self.claims.done()) >= self.target.chunks()
            || !self.claims.is_claimed() && !self.claims.has_failed(Side::Sender)
    }

    pub fn stop_waiting(&self) {
        self.claims.waits(Side::Sender, false);
    }
}
