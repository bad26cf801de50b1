//! Buffers of integers, dense or with holes, for both of which the packed bytes are the same.

use std::cell::UnsafeCell;
use weft_datatype::{Datatype, Predefined};
use weft_memory::Memory;

const HOLE: i32 = 0x5eed_0b5e;

/// Blocks of `length` integers each.
pub struct Buffer {
    cells: UnsafeCell<Vec<i32>>,
    pub datatype: Datatype,
    /// Elements of the datatype in one block.
    pub count: usize,
    length: usize,
    /// Distance of two integers of a block, and of two blocks.
    step: usize,
    extent: usize,
}

impl Buffer {
    /// A buffer of `blocks` blocks, all holes. The datatype has holes if `holes`.
    pub fn new(blocks: usize, length: usize, holes: bool) -> Buffer {
        let int = Datatype::from(Predefined::Int);
        let (datatype, count, step, extent) = if holes && length > 0 {
            (
                Datatype::vector(length, 1, 2, &int).unwrap(),
                1,
                2,
                2 * length - 1,
            )
        } else {
            (int, length, 1, length)
        };
        let cells = UnsafeCell::new(vec![HOLE; blocks * extent]);
        Buffer {
            cells,
            datatype,
            count,
            length,
            step,
            extent,
        }
    }

    /// A buffer of one block of these values.
    pub fn of(values: &[i32], holes: bool) -> Buffer {
        let buffer = Buffer::new(1, values.len(), holes);
        buffer.fill(0, values);
        buffer
    }

    /// Blocks of zeros, and behind them one more, of holes.
    pub fn of_blocks(blocks: usize, length: usize) -> Buffer {
        let buffer = Buffer::new(blocks + 1, length, false);
        (0..blocks).for_each(|block| buffer.fill(block, &vec![0; length]));
        buffer
    }

    /// Whether the last block is all holes still.
    pub fn is_whole(&self) -> bool {
        // SAFETY: as in `fill`.
        let cells = unsafe { (*self.cells.get()).clone() };
        let last = cells.len() - self.extent;
        cells[last..].iter().all(|&cell| cell == HOLE)
    }

    pub fn fill(&self, block: usize, values: &[i32]) {
        assert_eq!(values.len(), self.length);
        for (index, value) in values.iter().enumerate() {
            let at = block * self.extent + index * self.step;
            // SAFETY: no reference into the cells lives beyond its statement.
            unsafe { (&mut *self.cells.get())[at] = *value };
        }
    }

    pub fn pointer(&self) -> *mut u8 {
        // SAFETY: as in `fill`.
        unsafe { (*self.cells.get()).as_mut_ptr().cast() }
    }

    pub fn memory(&self) -> Memory {
        self.datatype.memory(self.pointer(), self.count).unwrap()
    }

    /// A block's values, once no operation uses the buffer.
    pub fn block(&self, block: usize) -> Vec<i32> {
        // SAFETY: as in `fill`.
        let cells = unsafe { (*self.cells.get()).clone() };
        let between = |index: usize| cells[block * self.extent + index * self.step + 1];
        if self.step > 1 {
            assert!((0..self.length - 1).all(|index| between(index) == HOLE));
        }
        (0..self.length)
            .map(|index| cells[block * self.extent + index * self.step])
            .collect()
    }
}

/// Values that say where they come from.
pub fn values(from: usize, to: usize, length: usize) -> Vec<i32> {
    (0..length)
        .map(|index| (from * 1_000_000 + to * 10_000 + index) as i32)
        .collect()
}
