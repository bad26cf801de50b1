//! IEEE binary128 (`MPI_REAL16`, and C's `long double` where there is no x87), computed with integers:
//! no common processor has it.

use super::number::{Number, Ordered, Real, own_product};
use std::cmp::Ordering;

/// The bits: sign, 15 of exponent, 112 of significand.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub(crate) struct F128(pub u128);

const SIGN: u128 = 1 << 127;
const FRACTION_BITS: u32 = 112;
/// The first bit of a normal number's significand, which is not stored.
const IMPLICIT: u128 = 1 << FRACTION_BITS;
const INFINITE: u128 = 0x7fff << FRACTION_BITS;
const QUIET: u128 = 1 << (FRACTION_BITS - 1);
const BIAS: i32 = 16383;
/// Places kept below the last one while computing: guard, round and sticky bit.
const EXTRA: u32 = 3;

impl F128 {
    fn magnitude(self) -> u128 {
        self.0 & !SIGN
    }

    fn sign(self) -> u128 {
        self.0 & SIGN
    }

    /// Biased exponent and significand of a finite number; subnormal ones have the lowest exponent.
    fn parts(self) -> (i32, u128) {
        let exponent = (self.magnitude() >> FRACTION_BITS) as i32;
        let fraction = self.0 & (IMPLICIT - 1);
        if exponent == 0 {
            (1, fraction)
        } else {
            (exponent, fraction | IMPLICIT)
        }
    }

    /// The operand that is not a number, made quiet: the first of two.
    fn propagate(self, other: F128) -> F128 {
        let nan = if self.is_nan() { self } else { other };
        F128(nan.0 | QUIET)
    }

    fn negated(self) -> F128 {
        F128(self.0 ^ SIGN)
    }
}

/// What an operation without a result gives (inf - inf, 0 * inf), as the processor does: negative.
const INVALID: F128 = F128(SIGN | INFINITE | QUIET);

/// `value >> places` with the last bit set if any bit set was shifted out.
fn shift_sticky(value: u128, places: u32) -> u128 {
    match places {
        0 => value,
        1..128 => (value >> places) | u128::from(value << (128 - places) != 0),
        _ => u128::from(value != 0),
    }
}

/// The number `significand * 2^(exponent - BIAS - FRACTION_BITS - EXTRA)`, rounded to the nearest, the even
/// one of two.
fn round(sign: u128, mut exponent: i32, mut significand: u128) -> F128 {
    if significand == 0 {
        return F128(sign);
    }
    // The first bit to its place, or as near to it as the lowest exponent lets it come.
    let above = 127 - significand.leading_zeros() as i32 - (FRACTION_BITS + EXTRA) as i32;
    let shift = above.max(1 - exponent);
    exponent += shift;
    significand = if shift > 0 {
        shift_sticky(significand, shift as u32)
    } else {
        significand << -shift
    };
    let rest = significand & 7;
    let mut rounded = significand >> EXTRA;
    rounded += u128::from(rest > 4 || (rest == 4 && rounded & 1 == 1));
    // A carry out of the significand is one into the exponent, from subnormal to normal and up to infinity.
    let magnitude = (((exponent.min(0x7fff) - 1) as u128) << FRACTION_BITS) + rounded;
    F128(sign | magnitude.min(INFINITE))
}

/// 256 bits of product: high and low half.
fn wide_product(a: u128, b: u128) -> (u128, u128) {
    const LOW: u128 = u64::MAX as u128;
    let (a_high, a_low, b_high, b_low) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let low = a_low * b_low;
    let middle = a_high * b_low + (low >> 64);
    let middle_low = a_low * b_high + (middle & LOW);
    (
        a_high * b_high + (middle >> 64) + (middle_low >> 64),
        (middle_low << 64) | (low & LOW),
    )
}

fn add(a: F128, b: F128) -> F128 {
    if a.is_nan() || b.is_nan() {
        return a.propagate(b);
    }
    if a.is_infinite() || b.is_infinite() {
        let opposed = a.is_infinite() && b.is_infinite() && a.sign() != b.sign();
        let infinite = if a.is_infinite() { a } else { b };
        return if opposed { INVALID } else { infinite };
    }
    let (large, small) = if a.magnitude() >= b.magnitude() {
        (a, b)
    } else {
        (b, a)
    };
    let (exponent, large_significand) = large.parts();
    let (small_exponent, small_significand) = small.parts();
    let large_significand = large_significand << EXTRA;
    let aligned = shift_sticky(
        small_significand << EXTRA,
        (exponent - small_exponent) as u32,
    );
    if a.sign() == b.sign() {
        return round(a.sign(), exponent, large_significand + aligned);
    }
    match large_significand - aligned {
        // Exact cancellation is positive, the sum of two negative zeros was handled above.
        0 => F128(0),
        difference => round(large.sign(), exponent, difference),
    }
}

fn multiply(a: F128, b: F128) -> F128 {
    if a.is_nan() || b.is_nan() {
        return a.propagate(b);
    }
    let sign = a.sign() ^ b.sign();
    if a.is_infinite() || b.is_infinite() {
        let undefined = a.magnitude() == 0 || b.magnitude() == 0;
        return if undefined {
            INVALID
        } else {
            F128(sign | INFINITE)
        };
    }
    let (a_exponent, a_significand) = a.parts();
    let (b_exponent, b_significand) = b.parts();
    // Both significands have 112 places, their product 224. Subnormal operands are brought up first, so that
    // the places that are cut off below lie below the last one kept.
    let (a_lift, b_lift) = (lift(a_significand), lift(b_significand));
    let (high, low) = wide_product(a_significand << a_lift, b_significand << b_lift);
    let cut = FRACTION_BITS - EXTRA;
    let significand = (high << (128 - cut)) | (low >> cut) | u128::from(low << (128 - cut) != 0);
    let exponent = a_exponent + b_exponent - BIAS - (a_lift + b_lift) as i32;
    round(sign, exponent, significand)
}

/// How far a significand's first bit lies below its place.
fn lift(significand: u128) -> u32 {
    if significand == 0 {
        0
    } else {
        significand.leading_zeros() - (127 - FRACTION_BITS)
    }
}

fn compare(a: F128, b: F128) -> Option<Ordering> {
    if a.is_nan() || b.is_nan() {
        return None;
    }
    // Two's complement orders as sign and magnitude do, and has one zero.
    let key = |x: F128| {
        let magnitude = x.magnitude() as i128;
        if x.sign() == 0 { magnitude } else { -magnitude }
    };
    Some(key(a).cmp(&key(b)))
}

impl Ordered for F128 {
    fn exceeds(self, other: F128) -> bool {
        compare(self, other) == Some(Ordering::Greater)
    }

    fn equals(self, other: F128) -> bool {
        compare(self, other) == Some(Ordering::Equal)
    }
}

impl Number for F128 {
    fn sum(self, other: F128) -> F128 {
        add(self, other)
    }

    fn product(self, other: F128) -> F128 {
        multiply(self, other)
    }
}

impl Real for F128 {
    own_product!();

    const ZERO: F128 = F128(0);
    const ONE: F128 = F128((BIAS as u128) << FRACTION_BITS);
    const INFINITY: F128 = F128(INFINITE);

    fn difference(self, other: F128) -> F128 {
        if other.is_nan() {
            self.propagate(other)
        } else {
            add(self, other.negated())
        }
    }

    fn is_nan(self) -> bool {
        self.magnitude() > INFINITE
    }

    fn is_infinite(self) -> bool {
        self.magnitude() == INFINITE
    }

    fn with_sign_of(self, sign: F128) -> F128 {
        F128(self.magnitude() | sign.sign())
    }
}
