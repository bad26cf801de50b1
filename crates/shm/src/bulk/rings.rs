//! An endpoint's rings of bytes, made on demand and used again.

use std::sync::Arc;

use super::words::{ByteRing, GIVEN_UP, RING_MAPPED};
use crate::endpoint::Links;
use weft_transport::{Cookie, Peer};

pub use super::words::RING_BYTES;

/// Rings of an endpoint.
pub const COUNT: usize = 8;

/// Calls of [`Rings::rest`] after which unused rings are given back.
const RESTS: u32 = 5;

/// An own ring: at first of nobody, then of a transfer, until its receiver has taken everything.
struct Ring {
    ring: ByteRing,
    offset: u64,
    holder: Option<Holder>,
    /// Its memory was given back.
    empty: bool,
}

/// Who a ring belongs to, and how much will go through it.
struct Holder {
    peer: Peer,
    cookie: Cookie,
    bytes: u64,
    /// The sender has done its part.
    filled: bool,
}

/// An endpoint's rings. Low ones are used first, so that few are warm.
pub struct Rings {
    rings: Vec<Ring>,
    /// Calls of `rest` since a ring was last taken.
    rests: u32,
}

/// For whom a ring is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum For {
    /// May take all but the last.
    Offer,
    /// For a call whose receiver is ready.
    Answered,
}

impl Rings {
    pub fn new() -> Rings {
        Rings {
            rings: Vec::new(),
            rests: 0,
        }
    }

    /// A fresh ring for a transfer of `bytes` to `peer`; none if all are in use, or there is no memory.
    pub fn take(
        &mut self,
        links: &mut Links,
        purpose: For,
        peer: Peer,
        cookie: Cookie,
        bytes: u64,
    ) -> Option<usize> {
        let limit = match purpose {
            For::Offer => COUNT - 1,
            For::Answered => COUNT,
        };
        let index = match self.rings.iter().take(limit).position(Ring::is_free) {
            Some(index) => index,
            None if self.rings.len() < limit => self.make(links)?,
            None => return None,
        };
        let ring = &mut self.rings[index];
        if ring.empty {
            links.shared.segment.fill(ring.offset, RING_MAPPED).ok()?;
            links.counters.bulk_bytes += RING_MAPPED as u64;
            ring.empty = false;
        }
        self.rests = 0;
        ring.ring.reset();
        ring.holder = Some(Holder {
            peer,
            cookie,
            bytes,
            filled: false,
        });
        Some(index)
    }

    fn make(&mut self, links: &mut Links) -> Option<usize> {
        let (offset, mapping) = links.shared.segment.carve(RING_MAPPED).ok()?;
        links.counters.bulk_bytes += RING_MAPPED as u64;
        self.rings.push(Ring {
            ring: ByteRing::new(Arc::new(mapping)),
            offset,
            holder: None,
            empty: false,
        });
        Some(self.rings.len() - 1)
    }

    /// Called now and then: gives the memory of rings back if none was taken for some calls.
    pub fn rest(&mut self, links: &mut Links) {
        self.rests += 1;
        if self.rests < RESTS || !self.all_free() {
            return;
        }
        for ring in self.rings.iter_mut().filter(|ring| !ring.empty) {
            // If the system cannot, the memory is kept, as if in use.
            if links.shared.segment.empty(ring.offset, RING_MAPPED).is_ok() {
                ring.holder = None;
                ring.empty = true;
                links.counters.bulk_bytes -= RING_MAPPED as u64;
            }
        }
    }

    pub fn ring(&self, index: usize) -> &ByteRing {
        &self.rings[index].ring
    }

    pub fn offset(&self, index: usize) -> u64 {
        self.rings[index].offset
    }

    /// The sender will not touch the ring again for this transfer.
    pub fn fill(&mut self, index: usize) {
        if let Some(holder) = &mut self.rings[index].holder {
            holder.filled = true;
        }
    }

    /// Takes the ring back from an offer that will not be received.
    pub fn retract(&mut self, peer: Peer, cookie: Cookie) {
        self.free_of(|holder| holder.peer == peer && holder.cookie == cookie);
    }

    /// Takes all rings back that a lost peer holds.
    pub fn forget(&mut self, peer: Peer) {
        self.free_of(|holder| holder.peer == peer);
    }

    fn free_of(&mut self, which: impl Fn(&Holder) -> bool) {
        for ring in &mut self.rings {
            if ring.holder.as_ref().is_some_and(&which) {
                ring.holder = None;
            }
        }
    }

    /// Whether all receivers have taken everything.
    pub fn all_free(&self) -> bool {
        self.rings.iter().all(Ring::is_free)
    }
}

impl Ring {
    fn is_free(&self) -> bool {
        self.holder.as_ref().is_none_or(|holder| {
            let taken = |consumed| consumed == holder.bytes || consumed == GIVEN_UP;
            holder.filled && taken(self.ring.consumed())
        })
    }
}
