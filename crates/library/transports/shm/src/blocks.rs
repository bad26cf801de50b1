//! Blocks that go to and fro between two processes with their messages.
//!
//! A line of memory that one core writes and another reads changes caches twice for each message: once for the reader
//! and once more when the writer wants it back. Where an answer is written into the very lines that the question was
//! just read from, it changes caches once. So beside its ring of cells each side of a connection has a *block*, as
//! long as the longest packet, and a packet travels in a block if its sender holds one.
//!
//! 1. A block is *held* by one of the two processes, at first by the one in whose segment it lies.
//! 2. A process sends a packet in a block that it holds; with the packet the block passes to the other process
//!    (`weft_sync::cells`, rule 7), which holds it once it has seen the packet.
//! 3. A block goes back in no other way: where packets go one way only, they go through the ring.
//!
//! There is memory for a block's first page from the start, and for the rest from the first packet that needs it, taken by
//! the process that holds the block then: where both send at the same time, each may hold the other's for ever. A lane takes it
//! for at most [`LONG_BLOCKS`].

use std::io;
use std::num::NonZeroU8;
use std::sync::Arc;

use weft_sync::cells::{Elsewhere, Malformed};

use crate::layout::{BLOCK_BYTES, RING_BYTES, SHORT_BLOCK_BYTES, SHORT_LINK_BYTES};
use crate::segment::Mapping;

/// Blocks for whose whole length a lane takes memory.
pub const LONG_BLOCKS: u64 = 64;

/// What a block is lengthened by.
pub const LONG_ADDED_BYTES: usize = BLOCK_BYTES - SHORT_BLOCK_BYTES;

/// In whose segment a block lies: that of the sender or of the receiver of the packet in it. What stands in cells.
const SENDERS: NonZeroU8 = NonZeroU8::new(1).unwrap();
const RECEIVERS: NonZeroU8 = NonZeroU8::new(2).unwrap();

/// A block that this process knows.
struct Block {
    /// The link that it is part of.
    link: Arc<Mapping>,
    held: bool,
    /// For which there is memory.
    bytes: usize,
}

/// The two blocks of a connection, as one side sees them.
#[derive(Default)]
pub struct Blocks {
    own: Option<Block>,
    theirs: Option<Block>,
}

/// Where a packet is to be written, which is this process's until the packet is published.
pub struct LentBlock {
    /// For the cell.
    pub name: NonZeroU8,
    pub base: *mut u8,
}

impl Block {
    fn new(link: Arc<Mapping>, held: bool) -> Block {
        debug_assert!(link.bytes() >= RING_BYTES + BLOCK_BYTES);
        Block {
            link,
            held,
            bytes: SHORT_BLOCK_BYTES,
        }
    }

    fn base(&self) -> *mut u8 {
        self.link.base().wrapping_add(RING_BYTES)
    }
}

impl Blocks {
    /// The own block is in this link to the peer.
    pub fn add_own(&mut self, link: Arc<Mapping>) {
        self.own = Some(Block::new(link, true));
    }

    /// A block for the next packet, of `bytes` bytes, which is then certainly sent: from here on it is not held.
    #[inline]
    pub fn lend(&mut self, bytes: usize) -> Option<LentBlock> {
        // The other's first: what it has sent last is warm.
        for (block, name) in [(&mut self.theirs, RECEIVERS), (&mut self.own, SENDERS)] {
            if let Some(block) = block
                && block.held
                && bytes <= block.bytes
            {
                block.held = false;
                let base = block.base();
                return Some(LentBlock { name, base });
            }
        }
        None
    }

    /// A block that is held and has only its first page: the own one if it is, whose further memory is taken by `own`.
    /// True if it has all of its memory then.
    pub fn lengthen(&mut self, own: impl FnOnce() -> io::Result<()>) -> bool {
        let is_short = |block: &&mut Block| block.held && block.bytes < BLOCK_BYTES;
        let (block, filled) = if let Some(block) = self.own.as_mut().filter(is_short) {
            (block, own())
        } else if let Some(block) = self.theirs.as_mut().filter(is_short) {
            let filled = block.link.fill(SHORT_LINK_BYTES, LONG_ADDED_BYTES);
            (block, filled)
        } else {
            return false;
        };
        if filled.is_err() {
            return false;
        }
        block.bytes = BLOCK_BYTES;
        true
    }

    /// A packet has come in a block, which is held from here on: where it is. `link` is the one from the peer.
    #[inline]
    pub fn take(&mut self, packet: Elsewhere, link: &Arc<Mapping>) -> Result<*const u8, Malformed> {
        let bytes = packet.bytes as usize;
        let block = match packet.place {
            SENDERS => Some(
                self.theirs
                    .get_or_insert_with(|| Block::new(link.clone(), false)),
            ),
            RECEIVERS => self.own.as_mut(),
            _ => None,
        };
        let Some(block) = block.filter(|block| !block.held && bytes <= BLOCK_BYTES) else {
            return Err(Malformed(
                "it sent a packet in a block that it did not hold",
            ));
        };
        block.held = true;
        if bytes > block.bytes {
            block.bytes = BLOCK_BYTES;
        }
        Ok(block.base())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::LINK_BYTES;
    use crate::segment::{PAGE, Segment};

    fn link() -> Arc<Mapping> {
        let segment = Segment::create(PAGE).unwrap();
        Arc::new(segment.carve(LINK_BYTES).unwrap().1)
    }

    fn packet(place: NonZeroU8, bytes: usize) -> Elsewhere {
        let bytes = bytes as u32;
        Elsewhere { place, bytes }
    }

    #[test]
    fn a_block_is_held_by_one_side() {
        let (there, back) = (link(), link());
        let (mut a, mut b) = (Blocks::default(), Blocks::default());
        a.add_own(there.clone());
        for _ in 0..3 {
            // The first question is in the asker's block, the answer goes back in it.
            let place = a.lend(100).unwrap();
            assert!(a.lend(100).is_none());
            assert!(b.take(packet(place.name, 100), &there).is_ok());
            let place = b.lend(SHORT_BLOCK_BYTES).unwrap();
            assert!(b.lend(1).is_none());
            assert!(a.take(packet(place.name, 100), &back).is_ok());
        }
        b.add_own(back.clone());
        let long = SHORT_BLOCK_BYTES + 1;
        assert!(b.lend(long).is_none(), "too short yet");
        assert!(!a.lengthen(|| Err(io::ErrorKind::OutOfMemory.into())));
        assert!(a.lend(long).is_none(), "no memory");
        assert!(a.lengthen(|| Ok(())));
        let place = a.lend(long).unwrap();
        assert!(b.take(packet(place.name, long), &there).is_ok());
        let places = [b.lend(BLOCK_BYTES), b.lend(9), b.lend(9)];
        let names = places.map(|place| place.map(|place| place.name));
        assert_eq!(names, [Some(RECEIVERS), Some(SENDERS), None]);
    }

    #[test]
    fn the_others_block_is_lengthened_where_it_is() {
        let (there, back) = (link(), link());
        let (mut a, mut b) = (Blocks::default(), Blocks::default());
        a.add_own(there.clone());
        b.add_own(back.clone());
        let (ask, answer) = (a.lend(100).unwrap(), b.lend(100).unwrap());
        b.take(packet(ask.name, 100), &there).unwrap();
        a.take(packet(answer.name, 100), &back).unwrap();
        let none = || -> io::Result<()> { panic!("the own block is not here") };
        let place = match a.lengthen(none) {
            true => a.lend(BLOCK_BYTES),
            // The kernel cannot.
            false => return assert!(a.lend(BLOCK_BYTES).is_none()),
        };
        assert!(!a.lengthen(none), "none is here");
        let place = place.unwrap();
        assert!(b.take(packet(place.name, BLOCK_BYTES), &there).is_ok());
        assert!(
            b.lend(BLOCK_BYTES).is_some(),
            "as long as the other made it"
        );
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let (there, back) = (link(), link());
        let mut a = Blocks::default();
        let take = |a: &mut Blocks, place, bytes| a.take(packet(place, bytes), &back).is_ok();
        assert!(!take(&mut a, RECEIVERS, 1), "there is no such block");
        a.add_own(there);
        assert!(!take(&mut a, RECEIVERS, 1), "it is held here");
        assert!(!take(&mut a, NonZeroU8::MAX, 1));
        assert!(!take(&mut a, SENDERS, BLOCK_BYTES + 1));
        assert!(take(&mut a, SENDERS, BLOCK_BYTES));
        assert!(!take(&mut a, SENDERS, 1), "sent twice");
    }
}
