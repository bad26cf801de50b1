//! The rings of bytes that an endpoint sends in: its own, made on demand and used again, and those that peers lend
//! ([`lent`]).
//!
//! To have a page of memory takes more than 1 us: as long as to send the page fifty times. So a ring has at first
//! memory only for two transfers, as long as those that have come, and what is long and comes but once goes another way (`choice`).

mod lent;

use std::io;
use std::sync::Arc;

pub use lent::Lent;
use lent::LentRings;

use super::byte_ring::{BORROWED, ByteRing, GIVEN_UP, RING_BYTES, RING_MAPPED, RingPosition};
use crate::links::Links;
use crate::peers::lost;
use crate::segment::PAGE;
use weft_sync::lines;
use weft_transport::{Cookie, Peer};

/// Rings of an endpoint, 8 MiB of memory at most: half of them may be lent, and the last is for answered calls alone.
const COUNT: usize = 8;

/// Calls of `release_idle` after which rings that no transfer used are given back, a second: to have their memory again
/// takes 0.3 ms a ring (an EPYC, Zen 4).
const IDLE_CALLS: u32 = 5;

/// Messages of so many bytes stay in a core's own cache: an eighth of the 1 MiB that one of an EPYC (Zen 4) has.
const TAKEN_OVER_BYTES: u64 = 128 << 10;

/// Whether the receiver of so many bytes takes the ring's lines over. Then they are best written again at once, while both
/// cores' own caches hold them.
pub fn is_taken_over(bytes: u64) -> bool {
    bytes <= TAKEN_OVER_BYTES && lines::are_better_taken_over()
}

/// An own ring: at first free, then a transfer's, until its receiver has taken everything.
struct Ring {
    ring: ByteRing,
    /// Of the next transfer.
    place: RingPosition,
    holder: Option<Holder>,
    /// Bytes of its data that have memory. With none its words have none either.
    filled: usize,
}

/// The transfer that has a ring.
enum Holder {
    /// A transfer to `peer`, which borrows the ring afterwards if it likes.
    To {
        peer: Peer,
        cookie: Cookie,
        bytes: u64,
        /// It may.
        spare: bool,
        /// The sender has done its part.
        filled: bool,
    },
    /// A transfer from `peer`, which had borrowed the ring.
    From { peer: Peer },
}

/// An endpoint's rings. Low ones are used first, so that few are warm.
pub struct Rings {
    /// None in place of one that a lost peer may still use.
    rings: Vec<Option<Ring>>,
    lent: LentRings,
    /// Calls of `release_idle` since a ring was last used.
    idle_calls: u32,
}

/// What a ring is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A transfer that is offered. It may take all own rings but the last.
    Offer,
    /// A call whose receiver is ready.
    Answer,
}

/// A transfer that needs a ring.
pub struct Wanted {
    pub purpose: Purpose,
    pub peer: Peer,
    pub cookie: Cookie,
    pub bytes: u64,
}

/// A ring that a transfer has been given.
pub struct OpenRing {
    /// Its index among the own rings; none if a peer has lent it.
    pub own: Option<usize>,
    pub ring: ByteRing,
    pub place: RingPosition,
    /// There are enough rings: the receiver may borrow this one.
    pub is_spare: bool,
}

impl Rings {
    pub fn new() -> Rings {
        Rings {
            rings: Vec::new(),
            lent: LentRings::default(),
            idle_calls: 0,
        }
    }

    /// Bytes of memory that the next transfer, of `bytes`, lacks; nothing if it would have to wait for a ring.
    pub fn lacking(&self, bytes: u64) -> u64 {
        let limit = COUNT - 1;
        let mut free = self
            .rings
            .iter()
            .take(limit)
            .flatten()
            .filter(|ring| ring.is_free());
        match free.next() {
            Some(ring) => ring.lacking(bytes) as u64,
            None if self.rings.len() < limit => wanted_bytes(bytes) as u64,
            None => 0,
        }
    }

    /// A ring to send in: the peer's that was borrowed, or a free own one. None if all are in use, an error if there is
    /// no memory.
    pub fn open(&mut self, links: &mut Links, wanted: Wanted) -> io::Result<Option<OpenRing>> {
        self.idle_calls = 0;
        if wanted.purpose == Purpose::Offer
            && let Some((ring, place)) = self.lent.open(wanted.peer, wanted.cookie, wanted.bytes)
        {
            links.counters.borrowed_transfers += 1;
            return Ok(Some(OpenRing {
                own: None,
                ring,
                place,
                is_spare: false,
            }));
        }
        self.lose_liars(links);
        match self.find_free(links, wanted.purpose)? {
            None => Ok(None),
            Some(index) => self.open_own(links, wanted, index).map(Some),
        }
    }

    /// A free own ring, one more if there is none.
    fn find_free(&mut self, links: &mut Links, purpose: Purpose) -> io::Result<Option<usize>> {
        let limit = match purpose {
            Purpose::Offer => COUNT - 1,
            Purpose::Answer => COUNT,
        };
        let free = |ring: &Option<Ring>| ring.as_ref().is_some_and(Ring::is_free);
        if let Some(index) = self.rings.iter().take(limit).position(free) {
            return Ok(Some(index));
        }
        let unmade = self.rings.iter().take(limit).position(Option::is_none);
        let index = match unmade {
            Some(index) => index,
            None if self.rings.len() < limit => {
                self.rings.push(None);
                self.rings.len() - 1
            }
            None => return Ok(None),
        };
        self.make(index, links)?;
        Ok(Some(index))
    }

    fn open_own(
        &mut self,
        links: &mut Links,
        wanted: Wanted,
        index: usize,
    ) -> io::Result<OpenRing> {
        let Wanted {
            peer,
            cookie,
            bytes,
            ..
        } = wanted;
        let is_spare = index < COUNT / 2;
        let ring = self.ring(index);
        ring.prepare(bytes, links)?;
        ring.ring.reset();
        ring.holder = Some(Holder::To {
            peer,
            cookie,
            bytes,
            spare: is_spare,
            filled: false,
        });
        let place = ring.place;
        if !is_taken_over(bytes) {
            ring.place = place.after(bytes);
        }
        Ok(OpenRing {
            own: Some(index),
            ring: ring.ring.clone(),
            place,
            is_spare,
        })
    }

    /// The ring of a transfer that goes on: nothing of a lost peer's does.
    fn ring(&mut self, index: usize) -> &mut Ring {
        let ring = self.rings[index].as_mut();
        ring.expect("a ring stays while a transfer has it")
    }

    fn make(&mut self, index: usize, links: &mut Links) -> io::Result<()> {
        let carve = || links.shared.segment.carve(RING_MAPPED, 0);
        let (offset, mapping) = weft_reserve::with_addresses(RING_MAPPED, carve)?;
        self.rings[index] = Some(Ring {
            ring: ByteRing::new(Arc::new(mapping)),
            place: RingPosition { offset, begin: 0 },
            holder: None,
            filled: 0,
        });
        Ok(())
    }

    /// Loses peers that say they have taken what they cannot have taken, and so would never give a ring back.
    fn lose_liars(&self, links: &mut Links) {
        for ring in self.rings.iter().flatten() {
            if let Some(Holder::To { peer, .. }) = ring.holder
                && ring.is_lied_about()
            {
                let why = "it counts bytes as taken that were never sent";
                links.lose(lost(peer, why), peer);
            }
        }
    }

    /// Called now and then: if no ring was used for some calls, borrowed ones go back, and so does the own ones'
    /// memory.
    pub fn release_idle(&mut self, links: &mut Links) {
        self.lose_liars(links);
        self.idle_calls += 1;
        if self.idle_calls < IDLE_CALLS {
            return;
        }
        self.lent.give_all_back();
        if !self.all_free() {
            return;
        }
        let rings = self.rings.iter_mut().flatten();
        for ring in rings.filter(|ring| ring.filled > 0) {
            let segment = &links.shared.segment;
            // If the system cannot, the memory is kept, as if in use.
            if segment.empty(ring.place.offset, RING_MAPPED).is_ok() {
                links.counters.bulk_bytes -= ring.memory_bytes();
                ring.holder = None;
                ring.filled = 0;
            }
        }
    }

    /// The sender will not touch the ring again for this transfer.
    pub fn note_filled(&mut self, index: usize) {
        if let Some(Holder::To { filled, .. }) = &mut self.ring(index).holder {
            *filled = true;
        }
    }

    /// Whether a ring of `peer` is worth borrowing.
    pub fn would_borrow(&mut self, peer: Peer) -> bool {
        self.lent.would_borrow(peer)
    }

    /// Everything has been taken out of a ring of `peer`'s that it can spare.
    pub fn borrow_or_return(&mut self, peer: Peer, lent: Lent) {
        self.idle_calls = 0;
        self.lent.borrow_or_return(peer, lent);
    }

    /// A transfer from `peer` comes through the ring at `offset`, which it says it borrowed; its index.
    pub fn begin_return(&mut self, peer: Peer, offset: u64) -> Option<(usize, ByteRing)> {
        let is_it = |ring: &Option<Ring>| {
            ring.as_ref()
                .is_some_and(|ring| ring.place.offset == offset)
        };
        let index = self.rings.iter().position(is_it)?;
        let ring = self.rings[index].as_mut()?;
        match ring.holder {
            Some(Holder::To {
                peer: holder,
                filled: true,
                spare: true,
                ..
            }) if holder == peer => {
                self.idle_calls = 0;
                ring.holder = Some(Holder::From { peer });
                Some((index, ring.ring.clone()))
            }
            _ => None,
        }
    }

    /// What came back through the ring, from `begin` on, is out of it.
    pub fn end_return(&mut self, index: usize, begin: u32) {
        let ring = self.ring(index);
        // These lines are the warm ones now.
        ring.place.begin = begin;
        ring.holder = None;
    }

    /// Takes the ring back from an offer that will not be received.
    pub fn cancel(&mut self, to: Peer, of: Cookie) {
        for ring in self.rings.iter_mut().flatten() {
            let is_it = |holder: &mut Holder| matches!(*holder, Holder::To { peer, cookie, .. } if (peer, cookie) == (to, of));
            ring.holder.take_if(is_it);
        }
        self.lent.cancel(to, of);
    }

    /// Puts all rings aside that a lost peer has, as it may still use them.
    pub fn forget(&mut self, links: &mut Links, lost: Peer) {
        self.lent.forget(lost);
        for slot in &mut self.rings {
            let has = |ring: &mut Ring| match ring.holder {
                Some(Holder::To { peer, .. } | Holder::From { peer }) => {
                    peer == lost && !ring.is_free()
                }
                None => false,
            };
            if let Some(ring) = slot.take_if(has) {
                let bytes = ring.memory_bytes() as usize;
                links.quarantine_piece(lost, ring.place.offset, bytes);
                links.counters.bulk_bytes -= ring.memory_bytes();
            }
        }
    }

    /// Whether all receivers have taken everything, and have borrowed no ring.
    pub fn all_free(&self) -> bool {
        self.rings.iter().flatten().all(Ring::is_free)
    }
}

/// Bytes of data that a ring ought to have memory for: of two transfers of `bytes` behind each other the second leaves the
/// first's lines to the receiver.
fn wanted_bytes(bytes: u64) -> usize {
    let wanted = bytes.saturating_mul(2).min(RING_BYTES as u64) as usize;
    wanted.next_multiple_of(PAGE)
}

impl Ring {
    /// Has memory for the next transfer, of `bytes`, and says where that begins.
    fn prepare(&mut self, bytes: u64, links: &mut Links) -> io::Result<()> {
        let end = u64::from(self.place.begin) + bytes;
        if self.filled < RING_BYTES && end > self.filled as u64 {
            self.place.begin = 0;
        }
        let lacking = self.lacking(bytes);
        if lacking == 0 {
            return Ok(());
        }
        let wanted = self.filled + lacking;
        // Its words are in a page before the data.
        let from = match self.filled {
            0 => 0,
            filled => PAGE + filled,
        };
        let grown = PAGE + wanted - from;
        let segment = &links.shared.segment;
        self.ring
            .have_memory(segment, self.place.offset, from, grown)?;
        links.counters.bulk_bytes += grown as u64;
        self.filled = wanted;
        Ok(())
    }

    /// Bytes of data for which it has no memory and ought to have for transfers of `bytes`.
    fn lacking(&self, bytes: u64) -> usize {
        wanted_bytes(bytes).saturating_sub(self.filled)
    }

    fn memory_bytes(&self) -> u64 {
        match self.filled {
            0 => 0,
            filled => (PAGE + filled) as u64,
        }
    }

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

    /// Whether its receiver has written a count that cannot be.
    fn is_lied_about(&self) -> bool {
        match self.holder {
            Some(Holder::To { bytes, spare, .. }) => match self.ring.consumed() {
                GIVEN_UP => false,
                BORROWED => !spare,
                consumed => consumed > bytes,
            },
            _ => false,
        }
    }
}
