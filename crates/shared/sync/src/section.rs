//! A section that one thread holds at a time and nobody waits for.
//!
//! The word is FREE, HELD or KNOCKED (held, and someone who did not get in has left work).
//! 1. Only the thread that moves FREE to HELD or KNOCKED holds the section; only the holder touches the
//!    value, and only the holder writes FREE.
//! 2. Whoever does not get in by [`Section::enter_or_notify`] publishes its work, executes a full fence, and looks at the
//!    word; it puts its mark there unless it finds one. The holder clears the mark, executes a full fence, and looks for
//!    work. So a mark that is found there is not cleared yet, or the holder finds the work: by its own ordering it sees
//!    what was published.
//! 3. The holder writes FREE only over HELD: a mark cannot be overwritten by [`Guard::leave`].
//! 4. While the process has a single thread nobody can come between a load and a store, so both ways are
//!    plain. A thread that is created meanwhile sees all stores of its creator.

use crate::primitive::{AtomicU32, Ordering, full_fence, yield_now};
use std::cell::UnsafeCell;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};

const FREE: u32 = 0;
const HELD: u32 = 1;
const KNOCKED: u32 = 3;

/// A value that one thread at a time works on, entered only if nobody else is there.
///
/// The word stands before the value, with which it goes from core to core, and so away from what the section's owner lets
/// other threads write.
#[repr(C)]
pub struct Section<T> {
    word: AtomicU32,
    threads: Threads,
    value: UnsafeCell<T>,
}

// SAFETY: the value is touched by one thread at a time (rule 1), so `T: Send` is enough.
unsafe impl<T: Send> Sync for Section<T> {}
// SAFETY: as for any owner of a `T`.
unsafe impl<T: Send> Send for Section<T> {}

impl<T> Section<T> {
    pub fn new(value: T) -> Section<T> {
        Section {
            word: AtomicU32::new(FREE),
            threads: Threads::new(),
            value: UnsafeCell::new(value),
        }
    }

    /// As [`Section::new`], where the section is to lie, all but for its value: that is to be written to the place returned.
    ///
    /// # Safety
    /// `place` is memory for a section that nobody else knows.
    pub unsafe fn write_around_value(place: *mut Section<T>) -> *mut T {
        // One more field is an error here until it is written below.
        let _all = |Section::<T> {
                        word: _,
                        threads: _,
                        value: _,
                    }: &Section<T>| {};
        // SAFETY: the caller's; nothing of it is read.
        unsafe {
            (&raw mut (*place).word).write(AtomicU32::new(FREE));
            (&raw mut (*place).threads).write(Threads::new());
            UnsafeCell::raw_get(&raw const (*place).value)
        }
    }

    /// Enters if nobody is inside.
    #[inline]
    pub fn try_enter(&self) -> Option<Guard<'_, T>> {
        if self.threads.single() {
            if self.word.load(Ordering::Relaxed) != FREE {
                return None;
            }
            self.word.store(HELD, Ordering::Relaxed);
            return Some(Guard { section: self });
        }
        self.word
            .compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
            .then(|| Guard { section: self })
    }

    /// Enters, with a mark, if nobody is inside; else the one inside will find the mark when it leaves
    /// ([`Guard::leave`]), and what the caller published before.
    #[inline]
    pub fn enter_or_notify(&self) -> Option<Guard<'_, T>> {
        full_fence();
        let word = &self.word;
        let is_inside = word.load(Ordering::Relaxed) != KNOCKED
            && word.fetch_or(KNOCKED, Ordering::AcqRel) == FREE;
        is_inside.then(|| Guard { section: self })
    }

    /// Enters, waiting for whoever is inside by yielding. For short, rare work only.
    pub fn enter(&self) -> Guard<'_, T> {
        let mut turns = 0u32;
        loop {
            if let Some(guard) = self.try_enter() {
                return guard;
            }
            turns += 1;
            if turns.is_multiple_of(64) || cfg!(loom) {
                yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
    }

    /// The value, when no other thread can be there.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

/// The right to work on a [`Section`]'s value. Give it back by [`leave`](Guard::leave): dropping it forgets
/// the notifications.
#[must_use]
pub struct Guard<'a, T> {
    section: &'a Section<T>,
}

impl<'a, T> Guard<'a, T> {
    /// Clears the mark: look for work then.
    #[inline]
    pub fn clear_mark(&mut self) {
        self.section.word.swap(HELD, Ordering::AcqRel);
        full_fence();
    }

    /// Leaves the section; or, if someone has notified it, stays inside and gives the guard back: clear the mark, look
    /// for work and leave again.
    #[inline]
    pub fn leave(self) -> Option<Guard<'a, T>> {
        let guard = ManuallyDrop::new(self);
        let section = guard.section;
        if section.threads.single() {
            if section.word.load(Ordering::Relaxed) == HELD {
                section.word.store(FREE, Ordering::Relaxed);
                return None;
            }
        } else if section
            .word
            .compare_exchange(HELD, FREE, Ordering::Release, Ordering::Relaxed)
            .is_ok()
        {
            return None;
        }
        Some(Guard { section })
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        self.section.word.swap(FREE, Ordering::AcqRel);
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this thread holds the section (rule 1), and the guard is borrowed.
        unsafe { &*self.section.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this thread holds the section (rule 1), and the guard is borrowed mutably.
        unsafe { &mut *self.section.value.get() }
    }
}

pub(crate) use threads::Threads;

#[cfg(not(loom))]
mod threads {
    use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

    static MANY: AtomicU8 = AtomicU8::new(0);
    static FLAG: AtomicPtr<AtomicU8> = AtomicPtr::new(std::ptr::null_mut());

    /// Tells whether the process has one thread only, by the C library's own account: where that keeps its flag
    /// (`__libc_single_threaded`, glibc 2.32 and later), else a byte that says "many".
    pub struct Threads(&'static AtomicU8);

    impl Threads {
        #[inline]
        pub fn new() -> Threads {
            let mut flag = FLAG.load(Ordering::Relaxed);
            if flag.is_null() {
                flag = find();
            }
            // SAFETY: `find` stores only addresses of bytes that live as long as the process.
            Threads(unsafe { &*flag })
        }

        #[inline]
        pub fn single(&self) -> bool {
            self.0.load(Ordering::Relaxed) != 0
        }
    }

    #[cold]
    fn find() -> *mut AtomicU8 {
        // SAFETY: the name is a C string; dlsym has no other condition.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__libc_single_threaded".as_ptr()) };
        let flag = if found.is_null() {
            std::ptr::from_ref(&MANY).cast_mut()
        } else {
            found.cast::<AtomicU8>()
        };
        FLAG.store(flag, Ordering::Relaxed);
        flag
    }
}

#[cfg(loom)]
mod threads {
    pub struct Threads;

    impl Threads {
        pub fn new() -> Threads {
            Threads
        }
        pub fn single(&self) -> bool {
            false
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time() {
        let section = Section::new(7);
        let mut guard = section.try_enter().unwrap();
        *guard += 1;
        assert!(section.try_enter().is_none());
        assert!(guard.leave().is_none());
        assert_eq!(*section.try_enter().unwrap(), 8);
        assert!(section.try_enter().is_some(), "a dropped guard leaves");
    }

    #[test]
    fn a_notification_is_told_once() {
        let section = Section::new(());
        let guard = section.try_enter().unwrap();
        assert!(section.enter_or_notify().is_none());
        assert!(section.enter_or_notify().is_none());
        let mut guard = guard.leave().expect("someone notified it");
        guard.clear_mark();
        assert!(guard.leave().is_none());
        let guard = section.enter_or_notify().expect("free");
        let mut guard = guard.leave().expect("by its own mark");
        guard.clear_mark();
        assert!(guard.leave().is_none());
    }

    #[test]
    fn counts_by_many_threads() {
        let section = Section::new(0u64);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..1000 {
                        let mut guard = loop {
                            match section.try_enter() {
                                Some(guard) => break guard,
                                None => std::thread::yield_now(),
                            }
                        };
                        *guard += 1;
                        assert!(guard.leave().is_none());
                    }
                });
            }
        });
        assert_eq!(*section.try_enter().unwrap(), 4000);
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::primitive::{Plain, bounded};
    use loom::sync::Arc;

    fn count(mut guard: Guard<'_, Plain>) {
        loop {
            guard.write(guard.read() + 1);
            match guard.leave() {
                Some(again) => guard = again,
                None => return,
            }
            guard.clear_mark();
        }
    }

    /// What one holder wrote the next one sees, however it got in.
    #[test]
    fn one_at_a_time() {
        bounded(|| {
            let section = Arc::new(Section::new(Plain::new(0)));
            let other = {
                let section = section.clone();
                loom::thread::spawn(move || {
                    section.try_enter().map(count);
                    section.enter_or_notify().map(count);
                })
            };
            section.enter_or_notify().map(count);
            section.try_enter().map(count);
            other.join().unwrap();
            assert!(section.try_enter().expect("free at the end").read() >= 3);
        });
    }
}
