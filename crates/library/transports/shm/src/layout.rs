//! What a connection consists of: a ring of cells and a block, and the kinds of messages in it.

use crate::segment::PAGE;

/// A cell with a packet of the engine's: commonest, so 0, which is found quickest (`Consumer::look_short`).
pub const PACKET: u8 = 0;
/// A cell with a message between the two sides of a bulk transfer.
pub const CONTROL: u8 = 1;
/// A ring with its cells and data.
pub const RING_BYTES: usize = 60 << 10;
pub const RING_CELLS: u32 = 256;
/// The longest packet's payload: 16 KiB of a user's and what the engine puts before them.
pub const EAGER_BYTES: usize = (16 << 10) + 64;
/// The longest in a block; and where both sides send such at the same time: four times as much of a user's.
pub const ANSWERED_BYTES: usize = (32 << 10) + 64;
pub const EXCHANGED_BYTES: usize = (64 << 10) + 64;
/// The blocks behind the ring (see `blocks`), what there is memory for from the start of the first, and what the packets need that may
/// also go through the ring.
pub const BLOCKS: usize = 16;
pub const BLOCK_BYTES: usize = EXCHANGED_BYTES.next_multiple_of(PAGE);
pub const SHORT_BLOCK_BYTES: usize = PAGE;
pub const EAGER_BLOCK_BYTES: usize = EAGER_BYTES.next_multiple_of(PAGE);
/// A ring and its blocks, and all that a connected peer costs before longer packets or bulk data move.
pub const LINK_BYTES: usize = RING_BYTES + BLOCKS * BLOCK_BYTES;
pub const SHORT_LINK_BYTES: usize = RING_BYTES + SHORT_BLOCK_BYTES;

const _: () = {
    let parts = weft_sync::cells::Parts::at(std::ptr::null_mut(), RING_BYTES, RING_CELLS);
    assert!(EAGER_BYTES <= parts.longest());
};
