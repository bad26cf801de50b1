//! Numbers in a message: seven bits in a byte, the lowest first; signed ones with their sign in the lowest bit.

/// Bytes of the longest number.
pub const LONGEST: usize = 10;

pub fn write(number: u64, out: &mut Vec<u8>) {
    let mut rest = number;
    while rest >= 1 << 7 {
        out.push(rest as u8 | 1 << 7);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Bytes that a number takes.
pub fn length(number: u64) -> usize {
    let bits = u64::BITS - number.leading_zeros();
    bits.max(1).div_ceil(7) as usize
}

pub fn signed_length(number: i64) -> usize {
    length(folded(number))
}

fn folded(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

pub fn write_signed(number: i64, out: &mut Vec<u8>) {
    write(folded(number), out);
}

/// What of a message is not yet read.
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    pub fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    pub fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            // The last byte has room for one bit.
            if bits << shift >> shift != bits {
                return None;
            }
            number |= bits << shift;
            if byte < 1 << 7 {
                return Some(number);
            }
        }
        None
    }

    pub fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }
}
