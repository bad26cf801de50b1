//! A partial result, of the reductions that take in one operand after another.

use crate::Reduction;
use crate::memory::Operand;

/// A partial result and room for the next operand.
pub(crate) struct Accumulator<'a> {
    reduction: &'a Reduction<'a>,
    pub current: Operand<'a>,
    pub spare: Operand<'a>,
    /// While `current` is an operand that is to stay as it is: where there is room in its place.
    instead: Option<Operand<'a>>,
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
            instead: None,
        }
    }

    /// Begins with an operand that is not written to, but for what is taken in then, to `spare` or `instead`.
    pub fn keeping(
        reduction: &'a Reduction<'a>,
        operand: Operand<'a>,
        [spare, instead]: [Operand<'a>; 2],
    ) -> Accumulator<'a> {
        Accumulator {
            instead: Some(instead),
            ..Accumulator::new(reduction, operand, spare)
        }
    }

    /// Takes in the operand in `spare`, which comes from lower ranks than all so far.
    pub fn take_lower(&mut self) {
        if let Some(instead) = self.instead.take() {
            self.current.copy_to(instead);
            self.current = instead;
        }
        self.reduction.combine(self.spare, self.current);
    }

    /// Takes in the operand in `spare`, which comes from higher ranks than all so far.
    pub fn take_higher(&mut self) {
        self.reduction.combine(self.current, self.spare);
        let free = self.instead.take().unwrap_or(self.current);
        self.current = std::mem::replace(&mut self.spare, free);
    }
}
