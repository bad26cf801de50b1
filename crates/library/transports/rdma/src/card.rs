//! The line by which a process is found.

use std::fmt;

use weft_verbs::abi::{IBV_LINK_LAYER_ETHERNET, IBV_LINK_LAYER_INFINIBAND};

use crate::place::Place;

/// Proves that a process has a card, by being known; it never travels over the network that it is for.
pub type Key = [u8; 16];

/// Where a process takes requests for links, and by what it knows its peers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    pub place: Place,
    /// Of datagrams.
    pub queue_pair: u32,
    pub queue_key: u32,
    pub key: Key,
}

/// Numbers of queue pairs have so many bits.
const QUEUE_PAIR_BITS: u32 = 24;

impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layer = match self.place.link_layer {
            IBV_LINK_LAYER_ETHERNET => "eth",
            _ => "ib",
        };
        let (gid, key) = (
            u128::from_be_bytes(self.place.gid),
            u128::from_be_bytes(self.key),
        );
        write!(
            f,
            "rdma1:{layer}:{:04x}:{gid:032x}:{:06x}:{:08x}:{key:032x}",
            self.place.lid, self.queue_pair, self.queue_key
        )
    }
}

/// A number of so many hexadecimal digits.
fn number(field: Option<&str>, digits: usize) -> Option<u128> {
    let field = field.filter(|f| f.len() == digits && f.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u128::from_str_radix(field, 16).ok()
}

impl Card {
    /// Reads a card; it is what another process wrote, so anything may come.
    pub fn parse(line: &str) -> Option<Card> {
        let mut fields = line.split(':');
        if fields.next()? != "rdma1" {
            return None;
        }
        let link_layer = match fields.next()? {
            "eth" => IBV_LINK_LAYER_ETHERNET,
            "ib" => IBV_LINK_LAYER_INFINIBAND,
            _ => return None,
        };
        let lid = number(fields.next(), 4)? as u16;
        let gid = number(fields.next(), 32)?.to_be_bytes();
        let queue_pair = number(fields.next(), 6)? as u32;
        let queue_key = number(fields.next(), 8)? as u32;
        let key = number(fields.next(), 32)?.to_be_bytes();
        let is_good = fields.next().is_none() && queue_pair < 1 << QUEUE_PAIR_BITS;
        is_good.then_some(Card {
            place: Place {
                link_layer,
                lid,
                gid,
            },
            queue_pair,
            queue_key,
            key,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card() -> Card {
        Card {
            place: Place {
                link_layer: IBV_LINK_LAYER_INFINIBAND,
                lid: 7,
                gid: [0xfe; 16],
            },
            queue_pair: 0xffff11,
            queue_key: 0x1234_5678,
            key: [0xab; 16],
        }
    }

    #[test]
    fn round_trip_and_length() {
        let line = card().to_string();
        assert_eq!(Card::parse(&line), Some(card()));
        assert!(line.len() < 150 && line.bytes().all(|b| b.is_ascii_graphic() && b != b';'));
    }

    #[test]
    fn anything_else_is_refused() {
        let good = card().to_string();
        for end in 0..good.len() {
            assert_eq!(Card::parse(&good[..end]), None, "{end}");
        }
        for (from, to) in [
            ("ib", "xx"),
            ("rdma1", "tcp1"),
            (":0007:", ":+007:"),
            ("ffff11", "\u{e9}ff11"),
        ] {
            assert_eq!(Card::parse(&good.replace(from, to)), None, "{to}");
        }
        assert_eq!(Card::parse(&format!("{good}:")), None);
    }
}
