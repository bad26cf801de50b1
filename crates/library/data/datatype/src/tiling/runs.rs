//! Runs of a tiling as bytes, for another process: of each, how far it lies behind the last one, and how long it is where that
//! changes. Numbers have seven bits to a byte, the least first, so that a run of a dense list takes a byte or two. What comes from there is checked.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use super::Tiling;
use crate::copy::Copier;
use crate::shape::List;

/// The bits of a byte that are a number's, and that more of them follow.
const DIGIT: u64 = 0x7f;
const MORE: u8 = 0x80;

impl Tiling {
    /// Appends the runs of the positions `window`, of a tiling whose displacements grow throughout. All positions of the window have
    /// displacements.
    pub fn append_runs(&self, window: Range<usize>, out: &mut Vec<u8>) {
        let (mut end, mut length) = (0, 0);
        self.visit(window, |displacement, bytes| {
            let gap = (displacement as usize - end) as u64;
            append(gap << 1 | u64::from(bytes != length), out);
            if bytes != length {
                append(bytes as u64, out);
            }
            (end, length) = (displacement as usize + bytes, bytes);
            ControlFlow::Continue(())
        });
    }

    /// A tiling of the runs that another process appended, an extent apart; none if they are no runs, or none at all.
    pub fn of_runs(bytes: &[u8], extent: isize) -> Option<Tiling> {
        let mut reader = Reader(bytes);
        let mut list = List::with_capacity(bytes.len() / 2);
        let (mut end, mut length, mut size) = (0usize, 0usize, 0);
        while !reader.0.is_empty() {
            let told = reader.number()?;
            if told & 1 == 1 {
                length = usize::try_from(reader.number()?).ok()?;
            }
            let displacement = end.checked_add((told >> 1) as usize)?;
            end = displacement.checked_add(length).filter(|_| length > 0)?;
            isize::try_from(end).ok()?;
            list.append_run(displacement as isize, length);
            size += length;
        }
        if size == 0 {
            return None;
        }
        let (origin, shape) = list.finish();
        let copier = Arc::new(Copier::new(origin, size, extent, shape));
        Some(Tiling::new(copier, size, extent))
    }
}

#[inline]
fn append(mut number: u64, out: &mut Vec<u8>) {
    while number > DIGIT {
        out.push((number & DIGIT) as u8 | MORE);
        number >>= 7;
    }
    out.push(number as u8);
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    #[inline]
    fn number(&mut self) -> Option<u64> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            let digit = u64::from(byte) & DIGIT;
            if shift > 0 && digit > u64::MAX >> shift {
                return None;
            }
            number |= digit << shift;
            if byte & MORE == 0 {
                return Some(number);
            }
            shift += 7;
            if shift >= u64::BITS {
                return None;
            }
        }
    }
}
