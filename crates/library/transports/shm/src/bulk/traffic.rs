//! Which side moves the bytes of a message: both together, or each those that it receives.
//!
//! - *Together*, where messages go one way at a time, be it a row of them or answers to one another: one side fills a
//!   ring while the other drains it.
//! - *Apart*, where both sides send at the same time: no core is left to share the work with. Each side does all of one direction and
//!   then of the other, in large pieces. To tell an exchange from answers an offer carries its number and that of the last offer that its sender has
//!   taken up: the receiver learns whether it was made in answer to the own last one, or while that was still under way. The next offers go
//!   by what was seen last.

use std::collections::BTreeMap;
use weft_transport::Peer;

use crate::byte_times::{Class, Length, Pattern, Timing};

/// What an offer says of the traffic between its two sides. Numbers have [`BITS`](Mark::BITS) bits, and only a choice of the
/// faster way depends on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    pub number: u32,
    /// The number of the last offer of the other's that was taken up.
    pub last_received: u32,
    pub class: Class,
    /// Both sides time what they do.
    pub is_timed: bool,
}

impl Default for Mark {
    fn default() -> Mark {
        Mark {
            number: 0,
            last_received: 0,
            class: Class::FIRST,
            is_timed: false,
        }
    }
}

impl Mark {
    pub const BITS: u32 = 25;
    pub const MASK: u32 = (1 << Mark::BITS) - 1;
}

/// So many offers without one of the other side's are no exchange, whatever was seen last.
const ROW: u32 = 128;

/// With so many others under way a message is one of a window; and with so many before it since the last one of the other side's, nothing comes back.
const WINDOW_FROM: usize = 2;
const ONE_WAY_FROM: u32 = 3;

/// How two sides work at a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    Together,
    Apart,
}

impl Work {
    fn of(is_apart: bool) -> Work {
        match is_apart {
            true => Work::Apart,
            false => Work::Together,
        }
    }
}

/// What is known of one peer.
#[derive(Default)]
struct Partner {
    last: Mark,
    both_ways: bool,
    /// Offers of this process since one of the peer's was taken up.
    in_a_row: u32,
    /// Offers of this process, by class.
    offers: [u32; Class::COUNT],
    timing: Timing,
    /// Whether the last one of each class went through a ring, if there was one.
    was_ring: [Option<bool>; Class::COUNT],
}

impl Partner {
    /// Whether an offer with this mark was made before this side's last one was taken up.
    fn crosses(&self, mark: Mark) -> bool {
        mark.last_received != self.last.number
    }
}

/// An endpoint's traffic, by peer.
#[derive(Default)]
pub struct Traffic {
    peers: BTreeMap<Peer, Partner>,
}

impl Traffic {
    /// A message of that length is offered to `peer`, while others to it are `under_way`: its mark, its number among those of its class,
    /// and who works at it as far as the pattern goes.
    pub fn sent(&mut self, peer: Peer, length: Length, under_way: usize) -> (Mark, u32, Work) {
        let partner = self.peers.entry(peer).or_default();
        let pattern = match partner.in_a_row {
            _ if under_way >= WINDOW_FROM => Pattern::Window,
            0..ONE_WAY_FROM => Pattern::Answered,
            _ => Pattern::OneWay,
        };
        let class = Class { length, pattern };
        let mark = Mark {
            number: (partner.last.number + 1) & Mark::MASK,
            class,
            is_timed: partner.timing.next(class),
            ..partner.last
        };
        partner.last = mark;
        let offers = &mut partner.offers[class.index()];
        *offers = offers.wrapping_add(1);
        let is_exchange = partner.both_ways && partner.in_a_row < ROW;
        partner.in_a_row = (partner.in_a_row + 1).min(ROW);
        (mark, *offers, Work::of(is_exchange))
    }

    /// The last message of that class to `peer` goes through a ring or not. Whether that is a change: the one before it did not go like that.
    pub fn goes(&mut self, peer: Peer, class: Class, is_ring: bool) -> bool {
        let partner = self.peers.entry(peer).or_default();
        partner.was_ring[class.index()].replace(is_ring) != Some(is_ring)
    }

    /// An offer from `peer` is taken up.
    pub fn received(&mut self, peer: Peer, mark: Mark) {
        let partner = self.peers.entry(peer).or_default();
        partner.both_ways = partner.crosses(mark);
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

    use Length::{Long, Medium};
    use Work::{Apart, Together};

    /// A single message to `peer`: its mark, and who works at it.
    fn sent(traffic: &mut Traffic, peer: Peer) -> (Mark, Work) {
        let (mark, _, work) = traffic.sent(peer, Medium, 0);
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
    fn a_message_is_answered_or_one_way_or_in_a_window() {
        let [mut a, mut b] = sides();
        let pattern = |of: &mut Traffic, under_way| of.sent(1, Long, under_way).0.class.pattern;
        for _ in 0..10 {
            answered(&mut a, &mut b);
        }
        for number in 0..10 {
            let expected = match number < ONE_WAY_FROM {
                true => Pattern::Answered,
                false => Pattern::OneWay,
            };
            assert_eq!(pattern(&mut a, 1), expected);
        }
        assert_eq!(pattern(&mut a, WINDOW_FROM), Pattern::Window);
        a.received(1, sent(&mut b, 0).0);
        assert_eq!(pattern(&mut a, 0), Pattern::Answered);
    }

    #[test]
    fn a_class_changes_its_way_by_itself() {
        let mut a = Traffic::default();
        let [one, other] = [Medium, Long].map(|length| Class {
            length,
            pattern: Pattern::Answered,
        });
        let ways = [
            (one, false),
            (one, false),
            (one, true),
            (other, false),
            (one, true),
            (one, false),
        ];
        let changes = ways.map(|(class, is_ring)| a.goes(1, class, is_ring));
        assert_eq!(changes, [true, false, true, true, false, true]);
    }

    #[test]
    fn each_class_is_counted_by_itself() {
        let mut a = Traffic::default();
        let mut number = |length, under_way| a.sent(1, length, under_way).1;
        assert_eq!([number(Medium, 0), number(Medium, 0)], [1, 2]);
        assert_eq!([number(Long, 0), number(Medium, 5)], [1, 1]);
        assert_eq!(number(Medium, 6), 2);
    }
}
