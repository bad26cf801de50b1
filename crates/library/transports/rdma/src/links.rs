//! A lane's links: which there are, what is posted to them, what the engine is to be told of them.

mod completions;
mod credits;
mod gathering;
mod losing;
mod paths;
mod ways;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use weft_transport::links::Book;
use weft_transport::{BulkDescriptor, Cookie, Header, Peer, Refused, Sink};
use weft_verbs::{Completion, PostError, ProtectionDomain, ThreadDomain};

use crate::buffers::BufferId;
use crate::bulk::receiving::{Next, Reader};
use crate::counters::Counts;
use crate::frame::{HEAD_BYTES, Malformed, put_words};
use crate::left::Left;
use crate::link::Link;
use crate::parts::Making;
use crate::path::Path;
use crate::receive_queue::ReceiveQueue;
use crate::send_queue::{Posting, SendQueue};
use crate::shared::Shared;
use crate::user_memory::Target;

/// So often a peer of which something is awaited is asked whether it is there, and eight times in the time-out at least.
const ASK_EVERY: Duration = Duration::from_secs(1);

/// Of a path that does not come to stand frames go by another one that does after so long.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a lane has of an adapter, once it needs it.
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
    /// By the names of queue pairs ([`name`]): those among `queues`, and the links whose frames come.
    by_send: BTreeMap<u64, usize>,
    by_receive: BTreeMap<u64, usize>,
    /// By rail.
    parts: Box<[Option<Parts>]>,
    /// Queue pairs (RC) that have failed: each goes once what has come by it is taken.
    retired: Vec<usize>,
    /// Links that have something to post, or to say.
    active: Vec<usize>,
    /// Links whose peers the engine takes for busy.
    refused: Vec<usize>,
    book: Book,
    asked: Instant,
}

/// Names a queue pair: adapters number theirs each by itself.
#[inline]
fn name(rail: usize, pair: u32) -> u64 {
    (rail as u64) << 32 | u64::from(pair)
}

impl Links {
    pub fn new(shared: Arc<Shared>, lane: u32) -> Links {
        let parts = shared.rails.iter().map(|_| None).collect();
        Links {
            shared,
            lane,
            queues: Vec::new(),
            links: Vec::new(),
            by_peer: BTreeMap::new(),
            by_send: BTreeMap::new(),
            by_receive: BTreeMap::new(),
            parts,
            retired: Vec::new(),
            active: Vec::new(),
            refused: Vec::new(),
            book: Book::default(),
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
        self.book.await_link(peer);
        let there = self.at(link);
        let is_new = !there.stands() && !there.path.is_asked;
        if is_new {
            there.path.is_asked = true;
            for path in &mut there.others {
                path.is_asked = true;
            }
            self.shared.want(peer, self.lane);
        }
    }

    #[cold]
    fn no_link(&mut self, peer: Peer) -> Refused {
        let own = self.shared.identity.rank;
        assert_ne!(peer, own, "a message to itself came to a transport");
        if self.book.is_lost(peer) {
            return Refused::Lost;
        }
        if self.book.await_link(peer) {
            self.shared.want(peer, self.lane);
        }
        Refused::Connecting
    }

    #[inline]
    pub fn at(&mut self, link: usize) -> &mut Link {
        self.links[link].as_mut().expect("a link of the lane's")
    }

    /// What the lane has of a rail by which a link of its goes.
    fn parts(&mut self, rail: usize) -> &mut Parts {
        let parts = self.parts[rail].as_mut();
        parts.expect("a lane has parts of a rail that it has a link by")
    }

    /// A link, the lane's queue pairs, and what is posted with by its first path.
    fn all(&mut self, link: usize) -> (&mut Link, &mut [Option<SendQueue>], &mut Parts) {
        let there = self.links[link].as_mut().expect("a link of the lane's");
        let parts = self.parts[there.path.rail].as_mut();
        let parts = parts.expect("a lane has parts of a rail that it has a link by");
        (there, &mut self.queues, parts)
    }

    /// What a link's long messages are registered in: by the places of its paths, that of frames first; for those that are long enough by
    /// others as well.
    pub fn domains(&self, link: usize, is_striped: bool) -> Vec<(usize, ProtectionDomain)> {
        let there = self.links[link].as_ref().expect("a link of the lane's");
        let paths = there.paths().enumerate();
        let used = paths.filter(|(number, path)| *number == 0 || is_striped && !path.is_down);
        let domain = |(_, path): (usize, &Path)| {
            let parts = self.parts[path.rail].as_ref()?;
            Some((path.place, parts.making.protection.clone()))
        };
        used.filter_map(domain).collect()
    }

    /// Takes up a long message of the peer's.
    pub fn take_up(
        &mut self,
        link: usize,
        descriptor: BulkDescriptor,
        bytes: usize,
        target: Target,
        cookie: Cookie,
    ) -> Result<Next, Malformed> {
        let (there, _, parts) = self.all(link);
        let place = there.path.place;
        let home = Reader {
            place,
            home: place,
            shares: false,
            takes_stripes: true,
            domain: &parts.making.protection,
        };
        let alive = there.alive();
        let receiving = &mut there.receiving;
        receiving.take_up(descriptor, bytes, target, cookie, alive, &home)
    }

    /// A piece for a packet of so many bytes, if the link has a place.
    pub fn place(&mut self, link: usize, bytes: usize) -> Option<BufferId> {
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
        piece: BufferId,
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
        if !gathers {
            self.pump_link(link);
        } else if self.links[link].is_some() {
            self.activate(link);
        }
    }

    /// Posts what was pushed to a queue pair.
    fn post(&mut self, queue: usize) {
        // Most often only one of a link's ways has something.
        let Some(there) = self.queues[queue].as_mut().filter(|it| it.has_waiting()) else {
            return;
        };
        let Some(parts) = &mut self.parts[there.rail] else {
            return;
        };
        if let Err(refused) = there.post(&mut parts.posting) {
            self.refused_to_post(queue, &refused);
        }
    }

    #[cold]
    fn refused_to_post(&mut self, queue: usize, refused: &PostError) {
        if self.queues[queue]
            .as_ref()
            .is_some_and(|there| there.is_retired)
        {
            return;
        }
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
        let rail = self.at(link).path.rail;
        if !self.parts(rail).posting.has_room() {
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
            && let Some(parts) = &mut self.parts[there.path.rail]
        {
            let (peer, book) = (there.peer, &mut self.book);
            let is_sent = |cookie| book.sent(peer, cookie);
            let domain = &parts.making.protection;
            match there.pump(&mut self.queues, &mut parts.posting, domain, is_sent) {
                Some(full) => self.post(full),
                None => break,
            }
        }
        self.post_all(link);
        if let Some(there) = &self.links[link]
            && !there.others.is_empty()
            && there.receiving.has_waiting()
        {
            self.pump_stripes(link);
        }
        self.pump_credits(link);
        let there = self.links[link].as_ref();
        if there.is_some_and(|there| there.has_more()) {
            self.activate(link);
        }
    }

    /// Posts reads of long messages by the other paths of a link.
    fn pump_stripes(&mut self, link: usize) {
        let mut other = 0;
        while let Some(there) = &mut self.links[link]
            && let Some(path) = there.others.get(other)
        {
            let (rail, last) = (path.rail, path.last().filter(|_| !path.is_down));
            let (Some((queue, _)), Some(parts)) = (last, &mut self.parts[rail]) else {
                other += 1;
                continue;
            };
            let (posting, domain) = (&parts.posting, &parts.making.protection);
            let full = there.pump_reads(other, &mut self.queues, posting, domain);
            self.post(queue);
            if full.is_none() {
                other += 1;
            }
        }
    }

    /// Posts the credits that a link owes and that no frame has taken along.
    fn pump_credits(&mut self, link: usize) {
        let Some(there) = &mut self.links[link] else {
            return;
        };
        let Some(parts) = &self.parts[there.path.rail] else {
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
        for (rail, left) in left {
            match left {
                Left::Parts(making, memory) => {
                    self.parts[rail] = Some(Parts {
                        making,
                        receives: Vec::new(),
                        posting: Posting::new(memory.sends),
                        found: Vec::new(),
                        _unused: memory.unused,
                    });
                }
                Left::Queue(queue) => self.add_receives(rail, queue),
                Left::Link(made, routes) => self.attach(rail, made, &routes),
                Left::Send { pair, host } => {
                    self.counts().send_queue_pairs.add(1);
                    let name = name(rail, pair.number());
                    self.by_send.insert(name, self.queues.len());
                    self.queues.push(Some(SendQueue::to_host(rail, pair, host)));
                }
                Left::Gone(number) => {
                    if let Some(&queue) = self.by_send.get(&name(rail, number)) {
                        self.drop_queue(queue);
                    }
                }
                Left::Comes {
                    peer,
                    routes,
                    receive,
                } => {
                    if let Some(link) = self.link_to(peer, &routes) {
                        self.by_receive.insert(name(rail, receive), link);
                    }
                }
                Left::Reached {
                    peer,
                    routes,
                    send,
                    queues,
                } => self.reached(rail, peer, &routes, send, &queues),
                Left::NoWay { peer, routes, why } => {
                    if let Some(link) = self.link_to(peer, &routes) {
                        self.path_failed(link, rail, |_| (why, true), true);
                    }
                }
                Left::Down => self.rail_down(rail),
            }
        }
        is_any
    }

    fn add_receives(&mut self, rail: usize, queue: ReceiveQueue) {
        let counts = self.counts();
        counts.shared_receive_queues.add(1);
        counts.buffers.add(queue.count() as u64);
        counts.buffer_bytes.add(queue.buffer_bytes() as u64);
        self.parts(rail).receives.push(queue);
    }

    /// Asks the peers of which something is awaited whether they are there. One that has yet to end its part of the handshake is not
    /// asked: its queue pair answers once it calls MPI.
    pub fn ask(&mut self, now: Instant) {
        let timeout = self.shared.identity.timeout.unwrap_or(Duration::MAX);
        if now.duration_since(self.asked) < ASK_EVERY.min(timeout / 8) {
            return;
        }
        self.asked = now;
        self.shared.look_at_ports();
        self.look_after_paths(now);
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
        let (mut requests, mut posts) = (0, 0);
        for parts in self.parts.iter().flatten() {
            requests += parts.posting.requests;
            posts += parts.posting.posts;
        }
        let counts = self.counts();
        counts.requests.set(requests);
        counts.posts.set(posts);
    }

    /// Tells the engine what has become of links and transfers.
    pub fn tell(&mut self, sink: &mut impl Sink) -> bool {
        let mut moved = false;
        if !self.refused.is_empty() {
            moved |= self.tell_room(sink);
        }
        moved | self.book.tell(sink)
    }

    fn has_room(&self, link: usize) -> bool {
        let has_room = |there: &Link| {
            let parts = self.parts[there.path.rail].as_ref();
            let has_pieces = parts.is_some_and(|parts| parts.posting.has_room());
            has_pieces && there.has_room(&self.queues)
        };
        self.links[link].as_deref().is_some_and(has_room)
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
        for parts in self.parts.iter_mut().flatten() {
            // Without an event, the sleep ends by its time-out.
            let _ = parts.making.completions.arm(false);
            is_any |= !parts.found.is_empty() || parts.look();
        }
        is_any
            || self.has_endings()
            || !self.active.is_empty()
            || self.book.has_news()
            || self.refused.iter().any(|&link| self.has_room(link))
    }

    /// Forgets that a transfer is complete.
    pub fn forget_sent(&mut self, cookie: Cookie) {
        self.book.forget_sent(cookie);
    }

    pub fn complete(&mut self, peer: Peer, received: Option<Cookie>) {
        let received = received.into_iter();
        received.for_each(|cookie| self.book.received(peer, cookie));
    }

    /// One line for each peer with something pending.
    pub fn describe(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        for peer in self.book.awaited() {
            writeln!(out, "  a link to rank {peer} is being made")?;
        }
        self.links
            .iter()
            .flatten()
            .try_for_each(|link| link.describe(out))
    }
}
