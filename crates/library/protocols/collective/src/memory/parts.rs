//! Memory that is shared out in blocks.

use std::ops::Range;

use weft_memory::Memory;

use super::{Blocks, Operand, window};

/// Parts of contiguous memory that follow each other: which bytes each rank's are.
pub(crate) struct Parts<F> {
    pub memory: Memory,
    pub bytes: F,
}

impl<F: Fn(usize) -> Range<usize>> Blocks for Parts<F> {
    fn block(&self, rank: usize) -> Memory {
        window(&self.memory, (self.bytes)(rank))
    }

    fn whole(&self) -> Option<Memory> {
        Some(self.memory.clone())
    }
}

/// Slices of a vector of elements that follow each other: which elements each rank's are.
pub(crate) struct Slices<'a, F> {
    pub vector: Operand<'a>,
    pub elements: F,
}

impl<F: Fn(usize) -> Range<usize>> Blocks for Slices<'_, F> {
    fn block(&self, rank: usize) -> Memory {
        self.vector.part((self.elements)(rank)).memory()
    }

    fn whole(&self) -> Option<Memory> {
        Some(self.vector.memory())
    }
}
