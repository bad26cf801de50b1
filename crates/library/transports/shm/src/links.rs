//! Connections to peers, and sending on them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::sync::Arc;

use weft_sync::atomic::Ordering;
use weft_sync::cells::{INLINE_BYTES, Malformed, Parts, Producer, Pushed};
use weft_transport::{Lost, Peer, Refused, Sink};

use crate::base::GIVEN_UP;
use crate::blocks::{Exchange, LONG_ADDED_BYTES, LONG_BLOCKS};
use crate::cma;
use crate::layout::{LINK_BYTES, RING_BYTES, RING_CELLS, SHORT_BLOCK_BYTES, SHORT_LINK_BYTES};
use crate::peers::{Neighbour, lost};
use crate::segment::Mapping;
use crate::shared::Shared;

/// What an endpoint has done and holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub doorbells_rung: u64,
    pub doorbells_heard: u64,
    /// Rings that are looked at in each turn.
    pub hot_rings: u64,
    pub ring_transfers: u64,
    /// Those of them that went through a ring kept of the receiver's.
    pub kept_transfers: u64,
    pub copy_transfers: u64,
    /// Chunks copied from process to process by this side, as receiver and as sender.
    pub chunks_read: u64,
    pub chunks_written: u64,
    /// Bytes of this process's segment taken for links, for what makes blocks long, and for bulk data.
    pub link_bytes: u64,
    pub block_bytes: u64,
    pub bulk_bytes: u64,
}

/// A ring to a peer. The mapping is dropped after the producer that uses it.
struct Outbound {
    producer: Producer,
    exchange: Exchange,
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
    open: Box<[Option<Box<Outbound>>]>,
    /// What came in blocks from peers that nothing was sent to yet.
    early: Vec<(Peer, Exchange)>,
    blocked: Vec<Blocked>,
    /// Peers without a connection of which something is awaited.
    expected: BTreeMap<Peer, Arc<Neighbour>>,
    /// Every peer lost, for ever, and why.
    dead: BTreeMap<Peer, Lost>,
    /// Those of them the engine has not been told.
    untold: Vec<Peer>,
    /// Which peer is looked at more closely in the next check of lives.
    next_life: usize,
}

impl Links {
    pub fn new(shared: Arc<Shared>, lane: u32) -> Links {
        let size = shared.shape.size as usize;
        Links {
            shared,
            lane,
            counters: Counters::default(),
            open: std::iter::repeat_with(|| None).take(size).collect(),
            early: Vec::new(),
            blocked: Vec::new(),
            expected: BTreeMap::new(),
            dead: BTreeMap::new(),
            untold: Vec::new(),
            next_life: 0,
        }
    }

    /// Puts one message of the given kind into the ring to `peer`, connecting first if need be.
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
        let Some(link) = &mut self.open[peer as usize] else {
            return self.push_first(peer, kind, header, bytes, throttled, fill);
        };
        if throttled && link.producer.throttled() {
            return Err(Refused::Throttled);
        }
        if bytes > INLINE_BYTES {
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

    /// As [`push`](Self::push), of a payload that fits in a cell.
    #[inline(always)]
    pub fn push_short(
        &mut self,
        peer: Peer,
        kind: u8,
        header: [u64; 2],
        payload: &[u8],
        throttled: bool,
    ) -> Result<(), Refused> {
        let bytes = payload.len();
        let Some(link) = &mut self.open[peer as usize] else {
            let [a, b] = header;
            return self.push_first(peer, kind, [a, b], bytes, throttled, |out| {
                out.copy_from_slice(payload);
            });
        };
        if throttled && link.producer.throttled() {
            return Err(Refused::Throttled);
        }
        match link.producer.push_short(kind, header, payload) {
            Pushed::Watched => Ok(()),
            pushed => self.pushed(peer, bytes, pushed),
        }
    }

    /// As [`push`](Self::push), to a peer that has no connection.
    #[cold]
    #[inline(never)]
    fn push_first(
        &mut self,
        peer: Peer,
        kind: u8,
        header: [u64; 2],
        bytes: usize,
        throttled: bool,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), Refused> {
        self.connect(peer)?;
        self.push(peer, kind, header, bytes, throttled, fill)
    }

    /// What follows from what became of a message.
    #[inline(never)]
    fn pushed(&mut self, peer: Peer, bytes: usize, pushed: Pushed) -> Result<(), Refused> {
        match pushed {
            Pushed::Watched => Ok(()),
            Pushed::Unwatched => {
                let Some(link) = &self.open[peer as usize] else {
                    return Err(Refused::Lost);
                };
                link.neighbour.base.notify(self.lane, self.shared.rank);
                self.counters.doorbells_rung += 1;
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

    /// Makes the ring to `peer` and tells it where.
    #[cold]
    fn connect(&mut self, peer: Peer) -> Result<(), Refused> {
        if self.dead.contains_key(&peer) {
            return Err(Refused::Lost);
        }
        let neighbour = match self.neighbour(peer) {
            Ok(neighbour) => neighbour,
            Err(lost) => {
                self.lose(lost, peer);
                return Err(Refused::Lost);
            }
        };
        let carved = self.shared.segment.carve_part(LINK_BYTES, SHORT_LINK_BYTES);
        let (offset, mapping) = match carved {
            Ok(carved) => carved,
            Err(error) => {
                let why = format!("no memory for a connection to it: {error}");
                self.lose(lost(peer, &why), peer);
                return Err(Refused::Lost);
            }
        };
        self.counters.link_bytes += SHORT_LINK_BYTES as u64;
        // SAFETY: the mapping is longer than RING_BYTES, fresh and zero, outlives the producer in `Outbound`, and
        // nobody else knows of it yet.
        let producer = unsafe { Producer::new(Parts::at(mapping.base(), RING_BYTES, RING_CELLS)) };
        neighbour
            .base
            .ring_of(self.lane, self.shared.rank)
            .store(offset, Ordering::Release);
        let early = self.early.iter().position(|(other, _)| *other == peer);
        let mut exchange =
            early.map_or_else(Exchange::default, |index| self.early.swap_remove(index).1);
        let mapping = Arc::new(mapping);
        exchange.found(mapping.clone());
        self.open[peer as usize] = Some(Box::new(Outbound {
            producer,
            exchange,
            neighbour,
            offset,
            _mapping: mapping,
        }));
        Ok(())
    }

    /// The blocks that go to and fro with `peer`.
    pub fn exchange(&mut self, peer: Peer) -> &mut Exchange {
        match &mut self.open[peer as usize] {
            Some(link) => &mut link.exchange,
            None => {
                let known = self.early.iter().position(|(other, _)| *other == peer);
                let index = known.unwrap_or_else(|| {
                    self.early.push((peer, Exchange::default()));
                    self.early.len() - 1
                });
                &mut self.early[index].1
            }
        }
    }

    pub fn neighbour(&self, peer: Peer) -> Result<Arc<Neighbour>, Lost> {
        match self.dead.get(&peer) {
            Some(lost) => Err(lost.clone()),
            None => self.shared.peers.neighbour(peer),
        }
    }

    /// Whether memory may be copied from and to `peer`'s.
    pub fn copies_allowed(&self, peer: Peer) -> bool {
        !self.shared.options.deny_copies
            && self
                .neighbour(peer)
                .is_ok_and(|neighbour| cma::are_allowed(&neighbour))
    }

    /// Rings the doorbell of a peer, on this lane.
    pub fn ring(&mut self, neighbour: &Neighbour) {
        neighbour.base.notify(self.lane, self.shared.rank);
        self.counters.doorbells_rung += 1;
    }

    /// Whether a thread of this process sleeps, or is about to, on what every lane looked like when it was armed.
    #[inline]
    pub fn has_sleeper(&self) -> bool {
        self.shared.base.is_sleeping()
    }

    /// Ends that sleep, as another thread has begun something new to look at.
    #[inline]
    pub fn disturb(&self) {
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
        self.disturb();
        Refused::Busy
    }

    #[inline]
    pub fn is_blocked(&self) -> bool {
        !self.blocked.is_empty()
    }

    /// Tells the engine of peers that have made room.
    #[cold]
    pub fn unblock(&mut self, sink: &mut impl Sink) -> bool {
        let mut moved = false;
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
        self.open[peer as usize]
            .as_mut()
            .map_or(Ok(false), |link| link.producer.has_room(bytes))
    }

    /// Has peers ring when they make room. True if one has already.
    pub fn wait_for_room(&mut self) -> bool {
        let mut room = false;
        for index in 0..self.blocked.len() {
            let Blocked { peer, bytes } = self.blocked[index];
            if let Some(link) = &self.open[peer as usize] {
                link.producer.wait_for_room(true);
            }
            // A malformed count is told by the next turn.
            room |= self.has_room(peer, bytes) != Ok(false);
        }
        room
    }

    pub fn stop_waiting(&mut self) {
        for blocked in &self.blocked {
            if let Some(link) = &self.open[blocked.peer as usize] {
                link.producer.wait_for_room(false);
            }
        }
    }

    /// Ends the connection to `peer`; the engine is told in this turn of progress or the next.
    #[cold]
    pub fn lose(&mut self, lost: Lost, peer: Peer) {
        self.open[peer as usize] = None;
        self.expected.remove(&peer);
        self.early.retain(|(other, _)| *other != peer);
        self.blocked.retain(|blocked| blocked.peer != peer);
        // The first reason is the true one.
        if let Entry::Vacant(entry) = self.dead.entry(peer) {
            entry.insert(lost);
            self.untold.push(peer);
            self.give_up(peer);
        }
    }

    /// Has a peer that still runs lose this process too, so that neither waits for the other.
    fn give_up(&mut self, peer: Peer) {
        if let Some(neighbour) = self.shared.peers.known(peer) {
            let ring = neighbour.base.ring_of(self.lane, self.shared.rank);
            ring.store(GIVEN_UP, Ordering::Release);
            self.ring(&neighbour);
        }
    }

    /// Has a peer looked at among those that may die. False if it is lost.
    pub fn expect(&mut self, peer: Peer) -> bool {
        if self.open[peer as usize].is_some() || self.expected.contains_key(&peer) {
            return true;
        }
        if self.is_lost(peer) {
            return false;
        }
        match self.shared.peers.neighbour(peer) {
            Ok(neighbour) => drop(self.expected.insert(peer, neighbour)),
            Err(lost) => self.lose(lost, peer),
        }
        true
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
        neighbours.extend(
            self.open
                .iter()
                .flatten()
                .map(|link| link.neighbour.clone()),
        );
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
                self.lose(
                    lost(neighbour.rank, "its process has ended"),
                    neighbour.rank,
                );
            }
        }
    }

    pub fn describe(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        for link in self.open.iter().flatten() {
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
