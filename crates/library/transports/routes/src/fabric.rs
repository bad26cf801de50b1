//! A process's attachment to both networks.

use std::fmt;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use weft_memory::Memory;
use weft_transport::tracer::Trace;
use weft_transport::{Allocation, Exposure, Fabric, Far, Near, Peer};

use crate::away::{Away, FarLane};
use crate::endpoint::RoutesEndpoint;

/// What [`Routes`] has for the peers that its near part does not reach.
type AwayOf<N, F> = Away<F, RoutesEndpoint<<N as Fabric>::Endpoint, F>>;

/// A fabric made of a near one and, where the job has peers that this does not reach, a far one.
pub struct Routes<N, F> {
    near: N,
    far: Option<Distance<F>>,
    traced: Option<Traced<N>>,
}

/// A process is traced without a question on the way of a message, which does not even know of traces: its lanes have `nobody` for
/// their near part, and so all that they do goes where the near part does not reach. There the tracer stands before what the
/// lanes otherwise are.
struct Traced<N> {
    nobody: N,
    trace: Trace,
}

/// The far part.
struct Distance<F> {
    fabric: Arc<F>,
    descriptors: Vec<RawFd>,
    /// Of the far part, for the sleep that was prepared last. Only the thread that prepares it reads it, as only one sleeps.
    ticket: AtomicU32,
}

impl<N: Near, F: Far> Routes<N, F> {
    /// The ways to all peers: there is no `far` part only if `near` reaches all of them.
    pub fn new(near: N, far: Option<F>) -> Routes<N, F> {
        let far = far.map(|fabric| Distance {
            descriptors: fabric.descriptors(),
            fabric: Arc::new(fabric),
            ticket: AtomicU32::new(0),
        });
        Routes {
            near,
            far,
            traced: None,
        }
    }

    /// Has `trace` tell all that the lanes do from here on. `nobody` is a near part that reaches no peer.
    pub fn traced(self, nobody: N, trace: Trace) -> Routes<N, F> {
        Routes {
            traced: Some(Traced { nobody, trace }),
            ..self
        }
    }

    /// Has the trace, if there is one, tell something about `peer`.
    pub fn note(&self, peer: Peer, text: fmt::Arguments<'_>) {
        if let Some(Traced { trace, .. }) = &self.traced {
            trace.note(peer, text);
        }
    }

    /// A lane's part for the peers that the near one does not reach. Out of line, as `traced_endpoint` is: nothing of it is
    /// on the stack, which may be small, while the near one is made.
    #[inline(never)]
    fn away(&self, lane: u32) -> Option<Box<AwayOf<N, F>>> {
        let far = self.far.as_ref()?;
        Some(Box::new(Away::Far(FarLane::new(far.fabric.clone(), lane))))
    }

    #[cold]
    #[inline(never)]
    fn traced_endpoint(&self, traced: &Traced<N>, lane: u32) -> RoutesEndpoint<N::Endpoint, F> {
        let Traced { nobody, trace } = traced;
        let endpoint = RoutesEndpoint::new(self.near.endpoint(lane), self.away(lane));
        RoutesEndpoint::traced(nobody.endpoint(lane), trace.endpoint(endpoint, lane))
    }

    /// The part for the peers of this host.
    #[inline]
    pub fn near(&self) -> &N {
        &self.near
    }

    /// The part for all others, if there are any.
    pub fn far(&self) -> Option<&F> {
        self.far.as_ref().map(|far| &*far.fabric)
    }
}

impl<N: Near, F: Far> Fabric for Routes<N, F> {
    type Endpoint = RoutesEndpoint<N::Endpoint, F>;

    #[inline(never)]
    fn endpoint(&self, lane: u32) -> Self::Endpoint {
        match &self.traced {
            None => RoutesEndpoint::new(self.near.endpoint(lane), self.away(lane)),
            Some(traced) => self.traced_endpoint(traced, lane),
        }
    }

    #[cold]
    fn connect(&self, peer: Peer) {
        if let Some(Traced { trace, .. }) = &self.traced {
            trace.connect(peer);
        }
        match &self.far {
            Some(far) if !self.near.reaches(peer) => far.fabric.connect(peer),
            _ => self.near.connect(peer),
        }
    }

    /// To the far part's peers. Those of the near one have their own ways to each other's memory.
    fn expose(&self, lane: u32, memory: Memory) -> Option<Exposure> {
        self.far.as_ref()?.fabric.expose(lane, memory)
    }

    /// For the far part's peers, as [`expose`](Self::expose).
    fn allocate(&self, lane: u32, bytes: usize) -> Option<Allocation> {
        self.far.as_ref()?.fabric.allocate(lane, bytes)
    }

    fn reaches_exposed(&self, peer: Peer) -> bool {
        let far = self.far.as_ref().filter(|_| !self.near.reaches(peer));
        far.is_some_and(|far| far.fabric.reaches_exposed(peer))
    }

    #[inline]
    fn signalled(&self) -> u64 {
        let near = self.near.signalled();
        match &self.far {
            None => near,
            Some(far) => near | far.fabric.signalled(),
        }
    }

    fn prepare_sleep(&self) -> u32 {
        if let Some(far) = &self.far {
            far.ticket
                .store(far.fabric.prepare_sleep(), Ordering::Relaxed);
        }
        self.near.prepare_sleep()
    }

    fn sleep(&self, ticket: u32, timeout_ms: Option<u32>) {
        let Some(far) = &self.far else {
            return self.near.sleep(ticket, timeout_ms);
        };
        if self.near.sleep_with(ticket, timeout_ms, &far.descriptors) {
            // Returns at once, knowing which lanes it is about.
            far.fabric
                .sleep(far.ticket.load(Ordering::Relaxed), Some(0));
        }
    }

    fn rung_at(&self) -> Option<u64> {
        self.near.rung_at()
    }

    fn wake(&self) {
        self.near.wake();
    }

    #[cold]
    fn serve(&self) -> bool {
        let near = self.near.serve();
        let far = self.far.as_ref().is_some_and(|far| far.fabric.serve());
        near | far
    }
}
