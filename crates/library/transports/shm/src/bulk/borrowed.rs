//! Rings of peers that this process has received through and borrows, to send something back through them: the lines
//! that it has just read are warm here, so that they change caches once a transfer instead of twice.
//!
//! A ring is borrowed only if this process has sent to that peer through a ring since it last borrowed one, only one of each
//! peer at a time, and only if the peer said that it can spare it. It returns to its owner with the transfer for
//! which it was borrowed, or after a while without one.

use std::collections::BTreeMap;
use weft_transport::{Cookie, Peer};

use super::byte_ring::{BORROWED, ByteRing, GIVEN_UP, RING_BYTES, RingPosition};
use super::rings::IDLE_CALLS;

/// A peer's ring.
#[derive(Clone)]
pub struct BorrowedRing {
    pub ring: ByteRing,
    /// In the peer's segment; what begins there is warm.
    pub place: RingPosition,
    /// Bytes from there on that have memory; all of a ring has if it is [`RING_BYTES`].
    pub room: u32,
}

impl BorrowedRing {
    fn fits(&self, bytes: usize) -> bool {
        let room = self.room as usize;
        room >= RING_BYTES || bytes <= room
    }
}

/// What is known of one peer.
#[derive(Default)]
struct Partner {
    /// Something was sent to it through a ring since one of its was borrowed.
    answers: bool,
    borrowed: Option<BorrowedRing>,
    /// The transfer for which the last one was used: it is still here if that is cancelled.
    used: Option<(Cookie, BorrowedRing)>,
}

impl Partner {
    fn give_back(&mut self) {
        if let Some(borrowed) = self.borrowed.take() {
            borrowed.ring.consume(GIVEN_UP);
        }
    }
}

/// An endpoint's borrowed rings.
pub struct BorrowedRings {
    partners: BTreeMap<Peer, Partner>,
    /// Calls of `release_idle` since one was last borrowed or used.
    idle_calls: u32,
}

impl BorrowedRings {
    pub fn new() -> BorrowedRings {
        BorrowedRings {
            partners: BTreeMap::new(),
            idle_calls: 0,
        }
    }

    /// So many bytes go to `peer` through a ring: the borrowed one, if there is one that has room.
    pub fn send(&mut self, peer: Peer, cookie: Cookie, bytes: usize) -> Option<BorrowedRing> {
        let partner = self.partners.entry(peer).or_default();
        partner.answers = true;
        let ring = partner.borrowed.take()?;
        if !ring.fits(bytes) {
            ring.ring.consume(GIVEN_UP);
            return None;
        }
        ring.ring.reset();
        partner.used = Some((cookie, ring.clone()));
        self.idle_calls = 0;
        Some(ring)
    }

    /// Whether a ring of `peer` is worth borrowing.
    pub fn would_borrow(&self, peer: Peer) -> bool {
        let partner = self.partners.get(&peer);
        partner.is_some_and(|partner| partner.answers && partner.borrowed.is_none())
    }

    /// Everything, `bytes`, has been taken out of a ring: borrows it, unless another was borrowed meanwhile. Its sender has
    /// nothing more to do for this transfer, so does not wait.
    pub fn borrow_or_return(&mut self, peer: Peer, ring: BorrowedRing, bytes: u64) {
        if !self.would_borrow(peer) {
            ring.ring.consume(bytes);
            return;
        }
        ring.ring.consume(BORROWED);
        self.idle_calls = 0;
        let partner = Partner {
            answers: false,
            borrowed: Some(ring),
            used: None,
        };
        self.partners.insert(peer, partner);
    }

    /// A transfer is cancelled: if it went through a borrowed ring, that stays borrowed.
    pub fn cancel(&mut self, peer: Peer, cookie: Cookie) {
        if let Some(partner) = self.partners.get_mut(&peer)
            && let Some((_, ring)) = partner.used.take_if(|(used, _)| *used == cookie)
        {
            partner.borrowed = Some(ring);
        }
    }

    /// Called now and then: gives rings back if none was used for some calls. The owners notice by themselves.
    pub fn release_idle(&mut self) {
        self.idle_calls += 1;
        if self.idle_calls < IDLE_CALLS {
            return;
        }
        for partner in self.partners.values_mut() {
            partner.give_back();
        }
    }

    pub fn forget(&mut self, peer: Peer) {
        self.partners.remove(&peer);
    }
}
