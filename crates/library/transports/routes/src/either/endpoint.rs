//! One lane's way to every peer.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use weft_memory::Memory;
use weft_transport::{Access, BulkDescriptor, Cookie, Endpoint, Header, Lost, Peer, Refused, Sink};

use super::ways::{Way, Ways};

const fn smaller(a: usize, b: usize) -> usize {
    if a < b { a } else { b }
}

/// One lane of [`Either`](super::Either).
pub struct EitherEndpoint<A, B> {
    first: Option<A>,
    second: Option<B>,
    ways: Arc<Ways>,
    /// What the lane has seen of them.
    known: BTreeMap<Peer, Way>,
    /// Peers whose way is not decided, and to which something is to be sent.
    waiting: Vec<Peer>,
}

/// A call of the endpoint that reaches a peer. Of the two there is the one that the way says.
macro_rules! call {
    ($self:ident, $way:expr, $endpoint:ident => $call:expr) => {
        match ($way, &mut $self.first, &mut $self.second) {
            (Way::First, Some($endpoint), _) => $call,
            (Way::Second, _, Some($endpoint)) => $call,
            _ => unreachable!("a way leads to a fabric that there is"),
        }
    };
}

impl<A: Endpoint, B: Endpoint> EitherEndpoint<A, B> {
    pub(super) fn new(
        first: Option<A>,
        second: Option<B>,
        ways: Arc<Ways>,
    ) -> EitherEndpoint<A, B> {
        EitherEndpoint {
            first,
            second,
            ways,
            known: BTreeMap::new(),
            waiting: Vec::new(),
        }
    }

    /// The way to a peer. One that is not decided is, once the fabric is asked to connect.
    #[inline]
    fn way(&mut self, peer: Peer) -> Result<Way, Refused> {
        match (&self.first, &self.second) {
            (Some(_), None) => Ok(Way::First),
            (None, _) => Ok(Way::Second),
            (Some(_), Some(_)) => self.decided(peer),
        }
    }

    fn decided(&mut self, peer: Peer) -> Result<Way, Refused> {
        if let Some(&way) = self.known.get(&peer) {
            return Ok(way);
        }
        if let Some(way) = self.ways.find(peer) {
            self.known.insert(peer, way);
            return Ok(way);
        }
        if !self.waiting.contains(&peer) {
            self.waiting.push(peer);
        }
        Err(Refused::Connecting)
    }

    #[cold]
    fn tell_decided(&mut self, sink: &mut impl Sink) -> bool {
        let before = self.waiting.len();
        let ways = &self.ways;
        self.waiting.retain(|&peer| {
            let is_decided = ways.find(peer).is_some();
            if is_decided {
                sink.writable(peer);
            }
            !is_decided
        });
        self.waiting.len() != before
    }
}

/// Notes by which way peers come to which this lane has no way yet.
struct Noting<'e, S> {
    sink: &'e mut S,
    known: &'e mut BTreeMap<Peer, Way>,
    ways: &'e Ways,
    way: Way,
}

impl<S: Sink> Sink for Noting<'_, S> {
    fn looks_ahead(&self) -> bool {
        self.sink.looks_ahead()
    }
    fn expects_nothing(&self) -> bool {
        self.sink.expects_nothing()
    }
    fn upcoming(&mut self, from: Peer, header: Header) {
        self.sink.upcoming(from, header);
    }
    fn packet(&mut self, from: Peer, header: Header, payload: &[u8]) {
        if !self.known.contains_key(&from) {
            self.known.insert(from, self.ways.note(from, self.way));
        }
        self.sink.packet(from, header, payload);
    }
    fn sent(&mut self, cookie: Cookie) {
        self.sink.sent(cookie);
    }
    fn received(&mut self, cookie: Cookie) {
        self.sink.received(cookie);
    }
    fn writable(&mut self, peer: Peer) {
        self.sink.writable(peer);
    }
    fn connect(&mut self, peer: Peer) {
        self.sink.connect(peer);
    }
    fn lost(&mut self, peer: Peer, lost: &Lost) {
        self.sink.lost(peer, lost);
    }
}

impl<A: Endpoint, B: Endpoint> Endpoint for EitherEndpoint<A, B> {
    const EAGER_TO_ALL: usize = smaller(A::EAGER_TO_ALL, B::EAGER_TO_ALL);

    fn eager_limit(&self, peer: Peer) -> usize {
        let way = self.known.get(&peer);
        match (way, &self.first, &self.second) {
            (Some(Way::First) | None, Some(first), None) => first.eager_limit(peer),
            (Some(Way::First), Some(first), _) => first.eager_limit(peer),
            (Some(Way::Second), _, Some(second)) => second.eager_limit(peer),
            (_, None, Some(second)) => second.eager_limit(peer),
            _ => Self::EAGER_TO_ALL,
        }
    }

    #[inline]
    fn send(
        &mut self,
        peer: Peer,
        header: Header,
        payload: &[u8],
        throttled: bool,
    ) -> Result<(), Refused> {
        let way = self.way(peer)?;
        call!(self, way, endpoint => endpoint.send(peer, header, payload, throttled))
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
        let way = self.way(peer)?;
        call!(self, way, endpoint => endpoint.send_with(peer, header, bytes, throttled, fill))
    }

    #[inline]
    fn poll(&mut self, sink: &mut impl Sink) -> bool {
        let (known, ways) = (&mut self.known, &*self.ways);
        let mut moved = match (&mut self.first, &mut self.second) {
            (Some(first), None) => first.poll(sink),
            (None, Some(second)) => second.poll(sink),
            (Some(first), Some(second)) => {
                let mut noting = Noting {
                    sink,
                    known,
                    ways,
                    way: Way::First,
                };
                let moved = first.poll(&mut noting);
                noting.way = Way::Second;
                moved | second.poll(&mut noting)
            }
            (None, None) => false,
        };
        if !self.waiting.is_empty() {
            moved |= self.tell_decided(sink);
        }
        moved
    }

    #[inline]
    fn flush(&mut self) {
        if let Some(first) = &mut self.first {
            first.flush();
        }
        if let Some(second) = &mut self.second {
            second.flush();
        }
    }

    fn bulk_send(
        &mut self,
        peer: Peer,
        source: Memory,
        cookie: Cookie,
    ) -> Result<BulkDescriptor, Refused> {
        let way = self.way(peer)?;
        call!(self, way, endpoint => endpoint.bulk_send(peer, source, cookie))
    }

    /// There is a transfer, so there is a way.
    fn bulk_cancel(&mut self, peer: Peer, cookie: Cookie) {
        if let Ok(way) = self.way(peer) {
            call!(self, way, endpoint => endpoint.bulk_cancel(peer, cookie));
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
        let way = self.way(peer)?;
        call!(self, way, endpoint => endpoint.bulk_receive(peer, descriptor, bytes, target, cookie))
    }

    fn access(&mut self, peer: Peer, access: Access, cookie: Cookie) -> Result<(), Refused> {
        let way = self.way(peer)?;
        call!(self, way, endpoint => endpoint.access(peer, access, cookie))
    }

    /// A peer to which no way is decided is lost on the second, and has no other from here on.
    fn end(&mut self, peer: Peer, why: &Lost) {
        let way = self.way(peer).unwrap_or_else(|_| {
            self.waiting.retain(|&other| other != peer);
            self.ways.note(peer, Way::Second)
        });
        call!(self, way, endpoint => endpoint.end(peer, why));
    }

    fn throttle(&mut self, peer: Peer, on: bool) {
        if let Ok(way) = self.way(peer) {
            call!(self, way, endpoint => endpoint.throttle(peer, on));
        }
    }

    fn expect(&mut self, peer: Peer, one_of_many: bool) -> Result<(), Refused> {
        let way = self.way(peer)?;
        call!(self, way, endpoint => endpoint.expect(peer, one_of_many))
    }

    fn arm(&mut self) -> bool {
        let ways = &self.ways;
        let mut is_any = self.waiting.iter().any(|&peer| ways.find(peer).is_some());
        if let Some(first) = &mut self.first {
            is_any |= first.arm();
        }
        if let Some(second) = &mut self.second {
            is_any |= second.arm();
        }
        is_any
    }

    fn disarm(&mut self) {
        if let Some(first) = &mut self.first {
            first.disarm();
        }
        if let Some(second) = &mut self.second {
            second.disarm();
        }
    }

    fn describe(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        for peer in &self.waiting {
            writeln!(out, "  a way to rank {peer} is being found")?;
        }
        if let Some(first) = &self.first {
            first.describe(out)?;
        }
        match &self.second {
            None => Ok(()),
            Some(second) => second.describe(out),
        }
    }
}
