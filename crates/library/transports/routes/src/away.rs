//! Where a lane's calls go for the peers that its near part does not reach.

use std::fmt;
use std::sync::Arc;

use weft_memory::Memory;
use weft_transport::tracer::TracerEndpoint;
use weft_transport::{
    Access, BulkDescriptor, Cookie, Endpoint, Fabric, Header, Lost, Peer, Refused, Sink,
};

use crate::patience::Patience;

/// What is behind the near part.
pub enum Away<F: Fabric, E> {
    /// The far part.
    Far(FarLane<F>),
    /// Of a process that is traced: all ways, the near one too. What stands before this reaches nobody.
    Traced(TracerEndpoint<E>),
}

/// The lane of the far part.
pub struct FarLane<F: Fabric> {
    fabric: Arc<F>,
    lane: u32,
    endpoint: F::Endpoint,
    patience: Patience,
}

/// A call of the endpoint, whichever it is.
macro_rules! call {
    ($away:expr, $endpoint:ident => $call:expr) => {
        match $away {
            Away::Far(FarLane {
                endpoint: $endpoint,
                ..
            }) => $call,
            Away::Traced($endpoint) => $call,
        }
    };
}

impl<F: Fabric> FarLane<F> {
    pub fn new(fabric: Arc<F>, lane: u32) -> FarLane<F> {
        FarLane {
            endpoint: fabric.endpoint(lane),
            fabric,
            lane,
            patience: Patience::default(),
        }
    }

    /// A turn, in which the near part has `moved` something or not.
    fn poll(&mut self, moved: bool, sink: &mut impl Sink) -> bool {
        let is_due = self.patience.is_due(moved);
        if !is_due && self.fabric.signalled() >> self.lane & 1 == 0 {
            return moved;
        }
        if self.endpoint.poll(sink) {
            self.patience.end();
            return true;
        }
        moved
    }
}

impl<F: Fabric, E: Endpoint> Away<F, E> {
    /// Something is done that lets an answer be expected soon.
    fn busy(&mut self) -> &mut Away<F, E> {
        if let Away::Far(lane) = self {
            lane.patience.end();
        }
        self
    }

    pub fn eager_limit(&self, peer: Peer) -> usize {
        call!(self, endpoint => endpoint.eager_limit(peer))
    }

    pub fn send(
        &mut self,
        peer: Peer,
        header: Header,
        payload: &[u8],
        throttled: bool,
    ) -> Result<(), Refused> {
        call!(self.busy(), endpoint => endpoint.send(peer, header, payload, throttled))
    }

    pub fn send_with(
        &mut self,
        peer: Peer,
        header: Header,
        bytes: usize,
        throttled: bool,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), Refused> {
        call!(self.busy(), endpoint => endpoint.send_with(peer, header, bytes, throttled, fill))
    }

    /// A turn, in which the near part has `moved` something or not.
    #[inline(never)]
    pub fn poll(&mut self, moved: bool, sink: &mut impl Sink) -> bool {
        match self {
            Away::Far(lane) => lane.poll(moved, sink),
            Away::Traced(endpoint) => endpoint.poll(sink) | moved,
        }
    }

    #[inline(never)]
    pub fn flush(&mut self) {
        call!(self, endpoint => endpoint.flush());
    }

    pub fn bulk_send(
        &mut self,
        peer: Peer,
        source: Memory,
        cookie: Cookie,
    ) -> Result<BulkDescriptor, Refused> {
        call!(self.busy(), endpoint => endpoint.bulk_send(peer, source, cookie))
    }

    pub fn bulk_cancel(&mut self, peer: Peer, cookie: Cookie) {
        call!(self, endpoint => endpoint.bulk_cancel(peer, cookie));
    }

    pub fn bulk_receive(
        &mut self,
        peer: Peer,
        descriptor: BulkDescriptor,
        bytes: usize,
        target: Memory,
        cookie: Cookie,
    ) -> Result<(), Refused> {
        call!(self.busy(), endpoint => endpoint.bulk_receive(peer, descriptor, bytes, target, cookie))
    }

    pub fn access(&mut self, peer: Peer, access: Access, cookie: Cookie) -> Result<(), Refused> {
        call!(self.busy(), endpoint => endpoint.access(peer, access, cookie))
    }

    pub fn end(&mut self, peer: Peer, why: &Lost) {
        call!(self.busy(), endpoint => endpoint.end(peer, why));
    }

    pub fn throttle(&mut self, peer: Peer, on: bool) {
        call!(self.busy(), endpoint => endpoint.throttle(peer, on));
    }

    pub fn expect(&mut self, peer: Peer, one_of_many: bool) -> Result<(), Refused> {
        call!(self, endpoint => endpoint.expect(peer, one_of_many))
    }

    pub fn arm(&mut self) -> bool {
        call!(self, endpoint => endpoint.arm())
    }

    pub fn look(&mut self) {
        call!(self.busy(), endpoint => endpoint.look());
    }

    /// What ended the sleep may be there.
    pub fn disarm(&mut self) {
        call!(self.busy(), endpoint => endpoint.disarm());
    }

    pub fn describe(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        call!(self, endpoint => endpoint.describe(out))
    }
}
