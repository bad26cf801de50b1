//! What a connection consists of: a ring of cells and a block, and the kinds of messages in it.

use crate::pair::SHOWN_BYTES;
use crate::segment::PAGE;

/// A cell with a packet of the engine's: commonest, so 0, which is found quickest (`Consumer::look_short`).
pub const PACKET: u8 = 0;
/// A cell with a message between the two sides of a bulk transfer.
pub const CONTROL: u8 = 1;
/// A ring with its cells and data. Data has room for two of the longest packets, so that one is written while the other
/// is read; with a page of the first block a peer that is talked to costs 64 KiB.
pub const RING_BYTES: usize = 60 << 10;
/// A window of 64 messages of IMB's and OSU's benchmarks, four times.
pub const RING_CELLS: u32 = 256;
/// Where in a link lies what is shown to the peer when the link is made (`pair`): the end of the ring's data, which is
/// written to last.
pub const SHOWN_AT: usize = RING_BYTES - SHOWN_BYTES;
/// The longest packet's payload: 16 KiB of a user's and what the engine puts before them.
pub const EAGER_BYTES: usize = (16 << 10) + 64;
/// The blocks behind the ring (see `blocks`; a set of both sides' is a word of 32 bits), and what there is memory for
/// from the start of the first.
pub const BLOCKS: usize = 16;
pub const BLOCK_BYTES: usize = EAGER_BYTES.next_multiple_of(PAGE);
pub const SHORT_BLOCK_BYTES: usize = PAGE;
/// A ring and its blocks, and all that a connected peer costs before longer packets or bulk data move.
pub const LINK_BYTES: usize = RING_BYTES + BLOCKS * BLOCK_BYTES;
pub const SHORT_LINK_BYTES: usize = RING_BYTES + SHORT_BLOCK_BYTES;

const _: () = {
    let parts = weft_sync::cells::Parts::at(std::ptr::null_mut(), RING_BYTES, RING_CELLS);
    assert!(EAGER_BYTES <= parts.longest());
};
