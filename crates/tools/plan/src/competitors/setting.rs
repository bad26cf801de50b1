//! What an algorithm runs on.

use std::ops::Range;

use weft_goal::{Machine, Network};

/// Ranks, a message, the network between them.
#[derive(Clone, Copy)]
pub struct Setting {
    pub ranks: usize,
    /// Of the message, or of a rank's block.
    pub bytes: u64,
    pub network: Network,
    pub combine_byte_ns: f64,
}

impl Setting {
    pub fn new(ranks: usize, bytes: u64, machine: &Machine, combine_byte_ns: f64) -> Setting {
        Setting {
            ranks,
            bytes,
            network: machine.between,
            combine_byte_ns,
        }
    }

    pub fn combining_ns(&self, bytes: u64) -> u64 {
        (bytes as f64 * self.combine_byte_ns).round() as u64
    }

    /// The bytes of some of as many blocks as there are ranks, into which the message is cut.
    pub fn cut(&self, blocks: Range<usize>) -> u64 {
        let at = |block: usize| {
            let bytes = u128::from(self.bytes) * block as u128 / self.ranks as u128;
            bytes as u64
        };
        at(blocks.end) - at(blocks.start)
    }

    pub fn after(&self, rank: usize, distance: usize) -> usize {
        (rank + distance) % self.ranks
    }

    pub fn before(&self, rank: usize, distance: usize) -> usize {
        (rank + self.ranks - distance % self.ranks) % self.ranks
    }
}
