//! Arithmetic on the values that reductions work on, and the loops that apply it.

mod binary128;
mod complex;
mod half;
pub(crate) mod kernel;
mod number;
#[cfg(target_arch = "x86_64")]
mod x87;

pub(crate) use binary128::F128;
pub(crate) use complex::Complex;
pub(crate) use half::F16;
pub(crate) use kernel::Pair;

/// C's `long double`: on x86-64 the 80-bit format of the x87, on the other architectures of 64-bit Linux
/// binary128.
#[cfg(target_arch = "x86_64")]
pub(crate) type LongDouble = x87::F80;
#[cfg(not(target_arch = "x86_64"))]
pub(crate) type LongDouble = F128;
