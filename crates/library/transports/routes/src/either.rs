//! A fabric made of two for peers of other hosts, each of which is reached by one of them.
//!
//! Which one, is decided when a peer is first needed, by what `decide` finds on its card; a job that has one of the two only, decides
//! nothing. Both processes of a pair decide alike, since each compares the same two cards.

mod decisions;
mod endpoint;
#[cfg(test)]
mod tests;

use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use weft_memory::Memory;
use weft_transport::{Allocation, Exposure, Fabric, Far, Peer};

use decisions::Decisions;
pub use decisions::{Decide, Route};
pub use endpoint::EitherEndpoint;

/// The longest sleep of the second alone: what the first waits for does not end it.
const SHORT_SLEEP_MS: u32 = 10;

/// A fabric of one or of two.
pub struct Either<A, B> {
    first: Option<A>,
    second: Option<B>,
    decisions: Arc<Decisions>,
    /// Of the second, for the sleep that was prepared last. Only the thread that prepares it reads it, as only one sleeps.
    ticket: AtomicU32,
}

impl<A: Far, B: Far> Either<A, B> {
    /// All peers by `first`.
    pub fn first(first: A) -> Either<A, B> {
        Either::made(Some(first), None, Box::new(|_| Route::First))
    }

    /// All peers by `second`.
    pub fn second(second: B) -> Either<A, B> {
        Either::made(None, Some(second), Box::new(|_| Route::Second))
    }

    /// Each peer by the one that `decide` says.
    pub fn both(first: A, second: B, decide: Decide) -> Either<A, B> {
        Either::made(Some(first), Some(second), decide)
    }

    fn made(first: Option<A>, second: Option<B>, decide: Decide) -> Either<A, B> {
        Either {
            first,
            second,
            decisions: Arc::new(Decisions::new(decide)),
            ticket: AtomicU32::new(0),
        }
    }

    /// The two, as far as they are there.
    pub fn parts(&self) -> (Option<&A>, Option<&B>) {
        (self.first.as_ref(), self.second.as_ref())
    }
}

impl<A: Far, B: Far> Fabric for Either<A, B> {
    type Endpoint = EitherEndpoint<A::Endpoint, B::Endpoint>;

    fn endpoint(&self, lane: u32) -> Self::Endpoint {
        let first = self.first.as_ref().map(|fabric| fabric.endpoint(lane));
        let second = self.second.as_ref().map(|fabric| fabric.endpoint(lane));
        EitherEndpoint::new(first, second, self.decisions.clone())
    }

    #[cold]
    fn connect(&self, peer: Peer) {
        match (&self.first, &self.second) {
            (Some(first), Some(second)) => match self.decisions.decide(peer) {
                Route::First => first.connect(peer),
                Route::Second => second.connect(peer),
            },
            (Some(first), None) => first.connect(peer),
            (None, Some(second)) => second.connect(peer),
            (None, None) => {}
        }
    }

    /// By the first alone: what peers are told is never the second's, and who is reached by that is not reached so.
    fn expose(&self, lane: u32, memory: Memory) -> Option<Exposure> {
        self.first.as_ref()?.expose(lane, memory)
    }

    /// By the first alone, as [`expose`](Self::expose).
    fn allocate(&self, lane: u32, bytes: usize) -> Option<Allocation> {
        self.first.as_ref()?.allocate(lane, bytes)
    }

    fn reaches_exposed(&self, peer: Peer) -> bool {
        let Some(first) = &self.first else {
            return false;
        };
        let is_by_first = self.second.is_none() || self.decisions.decide(peer) == Route::First;
        is_by_first && first.reaches_exposed(peer)
    }

    #[inline]
    fn signalled(&self) -> u64 {
        let first = self.first.as_ref().map_or(0, Fabric::signalled);
        first | self.second.as_ref().map_or(0, Fabric::signalled)
    }

    fn prepare_sleep(&self) -> u32 {
        let second = self.second.as_ref().map_or(0, Fabric::prepare_sleep);
        self.ticket.store(second, Ordering::Relaxed);
        self.first.as_ref().map_or(second, Fabric::prepare_sleep)
    }

    /// With both, what the first waits for does not end a sleep at once. A process sleeps on the [descriptors](Far::descriptors) of both, and
    /// calls this to have what is ready signalled.
    fn sleep(&self, ticket: u32, timeout_ms: Option<u32>) {
        match (&self.first, &self.second) {
            (Some(first), Some(second)) => {
                first.sleep(ticket, Some(0));
                let timeout_ms = timeout_ms.unwrap_or(u32::MAX).min(SHORT_SLEEP_MS);
                second.sleep(self.ticket.load(Ordering::Relaxed), Some(timeout_ms));
            }
            (Some(first), None) => first.sleep(ticket, timeout_ms),
            (None, Some(second)) => second.sleep(ticket, timeout_ms),
            (None, None) => {}
        }
    }

    fn wake(&self) {
        self.first.iter().for_each(Fabric::wake);
        self.second.iter().for_each(Fabric::wake);
    }

    #[cold]
    fn serve(&self) -> bool {
        let first = self.first.as_ref().is_some_and(Fabric::serve);
        first | self.second.as_ref().is_some_and(Fabric::serve)
    }
}

impl<A: Far, B: Far> Far for Either<A, B> {
    fn descriptors(&self) -> Vec<RawFd> {
        let mut all = self.first.as_ref().map_or(Vec::new(), Far::descriptors);
        all.extend(self.second.iter().flat_map(Far::descriptors));
        all
    }
}
