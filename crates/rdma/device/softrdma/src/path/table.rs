//! Objects of this process by their index.

use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

const PAGE: usize = 1024;

type Entries<T> = [AtomicPtr<T>; PAGE];

/// Objects by index, looked up without a lock. A thread that takes an object out must see to it that no thread that found it
/// before still uses it.
pub struct Table<T: 'static> {
    pages: Box<[AtomicPtr<Entries<T>>]>,
    growing: Mutex<()>,
}

impl<T> Table<T> {
    /// For indexes below `end`.
    pub fn new(end: usize) -> Table<T> {
        let empty = |_| AtomicPtr::new(std::ptr::null_mut());
        Table {
            pages: (0..end.div_ceil(PAGE)).map(empty).collect(),
            growing: Mutex::new(()),
        }
    }

    #[inline]
    fn entry(&self, index: usize) -> Option<&AtomicPtr<T>> {
        let page = self.pages.get(index / PAGE)?.load(Ordering::Acquire);
        // SAFETY: null, or a page that was leaked when it was made.
        let page = unsafe { page.as_ref() }?;
        Some(&page[index % PAGE])
    }

    #[inline]
    pub fn at(&self, index: impl Into<u32>) -> Option<&'static T> {
        let object = self.entry(index.into() as usize)?.load(Ordering::Acquire);
        // SAFETY: null, or an object that `enter` was given for as long as it is in the table.
        unsafe { object.as_ref() }
    }

    pub fn enter(&self, index: impl Into<u32>, object: &'static T) {
        let index = index.into() as usize;
        if self.entry(index).is_none() {
            self.grow(index / PAGE);
        }
        if let Some(entry) = self.entry(index) {
            entry.store(std::ptr::from_ref(object).cast_mut(), Ordering::Release);
        }
    }

    pub fn leave(&self, index: impl Into<u32>) {
        if let Some(entry) = self.entry(index.into() as usize) {
            entry.store(std::ptr::null_mut(), Ordering::Release);
        }
    }

    fn grow(&self, page: usize) {
        let _one = self.growing.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(place) = self.pages.get(page) else {
            return;
        };
        if place.load(Ordering::Relaxed).is_null() {
            let empty = |_| AtomicPtr::new(std::ptr::null_mut());
            let entries: Box<Entries<T>> = Box::new(std::array::from_fn(empty));
            place.store(Box::into_raw(entries), Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_entered_is_found_until_it_leaves() {
        let table = Table::<u32>::new(5000);
        static OBJECT: u32 = 7;
        assert!(table.at(4999u32).is_none());
        table.enter(4999u32, &OBJECT);
        table.enter(0u16, &OBJECT);
        assert_eq!(table.at(4999u32), Some(&7));
        assert_eq!(table.at(0u16), Some(&7));
        assert!(table.at(1u16).is_none());
        table.leave(4999u32);
        assert!(table.at(4999u32).is_none());
        assert!(table.at(1_000_000u32).is_none());
    }
}
