//! All that the choice of a long message's way goes by. A trace tells it.

use std::fmt;

use crate::pair::Pair;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    pub bytes: u64,
    pub pair: Pair,
    /// The bytes lie together at the sender.
    pub is_contiguous: bool,
    /// Long messages from this process to that one before this one.
    pub earlier: u32,
    /// Bytes of memory that a ring would have to have for it.
    pub lacking: u64,
    /// The host has more processes than cores.
    pub shares_cores: bool,
}

impl Facts {
    pub fn can_be_copied(&self) -> bool {
        self.is_contiguous && self.pair.copies
    }
}

/// But for the bytes, which a trace tells of every message.
impl fmt::Display for Facts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Facts {
            bytes: _,
            pair: Pair { is_near, copies },
            is_contiguous,
            earlier,
            lacking,
            shares_cores,
        } = self;
        write!(
            out,
            "near={is_near} copies={copies} contiguous={is_contiguous} earlier={earlier} lacking={lacking} \
             shares-cores={shares_cores}"
        )
    }
}
