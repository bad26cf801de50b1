//! An operation of accumulates on elements of one predefined type, in this process's memory.

use weft_datatype::{Kernel, Op, Predefined, kernel};

/// An operation on elements of a type that takes it.
#[derive(Clone, Copy)]
pub struct Operation {
    pub(crate) op: Op,
    pub(crate) basic: Predefined,
    pub(crate) kernel: Kernel,
}

impl Operation {
    /// None if the standard does not allow `op` on the type.
    #[inline]
    pub fn new(op: Op, basic: Predefined) -> Option<Operation> {
        let kernel = kernel(op, basic)?;
        Some(Operation { op, basic, kernel })
    }

    /// Whether elements lie in an array as they are packed. Their size is a power of two then.
    pub(crate) fn is_dense(&self) -> bool {
        self.basic.size() == self.basic.extent()
    }

    /// Updates `count` dense elements at `place`; what they were before goes to `result`, unless that is null.
    ///
    /// # Safety
    /// `place` is valid for reads and writes and nobody else updates the elements; `operand` is valid for reads, unless the
    /// operation is `MPI_NO_OP`, and `result` for writes of as many.
    #[inline]
    pub(crate) unsafe fn apply(
        &self,
        place: *mut u8,
        count: usize,
        (operand, result): (*const u8, *mut u8),
    ) {
        // SAFETY: by this function's contract.
        unsafe {
            if !result.is_null() {
                std::ptr::copy_nonoverlapping(place, result, count * self.basic.size());
            }
            (self.kernel)(operand, place, count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_dense_types_are_powers_of_two() {
        for &basic in Predefined::ALL {
            let operation = Operation::new(Op::Replace, basic).unwrap();
            let holds = !operation.is_dense() || basic.size().is_power_of_two();
            assert!(holds, "{}", basic.name());
        }
    }
}
