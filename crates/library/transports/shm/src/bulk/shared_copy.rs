//! What either side of a copy does with its claims.

use std::io;

use super::Side;
use super::claims::Claims;
use super::control::CopyTarget;
use super::transfers::Step;
use crate::endpoint::Links;
use crate::peers::{Neighbour, lost};

impl Side {
    fn other(self) -> Side {
        match self {
            Side::Receiver => Side::Sender,
            Side::Sender => Side::Receiver,
        }
    }
}

/// Claims a chunk for `side` and has it copied by `copy`, which is told where it begins and how long it is; both lie
/// within the target's bytes. Not for what is [`all_done`].
pub fn copy_one(
    (claims, target): (&Claims, &CopyTarget),
    side: Side,
    neighbour: &Neighbour,
    links: &mut Links,
    copy: impl FnOnce(u64, usize) -> io::Result<()>,
) -> Step {
    if claims.has_failed(side) {
        return match claims.has_failed(side.other()) {
            true => Step::Lost(lost(neighbour.rank, "neither side could copy a message")),
            false => Step::Idle,
        };
    }
    let Some(chunk) = claims.claim(side) else {
        return Step::Idle;
    };
    let begin = u64::from(chunk).saturating_mul(target.chunk_bytes);
    // A hostile peer can write any number of chunks.
    let bytes = target.bytes.saturating_sub(begin).min(target.chunk_bytes) as usize;
    if copy(begin, bytes).is_err() {
        claims.fail(side);
        return Step::Idle;
    }
    if claims.count(side) {
        links.ring(neighbour);
    }
    Step::Moved(bytes)
}

/// Before `side` sleeps. True if there is something to do already.
pub fn wait(claims: &Claims, target: &CopyTarget, side: Side) -> bool {
    claims.waits(side, true);
    all_done(claims, target) || !claims.is_claimed() && !claims.has_failed(side)
}

/// Whether both sides together have copied every chunk.
pub fn all_done(claims: &Claims, target: &CopyTarget) -> bool {
    u64::from(claims.done()) >= target.chunks()
}
