//! One lane's way to every peer of the host.

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use weft_sync::cells::INLINE_BYTES;
use weft_transport::{BulkDescriptor, Cookie, Endpoint, Header, Lost, Memory, Peer, Refused, Sink};

use crate::arrivals::Arrivals;
use crate::bulk::Bulk;
use crate::layout::{EAGER_BYTES, PACKET};
use crate::links::{Counters, Links};
use crate::shared::Shared;

/// Turns between two looks for a ring to cool.
const COOL_EVERY: u32 = 32;
/// Turns between two looks at the clock, few enough where each turn yields the processor to others; and the time
/// between two looks at what changes slowly.
const CLOCK_EVERY: u32 = 1 << 7;
const LOOK_AROUND_EVERY: Duration = Duration::from_millis(200);

/// One lane's endpoint. Driven under the lane's lock.
pub struct ShmEndpoint {
    arrivals: Arrivals,
    links: Links,
    bulk: Bulk,
    turn: u32,
    looked_around: Instant,
}

impl ShmEndpoint {
    pub(crate) fn new(shared: Arc<Shared>, lane: u32) -> ShmEndpoint {
        assert!(
            lane < shared.shape.lanes,
            "lane {lane} of {}",
            shared.shape.lanes
        );
        ShmEndpoint {
            arrivals: Arrivals::new(),
            links: Links::new(shared, lane),
            bulk: Bulk::new(),
            turn: 0,
            looked_around: Instant::now(),
        }
    }

    pub fn counters(&self) -> Counters {
        Counters {
            hot_rings: self.arrivals.hot() as u64,
            ..self.links.counters
        }
    }

    /// Ends all that has to do with peers found lost, and tells the engine.
    #[cold]
    fn bury(&mut self, sink: &mut impl Sink) {
        while let Some((peer, lost)) = self.links.take_lost() {
            self.arrivals.forget(peer);
            self.bulk.forget(peer);
            sink.lost(peer, &lost);
        }
    }

    /// What is done only now and then.
    #[cold]
    fn keep_house(&mut self) {
        self.arrivals.cool_one(self.turn, &mut self.links);
        if self.turn.is_multiple_of(CLOCK_EVERY) {
            self.look_around();
        }
    }

    /// Finds out, now and then, about peers that have died and memory that is not used.
    #[cold]
    fn look_around(&mut self) {
        if self.looked_around.elapsed() < LOOK_AROUND_EVERY {
            return;
        }
        self.looked_around = Instant::now();
        self.bulk.rest(&mut self.links);
        let arrivals = &self.arrivals;
        self.links
            .check_lives(|peer| arrivals.has_from(peer), arrivals.neighbours());
    }
}

impl Endpoint for ShmEndpoint {
    fn eager_limit(&self) -> usize {
        EAGER_BYTES
    }

    // A short packet is a few stores: less than a call.
    #[inline(always)]
    fn send(
        &mut self,
        peer: Peer,
        header: Header,
        payload: &[u8],
        throttled: bool,
    ) -> Result<(), Refused> {
        if payload.len() > INLINE_BYTES {
            return self.send_with(peer, header, payload.len(), throttled, |out| {
                out.copy_from_slice(payload);
            });
        }
        self.links
            .push_short(peer, PACKET, header.0, payload, throttled)?;
        if self.bulk.has_begun() {
            self.bulk.go_on_sending(&mut self.links);
        }
        Ok(())
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
        assert!(bytes <= EAGER_BYTES, "a packet of {bytes} bytes");
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
            moved |= self.arrivals.answer(self.turn, &mut self.links);
        }
        moved |= self
            .arrivals
            .poll(self.turn, &mut self.links, &mut self.bulk, sink);
        if self.links.is_blocked() {
            moved |= self.links.unblock(sink);
        }
        if self.bulk.is_active() {
            moved |= self.bulk.poll(&mut self.links, sink);
        }
        if self.turn.is_multiple_of(COOL_EVERY) {
            self.keep_house();
        }
        if self.links.has_lost() {
            self.bury(sink);
            moved = true;
        }
        moved
    }

    fn bulk_send(
        &mut self,
        peer: Peer,
        source: Memory,
        cookie: Cookie,
    ) -> Result<BulkDescriptor, Refused> {
        if self.links.is_lost(peer) {
            return Err(Refused::Lost);
        }
        Ok(self.bulk.offer(&mut self.links, peer, source, cookie))
    }

    fn bulk_cancel(&mut self, peer: Peer, cookie: Cookie) {
        self.bulk.retract(peer, cookie);
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
            .accept(&mut self.links, peer, descriptor, bytes, target, cookie)
            .map_err(|_| Refused::Lost)
    }

    fn end(&mut self, peer: Peer, why: &Lost) {
        self.links.lose(why.clone(), peer);
        self.arrivals.forget(peer);
        self.bulk.forget(peer);
    }

    fn throttle(&mut self, peer: Peer, on: bool) {
        self.arrivals.throttle(peer, on);
    }

    fn expect(&mut self, peer: Peer) -> Result<(), Refused> {
        match self.links.expect(peer) {
            true => Ok(()),
            false => Err(Refused::Lost),
        }
    }

    fn arm(&mut self) -> bool {
        self.look_around();
        self.links.has_lost()
            | self.arrivals.look_away(&mut self.links)
            | self.links.wait_for_room()
            | self.bulk.wait()
            | self.links.is_signalled()
    }

    fn disarm(&mut self) {
        self.links.shared.base.stay_awake();
        self.arrivals.watch();
        self.links.stop_waiting();
        self.bulk.stop_waiting();
    }

    fn describe(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        self.links.describe(out)?;
        self.bulk.describe(out)
    }
}
