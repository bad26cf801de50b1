//! A group of ranks, for intercommunicators.

use super::{Error, Rank};
use crate::PointToPoint;
use std::num::NonZeroU8;
use weft_memory::Memory;

/// A group of a world's ranks, as one of them or one of another group sees it.
pub struct Group<'w> {
    pub own: &'w Rank<'w>,
    /// This one's rank in its own group.
    pub rank: usize,
    /// Where the group's ranks begin.
    pub start: usize,
    pub size: usize,
}

impl PointToPoint for Group<'_> {
    type Request = usize;
    type Error = Error;

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn oversubscribed(&self) -> bool {
        self.own.oversubscribed()
    }

    fn send(&self, to: usize, tag: u32, memory: Memory) -> Result<usize, Error> {
        assert!(to < self.size);
        self.own.send(self.start + to, tag, memory)
    }

    fn send_failure(&self, to: usize, tag: u32, mark: NonZeroU8) -> Result<usize, Error> {
        assert!(to < self.size);
        self.own.send_failure(self.start + to, tag, mark)
    }

    fn no_memory() -> Error {
        Rank::no_memory()
    }

    fn mark(error: &Error) -> NonZeroU8 {
        Rank::mark(error)
    }

    fn receive(&self, from: usize, tag: u32, memory: Memory) -> Result<usize, Error> {
        assert!(from < self.size);
        self.own.receive(self.start + from, tag, memory)
    }

    fn poll(&self, request: usize) -> Option<Result<usize, Error>> {
        self.own.poll(request)
    }
}
