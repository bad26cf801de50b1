//! Between the x87's 80-bit numbers and IEEE 754 binary128.
//!
//! Both have a sign bit and a 15-bit exponent of the same bias. The x87's significand has 64 bits with the first one
//! written, binary128's 113 bits with the first one implied where the exponent is not 0.

const EXPONENT: u128 = 0x7fff;
const INTEGER_BIT: u64 = 1 << 63;
/// The first bit of binary128's significand, which it does not store.
const IMPLIED: u128 = 1 << 112;
/// Bits of binary128's significand that the x87's does not have.
const EXCESS: u32 = 49;

/// Every number of the x87 has one of binary128.
pub(super) fn to_binary128(native: [u8; 16]) -> u128 {
    let bits = u128::from_le_bytes(native);
    let significand = bits as u64;
    let sign = bits >> 79 & 1;
    let mut exponent = bits >> 64 & EXPONENT;
    // With the exponent 0 the first bit counts as with exponent 1.
    if exponent == 0 && significand & INTEGER_BIT != 0 {
        exponent = 1;
    }
    let fraction = u128::from(significand & !INTEGER_BIT) << EXCESS;
    sign << 127 | exponent << 112 | fraction
}

/// Rounded to the nearest, ties to even.
pub(super) fn from_binary128(bits: u128) -> [u8; 16] {
    let sign = bits >> 127;
    let mut exponent = bits >> 112 & EXPONENT;
    let fraction = bits & (IMPLIED - 1);
    let kept = (fraction >> EXCESS) as u64;
    let significand = match exponent {
        EXPONENT if fraction == 0 => INTEGER_BIT,
        // The first bit of the fraction says that it is a quiet NaN.
        EXPONENT => INTEGER_BIT | 1 << 62 | kept,
        _ => {
            let first = if exponent == 0 { 0 } else { INTEGER_BIT };
            let (rounded, carried) = (first | kept).overflowing_add(rounding(fraction));
            if carried {
                exponent += 1;
                INTEGER_BIT
            } else {
                if exponent == 0 && rounded & INTEGER_BIT != 0 {
                    exponent = 1;
                }
                rounded
            }
        }
    };
    (u128::from(significand) | exponent << 64 | sign << 79).to_le_bytes()
}

/// What rounding adds to the last bit that is kept.
fn rounding(fraction: u128) -> u64 {
    let half = 1 << (EXCESS - 1);
    let lost = fraction & ((1 << EXCESS) - 1);
    let odd = fraction >> EXCESS & 1 == 1;
    (lost > half || lost == half && odd).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Significand and sign with exponent, and binary128: C's `(__float128)x` of gcc.
    const PAIRS: [(u64, u16, u128); 8] = [
        (0, 0, 0),
        (INTEGER_BIT, 0x3fff, 0x3fff << 112),
        (INTEGER_BIT, 0xbfff, 0xbfff << 112),
        (
            0xc90f_daa2_2168_c235,
            0x4000,
            0x4000_921f_b544_42d1_846a_0000_0000_0000,
        ),
        (INTEGER_BIT, 0x7fff, 0x7fff << 112),
        (1, 0, 1 << EXCESS),
        (u64::MAX, 0x7ffe, 0x7ffe_ffff_ffff_ffff_fffe_0000_0000_0000),
        (0xc000_0000_0000_0000, 0x7fff, 0x7fff_8000 << 96),
    ];

    #[test]
    fn what_both_have_goes_there_and_back() {
        for (significand, exponent, quad) in PAIRS {
            let native = (u128::from(significand) | u128::from(exponent) << 64).to_le_bytes();
            assert_eq!(to_binary128(native), quad, "{significand:x} {exponent:x}");
            assert_eq!(from_binary128(quad), native, "{quad:x}");
        }
    }

    #[test]
    fn the_rest_is_rounded() {
        let number = |exponent: u128, fraction: u128| exponent << 112 | fraction;
        let significand =
            |fraction| u128::from_le_bytes(from_binary128(number(0x3fff, fraction))) as u64;
        let back = |exponent, fraction| to_binary128(from_binary128(number(exponent, fraction)));
        let (last, half, all) = (1 << EXCESS, 1 << (EXCESS - 1), IMPLIED - 1);
        assert_eq!(significand(half), INTEGER_BIT, "a tie to even");
        assert_eq!(significand(half + 1), INTEGER_BIT + 1);
        assert_eq!(significand(last + half), INTEGER_BIT + 2);
        assert_eq!(back(0x3fff, all), number(0x4000, 0));
        assert_eq!(back(0x7ffe, all), number(0x7fff, 0), "infinity");
        assert_eq!(back(0, all), number(1, 0), "the least normal number");
        assert_eq!(back(0x7fff, 1), number(0x7fff, 1 << 111), "a quiet NaN");
    }
}
