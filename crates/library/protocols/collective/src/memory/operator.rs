//! What combines elements.

use weft_datatype::{Kernel, Op, Predefined};

/// A reduction operation, predefined or the user's.
pub trait Combine {
    /// `inout[i] = input[i] op inout[i]` for `count` elements, where `input` comes from lower ranks.
    ///
    /// # Safety
    /// `input` is valid for reads and `inout` for writes of `count` elements of the operation's datatype, an
    /// extent apart, and they do not overlap.
    unsafe fn combine(&self, input: *const u8, inout: *mut u8, count: usize);

    /// Whether operands may be exchanged.
    fn commutative(&self) -> bool;
}

/// A predefined operation on a predefined type.
#[derive(Clone, Copy)]
pub struct PredefinedOp {
    kernel: Kernel,
    commutative: bool,
}

impl PredefinedOp {
    /// None if the standard does not allow `op` on the type.
    pub fn new(op: Op, predefined: Predefined) -> Option<PredefinedOp> {
        let kernel = weft_datatype::kernel(op, predefined)?;
        Some(PredefinedOp {
            kernel,
            commutative: op.is_commutative(),
        })
    }
}

impl Combine for PredefinedOp {
    unsafe fn combine(&self, input: *const u8, inout: *mut u8, count: usize) {
        // SAFETY: by this function's contract.
        unsafe { (self.kernel)(input, inout, count) }
    }

    fn commutative(&self) -> bool {
        self.commutative
    }
}
