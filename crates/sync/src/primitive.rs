//! Switches between std and loom. Nothing else in the workspace names loom.

#[cfg(not(loom))]
pub use std::{
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
    thread::yield_now,
};

#[cfg(loom)]
pub use loom::{
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
    thread::yield_now,
};

/// A word that one thread can sleep on: a futex, or under loom a lock and a condition, so that a missing
/// wake-up is found as a deadlock.
#[cfg(not(loom))]
pub struct SleepWord(AtomicU32);

#[cfg(not(loom))]
impl SleepWord {
    pub fn new(value: u32) -> SleepWord {
        SleepWord(AtomicU32::new(value))
    }

    /// Sleeps while the word is `expected`; may wake for no reason. False if the time is over.
    pub fn wait(&self, expected: u32, timeout: Option<std::time::Duration>) -> bool {
        crate::futex::wait(&self.0, expected, timeout) != crate::futex::Wait::TimedOut
    }

    pub fn wake(&self) {
        crate::futex::wake(&self.0, 1);
    }
}

#[cfg(not(loom))]
impl std::ops::Deref for SleepWord {
    type Target = AtomicU32;
    fn deref(&self) -> &AtomicU32 {
        &self.0
    }
}

#[cfg(loom)]
pub struct SleepWord {
    word: AtomicU32,
    lock: loom::sync::Mutex<()>,
    woken: loom::sync::Condvar,
}

#[cfg(loom)]
impl SleepWord {
    pub fn new(value: u32) -> SleepWord {
        SleepWord {
            word: AtomicU32::new(value),
            lock: loom::sync::Mutex::new(()),
            woken: loom::sync::Condvar::new(),
        }
    }

    pub fn wait(&self, expected: u32, _timeout: Option<std::time::Duration>) -> bool {
        let held = self.lock.lock().unwrap();
        if self.word.load(Ordering::SeqCst) == expected {
            drop(self.woken.wait(held).unwrap());
        }
        true
    }

    pub fn wake(&self) {
        drop(self.lock.lock().unwrap());
        self.woken.notify_one();
    }
}

#[cfg(loom)]
impl std::ops::Deref for SleepWord {
    type Target = AtomicU32;
    fn deref(&self) -> &AtomicU32 {
        &self.word
    }
}
