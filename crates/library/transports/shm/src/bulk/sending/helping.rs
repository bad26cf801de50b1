//! Helping a receiver that copies: from the back.

use std::time::Instant;

use weft_memory::Memory;
use weft_sync::bulk::Side;

use crate::bulk::copying::Copying;
use crate::bulk::transfers::Step;
use crate::byte_times::{Class, TIMED_BYTES, Timed};
use crate::cma::Way;
use crate::links::Links;
use crate::peers::Neighbour;

/// Steps in which the receiver has copied nothing, some hundred microseconds, after which it counts as absent.
const PATIENCE: u32 = 4096;

/// A transfer that the receiver copies.
pub struct Helping {
    pub copying: Copying,
    /// Steps before this side helps, unless the receiver goes on.
    patience: u32,
    /// Chunks that were copied when it last went on.
    done: u32,
    class: Class,
}

impl Helping {
    /// Whether this side `helps` from the beginning, or only in a receiver's absence.
    pub fn new(copying: Copying, helps: bool, class: Class) -> Helping {
        Helping {
            copying,
            patience: if helps { 0 } else { PATIENCE },
            done: 0,
            class,
        }
    }

    /// Copies one chunk from the back into the receiver's memory, if this side `helps` now.
    pub fn step(
        &mut self,
        source: &Memory,
        neighbour: &Neighbour,
        links: &mut Links,
        helps: bool,
    ) -> Step {
        match self.copying.is_complete(neighbour) {
            Ok(true) => {
                self.copying.claims.release();
                return Step::Finished;
            }
            Ok(false) if !helps || self.is_patient() => return Step::Idle,
            Ok(false) => {}
            Err(step) => return step,
        }
        let address = self.copying.target.address;
        let mut timed = None;
        let step = self.copying.copy_one(neighbour, links, |begin, bytes| {
            let mine = source.base.wrapping_add(begin as usize);
            let theirs = address.wrapping_add(begin);
            let before = Instant::now();
            // SAFETY: `begin + bytes` is at most the target's bytes, which are at most the source's (checked when the
            // copy was agreed); the source is readable until it is reported as sent.
            let copied = unsafe { neighbour.copy(Way::Write, mine, theirs, bytes) };
            timed = Some((bytes, before.elapsed()));
            copied
        });
        if let Step::Moved(_) = step {
            links.counters.chunks_written += 1;
            if let Some((bytes, time)) = timed.filter(|&(bytes, _)| bytes >= TIMED_BYTES) {
                links.note_time(neighbour, Timed::Help, self.class, bytes, time);
            }
        }
        step
    }

    /// Whether the receiver may still do it all.
    fn is_patient(&mut self) -> bool {
        if self.patience == 0 || self.copying.claims.has_failed(Side::Receiver) {
            return false;
        }
        let done = self.copying.claims.done();
        match done == self.done {
            true => self.patience -= 1,
            false => (self.done, self.patience) = (done, PATIENCE),
        }
        true
    }
}
