//! A long access in pieces, each of which a message has room for.

use super::access::{Access, LONGEST_BLOCK, LONGEST_HEAD, written_bytes};
use super::block::{Block, Unit};

/// A part of an access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub access: Access,
    /// Where its data begin among all packed data, and how many bytes they are.
    pub begin: usize,
    pub bytes: usize,
}

/// How much a piece may be.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Bytes that say where the data lie, and the data if `inline`.
    pub message: usize,
    pub inline: bool,
    /// Packed bytes of the data.
    pub data: usize,
}

/// The pieces of an access, in the order of its data.
pub struct Pieces {
    whole: Access,
    unit: Unit,
    units_once: u64,
    /// Bytes that say where all blocks lie, at most.
    list_bytes: usize,
    /// Where the next piece begins: in which repeat, which block of it, and how many units into that.
    repeat: u64,
    block: usize,
    inside: u64,
    /// Packed bytes of all before, and of all.
    taken: usize,
    bytes: usize,
}

impl Pieces {
    /// Those of the first `bytes` packed bytes, whole units and no more than there are.
    pub fn new(whole: Access, unit: Unit, bytes: usize) -> Pieces {
        let mut before = whole.first.offset;
        let mut list_bytes = LONGEST_HEAD + LONGEST_BLOCK;
        for block in &whole.others {
            list_bytes += written_bytes(block, before);
            before = block.offset;
        }
        Pieces {
            units_once: whole.units_once(),
            list_bytes,
            whole,
            unit,
            repeat: 0,
            block: 0,
            inside: 0,
            taken: 0,
            bytes,
        }
    }

    /// A message that has so much room takes any piece, of one unit at least.
    pub fn smallest_room(unit: Unit) -> usize {
        LONGEST_HEAD + LONGEST_BLOCK + unit.packed
    }

    /// Bytes that suffice for one piece of all that is left, with the data or without.
    pub fn longest(&self, inline: bool) -> usize {
        match inline {
            true => self.list_bytes.saturating_add(self.bytes - self.taken),
            false => self.list_bytes,
        }
    }

    /// The next piece; none after the last, or if there is no room for any.
    pub fn next(&mut self, room: Room) -> Option<Piece> {
        let left = self.bytes - self.taken;
        let data = room.data.min(left);
        let room = Room { data, ..room };
        if left == 0 {
            return None;
        }
        let access = self.some_repeats(room).or_else(|| self.some_blocks(room))?;
        let bytes = access.units() as usize * self.unit.packed;
        let begin = self.taken;
        self.taken += bytes;
        Some(Piece {
            access,
            begin,
            bytes,
        })
    }

    /// Units for which a message has room besides `list` bytes that say where they lie.
    fn units(&self, room: Room, list: usize) -> Option<u64> {
        let left = room.message.checked_sub(list)?;
        let data = match room.inline {
            true => left.min(room.data),
            false => room.data,
        };
        Some((data / self.unit.packed) as u64)
    }

    /// All blocks, as often as there is room for.
    fn some_repeats(&mut self, room: Room) -> Option<Access> {
        if (self.block, self.inside) != (0, 0) {
            return None;
        }
        let units = self.units(room, self.list_bytes)?;
        let repeats = (units / self.units_once).min(self.whole.repeats - self.repeat);
        if repeats == 0 {
            return None;
        }
        let moved = self.moved();
        self.repeat += repeats;
        Some(Access {
            repeats,
            extent: if repeats > 1 { self.whole.extent } else { 0 },
            first: shifted(&self.whole.first, moved),
            others: self
                .whole
                .others
                .iter()
                .map(|block| shifted(block, moved))
                .collect(),
        })
    }

    /// Bytes by which the repeat is further than the first.
    fn moved(&self) -> i64 {
        self.whole.extent.wrapping_mul(self.repeat as i64)
    }

    /// Blocks of one repeat, the first and the last of them perhaps in part.
    fn some_blocks(&mut self, room: Room) -> Option<Access> {
        // With room for the next block, however long it is.
        let mut list = LONGEST_HEAD + LONGEST_BLOCK;
        let (mut units, mut before) = (0, 0);
        let mut access: Option<Access> = None;
        let repeat = self.repeat;
        while self.repeat == repeat
            && let Some(most) = self
                .units(room, list)
                .and_then(|most| most.checked_sub(units))
            && most > 0
        {
            let block = self.some_runs(most);
            units += block.units();
            match &mut access {
                None => access = Some(Access::of(block)),
                Some(access) => access.others.push(block),
            }
            list += written_bytes(&block, before);
            before = block.offset;
        }
        access
    }

    /// What is next of the block, at most `most` units of it, and goes behind it.
    fn some_runs(&mut self, most: u64) -> Block {
        let moved = self.moved();
        let block = match self.block {
            0 => &self.whole.first,
            index => &self.whole.others[index - 1],
        };
        let (run, within) = (self.inside / block.length, self.inside % block.length);
        let begin = block.begin(run).wrapping_add(moved);
        let runs = (block.count - run).min(most / block.length);
        let some = if within > 0 || runs <= 1 {
            let further = (within as i64).wrapping_mul(self.unit.step as i64);
            Block::run(begin.wrapping_add(further), most.min(block.length - within))
        } else {
            Block {
                offset: begin,
                count: runs,
                ..*block
            }
        };
        self.inside += some.units();
        if self.inside == block.units() {
            (self.block, self.inside) = (self.block + 1, 0);
        }
        if self.block > self.whole.others.len() {
            (self.repeat, self.block) = (self.repeat + 1, 0);
        }
        some
    }
}

fn shifted(block: &Block, by: i64) -> Block {
    Block {
        offset: block.offset.wrapping_add(by),
        ..*block
    }
}
