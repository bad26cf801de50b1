//! Updates of one element that the processor does atomically: of 1, 2, 4 and 8 bytes, where they are aligned.
//!
//! All updates of a type go one way in all processes of a window, so that they are atomic with respect to each other,
//! whatever their operations (MPI-5.0 §12.7.1).

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst};

use weft_datatype::{Group, Kernel, Op, Predefined};

/// How an element is updated.
#[derive(Clone, Copy)]
pub enum How {
    Fetch,
    Replace,
    Add,
    And,
    Or,
    Exclusive,
    /// By comparing and swapping what the kernel makes of it.
    Combine(Kernel),
}

impl How {
    /// The updates of integers that the processor has an instruction for.
    #[inline]
    pub fn of_integer(op: Op) -> Option<How> {
        match op {
            Op::NoOp => Some(How::Fetch),
            Op::Replace => Some(How::Replace),
            Op::Sum => Some(How::Add),
            Op::Band => Some(How::And),
            Op::Bor => Some(How::Or),
            Op::Bxor => Some(How::Exclusive),
            _ => None,
        }
    }

    /// The update of an operation on a native type that takes it, whose kernel is `kernel`.
    pub fn new(op: Op, predefined: Predefined, kernel: Kernel) -> How {
        match op {
            Op::NoOp | Op::Replace => How::of_integer(op),
            _ if is_integer(predefined) => How::of_integer(op),
            _ => None,
        }
        .unwrap_or(How::Combine(kernel))
    }
}

/// Updates the element at `place` with `operand`; what it was before goes to `result`, unless that is null.
///
/// # Safety
/// `place` is aligned and valid for atomic access, `operand` for reads, unless it is only fetched, `result` for writes of one
/// element, and a kernel is for the element's type.
pub type Update = unsafe fn(how: How, place: *mut u8, operand: *const u8, result: *mut u8);

/// Writes `origin` to `place` if it holds `compare`; what it held goes to `result`.
///
/// # Safety
/// As [`Update`].
pub type Compare =
    unsafe fn(place: *mut u8, compare: *const u8, origin: *const u8, result: *mut u8);

/// Whether the type's elements are of a size that the processor updates. Pairs are not, though some would be.
pub fn is_native(predefined: Predefined) -> bool {
    predefined.group() != Group::Pair && matches!(predefined.size(), 1 | 2 | 4 | 8)
}

/// Whether sums and bit operations on the type are those of unsigned integers of its size.
fn is_integer(predefined: Predefined) -> bool {
    use Group::{Byte, CInteger, FortranInteger, MultiLanguage};
    matches!(
        predefined.group(),
        CInteger | FortranInteger | MultiLanguage | Byte
    )
}

macro_rules! widths {
    ($($bytes:literal $module:ident $word:ty, $atomic:ty;)*) => {
        /// The update of a native type.
        pub fn update(predefined: Predefined) -> Update {
            match predefined.size() {
                $($bytes => $module::update,)*
                _ => unreachable!("the type is native"),
            }
        }

        /// The compare-and-swap of a native type.
        pub fn compare(predefined: Predefined) -> Compare {
            match predefined.size() {
                $($bytes => $module::compare,)*
                _ => unreachable!("the type is native"),
            }
        }

        $(pub mod $module {
            use super::*;

            /// # Safety
            /// As [`Update`].
            #[inline]
            pub unsafe fn update(how: How, place: *mut u8, operand: *const u8, result: *mut u8) {
                // SAFETY: by this function's contract.
                let word = unsafe { <$atomic>::from_ptr(place.cast()) };
                let operand = match how {
                    How::Fetch => 0,
                    // SAFETY: by this function's contract; user buffers need not be aligned.
                    _ => unsafe { operand.cast::<$word>().read_unaligned() },
                };
                let old = match how {
                    How::Fetch => word.load(SeqCst),
                    How::Replace => word.swap(operand, SeqCst),
                    How::Add => word.fetch_add(operand, SeqCst),
                    How::And => word.fetch_and(operand, SeqCst),
                    How::Or => word.fetch_or(operand, SeqCst),
                    How::Exclusive => word.fetch_xor(operand, SeqCst),
                    // SAFETY: by this function's contract.
                    How::Combine(kernel) => unsafe { combine(kernel, word, operand) },
                };
                if !result.is_null() {
                    // SAFETY: by this function's contract.
                    unsafe { result.cast::<$word>().write_unaligned(old) };
                }
            }

            /// # Safety
            /// The kernel is for a type of the word's size.
            unsafe fn combine(kernel: Kernel, word: &$atomic, operand: $word) -> $word {
                let mut old = word.load(SeqCst);
                loop {
                    let mut new = old;
                    // SAFETY: both are one element of the kernel's type.
                    unsafe { kernel((&raw const operand).cast(), (&raw mut new).cast(), 1) };
                    match word.compare_exchange_weak(old, new, SeqCst, SeqCst) {
                        Ok(old) => return old,
                        Err(now) => old = now,
                    }
                }
            }

            /// # Safety
            /// As [`Compare`].
            #[inline]
            pub unsafe fn compare(place: *mut u8, compare: *const u8, origin: *const u8, result: *mut u8) {
                // SAFETY: by this function's contract; user buffers need not be aligned.
                unsafe {
                    let expected = compare.cast::<$word>().read_unaligned();
                    let new = origin.cast::<$word>().read_unaligned();
                    let word = <$atomic>::from_ptr(place.cast());
                    let (Ok(old) | Err(old)) = word.compare_exchange(expected, new, SeqCst, SeqCst);
                    result.cast::<$word>().write_unaligned(old);
                }
            }
        })*
    };
}

widths! {
    1 one u8, AtomicU8;
    2 two u16, AtomicU16;
    4 four u32, AtomicU32;
    8 eight u64, AtomicU64;
}
