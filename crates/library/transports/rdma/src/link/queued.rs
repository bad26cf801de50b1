//! Frames that a link is to send and that have no place yet, or are not whole.

use crate::buffers::Piece;
use crate::frame::Kind;

/// One of them, in order.
pub(super) enum Queued {
    Control(Kind, [u64; 2]),
    /// A frame that was pushed to a queue pair that then failed, with its number.
    Again {
        kind: Kind,
        sequence: u32,
        frame: Vec<u8>,
    },
    /// A part of a packet that is longer than the peer's buffers.
    Part {
        kind: Kind,
        piece: Piece,
        offset: usize,
        bytes: usize,
        is_last: bool,
    },
    /// Such a part, whose piece was of a rail that has failed.
    Copied {
        kind: Kind,
        frame: Vec<u8>,
    },
}

/// A frame of several packets, to which more may come before it is pushed.
pub(super) struct Gathered {
    pub piece: Piece,
    pub bytes: usize,
    /// The frame has room for so many bytes.
    pub most: usize,
}
