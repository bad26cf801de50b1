//! IEEE binary16 (`MPI_REAL2`), computed in binary32. Its 24 bits of significand are more than twice the 11
//! of binary16 and two, so that a sum or product rounded twice is the one rounded once (Figueroa 1995).

use super::number::{Number, Ordered, Real};

/// The bits: sign, 5 of exponent, 10 of significand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct F16(pub u16);

const SIGN: u16 = 0x8000;
const INFINITE: u16 = 0x7c00;
const QUIET: u16 = 0x0200;

impl F16 {
    #[inline]
    fn widen(self) -> f32 {
        let sign = u32::from(self.0 & SIGN) << 16;
        let magnitude = self.0 & !SIGN;
        let bits = match magnitude {
            // The exponent moves from bias 15 to 127.
            0x0400..INFINITE => (u32::from(magnitude) << 13) + (112 << 23),
            INFINITE.. => (u32::from(magnitude) << 13) | 0x7f80_0000,
            // Subnormal: that many times 2^-24.
            _ => (f32::from(magnitude) * 2f32.powi(-24)).to_bits(),
        };
        f32::from_bits(sign | bits)
    }

    /// The nearest binary16, the even one of two.
    #[inline]
    fn narrow(value: f32) -> F16 {
        let bits = value.to_bits();
        let sign = (bits >> 16) as u16 & SIGN;
        let magnitude = bits & 0x7fff_ffff;
        let narrowed = if magnitude > 0x7f80_0000 {
            INFINITE | QUIET | ((magnitude >> 13) as u16 & 0x03ff)
        } else if magnitude >= 113 << 23 {
            // Normal: round at bit 13; the carry goes into the exponent, up to infinity.
            let rounded = (magnitude - (112 << 23)) + 0x0fff + (magnitude >> 13 & 1);
            (rounded >> 13).min(u32::from(INFINITE)) as u16
        } else {
            // Subnormal: added to 0.5, whose last place is 2^-24, the binary32 addition rounds at the place
            // wanted, and the significand is the number of times 2^-24.
            let aligned = f32::from_bits(magnitude) + 0.5;
            (aligned.to_bits() - 0.5f32.to_bits()) as u16
        };
        F16(sign | narrowed)
    }
}

impl Ordered for F16 {
    #[inline(always)]
    fn exceeds(self, other: F16) -> bool {
        self.widen() > other.widen()
    }

    #[inline(always)]
    fn equals(self, other: F16) -> bool {
        self.widen() == other.widen()
    }
}

impl Number for F16 {
    #[inline(always)]
    fn sum(self, other: F16) -> F16 {
        F16::narrow(self.widen() + other.widen())
    }

    #[inline(always)]
    fn product(self, other: F16) -> F16 {
        F16::narrow(self.widen() * other.widen())
    }
}

impl Real for F16 {
    type Product = f32;

    #[inline(always)]
    fn widened(self) -> f32 {
        self.widen()
    }

    #[inline(always)]
    fn rounded(wide: f32) -> F16 {
        F16::narrow(wide)
    }

    const ZERO: F16 = F16(0);
    const ONE: F16 = F16(0x3c00);
    const INFINITY: F16 = F16(INFINITE);

    #[inline(always)]
    fn difference(self, other: F16) -> F16 {
        F16::narrow(self.widen() - other.widen())
    }

    #[inline(always)]
    fn is_nan(self) -> bool {
        self.0 & !SIGN > INFINITE
    }

    fn is_infinite(self) -> bool {
        self.0 & !SIGN == INFINITE
    }

    fn with_sign_of(self, sign: F16) -> F16 {
        F16((self.0 & !SIGN) | (sign.0 & SIGN))
    }
}
