//! Values, places and arrays of a kind: from the program's form to the standard's and back.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr::null_mut;

/// No constant of any ABI has this value.
pub const NONE: c_int = c_int::MIN;

/// Stands for bits that have no name in the other ABI.
pub const UNNAMED_BIT: c_int = 1 << 30;

/// A kind of parameter whose values are not the standard's.
pub trait Kind {
    type Foreign: Copy;
    type Standard: Copy + PartialEq;
    /// What no call stores: a place that still has it is the program's as it was.
    const UNTOUCHED: Self::Standard;

    /// What is nothing in the program's form becomes what is nothing in the standard's.
    fn to_standard(foreign: Self::Foreign) -> Self::Standard;

    fn to_foreign(standard: Self::Standard) -> Self::Foreign;

    /// Whether the value is one of those that most calls have; [`Kind::usual`] converts them.
    #[inline]
    fn is_usual(_: Self::Foreign) -> bool {
        true
    }

    #[inline]
    fn usual(foreign: Self::Foreign) -> Self::Standard {
        Self::to_standard(foreign)
    }

    /// Whether the address stands for no place.
    #[inline]
    fn is_ignored(place: *const Self::Foreign) -> bool {
        place.is_null()
    }

    /// Stores what a call has made of what was `before`.
    ///
    /// # Safety
    /// The place is the program's.
    #[inline]
    unsafe fn store(place: *mut Self::Foreign, standard: Self::Standard, before: Self::Standard) {
        if standard != before {
            // SAFETY: by this function's contract. The program may have it unaligned, as in a packed struct.
            unsafe { place.write_unaligned(Self::to_foreign(standard)) };
        }
    }
}

/// A place of the program's, and the one that the call has in its stead.
pub struct Place<K: Kind> {
    place: *mut K::Foreign,
    standard: K::Standard,
    before: K::Standard,
}

impl<K: Kind> Place<K> {
    /// For a result.
    #[inline]
    pub fn room(place: *const K::Foreign) -> Place<K> {
        Place {
            place: place.cast_mut(),
            standard: K::UNTOUCHED,
            before: K::UNTOUCHED,
        }
    }

    /// For what goes in.
    ///
    /// # Safety
    /// The place is the program's, or the address stands for none.
    #[inline]
    pub unsafe fn holding(place: *const K::Foreign) -> Place<K> {
        let mut holding = Place::room(place);
        if !K::is_ignored(place) {
            // SAFETY: by this function's contract.
            holding.standard = K::to_standard(unsafe { place.read_unaligned() });
            holding.before = holding.standard;
        }
        holding
    }

    #[inline]
    pub fn address(&mut self) -> *mut K::Standard {
        match K::is_ignored(self.place) {
            true => null_mut(),
            false => &raw mut self.standard,
        }
    }

    /// Gives the program what the call has stored.
    ///
    /// # Safety
    /// The place is the program's, or the address stands for none.
    #[inline]
    pub unsafe fn store(self) {
        if !K::is_ignored(self.place) {
            // SAFETY: by this function's contract.
            unsafe { K::store(self.place, self.standard, self.before) };
        }
    }
}

/// So many elements are converted without allocation.
const FEW: usize = 64;

/// An array of the program's, and the one that the call has in its stead.
pub struct Array<K: Kind> {
    place: *mut K::Foreign,
    length: usize,
    few: [MaybeUninit<K::Standard>; FEW],
    /// In place of the few if there are more.
    many: Vec<K::Standard>,
}

/// The length that a call gives; none if it is negative, which the call itself reports.
#[inline]
pub fn length(given: impl TryInto<usize>) -> usize {
    given.try_into().unwrap_or(0)
}

impl<K: Kind> Array<K> {
    /// For results.
    #[inline]
    pub fn room(place: *const K::Foreign, length: usize) -> Array<K> {
        Array::of(place, length, |_| K::UNTOUCHED)
    }

    /// For what goes in.
    ///
    /// # Safety
    /// So many elements of the program's stand at the address, or it stands for none.
    #[inline]
    pub unsafe fn holding(place: *const K::Foreign, length: usize) -> Array<K> {
        Array::of(place, length, |at| {
            // SAFETY: by this function's contract.
            K::to_standard(unsafe { place.add(at).read_unaligned() })
        })
    }

    #[inline]
    fn of(
        place: *const K::Foreign,
        length: usize,
        element: impl Fn(usize) -> K::Standard,
    ) -> Array<K> {
        let length = if K::is_ignored(place) { 0 } else { length };
        let mut array = Array {
            place: place.cast_mut(),
            length,
            few: [MaybeUninit::uninit(); FEW],
            many: Vec::new(),
        };
        if length > FEW {
            array.many.extend((0..length).map(element));
            return array;
        }
        for (at, place) in array.few[..length].iter_mut().enumerate() {
            place.write(element(at));
        }
        array
    }

    #[inline]
    pub fn address(&mut self) -> *mut K::Standard {
        if K::is_ignored(self.place) {
            return null_mut();
        }
        match self.length > FEW {
            true => self.many.as_mut_ptr(),
            false => self.few.as_mut_ptr().cast(),
        }
    }

    /// Gives the program what the call has stored.
    ///
    /// # Safety
    /// As of [`Array::holding`].
    #[inline]
    pub unsafe fn store(mut self) {
        let standard = self.address();
        for at in 0..self.length {
            // SAFETY: by this function's contract; as many elements were made.
            unsafe { K::store(self.place.add(at), standard.add(at).read(), K::UNTOUCHED) };
        }
    }
}
