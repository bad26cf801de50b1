//! Messages under way: between two ranks in their order.

use std::collections::{HashMap, VecDeque};

use crate::Host;
use crate::software::{PACKET_BYTES, PACKET_FACTOR, RECEIVE_NS, SEND_NS};

/// A message that its receiver takes.
#[derive(Clone, Copy)]
pub struct Taken {
    pub from: usize,
    pub bytes: usize,
    /// The sender's request.
    pub sent: usize,
    /// When its sender has done its part.
    pub at: f64,
}

#[derive(Default)]
struct Pair {
    messages: VecDeque<Taken>,
    receives: VecDeque<usize>,
}

pub struct Messages {
    /// By sender and receiver.
    pairs: HashMap<(usize, usize), Pair>,
    /// By rank, when each request is over, as far as that is known.
    requests: Vec<Vec<Option<f64>>>,
    /// By rank, what has come for its receives and was not taken: in that order, with the receive's request.
    come: Vec<VecDeque<(usize, Taken)>>,
}

impl Messages {
    pub fn new(ranks: usize) -> Messages {
        Messages {
            pairs: HashMap::new(),
            requests: vec![Vec::new(); ranks],
            come: vec![VecDeque::new(); ranks],
        }
    }

    /// A message that its sender has done its part of at `at`. Whether its receiver may wait for it.
    pub fn send(&mut self, (from, to): (usize, usize), bytes: usize, at: f64) -> bool {
        let sent = self.requests[from].len();
        self.requests[from].push((bytes <= PACKET_BYTES).then_some(at));
        let taken = Taken {
            from,
            bytes,
            sent,
            at,
        };
        let pair = self.pairs.entry((from, to)).or_default();
        match pair.receives.pop_front() {
            Some(receive) => self.come[to].push_back((receive, taken)),
            None => pair.messages.push_back(taken),
        }
        self.come[to].len() == 1
    }

    pub fn receive(&mut self, from: usize, rank: usize) {
        let receive = self.requests[rank].len();
        self.requests[rank].push(None);
        let pair = self.pairs.entry((from, rank)).or_default();
        match pair.messages.pop_front() {
            Some(taken) => self.come[rank].push_back((receive, taken)),
            None => pair.receives.push_back(receive),
        }
    }

    /// When a request is over, if that is known.
    pub fn over(&self, rank: usize, request: usize) -> Option<f64> {
        self.requests[rank][request]
    }

    pub fn set_over(&mut self, rank: usize, request: usize, ns: f64) {
        self.requests[rank][request] = Some(ns);
    }

    /// What has come first, and the request of its receive.
    pub fn take(&mut self, rank: usize) -> Option<(usize, Taken)> {
        self.come[rank].pop_front()
    }

    /// Whether more of the same sender's has come.
    pub fn has_more(&self, from: usize, rank: usize) -> bool {
        let pair = self.pairs.get(&(from, rank));
        pair.is_some_and(|pair| !pair.messages.is_empty())
    }
}

/// A sender's part. The bytes of a long message are the receiver's to copy.
pub fn send_ns(host: &Host, bytes: usize) -> f64 {
    SEND_NS + packet_ns(host, bytes)
}

/// A receiver's part of a short one.
pub fn receive_ns(host: &Host, bytes: usize) -> f64 {
    RECEIVE_NS + packet_ns(host, bytes)
}

fn packet_ns(host: &Host, bytes: usize) -> f64 {
    match bytes <= PACKET_BYTES {
        true => PACKET_FACTOR * host.shared_copy.ns(bytes),
        false => 0.0,
    }
}
