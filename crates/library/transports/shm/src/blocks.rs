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
//! # Memory
//! A side's first block has its first page from the start. When a longer eager packet is sent in it, the sender takes the memory
//! for that: the other side's block, too, as where both send at the same time, each may hold the other's for ever. Further blocks are for
//! packets from [`GROWN_FROM`] bytes on of which several are under way both ways at once: their owner takes memory for one more when a
//! packet has come in a block since it did so last.
//!
//! A lane takes no more than [`LANE_BYTES`].

use std::io;
use std::num::NonZeroU8;
use std::sync::Arc;

use weft_sync::cells::{Elsewhere, Malformed};

use crate::layout::{BLOCK_BYTES, BLOCKS, RING_BYTES, SHORT_BLOCK_BYTES};
use crate::segment::Mapping;

/// Memory that a lane takes for blocks: for 64 eager packets, say.
pub const LANE_BYTES: u64 = 64 * BLOCK_BYTES as u64;

/// Packets for which memory is taken for more blocks than the first: what shorter ones gain is not worth it.
pub const GROWN_FROM: usize = 1 << 10;

/// The blocks of a connection, as one side sees them. Sets of them are bits: the own ones from bit 0 on, then the other side's.
#[derive(Default)]
pub struct Blocks {
    /// Where they are: the own link, the other side's.
    links: [Option<Arc<Mapping>>; 2],
    held: u32,
    /// For the first page of which there is memory, and for all of which.
    short: u32,
    whole: u32,
    /// A packet has come in a block since memory was taken for one.
    came: bool,
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
        let fit = match bytes {
            ..=SHORT_BLOCK_BYTES => self.short,
            _ => self.whole,
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

    /// Takes memory for all of one more block that is held, for one of `bytes` bytes, if that is worth it: the own link's by
    /// `own`. The bytes taken.
    pub fn lengthen(
        &mut self,
        bytes: usize,
        own: impl FnOnce(&Mapping, Growth) -> io::Result<()>,
    ) -> Option<usize> {
        let index = self.to_lengthen(bytes)?;
        let taken = self.take_memory(index, own)?;
        self.came = false;
        Some(taken)
    }

    /// Takes the memory of a block that is not there yet. The bytes taken.
    fn take_memory(
        &mut self,
        index: usize,
        own: impl FnOnce(&Mapping, Growth) -> io::Result<()>,
    ) -> Option<usize> {
        let block = 1 << index;
        let there = match self.short & block {
            0 => 0,
            _ => SHORT_BLOCK_BYTES,
        };
        let (at, bytes) = (offset_of(index) + there, BLOCK_BYTES - there);
        let link = self.links[index / BLOCKS].as_ref()?;
        if index < BLOCKS {
            own(link, Growth { at, bytes }).ok()?;
        } else {
            link.fill(at, bytes).ok()?;
        }
        self.has_memory(block, BLOCK_BYTES);
        Some(bytes)
    }

    /// There is memory for so many bytes of the block.
    fn has_memory(&mut self, block: u32, bytes: usize) {
        self.short |= block;
        if bytes > SHORT_BLOCK_BYTES {
            self.whole |= block;
        }
    }

    fn to_lengthen(&self, bytes: usize) -> Option<usize> {
        let lacking = self.held & !self.whole;
        let firsts = lacking & (FIRST_OWN | FIRST_THEIRS);
        let found = if bytes > SHORT_BLOCK_BYTES && firsts != 0 {
            firsts
        } else if bytes >= GROWN_FROM && self.came {
            lacking & OWN & !FIRST_OWN
        } else {
            0
        };
        (found != 0).then_some(found.trailing_zeros() as usize)
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
        let place = link.base().wrapping_add(offset_of(index));
        self.held |= block;
        // Only the first blocks may have a page alone.
        let least = match block & (FIRST_OWN | FIRST_THEIRS) {
            0 => BLOCK_BYTES,
            _ => SHORT_BLOCK_BYTES,
        };
        self.has_memory(block, bytes.max(least));
        self.came = true;
        Ok(place)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashSet, VecDeque};

    use weft_contract::Random;

    use super::*;
    use crate::layout::LINK_BYTES;
    use crate::segment::{PAGE, Segment};

    /// The first blocks, as cells name them.
    const SENDERS: NonZeroU8 = NonZeroU8::new(1).unwrap();
    const RECEIVERS: NonZeroU8 = NonZeroU8::new(1 + BLOCKS as u8).unwrap();

    fn link() -> Arc<Mapping> {
        let segment = Segment::create(PAGE).unwrap();
        Arc::new(segment.carve(LINK_BYTES, LINK_BYTES).unwrap().1)
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
        let refused = a.lengthen(long, |_, _| Err(io::ErrorKind::OutOfMemory.into()));
        assert_eq!(refused, None);
        assert!(a.lend(long).is_none(), "no memory");
        assert_eq!(
            a.lengthen(long, |_, _| Ok(())),
            Some(BLOCK_BYTES - SHORT_BLOCK_BYTES)
        );
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
        let none = |_: &Mapping, _| -> io::Result<()> { panic!("the own block is not here") };
        let place = match a.lengthen(BLOCK_BYTES, none) {
            Some(_) => a.lend(BLOCK_BYTES),
            // The kernel cannot.
            None => return assert!(a.lend(BLOCK_BYTES).is_none()),
        };
        assert!(a.lengthen(BLOCK_BYTES, none).is_none(), "none is here");
        let place = place.unwrap();
        assert!(b.take(packet(place.name, BLOCK_BYTES), &there).is_ok());
        assert!(
            b.lend(BLOCK_BYTES).is_some(),
            "as long as the other made it"
        );
    }

    /// Packets of random lengths both ways, each taken some time after it was sent: none is written where another stands, and those
    /// that go one way take no more memory.
    #[test]
    fn nothing_is_written_where_a_packet_is_under_way() {
        let links = [link(), link()];
        let mut sides = [Blocks::default(), Blocks::default()];
        let (mut filled, mut random) = (HashSet::new(), Random(1));
        sides[0].add_own(links[0].clone());
        sides[1].add_own(links[1].clone());
        let mut under_way = [VecDeque::new(), VecDeque::new()];
        let mut sent = 0;
        for round in 0..20_000u64 {
            let me = random.below(2) as usize;
            let one_way = round < 200;
            if random.below(2) == 0 && !(one_way && me == 1) {
                let lengths = [8, GROWN_FROM, SHORT_BLOCK_BYTES + 1, BLOCK_BYTES];
                let bytes = lengths[random.below(4) as usize];
                let lent = sides[me].lend(bytes).or_else(|| {
                    let own = |_: &Mapping, growth: Growth| {
                        assert!(filled.insert((me, growth.at)), "twice");
                        Ok(())
                    };
                    let taken = sides[me].lengthen(bytes, own);
                    taken.and_then(|_| sides[me].lend(bytes))
                });
                if let Some(LentBlock { name, base }) = lent {
                    // SAFETY: the links are carved whole, and a block is `bytes` bytes long at least.
                    unsafe { base.cast::<u64>().write_unaligned(round) };
                    sent += 1;
                    under_way[me].push_back((packet(name, bytes), base as *const u8, round));
                }
            } else if let Some((packet, base, round)) = under_way[1 - me].pop_front() {
                assert_eq!(sides[me].take(packet, &links[1 - me]).unwrap(), base);
                // SAFETY: as above.
                assert_eq!(unsafe { base.cast::<u64>().read_unaligned() }, round);
            }
            assert!(!one_way || filled.len() <= 1, "one way");
        }
        assert!(sent > 5000 && filled.len() > BLOCKS, "{sent} in {filled:?}");
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
