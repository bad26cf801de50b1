//! A rank whose requests complete at once, and what it did.

use std::cell::RefCell;
use std::num::NonZeroU8;

use weft_collective::{Hosts, PointToPoint};
use weft_memory::Memory;

/// Requests are numbered in the order of the sends and receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    Send {
        to: usize,
        bytes: usize,
    },
    Receive {
        from: usize,
        bytes: usize,
    },
    Wait(usize),
    /// Combines two operands of so many bytes.
    Combine(usize),
}

impl Step {
    pub fn peer(&self) -> Option<usize> {
        match *self {
            Step::Send { to: peer, .. } | Step::Receive { from: peer, .. } => Some(peer),
            Step::Wait(_) | Step::Combine(_) => None,
        }
    }

    pub fn with_peer(self, peer: usize) -> Step {
        match self {
            Step::Send { bytes, .. } => Step::Send { to: peer, bytes },
            Step::Receive { bytes, .. } => Step::Receive { from: peer, bytes },
            other => other,
        }
    }
}

pub struct Recorder {
    rank: usize,
    size: usize,
    hosts: Option<Hosts>,
    record: RefCell<Record>,
}

#[derive(Default)]
struct Record {
    steps: Vec<Step>,
    /// The bytes of each request.
    requests: Vec<usize>,
}

impl Recorder {
    pub fn new(rank: usize, size: usize, hosts: Option<Hosts>) -> Recorder {
        Recorder {
            rank,
            size,
            hosts,
            record: RefCell::default(),
        }
    }

    pub fn finish(self) -> (Vec<Step>, Option<Hosts>) {
        (self.record.into_inner().steps, self.hosts)
    }

    pub fn combine(&self, bytes: usize) {
        self.record.borrow_mut().steps.push(Step::Combine(bytes));
    }

    fn request(&self, step: Step, bytes: usize) -> usize {
        let mut record = self.record.borrow_mut();
        record.steps.push(step);
        record.requests.push(bytes);
        record.requests.len() - 1
    }
}

/// Nothing fails.
#[derive(Debug)]
pub enum Never {}

impl PointToPoint for Recorder {
    type Request = usize;
    type Error = Never;

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn oversubscribed(&self) -> bool {
        false
    }

    fn hosts(&self) -> Option<&Hosts> {
        self.hosts.as_ref()
    }

    fn send(&self, to: usize, _: u32, memory: Memory) -> Result<usize, Never> {
        let bytes = memory.bytes;
        Ok(self.request(Step::Send { to, bytes }, bytes))
    }

    fn send_failure(&self, _: usize, _: u32, _: NonZeroU8) -> Result<usize, Never> {
        unreachable!("nothing fails")
    }

    fn mark(error: &Never) -> NonZeroU8 {
        match *error {}
    }

    fn no_memory() -> Never {
        panic!("there is no memory for what a rank holds")
    }

    fn receive(&self, from: usize, _: u32, memory: Memory) -> Result<usize, Never> {
        let bytes = memory.bytes;
        Ok(self.request(Step::Receive { from, bytes }, bytes))
    }

    fn poll(&self, request: usize) -> Option<Result<usize, Never>> {
        let mut record = self.record.borrow_mut();
        record.steps.push(Step::Wait(request));
        Some(Ok(record.requests[request]))
    }
}
