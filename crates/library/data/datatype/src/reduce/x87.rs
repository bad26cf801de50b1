//! The 80-bit floating-point numbers of the x87: C's `long double` on x86-64. Rust has no such type, so the
//! x87 itself is asked, with one instruction per operation; each result is rounded to 64 bits of
//! significand, as compiled C does.

use super::number::{Number, Ordered, Real, own_product};
use std::arch::asm;

/// Ten bytes of value and six without meaning, as C stores it.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub(crate) struct F80 {
    significand: u64,
    /// Sign in bit 15, exponent below.
    exponent: u16,
    padding: [u8; 6],
}

const SIGN: u16 = 0x8000;
const EXPONENT: u16 = 0x7fff;
/// The explicit first bit of the significand.
const INTEGER_BIT: u64 = 1 << 63;

impl F80 {
    const fn new(exponent: u16, significand: u64) -> F80 {
        F80 {
            significand,
            exponent,
            padding: [0; 6],
        }
    }
}

macro_rules! arithmetic {
    ($name:ident, $instruction:literal) => {
        #[inline(always)]
        fn $name(a: F80, b: F80) -> F80 {
            let mut result = a;
            // SAFETY: reads ten bytes of `a` and `b` and writes ten of `result`, which are that large. The
            // x87 stack is empty at both ends, and all its registers are declared clobbered.
            unsafe {
                asm!(
                    "fld tbyte ptr [{a}]",
                    "fld tbyte ptr [{b}]",
                    $instruction,
                    "fstp tbyte ptr [{result}]",
                    a = in(reg) &raw const a,
                    b = in(reg) &raw const b,
                    result = in(reg) &raw mut result,
                    out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                    out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                    options(nostack),
                );
            }
            result
        }
    };
}

arithmetic!(add, "faddp st(1), st");
arithmetic!(subtract, "fsubp st(1), st");
arithmetic!(multiply, "fmulp st(1), st");

/// `a > b` and `a == b`, both false if they are unordered.
#[inline(always)]
fn compare(a: F80, b: F80) -> (bool, bool) {
    let (above, equal, ordered): (u8, u8, u8);
    // SAFETY: reads ten bytes of `a` and `b`, which are that large. The x87 stack is empty at both ends, and
    // all its registers are declared clobbered.
    unsafe {
        asm!(
            "fld tbyte ptr [{b}]",
            "fld tbyte ptr [{a}]",
            "fucomip st, st(1)",
            "fstp st(0)",
            "seta {above}",
            "sete {equal}",
            "setnp {ordered}",
            a = in(reg) &raw const a,
            b = in(reg) &raw const b,
            above = out(reg_byte) above,
            equal = out(reg_byte) equal,
            ordered = out(reg_byte) ordered,
            out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
            out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
            options(nostack, readonly),
        );
    }
    (above != 0, equal != 0 && ordered != 0)
}

impl Ordered for F80 {
    #[inline(always)]
    fn exceeds(self, other: F80) -> bool {
        compare(self, other).0
    }

    #[inline(always)]
    fn equals(self, other: F80) -> bool {
        compare(self, other).1
    }
}

impl Number for F80 {
    #[inline(always)]
    fn sum(self, other: F80) -> F80 {
        add(self, other)
    }

    #[inline(always)]
    fn product(self, other: F80) -> F80 {
        multiply(self, other)
    }
}

impl Real for F80 {
    own_product!();

    const ZERO: F80 = F80::new(0, 0);
    const ONE: F80 = F80::new(0x3fff, INTEGER_BIT);
    const INFINITY: F80 = F80::new(EXPONENT, INTEGER_BIT);

    #[inline(always)]
    fn difference(self, other: F80) -> F80 {
        subtract(self, other)
    }

    fn is_nan(self) -> bool {
        self.exponent & EXPONENT == EXPONENT && self.significand != INTEGER_BIT
    }

    fn is_infinite(self) -> bool {
        self.exponent & EXPONENT == EXPONENT && self.significand == INTEGER_BIT
    }

    fn with_sign_of(self, sign: F80) -> F80 {
        F80 {
            exponent: (self.exponent & EXPONENT) | (sign.exponent & SIGN),
            ..self
        }
    }
}
