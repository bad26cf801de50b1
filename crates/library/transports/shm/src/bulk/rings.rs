//! An endpoint's rings of bytes, made on demand and used again.

use std::io;
use std::sync::Arc;

use super::byte_ring::{ByteRing, GIVEN_UP, Place, RING_MAPPED};
use crate::links::Links;
use weft_transport::{Cookie, Peer};

/// Rings of an endpoint.
pub const COUNT: usize = 8;

/// Calls of `rest` after which rings that nobody used are given back.
pub const RESTS: u32 = 5;

/// An own ring: at first of nobody, then of a transfer, until its receiver has taken everything.
struct Ring {
    ring: ByteRing,
    /// Of the next transfer.
    place: Place,
    holder: Option<Holder>,
    /// Its memory was given back.
    empty: bool,
}

/// Who a ring belongs to.
enum Holder {
    /// A transfer to `peer`, which keeps the ring afterwards if it likes.
    To {
        peer: Peer,
        cookie: Cookie,
        bytes: u64,
        /// The sender has done its part.
        filled: bool,
    },
    /// A transfer from `peer`, which had kept the ring.
    From { peer: Peer },
}

/// An endpoint's rings. Low ones are used first, so that few are warm.
pub struct Rings {
    rings: Vec<Ring>,
    /// Calls of `rest` since a ring was last used.
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

/// A ring that a transfer has been given.
pub struct Given {
    /// Among the own rings.
    pub index: usize,
    pub ring: ByteRing,
    pub place: Place,
    /// There are enough rings: the receiver may keep this one.
    pub spare: bool,
}

impl Rings {
    pub fn new() -> Rings {
        Rings {
            rings: Vec::new(),
            rests: 0,
        }
    }

    /// A fresh ring for a transfer of `bytes` to `peer`; none if all are in use, an error if there is no memory.
    pub fn take(
        &mut self,
        links: &mut Links,
        purpose: For,
        peer: Peer,
        cookie: Cookie,
        bytes: u64,
    ) -> io::Result<Option<Given>> {
        let limit = match purpose {
            For::Offer => COUNT - 1,
            For::Answered => COUNT,
        };
        let index = match self.rings.iter().take(limit).position(Ring::is_free) {
            Some(index) => index,
            None if self.rings.len() < limit => self.make(links)?,
            None => return Ok(None),
        };
        let ring = &mut self.rings[index];
        if ring.empty {
            links.shared.segment.fill(ring.place.offset, RING_MAPPED)?;
            links.counters.bulk_bytes += RING_MAPPED as u64;
            ring.empty = false;
        }
        self.rests = 0;
        ring.ring.reset();
        ring.holder = Some(Holder::To {
            peer,
            cookie,
            bytes,
            filled: false,
        });
        let place = ring.place;
        ring.place = place.after(bytes);
        Ok(Some(Given {
            index,
            ring: ring.ring.clone(),
            place,
            spare: index < COUNT / 2,
        }))
    }

    fn make(&mut self, links: &mut Links) -> io::Result<usize> {
        let (offset, mapping) = links.shared.segment.carve(RING_MAPPED)?;
        links.counters.bulk_bytes += RING_MAPPED as u64;
        self.rings.push(Ring {
            ring: ByteRing::new(Arc::new(mapping)),
            place: Place { offset, begin: 0 },
            holder: None,
            empty: false,
        });
        Ok(self.rings.len() - 1)
    }

    /// Called now and then: gives the memory of rings back if none was used for some calls.
    pub fn rest(&mut self, links: &mut Links) {
        self.rests += 1;
        if self.rests < RESTS || !self.all_free() {
            return;
        }
        for ring in self.rings.iter_mut().filter(|ring| !ring.empty) {
            // If the system cannot, the memory is kept, as if in use.
            if links
                .shared
                .segment
                .empty(ring.place.offset, RING_MAPPED)
                .is_ok()
            {
                ring.holder = None;
                ring.empty = true;
                links.counters.bulk_bytes -= RING_MAPPED as u64;
            }
        }
    }

    /// The sender will not touch the ring again for this transfer.
    pub fn fill(&mut self, index: usize) {
        if let Some(Holder::To { filled, .. }) = &mut self.rings[index].holder {
            *filled = true;
        }
    }

    /// A transfer from `peer` comes through the ring at `offset`, which it says it kept; its index.
    pub fn come_back(&mut self, peer: Peer, offset: u64) -> Option<(usize, ByteRing)> {
        let index = self
            .rings
            .iter()
            .position(|ring| ring.place.offset == offset)?;
        let ring = &mut self.rings[index];
        match ring.holder {
            Some(Holder::To {
                peer: holder,
                filled: true,
                ..
            }) if holder == peer => {
                self.rests = 0;
                ring.holder = Some(Holder::From { peer });
                Some((index, ring.ring.clone()))
            }
            _ => None,
        }
    }

    /// What came back through the ring, from `begin` on, is out of it.
    pub fn came_back(&mut self, index: usize, begin: u32) {
        let ring = &mut self.rings[index];
        // These lines are the warm ones now.
        ring.place.begin = begin;
        ring.holder = None;
    }

    /// Takes the ring back from an offer that will not be received.
    pub fn retract(&mut self, to: Peer, of: Cookie) {
        self.free_of(
            |holder| matches!(*holder, Holder::To { peer, cookie, .. } if (peer, cookie) == (to, of)),
        );
    }

    /// Takes all rings back that a lost peer holds.
    pub fn forget(&mut self, lost: Peer) {
        self.free_of(|holder| match *holder {
            Holder::To { peer, .. } | Holder::From { peer } => peer == lost,
        });
    }

    fn free_of(&mut self, which: impl Fn(&Holder) -> bool) {
        for ring in &mut self.rings {
            if ring.holder.as_ref().is_some_and(&which) {
                ring.holder = None;
            }
        }
    }

    /// Whether all receivers have taken everything, and have kept no ring.
    pub fn all_free(&self) -> bool {
        self.rings.iter().all(Ring::is_free)
    }
}

impl Ring {
    fn is_free(&self) -> bool {
        match self.holder {
            None => true,
            Some(Holder::From { .. }) => false,
            Some(Holder::To { bytes, filled, .. }) => {
                let taken = |consumed| consumed == bytes || consumed == GIVEN_UP;
                filled && taken(self.ring.consumed())
            }
        }
    }
}
