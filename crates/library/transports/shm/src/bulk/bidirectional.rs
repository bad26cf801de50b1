//! Whether this process and a peer send to each other at the same time.
//!
//! Through a ring each byte is copied twice, in and out, and the sender and the receiver do it together, in small pieces. Where
//! both send and receive no core is left to share the work with: each does all of one direction and then of the other, in large
//! pieces; and what does not fit in a ring is better copied once, from process to process. So an offer carries its number and
//! that of the last offer that its sender has taken up: the receiver learns whether it was made in answer to the own last
//! one, or while that was still under way. The next offers go by what was seen last.

use std::collections::HashMap;

use weft_transport::Peer;

/// What an offer says of the traffic between its two sides. Numbers have [`BITS`](Mark::BITS) bits, and only a choice of the
/// faster way depends on them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    pub number: u32,
    /// The number of the last offer of the other's that was taken up.
    pub last_received: u32,
}

impl Mark {
    pub const BITS: u32 = 28;
    pub const MASK: u32 = (1 << Mark::BITS) - 1;
}

#[derive(Default)]
struct Traffic {
    last: Mark,
    bidirectional: bool,
}

/// An endpoint's traffic, by peer.
#[derive(Default)]
pub struct Bidirectional {
    peers: HashMap<Peer, Traffic>,
}

impl Bidirectional {
    /// Something is offered to `peer`: its mark, and whether traffic goes both ways at once.
    pub fn sent(&mut self, peer: Peer) -> (Mark, bool) {
        let traffic = self.peers.entry(peer).or_default();
        traffic.last.number = (traffic.last.number + 1) & Mark::MASK;
        (traffic.last, traffic.bidirectional)
    }

    /// An offer from `peer` is taken up.
    pub fn received(&mut self, peer: Peer, mark: Mark) {
        let traffic = self.peers.entry(peer).or_default();
        traffic.bidirectional = mark.last_received != traffic.last.number;
        traffic.last.last_received = mark.number;
    }

    pub fn forget(&mut self, peer: Peer) {
        self.peers.remove(&peer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two sides, and what each has been told.
    fn sides() -> [Bidirectional; 2] {
        [Bidirectional::default(), Bidirectional::default()]
    }

    /// One message to and fro; whether either way was taken for one of both at once.
    fn answered(a: &mut Bidirectional, b: &mut Bidirectional) -> (bool, bool) {
        let (mark, at_a) = a.sent(1);
        b.received(0, mark);
        let (mark, at_b) = b.sent(0);
        a.received(1, mark);
        (at_a, at_b)
    }

    #[test]
    fn answers_go_one_way() {
        let [mut a, mut b] = sides();
        for _ in 0..3 {
            assert_eq!(answered(&mut a, &mut b), (false, false));
        }
    }

    #[test]
    fn an_exchange_goes_both_ways_until_it_ends() {
        let [mut a, mut b] = sides();
        for round in 0..3 {
            let (from_a, at_a) = a.sent(1);
            let (from_b, at_b) = b.sent(0);
            assert_eq!((at_a, at_b), (round > 0, round > 0));
            a.received(1, from_b);
            b.received(0, from_a);
        }
        answered(&mut a, &mut b);
        assert!(!a.sent(1).1);
    }

    #[test]
    fn a_stream_and_what_nobody_takes_up_change_nothing() {
        let [mut a, mut b] = sides();
        for _ in 0..10 {
            let (mark, bidirectional) = a.sent(1);
            assert!(!bidirectional);
            b.received(0, mark);
        }
        a.sent(1);
        answered(&mut a, &mut b);
        assert!(!a.sent(1).1);
    }

    #[test]
    fn numbers_begin_again() {
        let mut a = Bidirectional::default();
        a.peers.entry(1).or_default().last.number = Mark::MASK;
        assert_eq!(a.sent(1).0.number, 0);
    }
}
