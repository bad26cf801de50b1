//! One lane's route to every peer.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use weft_memory::Memory;
use weft_transport::{Access, BulkDescriptor, Cookie, Endpoint, Header, Lost, Peer, Refused, Sink};

use super::decisions::{Decisions, Route};

const fn smaller(a: usize, b: usize) -> usize {
    if a < b { a } else { b }
}

/// One lane of [`Either`](super::Either).
pub struct EitherEndpoint<A, B> {
    first: Option<A>,
    second: Option<B>,
    decisions: Arc<Decisions>,
    /// What the lane has seen of them.
    known: BTreeMap<Peer, Route>,
    /// Peers whose route is not decided, and to which something is to be sent.
    waiting: Vec<Peer>,
}

/// A call of the endpoint that reaches a peer. Of the two parts there is the one that the route names.
macro_rules! call {
    ($self:ident, $route:expr, $endpoint:ident => $call:expr) => {
        match ($route, &mut $self.first, &mut $self.second) {
            (Route::First, Some($endpoint), _) => $call,
            (Route::Second, _, Some($endpoint)) => $call,
            _ => unreachable!("a route leads to a fabric that there is"),
        }
    };
}

impl<A: Endpoint, B: Endpoint> EitherEndpoint<A, B> {
    pub(super) fn new(
        first: Option<A>,
        second: Option<B>,
        decisions: Arc<Decisions>,
    ) -> EitherEndpoint<A, B> {
        EitherEndpoint {
            first,
            second,
            decisions,
            known: BTreeMap::new(),
            waiting: Vec::new(),
        }
    }

    /// The route to a peer. One that is not decided is, once the fabric is asked to connect.
    #[inline]
    fn route(&mut self, peer: Peer) -> Result<Route, Refused> {
        match (&self.first, &self.second) {
            (Some(_), None) => Ok(Route::First),
            (None, _) => Ok(Route::Second),
            (Some(_), Some(_)) => self.decided(peer),
        }
    }

    fn decided(&mut self, peer: Peer) -> Result<Route, Refused> {
        if let Some(&route) = self.known.get(&peer) {
            return Ok(route);
        }
        if let Some(route) = self.decisions.find(peer) {
            self.known.insert(peer, route);
            return Ok(route);
        }
        if !self.waiting.contains(&peer) {
            self.waiting.push(peer);
        }
        Err(Refused::Connecting)
    }

    #[cold]
    fn tell_decided(&mut self, sink: &mut impl Sink) -> bool {
        let before = self.waiting.len();
        let decisions = &self.decisions;
        self.waiting.retain(|&peer| {
            let is_decided = decisions.find(peer).is_some();
            if is_decided {
                sink.writable(peer);
            }
            !is_decided
        });
        self.waiting.len() != before
    }
}

/// Notes by which route peers come to which this lane has no route yet.
struct Noting<'e, S> {
    sink: &'e mut S,
    known: &'e mut BTreeMap<Peer, Route>,
    decisions: &'e Decisions,
    route: Route,
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
            self.known
                .insert(from, self.decisions.note(from, self.route));
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
        let route = self.known.get(&peer);
        match (route, &self.first, &self.second) {
            (Some(Route::First) | None, Some(first), None) => first.eager_limit(peer),
            (Some(Route::First), Some(first), _) => first.eager_limit(peer),
            (Some(Route::Second), _, Some(second)) => second.eager_limit(peer),
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
        let route = self.route(peer)?;
        call!(self, route, endpoint => endpoint.send(peer, header, payload, throttled))
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
        let route = self.route(peer)?;
        call!(self, route, endpoint => endpoint.send_with(peer, header, bytes, throttled, fill))
    }

    #[inline]
    fn poll(&mut self, sink: &mut impl Sink) -> bool {
        let (known, decisions) = (&mut self.known, &*self.decisions);
        let mut moved = match (&mut self.first, &mut self.second) {
            (Some(first), None) => first.poll(sink),
            (None, Some(second)) => second.poll(sink),
            (Some(first), Some(second)) => {
                let mut noting = Noting {
                    sink,
                    known,
                    decisions,
                    route: Route::First,
                };
                let moved = first.poll(&mut noting);
                noting.route = Route::Second;
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
        let route = self.route(peer)?;
        call!(self, route, endpoint => endpoint.bulk_send(peer, source, cookie))
    }

    /// There is a transfer, so there is a route.
    fn bulk_cancel(&mut self, peer: Peer, cookie: Cookie) {
        if let Ok(route) = self.route(peer) {
            call!(self, route, endpoint => endpoint.bulk_cancel(peer, cookie));
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
        let route = self.route(peer)?;
        call!(self, route, endpoint => endpoint.bulk_receive(peer, descriptor, bytes, target, cookie))
    }

    fn access(&mut self, peer: Peer, access: Access, cookie: Cookie) -> Result<(), Refused> {
        let route = self.route(peer)?;
        call!(self, route, endpoint => endpoint.access(peer, access, cookie))
    }

    /// A peer to which no route is decided is lost on the second, and has no other from here on.
    fn end(&mut self, peer: Peer, why: &Lost) {
        let route = self.route(peer).unwrap_or_else(|_| {
            self.waiting.retain(|&other| other != peer);
            self.decisions.note(peer, Route::Second)
        });
        call!(self, route, endpoint => endpoint.end(peer, why));
    }

    fn throttle(&mut self, peer: Peer, on: bool) {
        if let Ok(route) = self.route(peer) {
            call!(self, route, endpoint => endpoint.throttle(peer, on));
        }
    }

    fn expect(&mut self, peer: Peer, one_of_many: bool) -> Result<(), Refused> {
        let route = self.route(peer)?;
        call!(self, route, endpoint => endpoint.expect(peer, one_of_many))
    }

    fn arm(&mut self) -> bool {
        let decisions = &self.decisions;
        let mut is_any = self
            .waiting
            .iter()
            .any(|&peer| decisions.find(peer).is_some());
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
            writeln!(out, "  a route to rank {peer} is being found")?;
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
