//! A short list that lies where it is used: large, and never filled before it is needed.

use std::mem::MaybeUninit;

/// Up to `N` values. Made where it is used, not moved.
pub struct InlineList<T: Copy, const N: usize> {
    list: [MaybeUninit<T>; N],
    /// The first so many are initialised.
    count: usize,
}

impl<T: Copy, const N: usize> Default for InlineList<T, N> {
    fn default() -> Self {
        InlineList::new()
    }
}

impl<T: Copy, const N: usize> InlineList<T, N> {
    #[inline]
    pub const fn new() -> InlineList<T, N> {
        InlineList {
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

impl<T: Copy, const N: usize> std::ops::Deref for InlineList<T, N> {
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
        let mut inline_list = InlineList::<u32, 3>::new();
        assert!(inline_list.is_empty() && !inline_list.is_full());
        for value in 0..5 {
            inline_list.push(value);
        }
        assert_eq!(*inline_list, [0, 1, 2]);
        assert!(inline_list.is_full());
        inline_list.truncate(7);
        inline_list.truncate(1);
        inline_list.push(9);
        assert_eq!(*inline_list, [0, 9]);
    }
}
