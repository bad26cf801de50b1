//! Updates of one integer of 4 or 8 bytes, aligned, in mapped memory, by the process that holds its stripe's lock.
//!
//! The integer is read and written whole, so that a program which polls it with loads of its own sees the old or the new one.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use weft_datatype::Op;

/// How an integer is updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    Fetch,
    Replace,
    Add,
    And,
    Or,
    Exclusive,
}

impl Update {
    /// The updates that have an instruction of their own; the datatype's kernels do the others.
    #[inline]
    pub fn of(op: Op) -> Option<Update> {
        match op {
            Op::NoOp => Some(Update::Fetch),
            Op::Replace => Some(Update::Replace),
            Op::Sum => Some(Update::Add),
            Op::Band => Some(Update::And),
            Op::Bor => Some(Update::Or),
            Op::Bxor => Some(Update::Exclusive),
            _ => None,
        }
    }
}

macro_rules! widths {
    ($($module:ident $word:ty, $atomic:ty;)*) => {
        $(pub mod $module {
            use super::*;

            /// Updates the integer at `place` with `operand`; what it was before goes to `result`, unless that is null.
            ///
            /// # Safety
            /// `place` is aligned and valid for atomic access, and its stripe's lock is held unless the update only fetches.
            /// `operand` is valid for reads, unless the update only fetches, and `result` for writes of the integer.
            #[inline(always)]
            pub unsafe fn update(update: Update, place: *mut u8, operand: *const u8, result: *mut u8) {
                // SAFETY: by this function's contract; user buffers need not be aligned.
                unsafe {
                    let word = <$atomic>::from_ptr(place.cast());
                    let old = word.load(Ordering::Acquire);
                    if update != Update::Fetch {
                        let operand = operand.cast::<$word>().read_unaligned();
                        let new = match update {
                            Update::Add => old.wrapping_add(operand),
                            Update::And => old & operand,
                            Update::Or => old | operand,
                            Update::Exclusive => old ^ operand,
                            Update::Replace | Update::Fetch => operand,
                        };
                        word.store(new, Ordering::Relaxed);
                    }
                    if !result.is_null() {
                        result.cast::<$word>().write_unaligned(old);
                    }
                }
            }

            /// Writes what is at `origin` to `place` if that equals what is at `compare`; what it was before goes to `result`.
            ///
            /// # Safety
            /// As `update`.
            #[inline(always)]
            pub unsafe fn compare_and_swap(place: *mut u8, [compare, origin]: [*const u8; 2], result: *mut u8) {
                // SAFETY: by this function's contract; user buffers need not be aligned.
                unsafe {
                    let expected = compare.cast::<$word>().read_unaligned();
                    let new = origin.cast::<$word>().read_unaligned();
                    let word = <$atomic>::from_ptr(place.cast());
                    let old = word.load(Ordering::Acquire);
                    if old == expected {
                        word.store(new, Ordering::Relaxed);
                    }
                    result.cast::<$word>().write_unaligned(old);
                }
            }
        })*
    };
}

widths! {
    four u32, AtomicU32;
    eight u64, AtomicU64;
}
