//! The engine's packet headers: what two WeftMPI processes say to each other.
//!
//! A packet is two header words, carried by the transport unread, and a payload. [`View`] reads what
//! arrived and trusts nothing; [`Packet`] is a valid value that can be written. Layout, little end first:
//!
//! ```text
//! word 0   kind:8 | flags:8 | reserved:16 | source:32   source: the sender's rank in the communicator
//! word 1   context:32 | tag:32
//! ```
#![forbid(unsafe_code)]

mod aggregate;
mod body;
#[cfg(test)]
mod tests;

pub use aggregate::{Entries, Entry, entry_bytes, put_entry};
pub use body::{
    ANSWER_BYTES, Body, COOKIE_BYTES, CTS_BYTES, ENQUIRY_BYTES, FAILED_BYTES, RTS_BYTES,
    RTS_ONLY_BYTES, Rts,
};

/// What a packet is. The number is on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PacketKind {
    /// A whole message. With [`SYNCHRONOUS`] the payload begins with the sender's cookie.
    Eager = 1,
    /// A large message's envelope: cookie, length and the descriptor of the bulk transfer.
    Rts = 2,
    /// A small message's envelope, the payload kept back by a throttled sender: cookie, length.
    RtsOnly = 3,
    /// Receiver to sender of an [`RtsOnly`](PacketKind::RtsOnly): send it. Both cookies.
    Cts = 4,
    /// The payload that a `Cts` asked for, after the receiver's cookie.
    Data = 5,
    /// Receiver to sender: the synchronous message with this cookie was matched.
    Ack = 6,
    /// Sender to receiver: forget the envelope with this cookie if it is not matched yet.
    Cancel = 7,
    /// The answer: [`FORGOTTEN`] is set if it was forgotten.
    Cancelled = 8,
    /// Several eager messages, one behind the other.
    Aggregate = 9,
    /// In place of a message: its sender's operation failed. The number that says why.
    Failed = 10,
    /// Receiver to sender: whether a message of this envelope is still to come; with [`OF_SENDER`] sender to receiver:
    /// whether it is still to be received. The cookie of the request that waits, and two words about the one that asks,
    /// of whoever made its engine.
    Enquiry = 11,
    /// The answer to a receiver, behind all messages: the receive with this cookie gets none. The number that says why.
    Answer = 12,
    /// What the makers of two engines say to each other about the communicator of a context: any bytes.
    Notice = 13,
}

/// Flag of `Eager` and `Rts`: the sender waits to hear of the match.
pub const SYNCHRONOUS: u8 = 1;
/// Flag of `Cancelled`: the envelope was still unmatched and is gone.
pub const FORGOTTEN: u8 = 2;

/// Flag of `Enquiry`: the sender asks.
pub const OF_SENDER: u8 = 4;

const KNOWN_FLAGS: u8 = SYNCHRONOUS | FORGOTTEN | OF_SENDER;

/// A valid header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    pub kind: PacketKind,
    pub flags: u8,
    pub source: u32,
    pub context: u32,
    pub tag: u32,
}

impl Packet {
    /// A packet that belongs to no communicator: answers and aggregates.
    pub const fn control(kind: PacketKind) -> Packet {
        Packet {
            kind,
            flags: 0,
            source: 0,
            context: 0,
            tag: 0,
        }
    }

    #[inline]
    pub const fn words(&self) -> [u64; 2] {
        [
            self.kind as u64 | (self.flags as u64) << 8 | (self.source as u64) << 32,
            self.context as u64 | (self.tag as u64) << 32,
        ]
    }
}

/// A header as it arrived.
#[derive(Clone, Copy, Debug)]
pub struct View(pub [u64; 2]);

impl View {
    /// The kind, if it is one.
    #[inline]
    pub fn kind(&self) -> Option<PacketKind> {
        Some(match self.0[0] as u8 {
            1 => PacketKind::Eager,
            2 => PacketKind::Rts,
            3 => PacketKind::RtsOnly,
            4 => PacketKind::Cts,
            5 => PacketKind::Data,
            6 => PacketKind::Ack,
            7 => PacketKind::Cancel,
            8 => PacketKind::Cancelled,
            9 => PacketKind::Aggregate,
            10 => PacketKind::Failed,
            11 => PacketKind::Enquiry,
            12 => PacketKind::Answer,
            13 => PacketKind::Notice,
            _ => return None,
        })
    }

    #[inline]
    pub fn flags(&self) -> u8 {
        (self.0[0] >> 8) as u8
    }

    /// Whether this is a plain eager message's header, of which then nothing is out of range.
    #[inline]
    pub fn is_plain_eager(&self) -> bool {
        let (low, high) = (self.0[0], self.0[1]);
        if low as u32 != PacketKind::Eager as u32 || (low | high) >> 63 != 0 {
            // Said so, it is two branches, and not a number computed of both.
            std::hint::cold_path();
            return false;
        }
        true
    }

    /// Source, context and tag, of a header that is in range.
    #[inline]
    pub fn address(&self) -> (u32, u32, u32) {
        let (low, high) = (self.0[0], self.0[1]);
        ((low >> 32) as u32, high as u32, (high >> 32) as u32)
    }

    /// The whole header, if nothing in it is out of range: kind and flags known, reserved bits zero,
    /// source and tag not negative as the `int` they are to MPI.
    #[inline]
    pub fn packet(&self) -> Option<Packet> {
        let (low, high) = (self.0[0], self.0[1]);
        let packet = Packet {
            kind: self.kind()?,
            flags: self.flags(),
            source: (low >> 32) as u32,
            context: high as u32,
            tag: (high >> 32) as u32,
        };
        let reserved = low & 0xffff_0000;
        let signs = (low | high) >> 63;
        (reserved == 0 && signs == 0 && packet.flags & !KNOWN_FLAGS == 0).then_some(packet)
    }
}
