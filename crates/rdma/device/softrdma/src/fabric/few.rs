//! A short list that lies where it is used: large, and never filled before it is needed.

use std::mem::MaybeUninit;

/// Up to `N` values. Made where it is used, not moved.
pub struct Few<T: Copy, const N: usize> {
    list: [MaybeUninit<T>; N],
    /// The first so many are initialised.
    count: usize,
}

impl<T: Copy, const N: usize> Default for Few<T, N> {
    fn default() -> Self {
        Few::new()
    }
}

impl<T: Copy, const N: usize> Few<T, N> {
    #[inline]
    pub const fn new() -> Few<T, N> {
        Few {
            list: [const { MaybeUninit::uninit() }; N],
            count: 0,
        }
    }

    /// Appends; not if it is full.
    #[inline]
    pub fn push(&mut self, value: T) {
        if let Some(place) = self.list.get_mut(self.count) {
            place.write(value);
            self.count += 1;
        }
    }

    #[inline]
    pub fn is_full(&self) -> bool {
        self.count == N
    }

    /// Keeps the first `count`.
    #[inline]
    pub fn truncate(&mut self, count: usize) {
        self.count = self.count.min(count);
    }
}

impl<T: Copy, const N: usize> std::ops::Deref for Few<T, N> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: the first `count` are initialised.
        unsafe { std::slice::from_raw_parts(self.list.as_ptr().cast(), self.count) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_room_is_left_out() {
        let mut few = Few::<u32, 3>::new();
        assert!(few.is_empty() && !few.is_full());
        for value in 0..5 {
            few.push(value);
        }
        assert_eq!(*few, [0, 1, 2]);
        assert!(few.is_full());
        few.truncate(7);
        few.truncate(1);
        few.push(9);
        assert_eq!(*few, [0, 9]);
    }
}
