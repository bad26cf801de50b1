//! Copied by the receiver out of the sender's memory (process_vm_readv(2)), while the sender waits to be told.

use weft_memory::Memory;

use super::{LongWay, Message, Part, Request, Step, TURN_BYTES};
use crate::bulk::common::{Common, Missing};
use crate::bulk::control::Call;
use crate::bulk::facts::Facts;
use crate::cma::Direction;
use crate::links::Links;
use crate::peers::Neighbour;

/// What a copy costs its sender where processes share cores, in nanoseconds: it goes on only when its receiver has had
/// a core, and then it itself; two switches and yields of an EPYC (Zen 4).
const IN_TURNS_NS: u64 = 4000;

pub struct CopyWay;

impl LongWay for CopyWay {
    type Terms = Call;
    type Sender = ();
    type Receiver = Copying;

    fn cost_ns(facts: &Facts) -> Option<u64> {
        let in_turns_ns = match facts.shares_cores {
            true => IN_TURNS_NS,
            false => 0,
        };
        let copied_ns = facts.bytes * facts.pair.copied_byte_ps() / 1000;
        facts.can_be_copied().then_some(copied_ns + in_turns_ns)
    }

    fn offer(_: &mut Links, _: &mut Common, message: &Message<'_>) -> Option<((), Call)> {
        let call = Call {
            transfer: message.transfer,
            address: Some(message.source.base as u64),
        };
        Some(((), call))
    }

    /// What one call of the kernel copies is copied at once. If that refuses, nothing has happened that matters.
    fn accept(
        links: &mut Links,
        _: &mut Common,
        request: &Request<'_>,
        call: Call,
    ) -> Result<Option<Copying>, Missing> {
        let Some(source) = call.address.filter(|_| can_copy(links, request)) else {
            return Ok(None);
        };
        let mut copying = Copying::new(source, 0);
        let (target, neighbour) = (request.target, request.neighbour);
        let step = copying.step(target, neighbour, links, TURN_BYTES);
        Ok((!matches!(step, Step::Stuck)).then_some(copying))
    }
}

/// Whether the kernel and the target allow a copy from the sender's memory.
pub fn can_copy(links: &Links, request: &Request<'_>) -> bool {
    let Memory { bytes, layout, .. } = request.target;
    layout.is_none() && *bytes > 0 && links.copies_allowed(request.neighbour)
}

/// The receiver's part: to copy from the front.
pub struct Copying {
    /// An address in the sender's memory.
    source: u64,
    pub copied: usize,
}

impl Copying {
    /// Of a message that begins at `source`, from byte `copied` on.
    pub fn new(source: u64, copied: usize) -> Copying {
        Copying { source, copied }
    }

    pub fn is_complete(&self, target: &Memory) -> bool {
        self.copied == target.bytes
    }
}

impl Part for Copying {
    /// One call of the kernel.
    fn step(
        &mut self,
        target: &Memory,
        neighbour: &Neighbour,
        links: &mut Links,
        _: usize,
    ) -> Step {
        if self.is_complete(target) {
            return Step::Finished;
        }
        let bytes = (target.bytes - self.copied).min(TURN_BYTES);
        let mine = target.base.wrapping_add(self.copied);
        let theirs = self.source.wrapping_add(self.copied as u64);
        // SAFETY: so many bytes of the target are left, which is writable until it is reported as received, and has no
        // gaps.
        if unsafe { neighbour.copy(Direction::Read, mine, theirs, bytes) }.is_err() {
            return Step::Stuck;
        }
        links.counters.copies += 1;
        self.copied += bytes;
        Step::Moved(bytes)
    }

    fn wait(&mut self) -> bool {
        true
    }

    fn end_wait(&mut self) {}
}
