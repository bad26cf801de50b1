//! A value that is made when it is first asked for, and stays where it is.
//!
//! `place` is null until the value is there; it is written once, with release, under `making`, and read with acquire
//! by anybody. As std's `OnceLock`, but ThreadSanitizer understands it, and asking costs one load.

use std::sync::atomic::{AtomicPtr, Ordering};

use parking_lot::Mutex;

pub(crate) struct Once<T> {
    place: AtomicPtr<T>,
    making: Mutex<()>,
}

// SAFETY: the value is handed out as `&T` to any thread and may be made by any, which `T: Send + Sync` allows.
unsafe impl<T: Send + Sync> Sync for Once<T> {}

impl<T> Once<T> {
    pub const fn new() -> Once<T> {
        Once {
            place: AtomicPtr::new(std::ptr::null_mut()),
            making: Mutex::new(()),
        }
    }

    /// The value, if it was made.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        // SAFETY: a pointer stored is that of a box that lives as long as `self`.
        unsafe { self.place.load(Ordering::Acquire).as_ref() }
    }

    /// The value, made by `make` if it is not there.
    #[inline]
    pub fn get_or_make(&self, make: impl FnOnce() -> Box<T>) -> &T {
        match self.get() {
            Some(value) => value,
            None => self.make(make),
        }
    }

    #[cold]
    #[inline(never)]
    fn make(&self, make: impl FnOnce() -> Box<T>) -> &T {
        let _making = self.making.lock();
        if self.get().is_none() {
            self.place.store(Box::into_raw(make()), Ordering::Release);
        }
        self.get().expect("just made")
    }
}

impl<T> Drop for Once<T> {
    fn drop(&mut self) {
        let place = *self.place.get_mut();
        if !place.is_null() {
            // SAFETY: made by `make` from a box, and it is not borrowed any more.
            drop(unsafe { Box::from_raw(place) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_once_by_many() {
        let once = Once::new();
        let made = std::sync::atomic::AtomicU32::new(0);
        assert!(once.get().is_none());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let value = once.get_or_make(|| {
                        made.fetch_add(1, Ordering::Relaxed);
                        Box::new(Box::new(7))
                    });
                    assert_eq!(**value, 7);
                });
            }
        });
        assert_eq!(made.load(Ordering::Relaxed), 1);
        assert_eq!(once.get().map(|value| **value), Some(7));
    }
}
