//! A lock of one word in memory that several processes share, held for moments, which outlives the process that dies with it.
//!
//! It costs one locked instruction to take and a plain store to release; [`OwnedLock`](crate::OwnedLock) is for what is held
//! longer, as its waiters sleep until they are woken.
//!
//! # Protocol
//! 1. The word is 0 (free) or the holder's number. [`take`](RobustSpinLock::take) moves it from 0 to a number (acquire); only the
//!    holder stores 0 (release). What the lock guards is touched only between the two.
//! 2. A waiter spins a little, then gives up its core, then sleeps for moments, since the holder may have lost its core in the
//!    middle. It reads before it tries, so that the holder keeps the line.
//! 3. A waiter that has slept a while asks whether the holder is dead. If so, one waiter moves the word from the dead
//!    holder's number to its own (acquire), which sees all stores of the dead. It finds what the lock guards as the dead left it.
//! 4. A number is dead once and for all: a process that is said to be dead never touches the lock again, and its number is not
//!    given to another. Threads of one process may share a number, as they die together.

use crate::primitive::{AtomicU32, Ordering};
use crate::spin_lock::pause;

const FREE: u32 = 0;

/// The lock. All zeros is a free one.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct RobustSpinLock {
    word: AtomicU32,
}

impl RobustSpinLock {
    pub fn new() -> RobustSpinLock {
        RobustSpinLock {
            word: AtomicU32::new(FREE),
        }
    }

    /// Takes it for `owner` (not 0) if it is free.
    #[inline(always)]
    pub fn try_take(&self, owner: u32) -> bool {
        self.word
            .compare_exchange(FREE, owner, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    /// Takes it for `owner`, from a holder for which `is_dead` says so if need be.
    #[inline(always)]
    pub fn take(&self, owner: u32, is_dead: impl Fn(u32) -> bool) {
        if !self.try_take(owner) {
            self.wait(owner, &is_dead);
        }
    }

    #[cold]
    fn wait(&self, owner: u32, is_dead: &dyn Fn(u32) -> bool) {
        /// Rounds after which the holder is asked after: some 20 ms.
        const ASK_EVERY: u32 = if cfg!(loom) { 1 } else { 512 };
        let mut round = 0;
        loop {
            let holder = self.word.load(Ordering::Relaxed);
            if holder == FREE && self.try_take(owner) {
                return;
            }
            pause(round);
            round = round.saturating_add(1);
            let asks = holder != FREE && round.is_multiple_of(ASK_EVERY);
            if asks && is_dead(holder) && self.take_over(holder, owner) {
                return;
            }
        }
    }

    fn take_over(&self, dead: u32, owner: u32) -> bool {
        self.word
            .compare_exchange(dead, owner, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    /// The holder lets it go.
    #[inline(always)]
    pub fn release(&self) {
        self.word.store(FREE, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn one_holder() {
        const STEPS: u64 = 20_000;
        let (lock, value) = (RobustSpinLock::new(), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for owner in 1..=4 {
                let (lock, value) = (&lock, &value);
                scope.spawn(move || {
                    for _ in 0..STEPS {
                        lock.take(owner, |_| false);
                        value.store(value.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                        lock.release();
                    }
                });
            }
        });
        assert_eq!(value.into_inner(), 4 * STEPS);
    }

    #[test]
    fn taken_from_the_dead_only() {
        let lock = RobustSpinLock::new();
        assert!(lock.try_take(7));
        assert!(!lock.try_take(8));
        lock.take(8, |holder| holder == 7);
        assert!(!lock.take_over(7, 9));
        lock.release();
        assert!(lock.try_take(9));
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::primitive::Plain;
    use loom::sync::Arc;
    use loom::thread;

    struct Shared {
        lock: RobustSpinLock,
        value: Plain,
        dead: AtomicU32,
    }

    fn shared() -> Arc<Shared> {
        Arc::new(Shared {
            lock: RobustSpinLock::new(),
            value: Plain::new(0),
            dead: AtomicU32::new(0),
        })
    }

    fn add_one(shared: &Shared) {
        shared.value.write(shared.value.read() + 1);
    }

    fn add_one_inside(shared: &Shared, me: u32) {
        let is_dead = |holder| shared.dead.load(Ordering::Acquire) == holder;
        shared.lock.take(me, is_dead);
        add_one(shared);
        shared.lock.release();
    }

    fn total(shared: &Shared) -> u64 {
        shared.lock.take(9, |_| false);
        shared.value.read()
    }

    #[test]
    fn excludes() {
        loom::model(|| {
            let shared = shared();
            let other = {
                let shared = shared.clone();
                thread::spawn(move || add_one_inside(&shared, 2))
            };
            add_one_inside(&shared, 1);
            other.join().unwrap();
            assert_eq!(total(&shared), 2);
        });
    }

    /// One has died with the lock; of the two others exactly one takes it over, and the second waits for that one.
    #[test]
    fn one_follows_a_dead_holder() {
        crate::primitive::bounded(|| {
            let shared = shared();
            assert!(shared.lock.try_take(1));
            add_one(&shared);
            shared.dead.store(1, Ordering::Release);
            let other = {
                let shared = shared.clone();
                thread::spawn(move || add_one_inside(&shared, 2))
            };
            add_one_inside(&shared, 3);
            other.join().unwrap();
            assert_eq!(total(&shared), 3);
        });
    }
}
