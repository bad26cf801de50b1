//! One lane's way to every peer.

#[cfg(test)]
mod ending_tests;
#[cfg(test)]
mod silence_tests;
#[cfg(test)]
mod stripe_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod watching_tests;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use weft_memory::Memory;
use weft_transport::bursts::Habit;
use weft_transport::{BulkDescriptor, Cookie, Endpoint, Header, Lost, Peer, Refused, Sink};

use crate::frame::{EAGER_BYTES, FrameKind, Malformed};
use crate::handshake::Purpose;
use crate::links::Links;
use crate::sending::Stream;
use crate::shared::Shared;
use crate::user_memory::{Source, Target};
use weft_transport::endings::lost;

/// Turns between two looks at what is not hot.
const LOOK_EVERY: u32 = 16;
/// Turns between two looks at the clock, whether it is time to find silent hosts. A thread that sleeps does so each time.
const FIND_SILENT_EVERY: u32 = 1 << 12;
/// A process that leaves waits no longer than so for its peers' hosts to have what it sent.
const PARTING: Duration = Duration::from_secs(5);

/// One lane's endpoint. Driven under the lane's lock.
pub struct TcpEndpoint {
    links: Links,
    habit: Habit,
    /// Between a turn's poll and its flush what is sent is gathered.
    gathers: bool,
    /// The last turn began by telling of room, and read nothing.
    has_told_room: bool,
    /// Something may have come while the process slept.
    looks: bool,
}

impl TcpEndpoint {
    pub(crate) fn new(shared: Arc<Shared>, lane: u32) -> TcpEndpoint {
        assert!(
            lane < shared.identity.lanes,
            "lane {lane} of {}",
            shared.identity.lanes
        );
        let poller = shared.lanes[lane as usize].take_poller();
        TcpEndpoint {
            links: Links::new(shared, lane, poller),
            habit: Habit::default(),
            gathers: false,
            has_told_room: false,
            looks: true,
        }
    }

    /// A packet that waits in order, or a turn's end.
    fn queue(&mut self, link: usize, header: Header, bytes: usize, fill: impl FnOnce(&mut [u8])) {
        let is_much = self.links.at(link).push(header, bytes, fill);
        if self.gathers && !is_much {
            self.links.gather(link);
        } else {
            self.links.write(link, Purpose::Packets);
        }
    }

    fn may_send(&mut self, peer: Peer, throttled: bool) -> Result<usize, Refused> {
        let link = self.links.reach(peer)?;
        let there = self.links.at(link);
        let may = there.may_send(throttled, self.gathers, &mut self.habit);
        match may {
            Ok(()) if !self.gathers => there.burst.sent(&mut self.habit, Instant::now),
            Err(Refused::Busy) => self.links.refuse(link),
            _ => {}
        }
        may.map(|()| link)
    }

    /// Something of the transport's own is queued for a peer.
    fn send_own(&mut self, link: usize) {
        if self.gathers {
            self.links.gather(link);
        } else {
            self.links.write(link, Purpose::Packets);
        }
    }

    fn lied(&mut self, peer: Peer, Malformed(what): Malformed) -> Refused {
        let why = lost(peer, format!("it sent {what}"));
        self.links.lose(peer, why, false);
        Refused::Lost
    }
}

impl Endpoint for TcpEndpoint {
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
        assert!(
            payload.len() <= EAGER_BYTES,
            "a packet of {} bytes",
            payload.len()
        );
        let link = self.may_send(peer, throttled)?;
        if self.gathers || !self.links.at(link).is_clear() {
            self.queue(link, header, payload.len(), |out| {
                out.copy_from_slice(payload)
            });
        } else {
            self.links.write_now(link, header, payload);
        }
        Ok(())
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
        self.queue(link, header, bytes, fill);
        Ok(())
    }

    /// Out of line, as the other transports' are: a caller that has several would have the frames of all, and a thread's stack
    /// may be small.
    #[inline(never)]
    fn poll(&mut self, sink: &mut impl Sink) -> bool {
        self.habit.turn(Instant::now);
        self.flush();
        self.gathers = true;
        // A peer that a burst was sent to is waited for by a sender: its messages go before anything is read.
        let tells_room =
            self.links.has_refused() && !std::mem::replace(&mut self.has_told_room, true);
        if tells_room && self.links.tell_room(sink) {
            return true;
        }
        self.has_told_room = false;
        let looks =
            std::mem::take(&mut self.looks) || self.habit.number().is_multiple_of(LOOK_EVERY);
        if self.habit.number().is_multiple_of(FIND_SILENT_EVERY) {
            self.links.find_silent();
        }
        let moved = self.links.turn(looks, sink);
        moved | self.links.tell(sink)
    }

    #[inline]
    fn flush(&mut self) {
        if std::mem::take(&mut self.gathers) {
            self.links.write_gathered();
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
        let there = self.links.at(link);
        let descriptor = there.sending.open(source, cookie);
        self.links.take_done(link);
        Ok(descriptor)
    }

    fn bulk_cancel(&mut self, peer: Peer, cookie: Cookie) {
        self.links.forget_sent(cookie);
        let Ok(link) = self.links.reach(peer) else {
            return;
        };
        let there = self.links.at(link);
        let outs = there.channels.iter_mut().map(|channel| &mut channel.out);
        if let Some((transfer, bytes)) = there.sending.cancel(cookie, outs) {
            there
                .out()
                .push(FrameKind::Cancel, [transfer, bytes as u64]);
            self.send_own(link);
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
        let there = self.links.at(link);
        match there.receiving.take_up(descriptor, bytes, target, cookie) {
            Err(malformed) => Err(self.lied(peer, malformed)),
            Ok((way, asks)) => {
                if let Some(asks) = asks {
                    there
                        .out()
                        .push(FrameKind::Cts, [asks.id, asks.wanted as u64]);
                    self.send_own(link);
                }
                if way == Stream::Bulk {
                    self.links.unstall(link);
                }
                self.links.give_credit(link);
                self.links.take_done(link);
                Ok(())
            }
        }
    }

    fn end(&mut self, peer: Peer, why: &Lost) {
        self.links.lose(peer, why.clone(), false);
    }

    fn throttle(&mut self, peer: Peer, on: bool) {
        if let Ok(link) = self.links.reach(peer) {
            self.links
                .at(link)
                .out()
                .push(FrameKind::Throttle, [on.into(), 0]);
            self.send_own(link);
        }
    }

    fn expect(&mut self, peer: Peer, one_of_many: bool) -> Result<(), Refused> {
        self.links.expect(peer, one_of_many)
    }

    fn arm(&mut self) -> bool {
        self.flush();
        self.links.arm()
    }

    fn look(&mut self) {
        self.looks = true;
    }

    fn disarm(&mut self) {
        self.links.shared.stay_awake();
        self.links.disarm();
        self.links.find_silent();
        self.looks = true;
    }

    fn describe(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        self.links.describe(out)
    }
}

#[cfg(test)]
impl TcpEndpoint {
    /// Ends all connections as the kernel does when the process dies.
    fn die(&mut self) {
        self.links.drop_all();
    }

    /// Ends the connections for stripes, as when an interface fails. How many there were.
    fn cut_stripes(&mut self, peer: Peer) -> usize {
        let link = self.links.reach(peer).expect("a link");
        let channels = &self.links.at(link).channels;
        let stripes: Vec<u8> = channels.stripes().collect();
        for &number in &stripes {
            let socket = &channels.at(Purpose::Stripe(number)).socket;
            let socket = socket.as_ref().expect("it stands");
            socket.shutdown(std::net::Shutdown::Both).unwrap();
        }
        stripes.len()
    }

    /// Sends bytes that are no frames.
    fn scribble(&mut self, peer: Peer, bytes: &[u8]) {
        let link = self.links.reach(peer).expect("a link");
        self.links.at(link).out().push_bytes(&[bytes]);
        self.links.write(link, Purpose::Packets);
    }
}

impl Drop for TcpEndpoint {
    fn drop(&mut self) {
        let patience = self.links.shared.identity.timeout.unwrap_or(PARTING);
        self.links.leave(patience.min(PARTING));
    }
}
