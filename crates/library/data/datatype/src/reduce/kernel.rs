//! The loops over elements: one generic function per kind of operation, instantiated for each type.
//!
//! Elements are read and written without alignment: on the machines this runs on that costs nothing, and
//! buffers that come out of packed messages or Fortran common blocks need not be aligned.

use super::number::{Number, Ordered, Word};

/// Value and index of MAXLOC and MINLOC, as C lays out the struct.
#[repr(C)]
pub(crate) struct Pair<V, I> {
    pub value: V,
    pub index: I,
}

pub(crate) struct Max;
pub(crate) struct Min;
pub(crate) struct Sum;
pub(crate) struct Product;
pub(crate) struct And;
pub(crate) struct Or;
pub(crate) struct Exclusive;

/// Which of two values an operation keeps.
pub(crate) trait Preference {
    fn prefers<T: Ordered>(a: T, b: T) -> bool;
}

impl Preference for Max {
    #[inline(always)]
    fn prefers<T: Ordered>(a: T, b: T) -> bool {
        a.exceeds(b)
    }
}

impl Preference for Min {
    #[inline(always)]
    fn prefers<T: Ordered>(a: T, b: T) -> bool {
        b.exceeds(a)
    }
}

pub(crate) trait Arithmetic {
    fn apply<T: Number>(a: T, b: T) -> T;
}

impl Arithmetic for Sum {
    #[inline(always)]
    fn apply<T: Number>(a: T, b: T) -> T {
        a.sum(b)
    }
}

impl Arithmetic for Product {
    #[inline(always)]
    fn apply<T: Number>(a: T, b: T) -> T {
        a.product(b)
    }
}

/// A connective on words bit by bit, and on truth values.
pub(crate) trait Connective {
    fn apply<T: Word>(a: T, b: T) -> T;
}

impl Connective for And {
    #[inline(always)]
    fn apply<T: Word>(a: T, b: T) -> T {
        a.and(b)
    }
}

impl Connective for Or {
    #[inline(always)]
    fn apply<T: Word>(a: T, b: T) -> T {
        a.or(b)
    }
}

impl Connective for Exclusive {
    #[inline(always)]
    fn apply<T: Word>(a: T, b: T) -> T {
        a.exclusive(b)
    }
}

/// Applies `f` to `count` elements.
///
/// # Safety
/// As [`crate::Kernel`], for elements of `T`, every bit pattern of which is a value.
#[inline(always)]
unsafe fn fold<T: Copy>(input: *const u8, inout: *mut u8, count: usize, f: impl Fn(T, T) -> T) {
    let (input, inout) = (input.cast::<T>(), inout.cast::<T>());
    for index in 0..count {
        // SAFETY: `index < count`, so both elements are within what the caller vouches for; the accesses
        // assume no alignment.
        unsafe {
            let element = inout.add(index);
            element.write_unaligned(f(
                input.add(index).read_unaligned(),
                element.read_unaligned(),
            ));
        }
    }
}

/// The loops that the compiler vectorises, in a module of their own for each set of instructions.
macro_rules! loops {
    ($(#[$feature:meta])?) => {
        use super::{Arithmetic, Connective, Number, Ordered, Preference, Word, fold};

        /// # Safety
        /// As [`crate::Kernel`], on a processor that has the module's instructions.
        $(#[$feature])?
        pub(crate) unsafe fn ordered<T: Ordered, P: Preference>(
            input: *const u8,
            inout: *mut u8,
            count: usize,
        ) {
            let better = |a: T, b: T| if P::prefers(a, b) { a } else { b };
            // SAFETY: by this function's contract.
            unsafe { fold(input, inout, count, better) }
        }

        /// # Safety
        /// As [`crate::Kernel`], on a processor that has the module's instructions.
        $(#[$feature])?
        pub(crate) unsafe fn number<T: Number, A: Arithmetic>(
            input: *const u8,
            inout: *mut u8,
            count: usize,
        ) {
            // SAFETY: by this function's contract.
            unsafe { fold(input, inout, count, |a: T, b: T| A::apply(a, b)) }
        }

        /// # Safety
        /// As [`crate::Kernel`], on a processor that has the module's instructions.
        $(#[$feature])?
        pub(crate) unsafe fn bits<T: Word, C: Connective>(
            input: *const u8,
            inout: *mut u8,
            count: usize,
        ) {
            // SAFETY: by this function's contract.
            unsafe { fold(input, inout, count, |a: T, b: T| C::apply(a, b)) }
        }

        /// # Safety
        /// As [`crate::Kernel`], on a processor that has the module's instructions.
        $(#[$feature])?
        pub(crate) unsafe fn truth<T: Word, C: Connective>(
            input: *const u8,
            inout: *mut u8,
            count: usize,
        ) {
            let connect = |a: T, b: T| C::apply(T::from_truth(a.is_true()), T::from_truth(b.is_true()));
            // SAFETY: by this function's contract.
            unsafe { fold(input, inout, count, connect) }
        }
    };
}

/// For every processor of the target.
pub(crate) mod narrow {
    loops!();
}

/// For processors with registers of 32 bytes.
#[cfg(target_arch = "x86_64")]
pub(crate) mod wide {
    loops!(#[target_feature(enable = "avx2")]);
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) use narrow as wide;

/// Whether this processor runs the loops of [`wide`].
#[inline]
pub(crate) fn is_wide() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// MAXLOC and MINLOC (MPI-5.0 §6.9.4): the preferred value with its index, the lower index of equal ones.
///
/// # Safety
/// As [`crate::Kernel`], for elements of `Pair<V, I>`.
pub(crate) unsafe fn located<V: Ordered, I: Ordered, P: Preference>(
    input: *const u8,
    inout: *mut u8,
    count: usize,
) {
    let (input, inout) = (input.cast::<Pair<V, I>>(), inout.cast::<Pair<V, I>>());
    for at in 0..count {
        // SAFETY: `at < count`, so all four fields are within what the caller vouches for; the accesses
        // assume no alignment and leave the holes alone.
        unsafe {
            let (theirs, ours) = (input.add(at), inout.add(at));
            let value = (&raw const (*theirs).value).read_unaligned();
            let index = (&raw const (*theirs).index).read_unaligned();
            let our_value = (&raw const (*ours).value).read_unaligned();
            let our_index = (&raw const (*ours).index).read_unaligned();
            if P::prefers(value, our_value) || (value.equals(our_value) && our_index.exceeds(index))
            {
                (&raw mut (*ours).value).write_unaligned(value);
                (&raw mut (*ours).index).write_unaligned(index);
            }
        }
    }
}

/// REPLACE on types without holes, of `EXTENT` bytes.
///
/// # Safety
/// As [`crate::Kernel`].
pub(crate) unsafe fn replaced<const EXTENT: usize>(input: *const u8, inout: *mut u8, count: usize) {
    // SAFETY: `count` elements are that many bytes; by this function's contract.
    unsafe { weft_memory::copy(input, inout, count * EXTENT) }
}

/// REPLACE on pairs, whose holes keep their bytes.
///
/// # Safety
/// As [`crate::Kernel`], for elements of `Pair<V, I>`.
pub(crate) unsafe fn replaced_pair<V: Copy, I: Copy>(
    input: *const u8,
    inout: *mut u8,
    count: usize,
) {
    let (input, inout) = (input.cast::<Pair<V, I>>(), inout.cast::<Pair<V, I>>());
    for at in 0..count {
        // SAFETY: `at < count`, so all four fields are within what the caller vouches for; the accesses
        // assume no alignment.
        unsafe {
            let (theirs, ours) = (input.add(at), inout.add(at));
            let value = (&raw const (*theirs).value).read_unaligned();
            let index = (&raw const (*theirs).index).read_unaligned();
            (&raw mut (*ours).value).write_unaligned(value);
            (&raw mut (*ours).index).write_unaligned(index);
        }
    }
}

/// NO_OP.
///
/// # Safety
/// None needed: it touches nothing.
pub(crate) unsafe fn nothing(_input: *const u8, _inout: *mut u8, _count: usize) {}
