//! Parts of a window that loads and stores reach, for accesses that ask no more of a target than is in half a cache line.
//!
//! An entry is what [`Member`](crate::Member) says, and where the part and the locks of its stripes begin, which is stored once
//! the way to it is found: the same addresses by whichever thread finds it, the part's last, with Release; accesses load that
//! with Acquire. It stays null for a part that is empty or not reached so.

use std::sync::atomic::{AtomicPtr, Ordering};

use weft_sync::RobustSpinLock;

use crate::member::Member;
use crate::stripes::Stripes;
use crate::word::{self, Update};

/// Of one process.
#[repr(align(32))]
pub(crate) struct Entry {
    base: AtomicPtr<u8>,
    /// Null unless all processes map the part.
    stripes: AtomicPtr<Stripes>,
    bytes: u64,
    unit: u64,
}

impl Entry {
    pub fn new(member: &Member) -> Entry {
        Entry {
            base: AtomicPtr::default(),
            stripes: AtomicPtr::default(),
            bytes: member.bytes,
            unit: member.unit as u64,
        }
    }

    /// Of a process that is not reached so.
    pub fn nowhere() -> Entry {
        Entry {
            base: AtomicPtr::default(),
            stripes: AtomicPtr::default(),
            bytes: 0,
            unit: 1,
        }
    }

    /// The part begins there, and is updated under the locks of its stripes if all processes map it.
    pub fn set(&self, base: *mut u8, stripes: Option<&Stripes>) {
        let stripes = stripes.map_or(std::ptr::null_mut(), |stripes| {
            (&raw const *stripes).cast_mut()
        });
        if self.bytes > 0 {
            self.stripes.store(stripes, Ordering::Relaxed);
            self.base.store(base, Ordering::Release);
        }
    }

    /// Where `bytes` bytes at a displacement are.
    ///
    /// # Safety
    /// What [`set`](Self::set) was given lives as long as `self`.
    #[inline(always)]
    pub unsafe fn find(&self, displacement: i64, bytes: usize) -> Option<Direct<'_>> {
        let base = self.base.load(Ordering::Acquire);
        // A negative displacement is a large one here.
        let offset = (displacement as u64).checked_mul(self.unit)?;
        let room = self.bytes.checked_sub(bytes as u64)?;
        if base.is_null() || offset > room {
            return None;
        }
        Some(Direct {
            place: base.wrapping_add(offset as usize),
            offset,
            // SAFETY: by this function's contract.
            stripes: unsafe { self.stripes.load(Ordering::Relaxed).as_ref() },
        })
    }
}

/// A place in a part of a window, with as many bytes as were asked for.
#[derive(Clone, Copy)]
pub struct Direct<'a> {
    pub(crate) place: *mut u8,
    pub(crate) offset: u64,
    pub(crate) stripes: Option<&'a Stripes>,
}

impl<'a> Direct<'a> {
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

    /// The same for an integer of so many bytes, if it is aligned and updated in place.
    #[inline(always)]
    pub fn word(self, bytes: usize) -> Option<Word<'a>> {
        let place = self.place;
        let width = match bytes {
            8 if place.addr().is_multiple_of(8) => Width::Eight,
            4 if place.addr().is_multiple_of(4) => Width::Four,
            _ => return None,
        };
        let lock = self.stripes?.lock(self.offset);
        Some(Word { width, place, lock })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    Four,
    Eight,
}

/// The place of an integer, and the lock under which it is updated.
#[derive(Clone, Copy)]
pub struct Word<'a> {
    width: Width,
    place: *mut u8,
    pub(crate) lock: &'a RobustSpinLock,
}

impl Word<'_> {
    /// Updates it with `operand`; what it was before goes to `result`, unless that is null.
    ///
    /// # Safety
    /// The lock is held, unless the update only fetches. `operand` is valid for reads, unless the update only fetches, and
    /// `result` for writes of the integer, and the window lives.
    #[inline(always)]
    pub(crate) unsafe fn update(self, update: Update, operand: *const u8, result: *mut u8) {
        // SAFETY: the place is aligned and in the window; by this function's contract.
        unsafe {
            match self.width {
                Width::Four => word::four::update(update, self.place, operand, result),
                Width::Eight => word::eight::update(update, self.place, operand, result),
            }
        }
    }

    /// Writes what is at `origin` if it equals what is at `compare`; what it was before goes to `result`.
    ///
    /// # Safety
    /// The lock is held, `compare` and `origin` are valid for reads and `result` for writes of the integer, and the window lives.
    #[inline(always)]
    pub(crate) unsafe fn compare_and_swap(self, values: [*const u8; 2], result: *mut u8) {
        // SAFETY: as in `update`.
        unsafe {
            match self.width {
                Width::Four => word::four::compare_and_swap(self.place, values, result),
                Width::Eight => word::eight::compare_and_swap(self.place, values, result),
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
            _ => weft_memory::copy(from, to, bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::member::Backing;

    fn find(entry: &Entry, displacement: i64, bytes: usize) -> Option<Direct<'_>> {
        // SAFETY: the part lives as long as the entry, and there are no stripes.
        unsafe { entry.find(displacement, bytes) }
    }

    /// Against the same in numbers of 128 bits.
    #[test]
    fn found_where_it_lies_in_the_part() {
        let mut part = [0u8; 96];
        let numbers = [0, 1, 2, 11, 12, 13, 95, 96, 97, i64::MAX / 8, i64::MAX];
        let displacements = numbers.into_iter().flat_map(|number| [number, -1 - number]);
        for (displacement, unit) in displacements.flat_map(|at| [(at, 1), (at, 8), (at, i64::MAX)])
        {
            let (control, bytes) = (0, part.len() as u64);
            let backing = Backing::Piece(0);
            let entry = Entry::new(&Member {
                control,
                backing,
                bytes,
                unit,
            });
            assert!(find(&entry, 0, 1).is_none(), "before the way is known");
            entry.set(part.as_mut_ptr(), None);
            for bytes in [0, 1, 8, 95, 96, 97, usize::MAX] {
                let offset = i128::from(displacement) * i128::from(unit);
                let wanted = (offset >= 0 && offset + bytes as i128 <= 96)
                    .then(|| part.as_mut_ptr().wrapping_add(offset as usize));
                let found = find(&entry, displacement, bytes).map(|direct| direct.place);
                assert_eq!(found, wanted, "{displacement} of {unit}, {bytes} bytes");
            }
        }
    }

    #[test]
    fn words_are_aligned_and_all_map_them() {
        let mut part = [0u64; 2];
        let base = part.as_mut_ptr().cast::<u8>();
        let stripes = Stripes::default();
        let width = |offset, all_map, bytes| {
            let place = base.wrapping_add(offset as usize);
            let stripes = Some(&stripes).filter(|_| all_map);
            let word = Direct {
                place,
                offset,
                stripes,
            }
            .word(bytes)?;
            assert_eq!(word.place, place);
            Some(word.width)
        };
        assert_eq!(width(8, true, 8), Some(Width::Eight));
        assert_eq!(width(4, true, 4), Some(Width::Four));
        for (offset, all_map, bytes) in [
            (4, true, 8),
            (2, true, 4),
            (8, false, 8),
            (8, true, 2),
            (8, true, 0),
        ] {
            assert_eq!(
                width(offset, all_map, bytes),
                None,
                "{offset}, {all_map}, {bytes}"
            );
        }
    }
}
