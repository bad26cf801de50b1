//! Locks in segments: `weft_sync::OwnedLock` with the fabric's knowledge of who is dead.
//!
//! A process that takes a lock over finds what it guards as the dead left it: at some point of the program order of its last
//! holder, since a process dies between two instructions and the kernel's word that it is dead comes after its last store.
//! So each structure that has such a lock either changes by single stores, or has an *intent*, which the holder sets
//! before the first of several steps and clears after the last. A process that takes the lock and finds an intent set completes
//! or undoes the steps before anything else. Steps are release stores, so that the compiler keeps their order.

use std::hint::spin_loop;
use std::time::{Duration, Instant};

use weft_sync::OwnedLock;

use super::mapping::Shared;
use super::numbers::Owner;
use super::processes::Processes;

/// The lock; zeros are a free one.
#[repr(transparent)]
pub struct SharedLock(OwnedLock);

// SAFETY: one atomic integer.
unsafe impl Shared for SharedLock {}

/// The lock was not to be had within the time: try again later, from a thread that may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy;

/// What a poster can spend on a lock whose holder has lost its core, before it leaves the matter to the agent thread.
pub const POSTING: Duration = Duration::from_micros(50);

/// What a thread that nobody waits for can spend on one.
pub const PATIENT: Duration = Duration::from_secs(5);

/// Holders are at it for less than this unless they lost their core.
const SPIN: Duration = Duration::from_micros(2);

/// Sleeps are short, as the dead wake nobody.
const SLEEP: Duration = Duration::from_millis(1);

/// The lock, held.
pub struct Held<'a> {
    lock: &'a SharedLock,
    owner: Owner,
}

impl Drop for Held<'_> {
    #[inline]
    fn drop(&mut self) {
        self.lock.0.release(self.owner.word());
    }
}

impl SharedLock {
    /// Takes it, waiting up to `patience`.
    #[inline]
    pub fn take(&self, processes: &Processes, patience: Duration) -> Result<Held<'_>, Busy> {
        let owner = processes.me();
        if self.0.try_take(owner.word()) {
            Ok(self.held(owner))
        } else {
            self.wait(processes, patience)
        }
    }

    fn held(&self, owner: Owner) -> Held<'_> {
        Held { lock: self, owner }
    }

    #[cold]
    fn wait(&self, processes: &Processes, patience: Duration) -> Result<Held<'_>, Busy> {
        let owner = processes.me();
        let begin = Instant::now();
        while begin.elapsed() < SPIN {
            for _ in 0..16 {
                spin_loop();
            }
            if self.0.try_take(owner.word()) {
                return Ok(self.held(owner));
            }
        }
        let mut slept = false;
        loop {
            let holder = self.0.holder();
            // A word that names no process was scribbled: nobody will ever release it.
            let dead = holder != 0
                && Owner::from_word(holder).is_none_or(|holder| !processes.alive(holder));
            if dead && self.0.take_over(holder, owner.word()) {
                return Ok(self.held(owner));
            }
            let took = if slept {
                self.0.try_take_after_sleep(owner.word())
            } else {
                self.0.try_take(owner.word())
            };
            if took {
                return Ok(self.held(owner));
            }
            let waited = begin.elapsed();
            if waited >= patience {
                return Err(Busy);
            }
            if waited < 10 * SPIN {
                weft_sync::yield_now();
            } else {
                self.0.sleep(self.0.holder(), SLEEP.min(patience - waited));
                slept = true;
            }
        }
    }
}
