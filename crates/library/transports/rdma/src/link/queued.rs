//! Frames that a link is to send and that have no place yet, or are not whole.

use crate::buffers::BufferId;
use crate::frame::FrameKind;

/// One of them, in order.
pub(super) enum Queued {
    Control(FrameKind, [u64; 2]),
    /// A frame that was pushed to a queue pair that then failed, with its number.
    Again {
        kind: FrameKind,
        sequence: u32,
        frame: Vec<u8>,
    },
    /// A part of a packet that is longer than the peer's buffers.
    Part {
        kind: FrameKind,
        piece: BufferId,
        offset: usize,
        bytes: usize,
        is_last: bool,
    },
    /// Such a part, whose piece was of a rail that has failed.
    Copied {
        kind: FrameKind,
        frame: Vec<u8>,
    },
}

/// A frame of several packets, to which more may come before it is pushed.
pub(super) struct Gathered {
    pub piece: BufferId,
    pub bytes: usize,
    /// The frame has room for so many bytes.
    pub most: usize,
}
