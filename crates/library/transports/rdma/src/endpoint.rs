//! One lane's way to every peer.

#[cfg(test)]
mod access_tests;
#[cfg(test)]
mod ending_tests;
#[cfg(test)]
mod pool_tests;
#[cfg(test)]
mod rail_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod xrc_tests;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use weft_memory::Memory;
use weft_transport::bursts::Habit;
use weft_transport::endings::lost;
use weft_transport::{
    Access, BulkDescriptor, Cookie, Direction, Endpoint, Exposed, Header, Lost, Peer, Refused, Sink,
};

use crate::access::Far;
use crate::bulk::receiving::STRIPED_BYTES;
use crate::frame::{EAGER_BYTES, FrameKind, Malformed};
use crate::keys::Keys;
use crate::links::Links;
use crate::parts::INLINE_BYTES;
use crate::send_queue::LIST;
use crate::shared::Shared;
use crate::user_memory::{Source, Target};

/// Turns between two looks at the clock and at who asks for links.
const LOOK_EVERY: u32 = 32;
/// A process that leaves waits no longer than so for its peers to have what it sent.
const PARTING: Duration = Duration::from_secs(5);

/// One lane's endpoint. Driven under the lane's lock.
pub struct RdmaEndpoint {
    links: Links,
    /// Between a turn's poll and its flush what is sent is gathered.
    gathers: bool,
    /// Short writes, or packets of a burst, have been gathered, which leave together with the next turn, or as soon as they fill a list.
    has_gathered: bool,
    habit: Habit,
    /// Something may have come while the process slept.
    looks: bool,
}

impl RdmaEndpoint {
    pub(crate) fn new(shared: Arc<Shared>, lane: u32) -> RdmaEndpoint {
        let lanes = shared.identity.lanes;
        assert!(lane < lanes, "lane {lane} of {lanes}");
        RdmaEndpoint {
            links: Links::new(shared, lane),
            gathers: false,
            has_gathered: false,
            habit: Habit::default(),
            looks: true,
        }
    }

    /// Something of the transport's own is queued for a peer.
    fn post_own(&mut self, link: usize) {
        self.links.activate(link);
        if !self.gathers {
            self.links.pump();
        }
    }

    /// A write that is copied when it is posted has been begun. Its origin asks for its end by a call that makes turns, so that those in a row
    /// leave as one list: one doorbell and one completion.
    fn gather_write(&mut self, link: usize) {
        match self.links.at(link).accesses.waiting() >= LIST {
            true => self.post_own(link),
            false => {
                self.links.activate(link);
                self.has_gathered = true;
            }
        }
    }

    /// Whether a packet that is sent outside of turns waits for the others of its burst.
    fn waits(&mut self, link: usize) -> bool {
        let burst = &mut self.links.at(link).burst;
        let waits = burst.waits(&mut self.habit, Instant::now);
        match waits {
            true => self.has_gathered = true,
            false => burst.sent(&mut self.habit, Instant::now),
        }
        waits
    }

    /// The link to which a packet may be sent.
    fn may_send(&mut self, peer: Peer, throttled: bool) -> Result<usize, Refused> {
        let link = self.links.reach(peer)?;
        match throttled && self.links.at(link).keeps_payload() {
            true => Err(Refused::Throttled),
            false => Ok(link),
        }
    }
}

impl Endpoint for RdmaEndpoint {
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
            out.copy_from_slice(payload)
        })
    }

    fn send_with(
        &mut self,
        peer: Peer,
        header: Header,
        bytes: usize,
        throttled: bool,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), Refused> {
        assert!(bytes <= EAGER_BYTES, "a packet of {bytes} bytes");
        let link = self.may_send(peer, throttled)?;
        let gathers = self.gathers || throttled && self.waits(link);
        if gathers && let Some(place) = self.links.gather(link, header, bytes)? {
            fill(place);
            self.links.at(link).count_payload(bytes);
            return Ok(());
        }
        self.links.end_gathering(link)?;
        let Some(piece) = self.links.place(link, bytes) else {
            self.habit.has_no_room();
            self.links.refuse(link);
            return Err(Refused::Busy);
        };
        self.links.at(link).count_payload(bytes);
        self.links.send(link, piece, header, bytes, gathers, fill);
        Ok(())
    }

    /// Out of line, as the other transports' are: a caller that has several would have the frames of all, and a thread's stack
    /// may be small.
    #[inline(never)]
    fn poll(&mut self, sink: &mut impl Sink) -> bool {
        self.habit.turn(Instant::now);
        self.flush();
        self.gathers = true;
        if std::mem::take(&mut self.looks) || self.habit.number().is_multiple_of(LOOK_EVERY) {
            let now = Instant::now();
            self.links.shared.glance(now);
            self.links.ask(now);
            self.links.count();
        }
        let mut moved = self.links.has_arrivals() && self.links.take_left();
        let (done, is_all) = self.links.turn(sink);
        moved |= done;
        // What a peer had sent before it was lost is taken first.
        if is_all && self.links.has_endings() {
            moved |= self.links.take_endings();
        }
        moved | self.links.tell(sink)
    }

    #[inline]
    fn flush(&mut self) {
        if std::mem::take(&mut self.gathers) | std::mem::take(&mut self.has_gathered) {
            self.links.pump();
        }
    }

    fn bulk_send(
        &mut self,
        peer: Peer,
        source: Memory,
        cookie: Cookie,
    ) -> Result<BulkDescriptor, Refused> {
        let link = self.links.reach(peer)?;
        // SAFETY: the engine gives the memory to the transport until it is told `sent` or `lost`, or cancels, after none of
        // which it is kept (`weft_transport`).
        let source = unsafe { Source::new(source) };
        let domains = self.links.domains(link, source.bytes() >= STRIPED_BYTES);
        Ok(self.links.at(link).sending.open(source, cookie, domains))
    }

    fn bulk_cancel(&mut self, peer: Peer, cookie: Cookie) {
        self.links.forget_sent(cookie);
        if let Some(link) = self.links.known(peer) {
            self.links.at(link).sending.cancel(cookie);
        }
    }

    fn bulk_receive(
        &mut self,
        peer: Peer,
        descriptor: BulkDescriptor,
        bytes: usize,
        target: Memory,
        cookie: Cookie,
    ) -> Result<(), Refused> {
        let link = self.links.reach(peer)?;
        // SAFETY: the engine gives the memory to the transport until it is told `received` or `lost`, after which it is not
        // kept (`weft_transport`).
        let target = unsafe { Target::new(target) };
        let next = self.links.take_up(link, descriptor, bytes, target, cookie);
        match next {
            Err(Malformed(what)) => {
                let why = lost(peer, format!("it sent {what}"));
                self.links.lose(peer, why, false);
                Err(Refused::Lost)
            }
            Ok(next) => {
                let received = self.links.at(link).follow(next);
                self.links.complete(peer, received);
                self.post_own(link);
                Ok(())
            }
        }
    }

    fn access(&mut self, peer: Peer, access: Access, cookie: Cookie) -> Result<(), Refused> {
        let link = self.links.reach(peer)?;
        let Exposed([address, first, second]) = access.exposed;
        let to = Far {
            address: address.wrapping_add(access.offset),
            keys: Keys::of([first, second]),
        };
        let is_short = access.memory.bytes <= INLINE_BYTES as usize;
        let is_gathered = is_short && access.direction == Direction::Write;
        let accesses = &mut self.links.at(link).accesses;
        // SAFETY: the engine gives the memory to the transport until it is told `sent`, `received` or `lost`, after which it is not kept
        // (`weft_transport`).
        unsafe { accesses.begin(access.direction, access.memory, to, cookie) };
        match is_gathered {
            true => self.gather_write(link),
            false => self.post_own(link),
        }
        Ok(())
    }

    fn end(&mut self, peer: Peer, why: &Lost) {
        self.links.lose(peer, why.clone(), false);
    }

    fn throttle(&mut self, peer: Peer, on: bool) {
        // One that sends may never have been sent to: then there is no way to it yet, and what is said waits for that.
        if let Some(link) = self.links.known(peer) {
            self.links.at(link).say(FrameKind::Throttle, [on.into(), 0]);
            self.links.ask_again(link);
            self.post_own(link);
        }
    }

    fn expect(&mut self, peer: Peer, one_of_many: bool) -> Result<(), Refused> {
        self.links.expect(peer, one_of_many)
    }

    fn arm(&mut self) -> bool {
        self.flush();
        self.links.arm()
    }

    fn disarm(&mut self) {
        self.links.shared.stay_awake();
        self.looks = true;
    }

    fn describe(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        self.links.describe(out)
    }
}

#[cfg(test)]
impl RdmaEndpoint {
    /// Ends all queue pairs as the kernel does when the process dies.
    fn die(&mut self) {
        self.links.drop_all();
    }

    /// Ends the lane's queue pairs of a rail's, as an adapter does that fails.
    fn break_rail(&mut self, rail: usize) {
        self.links.break_rail(rail);
    }

    /// Sends a frame of the transport's own.
    fn say(&mut self, peer: Peer, kind: FrameKind, words: [u64; 2]) {
        let link = self.links.reach(peer).expect("a link");
        self.links.at(link).say(kind, words);
        self.post_own(link);
    }

    /// Gives the peer credits that it is not owed, by the first queue pair of the link.
    fn give(&mut self, peer: Peer, credits: u32) {
        let link = self.links.reach(peer).expect("a link");
        self.links.give(link, credits);
    }
}

impl Drop for RdmaEndpoint {
    fn drop(&mut self) {
        let patience = self.links.shared.identity.timeout.unwrap_or(PARTING);
        self.links.leave(patience.min(PARTING));
    }
}
