//! How a lane comes to what others have to make for it: links, and pieces of peers' memory.

use std::sync::Arc;

use weft_sync::atomic::Ordering;
use weft_sync::cells::{Parts, Producer};
use weft_transport::{Peer, Refused, Sink};

use super::Links;
use super::outbound::Outbound;
use crate::blocks::Blocks;
use crate::connecting::{Answer, Made, Need, Want};
use crate::layout::{RING_BYTES, RING_CELLS, SHORT_LINK_BYTES};
use crate::peers::Neighbour;
use crate::segment::Mapping;

impl Links {
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
}
