//! Messages that came before their receive, as the matching tables hold them.

use weft_matching::Envelope;
use weft_reserve::NoMemory;
use weft_transport::{BulkDescriptor, Cookie, Peer};

use crate::pending::Pending;

/// Payload short enough to stand in the unexpected cell itself.
pub(crate) const SHORT_BYTES: usize = 40;

/// Where an unexpected message's bytes are.
pub(crate) enum Payload {
    Short {
        length: u8,
        bytes: [u8; SHORT_BYTES],
    },
    Stored(Box<[u8]>),
    /// Nowhere: there was no memory for them, of which the receive is told.
    Dropped {
        bytes: u64,
    },
    /// With the sender, whose bulk transfer the receive takes up.
    Rts {
        bytes: u64,
        descriptor: BulkDescriptor,
    },
    /// With the sender, which waits for a CTS.
    RtsOnly {
        bytes: u64,
    },
    /// There are none: the sender's operation failed, and its maker knows why by this number.
    Failed(u8),
    /// In the buffer of a send of this process.
    ToSelf {
        slot: Pending,
        bytes: u64,
    },
}

impl Payload {
    #[inline]
    pub fn store(bytes: &[u8]) -> Payload {
        if bytes.len() <= SHORT_BYTES {
            let mut short = [0; SHORT_BYTES];
            short[..bytes.len()].copy_from_slice(bytes);
            Payload::Short {
                length: bytes.len() as u8,
                bytes: short,
            }
        } else {
            match weft_memory::boxed(bytes) {
                Ok(bytes) => Payload::Stored(bytes),
                Err(NoMemory) => Payload::Dropped {
                    bytes: bytes.len() as u64,
                },
            }
        }
    }

    /// The message's length.
    pub fn bytes(&self) -> u64 {
        match self {
            Payload::Short { length, .. } => u64::from(*length),
            Payload::Failed(_) => 0,
            Payload::Stored(bytes) => bytes.len() as u64,
            Payload::Rts { bytes, .. }
            | Payload::Dropped { bytes }
            | Payload::RtsOnly { bytes }
            | Payload::ToSelf { bytes, .. } => *bytes,
        }
    }

    /// Bytes of this process's memory that the message holds beside its cell.
    pub fn held_bytes(&self) -> u64 {
        match self {
            Payload::Stored(bytes) => bytes.len() as u64,
            _ => 0,
        }
    }
}

/// A message that came before its receive.
pub(crate) struct Unexpected {
    pub payload: Payload,
    pub peer: Peer,
    /// The sender waits to hear of the match.
    pub synchronous: bool,
    /// Names the send at its process; of an eager message only if synchronous.
    pub cookie: Cookie,
}

impl Unexpected {
    /// Whether nobody waits for it to be received.
    pub fn is_whole(&self) -> bool {
        let elsewhere = matches!(
            self.payload,
            Payload::Rts { .. } | Payload::RtsOnly { .. } | Payload::ToSelf { .. }
        );
        !self.synchronous && !elsewhere
    }
}

/// A message taken out by a matched probe.
pub(crate) struct Extracted {
    pub envelope: Envelope,
    pub unexpected: Unexpected,
}
