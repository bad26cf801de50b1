//! Which side moves the bytes of a message: both together, or each those that it receives.
//!
//! - *Together*, where messages go one way at a time, be it a row of them or answers to one another: one side fills a
//!   ring while the other drains it.
//! - *Apart*, where both sides send at the same time: no core is left to share the work with. Each side does all of one
//!   direction and then of the other, in large pieces. To tell an exchange from answers an offer carries its number and
//!   that of the last offer that its sender has taken up: the receiver learns whether it was made in answer to the own
//!   last one, or while that was still under way. The next offers go by what was seen last.

use std::collections::BTreeMap;
use weft_transport::Peer;

/// What an offer says of the traffic between its two sides. Numbers have [`BITS`](Mark::BITS) bits, and only how a ring
/// is filled depends on them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    pub number: u32,
    /// The number of the last offer of the other's that was taken up.
    pub last_received: u32,
}

impl Mark {
    pub const BITS: u32 = 25;
    pub const MASK: u32 = (1 << Mark::BITS) - 1;
}

/// So many offers without one of the other side's are no exchange, whatever was seen last. A window of IMB's and OSU's
/// benchmarks has 64.
const ROW: u32 = 128;

/// How two sides work at a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    Together,
    Apart,
}

/// What is known of one peer.
#[derive(Default)]
struct Partner {
    last: Mark,
    both_ways: bool,
    /// Offers of this process since one of the peer's was taken up.
    in_a_row: u32,
    /// Offers of this process.
    offers: u32,
}

/// An endpoint's traffic, by peer.
#[derive(Default)]
pub struct Traffic {
    peers: BTreeMap<Peer, Partner>,
}

impl Traffic {
    /// A message is offered to `peer`: its mark, how many there were before it, and who works at it.
    pub fn sent(&mut self, peer: Peer) -> (Mark, u32, Work) {
        let partner = self.peers.entry(peer).or_default();
        partner.last.number = (partner.last.number + 1) & Mark::MASK;
        let earlier = partner.offers;
        partner.offers = partner.offers.saturating_add(1);
        let work = match partner.both_ways && partner.in_a_row < ROW {
            true => Work::Apart,
            false => Work::Together,
        };
        partner.in_a_row = (partner.in_a_row + 1).min(ROW);
        (partner.last, earlier, work)
    }

    /// An offer from `peer` is taken up.
    pub fn received(&mut self, peer: Peer, mark: Mark) {
        let partner = self.peers.entry(peer).or_default();
        // It was made before this side's last one was taken up.
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

    use Work::{Apart, Together};

    /// A message to `peer`: its mark, and who works at it.
    fn sent(traffic: &mut Traffic, peer: Peer) -> (Mark, Work) {
        let (mark, _, work) = traffic.sent(peer);
        (mark, work)
    }

    /// Two sides, and what each has been told.
    fn sides() -> [Traffic; 2] {
        [Traffic::default(), Traffic::default()]
    }

    /// One message to and fro, and what each was taken for.
    fn answered(a: &mut Traffic, b: &mut Traffic) -> (Work, Work) {
        let (mark, at_a) = sent(a, 1);
        b.received(0, mark);
        let (mark, at_b) = sent(b, 0);
        a.received(1, mark);
        (at_a, at_b)
    }

    #[test]
    fn both_work_at_what_goes_to_and_fro() {
        let [mut a, mut b] = sides();
        for _ in 0..10 {
            assert_eq!(answered(&mut a, &mut b), (Together, Together));
        }
    }

    #[test]
    fn each_works_at_its_part_of_an_exchange_until_it_ends() {
        for at_a_time in [1, 2, 64] {
            let [mut a, mut b] = sides();
            for round in 0..3 {
                let mut offers = Vec::new();
                let expected = if round > 0 { Apart } else { Together };
                for _ in 0..at_a_time {
                    let (from_a, at_a) = sent(&mut a, 1);
                    let (from_b, at_b) = sent(&mut b, 0);
                    assert_eq!((at_a, at_b), (expected, expected));
                    offers.push((from_a, from_b));
                }
                for (from_a, from_b) in offers {
                    a.received(1, from_b);
                    b.received(0, from_a);
                }
            }
            answered(&mut a, &mut b);
            assert_eq!(sent(&mut a, 1).1, Together);
        }
    }

    #[test]
    fn both_work_soon_at_a_stream_after_an_exchange() {
        let [mut a, mut b] = sides();
        let (from_a, from_b) = (sent(&mut a, 1).0, sent(&mut b, 0).0);
        a.received(1, from_b);
        b.received(0, from_a);
        for number in 0..2 * ROW {
            let expected = if number < ROW { Apart } else { Together };
            assert_eq!(sent(&mut a, 1).1, expected);
        }
    }

    #[test]
    fn numbers_begin_again() {
        let mut a = Traffic::default();
        a.peers.entry(1).or_default().last.number = Mark::MASK;
        assert_eq!(sent(&mut a, 1).0.number, 0);
    }

    #[test]
    fn messages_are_counted_by_peer() {
        let mut a = Traffic::default();
        let earlier = [1, 1, 2, 1].map(|peer| a.sent(peer).1);
        assert_eq!(earlier, [0, 1, 0, 2]);
    }
}
