//! The locks of the data path, as mlx5 has them: on the send queue, the receive queue and the completion queue of the one who
//! posts or polls, and on a uUAR. All threads that meet on one are of this process.
//!
//! # Protocol
//! `word` is 0 or 1. Any thread may store 1 by a compare-and-exchange from 0 (acquire); only the thread that did stores 0
//! (release). What a lock guards is touched only between the two. Those who find 1 spin a little, then give up the core,
//! then sleep for moments: the holder may have lost its core in the middle.
//! A lock that was promised to have one thread (`Discipline::Promised`) is only a mark: a second thread that finds it set has
//! broken the promise, and the process ends, as with mlx5.

use std::hint;
use std::process;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// What entering a lock does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    /// Takes it.
    Taken,
    /// Takes nothing: the program promised that one thread at a time comes here. A broken promise ends the process.
    Promised,
    /// Takes nothing and checks nothing: another lock covers it, or it needs none.
    Absent,
}

#[derive(Debug)]
pub struct Lock {
    word: AtomicU32,
    discipline: Discipline,
}

/// Where a lock's figures are written, by the thread that has just taken it.
#[derive(Clone, Copy, Debug)]
pub struct Tally<'a> {
    pub takes: &'a AtomicU64,
    pub contentions: &'a AtomicU64,
}

/// Being inside. Dropping it leaves.
#[derive(Debug)]
#[must_use]
pub struct Held<'a> {
    lock: &'a Lock,
}

/// About 2 us: longer than anything that is done inside when nobody loses a core.
const SPINS: u32 = 64;
/// The round from which on it sleeps.
const FIRST_SLEEP: u32 = 128;
const SLEEP: Duration = Duration::from_micros(50);

impl Lock {
    pub fn new(discipline: Discipline) -> Lock {
        Lock {
            word: AtomicU32::new(0),
            discipline,
        }
    }

    pub fn discipline(&self) -> Discipline {
        self.discipline
    }

    /// Goes inside, and counts where a lock is really taken.
    #[inline]
    pub fn enter(&self, tally: Tally<'_>) -> Held<'_> {
        match self.discipline {
            Discipline::Taken => self.take(tally),
            Discipline::Promised => self.mark(),
            Discipline::Absent => {}
        }
        Held { lock: self }
    }

    #[inline]
    fn take(&self, tally: Tally<'_>) {
        if self.try_take() {
            add(tally.takes, 1);
            return;
        }
        self.wait();
        add(tally.takes, 1);
        add(tally.contentions, 1);
    }

    #[inline]
    fn try_take(&self) -> bool {
        self.word
            .compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    #[cold]
    fn wait(&self) {
        let mut round = 0u32;
        loop {
            if self.word.load(Ordering::Relaxed) == 0 && self.try_take() {
                return;
            }
            match round {
                ..SPINS => hint::spin_loop(),
                SPINS..FIRST_SLEEP => thread::yield_now(),
                _ => thread::sleep(SLEEP),
            }
            round = round.saturating_add(1);
        }
    }

    #[inline]
    fn mark(&self) {
        if self.word.load(Ordering::Acquire) != 0 {
            broken_promise();
        }
        self.word.store(1, Ordering::Relaxed);
    }
}

impl Drop for Held<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.lock.discipline != Discipline::Absent {
            self.lock.word.store(0, Ordering::Release);
        }
    }
}

/// Adds to a figure that has one writer at a time, whom a lock or the program's promise chooses; readers are anywhere and
/// take it as it stands, so no ordering is needed.
#[inline]
pub(super) fn add(figure: &AtomicU64, more: u64) {
    figure.store(
        figure.load(Ordering::Relaxed).wrapping_add(more),
        Ordering::Relaxed,
    );
}

#[cold]
fn broken_promise() -> ! {
    eprintln!(
        "softrdma: two threads at once on an object that was promised to one (MLX5_SINGLE_THREADED=1, a thread domain, or \
         a single-threaded completion queue)"
    );
    process::abort();
}
