//! Connections to peers, and sending on them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use weft_sync::atomic::Ordering;
use weft_sync::cells::{INLINE_BYTES, Malformed, Parts, Producer, Pushed};
use weft_transport::{Lost, Peer, Refused, Sink};

use crate::base::GIVEN_UP;
use crate::blocks::{Blocks, LONG_ADDED_BYTES, LONG_BLOCKS};
use crate::connecting::{Answer, Made, Need, Want};
use crate::endings::{End, Ending};
use crate::layout::{
    EAGER_BYTES, LINK_BYTES, RING_BYTES, RING_CELLS, SHORT_BLOCK_BYTES, SHORT_LINK_BYTES,
};
use crate::peers::{Neighbour, lost};
use crate::quarantine::Quarantine;
use crate::segment::Mapping;
use crate::shared::Shared;
use crate::table::Table;

/// What an endpoint has done and holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub notifications_sent: u64,
    pub notifications_taken: u64,
    /// Rings that are looked at in each turn.
    pub hot_rings: u64,
    pub ring_transfers: u64,
    /// Those of them that went through a ring borrowed of the receiver.
    pub borrowed_transfers: u64,
    pub copy_transfers: u64,
    /// Chunks copied from process to process by this side, as receiver and as sender.
    pub chunks_read: u64,
    pub chunks_written: u64,
    /// Links made to peers.
    pub links: u64,
    /// Bytes of this process's segment taken for links, for what makes blocks long, and for bulk data.
    pub link_bytes: u64,
    pub block_bytes: u64,
    pub bulk_bytes: u64,
    /// Bytes of it that lost peers may still use.
    pub quarantined_bytes: u64,
}

/// A ring to a peer. The mapping is dropped after the producer that uses it.
struct Outbound {
    producer: Producer,
    exchange: Blocks,
    neighbour: Arc<Neighbour>,
    /// Where the link lies in this process's segment.
    offset: u64,
    _mapping: Arc<Mapping>,
}

/// A peer that a packet was refused for.
struct Blocked {
    peer: Peer,
    /// Of the longest packet refused.
    bytes: usize,
}

/// A lane's connections to peers, and what is known of lost ones.
pub struct Links {
    pub shared: Arc<Shared>,
    pub lane: u32,
    pub counters: Counters,
    open: Table<Outbound>,
    /// What came in blocks from peers that nothing was sent to yet.
    early: Vec<(Peer, Blocks)>,
    blocked: Vec<Blocked>,
    /// Peers without a connection of which something is awaited.
    expected: BTreeMap<Peer, Arc<Neighbour>>,
    /// What this lane has asked for and has not got (`connecting`).
    wants: Vec<(Peer, Need)>,
    /// Peers for which the engine is to be asked to have wants fulfilled.
    to_connect: Vec<Peer>,
    /// Peers for which something was made that was refused before.
    connected: Vec<Peer>,
    /// Every peer lost, for ever, and why.
    dead: BTreeMap<Peer, Lost>,
    /// Those of them the engine has not been told.
    untold: Vec<Peer>,
    /// Those of them that are to be told that this lane has given them up.
    to_give_up: Vec<Peer>,
    /// How many of the process's endings this lane has looked at.
    endings_seen: usize,
    /// Peers that another lane has found dead and that may have left something to this one.
    dying: Vec<Ending>,
    quarantine: Quarantine,
    /// Which peer is looked at more closely in the next check of lives.
    next_life: usize,
    /// Whether any of `blocked`, `to_connect`, `connected` and `untold` may hold something: one look a turn.
    has_news: bool,
}

impl Links {
    pub fn new(shared: Arc<Shared>, lane: u32) -> Links {
        shared.endings.join(lane);
        Links {
            open: Table::new(&shared.peers.host),
            shared,
            lane,
            counters: Counters::default(),
            early: Vec::new(),
            blocked: Vec::new(),
            expected: BTreeMap::new(),
            wants: Vec::new(),
            to_connect: Vec::new(),
            connected: Vec::new(),
            dead: BTreeMap::new(),
            untold: Vec::new(),
            to_give_up: Vec::new(),
            endings_seen: 0,
            dying: Vec::new(),
            quarantine: Quarantine::default(),
            next_life: 0,
            has_news: false,
        }
    }

    /// Puts one message of the given kind into the ring to `peer`, if there is one.
    #[inline]
    pub fn push(
        &mut self,
        peer: Peer,
        kind: u8,
        header: [u64; 2],
        bytes: usize,
        throttled: bool,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), Refused> {
        let Some(link) = self.open.get_mut(peer) else {
            return Err(self.connect(peer, Need::Link));
        };
        if throttled && link.producer.throttled() {
            return Err(Refused::Throttled);
        }
        if bytes > INLINE_BYTES {
            assert!(bytes <= EAGER_BYTES, "a packet of {bytes} bytes");
            let pushed =
                link.push_long(kind, header, bytes, &self.shared, &mut self.counters, fill);
            return match pushed {
                Pushed::Watched => Ok(()),
                pushed => self.pushed(peer, bytes, pushed),
            };
        }
        match link.producer.push(kind, header, bytes, fill) {
            Pushed::Watched => Ok(()),
            pushed => self.pushed(peer, bytes, pushed),
        }
    }

    /// As [`push`](Self::push), of a payload that fits in a cell, if there is a link to one of ranks that follow each other, and a
    /// cell that is known to be free. Else nothing happened.
    #[inline(always)]
    pub fn push_short(
        &mut self,
        peer: Peer,
        kind: u8,
        header: [u64; 2],
        payload: &[u8],
        throttled: bool,
    ) -> bool {
        let Some(link) = self.open.get_mut_in_run(peer) else {
            return false;
        };
        if throttled && link.producer.throttled() {
            return false;
        }
        match link.producer.push_short(kind, header, payload) {
            Pushed::Watched => true,
            Pushed::Full | Pushed::Malformed => false,
            Pushed::Unwatched => self.pushed(peer, payload.len(), Pushed::Unwatched).is_ok(),
        }
    }

    /// What follows from what became of a message.
    #[inline(never)]
    fn pushed(&mut self, peer: Peer, bytes: usize, pushed: Pushed) -> Result<(), Refused> {
        match pushed {
            Pushed::Watched => Ok(()),
            Pushed::Unwatched => {
                let Some(link) = self.open.get(peer) else {
                    return Err(Refused::Lost);
                };
                link.neighbour.base.notify(self.lane, self.shared.position);
                self.counters.notifications_sent += 1;
                Ok(())
            }
            Pushed::Full => Err(self.block(peer, bytes)),
            Pushed::Malformed => {
                self.lose(
                    lost(peer, "it counts packets as received that were never sent"),
                    peer,
                );
                Err(Refused::Lost)
            }
        }
    }

    /// Asks for something of `peer` that the caller of this lane has to do without: the reason, for which the engine will have
    /// it made.
    #[cold]
    pub fn connect(&mut self, peer: Peer, need: Need) -> Refused {
        if self.is_lost(peer) {
            return Refused::Lost;
        }
        if !self.reaches(peer) {
            return Refused::Elsewhere;
        }
        self.want(peer, need);
        Refused::Connecting
    }

    /// As [`connect`](Self::connect), for the lane's own use: the engine is asked in this turn or the next.
    #[cold]
    pub fn connect_later(&mut self, peer: Peer, need: Need) {
        if self.connect(peer, need) == Refused::Connecting && !self.to_connect.contains(&peer) {
            self.to_connect.push(peer);
            self.has_news = true;
            self.wake_sleeper();
        }
    }

    fn want(&mut self, peer: Peer, need: Need) {
        if !self.wants.contains(&(peer, need)) {
            self.wants.push((peer, need));
            let lane = self.lane;
            self.shared.connecting.want(Want { lane, peer, need });
        }
    }

    /// Whether the engine is to be asked to have something made.
    #[inline]
    pub fn has_to_connect(&self) -> bool {
        !self.to_connect.is_empty()
    }

    #[cold]
    pub fn ask_to_connect(&mut self, sink: &mut impl Sink) {
        for peer in self.to_connect.drain(..) {
            sink.connect(peer);
        }
    }

    /// Takes what was made for this lane: rings and pieces of peers go to `taken`.
    #[cold]
    pub fn take_made(&mut self, mut taken: impl FnMut(&mut Links, Peer, Made)) {
        if self.wants.is_empty() {
            return;
        }
        let shared = self.shared.clone();
        for Answer { want, made } in shared.connecting.take(self.lane) {
            let Want { peer, need, .. } = want;
            self.wants.retain(|&other| other != (peer, need));
            if self.is_lost(peer) {
                continue;
            }
            if !matches!(need, Need::Ring { .. }) {
                self.connected.push(peer);
                self.has_news = true;
            }
            match made {
                Err(lost) => self.lose(lost, peer),
                Ok(Made::Base(neighbour)) => drop(self.expected.insert(peer, neighbour)),
                Ok(Made::Link {
                    neighbour,
                    offset,
                    mapping,
                }) => self.open(neighbour, offset, mapping),
                Ok(made) => taken(self, peer, made),
            }
        }
    }

    /// Begins a link that was made, and tells the peer where it is.
    fn open(&mut self, neighbour: Arc<Neighbour>, offset: u64, mapping: Mapping) {
        let peer = neighbour.rank;
        self.counters.links += 1;
        self.counters.link_bytes += SHORT_LINK_BYTES as u64;
        // SAFETY: the mapping is longer than RING_BYTES, fresh and zero, outlives the producer in `Outbound`, and
        // nobody else knows of it yet.
        let producer = unsafe { Producer::new(Parts::at(mapping.base(), RING_BYTES, RING_CELLS)) };
        neighbour
            .base
            .ring_of(self.lane, self.shared.position)
            .store(offset, Ordering::Release);
        let early = self.early.iter().position(|(other, _)| *other == peer);
        let mut exchange =
            early.map_or_else(Blocks::default, |index| self.early.swap_remove(index).1);
        let mapping = Arc::new(mapping);
        exchange.add_own(mapping.clone());
        let link = Outbound {
            producer,
            exchange,
            neighbour,
            offset,
            _mapping: mapping,
        };
        self.open.insert(peer, link);
    }

    /// The blocks that go to and fro with `peer`.
    pub fn exchange(&mut self, peer: Peer) -> &mut Blocks {
        match self.open.get_mut(peer) {
            Some(link) => &mut link.exchange,
            None => {
                let known = self.early.iter().position(|(other, _)| *other == peer);
                let index = known.unwrap_or_else(|| {
                    self.early.push((peer, Blocks::default()));
                    self.early.len() - 1
                });
                &mut self.early[index].1
            }
        }
    }

    /// The peer, if it is known and not lost.
    pub fn neighbour(&self, peer: Peer) -> Option<Arc<Neighbour>> {
        if self.is_lost(peer) {
            return None;
        }
        self.shared.peers.known(peer)
    }

    /// Whether the peer is on this host.
    pub fn reaches(&self, peer: Peer) -> bool {
        self.shared.peers.host.position(peer).is_some()
    }

    pub fn is_open(&self, peer: Peer) -> bool {
        self.open.get(peer).is_some()
    }

    /// The peer, to which there is a link; else why not.
    pub fn linked(&mut self, peer: Peer) -> Result<Arc<Neighbour>, Refused> {
        match self.open.get(peer) {
            Some(link) => Ok(link.neighbour.clone()),
            None => Err(self.connect(peer, Need::Link)),
        }
    }

    /// Whether memory may be copied from and to a peer's.
    pub fn copies_allowed(&self, neighbour: &Neighbour) -> bool {
        !self.shared.options.deny_copies && neighbour.copies_allowed
    }

    /// Rings the doorbell of a peer, on this lane.
    pub fn notify(&mut self, neighbour: &Neighbour) {
        neighbour.base.notify(self.lane, self.shared.position);
        self.counters.notifications_sent += 1;
    }

    /// Whether a thread of this process sleeps, or is about to, on what every lane looked like when it was armed.
    #[inline]
    pub fn has_sleeper(&self) -> bool {
        self.shared.base.is_sleeping()
    }

    /// Ends that sleep, as another thread has begun something new to look at.
    #[inline]
    pub fn wake_sleeper(&self) {
        if self.has_sleeper() {
            self.shared.base.wake();
        }
    }

    #[inline]
    pub fn is_signalled(&self) -> bool {
        self.shared.base.signalled() >> self.lane & 1 != 0
    }

    #[cold]
    fn block(&mut self, peer: Peer, bytes: usize) -> Refused {
        match self.blocked.iter_mut().find(|blocked| blocked.peer == peer) {
            Some(blocked) => blocked.bytes = blocked.bytes.max(bytes),
            None => self.blocked.push(Blocked { peer, bytes }),
        }
        self.has_news = true;
        self.wake_sleeper();
        Refused::Busy
    }

    /// Whether there is something to tell the engine, or to look at for that: refused packets, links, losses.
    #[inline]
    pub fn has_news(&self) -> bool {
        self.has_news
    }

    /// All of it was told that could be.
    pub fn told_news(&mut self) {
        self.has_news = self.has_lost()
            || self.has_to_connect()
            || !self.blocked.is_empty()
            || !self.connected.is_empty();
    }

    /// Tells the engine of peers that have made room.
    #[cold]
    pub fn unblock(&mut self, sink: &mut impl Sink) -> bool {
        let mut moved = false;
        self.connected.sort_unstable();
        self.connected.dedup();
        for peer in std::mem::take(&mut self.connected) {
            if !self.is_lost(peer) {
                moved = true;
                sink.writable(peer);
            }
        }
        let mut index = 0;
        while let Some(&Blocked { peer, bytes }) = self.blocked.get(index) {
            match self.has_room(peer, bytes) {
                Ok(false) => index += 1,
                Ok(true) => {
                    self.blocked.swap_remove(index);
                    moved = true;
                    sink.writable(peer);
                }
                Err(Malformed(why)) => {
                    self.blocked.swap_remove(index);
                    self.lose(lost(peer, why), peer);
                }
            }
        }
        moved
    }

    fn has_room(&mut self, peer: Peer, bytes: usize) -> Result<bool, Malformed> {
        self.open
            .get_mut(peer)
            .map_or(Ok(false), |link| link.producer.has_room(bytes))
    }

    /// Has peers ring when they make room. True if one has already.
    pub fn wait_for_room(&mut self) -> bool {
        let mut room = !self.connected.is_empty() || self.has_to_connect();
        for index in 0..self.blocked.len() {
            let Blocked { peer, bytes } = self.blocked[index];
            if let Some(link) = self.open.get(peer) {
                link.producer.wait_for_room(true);
            }
            // A malformed count is told by the next turn.
            room |= self.has_room(peer, bytes) != Ok(false);
        }
        room
    }

    pub fn end_wait(&mut self) {
        for blocked in &self.blocked {
            if let Some(link) = self.open.get(blocked.peer) {
                link.producer.wait_for_room(false);
            }
        }
    }

    /// Loses `peer`, on all lanes of the process; the engine is told in this turn of progress or the next.
    #[cold]
    pub fn lose(&mut self, lost: Lost, peer: Peer) {
        let end = End::Ended;
        self.lose_by(Ending { peer, end, lost });
    }

    #[cold]
    fn lose_by(&mut self, ending: Ending) {
        if self.is_lost(ending.peer) {
            return;
        }
        // The first reason is the true one.
        let first = self.shared.end(ending, self.lane);
        self.to_give_up.push(first.peer);
        self.lose_here(first);
    }

    /// Ends what this lane has to do with a peer that the process has lost, bulk transfers and what comes from it apart.
    fn lose_here(&mut self, Ending { peer, lost, .. }: Ending) {
        if self.is_lost(peer) {
            return;
        }
        if let Some(link) = self.open.take(peer) {
            self.to_give_up.push(peer);
            self.quarantine
                .add(&self.shared, peer, link.offset, LINK_BYTES);
        }
        self.expected.remove(&peer);
        self.early.retain(|(other, _)| *other != peer);
        self.blocked.retain(|blocked| blocked.peer != peer);
        self.dead.insert(peer, lost);
        self.untold.push(peer);
        self.has_news = true;
    }

    /// Loses the peers that other lanes have lost. One that has died, and of which `may_have_left` says that something may be
    /// there, is lost later.
    #[cold]
    pub fn take_endings(&mut self, may_have_left: impl Fn(Peer) -> bool) {
        let endings = self.shared.endings.after(self.endings_seen);
        self.endings_seen += endings.len();
        self.dying.extend(endings);
        for ending in std::mem::take(&mut self.dying) {
            let peer = ending.peer;
            let waits =
                |&(other, need): &(Peer, Need)| other == peer && matches!(need, Need::Ring { .. });
            let later = ending.end == End::Died
                && !self.is_lost(peer)
                && (may_have_left(peer) || self.wants.iter().any(waits));
            match later {
                true => self.dying.push(ending),
                false => self.lose_here(ending),
            }
        }
    }

    /// This lane touches nothing of a lost peer's any more, of which it had something if `had`: if it had, or has found the
    /// loss, it tells the peer, which loses this process too if it runs, so that neither waits for the other.
    pub fn cleared(&mut self, peer: Peer, had: bool) {
        let known = self.to_give_up.len();
        self.to_give_up.retain(|&other| other != peer);
        if had || self.to_give_up.len() < known {
            self.give_up(peer);
        }
    }

    fn give_up(&mut self, peer: Peer) {
        if let Some(neighbour) = self.shared.peers.known(peer)
            && !neighbour.base.is_given_up(self.lane, self.shared.position)
        {
            let ring = neighbour.base.ring_of(self.lane, self.shared.position);
            ring.store(GIVEN_UP, Ordering::SeqCst);
            self.notify(&neighbour);
        }
    }

    /// A lost peer has notified this lane, and may not know yet that it is lost.
    #[cold]
    pub fn repeat_give_up(&mut self, peer: Peer) {
        if !self.untold.contains(&peer) {
            self.give_up(peer);
        }
    }

    /// Has a peer looked at among those that may die.
    pub fn expect(&mut self, peer: Peer) -> Result<(), Refused> {
        if self.is_open(peer) || self.expected.contains_key(&peer) {
            return Ok(());
        }
        match self.neighbour(peer) {
            Some(neighbour) => {
                self.expected.insert(peer, neighbour);
                Ok(())
            }
            None => Err(self.connect(peer, Need::Base)),
        }
    }

    #[inline]
    pub fn has_lost(&self) -> bool {
        !self.untold.is_empty()
    }

    pub fn is_lost(&self, peer: Peer) -> bool {
        self.dead.contains_key(&peer)
    }

    pub fn take_lost(&mut self) -> Option<(Peer, Lost)> {
        let peer = self.untold.pop()?;
        Some((peer, self.dead[&peer].clone()))
    }

    /// Loses peers whose process is gone, unless they left something to be received first.
    pub fn check_lives<'a>(
        &mut self,
        has_left_something: impl Fn(Peer) -> bool,
        others: impl Iterator<Item = &'a Arc<Neighbour>>,
    ) {
        let mut neighbours: Vec<Arc<Neighbour>> = others.cloned().collect();
        neighbours.extend(self.open.iter().map(|link| link.neighbour.clone()));
        neighbours.extend(self.expected.values().cloned());
        neighbours.sort_by_key(|neighbour| neighbour.rank);
        neighbours.dedup_by_key(|neighbour| neighbour.rank);
        // Asking whether the number is in use is quick; the whole truth costs reading a file, so it is
        // asked of one peer each time.
        self.next_life = (self.next_life + 1) % neighbours.len().max(1);
        for (index, neighbour) in neighbours.iter().enumerate() {
            let alive = match index == self.next_life {
                true => neighbour.is_alive(),
                false => neighbour.is_there(),
            };
            if !alive && !has_left_something(neighbour.rank) {
                let peer = neighbour.rank;
                let lost = lost(peer, "its process has ended");
                let end = End::Died;
                self.lose_by(Ending { peer, end, lost });
            }
        }
    }

    /// Gives memory back that lost peers could use and do not any more.
    pub fn look_at_quarantine(&mut self) {
        self.quarantine.look(&self.shared, self.lane);
    }

    pub fn quarantined_bytes(&self) -> u64 {
        self.quarantine.bytes() as u64
    }

    /// Puts a piece of the own segment aside that a lost peer may still use.
    pub fn quarantine_piece(&mut self, peer: Peer, offset: u64, bytes: usize) {
        self.quarantine.add(&self.shared, peer, offset, bytes);
    }

    pub fn describe(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        for link in self.open.iter() {
            let rank = link.neighbour.rank;
            if !link.producer.attached() {
                writeln!(out, "rank {rank} has not yet taken up the connection to it")?;
            }
        }
        for blocked in &self.blocked {
            writeln!(
                out,
                "rank {} has left no room for a packet to it",
                blocked.peer
            )?;
        }
        Ok(())
    }
}

impl Outbound {
    /// Sends a packet that does not fit in a cell: in a block if one is held, else through the ring.
    #[inline(never)]
    fn push_long(
        &mut self,
        kind: u8,
        header: [u64; 2],
        bytes: usize,
        shared: &Shared,
        counters: &mut Counters,
        fill: impl FnOnce(&mut [u8]),
    ) -> Pushed {
        if let Err(refused) = self.producer.ready() {
            return refused;
        }
        let mut place = self.exchange.lend(bytes);
        if place.is_none() && bytes > SHORT_BLOCK_BYTES {
            self.lengthen_block(shared, counters);
            place = self.exchange.lend(bytes);
        }
        let Some(place) = place else {
            return self.producer.push(kind, header, bytes, fill);
        };
        let fill = || {
            // SAFETY: the block has memory for `bytes` bytes, and is this process's until the packet is published
            // (rules 1 and 2 of `blocks`).
            fill(unsafe { std::slice::from_raw_parts_mut(place.base, bytes) });
        };
        self.producer
            .push_elsewhere(kind, header, place.name, bytes, fill)
    }

    /// Takes memory for the whole of a block that is here, unless enough was taken for others.
    #[cold]
    fn lengthen_block(&mut self, shared: &Shared, counters: &mut Counters) {
        let added = LONG_ADDED_BYTES as u64;
        let at = self.offset + SHORT_LINK_BYTES as u64;
        let own = || shared.segment.fill(at, LONG_ADDED_BYTES);
        // Without it, packets go through the ring.
        if counters.block_bytes < LONG_BLOCKS * added && self.exchange.lengthen(own) {
            counters.block_bytes += added;
        }
    }
}
