//! The threads that sleep, and which of them watches the doorbell.

use parking_lot::{Mutex, MutexGuard};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::waiter::Waiter;

/// The threads that sleep: rules 2 and 3 of `wait.rs`.
#[derive(Default)]
pub(crate) struct Watch {
    sleepers: Mutex<Sleepers>,
    /// How often a thread slept.
    pub sleeps: AtomicU64,
    /// Threads that have waited for some turns.
    pub waiting: AtomicU32,
    /// Those that are to look again after each ring (rule 3).
    pub outside: Mutex<Vec<Arc<Waiter>>>,
    /// What those wait for, as far as they say.
    pub notes: Mutex<Vec<(Arc<Waiter>, String)>>,
}

impl Watch {
    fn sleepers(&self) -> MutexGuard<'_, Sleepers> {
        self.sleepers.lock()
    }

    /// True if the caller is the watcher from here on; else it is to park.
    pub fn join(&self, parker: &Arc<Waiter>) -> bool {
        let mut sleepers = self.sleepers();
        if sleepers.watched {
            sleepers.parked.push(parker.clone());
            return false;
        }
        sleepers.watched = true;
        true
    }

    /// After parking. A thread that finds no watcher may have been woken to become it: unless its wait is over it does,
    /// and else wakes the next. True if the caller is the watcher from here on.
    pub fn rejoin(&self, parker: &Arc<Waiter>, met: bool) -> bool {
        let mut sleepers = self.sleepers();
        sleepers.parked.retain(|other| !Arc::ptr_eq(other, parker));
        if sleepers.watched {
            return false;
        }
        if !met {
            sleepers.watched = true;
            return true;
        }
        sleepers.wake_next();
        false
    }

    /// The watcher leaves: one of the parked is to take its place.
    pub fn leave(&self) {
        let mut sleepers = self.sleepers();
        sleepers.watched = false;
        sleepers.wake_next();
    }

    pub fn wake_outside(&self) {
        let parkers = std::mem::take(&mut *self.outside.lock());
        parkers.iter().for_each(|parker| parker.tell());
    }

    pub fn waiters(&self) -> u32 {
        self.waiting.load(Ordering::Relaxed)
    }
}

#[derive(Default)]
struct Sleepers {
    watched: bool,
    parked: Vec<Arc<Waiter>>,
}

impl Sleepers {
    fn wake_next(&mut self) {
        if let Some(parker) = self.parked.pop() {
            parker.tell();
        }
    }
}
