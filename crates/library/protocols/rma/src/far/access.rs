//! Where the data of an access lie at the target.

use weft_datatype::{Datatype, Overflow, Predefined};

use super::block::{Block, Unit, blocks_of};
use super::number::{LONGEST, Reader, length, signed_length, write, write_signed};

/// Blocks, in the order of the data, repeated an extent apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Positive.
    pub repeats: u64,
    /// Bytes; 0 if there is no second time.
    pub extent: i64,
    pub first: Block,
    pub others: Vec<Block>,
}

/// Bytes of the longest block in a message.
pub(super) const LONGEST_BLOCK: usize = 4 * LONGEST;
/// Bytes of the longest beginning of an access in a message.
pub(super) const LONGEST_HEAD: usize = 4 * LONGEST;

impl Access {
    /// Units that lie together.
    pub fn run(offset: i64, length: u64) -> Access {
        Access::of(Block::run(offset, length))
    }

    pub(super) fn of(first: Block) -> Access {
        Access {
            repeats: 1,
            extent: 0,
            first,
            others: Vec::new(),
        }
    }

    /// `count` elements of a datatype at an offset. None if there are no data.
    pub fn new(datatype: &Datatype, count: usize, offset: i64, unit: Unit) -> Option<Access> {
        if count == 0 || datatype.size() == 0 {
            return None;
        }
        let together = datatype.is_contiguous(count);
        let (elements, repeats) = if together { (count, 1) } else { (1, count) };
        let mut blocks = blocks_of(datatype, elements, offset, unit).into_iter();
        let mut access = Access {
            repeats: repeats as u64,
            extent: datatype.extent() as i64,
            first: blocks.next()?,
            others: blocks.collect(),
        };
        access.fold(unit);
        Some(access)
    }

    /// Makes one block of one that is repeated, where it stays regular.
    fn fold(&mut self, unit: Unit) {
        if self.repeats == 1 {
            self.extent = 0;
            return;
        }
        if !self.others.is_empty() {
            return;
        }
        let block = &mut self.first;
        let bytes = (block.length as i64).wrapping_mul(unit.step as i64);
        if block.count == 1 && self.extent == bytes {
            block.length *= self.repeats;
        } else if block.count == 1 {
            (block.count, block.stride) = (self.repeats, self.extent);
        } else if self.extent == block.stride.wrapping_mul(block.count as i64) {
            block.count *= self.repeats;
        } else {
            return;
        }
        (self.repeats, self.extent) = (1, 0);
    }

    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// Units of one time. Checked to be a number where an access comes from.
    pub(super) fn units_once(&self) -> u64 {
        self.blocks().map(Block::units).sum()
    }

    /// Units in all.
    pub fn units(&self) -> u64 {
        self.units_once().saturating_mul(self.repeats)
    }

    /// Where its bytes begin, if they lie together.
    pub fn only_run(&self) -> Option<i64> {
        let is_one = self.others.is_empty() && self.repeats == 1 && self.first.count == 1;
        is_one.then_some(self.first.offset)
    }

    /// What of the part it is, as elements of a datatype at an offset: `basic` is what a unit is made of.
    pub fn datatype(&self, basic: Predefined) -> Result<(Datatype, usize, i64), Overflow> {
        let element = Datatype::from(basic);
        if let Some(offset) = self.only_run() {
            return Ok((element, number(self.first.length)?, offset));
        }
        let origin = self.first.offset;
        let once = match self.others.is_empty() {
            true => repeated(&self.first, &element)?,
            false => self.listed(&element)?,
        };
        let datatype = match self.repeats {
            1 => once,
            repeats => Datatype::hvector(number(repeats)?, 1, self.extent as isize, &once)?,
        };
        Ok((datatype, 1, origin))
    }

    /// Several blocks, relative to the first.
    fn listed(&self, element: &Datatype) -> Result<Datatype, Overflow> {
        let place = |block: &Block| {
            let at = block.offset.checked_sub(self.first.offset);
            at.map(|at| at as isize).ok_or(Overflow)
        };
        let displacements = self.blocks().map(place).collect::<Result<Box<_>, _>>()?;
        if self.blocks().all(|block| block.count == 1) {
            let lengths = self.blocks().map(|block| number(block.length));
            let lengths = lengths.collect::<Result<Box<_>, _>>()?;
            return Datatype::hindexed(lengths, displacements, element);
        }
        let types = self.blocks().map(|block| repeated(block, element));
        let types = types.collect::<Result<Box<[_]>, _>>()?;
        let ones = vec![1; types.len()].into();
        Datatype::structure(ones, displacements, types)
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        // A message says 0 blocks to begin what is repeated.
        if self.repeats > 1 {
            write(0, out);
            write(self.repeats, out);
            write_signed(self.extent, out);
        }
        write(1 + self.others.len() as u64, out);
        let mut before = 0;
        for block in self.blocks() {
            // As long as `written_bytes` says.
            write_signed(block.offset.wrapping_sub(before), out);
            write(block.length, out);
            write(block.count, out);
            if block.count > 1 {
                write_signed(block.stride, out);
            }
            before = block.offset;
        }
    }

    /// None if it makes no sense. Its units are a number, and so are their packed bytes.
    pub(super) fn read(reader: &mut Reader, unit: Unit) -> Option<Access> {
        let (mut repeats, mut extent) = (1, 0);
        let mut count = reader.number()?;
        if count == 0 {
            repeats = reader.number().filter(|&repeats| repeats > 1)?;
            extent = reader.signed()?;
            count = reader.number()?;
        }
        let first = read_block(reader, 0)?;
        let mut units = first.length.checked_mul(first.count)?;
        let mut before = first.offset;
        let mut others = Vec::new();
        for _ in 1..count.max(1) {
            let block = read_block(reader, before)?;
            units = units.checked_add(block.length.checked_mul(block.count)?)?;
            before = block.offset;
            others.push(block);
        }
        let bytes = units
            .checked_mul(repeats)?
            .checked_mul(unit.packed as u64)?;
        (count > 0 && i64::try_from(bytes).is_ok()).then_some(Access {
            repeats,
            extent,
            first,
            others,
        })
    }
}

/// Bytes that a block takes in a message behind one that begins at `before`.
pub(super) fn written_bytes(block: &Block, before: i64) -> usize {
    let place = signed_length(block.offset.wrapping_sub(before));
    let stride = match block.count {
        1 => 0,
        _ => signed_length(block.stride),
    };
    place + length(block.length) + length(block.count) + stride
}

fn read_block(reader: &mut Reader, before: i64) -> Option<Block> {
    let offset = before.wrapping_add(reader.signed()?);
    let length = reader.number().filter(|&length| length > 0)?;
    let count = reader.number().filter(|&count| count > 0)?;
    let stride = match count {
        1 => 0,
        _ => reader.signed()?,
    };
    Some(Block {
        offset,
        length,
        count,
        stride,
    })
}

fn repeated(block: &Block, element: &Datatype) -> Result<Datatype, Overflow> {
    let (count, length) = (number(block.count)?, number(block.length)?);
    Datatype::hvector(count, length, block.stride as isize, element)
}

fn number(number: u64) -> Result<usize, Overflow> {
    isize::try_from(number)
        .map(|number| number as usize)
        .map_err(|_| Overflow)
}
