//! One lane's way to every peer.

use std::fmt;

use weft_memory::Memory;
use weft_transport::tracer::TracerEndpoint;
use weft_transport::{
    Access, BulkDescriptor, Cookie, Endpoint, Fabric, Header, Lost, NearEndpoint, Peer, Refused,
    Sink,
};

use crate::away::Away;

const fn smaller(a: usize, b: usize) -> usize {
    if a < b { a } else { b }
}

/// One lane of [`Routes`](crate::Routes).
pub struct RoutesEndpoint<N, F: Fabric> {
    near: N,
    away: Option<Box<Away<F, RoutesEndpoint<N, F>>>>,
}

impl<N: NearEndpoint, F: Fabric> RoutesEndpoint<N, F> {
    pub(crate) fn new(
        near: N,
        away: Option<Box<Away<F, RoutesEndpoint<N, F>>>>,
    ) -> RoutesEndpoint<N, F> {
        RoutesEndpoint { near, away }
    }

    /// A lane of a process that is traced; `nobody` is what its near part reaches.
    pub(crate) fn traced(
        nobody: N,
        endpoint: TracerEndpoint<RoutesEndpoint<N, F>>,
    ) -> RoutesEndpoint<N, F> {
        RoutesEndpoint {
            near: nobody,
            away: Some(Box::new(Away::Traced(endpoint))),
        }
    }

    /// The near part, for what it alone can tell.
    pub fn near(&self) -> &N {
        match self.away.as_deref() {
            Some(Away::Traced(endpoint)) => endpoint.inner().near(),
            _ => &self.near,
        }
    }

    /// The way to a peer that the near part does not reach.
    fn away(&mut self) -> &mut Away<F, RoutesEndpoint<N, F>> {
        let away = self.away.as_deref_mut();
        away.expect("there is a far part, or the near one reaches all peers")
    }

    /// The way to `peer`, if the near part does not reach it.
    fn away_to(&mut self, peer: Peer) -> Option<&mut Away<F, RoutesEndpoint<N, F>>> {
        let away = self.away.as_deref_mut()?;
        (!self.near.reaches(peer)).then_some(away)
    }
}

impl<N: NearEndpoint, F: Fabric> Endpoint for RoutesEndpoint<N, F> {
    const EAGER_TO_ALL: usize = smaller(N::EAGER_TO_ALL, F::Endpoint::EAGER_TO_ALL);

    fn eager_limit(&self, peer: Peer) -> usize {
        match &self.away {
            Some(away) if !self.near.reaches(peer) => away.eager_limit(peer),
            _ => self.near.eager_limit(peer),
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
        match self.near.send(peer, header, payload, throttled) {
            Err(Refused::Elsewhere) => self.away().send(peer, header, payload, throttled),
            done => done,
        }
    }

    /// The far part has to be told that something is under way.
    #[inline(always)]
    fn send_at_once(
        &mut self,
        peer: Peer,
        header: Header,
        payload: &[u8],
        throttled: bool,
    ) -> bool {
        self.near.send_at_once(peer, header, payload, throttled)
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
        let mut fill = Some(fill);
        let mut fill = |out: &mut [u8]| {
            let fill = fill.take();
            fill.expect("a packet that is refused is not filled")(out);
        };
        match self
            .near
            .send_with(peer, header, bytes, throttled, &mut fill)
        {
            Err(Refused::Elsewhere) => self.away().send_with(peer, header, bytes, throttled, fill),
            done => done,
        }
    }

    #[inline]
    fn poll(&mut self, sink: &mut impl Sink) -> bool {
        let moved = self.near.poll(sink);
        match &mut self.away {
            None => moved,
            Some(away) => away.poll(moved, sink),
        }
    }

    #[inline(always)]
    fn flush(&mut self) {
        self.near.flush();
        if let Some(away) = &mut self.away {
            away.flush();
        }
    }

    fn bulk_send(
        &mut self,
        peer: Peer,
        source: Memory,
        cookie: Cookie,
    ) -> Result<BulkDescriptor, Refused> {
        match self.away_to(peer) {
            Some(away) => away.bulk_send(peer, source, cookie),
            None => self.near.bulk_send(peer, source, cookie),
        }
    }

    fn way_of_last(&self, peer: Peer) -> Option<String> {
        let is_near = self.near.reaches(peer);
        is_near.then(|| self.near.way_of_last(peer))?
    }

    fn bulk_cancel(&mut self, peer: Peer, cookie: Cookie) {
        match self.away_to(peer) {
            Some(away) => away.bulk_cancel(peer, cookie),
            None => self.near.bulk_cancel(peer, cookie),
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
        match self.away_to(peer) {
            Some(away) => away.bulk_receive(peer, descriptor, bytes, target, cookie),
            None => self
                .near
                .bulk_receive(peer, descriptor, bytes, target, cookie),
        }
    }

    fn access(&mut self, peer: Peer, access: Access, cookie: Cookie) -> Result<(), Refused> {
        match self.away_to(peer) {
            Some(away) => away.access(peer, access, cookie),
            None => self.near.access(peer, access, cookie),
        }
    }

    fn end(&mut self, peer: Peer, why: &Lost) {
        match self.away_to(peer) {
            Some(away) => away.end(peer, why),
            None => self.near.end(peer, why),
        }
    }

    fn throttle(&mut self, peer: Peer, on: bool) {
        match self.away_to(peer) {
            Some(away) => away.throttle(peer, on),
            None => self.near.throttle(peer, on),
        }
    }

    fn expect(&mut self, peer: Peer, one_of_many: bool) -> Result<(), Refused> {
        match self.away_to(peer) {
            Some(away) => away.expect(peer, one_of_many),
            None => self.near.expect(peer, one_of_many),
        }
    }

    fn arm(&mut self) -> bool {
        let near = self.near.arm();
        match &mut self.away {
            None => near,
            Some(away) => near | away.arm(),
        }
    }

    fn look(&mut self) {
        self.near.look();
        if let Some(away) = &mut self.away {
            away.look();
        }
    }

    fn disarm(&mut self) {
        self.near.disarm();
        if let Some(away) = &mut self.away {
            away.disarm();
        }
    }

    fn describe(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        self.near.describe(out)?;
        match &self.away {
            None => Ok(()),
            Some(away) => away.describe(out),
        }
    }
}
