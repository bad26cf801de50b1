//! A lane's links: which there are, what is posted to them, what the engine is to be told of them.

mod completions;
mod losing;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use weft_transport::{Cookie, Header, Lost, Peer, Refused, Sink};
use weft_verbs::{Completion, ProtectionDomain, ReceiveList, SendList, ThreadDomain};

use crate::buffers::{Piece, RECEIVE_PIECES, Receives};
use crate::counters::Counts;
use crate::frame::{HEAD_BYTES, Kind, put_words};
use crate::link::{LIST, Link, Posting};
use crate::parts::Making;
use crate::setup::Made;
use crate::shared::{Left, Shared};

/// So often a peer of which something is awaited is asked whether it is there.
const ASK_EVERY: Duration = Duration::from_secs(1);

/// What a lane has of the adapter, once it needs it.
pub struct Parts {
    making: Arc<Making>,
    receives: Receives,
    posting: Posting,
    /// Buffers to be posted again.
    used: Vec<usize>,
    again: ReceiveList,
    /// Completions that were taken when a link was lost, of others.
    found: Vec<Completion>,
    _unused: Vec<ThreadDomain>,
}

/// One lane's.
pub struct Links {
    pub shared: Arc<Shared>,
    lane: u32,
    /// Links go before what they are made in.
    links: Vec<Option<Box<Link>>>,
    by_peer: BTreeMap<Peer, usize>,
    by_pair: BTreeMap<u32, usize>,
    parts: Option<Parts>,
    /// Links that have something to post, or to say.
    active: Vec<usize>,
    /// Links whose peers the engine takes for busy.
    refused: Vec<usize>,
    /// Peers to which a link was asked for, or that wait for the peer to be ready.
    waiting: BTreeSet<Peer>,
    /// Peers to which there is a link now.
    connected: Vec<Peer>,
    lost: BTreeMap<Peer, Lost>,
    untold: Vec<(Peer, Lost)>,
    endings_seen: usize,
    /// Transfers that are complete, by the peer whose loss takes that back.
    sent: Vec<(Peer, Cookie)>,
    received: Vec<(Peer, Cookie)>,
    asked: Instant,
}

impl Links {
    pub fn new(shared: Arc<Shared>, lane: u32) -> Links {
        Links {
            shared,
            lane,
            links: Vec::new(),
            by_peer: BTreeMap::new(),
            by_pair: BTreeMap::new(),
            parts: None,
            active: Vec::new(),
            refused: Vec::new(),
            waiting: BTreeSet::new(),
            connected: Vec::new(),
            lost: BTreeMap::new(),
            untold: Vec::new(),
            endings_seen: 0,
            sent: Vec::new(),
            received: Vec::new(),
            asked: Instant::now(),
        }
    }

    fn counts(&self) -> &Counts {
        &self.shared.lanes[self.lane as usize].counts
    }

    /// The link to a peer. Without one, one is asked for.
    #[inline]
    pub fn reach(&mut self, peer: Peer) -> Result<usize, Refused> {
        let Some(&link) = self.by_peer.get(&peer) else {
            return Err(self.no_link(peer));
        };
        let there = self.at(link);
        if there.has_left {
            self.lose_left(peer);
            return Err(Refused::Lost);
        }
        if !there.is_open {
            self.waiting.insert(peer);
            return Err(Refused::Connecting);
        }
        Ok(link)
    }

    #[cold]
    fn no_link(&mut self, peer: Peer) -> Refused {
        let own = self.shared.identity.rank;
        assert_ne!(peer, own, "a message to itself came to a transport");
        if self.lost.contains_key(&peer) {
            return Refused::Lost;
        }
        if self.waiting.insert(peer) {
            self.shared.want(peer, self.lane);
        }
        Refused::Connecting
    }

    #[inline]
    pub fn at(&mut self, link: usize) -> &mut Link {
        self.links[link].as_mut().expect("a link of the lane's")
    }

    fn parts(&mut self) -> &mut Parts {
        self.parts.as_mut().expect("a lane with a link has parts")
    }

    /// A link and what it posts with.
    fn both(&mut self, link: usize) -> (&mut Link, &mut Parts) {
        let there = self.links[link].as_mut().expect("a link of the lane's");
        let parts = self.parts.as_mut().expect("a lane with a link has parts");
        (there, parts)
    }

    /// What long messages of the lane's are registered in.
    pub fn protection(&self) -> ProtectionDomain {
        let parts = self.parts.as_ref().expect("a lane with a link has parts");
        parts.making.protection.clone()
    }

    /// A piece for a packet of so many bytes, if the link has a place.
    pub fn place(&mut self, link: usize, bytes: usize) -> Option<Piece> {
        let (there, parts) = self.both(link);
        if !there.has_place() || !parts.posting.has_room() {
            return None;
        }
        parts.posting.sends.take(HEAD_BYTES + bytes)
    }

    /// Sends a packet from a piece: now, or with what else is gathered.
    pub fn send(
        &mut self,
        link: usize,
        piece: Piece,
        header: Header,
        bytes: usize,
        gathers: bool,
        fill: impl FnOnce(&mut [u8]),
    ) {
        let (there, parts) = self.both(link);
        let frame = parts.posting.sends.bytes(piece, HEAD_BYTES + bytes);
        put_words(header.0, frame);
        fill(&mut frame[HEAD_BYTES..]);
        let is_full = there.push(Kind::Packet, piece, HEAD_BYTES + bytes);
        if gathers && !is_full {
            self.activate(link);
        } else {
            self.post(link);
        }
    }

    fn post(&mut self, link: usize) {
        let (there, parts) = self.both(link);
        if let Err(refused) = there.post(&mut parts.posting) {
            let peer = there.peer;
            self.failed(peer, &refused.error);
        }
    }

    /// The link has something to post at the turn's end, or once there is room.
    pub fn activate(&mut self, link: usize) {
        let there = self.at(link);
        if !std::mem::replace(&mut there.is_active, true) {
            self.active.push(link);
        }
    }

    /// A peer was told to be busy: it is told when it is not.
    pub fn refuse(&mut self, link: usize) {
        if !std::mem::replace(&mut self.at(link).is_refused, true) {
            self.refused.push(link);
        }
        if !self.parts().posting.has_room() {
            self.sweep();
        }
    }

    /// Has the adapter say of all links what it has done: pieces that were sent are free, and nobody knows.
    #[cold]
    fn sweep(&mut self) {
        for link in 0..self.links.len() {
            if let Some(there) = &mut self.links[link] {
                there.probe_rest();
                self.post(link);
            }
        }
    }

    /// Posts what was gathered, and what had no room. What is still there stays active.
    pub fn pump(&mut self) {
        for link in std::mem::take(&mut self.active) {
            let Some(there) = &mut self.links[link] else {
                continue;
            };
            there.is_active = false;
            let Some(parts) = &mut self.parts else {
                continue;
            };
            let (peer, sent) = (there.peer, &mut self.sent);
            let pumped = there.pump(&mut parts.posting, |cookie| sent.push((peer, cookie)));
            let has_queued = there.has_queued();
            match pumped {
                Err(refused) => self.failed(peer, &refused.error),
                Ok(()) if has_queued => self.activate(link),
                Ok(()) => {}
            }
        }
    }

    #[inline]
    pub fn has_arrivals(&self) -> bool {
        self.shared.is_signalled(self.lane)
    }

    /// Takes what others have left for the lane.
    #[cold]
    pub fn take_left(&mut self) -> bool {
        self.shared.take_signal(self.lane);
        let left = self.shared.take_left(self.lane);
        let is_any = !left.is_empty();
        for left in left {
            match left {
                Left::Parts(making, memory) => {
                    self.parts = Some(Parts {
                        making,
                        receives: memory.receives,
                        posting: Posting {
                            sends: memory.sends,
                            list: SendList::with_room(LIST),
                            under_way: 0,
                            posts: 0,
                            requests: 0,
                            read_bytes: 0,
                        },
                        used: Vec::new(),
                        again: ReceiveList::with_room(RECEIVE_PIECES),
                        found: Vec::new(),
                        _unused: memory.unused,
                    });
                }
                Left::Link(made) => self.attach(made),
            }
        }
        is_any
    }

    fn attach(&mut self, made: Made) {
        let peer = made.name.0;
        if self.lost.contains_key(&peer) || self.by_peer.contains_key(&peer) {
            return;
        }
        let number = self.links.len();
        self.by_pair.insert(made.pair.number(), number);
        self.by_peer.insert(peer, number);
        let most_bytes = self.shared.adapter.most_bytes;
        let link = Link::new(made.pair, peer, made.is_open, most_bytes);
        self.links.push(Some(Box::new(link)));
        let counts = self.counts();
        counts.links.add(1);
        if made.is_open {
            self.at(number).say(Kind::Ready, [0; 2]);
            self.activate(number);
            self.opened(peer);
        }
    }

    /// A link can be sent on.
    fn opened(&mut self, peer: Peer) {
        if self.waiting.remove(&peer) {
            self.connected.push(peer);
        }
    }

    /// Asks the peers of which something is awaited whether they are there. One that has yet to end its part of the handshake is not
    /// asked: its queue pair answers once it calls MPI.
    pub fn ask(&mut self, now: Instant) {
        if now.duration_since(self.asked) < ASK_EVERY {
            return;
        }
        self.asked = now;
        let expected = self.shared.expected();
        for link in 0..self.links.len() {
            let Some(there) = &mut self.links[link] else {
                continue;
            };
            let is_asked = there.is_open && expected.contains(&there.peer);
            if is_asked && !there.has_left {
                there.probe();
                self.post(link);
            }
        }
    }

    /// Has others see what was counted.
    pub fn count(&self) {
        let Some(parts) = &self.parts else {
            return;
        };
        let counts = self.counts();
        counts.requests.set(parts.posting.requests);
        counts.posts.set(parts.posting.posts);
        counts.read_bytes.set(parts.posting.read_bytes);
    }

    /// Tells the engine what has become of links and transfers.
    pub fn tell(&mut self, sink: &mut impl Sink) -> bool {
        let mut moved = false;
        if !self.refused.is_empty() {
            moved |= self.tell_room(sink);
        }
        for (_, cookie) in self.sent.drain(..) {
            sink.sent(cookie);
            moved = true;
        }
        for (_, cookie) in self.received.drain(..) {
            sink.received(cookie);
            moved = true;
        }
        for peer in self.connected.drain(..) {
            sink.writable(peer);
            moved = true;
        }
        for (peer, why) in self.untold.drain(..) {
            sink.lost(peer, &why);
            moved = true;
        }
        moved
    }

    fn has_room(&self, link: usize) -> bool {
        let parts = self.parts.as_ref();
        let has_pieces = parts.is_some_and(|parts| parts.posting.has_room());
        let there = self.links[link].as_ref();
        has_pieces && there.is_some_and(|there| there.has_room())
    }

    fn tell_room(&mut self, sink: &mut impl Sink) -> bool {
        let before = self.refused.len();
        for link in std::mem::take(&mut self.refused) {
            if !self.has_room(link) {
                self.refused.push(link);
            } else {
                let there = self.at(link);
                there.is_refused = false;
                sink.writable(there.peer);
            }
        }
        self.refused.len() != before
    }

    /// Before a sleep: whether something is there already.
    pub fn arm(&mut self) -> bool {
        let is_armed = self.shared.arm();
        let mut is_any = is_armed || self.shared.is_signalled(self.lane);
        if let Some(parts) = &mut self.parts {
            // Without an event, the sleep ends by its time-out.
            let _ = parts.making.completions.arm(false);
            is_any |= !parts.found.is_empty() || parts.look();
        }
        is_any
            || self.shared.endings.count() != self.endings_seen
            || !self.active.is_empty()
            || !(self.sent.is_empty() && self.received.is_empty())
            || !(self.connected.is_empty() && self.untold.is_empty())
            || self.refused.iter().any(|&link| self.has_room(link))
    }

    /// Forgets that a transfer is complete.
    pub fn forget_sent(&mut self, cookie: Cookie) {
        self.sent.retain(|&(_, sent)| sent != cookie);
    }

    pub fn complete(&mut self, peer: Peer, received: Option<Cookie>) {
        self.received.extend(received.map(|cookie| (peer, cookie)));
    }

    /// One line for each peer with something pending.
    pub fn describe(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        for peer in &self.waiting {
            writeln!(out, "  a link to rank {peer} is being made")?;
        }
        self.links
            .iter()
            .flatten()
            .try_for_each(|link| link.describe(out))
    }
}
