//! Requests that came behind a loss, kept until what is missing comes, if the peer sends them selectively.
//!
//! InfiniBand has no word for this: a responder drops what is out of order, and the requester goes back. A requester of ours
//! says in each request, by a bit that the specification reserves (and has receivers ignore, IBA 9.2), that it understands more.
//! Then the responder keeps the packet, and says in its sequence error NAK which it has: behind the AETH follow bits, the first
//! for the position behind the expected one, a set bit for each that is held. Requests are still executed in their order.

use std::collections::BTreeMap;

use crate::packet::Header;

/// Positions behind the expected one that a packet may be held for, and less where the window is smaller. A requester sends no
/// farther.
pub(crate) const MOST_HELD: u64 = 1024;

#[derive(Debug, Default)]
pub(super) struct Held {
    packets: BTreeMap<u64, (Header, Box<[u8]>)>,
    /// Something came that the peer was not told of.
    news: bool,
}

impl Held {
    pub fn clear(&mut self) {
        *self = Held::default();
    }

    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    pub fn has_news(&self) -> bool {
        self.news
    }

    pub fn insert(&mut self, position: u64, header: &Header, payload: &[u8]) {
        let packet = || (*header, payload.into());
        self.packets.entry(position).or_insert_with(packet);
        self.news = true;
    }

    pub fn take(&mut self, position: u64) -> Option<(Header, Box<[u8]>)> {
        self.packets.remove(&position)
    }

    /// Nothing before this position is expected any more. A READ stands for several positions; what else was sent for them was
    /// never right.
    pub fn advance(&mut self, expected: u64) {
        while self
            .packets
            .first_key_value()
            .is_some_and(|(at, _)| *at < expected)
        {
            self.packets.pop_first();
        }
        self.news &= !self.packets.is_empty();
    }

    /// The bits of what is held behind `expected`, of which the peer then was told; `positions` tells how many a request stands for.
    pub fn report(&mut self, expected: u64, positions: impl Fn(&Header) -> u64) -> Vec<u8> {
        self.news = false;
        let mut bits = Vec::new();
        for (&position, (header, _)) in &self.packets {
            for at in position..position + positions(header) {
                let bit = (at - expected - 1) as usize;
                if bit >= MOST_HELD as usize {
                    break;
                }
                if bit / 8 >= bits.len() {
                    bits.resize((bit / 8 + 1).next_multiple_of(4), 0);
                }
                bits[bit / 8] |= 1 << (bit % 8);
            }
        }
        bits
    }
}
