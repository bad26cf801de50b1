//! Updates of one element that the processor does atomically: of 1, 2, 4 and 8 bytes, where they are aligned.
//!
//! All updates of a type go one way in all processes of a window, so that they are atomic with respect to each other,
//! whatever their operations (MPI-5.0 §12.7.1).

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst};

use weft_datatype::{Group, Kernel, Op, Predefined};

/// Updates the element at `place` with `operand`; what it was before goes to `result`, unless that is null.
///
/// # Safety
/// `place` is aligned and valid for atomic access, `operand` for reads, `result` for writes of one element.
pub type Update = unsafe fn(kernel: Kernel, place: *mut u8, operand: *const u8, result: *mut u8);

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
        /// The update of an operation on a native type that takes it.
        pub fn update(op: Op, predefined: Predefined) -> Update {
            let integer = is_integer(predefined);
            match predefined.size() {
                $($bytes => match op {
                    Op::NoOp => $module::fetch,
                    Op::Replace => $module::replace,
                    Op::Sum if integer => $module::add,
                    Op::Band if integer => $module::and,
                    Op::Bor if integer => $module::or,
                    Op::Bxor if integer => $module::exclusive,
                    _ => $module::combine,
                },)*
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

        $(mod $module {
            use super::*;

            /// # Safety
            /// As [`Update`].
            unsafe fn apply(place: *mut u8, operand: *const u8, result: *mut u8, how: impl Fn(&$atomic, $word) -> $word) {
                // SAFETY: by this function's contract; user buffers need not be aligned.
                unsafe {
                    let operand = operand.cast::<$word>().read_unaligned();
                    let old = how(<$atomic>::from_ptr(place.cast()), operand);
                    if !result.is_null() {
                        result.cast::<$word>().write_unaligned(old);
                    }
                }
            }

            /// # Safety
            /// As [`Update`]; the operand is not looked at.
            pub unsafe fn fetch(_: Kernel, place: *mut u8, _: *const u8, result: *mut u8) {
                // SAFETY: by this function's contract, a word of this function's as operand.
                unsafe { apply(place, (&raw const ZERO).cast(), result, |word, _| word.load(SeqCst)) }
            }

            static ZERO: $word = 0;

            /// # Safety
            /// As [`Update`].
            pub unsafe fn replace(_: Kernel, place: *mut u8, operand: *const u8, result: *mut u8) {
                // SAFETY: by this function's contract.
                unsafe { apply(place, operand, result, |word, operand| word.swap(operand, SeqCst)) }
            }

            /// # Safety
            /// As [`Update`].
            pub unsafe fn add(_: Kernel, place: *mut u8, operand: *const u8, result: *mut u8) {
                // SAFETY: by this function's contract.
                unsafe { apply(place, operand, result, |word, operand| word.fetch_add(operand, SeqCst)) }
            }

            /// # Safety
            /// As [`Update`].
            pub unsafe fn and(_: Kernel, place: *mut u8, operand: *const u8, result: *mut u8) {
                // SAFETY: by this function's contract.
                unsafe { apply(place, operand, result, |word, operand| word.fetch_and(operand, SeqCst)) }
            }

            /// # Safety
            /// As [`Update`].
            pub unsafe fn or(_: Kernel, place: *mut u8, operand: *const u8, result: *mut u8) {
                // SAFETY: by this function's contract.
                unsafe { apply(place, operand, result, |word, operand| word.fetch_or(operand, SeqCst)) }
            }

            /// # Safety
            /// As [`Update`].
            pub unsafe fn exclusive(_: Kernel, place: *mut u8, operand: *const u8, result: *mut u8) {
                // SAFETY: by this function's contract.
                unsafe { apply(place, operand, result, |word, operand| word.fetch_xor(operand, SeqCst)) }
            }

            /// Any operation, by comparing and swapping.
            ///
            /// # Safety
            /// As [`Update`]; the kernel is for the type.
            pub unsafe fn combine(kernel: Kernel, place: *mut u8, operand: *const u8, result: *mut u8) {
                let how = |word: &$atomic, operand: $word| {
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
                };
                // SAFETY: by this function's contract.
                unsafe { apply(place, operand, result, how) }
            }

            /// # Safety
            /// As [`Compare`].
            pub unsafe fn compare(place: *mut u8, compare: *const u8, origin: *const u8, result: *mut u8) {
                // SAFETY: by this function's contract.
                let expected = unsafe { compare.cast::<$word>().read_unaligned() };
                let how = |word: &$atomic, new: $word| {
                    match word.compare_exchange(expected, new, SeqCst, SeqCst) {
                        Ok(old) | Err(old) => old,
                    }
                };
                // SAFETY: by this function's contract.
                unsafe { apply(place, origin, result, how) }
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
