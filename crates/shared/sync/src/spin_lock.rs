//! A lock of one word for the threads of one process, held for moments; and the mark that stands in its place where a program has
//! promised that one thread at a time comes.
//!
//! # Protocol
//! 1. The word is FREE or HELD. [`SpinLock::take`] moves it from FREE to HELD (acquire); only the thread that did stores FREE
//!    (release). What the lock guards is touched only between the two.
//! 2. Those who find HELD spin a little, then give up the core, then sleep for moments: the holder may have lost its core in
//!    the middle. They look before they try, so that the holder keeps the line.
//! 3. [`SpinLock::mark`] looks and stores, which are two steps: two threads that come at the same moment may both pass. It says
//!    false only if a thread is inside, so an innocent program is never accused: a thread that comes after the last one left, by whatever
//!    tells the program so, sees FREE.

use crate::primitive::{AtomicU32, Ordering, yield_now};

const FREE: u32 = 0;
const HELD: u32 = 1;

#[derive(Debug)]
pub struct SpinLock {
    word: AtomicU32,
}

impl SpinLock {
    pub fn new() -> SpinLock {
        SpinLock {
            word: AtomicU32::new(FREE),
        }
    }

    /// Goes inside. True if somebody else was there first.
    #[inline]
    pub fn take(&self) -> bool {
        if self.try_take() {
            return false;
        }
        self.wait();
        true
    }

    #[inline]
    fn try_take(&self) -> bool {
        self.word
            .compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    #[cold]
    fn wait(&self) {
        let mut round = 0;
        while self.word.load(Ordering::Relaxed) != FREE || !self.try_take() {
            pause(round);
            round = round.saturating_add(1);
        }
    }

    /// Goes inside on the program's word that nobody else is there; false if somebody is.
    #[inline]
    pub fn mark(&self) -> bool {
        if self.word.load(Ordering::Acquire) != FREE {
            return false;
        }
        self.word.store(HELD, Ordering::Relaxed);
        true
    }

    /// The thread that is inside leaves.
    #[inline]
    pub fn leave(&self) {
        self.word.store(FREE, Ordering::Release);
    }
}

impl Default for SpinLock {
    fn default() -> SpinLock {
        SpinLock::new()
    }
}

/// Waits for a moment, longer in later rounds.
pub fn pause(round: u32) {
    /// About 2 us: longer than anything that is done inside when nobody loses a core.
    const SPINS: u32 = 64;
    const FIRST_SLEEP: u32 = 128;
    const SLEEP: std::time::Duration = std::time::Duration::from_micros(50);
    match round {
        // In the models everything that waits lets others on.
        _ if cfg!(loom) => yield_now(),
        ..SPINS => std::hint::spin_loop(),
        SPINS..FIRST_SLEEP => yield_now(),
        _ => std::thread::sleep(SLEEP),
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_and_who_waited_knows() {
        let lock = SpinLock::new();
        assert!(!lock.take());
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                let waited = lock.take();
                lock.leave();
                waited
            });
            std::thread::sleep(std::time::Duration::from_millis(20));
            lock.leave();
            assert!(waiter.join().unwrap());
        });
        assert!(!lock.take());
    }

    #[test]
    fn a_mark_is_seen() {
        let lock = SpinLock::new();
        assert!(lock.mark());
        assert!(!lock.mark());
        lock.leave();
        assert!(lock.mark());
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::primitive::Plain;
    use loom::sync::Arc;
    use loom::thread;

    struct Shared {
        lock: SpinLock,
        value: Plain,
        told: AtomicU32,
    }

    fn shared() -> Arc<Shared> {
        Arc::new(Shared {
            lock: SpinLock::new(),
            value: Plain::new(0),
            told: AtomicU32::new(0),
        })
    }

    fn add_one(shared: &Shared) {
        shared.value.write(shared.value.read() + 1);
    }

    fn add_one_inside(shared: &Shared) {
        shared.lock.take();
        add_one(shared);
        shared.lock.leave();
    }

    #[test]
    fn excludes() {
        loom::model(|| {
            let shared = shared();
            let other = {
                let shared = shared.clone();
                thread::spawn(move || add_one_inside(&shared))
            };
            add_one_inside(&shared);
            other.join().unwrap();
            shared.lock.take();
            assert_eq!(shared.value.read(), 2);
        });
    }

    /// The program's own way of keeping its promise: one thread tells the next that it is done.
    #[test]
    fn a_kept_promise_is_not_taken_for_a_broken_one() {
        loom::model(|| {
            let shared = shared();
            let other = {
                let shared = shared.clone();
                thread::spawn(move || {
                    assert!(shared.lock.mark());
                    add_one(&shared);
                    shared.lock.leave();
                    shared.told.store(1, Ordering::Release);
                })
            };
            while shared.told.load(Ordering::Acquire) == 0 {
                yield_now();
            }
            assert!(shared.lock.mark());
            add_one(&shared);
            shared.lock.leave();
            other.join().unwrap();
        });
    }
}
