//! The sender's side of bulk transfers.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use weft_memory::Memory;
use weft_sync::atomic::Ordering;
use weft_transport::{BulkDescriptor, Cookie, Peer};

use super::choice::{self, Choice, Way};
use super::common::Common;
use super::control::{Call, Control, Descriptor, TransferId};
use super::facts::Facts;
use super::rings::{Purpose, Wanted};
use super::transfers::{Transfer, Transfers};
use super::ways::copy::CopyWay;
use super::ways::ring::{Filling, RingWay};
use super::ways::{LongWay, Message, Part, Step};
use crate::links::Links;
use crate::peers::{Neighbour, lost};

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

    fn part(&mut self) -> Option<&mut dyn Part> {
        match &mut self.state {
            State::Called | State::NeedsRing { .. } => None,
            State::Filling(filling) => Some(filling),
        }
    }

    fn step(&mut self, links: &mut Links, budget: usize) -> Step {
        match &mut self.state {
            State::Called | State::NeedsRing { .. } => Step::Idle,
            State::Filling(filling) => filling.step(&self.source, &self.neighbour, links, budget),
        }
    }

    /// A sender's part is never stuck.
    fn change_way(&mut self, _: TransferId, _: &mut Common) {}

    fn finish(self, common: &mut Common) {
        self.abandon(common);
    }

    fn abandon(self, common: &mut Common) {
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
        if source.bytes == 0 {
            self.choice = None;
            self.transfers.report(neighbour.rank, cookie);
            return Descriptor::Nothing.emit();
        }
        let facts = self.facts(links, common, &neighbour, &source);
        let choice = choose(links, facts);
        self.choice = Some(choice);
        let transfer = self.transfers.name();
        let message = Message {
            peer: neighbour.rank,
            cookie,
            source: &source,
            transfer,
        };
        let (state, offered) = offer(links, common, choice.way, &message);
        let outgoing = Outgoing {
            neighbour,
            source,
            cookie,
            state,
        };
        if let State::Filling(_) = outgoing.state {
            self.transfers.activate(transfer);
            // The data follow when the receiver has been told, so that it starts early.
            self.begun = true;
        }
        self.transfers.enter(transfer, outgoing);
        offered.emit()
    }

    /// What is known of a message that is the next to `neighbour`.
    fn facts(
        &mut self,
        links: &Links,
        common: &Common,
        neighbour: &Neighbour,
        source: &Memory,
    ) -> Facts {
        let count = self.earlier.entry(neighbour.rank).or_default();
        let earlier = *count;
        *count = earlier.saturating_add(1);
        let bytes = source.bytes as u64;
        Facts {
            bytes,
            pair: links.pair(neighbour),
            is_contiguous: source.layout.is_none(),
            earlier,
            lacking: common.rings.lacking(bytes),
            shares_cores: links.shared.shares_cores.load(Ordering::Relaxed),
        }
    }

    /// The transfer of that name to `peer`, in state `Called`.
    fn called(&mut self, peer: Peer, id: TransferId) -> Option<&mut Outgoing> {
        let outgoing = self.transfers.named(peer, id);
        outgoing.filter(|outgoing| matches!(outgoing.state, State::Called))
    }

    pub fn cancel(&mut self, common: &mut Common, peer: Peer, cookie: Cookie) {
        self.transfers.cancel(common, peer, cookie);
        // Even if all is in the ring and the table knows nothing of it any more.
        common.rings.cancel(peer, cookie);
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
        self.transfers.pop_finished()
    }

    /// Moves up to about `budget` bytes.
    pub fn go_on(&mut self, links: &mut Links, common: &mut Common, budget: usize) -> bool {
        self.begun = false;
        let moved = self.hand_out_rings(links, common);
        moved | self.transfers.go_on(links, common, budget)
    }

    /// Gives rings to answered calls, in order, as far as there are any.
    fn hand_out_rings(&mut self, links: &mut Links, common: &mut Common) -> bool {
        let mut moved = false;
        while let Some(&(peer, id)) = self.need_rings.front() {
            match self.hand_out_ring(links, common, peer, id) {
                Some(handed) => moved |= handed,
                None => break,
            }
            self.need_rings.pop_front();
        }
        moved
    }

    /// Gives a ring to one; whether it has one now. None if it has to wait.
    fn hand_out_ring(
        &mut self,
        links: &mut Links,
        common: &mut Common,
        peer: Peer,
        id: TransferId,
    ) -> Option<bool> {
        let Some(outgoing) = self.transfers.named(peer, id) else {
            return Some(false);
        };
        let State::NeedsRing { receiver } = outgoing.state else {
            return Some(false);
        };
        let wanted = Wanted {
            purpose: Purpose::Answer,
            peer,
            cookie: outgoing.cookie,
            bytes: outgoing.source.bytes as u64,
        };
        let open = match common.rings.open(links, wanted) {
            Ok(open) => open?,
            // Those in use may be others' for as long as they like: no one is certain to come back.
            Err(error) => {
                let why = format!("no memory for data to it: {error}");
                links.lose(lost(peer, &why), peer);
                return Some(false);
            }
        };
        let place = open.place;
        outgoing.state = State::Filling(Filling::new(open));
        links.counters.ring_transfers += 1;
        common.post(peer, Control::Ring { receiver, place });
        self.transfers.activate(id);
        links.wake_sleeper();
        Some(true)
    }

    /// Before a sleep. True if there is something to do already.
    pub fn wait(&mut self) -> bool {
        // Answered calls without a ring wait for rings, all of which are in use, for their receivers to take
        // something out; an idle turn now and then is enough, as those receivers are at it.
        self.transfers.wait() | !self.need_rings.is_empty()
    }

    pub fn end_wait(&mut self) {
        self.transfers.end_wait();
    }

    pub fn forget(&mut self, common: &mut Common, peer: Peer) {
        self.need_rings.retain(|&(other, _)| other != peer);
        self.earlier.remove(&peer);
        self.transfers.forget(common, peer);
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

/// The way that costs less, if none was asked for.
fn choose(links: &Links, facts: Facts) -> Choice {
    match links.shared.options.always_copies && facts.can_be_copied() {
        true => Choice {
            way: Way::Copy,
            facts,
        },
        false => choice::choose(facts),
    }
}

/// Begins a transfer the way that was chosen, or by a call to which the receiver asks for a ring.
fn offer(
    links: &mut Links,
    common: &mut Common,
    way: Way,
    message: &Message<'_>,
) -> (State, Descriptor) {
    let offered = match way {
        Way::Copy => CopyWay::offer(links, common, message)
            .map(|((), call)| (State::Called, Descriptor::Call(call))),
        Way::Ring => RingWay::offer(links, common, message)
            .map(|(filling, terms)| (State::Filling(filling), Descriptor::Ring(terms))),
    };
    offered.unwrap_or_else(|| {
        let call = Call {
            transfer: message.transfer,
            address: None,
        };
        (State::Called, Descriptor::Call(call))
    })
}
