//! Reductions by predefined operations, of elements without gaps.

use std::mem::MaybeUninit;

use weft_memory::Memory;

use super::{Combine, PredefinedOp, copy_together};
use crate::order::Order;

/// Words for all partial results: less than a page of the stack.
const PARTIALS: usize = 224;

/// Bytes that are a whole number of elements of every predefined type.
const ELEMENTS: usize = 96;

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

    /// Combines the ranks' operands, all of so many bytes, in order, into the beginning of the output.
    #[inline(always)]
    pub(crate) fn fold(&self, ranks: usize, bytes: usize, operand: impl Fn(usize) -> Memory) {
        if ranks > 2 {
            return self.fold_many(ranks, bytes, operand);
        }
        let result = Memory::contiguous(self.output, bytes);
        let last = operand(ranks - 1);
        if last.base != result.base {
            copy_together(&last, &result);
        }
        if ranks == 2 {
            self.combine(&operand(0), &result);
        }
    }

    /// Block after block, as there are partial results on the way.
    fn fold_many(&self, ranks: usize, bytes: usize, operand: impl Fn(usize) -> Memory) {
        let order = Order::all(ranks);
        let mut partials = MaybeUninit::<[u128; PARTIALS]>::uninit();
        let partials = partials.as_mut_ptr().cast::<u8>();
        let block = size_of::<[u128; PARTIALS]>() / order.places() / ELEMENTS * ELEMENTS;
        for start in (0..bytes).step_by(block) {
            let bytes = block.min(bytes - start);
            let place = |number: usize| {
                let base = match number {
                    0 => self.output.wrapping_add(start),
                    _ => partials.wrapping_add((number - 1) * block),
                };
                Memory::contiguous(base, bytes)
            };
            let mut count = 0;
            for (rank, completes) in order.last_first() {
                let operand = operand(rank).part(start, bytes);
                if completes == 0 {
                    let place = place(count);
                    if operand.base != place.base {
                        copy_together(&operand, &place);
                    }
                    count += 1;
                    continue;
                }
                self.combine(&operand, &place(count - 1));
                for _ in 1..completes {
                    count -= 1;
                    self.combine(&place(count), &place(count - 1));
                }
            }
        }
    }

    #[inline(always)]
    fn combine(&self, lower: &Memory, higher: &Memory) {
        let count = lower.bytes / self.element_bytes;
        // SAFETY: an operand is the caller's input, lies on the board or is a partial result, and none is where another is.
        unsafe { self.op.combine(lower.base, higher.base, count) }
    }
}
