//! The sender's side of bulk transfers.

mod filling;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use weft_memory::Memory;
use weft_sync::atomic::Ordering;
use weft_transport::{BulkDescriptor, Cookie, Peer};

use super::borrowed::BorrowedRing;
use super::byte_ring::RING_BYTES;
use super::choice::{self, Choice, Facts, Way};
use super::common::Common;
use super::control::{BesideRing, Control, Descriptor, TransferId};
use super::rings::{RingUse, Wanted};
use super::transfers::{Step, Transfer, Transfers};
use crate::links::Links;
use crate::peers::{Neighbour, lost};
use filling::Filling;

/// How a message to `neighbour` goes, before which there were so many.
fn choose(
    links: &Links,
    common: &Common,
    neighbour: &Neighbour,
    source: &Memory,
    earlier: u32,
) -> Choice {
    let bytes = source.bytes as u64;
    let facts = Facts {
        bytes,
        pair: links.pair(neighbour),
        is_contiguous: source.layout.is_none(),
        earlier,
        lacking: common.rings.lacking(bytes),
        shares_cores: links.shared.shares_cores.load(Ordering::Relaxed),
    };
    match links.shared.options.prefers_rings {
        Some(true) => Choice::asked(Way::Ring, facts),
        Some(false) if facts.can_be_copied() => Choice::asked(Way::Copy, facts),
        _ => choice::choose(facts),
    }
}

/// A transfer from here.
struct Outgoing {
    neighbour: Arc<Neighbour>,
    source: Memory,
    cookie: Cookie,
    state: State,
}

enum State {
    /// The receiver has not answered the call.
    Called,
    /// The receiver has, and waits for a ring.
    NeedsRing {
        receiver: TransferId,
    },
    Filling(Filling),
}

/// A lane's transfers to peers.
pub struct Sending {
    transfers: Transfers<Outgoing>,
    /// Those in state `NeedsRing`, in order.
    need_rings: VecDeque<(Peer, TransferId)>,
    begun: bool,
    /// Messages to each peer so far.
    earlier: BTreeMap<Peer, u32>,
    /// How the last one goes.
    pub choice: Option<Choice>,
}

impl Transfer for Outgoing {
    fn peer(&self) -> Peer {
        self.neighbour.rank
    }

    fn cookie(&self) -> Cookie {
        self.cookie
    }
}

impl Outgoing {
    fn step(&mut self, links: &mut Links, budget: usize) -> Step {
        match &mut self.state {
            State::Called | State::NeedsRing { .. } => Step::Idle,
            State::Filling(filling) => filling.step(&self.source, &self.neighbour, links, budget),
        }
    }

    /// Gives back what the transfer has used.
    fn end(self, common: &mut Common) {
        if let State::Filling(filling) = self.state {
            filling.end(common);
        }
    }
}

impl Sending {
    pub fn new() -> Sending {
        Sending {
            transfers: Transfers::new(),
            need_rings: VecDeque::new(),
            begun: false,
            earlier: BTreeMap::new(),
            choice: None,
        }
    }

    pub fn send(
        &mut self,
        links: &mut Links,
        common: &mut Common,
        neighbour: Arc<Neighbour>,
        source: Memory,
        cookie: Cookie,
    ) -> BulkDescriptor {
        let peer = neighbour.rank;
        if source.bytes == 0 {
            self.choice = None;
            self.transfers.finished.push_back((peer, cookie));
            return Descriptor::Nothing.emit();
        }
        let count = self.earlier.entry(peer).or_default();
        let earlier = *count;
        *count = earlier.saturating_add(1);
        let choice = choose(links, common, &neighbour, &source, earlier);
        let (through, address) = match choice.way {
            Way::Ring => {
                let can_be_copied = choice.facts.can_be_copied();
                let ring = begin(links, common, (peer, cookie), &source, can_be_copied);
                (ring, None)
            }
            Way::Copy => (None, Some(source.base as u64)),
        };
        self.choice = Some(choice);
        let (state, offered) = match through {
            None => (State::Called, None),
            Some((filling, offered)) => {
                links.counters.ring_transfers += 1;
                (State::Filling(filling), Some(offered))
            }
        };
        let transfer = self.transfers.enter(Outgoing {
            neighbour,
            source,
            cookie,
            state,
        });
        let Some(offered) = offered else {
            return Descriptor::Call { transfer, address }.emit();
        };
        self.transfers.activate(transfer);
        // The data follow when the receiver has been told, so that it starts early.
        self.begun = true;
        offered.emit()
    }

    /// The transfer of that name to `peer`, in state `Called`.
    fn called(&mut self, peer: Peer, id: TransferId) -> Option<&mut Outgoing> {
        let outgoing = self.transfers.named(peer, id);
        outgoing.filter(|outgoing| matches!(outgoing.state, State::Called))
    }

    pub fn cancel(&mut self, common: &mut Common, peer: Peer, cookie: Cookie) {
        let is_it =
            |outgoing: &Outgoing| outgoing.cookie == cookie && outgoing.neighbour.rank == peer;
        self.transfers
            .drop_if(is_it, |outgoing| outgoing.end(common));
        self.transfers
            .finished
            .retain(|&done| done != (peer, cookie));
        // Even if all is in the ring and the table knows nothing of it any more.
        common.rings.cancel(peer, cookie);
        common.borrowed.cancel(peer, cookie);
    }

    /// The receiver answers a call: through a ring.
    pub fn need_ring(&mut self, peer: Peer, id: TransferId, receiver: TransferId) {
        if let Some(outgoing) = self.called(peer, id) {
            outgoing.state = State::NeedsRing { receiver };
            self.need_rings.push_back((peer, id));
        }
    }

    /// The receiver answers a call: it has copied.
    pub fn copied(&mut self, peer: Peer, id: TransferId) {
        let called = self.called(peer, id);
        if called.is_some_and(|outgoing| outgoing.source.layout.is_none()) {
            self.transfers.finish(id);
        }
    }

    /// Whether an offer was made whose data can go on moving now that the receiver has been told.
    #[inline]
    pub fn has_begun(&self) -> bool {
        self.begun
    }

    #[inline]
    pub fn is_active(&self) -> bool {
        self.transfers.is_active() || !self.need_rings.is_empty()
    }

    /// A source that is free.
    pub fn pop_finished(&mut self) -> Option<Cookie> {
        self.transfers
            .finished
            .pop_front()
            .map(|(_, cookie)| cookie)
    }

    /// Moves up to about `budget` bytes.
    pub fn go_on(&mut self, links: &mut Links, common: &mut Common, budget: usize) -> bool {
        self.begun = false;
        let moved = self.hand_out_rings(links, common);
        moved
            | self.transfers.go_on(
                links,
                budget,
                |outgoing, links, budget| outgoing.step(links, budget),
                |outgoing| outgoing.end(common),
            )
    }

    /// Gives rings to answered calls.
    fn hand_out_rings(&mut self, links: &mut Links, common: &mut Common) -> bool {
        let mut moved = false;
        while let Some(&(peer, id)) = self.need_rings.front() {
            if let Some(outgoing) = self.transfers.named(peer, id)
                && let State::NeedsRing { receiver } = outgoing.state
            {
                let bytes = outgoing.source.bytes as u64;
                let cookie = outgoing.cookie;
                let wanted = Wanted {
                    purpose: RingUse::Answered,
                    peer,
                    cookie,
                    bytes,
                };
                let given = match common.rings.take(links, wanted) {
                    Ok(Some(given)) => given,
                    Ok(None) => break,
                    // Those in use may be others' for as long as they like: no one is certain to come back.
                    Err(error) => {
                        let why = format!("no memory for data to it: {error}");
                        links.lose(lost(peer, &why), peer);
                        self.need_rings.pop_front();
                        continue;
                    }
                };
                let place = given.place;
                let own = Some(given.index);
                let total = outgoing.source.bytes;
                let filling = Filling::new(given.ring, place.begin, own, total, false);
                outgoing.state = State::Filling(filling);
                links.counters.ring_transfers += 1;
                common.post(peer, Control::Ring { receiver, place });
                self.transfers.activate(id);
                links.wake_sleeper();
                moved = true;
            }
            self.need_rings.pop_front();
        }
        moved
    }

    /// Before a sleep. True if there is something to do already.
    pub fn wait(&mut self) -> bool {
        let mut ready = !self.transfers.finished.is_empty();
        for outgoing in self.transfers.active() {
            ready |= match &outgoing.state {
                State::Called | State::NeedsRing { .. } => false,
                State::Filling(filling) => filling.wait(),
            };
        }
        // Answered calls without a ring wait for rings, all of which are in use, for their receivers to take
        // something out; an idle turn now and then is enough, as those receivers are at it.
        ready | !self.need_rings.is_empty()
    }

    pub fn end_wait(&mut self) {
        for outgoing in self.transfers.active() {
            match &outgoing.state {
                State::Called | State::NeedsRing { .. } => {}
                State::Filling(filling) => filling.end_wait(),
            }
        }
    }

    pub fn forget(&mut self, common: &mut Common, peer: Peer) {
        self.need_rings.retain(|&(other, _)| other != peer);
        self.earlier.remove(&peer);
        self.transfers.forget(peer, |outgoing| outgoing.end(common));
    }

    pub fn describe(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        for outgoing in self.transfers.all() {
            let (rank, bytes) = (outgoing.neighbour.rank, outgoing.source.bytes);
            match &outgoing.state {
                State::Called => {
                    writeln!(
                        out,
                        "rank {rank} has not taken up an offer of {bytes} bytes"
                    )
                }
                State::NeedsRing { .. } => {
                    writeln!(out, "{bytes} bytes to rank {rank} wait for a free ring")
                }
                State::Filling(Filling { produced, .. }) => {
                    writeln!(
                        out,
                        "{produced} of {bytes} bytes to rank {rank} are on their way"
                    )
                }
            }?;
        }
        Ok(())
    }
}

/// A ring for a transfer that is offered: one that was borrowed of the peer's, or an own one, if one is free.
fn begin(
    links: &mut Links,
    common: &mut Common,
    (peer, cookie): (Peer, Cookie),
    source: &Memory,
    can_be_copied: bool,
) -> Option<(Filling, Descriptor)> {
    let address = can_be_copied.then_some(source.base as u64);
    let address = address.filter(|_| source.bytes > RING_BYTES);
    if address.is_none()
        && let Some(BorrowedRing { ring, place, .. }) =
            common.borrowed.send(peer, cookie, source.bytes)
    {
        links.counters.borrowed_transfers += 1;
        let filling = Filling::new(ring, place.begin, None, source.bytes, false);
        return Some((filling, Descriptor::Back { place }));
    }
    let wanted = Wanted {
        purpose: match address {
            Some(_) => RingUse::Copied,
            None => RingUse::Offer,
        },
        peer,
        cookie,
        bytes: source.bytes as u64,
    };
    // Without memory for one, the receiver is called, and there may be some when it answers.
    let given = common.rings.take(links, wanted).ok()??;
    let (place, own) = (given.place, Some(given.index));
    let filling = Filling::new(
        given.ring,
        place.begin,
        own,
        source.bytes,
        address.is_some(),
    );
    let beside = match (address, given.spare) {
        (Some(address), _) => BesideRing::Copy(address),
        (None, Some(room)) => BesideRing::Borrow(room),
        (None, None) => BesideRing::Nothing,
    };
    Some((filling, Descriptor::Ring { place, beside }))
}
