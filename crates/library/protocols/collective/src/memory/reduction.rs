//! The arguments of a reduction, and the vectors of elements that it works on.

use std::ops::Range;

use weft_datatype::{Datatype, Overflow};
use weft_memory::Memory;
use weft_reserve::NoMemory;

use super::{Combine, Scratch, copy, described};

/// The arguments of a reduction.
#[derive(Clone, Copy)]
pub struct Reduction<'a> {
    op: &'a dyn Combine,
    datatype: &'a Datatype,
    count: usize,
    input: *mut u8,
    output: *mut u8,
}

impl<'a> Reduction<'a> {
    /// Reduces `count` elements of `input`, or of `output` itself if there is no input (`MPI_IN_PLACE`), into
    /// `output`, which may be null on ranks that get no result.
    ///
    /// # Safety
    /// The buffers are valid for `count` elements until the operation is over, and `op` is for `datatype`.
    pub unsafe fn new(
        op: &'a dyn Combine,
        datatype: &'a Datatype,
        count: usize,
        input: Option<*const u8>,
        output: *mut u8,
    ) -> Result<Reduction<'a>, Overflow> {
        datatype.memory(output, count)?;
        let input = input.map_or(output, <*const u8>::cast_mut);
        Ok(Reduction {
            op,
            datatype,
            count,
            input,
            output,
        })
    }

    /// The same with another place for the result.
    pub(crate) fn with_output(&self, output: Operand<'a>) -> Reduction<'a> {
        Reduction {
            output: output.base,
            ..*self
        }
    }

    /// The same of another operand, which the result may take the place of.
    pub(crate) fn with_input(&self, input: Operand<'a>) -> Reduction<'a> {
        Reduction {
            input: input.base,
            ..*self
        }
    }

    /// The reduction of some of the elements alone, to the beginning of the output.
    pub(crate) fn share(&self, elements: Range<usize>) -> Reduction<'a> {
        Reduction {
            count: elements.len(),
            input: self.input().part(elements).base,
            ..*self
        }
    }

    /// Packed bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.datatype.size() * self.count
    }

    /// Packed bytes of an element.
    pub(crate) fn element_bytes(&self) -> usize {
        self.datatype.size()
    }

    /// Whether elements in memory are as they are packed.
    pub(crate) fn is_dense(&self) -> bool {
        self.input().memory().layout.is_none()
    }

    /// Packed elements as an operand: where they are, if they are dense, else unpacked into `spare`.
    pub(crate) fn unpacked(&self, packed: &Memory, spare: Operand<'a>) -> Operand<'a> {
        let count = packed.bytes / self.element_bytes();
        if self.is_dense() {
            let lower = -self.datatype.true_lower_bound();
            let base = packed.base.wrapping_offset(lower);
            return Operand {
                base,
                count,
                datatype: self.datatype,
            };
        }
        let operand = spare.part(0..count);
        copy(packed, &operand.memory());
        operand
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn commutative(&self) -> bool {
        self.op.commutative()
    }

    pub(crate) fn input(&self) -> Operand<'a> {
        self.operand(self.input)
    }

    pub(crate) fn output(&self) -> Operand<'a> {
        self.operand(self.output)
    }

    pub(crate) fn is_in_place(&self) -> bool {
        self.input == self.output
    }

    fn operand(&self, base: *mut u8) -> Operand<'a> {
        Operand {
            datatype: self.datatype,
            base,
            count: self.count,
        }
    }

    /// Scratch for `vectors` operands.
    #[inline]
    pub(crate) fn scratch(&self, vectors: usize) -> Result<Scratch, NoMemory> {
        Scratch::new(self.vector_bytes() * vectors)
    }

    /// Operand `index` in scratch of this reduction.
    pub(crate) fn in_scratch(&self, scratch: &Scratch, index: usize) -> Operand<'a> {
        let start = scratch.pointer().wrapping_add(self.vector_bytes() * index);
        self.operand(start.wrapping_offset(-self.datatype.true_lower_bound()))
    }

    /// Bytes that one operand spans, rounded up so that those after it are aligned.
    fn vector_bytes(&self) -> usize {
        let gaps = self.datatype.extent().unsigned_abs() * self.count.saturating_sub(1);
        (gaps + self.datatype.true_extent() as usize).next_multiple_of(size_of::<u128>())
    }

    /// `higher = lower op higher`.
    pub(crate) fn combine(&self, lower: Operand<'_>, higher: Operand<'_>) {
        // SAFETY: operands are the caller's buffers or scratch, for this reduction's type, and algorithms
        // combine different ones.
        unsafe { self.op.combine(lower.base, higher.base, lower.count) }
    }
}

/// A vector of elements that a reduction works on.
#[derive(Clone, Copy)]
pub(crate) struct Operand<'a> {
    datatype: &'a Datatype,
    base: *mut u8,
    count: usize,
}

impl<'a> Operand<'a> {
    /// Whether both are in the same place.
    pub fn is(&self, other: Operand<'_>) -> bool {
        self.base == other.base
    }

    pub fn memory(&self) -> Memory {
        described(self.datatype, self.base, self.count)
    }

    pub fn count(&self) -> usize {
        self.count
    }

    pub fn part(&self, elements: Range<usize>) -> Operand<'a> {
        let offset = self.datatype.extent().wrapping_mul(elements.start as isize);
        Operand {
            base: self.base.wrapping_offset(offset),
            count: elements.len(),
            ..*self
        }
    }

    /// Copies the elements to another place.
    pub fn copy_to(&self, target: Operand<'_>) {
        if self.base != target.base {
            copy(&self.memory(), &target.memory());
        }
    }
}
