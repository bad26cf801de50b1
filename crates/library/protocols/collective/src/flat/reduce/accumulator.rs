//! A partial result, of the reductions that take in one operand after another.

use crate::Reduction;
use crate::memory::Operand;

/// A partial result and room for the next operand.
pub(crate) struct Accumulator<'a> {
    reduction: &'a Reduction<'a>,
    pub current: Operand<'a>,
    pub spare: Operand<'a>,
}

impl<'a> Accumulator<'a> {
    pub fn new(
        reduction: &'a Reduction<'a>,
        current: Operand<'a>,
        spare: Operand<'a>,
    ) -> Accumulator<'a> {
        Accumulator {
            reduction,
            current,
            spare,
        }
    }

    /// Takes in the operand in `spare`, which comes from lower ranks than all so far.
    pub fn take_lower(&mut self) {
        self.reduction.combine(self.spare, self.current);
    }

    /// Takes in the operand in `spare`, which comes from higher ranks than all so far.
    pub fn take_higher(&mut self) {
        self.reduction.combine(self.current, self.spare);
        std::mem::swap(&mut self.current, &mut self.spare);
    }
}
