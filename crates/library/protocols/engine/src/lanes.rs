//! The lanes of a process, each made when it is first used.
//!
//! `begun` has a bit for each lane that is made or is being made: set before the lane can be found, and never cleared. So whoever
//! has found a lane finds its bit too, and what goes through all lanes costs what is in use.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::lane::Lane;
use crate::once::Once;

/// Lanes of a process; all processes of a job have the same number. Each exists once it is used.
pub const LANES: u32 = 16;

pub(crate) struct Lanes<E> {
    places: [Once<Lane<E>>; LANES as usize],
    /// Written by the thread that makes a lane, before [`Once`] shows it with Release; read by any thread, relaxed: one that has
    /// found the lane, or has it from a thread that has, comes after that write.
    begun: AtomicU32,
}

const _: () = assert!(LANES <= u32::BITS && LANES.is_power_of_two());

impl<E> Lanes<E> {
    pub const fn new() -> Lanes<E> {
        Lanes {
            places: [const { Once::new() }; LANES as usize],
            begun: AtomicU32::new(0),
        }
    }

    /// The lane of that number, made by `make`, out of line, if it is not there.
    #[inline]
    pub fn get_or_make(&self, lane: u32, make: impl FnOnce() -> Box<Lane<E>>) -> &Lane<E> {
        debug_assert!(lane < LANES);
        // The remainder says to the compiler that it is within.
        match self.places[(lane % LANES) as usize].get() {
            Some(made) => made,
            None => self.make(lane, make),
        }
    }

    #[cold]
    #[inline(never)]
    fn make(&self, lane: u32, make: impl FnOnce() -> Box<Lane<E>>) -> &Lane<E> {
        self.places[(lane % LANES) as usize].get_or_make(|| {
            self.begun.fetch_or(1 << lane, Ordering::Relaxed);
            make()
        })
    }

    /// The lane of that number, if it is made; none of a number that no lane has.
    #[inline]
    pub fn get(&self, lane: u32) -> Option<&Lane<E>> {
        self.places.get(lane as usize)?.get()
    }

    /// Those that are made, in the order of their numbers.
    #[inline]
    pub fn made(&self) -> impl Iterator<Item = &Lane<E>> {
        numbers(self.begun()).filter_map(|lane| self.get(lane))
    }

    /// A bit for each lane that is made, and for those that are being made.
    #[inline]
    pub fn begun(&self) -> u64 {
        self.begun.load(Ordering::Relaxed).into()
    }
}

/// The numbers of a word's bits, from the lowest on.
#[inline]
pub(crate) fn numbers(mut bits: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let lowest = bits.trailing_zeros();
        bits &= bits.checked_sub(1)?;
        Some(lowest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_bits() {
        let listed = |bits| numbers(bits).collect::<Vec<u32>>();
        assert_eq!(listed(0), []);
        assert_eq!(listed(0b1010_0001), [0, 5, 7]);
        assert_eq!(listed(1 << 63 | 2), [1, 63]);
        let all = Vec::from_iter(0..64);
        assert_eq!(listed(u64::MAX), all);
    }
}
