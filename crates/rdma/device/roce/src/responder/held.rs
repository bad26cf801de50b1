//! Requests that came behind a loss, kept until what is missing comes, if the peer sends them selectively.
//!
//! InfiniBand has no word for this: a responder drops what is out of order, and the requester goes back. A requester of ours
//! says in each request, by a bit that the specification reserves (and has receivers ignore, IBA 9.2), that it understands more.
//! Then the responder keeps the packet, and says in its sequence error NAK which it has: behind the AETH follow bits, the first
//! for the position behind the expected one, a set bit for each that is held. Requests are still executed in their order.

use std::collections::BTreeMap;

use super::Responder;
use crate::host::Host;
use crate::packet::{Header, Kind, Syndrome};

/// Positions behind the expected one that a packet may be held for. A requester sends no farther.
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

    pub fn has_news(&self) -> bool {
        self.news
    }

    /// The bits of what is held behind `expected`; `positions` tells how many a request stands for.
    fn bits(&self, expected: u64, positions: impl Fn(&Header) -> u64) -> Vec<u8> {
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

impl Responder {
    /// Keeps a request from behind the expected one; false if the peer has to send it again.
    pub(super) fn hold(&mut self, position: u64, header: &Header, payload: &[u8]) -> bool {
        let may = header.selective && self.holds && position - self.expected <= MOST_HELD;
        if may {
            let packet = || (*header, payload.into());
            self.held.packets.entry(position).or_insert_with(packet);
            self.held.news = true;
        }
        may
    }

    /// The expected request may have come before.
    pub(super) fn execute_held(&mut self, host: &mut impl Host) {
        let mut acknowledges = false;
        while !self.failed
            && let Some((header, payload)) = self.held.packets.remove(&self.expected)
        {
            let before = self.expected;
            self.due(&header, &payload, host);
            if self.expected == before {
                acknowledges = false;
                break;
            }
            let kind = header.opcode.kind();
            acknowledges = kind.is_send() || kind.is_write();
        }
        if acknowledges {
            // The packet that asked for it may have been the one that was missing.
            self.acknowledge(self.expected - 1);
        }
        if let Some(first) = self.held.packets.first_entry()
            && *first.key() < self.expected
        {
            // A READ stands for several positions; what else was sent for them was never right.
            self.held.packets = self.held.packets.split_off(&self.expected);
        }
        self.held.news &= !self.held.packets.is_empty();
    }

    /// What is missing, and what is there behind it.
    pub(super) fn report(&mut self) -> Option<(Header, Vec<u8>)> {
        self.held.news = false;
        let positions = |header: &Header| match header.opcode.kind() {
            Kind::ReadRequest => self.link.packets(u64::from(header.reth.length)),
            _ => 1,
        };
        let bits = self.held.bits(self.expected, positions);
        let syndrome = Syndrome::SequenceError;
        let header = self.answer(Kind::Acknowledge, self.expected, syndrome, self.msn)?;
        Some((header, bits))
    }
}
