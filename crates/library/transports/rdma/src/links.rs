//! A lane's links: which there are, what is posted to them, what the engine is to be told of them.

mod completions;
mod credits;
mod losing;
mod ways;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use weft_transport::{Cookie, Header, Lost, Peer, Refused, Sink};
use weft_verbs::{Completion, PostError, ProtectionDomain, ThreadDomain};

use crate::buffers::Piece;
use crate::counters::Counts;
use crate::frame::{HEAD_BYTES, put_words};
use crate::left::Left;
use crate::link::Link;
use crate::parts::Making;
use crate::receive_queue::ReceiveQueue;
use crate::send_queue::{Posting, SendQueue};
use crate::shared::Shared;

/// So often a peer of which something is awaited is asked whether it is there.
const ASK_EVERY: Duration = Duration::from_secs(1);

/// What a lane has of the adapter, once it needs it.
pub struct Parts {
    making: Arc<Making>,
    receives: Vec<ReceiveQueue>,
    posting: Posting,
    /// Completions that were taken when a link was lost, of others.
    found: Vec<Completion>,
    _unused: Vec<ThreadDomain>,
}

/// One lane's.
pub struct Links {
    pub shared: Arc<Shared>,
    lane: u32,
    /// Queue pairs go before regions that requests on them name, and before what they are made in.
    queues: Vec<Option<SendQueue>>,
    links: Vec<Option<Box<Link>>>,
    by_peer: BTreeMap<Peer, usize>,
    /// By the numbers of queue pairs: those among `queues`, and the links whose frames come.
    by_send: BTreeMap<u32, usize>,
    by_receive: BTreeMap<u32, usize>,
    parts: Option<Parts>,
    /// Links that have something to post, or to say.
    active: Vec<usize>,
    /// Links whose peers the engine takes for busy.
    refused: Vec<usize>,
    /// Peers to which a link was asked for, or that wait for the peer to be ready.
    waiting: BTreeSet<Peer>,
    /// Peers to which there is a link now.
    connected: Vec<Peer>,
    /// Peers to which the engine is to have a link made: what waits here is for them.
    wanted: Vec<Peer>,
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
            queues: Vec::new(),
            links: Vec::new(),
            by_peer: BTreeMap::new(),
            by_send: BTreeMap::new(),
            by_receive: BTreeMap::new(),
            parts: None,
            active: Vec::new(),
            refused: Vec::new(),
            waiting: BTreeSet::new(),
            connected: Vec::new(),
            wanted: Vec::new(),
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
            self.want(peer, link);
            return Err(Refused::Connecting);
        }
        Ok(link)
    }

    /// The link to a peer, open or not.
    pub fn known(&self, peer: Peer) -> Option<usize> {
        self.by_peer.get(&peer).copied()
    }

    /// The lane waits for a link that is not open, and asks for the ways that are missing.
    #[cold]
    fn want(&mut self, peer: Peer, link: usize) {
        self.waiting.insert(peer);
        let there = self.at(link);
        if !there.stands() && !std::mem::replace(&mut there.is_asked, true) {
            self.shared.want(peer, self.lane);
        }
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

    /// A link, the lane's queue pairs, and what is posted with.
    fn all(&mut self, link: usize) -> (&mut Link, &mut [Option<SendQueue>], &mut Parts) {
        let there = self.links[link].as_mut().expect("a link of the lane's");
        let parts = self.parts.as_mut().expect("a lane with a link has parts");
        (there, &mut self.queues, parts)
    }

    /// What long messages of the lane's are registered in.
    pub fn protection(&self) -> ProtectionDomain {
        let parts = self.parts.as_ref().expect("a lane with a link has parts");
        parts.making.protection.clone()
    }

    /// A piece for a packet of so many bytes, if the link has a place.
    pub fn place(&mut self, link: usize, bytes: usize) -> Option<Piece> {
        let (there, queues, parts) = self.all(link);
        let has_place = there.has_place(HEAD_BYTES + bytes, queues);
        if !has_place || !parts.posting.has_room() {
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
        let (there, queues, parts) = self.all(link);
        let frame = parts.posting.sends.bytes(piece, HEAD_BYTES + bytes);
        put_words(header.0, frame);
        fill(&mut frame[HEAD_BYTES..]);
        let full = there.push_packet(piece, HEAD_BYTES + bytes, queues);
        if let Some(queue) = full {
            self.post(queue);
        }
        if gathers {
            self.activate(link);
        } else {
            self.pump_link(link);
        }
    }

    /// Posts what was pushed to a queue pair.
    fn post(&mut self, queue: usize) {
        let (Some(there), Some(parts)) = (&mut self.queues[queue], &mut self.parts) else {
            return;
        };
        if let Err(refused) = there.post(&mut parts.posting) {
            self.refused_to_post(queue, &refused);
        }
    }

    #[cold]
    fn refused_to_post(&mut self, queue: usize, refused: &PostError) {
        for link in 0..self.links.len() {
            if let Some(there) = &self.links[link]
                && there.has_queue(queue)
            {
                let peer = there.peer;
                self.failed(peer, &refused.error);
            }
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
                there.probe_rest(&mut self.queues);
                self.post_all(link);
                self.post_pairs(link);
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
            self.pump_link(link);
        }
    }

    /// Posts what a link has. If something had no room, the link stays active.
    fn pump_link(&mut self, link: usize) {
        while let Some(there) = &mut self.links[link]
            && let Some(parts) = &mut self.parts
        {
            let (peer, sent) = (there.peer, &mut self.sent);
            let is_sent = |cookie| sent.push((peer, cookie));
            match there.pump(&mut self.queues, &mut parts.posting, is_sent) {
                Some(full) => self.post(full),
                None => break,
            }
        }
        self.post_all(link);
        self.pump_credits(link);
        let there = self.links[link].as_ref();
        if there.is_some_and(|there| there.has_more()) {
            self.activate(link);
        }
    }

    /// Posts the credits that a link owes and that no frame has taken along.
    fn pump_credits(&mut self, link: usize) {
        let (Some(there), Some(parts)) = (&mut self.links[link], &self.parts) else {
            return;
        };
        if there.owes {
            there.pump_credits(&mut self.queues, &parts.posting);
            self.post_pairs(link);
        }
    }

    /// Posts what was pushed to a link's own queue pairs.
    fn post_pairs(&mut self, link: usize) {
        let pairs = self.links[link].as_ref().map(|there| there.pairs());
        pairs
            .into_iter()
            .flatten()
            .for_each(|queue| self.post(queue));
    }

    /// Posts what was pushed to the queue pairs of a link, as long as it is there.
    fn post_all(&mut self, link: usize) {
        for way in 0.. {
            let Some(there) = &self.links[link] else {
                return;
            };
            match there.queue(way) {
                Some(queue) => self.post(queue),
                None if way >= there.ways() => return,
                None => {}
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
                        receives: Vec::new(),
                        posting: Posting::new(memory.sends),
                        found: Vec::new(),
                        _unused: memory.unused,
                    });
                }
                Left::Queue(queue) => self.add_receives(queue),
                Left::Link(made) => self.attach(made),
                Left::Send { pair, host } => {
                    self.counts().send_queue_pairs.add(1);
                    self.by_send.insert(pair.number(), self.queues.len());
                    self.queues.push(Some(SendQueue::to_host(pair, host)));
                }
                Left::Gone(number) => {
                    if let Some(&queue) = self.by_send.get(&number) {
                        self.drop_queue(queue);
                    }
                }
                Left::Comes {
                    peer,
                    pools,
                    receive,
                } => {
                    if let Some(link) = self.link_to(peer, &pools) {
                        self.by_receive.insert(receive, link);
                    }
                }
                Left::Reached {
                    peer,
                    pools,
                    send,
                    queues,
                } => self.reached(peer, &pools, send, &queues),
            }
        }
        is_any
    }

    fn add_receives(&mut self, queue: ReceiveQueue) {
        let counts = self.counts();
        counts.shared_receive_queues.add(1);
        counts.buffers.add(queue.count() as u64);
        counts.buffer_bytes.add(queue.buffer_bytes() as u64);
        self.parts().receives.push(queue);
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
                let queue = there.probe(&mut self.queues);
                queue.into_iter().for_each(|queue| self.post(queue));
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
        for peer in self.wanted.drain(..) {
            sink.connect(peer);
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
        has_pieces && there.is_some_and(|there| there.has_room(&self.queues))
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
            || !(self.connected.is_empty() && self.wanted.is_empty() && self.untold.is_empty())
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
