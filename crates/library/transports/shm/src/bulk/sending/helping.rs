//! Helping a receiver that copies: from the back.

use weft_memory::Memory;

use crate::bulk::copying::Copying;
use crate::bulk::transfers::Step;
use crate::cma::{self, Way};
use crate::links::Links;
use crate::peers::Neighbour;

/// Copies one chunk from the back into the receiver's memory, if this side `helps` now.
pub fn step(
    copying: &mut Copying,
    source: &Memory,
    neighbour: &Neighbour,
    links: &mut Links,
    helps: bool,
) -> Step {
    match copying.is_complete(neighbour) {
        Ok(true) => {
            copying.claims.release();
            return Step::Finished;
        }
        Ok(false) if !helps => return Step::Idle,
        Ok(false) => {}
        Err(step) => return step,
    }
    let address = copying.target.address;
    let step = copying.copy_one(neighbour, links, |begin, bytes| {
        let mine = source.base.wrapping_add(begin as usize);
        let theirs = address.wrapping_add(begin);
        // SAFETY: `begin + bytes` is at most the target's bytes, which are at most the source's (checked when the
        // copy was agreed); the source is readable until it is reported as sent.
        unsafe { cma::copy(Way::Write, neighbour.card.pid, mine, theirs, bytes) }
    });
    if let Step::Moved(_) = step {
        links.counters.chunks_written += 1;
    }
    step
}
