//! A lock in memory that several processes share, which outlives a process that dies with it.
//!
//! The word is 0 (free) or the holder's number, with WAITED set when somebody sleeps on it or is about to.
//! 1. Only a move from 0 to a number takes a free lock, and only a move from a *dead* holder's number to another takes it
//!    over. Whether a holder is dead is for the caller to know: once dead, a number never touches the lock again and is
//!    never given to another while it stands in a lock.
//! 2. What the lock guards is touched by its holder alone. A process that takes the lock over finds that as the dead one left it, in
//!    the middle of anything, and mends it first: [`OwnedLock::take_over`] is the moment at which all stores of the dead are seen.
//! 3. A sleeper sets WAITED by a read-modify-write on the held word and sleeps while the word stays so; the holder that
//!    finds WAITED on release wakes all. A process that was woken, or that takes over, leaves WAITED set when it takes the
//!    lock, for there may be more sleepers. Sleeps are bounded, since the dead wake nobody.
//! 4. A release moves the holder's own number to 0 and nothing else: a process that was wrongly taken for dead does not
//!    free another's lock.

use crate::primitive::{AtomicU32, Ordering};

const FREE: u32 = 0;
const WAITED: u32 = 1 << 31;

/// Tries before a sleep.
const TRIES: u32 = if cfg!(loom) { 1 } else { 200 };

/// The lock. All zeros is a free one.
#[repr(transparent)]
pub struct OwnedLock {
    word: AtomicU32,
}

impl OwnedLock {
    pub fn new() -> OwnedLock {
        OwnedLock {
            word: AtomicU32::new(FREE),
        }
    }

    /// Takes it for `owner` (not 0, below 2^31) if it is free.
    #[inline]
    pub fn try_take(&self, owner: u32) -> bool {
        self.word
            .compare_exchange(FREE, owner, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    /// As [`try_take`](Self::try_take), by one that has slept on it.
    #[inline]
    pub fn try_take_after_sleep(&self, owner: u32) -> bool {
        self.try_take(owner | WAITED)
    }

    /// Who holds it; 0 for nobody.
    #[inline]
    pub fn holder(&self) -> u32 {
        self.word.load(Ordering::Relaxed) & !WAITED
    }

    /// Takes it from `dead` for `owner`; false if `dead` no longer holds it.
    pub fn take_over(&self, dead: u32, owner: u32) -> bool {
        [dead, dead | WAITED].into_iter().any(|word| {
            self.word
                .compare_exchange(word, owner | WAITED, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
        })
    }

    /// Takes it for `owner` from holders that release it soon. True if it was taken over from one that `is_dead` says is dead.
    pub fn take(&self, owner: u32, is_dead: &dyn Fn(u32) -> bool) -> bool {
        for _ in 0..TRIES {
            if self.try_take(owner) {
                return false;
            }
            std::hint::spin_loop();
        }
        loop {
            if self.try_take_after_sleep(owner) {
                return false;
            }
            let holder = self.holder();
            let stays = holder != FREE && self.nap(holder);
            if stays && is_dead(holder) && self.take_over(holder, owner) {
                return true;
            }
        }
    }

    /// Lets it go.
    #[inline]
    pub fn release(&self, owner: u32) {
        let release = |word| {
            self.word
                .compare_exchange(word, FREE, Ordering::Release, Ordering::Relaxed)
        };
        if release(owner).is_err() && release(owner | WAITED).is_ok() {
            self.wake();
        }
    }

    /// Announces a sleep while `holder` has it. False if it has not, so that there is nothing to sleep for.
    fn announce(&self, holder: u32) -> bool {
        let held = self.word.load(Ordering::Relaxed);
        holder != FREE
            && held & !WAITED == holder
            && (held & WAITED != 0
                || self
                    .word
                    .compare_exchange(held, held | WAITED, Ordering::Relaxed, Ordering::Relaxed)
                    .is_ok())
    }
}

#[cfg(not(loom))]
impl OwnedLock {
    /// Sleeps until `holder` lets it go, at most `timeout`; may wake for no reason.
    pub fn sleep(&self, holder: u32, timeout: std::time::Duration) {
        if self.announce(holder) {
            crate::futex::wait_shared(&self.word, holder | WAITED, Some(timeout));
        }
    }

    /// Sleeps while `holder` has it. Whether that has it after a time in which others release it.
    fn nap(&self, holder: u32) -> bool {
        const NAP: std::time::Duration = std::time::Duration::from_millis(20);
        let begin = std::time::Instant::now();
        self.sleep(holder, NAP);
        self.holder() == holder && begin.elapsed() >= NAP
    }

    fn wake(&self) {
        crate::futex::wake_shared(&self.word, u32::MAX);
    }
}

#[cfg(loom)]
impl OwnedLock {
    fn nap(&self, holder: u32) -> bool {
        self.announce(holder);
        crate::primitive::yield_now();
        self.holder() == holder
    }

    fn wake(&self) {
        // In the models sleepers yield, so that every order of release and look is tried; real sleeps are bounded.
        crate::primitive::yield_now();
    }
}

impl Default for OwnedLock {
    fn default() -> OwnedLock {
        OwnedLock::new()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn one_holder() {
        let lock = OwnedLock::new();
        assert!(lock.try_take(5));
        assert!(!lock.try_take(6));
        assert_eq!(lock.holder(), 5);
        lock.release(6);
        assert_eq!(lock.holder(), 5);
        lock.release(5);
        assert!(lock.try_take(6));
    }

    #[test]
    fn taken_over_from_the_dead_only() {
        let lock = OwnedLock::new();
        assert!(lock.try_take(5));
        assert!(!lock.take_over(4, 6));
        assert!(lock.take_over(5, 6));
        assert!(!lock.take_over(5, 7));
        lock.release(5);
        assert_eq!(lock.holder(), 6);
        lock.release(6);
        assert_eq!(lock.holder(), 0);
    }

    #[test]
    fn release_ends_the_sleep() {
        let lock = OwnedLock::new();
        assert!(lock.try_take(1));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let begin = Instant::now();
                while !lock.try_take_after_sleep(2) {
                    lock.sleep(1, Duration::from_secs(20));
                }
                assert!(begin.elapsed() < Duration::from_secs(10));
                lock.release(2);
            });
            std::thread::sleep(Duration::from_millis(20));
            lock.release(1);
        });
    }

    #[test]
    fn sleep_is_bounded() {
        let lock = OwnedLock::new();
        assert!(lock.try_take(1));
        lock.sleep(1, Duration::from_millis(1));
        lock.sleep(2, Duration::from_secs(100));
    }

    #[test]
    fn nobody_sleeps_on_a_free_lock() {
        let lock = OwnedLock::new();
        lock.sleep(lock.holder(), Duration::from_secs(100));
        assert!(lock.try_take(1));
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::primitive::Plain;
    use loom::sync::Arc;
    use loom::thread;

    struct Shared {
        lock: OwnedLock,
        value: Plain,
        dead: AtomicU32,
    }

    fn shared() -> Arc<Shared> {
        Arc::new(Shared {
            lock: OwnedLock::new(),
            value: Plain::new(0),
            dead: AtomicU32::new(0),
        })
    }

    fn add_one(shared: &Shared) {
        shared.value.write(shared.value.read() + 1);
    }

    /// Whoever is dead says so in `dead` after its last touch.
    fn take(shared: &Shared, me: u32) {
        let is_dead = |holder| shared.dead.load(Ordering::Acquire) == holder;
        shared.lock.take(me, &is_dead);
    }

    #[test]
    fn excludes() {
        loom::model(|| {
            let shared = shared();
            let other = {
                let shared = shared.clone();
                thread::spawn(move || {
                    take(&shared, 2);
                    add_one(&shared);
                    shared.lock.release(2);
                })
            };
            take(&shared, 1);
            add_one(&shared);
            shared.lock.release(1);
            other.join().unwrap();
            take(&shared, 3);
            assert_eq!(shared.value.read(), 2);
        });
    }

    /// One has died with the lock; of the two others exactly one takes it over, and the second waits for that one.
    #[test]
    fn dead_holder_is_followed_by_one() {
        crate::primitive::bounded(|| {
            let shared = shared();
            assert!(shared.lock.try_take(1));
            add_one(&shared);
            shared.dead.store(1, Ordering::Release);
            let heir = {
                let shared = shared.clone();
                thread::spawn(move || {
                    take(&shared, 2);
                    add_one(&shared);
                    shared.lock.release(2);
                })
            };
            take(&shared, 3);
            add_one(&shared);
            shared.lock.release(3);
            heir.join().unwrap();
            take(&shared, 4);
            assert_eq!(shared.value.read(), 3);
        });
    }
}
