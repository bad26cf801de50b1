//! What happens next, and what waits for a processor.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

pub struct Event {
    pub ns: f64,
    pub rank: u32,
    pub what: What,
}

/// Operations are the rank's, by number, but where a message comes from another rank: then they are its sender's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// Nothing keeps the operation any more.
    Begin(u32),
    /// What is received is there.
    Wanted(u32),
    /// The processor is.
    Free,
    /// The processor has done its part of a send.
    Handed(u32),
    Over(u32),
    /// The receiver of a long message lets it come.
    Answered(u32),
    Asked {
        from: u32,
        operation: u32,
    },
    FirstByte {
        from: u32,
        operation: u32,
    },
}

/// In the order of their times, and of their making where these are the same.
#[derive(Default)]
pub struct Events {
    heap: BinaryHeap<Reverse<(u64, u64, u32, What)>>,
    made: u64,
}

impl Events {
    /// Times are not negative, so that their bits are in their order.
    pub fn push(&mut self, ns: f64, rank: u32, what: What) {
        self.heap
            .push(Reverse((ns.to_bits(), self.made, rank, what)));
        self.made += 1;
    }

    pub fn next(&mut self) -> Option<Event> {
        let Reverse((ns, _, rank, what)) = self.heap.pop()?;
        Some(Event {
            ns: f64::from_bits(ns),
            rank,
            what,
        })
    }
}

/// A rank's processor.
#[derive(Default)]
pub struct Processor {
    busy_until_ns: f64,
    waiting: VecDeque<u32>,
}

impl Processor {
    pub fn is_free(&self, ns: f64) -> bool {
        self.busy_until_ns <= ns && self.waiting.is_empty()
    }

    /// The operation waits for its turn. When the first that waits has to be looked at.
    pub fn wait(&mut self, operation: u32) -> Option<f64> {
        self.waiting.push_back(operation);
        (self.waiting.len() == 1).then_some(self.busy_until_ns)
    }

    pub fn next(&mut self) -> Option<u32> {
        self.waiting.pop_front()
    }

    /// When the next that waits has to be looked at.
    pub fn occupy(&mut self, until_ns: f64) -> Option<f64> {
        self.busy_until_ns = until_ns;
        (!self.waiting.is_empty()).then_some(until_ns)
    }
}
