//! Rings that peers lend: this process has received through them and sends something back in them. The lines that it
//! has just read are warm here, so that they change caches once a transfer instead of twice.
//!
//! A ring is borrowed only if this process has sent to that peer through a ring since it last borrowed one, only one
//! of each peer at a time, and only if the peer said that it can spare it. It returns to its owner with the transfer
//! for which it was borrowed, or after a while without one.

use std::collections::BTreeMap;
use weft_transport::{Cookie, Peer};

use crate::bulk::byte_ring::{BORROWED, ByteRing, GIVEN_UP, RING_BYTES, RingPosition};

/// A peer's ring.
pub struct Lent {
    ring: ByteRing,
    /// In the peer's segment; what begins there is warm.
    place: RingPosition,
    /// Bytes of the transfer that has come: from its place on as many have memory, all of the ring if they fill it.
    bytes: u64,
    /// The transfer that it was used for: it is still here if that is cancelled.
    used: Option<Cookie>,
}

impl Lent {
    pub fn new(ring: ByteRing, place: RingPosition, bytes: u64) -> Lent {
        let used = None;
        Lent {
            ring,
            place,
            bytes,
            used,
        }
    }

    fn fits(&self, bytes: u64) -> bool {
        bytes <= self.bytes || self.bytes >= RING_BYTES as u64
    }
}

/// What is known of one peer.
#[derive(Default)]
struct Partner {
    /// Something was sent to it through a ring since one of its was borrowed.
    answers: bool,
    lent: Option<Lent>,
}

impl Partner {
    /// The ring that is here and was not used.
    fn unused(&mut self) -> Option<&mut Lent> {
        self.lent.as_mut().filter(|lent| lent.used.is_none())
    }

    fn give_back(&mut self) {
        if let Some(lent) = self.unused() {
            lent.ring.consume(GIVEN_UP);
            self.lent = None;
        }
    }
}

/// An endpoint's borrowed rings.
#[derive(Default)]
pub struct LentRings {
    partners: BTreeMap<Peer, Partner>,
}

impl LentRings {
    /// So many bytes go to `peer` through a ring: the borrowed one, if there is one that has room.
    pub fn open(
        &mut self,
        peer: Peer,
        cookie: Cookie,
        bytes: u64,
    ) -> Option<(ByteRing, RingPosition)> {
        let partner = self.partners.entry(peer).or_default();
        partner.answers = true;
        let lent = partner.unused()?;
        if !lent.fits(bytes) {
            partner.give_back();
            return None;
        }
        lent.ring.reset();
        lent.used = Some(cookie);
        Some((lent.ring.clone(), lent.place))
    }

    /// Whether a ring of `peer` is worth borrowing.
    pub fn would_borrow(&mut self, peer: Peer) -> bool {
        let partner = self.partners.get_mut(&peer);
        partner.is_some_and(|partner| partner.answers && partner.unused().is_none())
    }

    /// Everything has been taken out of a ring: borrows it, unless another was borrowed meanwhile. Its sender has
    /// nothing more to do for this transfer, so does not wait.
    pub fn borrow_or_return(&mut self, peer: Peer, lent: Lent) {
        if !self.would_borrow(peer) {
            lent.ring.consume(lent.bytes);
            return;
        }
        lent.ring.consume(BORROWED);
        let partner = Partner {
            answers: false,
            lent: Some(lent),
        };
        self.partners.insert(peer, partner);
    }

    /// A transfer is cancelled: if it went through a borrowed ring, that stays borrowed.
    pub fn cancel(&mut self, peer: Peer, cookie: Cookie) {
        if let Some(partner) = self.partners.get_mut(&peer)
            && let Some(lent) = &mut partner.lent
        {
            lent.used.take_if(|used| *used == cookie);
        }
    }

    /// Nothing was sent for a while. The owners notice by themselves.
    pub fn give_all_back(&mut self) {
        self.partners.values_mut().for_each(Partner::give_back);
    }

    pub fn forget(&mut self, peer: Peer) {
        self.partners.remove(&peer);
    }
}
