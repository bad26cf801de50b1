//! Parts of a window that loads and stores reach, for accesses that are short: all that such an access asks of a target
//! is in half a cache line.
//!
//! An entry is what [`Member`](crate::Member) says and where the part begins, which is stored once the way to it is found:
//! the same address by whoever finds it, with Release; accesses load it with Acquire. It stays null for a part that is
//! empty or not reached so.

use std::sync::atomic::{AtomicPtr, Ordering};

use crate::atomic::{self, How};
use crate::window::{Member, Place};

/// Of one process.
#[repr(align(32))]
pub(crate) struct Entry {
    base: AtomicPtr<u8>,
    bytes: u64,
    unit: u64,
    /// Whether all processes reach it so, and update it by the processor's atomic operations.
    shared: bool,
}

impl Entry {
    pub fn new(member: &Member) -> Entry {
        Entry {
            base: AtomicPtr::default(),
            bytes: member.bytes,
            unit: member.unit as u64,
            shared: matches!(member.place, Place::Piece(_) | Place::Whole(_)),
        }
    }

    /// The part begins there.
    pub fn set(&self, base: *mut u8) {
        if self.bytes > 0 {
            self.base.store(base, Ordering::Release);
        }
    }

    /// Where `bytes` bytes at a displacement are.
    #[inline(always)]
    pub fn find(&self, displacement: i64, bytes: usize) -> Option<Near> {
        let base = self.base.load(Ordering::Acquire);
        // A negative displacement is a large one here.
        let offset = (displacement as u64).checked_mul(self.unit)?;
        let room = self.bytes.checked_sub(bytes as u64)?;
        (!base.is_null() && offset <= room).then(|| Near {
            place: base.wrapping_add(offset as usize),
            shared: self.shared,
        })
    }
}

/// A place in a part of a window, with as many bytes as were asked for.
#[derive(Clone, Copy)]
pub struct Near {
    place: *mut u8,
    shared: bool,
}

impl Near {
    /// Copies as many bytes as were asked for to there.
    ///
    /// # Safety
    /// `origin` is valid for reads of them, and the window lives.
    #[inline(always)]
    pub unsafe fn put(self, origin: *const u8, bytes: usize) {
        // SAFETY: by this function's contract.
        unsafe { copy(origin, self.place, bytes) }
    }

    /// Copies as many bytes as were asked for from there.
    ///
    /// # Safety
    /// `origin` is valid for writes of them, and the window lives.
    #[inline(always)]
    pub unsafe fn get(self, origin: *mut u8, bytes: usize) {
        // SAFETY: by this function's contract.
        unsafe { copy(self.place, origin, bytes) }
    }

    /// The same for an integer of so many bytes, if the processor updates it atomically.
    #[inline(always)]
    pub fn word(self, bytes: usize) -> Option<Word> {
        let place = self.place;
        if !self.shared {
            return None;
        }
        match bytes {
            8 if place.addr().is_multiple_of(8) => Some(Word::Eight(place)),
            4 if place.addr().is_multiple_of(4) => Some(Word::Four(place)),
            _ => None,
        }
    }
}

/// The place of an integer that the processor updates.
#[derive(Clone, Copy)]
pub enum Word {
    Four(*mut u8),
    Eight(*mut u8),
}

impl Word {
    /// Updates it with `operand`; what it was before goes to `result`, unless that is null.
    ///
    /// # Safety
    /// `operand` is valid for reads, unless the update only fetches, and `result` for writes of the integer, and the window lives.
    #[inline(always)]
    pub unsafe fn update(self, how: How, operand: *const u8, result: *mut u8) {
        // SAFETY: the place is aligned and in the window; by this function's contract.
        unsafe {
            match self {
                Word::Four(place) => atomic::four::update(how, place, operand, result),
                Word::Eight(place) => atomic::eight::update(how, place, operand, result),
            }
        }
    }

    /// Writes what is at `origin` if it equals what is at `compare`; what it was before goes to `result`.
    ///
    /// # Safety
    /// `compare` and `origin` are valid for reads and `result` for writes of the integer, and the window lives.
    #[inline(always)]
    pub unsafe fn compare_and_swap(self, [compare, origin]: [*const u8; 2], result: *mut u8) {
        // SAFETY: as in `update`.
        unsafe {
            match self {
                Word::Four(place) => atomic::four::compare(place, compare, origin, result),
                Word::Eight(place) => atomic::eight::compare(place, compare, origin, result),
            }
        }
    }
}

/// Copies bytes that may overlap; words in a register.
///
/// # Safety
/// `from` is valid for reads and `to` for writes of `bytes`.
#[inline(always)]
unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: by this function's contract.
    unsafe {
        match bytes {
            8 => to
                .cast::<u64>()
                .write_unaligned(from.cast::<u64>().read_unaligned()),
            4 => to
                .cast::<u32>()
                .write_unaligned(from.cast::<u32>().read_unaligned()),
            _ => std::ptr::copy(from, to, bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the same in numbers of 128 bits.
    #[test]
    fn found_where_it_lies_in_the_part() {
        let mut part = [0u8; 96];
        let numbers = [0, 1, 2, 11, 12, 13, 95, 96, 97, i64::MAX / 8, i64::MAX];
        let displacements = numbers.into_iter().flat_map(|number| [number, -1 - number]);
        for (displacement, unit) in displacements.flat_map(|at| [(at, 1), (at, 8), (at, i64::MAX)])
        {
            let (control, bytes) = (0, part.len() as u64);
            let place = Place::Piece(0);
            let entry = Entry::new(&Member {
                control,
                place,
                bytes,
                unit,
            });
            assert!(entry.find(0, 1).is_none(), "before the way is known");
            entry.set(part.as_mut_ptr());
            for bytes in [0, 1, 8, 95, 96, 97, usize::MAX] {
                let offset = i128::from(displacement) * i128::from(unit);
                let wanted = (offset >= 0 && offset + bytes as i128 <= 96)
                    .then(|| part.as_mut_ptr().wrapping_add(offset as usize));
                let found = entry.find(displacement, bytes).map(|near| near.place);
                assert_eq!(found, wanted, "{displacement} of {unit}, {bytes} bytes");
            }
        }
    }

    #[test]
    fn words_are_aligned_and_shared() {
        let mut part = [0u64; 2];
        let base = part.as_mut_ptr().cast::<u8>();
        let word = |offset, shared, bytes| {
            let place = base.wrapping_add(offset);
            Near { place, shared }.word(bytes)
        };
        assert!(
            matches!(word(8, true, 8), Some(Word::Eight(place)) if place == base.wrapping_add(8))
        );
        assert!(
            matches!(word(4, true, 4), Some(Word::Four(place)) if place == base.wrapping_add(4))
        );
        for (offset, shared, bytes) in [
            (4, true, 8),
            (2, true, 4),
            (8, false, 8),
            (8, true, 2),
            (8, true, 0),
        ] {
            assert!(
                word(offset, shared, bytes).is_none(),
                "{offset}, {shared}, {bytes}"
            );
        }
    }
}
