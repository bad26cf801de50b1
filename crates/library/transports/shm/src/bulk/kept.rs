//! Rings of peers that this process has received through and keeps, to send something back through them: the lines
//! that it has just read are warm here, so that they change caches once a transfer instead of twice.
//!
//! A ring is kept only if this process has sent to that peer through a ring since it last kept one, only one of each
//! peer at a time, and only if the peer said that it can spare it. It goes back to its owner with the transfer for
//! which it was kept, or after a while without one.

use std::collections::HashMap;

use weft_transport::{Cookie, Peer};

use super::byte_ring::{ByteRing, GIVEN_UP, KEPT, Place};
use super::rings::RESTS;

/// A peer's ring.
#[derive(Clone)]
pub struct Kept {
    pub ring: ByteRing,
    /// In the peer's segment; what begins there is warm.
    pub place: Place,
}

/// What is known of one peer.
#[derive(Default)]
struct Partner {
    /// Something was sent to it through a ring since one of its was kept.
    answers: bool,
    kept: Option<Kept>,
    /// What the last one kept was used for: it is still here if that is taken back.
    used: Option<(Cookie, Kept)>,
}

/// An endpoint's kept rings.
pub struct Keeping {
    partners: HashMap<Peer, Partner>,
    /// Calls of `rest` since one was last kept or used.
    rests: u32,
}

impl Keeping {
    pub fn new() -> Keeping {
        Keeping {
            partners: HashMap::new(),
            rests: 0,
        }
    }

    /// Something goes to `peer` through a ring: the kept one, if there is one.
    pub fn send(&mut self, peer: Peer, cookie: Cookie) -> Option<Kept> {
        let partner = self.partners.entry(peer).or_default();
        partner.answers = true;
        let kept = partner.kept.take()?;
        kept.ring.reset();
        partner.used = Some((cookie, kept.clone()));
        self.rests = 0;
        Some(kept)
    }

    /// Whether a ring of `peer` is worth keeping.
    pub fn wants(&self, peer: Peer) -> bool {
        let partner = self.partners.get(&peer);
        partner.is_some_and(|partner| partner.answers && partner.kept.is_none())
    }

    /// Everything, `bytes`, has been taken out of a ring: keeps it, unless another was kept meanwhile. Its sender has
    /// nothing more to do for this transfer, so does not wait.
    pub fn keep_or_return(&mut self, peer: Peer, kept: Kept, bytes: u64) {
        if !self.wants(peer) {
            kept.ring.consume(bytes);
            return;
        }
        kept.ring.consume(KEPT);
        self.rests = 0;
        let partner = Partner {
            answers: false,
            kept: Some(kept),
            used: None,
        };
        self.partners.insert(peer, partner);
    }

    /// An offer will not be received: if it went through a kept ring, that is kept as before.
    pub fn retract(&mut self, peer: Peer, cookie: Cookie) {
        if let Some(partner) = self.partners.get_mut(&peer)
            && let Some((_, kept)) = partner.used.take_if(|(used, _)| *used == cookie)
        {
            partner.kept = Some(kept);
        }
    }

    /// Called now and then: gives rings back if none was used for some calls. The owners notice by themselves.
    pub fn rest(&mut self) {
        self.rests += 1;
        if self.rests < RESTS {
            return;
        }
        for partner in self.partners.values_mut() {
            if let Some(kept) = partner.kept.take() {
                kept.ring.consume(GIVEN_UP);
            }
        }
    }

    pub fn forget(&mut self, peer: Peer) {
        self.partners.remove(&peer);
    }
}
