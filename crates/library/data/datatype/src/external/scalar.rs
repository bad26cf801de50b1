//! The numbers that values are made of, natively and in external32.

use super::extended;
use crate::{Element, Predefined};

/// A number inside a value. Most differ in the order of their bytes only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    /// So many bytes on both sides.
    Same(u8),
    /// C's `long`, which has 4 bytes in external32.
    Long,
    UnsignedLong,
    /// `wchar_t`, which has 2.
    Wide,
    /// C's `long double` where it is the x87's.
    Extended,
}

/// Up to two numbers: those of a complex number or of a pair.
pub(super) struct Scalars([Scalar; 2], usize);

impl std::ops::Deref for Scalars {
    type Target = [Scalar];
    fn deref(&self) -> &[Scalar] {
        &self.0[..self.1]
    }
}

const LONG_DOUBLE: Scalar = match cfg!(target_arch = "x86_64") {
    true => Scalar::Extended,
    false => Scalar::Same(16),
};

impl Scalar {
    /// Of a value, in order. The type tells apart what has one representation here and another there.
    pub fn of(element: Element, predefined: Predefined) -> Scalars {
        let one = |scalar| Scalars([scalar; 2], 1);
        let twice = |scalar| Scalars([scalar; 2], 2);
        let pair = |value| Scalars([value, Scalar::Same(4)], 2);
        match element {
            Element::I64 if predefined == Predefined::Long => one(Scalar::Long),
            Element::U64 if predefined == Predefined::UnsignedLong => one(Scalar::UnsignedLong),
            Element::I32 if predefined == Predefined::Wchar => one(Scalar::Wide),
            Element::LongDouble => one(LONG_DOUBLE),
            Element::ComplexF16 => twice(Scalar::Same(2)),
            Element::ComplexF32 | Element::FloatFloat => twice(Scalar::Same(4)),
            Element::ComplexF64 | Element::DoubleDouble => twice(Scalar::Same(8)),
            Element::ComplexLongDouble => twice(LONG_DOUBLE),
            Element::ComplexF128 => twice(Scalar::Same(16)),
            Element::FloatInt | Element::IntInt => pair(Scalar::Same(4)),
            Element::DoubleInt => pair(Scalar::Same(8)),
            Element::LongInt => pair(Scalar::Long),
            Element::ShortInt => pair(Scalar::Same(2)),
            Element::LongDoubleInt => pair(LONG_DOUBLE),
            whole => one(Scalar::Same(whole.size() as u8)),
        }
    }

    pub fn external(self) -> usize {
        match self {
            Scalar::Same(bytes) => bytes.into(),
            Scalar::Long | Scalar::UnsignedLong => 4,
            Scalar::Wide => 2,
            Scalar::Extended => 16,
        }
    }

    fn native(self) -> usize {
        match self {
            Scalar::Same(bytes) => bytes.into(),
            Scalar::Long | Scalar::UnsignedLong => 8,
            Scalar::Wide => 4,
            Scalar::Extended => 16,
        }
    }

    /// `native` and `external` have one value's bytes. A number that does not fit loses its high bits, which the
    /// standard leaves open (§14.5.2).
    fn encode(self, native: &[u8], external: &mut [u8]) {
        match self {
            Scalar::Same(_) => reversed(native, external),
            Scalar::Long | Scalar::UnsignedLong => reversed(&native[..4], external),
            Scalar::Wide => reversed(&native[..2], external),
            Scalar::Extended => {
                let value: &[u8; 16] = native.try_into().expect("an x87 number has 16 bytes");
                external.copy_from_slice(&extended::to_binary128(*value).to_be_bytes());
            }
        }
    }

    fn decode(self, external: &[u8], native: &mut [u8]) {
        match self {
            Scalar::Same(_) => reversed(external, native),
            Scalar::Long => {
                let value = i32::from_be_bytes(external.try_into().expect("4 bytes"));
                native.copy_from_slice(&i64::from(value).to_le_bytes());
            }
            Scalar::UnsignedLong => {
                let value = u32::from_be_bytes(external.try_into().expect("4 bytes"));
                native.copy_from_slice(&u64::from(value).to_le_bytes());
            }
            Scalar::Wide => {
                let value = u16::from_be_bytes(external.try_into().expect("2 bytes"));
                native.copy_from_slice(&u32::from(value).to_le_bytes());
            }
            Scalar::Extended => {
                let value: &[u8; 16] = external.try_into().expect("a binary128 has 16 bytes");
                native.copy_from_slice(&extended::from_binary128(u128::from_be_bytes(*value)));
            }
        }
    }
}

fn reversed(from: &[u8], to: &mut [u8]) {
    for (to, from) in to.iter_mut().zip(from.iter().rev()) {
        *to = *from;
    }
}

/// Converts whole values of a type.
pub(super) fn encode(predefined: Predefined, native: &[u8], external: &mut [u8]) {
    let scalars = Scalar::of(predefined.element(), predefined);
    if let Some(bytes) = uniform(&scalars) {
        return swap(bytes, native, external);
    }
    let (mut from, mut to) = (native, external);
    while !from.is_empty() {
        for scalar in scalars.iter() {
            let (value, rest) = from.split_at(scalar.native());
            let (place, after) = to.split_at_mut(scalar.external());
            scalar.encode(value, place);
            (from, to) = (rest, after);
        }
    }
}

/// The inverse of [`encode`].
pub(super) fn decode(predefined: Predefined, external: &[u8], native: &mut [u8]) {
    let scalars = Scalar::of(predefined.element(), predefined);
    if let Some(bytes) = uniform(&scalars) {
        return swap(bytes, external, native);
    }
    let (mut from, mut to) = (external, native);
    while !from.is_empty() {
        for scalar in scalars.iter() {
            let (value, rest) = from.split_at(scalar.external());
            let (place, after) = to.split_at_mut(scalar.native());
            scalar.decode(value, place);
            (from, to) = (rest, after);
        }
    }
}

/// The size of all numbers, if they have one size on both sides.
fn uniform(scalars: &[Scalar]) -> Option<u8> {
    match scalars {
        [Scalar::Same(bytes)] => Some(*bytes),
        [Scalar::Same(first), Scalar::Same(second)] if first == second => Some(*first),
        _ => None,
    }
}

/// Copies numbers of `bytes` each with their bytes reversed.
fn swap(bytes: u8, from: &[u8], to: &mut [u8]) {
    match bytes {
        1 => to.copy_from_slice(from),
        2 => swap_all::<2>(from, to),
        4 => swap_all::<4>(from, to),
        8 => swap_all::<8>(from, to),
        _ => swap_all::<16>(from, to),
    }
}

fn swap_all<const BYTES: usize>(from: &[u8], to: &mut [u8]) {
    let (from, _) = from.as_chunks::<BYTES>();
    let (to, _) = to.as_chunks_mut::<BYTES>();
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
        to.reverse();
    }
}

// The numbers above are reversed, and their low bytes come first.
const _: () = assert!(cfg!(target_endian = "little"));
