//! Reductions by predefined operations, of elements without gaps.

use weft_memory::Memory;

use super::{Combine, PredefinedOp, copy_together};

/// The arguments of such a reduction.
#[derive(Clone, Copy)]
pub struct PlainReduction {
    op: PredefinedOp,
    element_bytes: usize,
    count: usize,
    input: *mut u8,
    output: *mut u8,
}

impl PlainReduction {
    /// Reduces `count` elements of `input`, which for `MPI_IN_PLACE` is `output`. That may be anything on ranks that get no result.
    ///
    /// # Safety
    /// The buffers are valid for `count` elements of so many bytes until the operation is over, and `op` is for such elements.
    #[inline(always)]
    pub unsafe fn new(
        op: PredefinedOp,
        (count, element_bytes): (usize, usize),
        input: *const u8,
        output: *mut u8,
    ) -> PlainReduction {
        PlainReduction {
            op,
            element_bytes,
            count,
            input: input.cast_mut(),
            output,
        }
    }

    /// Bytes of an operand.
    #[inline(always)]
    pub fn bytes(&self) -> usize {
        self.count * self.element_bytes
    }

    #[inline(always)]
    pub(crate) fn input(&self) -> Memory {
        Memory::contiguous(self.input, self.bytes())
    }

    #[inline(always)]
    pub(crate) fn is_in_place(&self) -> bool {
        self.input == self.output
    }

    #[inline(always)]
    pub(crate) fn element_bytes(&self) -> usize {
        self.element_bytes
    }

    /// Combines the ranks' operands, all as long, from the last rank down, into the beginning of the output.
    #[inline(always)]
    pub(crate) fn fold(&self, ranks: usize, operand: impl Fn(usize) -> Memory) {
        for rank in (0..ranks).rev() {
            let operand = operand(rank);
            let result = Memory::contiguous(self.output, operand.bytes);
            if rank + 1 < ranks {
                let count = operand.bytes / self.element_bytes;
                // SAFETY: an operand is the caller's input or lies on the board, and is not where the result is.
                unsafe { self.op.combine(operand.base, result.base, count) };
            } else if operand.base != result.base {
                copy_together(&operand, &result);
            }
        }
    }
}
