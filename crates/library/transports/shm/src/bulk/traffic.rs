//! In which pattern messages go between this process and a peer, and which way that makes the better one where their cores share no cache.
//!
//! Through a ring each byte is copied twice, in and out, and the sender and the receiver do it together, in small pieces.
//! - An *answer* goes through lines that the last message has left here ([`super::borrowed`]).
//! - A row of messages *one way* has no such lines: each of the ring's changes caches twice, once to be filled and once to be read,
//!   which takes four times as long as copying once, from process to process, where the two cores share no cache, and no less where they do.
//! - Where *both* send at the same time no core is left to share the work with: each does all of one direction and then of the
//!   other, in large pieces; and what does not fit in a ring is better copied once. To tell these from answers an offer carries
//!   its number and that of the last offer that its sender has taken up: the receiver learns whether it was made in answer to
//!   the own last one, or while that was still under way. The next offers go by what was seen last.

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

/// So many offers without one of the other side's are a row; fewer are made at a time in an exchange, with two neighbours that are one
/// process, say.
const ROW: u32 = 4;

/// Where an offer stands among those between its two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// It is the next of a row.
    OneWay,
    /// The other side's come in between.
    Answer,
    /// Both sides make theirs at the same time.
    BothWays,
}

/// What is known of one peer.
#[derive(Default)]
struct Partner {
    last: Mark,
    both_ways: bool,
    /// Offers of this process since one of the peer's was taken up.
    in_a_row: u32,
}

/// An endpoint's traffic, by peer.
#[derive(Default)]
pub struct Traffic {
    peers: HashMap<Peer, Partner>,
}

impl Traffic {
    /// Something is offered to `peer`: its mark, and the pattern that it belongs to.
    pub fn sent(&mut self, peer: Peer) -> (Mark, Pattern) {
        let partner = self.peers.entry(peer).or_default();
        partner.last.number = (partner.last.number + 1) & Mark::MASK;
        let pattern = match (partner.in_a_row >= ROW, partner.both_ways) {
            (true, _) => Pattern::OneWay,
            (false, false) => Pattern::Answer,
            (false, true) => Pattern::BothWays,
        };
        partner.in_a_row = (partner.in_a_row + 1).min(ROW);
        (partner.last, pattern)
    }

    /// An offer from `peer` is taken up.
    pub fn received(&mut self, peer: Peer, mark: Mark) {
        let partner = self.peers.entry(peer).or_default();
        partner.both_ways = mark.last_received != partner.last.number;
        partner.in_a_row = 0;
        partner.last.last_received = mark.number;
    }

    pub fn forget(&mut self, peer: Peer) {
        self.peers.remove(&peer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use Pattern::{Answer, BothWays, OneWay};

    /// Two sides, and what each has been told.
    fn sides() -> [Traffic; 2] {
        [Traffic::default(), Traffic::default()]
    }

    /// One message to and fro, and what each was taken for.
    fn answered(a: &mut Traffic, b: &mut Traffic) -> (Pattern, Pattern) {
        let (mark, at_a) = a.sent(1);
        b.received(0, mark);
        let (mark, at_b) = b.sent(0);
        a.received(1, mark);
        (at_a, at_b)
    }

    #[test]
    fn what_goes_to_and_fro_are_answers() {
        let [mut a, mut b] = sides();
        for _ in 0..10 {
            assert_eq!(answered(&mut a, &mut b), (Answer, Answer));
        }
    }

    #[test]
    fn an_exchange_goes_both_ways_until_it_ends() {
        for at_a_time in 1..=ROW {
            let [mut a, mut b] = sides();
            for round in 0..3 {
                let mut offers = Vec::new();
                let expected = if round > 0 { BothWays } else { Answer };
                for _ in 0..at_a_time {
                    let (from_a, at_a) = a.sent(1);
                    let (from_b, at_b) = b.sent(0);
                    assert_eq!((at_a, at_b), (expected, expected));
                    offers.push((from_a, from_b));
                }
                for (from_a, from_b) in offers {
                    a.received(1, from_b);
                    b.received(0, from_a);
                }
            }
            answered(&mut a, &mut b);
            assert_eq!(a.sent(1).1, Answer);
        }
    }

    #[test]
    fn a_stream_goes_one_way_also_where_nobody_takes_it_up() {
        let [mut a, mut b] = sides();
        for number in 0..10 {
            let (mark, pattern) = a.sent(1);
            assert_eq!(pattern, if number < ROW { Answer } else { OneWay });
            if number % 2 == 0 {
                b.received(0, mark);
            }
        }
        answered(&mut a, &mut b);
        assert_eq!(a.sent(1).1, Answer);
    }

    #[test]
    fn numbers_begin_again() {
        let mut a = Traffic::default();
        a.peers.entry(1).or_default().last.number = Mark::MASK;
        assert_eq!(a.sent(1).0.number, 0);
    }
}
