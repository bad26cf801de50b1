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
//! Packets longer than eager ones, up to [`EXCHANGED_BYTES`], are for *exchanges*, in which both sides send at the same time: neither has time to
//! drain while the other fills, and a packet takes less than a bulk transfer. When a bulk transfer turns out to be part of an exchange, its sender
//! takes memory for a whole block, for [`EXCHANGED_BLOCKS`] of its own at most. An exchange goes on while one whole block is held and an own one
//! is away.
//!
//! A lane takes no more than [`LANE_BYTES`].

use std::io;
use std::num::NonZeroU8;
use std::sync::Arc;

use weft_sync::cells::{Elsewhere, Malformed};

use crate::layout::{
    ANSWERED_BYTES, BLOCK_BYTES, BLOCKS, EAGER_BLOCK_BYTES, EAGER_BYTES, EXCHANGED_BYTES,
    RING_BYTES, SHORT_BLOCK_BYTES,
};
use crate::segment::Mapping;

/// Memory that a lane takes for blocks: for 64 eager packets, say.
pub const LANE_BYTES: u64 = 64 * EAGER_BLOCK_BYTES as u64;

/// An exchange is taken to go on for so many packets after it was last seen to.
const EXCHANGES: u8 = 8;

/// The own blocks that get their whole length.
const EXCHANGED_BLOCKS: u32 = 4;

/// Packets for which memory is taken for more blocks than the first: what shorter ones gain is not worth it.
pub const GROWN_FROM: usize = 1 << 10;

/// The blocks of a connection, as one side sees them. Sets of them are bits: the own ones from bit 0 on, then the other side's.
#[derive(Default)]
pub struct Blocks {
    /// Where they are: the own link, the other side's.
    links: [Option<Arc<Mapping>>; 2],
    held: u32,
    /// For the first page of which there is memory, for an eager packet in which, and for all of which.
    short: u32,
    eager: u32,
    whole: u32,
    /// So many packets more than an eager one are part of an exchange, though no own block is away.
    exchanges: u8,
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
        let fit = if bytes <= SHORT_BLOCK_BYTES {
            self.short
        } else if bytes <= EAGER_BLOCK_BYTES {
            self.eager
        } else {
            self.whole
        };
        // The other's first: what it has sent last is warm.
        let index = (self.held & fit).checked_ilog2()? as usize;
        debug_assert!(bytes <= BLOCK_BYTES);
        let link = self.links[index / BLOCKS].as_ref()?;
        let is_away = self.is_own_away();
        self.held &= !(1 << index);
        if bytes > EAGER_BLOCK_BYTES {
            self.exchanges = match is_away {
                true => EXCHANGES,
                false => self.exchanges.saturating_sub(1),
            };
        }
        let name = NonZeroU8::new(1 + index as u8)?;
        let base = link.base().wrapping_add(offset_of(index));
        Some(LentBlock { name, base })
    }

    /// Takes memory for an eager packet in one more block that is held, for one of `bytes` bytes, if that is worth it: the own link's by
    /// `own`. The bytes taken.
    pub fn lengthen(
        &mut self,
        bytes: usize,
        own: impl FnOnce(&Mapping, Growth) -> io::Result<()>,
    ) -> Option<usize> {
        let index = self.to_lengthen(bytes)?;
        let taken = self.take_memory(index, EAGER_BLOCK_BYTES, own)?;
        self.came = false;
        Some(taken)
    }

    /// The longest packet that can be sent now.
    #[inline]
    pub fn longest_packet(&self) -> usize {
        if self.whole & self.held == 0 {
            return EAGER_BYTES;
        }
        match self.is_own_away() || self.exchanges > 0 {
            true => EXCHANGED_BYTES,
            false => ANSWERED_BYTES,
        }
    }

    /// Whether the other side holds an own block that has its whole length.
    fn is_own_away(&self) -> bool {
        OWN & self.whole & !self.held != 0
    }

    /// A message that would fit in a whole block goes as a bulk transfer, and is part of an exchange: further ones may go in blocks. Takes memory for all
    /// of one more own block, if none is held that has it. The bytes taken.
    pub fn begin_exchange(
        &mut self,
        own: impl FnOnce(&Mapping, Growth) -> io::Result<()>,
    ) -> Option<usize> {
        let mut taken = 0;
        if self.whole & self.held == 0 {
            let lacking = self.held & OWN & !self.whole;
            let are_enough = (self.whole & OWN).count_ones() >= EXCHANGED_BLOCKS;
            if lacking == 0 || are_enough {
                return None;
            }
            taken = self.take_memory(lacking.trailing_zeros() as usize, BLOCK_BYTES, own)?;
        }
        self.exchanges = EXCHANGES;
        Some(taken)
    }

    /// Takes the memory of a block up to `end` that is not there yet. The bytes taken.
    fn take_memory(
        &mut self,
        index: usize,
        end: usize,
        own: impl FnOnce(&Mapping, Growth) -> io::Result<()>,
    ) -> Option<usize> {
        let block = 1 << index;
        let there = match block {
            _ if self.eager & block != 0 => EAGER_BLOCK_BYTES,
            _ if self.short & block != 0 => SHORT_BLOCK_BYTES,
            _ => 0,
        };
        let (at, bytes) = (offset_of(index) + there, end - there);
        let link = self.links[index / BLOCKS].as_ref()?;
        if index < BLOCKS {
            own(link, Growth { at, bytes }).ok()?;
        } else {
            link.fill(at, bytes).ok()?;
        }
        self.has_memory(block, end);
        Some(bytes)
    }

    /// There is memory for so many bytes of the block.
    fn has_memory(&mut self, block: u32, bytes: usize) {
        self.short |= block;
        if bytes > SHORT_BLOCK_BYTES {
            self.eager |= block;
        }
        if bytes > EAGER_BLOCK_BYTES {
            self.whole |= block;
        }
    }

    fn to_lengthen(&self, bytes: usize) -> Option<usize> {
        let lacking = self.held & !self.eager;
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
            0 => EAGER_BLOCK_BYTES,
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
            Some(EAGER_BLOCK_BYTES - SHORT_BLOCK_BYTES)
        );
        let place = a.lend(long).unwrap();
        assert!(b.take(packet(place.name, long), &there).is_ok());
        let places = [b.lend(EAGER_BLOCK_BYTES), b.lend(9), b.lend(9)];
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
        let place = match a.lengthen(EAGER_BLOCK_BYTES, none) {
            Some(_) => a.lend(EAGER_BLOCK_BYTES),
            // The kernel cannot.
            None => return assert!(a.lend(EAGER_BLOCK_BYTES).is_none()),
        };
        assert!(
            a.lengthen(EAGER_BLOCK_BYTES, none).is_none(),
            "none is here"
        );
        let place = place.unwrap();
        assert!(
            b.take(packet(place.name, EAGER_BLOCK_BYTES), &there)
                .is_ok()
        );
        assert!(
            b.lend(EAGER_BLOCK_BYTES).is_some(),
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
                let lengths = [
                    8,
                    GROWN_FROM,
                    SHORT_BLOCK_BYTES + 1,
                    EAGER_BLOCK_BYTES,
                    BLOCK_BYTES,
                ];
                let bytes = lengths[random.below(if one_way { 4 } else { 5 }) as usize];
                let lent = sides[me].lend(bytes).or_else(|| {
                    let own = |_: &Mapping, growth: Growth| {
                        assert!(filled.insert((me, growth.at)), "twice");
                        Ok(())
                    };
                    let taken = match bytes > EAGER_BLOCK_BYTES {
                        true => sides[me].begin_exchange(own),
                        false => sides[me].lengthen(bytes, own),
                    };
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

    /// Both send a whole block's length at the same time, in either order.
    #[test]
    fn an_exchange_goes_on_in_blocks_until_it_is_none() {
        let links = [link(), link()];
        let mut sides = [Blocks::default(), Blocks::default()];
        let longest = |sides: &[Blocks; 2]| [0, 1].map(|side| sides[side].longest_packet());
        let mut taken = [0; 2];
        for me in 0..2 {
            sides[me].add_own(links[me].clone());
            assert_eq!(sides[me].longest_packet(), EAGER_BYTES, "no memory yet");
            taken[me] = sides[me].begin_exchange(|_, _| Ok(())).unwrap();
        }
        assert_eq!(taken, [BLOCK_BYTES - SHORT_BLOCK_BYTES; 2]);
        let go = |sides: &mut [Blocks; 2], from: usize| {
            let lent = sides[from].lend(EXCHANGED_BYTES).unwrap();
            packet(lent.name, EXCHANGED_BYTES)
        };
        for round in 0..20 {
            assert_eq!(longest(&sides), [EXCHANGED_BYTES; 2], "{round}");
            let crossing = [go(&mut sides, 0), go(&mut sides, 1)];
            for to in [0, 1] {
                let link = &links[1 - to];
                sides[to].take(crossing[1 - to], link).unwrap();
            }
        }
        let mut answers = 0;
        while sides[answers % 2].longest_packet() == EXCHANGED_BYTES {
            let from = answers % 2;
            let sent = go(&mut sides, from);
            sides[1 - from].take(sent, &links[from]).unwrap();
            answers += 1;
            assert!(answers < 100, "answers are no exchange");
        }
        assert_eq!(sides[answers % 2].longest_packet(), ANSWERED_BYTES);
    }

    /// One side alone sends: it has soon no block that is long enough, and takes memory for few.
    #[test]
    fn blocks_for_exchanges_are_few() {
        let (there, mut a) = (link(), Blocks::default());
        a.add_own(there);
        let begun = (0..2 * BLOCKS).filter(|_| {
            let taken = a.begin_exchange(|_, _| Ok(()));
            taken.is_some() && a.lend(EXCHANGED_BYTES).is_some()
        });
        assert_eq!(begun.count(), EXCHANGED_BLOCKS as usize);
        assert_eq!(a.longest_packet(), EAGER_BYTES);
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
