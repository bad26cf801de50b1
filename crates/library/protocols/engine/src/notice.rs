//! What the makers of two engines say to each other beside messages: *notices*, which arrive in the order in which they
//! were given, before messages that wait for room, and take no request. And what one is told of peers that are lost.

use weft_transport::Peer;

/// All notices go by this lane, which every process has.
pub const NOTICE_LANE: u32 = 0;

/// A notice that has come, or is to go. Nothing in one that has come is trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub peer: Peer,
    pub context: u32,
    pub bytes: Vec<u8>,
}

/// Who is told. Called by any thread that makes progress, outside all sections.
#[derive(Clone, Copy)]
pub struct Listener {
    pub notice: fn(Notice),
    /// A peer is lost: each lane tells it.
    pub lost: fn(Peer),
}

impl Listener {
    pub(crate) const NOBODY: Listener = Listener {
        notice: |_| (),
        lost: |_| (),
    };
}
