//! The locks of the data path, as mlx5 has them: on the send queue, the receive queue and the completion queue of the one who
//! posts or polls, and on a uUAR. All threads that meet on one are of this process.
//!
//! A lock that was promised to have one thread (`Discipline::Promised`) is only a mark: a second thread that finds it set has
//! broken the promise, and the process ends, as with mlx5.

use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use weft_sync::SpinLock;

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
    lock: SpinLock,
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

impl Lock {
    pub fn new(discipline: Discipline) -> Lock {
        Lock {
            lock: SpinLock::new(),
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
            Discipline::Promised if !self.lock.mark() => broken_promise(),
            Discipline::Promised => {}
            Discipline::Absent => {}
        }
        Held { lock: self }
    }

    #[inline]
    fn take(&self, tally: Tally<'_>) {
        let contended = self.lock.take();
        add(tally.takes, 1);
        if contended {
            add(tally.contentions, 1);
        }
    }
}

impl Drop for Held<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.lock.discipline != Discipline::Absent {
            self.lock.lock.leave();
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
