//! Blocks that go to and fro between two processes with their messages.
//!
//! A line of memory that one core writes and another reads changes caches twice for each message: once for the reader
//! and once more when the writer wants it back. Where an answer is written into the very lines that the question was
//! just read from, it changes caches once. So beside its ring of cells each side of a connection has [`BLOCKS`] *blocks*, each as
//! long as the longest packet, and a packet travels in a block if its sender holds one.
//!
//! 1. A block is *held* by one of the two processes, at first by the one in whose segment it lies.
//! 2. A process sends a packet in a block that it holds; with the packet the block passes to the other process
//!    (`weft_sync::cells`, rule 7), which holds it once it has seen the packet.
//! 3. A block goes back in no other way: where packets go one way only, they go through the ring.
//!
//! Of the first of a side's blocks there is memory for the first page from the start, and for the rest from the first packet that
//! needs it, taken by the process that holds the block then: where both send at the same time, each may hold the other's for
//! ever. The other blocks are for packets longer than a page of which several are under way both ways at once: their owner takes
//! memory for one more when one has come from the peer. A lane takes memory for at most [`LONG_BLOCKS`].

use std::io;
use std::num::NonZeroU8;
use std::sync::Arc;

use weft_sync::cells::{Elsewhere, Malformed};

use crate::layout::{BLOCK_BYTES, BLOCKS, RING_BYTES, SHORT_BLOCK_BYTES};
use crate::segment::Mapping;

/// Blocks for whose whole length a lane takes memory.
pub const LONG_BLOCKS: u64 = 64;

/// The blocks of a connection, as one side sees them. Sets of them are bits: the own ones from bit 0 on, then the other side's.
#[derive(Default)]
pub struct Blocks {
    /// Where they are: the own link, the other side's.
    links: [Option<Arc<Mapping>>; 2],
    held: u32,
    /// For whose first page there is memory, and for all of which.
    short: u32,
    long: u32,
    /// Packets that have come in blocks, up to [`BLOCKS`].
    came: u8,
}

/// Where a packet is to be written, which is this process's until the packet is published.
pub struct LentBlock {
    /// For the cell: 1 and the sender's number of the block.
    pub name: NonZeroU8,
    pub base: *mut u8,
}

/// What memory is to be taken for, from the beginning of a link on.
pub struct Growth {
    pub at: usize,
    pub bytes: usize,
}

const OWN: u32 = (1 << BLOCKS) - 1;
/// The first block of each side.
const FIRST_OWN: u32 = 1;
const FIRST_THEIRS: u32 = 1 << BLOCKS;

const _: () = assert!(BLOCKS.is_power_of_two() && 2 * BLOCKS <= u32::BITS as usize);

/// Of a block in its link.
fn offset_of(index: usize) -> usize {
    RING_BYTES + index % BLOCKS * BLOCK_BYTES
}

impl Blocks {
    /// The own blocks are in this link to the peer.
    pub fn add_own(&mut self, link: Arc<Mapping>) {
        debug_assert!(link.bytes() >= RING_BYTES + BLOCKS * BLOCK_BYTES);
        self.links[0] = Some(link);
        self.held |= OWN;
        self.short |= FIRST_OWN;
    }

    /// A block for the next packet, of `bytes` bytes, which is then certainly sent: from here on it is not held.
    #[inline]
    pub fn lend(&mut self, bytes: usize) -> Option<LentBlock> {
        let fit = if bytes <= SHORT_BLOCK_BYTES {
            self.short
        } else {
            self.long
        };
        // The other's first: what it has sent last is warm.
        let index = (self.held & fit).checked_ilog2()? as usize;
        debug_assert!(bytes <= BLOCK_BYTES);
        let link = self.links[index / BLOCKS].as_ref()?;
        self.held &= !(1 << index);
        let name = NonZeroU8::new(1 + index as u8)?;
        let base = link.base().wrapping_add(offset_of(index));
        Some(LentBlock { name, base })
    }

    /// Has memory for the whole of one more block that is held. What an own one lacks is taken by `own`. The bytes taken.
    pub fn lengthen(&mut self, own: impl FnOnce(Growth) -> io::Result<()>) -> Option<usize> {
        let lacking = self.held & !self.long;
        let is_first = lacking & (FIRST_OWN | FIRST_THEIRS) != 0;
        // Nothing has come in blocks where packets go one way.
        let grown = (self.long & OWN).count_ones();
        let own_later = lacking & OWN & !FIRST_OWN;
        let index = if is_first {
            (lacking & (FIRST_OWN | FIRST_THEIRS)).trailing_zeros() as usize
        } else if u32::from(self.came) >= grown && own_later != 0 {
            own_later.trailing_zeros() as usize
        } else {
            return None;
        };
        let there = if is_first { SHORT_BLOCK_BYTES } else { 0 };
        let growth = Growth {
            at: offset_of(index) + there,
            bytes: BLOCK_BYTES - there,
        };
        let bytes = growth.bytes;
        let filled = match (index / BLOCKS, &self.links[1]) {
            (0, _) => own(growth),
            (_, Some(link)) => link.fill(growth.at, bytes),
            _ => return None,
        };
        filled.ok()?;
        self.short |= 1 << index;
        self.long |= 1 << index;
        Some(bytes)
    }

    /// A packet has come in a block, which is held from here on: where it is. `link` is the one from the peer.
    #[inline]
    pub fn take(&mut self, packet: Elsewhere, link: &Arc<Mapping>) -> Result<*const u8, Malformed> {
        let bytes = packet.bytes as usize;
        // The peer's own are the other side's here.
        let index = (packet.place.get() as usize - 1) ^ BLOCKS;
        let theirs = index / BLOCKS == 1;
        if theirs && self.links[1].is_none() {
            self.links[1] = Some(link.clone());
        }
        let block = 1u32.checked_shl(index as u32).unwrap_or(0);
        let link = self.links.get(index / BLOCKS).and_then(Option::as_ref);
        let Some(link) = link.filter(|_| self.held & block == 0 && bytes <= BLOCK_BYTES) else {
            return Err(Malformed(
                "it sent a packet in a block that it did not hold",
            ));
        };
        self.held |= block;
        self.short |= block;
        // Only the first blocks may have a page alone.
        if bytes > SHORT_BLOCK_BYTES || block & (FIRST_OWN | FIRST_THEIRS) == 0 {
            self.long |= block;
        }
        self.came = (self.came + 1).min(BLOCKS as u8);
        Ok(link.base().wrapping_add(offset_of(index)))
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
