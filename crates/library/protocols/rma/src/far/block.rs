//! Regular blocks, and how those of a datatype are found.

use weft_datatype::{Datatype, Predefined};

/// What an access counts: bytes, or the elements that an update combines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Bytes of one among packed data.
    pub packed: usize,
    /// Bytes from one to the next in a run of them.
    pub step: usize,
}

impl Unit {
    pub const BYTE: Unit = Unit { packed: 1, step: 1 };

    pub fn of(basic: Predefined) -> Unit {
        Unit {
            packed: basic.size(),
            step: basic.extent(),
        }
    }
}

/// Runs of units, all of one length, whose beginnings are a stride apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Bytes from the beginning of the part to the first run, or an address.
    pub offset: i64,
    /// Units in a run; positive.
    pub length: u64,
    /// Runs; positive.
    pub count: u64,
    /// Bytes; 0 if there is one run.
    pub stride: i64,
}

impl Block {
    pub fn run(offset: i64, length: u64) -> Block {
        Block {
            offset,
            length,
            count: 1,
            stride: 0,
        }
    }

    /// Units in all its runs. Checked to be a number where a block comes from.
    pub fn units(&self) -> u64 {
        self.length.saturating_mul(self.count)
    }

    /// Where the run of a number begins. Addresses wrap around; the target finds that they are none.
    pub fn begin(&self, run: u64) -> i64 {
        self.offset
            .wrapping_add(self.stride.wrapping_mul(run as i64))
    }

    /// Adds the run that follows in the data, if that leaves it regular.
    fn extend(&mut self, next: Block, unit: Unit) -> bool {
        let bytes = (self.length as i64).wrapping_mul(unit.step as i64);
        if self.count == 1 && next.offset == self.offset.wrapping_add(bytes) {
            self.length += next.length;
            return true;
        }
        if next.length != self.length {
            return false;
        }
        if self.count == 1 {
            self.stride = next.offset.wrapping_sub(self.offset);
        } else if next.offset != self.begin(self.count) {
            return false;
        }
        self.count += 1;
        true
    }
}

/// The blocks of one element of a datatype at an offset, in the order of its data, all of them of whole units.
pub(super) fn blocks_of(datatype: &Datatype, count: usize, offset: i64, unit: Unit) -> Vec<Block> {
    let mut blocks = Vec::<Block>::new();
    let mut add = |at: isize, length: usize| {
        let next = Block::run(offset.wrapping_add(at as i64), length as u64);
        let extended = blocks
            .last_mut()
            .is_some_and(|last| last.extend(next, unit));
        if !extended {
            blocks.push(next);
        }
    };
    if unit.packed == unit.step {
        datatype.visit_runs(count, &mut |at, bytes| add(at, bytes / unit.packed));
        return blocks;
    }
    // Of elements with holes a run may be a part, or the end of one and the beginning of the next.
    let mut filled = 0;
    datatype.visit_runs(count, &mut |at, bytes| {
        let mut used = 0;
        while used < bytes {
            if filled == 0 {
                add(at + used as isize, 1);
            }
            let part = (unit.packed - filled).min(bytes - used);
            filled = (filled + part) % unit.packed;
            used += part;
        }
    });
    blocks
}
