//! Copying out of the sender's memory: from the front.

use std::sync::Arc;
use std::time::Instant;

use weft_memory::Memory;
use weft_sync::atomic::Ordering;
use weft_sync::bulk::Side;
use weft_transport::{Lost, Peer};

use crate::bulk::claims::{COPY_BYTES, Claims};
use crate::bulk::control::CopyTarget;
use crate::bulk::copying::{Copying, SMALLEST_CHUNK};
use crate::bulk::transfers::Step;
use crate::byte_times::{Class, TIMED_BYTES, Timed};
use crate::cma::Way;
use crate::links::Links;
use crate::peers::{Neighbour, lost};
use crate::segment::{Mapping, PAGE};

/// What one call copies: long enough that the call itself costs little, short enough to share the work. A message that both sides copy is this many
/// chunks, of sizes from [`SMALLEST_CHUNK`] to this.
const CHUNKS: u64 = 4;
const LARGEST_CHUNK: u64 = 256 << 10;
/// What one call copies where one side copies the whole message.
const LONE_CHUNK: u64 = 1 << 20;

/// Complete copies of one peer's that it has not let go of; no honest peer has so many.
const UNRELEASED_PER_PEER: usize = 1 << 12;

/// A transfer that is copied from `source`, an address in the sender's memory.
pub struct Fetching {
    pub copying: Copying,
    /// Of the words, in the own segment.
    offset: u64,
    source: u64,
    /// A chunk of a message of that class is still to be timed.
    timed: Option<Class>,
}

/// Words for copies, in pages of the own segment.
pub struct Pool {
    free: Vec<OwnClaims>,
    /// Of complete copies, whose senders may not have noticed.
    used: Vec<(Peer, OwnClaims)>,
}

pub struct OwnClaims {
    pub claims: Claims,
    offset: u64,
}

/// How much of a message of so many bytes one call copies. Where processes share cores the other side is at work only when this one is not.
pub fn chunk(bytes: usize, is_helped: bool, links: &Links) -> u64 {
    if !is_helped || links.shared.shares_cores.load(Ordering::Relaxed) {
        return LONE_CHUNK;
    }
    let chunk = (bytes as u64 / CHUNKS).next_multiple_of(PAGE as u64);
    chunk.clamp(SMALLEST_CHUNK, LARGEST_CHUNK)
}

impl Fetching {
    pub fn new(
        memory: &Memory,
        source: u64,
        own: OwnClaims,
        chunk_bytes: u64,
        timed: Option<Class>,
    ) -> Fetching {
        let target = CopyTarget {
            words: own.offset,
            address: memory.base as u64,
            bytes: memory.bytes as u64,
            chunk_bytes,
        };
        own.claims.reset(target.chunks() as u32);
        Fetching {
            copying: Copying::new(Side::Receiver, own.claims, target),
            offset: own.offset,
            source,
            timed,
        }
    }

    /// Copies one chunk from the front out of the sender's memory.
    pub fn step(&mut self, memory: &Memory, neighbour: &Neighbour, links: &mut Links) -> Step {
        match self.copying.is_complete(neighbour) {
            Ok(true) => return Step::Finished,
            Ok(false) => {}
            Err(step) => return step,
        }
        let (source, timed) = (self.source, self.timed);
        let mut found = None;
        let step = self.copying.copy_one(neighbour, links, |begin, bytes| {
            let mine = memory.base.wrapping_add(begin as usize);
            let theirs = source.wrapping_add(begin);
            let before = timed.map(|class| (class, Instant::now()));
            // SAFETY: `begin + bytes` is at most the target's bytes, which are writable until reported as received.
            let copied = unsafe { neighbour.copy(Way::Read, mine, theirs, bytes) };
            found = before.map(|(class, before)| (class, bytes, before.elapsed()));
            copied
        });
        if let Step::Moved(_) = step {
            links.counters.chunks_read += 1;
            if let Some((class, bytes, time)) = found.filter(|&(_, bytes, _)| bytes >= TIMED_BYTES)
            {
                links.note_time(neighbour, Timed::Copy, class, bytes, time);
                self.timed = None;
            }
        }
        step
    }

    /// The words, after the last step.
    pub fn into_own(self) -> OwnClaims {
        OwnClaims {
            claims: self.copying.claims,
            offset: self.offset,
        }
    }
}

impl Pool {
    pub fn new() -> Pool {
        Pool {
            free: Vec::new(),
            used: Vec::new(),
        }
    }

    /// Words for a copy from `peer`; none if there is no memory.
    pub fn take(&mut self, links: &mut Links, peer: Peer) -> Result<Option<OwnClaims>, Lost> {
        if self.free.is_empty() {
            let released = self
                .used
                .extract_if(.., |(_, own)| own.claims.is_released());
            self.free.extend(released.map(|(_, own)| own));
        }
        if self.free.is_empty() {
            let of_peer = self.used.iter().filter(|(other, _)| *other == peer);
            if of_peer.count() > UNRELEASED_PER_PEER {
                return Err(lost(peer, "it lets go of no message that it has copied"));
            }
            self.make(links);
        }
        Ok(self.free.pop())
    }

    /// The words are free when the sender has let go of them too.
    pub fn give_back(&mut self, peer: Peer, own: OwnClaims) {
        self.used.push((peer, own));
    }

    /// A lost peer may touch its words at any time: they are not used again.
    pub fn forget(&mut self, peer: Peer) {
        self.used.retain(|(other, _)| *other != peer);
    }

    fn make(&mut self, links: &mut Links) -> Option<()> {
        let (offset, mapping) = links.shared.segment.carve(PAGE).ok()?;
        links.counters.bulk_bytes += PAGE as u64;
        let mapping: Arc<Mapping> = Arc::new(mapping);
        for at in (0..PAGE).step_by(COPY_BYTES) {
            let claims = Claims::new(mapping.clone(), at)?;
            self.free.push(OwnClaims {
                claims,
                offset: offset + at as u64,
            });
        }
        Some(())
    }
}
