//! Helping a receiver that copies: from the back.

use weft_transport::Memory;

use crate::bulk::Side;
use crate::bulk::claims::Claims;
use crate::bulk::control::CopyTarget;
use crate::bulk::copying::{self, Way};
use crate::bulk::shared_copy::{self, copy_one};
use crate::bulk::transfers::Step;
use crate::endpoint::Links;
use crate::peers::Neighbour;

/// A transfer that is copied.
pub struct Helping {
    pub claims: Claims,
    pub target: CopyTarget,
}

impl Helping {
    /// Copies one chunk from the back into the receiver's memory, if it `helps` now.
    pub fn step(
        &self,
        source: &Memory,
        neighbour: &Neighbour,
        links: &mut Links,
        helps: bool,
    ) -> Step {
        let shared = (&self.claims, &self.target);
        if shared_copy::all_done(&self.claims, &self.target) {
            self.claims.release();
            return Step::Finished;
        }
        if !helps {
            return Step::Idle;
        }
        let step = copy_one(shared, Side::Sender, neighbour, links, |begin, bytes| {
            let mine = source.base.wrapping_add(begin as usize);
            let theirs = self.target.address.wrapping_add(begin);
            // SAFETY: `begin + bytes` is at most the target's bytes, which are at most the source's (checked when the
            // copy was agreed); the source is readable until it is reported as sent.
            unsafe { copying::copy(Way::Write, neighbour.card.pid, mine, theirs, bytes) }
        });
        if let Step::Moved(_) = step {
            links.counters.chunks_written += 1;
        }
        step
    }

    /// Before a sleep. True if there is something to do already.
    pub fn wait(&self) -> bool {
        shared_copy::wait(&self.claims, &self.target, Side::Sender)
    }

    pub fn stop_waiting(&self) {
        self.claims.waits(Side::Sender, false);
    }
}
