//! Rings from peers, and which of them are looked at.
//!
//! A ring is *hot* while it is looked at every turn; its sender then writes nothing but the cell. It cools
//! when nothing came for a while, unless it is the only one, and is heated by the doorbell. So a turn
//! costs as much as there are active peers, however many are connected.

use std::collections::BTreeMap;
use std::sync::Arc;

use weft_sync::atomic::Ordering;
use weft_sync::cells::{Arrival, Consumer, Elsewhere, Malformed, Parts};
use weft_transport::{Header, Peer, Sink};

use crate::base::GIVEN_UP;
use crate::bulk::Bulk;
use crate::connecting::Need;
use crate::layout::{CONTROL, EAGER_BYTES, LINK_BYTES, PACKET, RING_BYTES, RING_CELLS};
use crate::links::Links;
use crate::peers::{Neighbour, lost};
use crate::segment::Mapping;

/// Messages taken from one ring in one turn, and announced ahead: as many misses of a cache as a core has under way (10
/// to 16 on today's).
const BATCH: usize = 16;
/// A ring cools after this many turns without a message, fewer the more are hot: some 50 us (an EPYC, Zen 4), long
/// enough that its sender, which has to ring the doorbell then, seldom does.
const COOL_AFTER: u32 = 4096;

/// A ring from a peer. The mapping is dropped after the consumer that uses it.
struct Inbound {
    peer: Peer,
    consumer: Consumer,
    /// The turn of its last message.
    last: u32,
    /// A message of this turn was too long for its cell.
    long: bool,
    neighbour: Arc<Neighbour>,
    mapping: Arc<Mapping>,
}

/// A lane's rings from peers.
pub struct Arrivals {
    hot: Vec<Inbound>,
    cold: BTreeMap<Peer, Inbound>,
    next_to_cool: usize,
    /// Peers that are to send no payload unasked.
    throttled: Vec<Peer>,
}

impl Arrivals {
    pub fn new() -> Arrivals {
        Arrivals {
            hot: Vec::new(),
            cold: BTreeMap::new(),
            next_to_cool: 0,
            throttled: Vec::new(),
        }
    }

    /// Takes a bounded number of messages from each hot ring.
    #[inline]
    pub fn poll(
        &mut self,
        turn: u32,
        links: &mut Links,
        bulk: &mut Bulk,
        sink: &mut impl Sink,
    ) -> bool {
        let mut moved = false;
        let mut index = 0;
        while let Some(inbound) = self.hot.get_mut(index) {
            index += 1;
            if !inbound.consumer.is_ready() {
                continue;
            }
            moved = true;
            inbound.last = turn;
            if let Err(Malformed(why)) = inbound.drain(links, bulk, sink) {
                index -= 1;
                let peer = self.hot.swap_remove(index).peer;
                links.lose(lost(peer, why), peer);
            }
        }
        moved
    }

    /// Heats the rings of peers that have notified this lane. Rings that are not mapped yet are asked for.
    #[cold]
    pub fn take_notifications(&mut self, turn: u32, links: &mut Links) -> bool {
        let shared = links.shared.clone();
        let mut heard = 0;
        shared.base.take_notifiers(links.lane, |position| {
            heard += 1;
            self.notified(position, turn, links);
        });
        links.counters.notifications_taken += heard;
        heard > 0
    }

    /// By the process at this position, or in its name.
    fn notified(&mut self, position: u32, turn: u32, links: &mut Links) {
        let Some(peer) = links.shared.peers.host.rank(position) else {
            return;
        };
        if links.is_lost(peer) {
            return links.repeat_give_up(peer);
        }
        let ring = links.shared.base.ring_of(links.lane, position);
        match ring.load(Ordering::Acquire) {
            GIVEN_UP => {
                let why = "it has given up the connection to this process";
                links.lose(lost(peer, why), peer);
            }
            _ if self.hot.iter().any(|inbound| inbound.peer == peer) => {}
            offset => match self.cold.remove(&peer) {
                Some(inbound) => self.heat(inbound, turn, links),
                None if offset == 0 => {}
                None => links.connect_later(peer, Need::Ring { offset }),
            },
        }
    }

    /// The ring of a peer, which was asked for, is mapped.
    pub fn attach(
        &mut self,
        neighbour: Arc<Neighbour>,
        mapping: Mapping,
        turn: u32,
        links: &mut Links,
    ) {
        assert_eq!(mapping.bytes(), LINK_BYTES);
        let peer = neighbour.rank;
        let known = self.hot.iter().any(|inbound| inbound.peer == peer);
        if known || self.cold.contains_key(&peer) {
            // It has named two rings in turn.
            let why = "it has made two rings to this process";
            return links.lose(lost(peer, why), peer);
        }
        // SAFETY: the mapping is longer than RING_BYTES and outlives the consumer in `Inbound`; a ring is attached
        // once, as its peer then stands in `hot` or `cold`, or is lost.
        let consumer = unsafe { Consumer::new(Parts::at(mapping.base(), RING_BYTES, RING_CELLS)) };
        let inbound = Inbound {
            peer,
            consumer,
            last: 0,
            long: false,
            neighbour,
            mapping: Arc::new(mapping),
        };
        self.heat(inbound, turn, links);
    }

    fn heat(&mut self, mut inbound: Inbound, turn: u32, links: &Links) {
        inbound.last = turn;
        // Not while a sleeper relies on being notified.
        if !links.has_sleeper() {
            inbound.consumer.watch();
        }
        inbound
            .consumer
            .throttle(self.throttled.contains(&inbound.peer));
        self.hot.push(inbound);
    }

    /// Cools the next ring in turn if it was idle for long.
    #[cold]
    pub fn cool_one(&mut self, turn: u32, links: &mut Links) {
        // A sleeper relies on every hot ring as it left it.
        if self.hot.len() < 2 || links.has_sleeper() {
            return;
        }
        self.next_to_cool = (self.next_to_cool + 1) % self.hot.len();
        let patience = COOL_AFTER / self.hot.len() as u32;
        let inbound = &mut self.hot[self.next_to_cool];
        if turn.wrapping_sub(inbound.last) < patience {
            return;
        }
        if inbound.consumer.unwatch() {
            inbound.consumer.watch();
            return;
        }
        if inbound.consumer.return_all_room() {
            links.notify(&inbound.neighbour);
        }
        let inbound = self.hot.swap_remove(self.next_to_cool);
        self.cold.insert(inbound.peer, inbound);
    }

    /// Rings looked at in each turn.
    pub fn hot(&self) -> usize {
        self.hot.len()
    }

    /// Before a sleep: has the hot rings' senders ring. True if a message is there already.
    pub fn unwatch(&mut self, links: &mut Links) -> bool {
        let mut ready = false;
        for inbound in &mut self.hot {
            ready |= inbound.consumer.unwatch();
            if inbound.consumer.return_all_room() {
                links.notify(&inbound.neighbour);
            }
        }
        ready
    }

    /// After a sleep.
    pub fn watch(&mut self) {
        for inbound in &self.hot {
            inbound.consumer.watch();
        }
    }

    pub fn throttle(&mut self, peer: Peer, on: bool) {
        self.throttled.retain(|&other| other != peer);
        if on {
            self.throttled.push(peer);
        }
        let hot = self.hot.iter().find(|inbound| inbound.peer == peer);
        if let Some(inbound) = hot.or_else(|| self.cold.get(&peer)) {
            inbound.consumer.throttle(on);
        }
    }

    /// Whether a message from `peer` is there.
    pub fn has_from(&self, peer: Peer) -> bool {
        let hot = self.hot.iter().find(|inbound| inbound.peer == peer);
        hot.or_else(|| self.cold.get(&peer))
            .is_some_and(|inbound| inbound.consumer.is_ready())
    }

    pub fn neighbours(&self) -> impl Iterator<Item = &Arc<Neighbour>> {
        self.hot
            .iter()
            .chain(self.cold.values())
            .map(|inbound| &inbound.neighbour)
    }

    /// Ends what comes from `peer`. Whether anything could come.
    pub fn forget(&mut self, peer: Peer) -> bool {
        let rings = self.hot.len() + self.cold.len();
        self.hot.retain(|inbound| inbound.peer != peer);
        self.cold.remove(&peer);
        self.throttled.retain(|&other| other != peer);
        self.hot.len() + self.cold.len() < rings
    }
}

impl Inbound {
    /// Hands up to a batch of messages over. If the engine wants it they are announced first, so that its cache
    /// misses for them overlap.
    #[inline]
    fn drain(
        &mut self,
        links: &mut Links,
        bulk: &mut Bulk,
        sink: &mut impl Sink,
    ) -> Result<(), Malformed> {
        if sink.looks_ahead() {
            self.announce(sink)?;
        }
        self.long = false;
        for _ in 0..BATCH {
            if let Some(arrival) = self.consumer.look_short() {
                // SAFETY: the consumer advances only below.
                let payload = unsafe { arrival.payload() };
                sink.packet(self.peer, Header(arrival.header), payload);
                self.advance(&arrival, links);
                continue;
            }
            // The thread that waited for a long one is about to post a receive for the next: then that is copied once.
            if self.long && sink.expects_nothing() {
                break;
            }
            let Some(arrival) = self.consumer.look()? else {
                break;
            };
            self.take(arrival, links, bulk, sink)?;
        }
        Ok(())
    }

    /// On to the next message.
    #[inline]
    fn advance(&mut self, arrival: &Arrival, links: &mut Links) {
        if self.consumer.advance(arrival) {
            links.notify(&self.neighbour);
        }
    }

    /// Announces a batch of messages.
    #[inline(never)]
    fn announce(&self, sink: &mut impl Sink) -> Result<(), Malformed> {
        for ahead in 0..BATCH {
            let Some(arrival) = self.consumer.look_ahead(ahead)? else {
                break;
            };
            if arrival.kind == PACKET {
                sink.upcoming(self.peer, Header(arrival.header));
            }
        }
        Ok(())
    }

    /// Hands over a message of any kind, wherever it lies.
    #[inline(never)]
    fn take(
        &mut self,
        arrival: Arrival,
        links: &mut Links,
        bulk: &mut Bulk,
        sink: &mut impl Sink,
    ) -> Result<(), Malformed> {
        let payload = match arrival.elsewhere {
            // SAFETY: the consumer advances only below.
            None => unsafe { arrival.payload() },
            Some(elsewhere) => {
                self.long = true;
                self.exchanged(elsewhere, links)?
            }
        };
        match arrival.kind {
            PACKET if payload.len() > EAGER_BYTES => {
                return Err(Malformed("it sent a longer packet than there is"));
            }
            PACKET => sink.packet(self.peer, Header(arrival.header), payload),
            CONTROL => bulk.control(links, self.peer, arrival.header, payload)?,
            _ => return Err(Malformed("it sent a message of no known kind")),
        }
        if arrival.lies_in_ring() {
            self.long = true;
            // SAFETY: the consumer advances only below, and the payload was handed over.
            unsafe { arrival.take_over() };
        }
        self.advance(&arrival, links);
        Ok(())
    }

    /// The payload of a packet that has come in a block.
    fn exchanged<'a>(
        &self,
        elsewhere: Elsewhere,
        links: &mut Links,
    ) -> Result<&'a [u8], Malformed> {
        let exchange = links.exchange(self.peer);
        let base = exchange.take(elsewhere, &self.mapping)?;
        // SAFETY: `take` checked the length; the block is this process's from here on (rule 2 of `blocks`), and nothing
        // is sent, so nothing written to it, before the payload is handed over, which is all the caller does with it.
        Ok(unsafe { std::slice::from_raw_parts(base, elsewhere.bytes as usize) })
    }
}
