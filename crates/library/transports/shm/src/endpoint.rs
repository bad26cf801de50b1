//! One lane's way to every peer of the host.

#[cfg(test)]
mod ending_tests;
#[cfg(test)]
mod lie_tests;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use weft_memory::Memory;
use weft_sync::cells::INLINE_BYTES;
use weft_transport::{
    BulkDescriptor, Cookie, Endpoint, Header, Lost, NearEndpoint, Peer, Refused, Sink,
};

use crate::arrivals::Arrivals;
use crate::bulk::Bulk;
use crate::connecting::Made;
use crate::counters::Counters;
use crate::layout::{EAGER_BYTES, PACKET};
use crate::links::Links;
use crate::shared::Shared;

/// Turns between two looks at the clock and for a ring to cool. A look at the clock takes as long as a few turns in
/// which nothing comes; so many turns pass soon, also where each yields the processor to others.
const LOOK_EVERY: u32 = 1 << 7;
/// Between two looks at what changes slowly: the lives of peers, which are asked of the kernel, and idle memory.
const CHECK_EVERY: Duration = Duration::from_millis(200);

/// One lane's endpoint. Driven under the lane's lock.
pub struct ShmEndpoint {
    arrivals: Arrivals,
    links: Links,
    bulk: Bulk,
    turn: u32,
    last_check: Instant,
}

impl ShmEndpoint {
    pub(crate) fn new(shared: Arc<Shared>, lane: u32) -> ShmEndpoint {
        assert!(
            lane < shared.shape.lanes,
            "lane {lane} of {}",
            shared.shape.lanes
        );
        let mut links = Links::new(shared, lane);
        // Peers that were lost before this lane was made, of which nothing is here.
        links.take_endings(|_| false);
        ShmEndpoint {
            arrivals: Arrivals::new(),
            links,
            bulk: Bulk::new(),
            turn: 0,
            last_check: Instant::now(),
        }
    }

    pub fn counters(&self) -> Counters {
        Counters {
            hot_rings: self.arrivals.hot() as u64,
            quarantined_bytes: self.links.quarantined_bytes(),
            ..self.links.counters
        }
    }

    /// Ends all that has to do with peers found lost, and tells the engine.
    #[cold]
    fn tell_lost(&mut self, sink: &mut impl Sink) {
        while let Some((peer, lost)) = self.links.take_lost() {
            self.clear(peer);
            sink.lost(peer, &lost);
        }
    }

    /// Tells the engine what has become of links: room, links that were made, links that are needed, lost peers.
    #[cold]
    fn tell_news(&mut self, sink: &mut impl Sink) -> bool {
        let mut moved = self.links.unblock(sink);
        if self.links.has_lost() {
            self.tell_lost(sink);
            moved = true;
        }
        self.links.ask_to_connect(sink);
        self.links.told_news();
        moved
    }

    /// Ends what comes from a lost peer and its bulk transfers.
    fn clear(&mut self, peer: Peer) {
        let came = self.arrivals.forget(peer);
        self.bulk.forget(&mut self.links, peer);
        self.links.cleared(peer, came);
    }

    /// This lane was notified: by peers, or because something was made for it or a peer was lost.
    #[cold]
    fn take_notifications(&mut self, sink: &mut impl Sink) -> bool {
        let heard = self.arrivals.take_notifications(self.turn, &mut self.links);
        self.take_made();
        self.take_endings();
        // Before anything more is done with them.
        self.tell_lost(sink);
        heard
    }

    /// Takes what was made for this lane.
    fn take_made(&mut self) {
        let (arrivals, bulk, turn) = (&mut self.arrivals, &mut self.bulk, self.turn);
        self.links.take_made(|links, peer, made| match made {
            Made::Ring { neighbour, mapping } => arrivals.attach(neighbour, mapping, turn, links),
            Made::Piece { offset, mapping } => bulk.mapped(links, peer, offset, mapping),
            Made::Base(_) | Made::Link { .. } => unreachable!("the links have taken these"),
        });
    }

    fn take_endings(&mut self) {
        let (arrivals, bulk) = (&self.arrivals, &self.bulk);
        self.links
            .take_endings(|peer| arrivals.has_from(peer) || bulk.has_from(peer));
    }

    /// What is done only now and then.
    #[cold]
    fn maintain(&mut self) {
        self.arrivals.cool_one(self.turn, &mut self.links);
        self.check_peers_and_memory();
    }

    /// Finds out, now and then, about peers that have died and memory that is not used.
    #[cold]
    fn check_peers_and_memory(&mut self) {
        if self.last_check.elapsed() < CHECK_EVERY {
            return;
        }
        self.last_check = Instant::now();
        self.bulk.release_idle(&mut self.links);
        // A hostile peer may have cleared a notification.
        self.take_made();
        self.take_endings();
        self.links.look_at_quarantine();
        let (arrivals, bulk) = (&self.arrivals, &self.bulk);
        self.links.check_lives(
            |peer| arrivals.has_from(peer) || bulk.has_from(peer),
            arrivals.neighbours(),
        );
    }
}

impl NearEndpoint for ShmEndpoint {
    fn reaches(&self, peer: Peer) -> bool {
        self.links.reaches(peer)
    }
}

impl Endpoint for ShmEndpoint {
    const EAGER_TO_ALL: usize = EAGER_BYTES;

    fn eager_limit(&self, _peer: Peer) -> usize {
        EAGER_BYTES
    }

    #[inline]
    fn send(
        &mut self,
        peer: Peer,
        header: Header,
        payload: &[u8],
        throttled: bool,
    ) -> Result<(), Refused> {
        self.send_with(peer, header, payload.len(), throttled, |out| {
            out.copy_from_slice(payload);
        })
    }

    #[inline(always)]
    fn send_at_once(
        &mut self,
        peer: Peer,
        header: Header,
        payload: &[u8],
        throttled: bool,
    ) -> bool {
        let fits = payload.len() <= INLINE_BYTES;
        if !fits || !(self.links).push_short(peer, PACKET, header.0, payload, throttled) {
            return false;
        }
        if self.bulk.has_begun() {
            self.bulk.go_on_sending(&mut self.links);
        }
        true
    }

    #[inline]
    fn send_with(
        &mut self,
        peer: Peer,
        header: Header,
        bytes: usize,
        throttled: bool,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), Refused> {
        self.links
            .push(peer, PACKET, header.0, bytes, throttled, fill)?;
        if self.bulk.has_begun() {
            self.bulk.go_on_sending(&mut self.links);
        }
        Ok(())
    }

    #[inline]
    fn poll(&mut self, sink: &mut impl Sink) -> bool {
        self.turn = self.turn.wrapping_add(1);
        let mut moved = false;
        if self.links.is_signalled() {
            moved |= self.take_notifications(sink);
        }
        moved |= self
            .arrivals
            .poll(self.turn, &mut self.links, &mut self.bulk, sink);
        if self.bulk.is_active() {
            moved |= self.bulk.poll(&mut self.links, sink);
        }
        if self.turn.is_multiple_of(LOOK_EVERY) {
            self.maintain();
        }
        if self.links.has_news() {
            moved |= self.tell_news(sink);
        }
        moved
    }

    fn bulk_send(
        &mut self,
        peer: Peer,
        source: Memory,
        cookie: Cookie,
    ) -> Result<BulkDescriptor, Refused> {
        self.bulk.send(&mut self.links, peer, source, cookie)
    }

    fn way_of_last(&self, _peer: Peer) -> Option<String> {
        self.bulk.last_choice().map(|choice| choice.to_string())
    }

    fn bulk_cancel(&mut self, peer: Peer, cookie: Cookie) {
        self.bulk.cancel(peer, cookie);
    }

    fn bulk_receive(
        &mut self,
        peer: Peer,
        descriptor: BulkDescriptor,
        bytes: usize,
        target: Memory,
        cookie: Cookie,
    ) -> Result<(), Refused> {
        self.bulk
            .receive(&mut self.links, peer, descriptor, bytes, target, cookie)
    }

    fn end(&mut self, peer: Peer, why: &Lost) {
        self.links.lose(why.clone(), peer);
        self.clear(peer);
    }

    fn throttle(&mut self, peer: Peer, on: bool) {
        self.arrivals.throttle(peer, on);
    }

    fn expect(&mut self, peer: Peer, _one_of_many: bool) -> Result<(), Refused> {
        self.links.expect(peer)
    }

    fn arm(&mut self) -> bool {
        self.check_peers_and_memory();
        self.links.has_lost()
            | self.arrivals.unwatch(&mut self.links)
            | self.links.wait_for_room()
            | self.bulk.wait()
            | self.links.is_signalled()
    }

    fn disarm(&mut self) {
        self.links.shared.base.stay_awake();
        self.arrivals.watch();
        self.links.end_wait();
        self.bulk.end_wait();
    }

    fn describe(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        self.links.describe(out)?;
        self.bulk.describe(out)
    }
}
