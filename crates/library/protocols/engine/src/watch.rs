//! The threads that sleep, and which of them watches the doorbell.

use parking_lot::{Mutex, MutexGuard};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::waiter::Waiter;

/// What a thread that wants to sleep does.
pub(crate) enum SleepRole {
    /// It is the watcher from here on.
    Watcher,
    /// It parks, and is woken like the others.
    Parked,
    /// It parks, and rings the doorbell first: the background thread, which watches, is to leave (`background.rs`).
    PromisedWatch,
}

/// The threads that sleep: rules 2 and 3 of `wait.rs`.
#[derive(Default)]
pub(crate) struct Watch {
    sleepers: Mutex<Sleepers>,
    /// How often a thread slept.
    pub sleeps: AtomicU64,
    /// How often the background thread woke.
    pub background_wakes: AtomicU64,
    /// Threads that have waited for some turns.
    pub waiting: AtomicU32,
    /// Threads that sleep, as one may before it has waited for so many.
    asleep: AtomicU32,
    /// Those that are to look again after each ring (rule 3).
    pub outside: Mutex<Vec<Arc<Waiter>>>,
    /// What those wait for, as far as they say.
    pub notes: Mutex<Vec<(Arc<Waiter>, String)>>,
}

impl Watch {
    fn sleepers(&self) -> MutexGuard<'_, Sleepers> {
        self.sleepers.lock()
    }

    /// A thread of the program's wants to sleep.
    pub fn join(&self, parker: &Arc<Waiter>) -> SleepRole {
        let mut sleepers = self.sleepers();
        if !sleepers.watched {
            sleepers.watched = true;
            return SleepRole::Watcher;
        }
        sleepers.parked.push(parker.clone());
        match sleepers.is_background {
            true => SleepRole::PromisedWatch,
            false => SleepRole::Parked,
        }
    }

    /// The background thread wants to sleep. True if it is the watcher from here on; else it is to park, and is woken when the
    /// watcher leaves.
    pub fn join_in_background(&self, waiter: &Arc<Waiter>) -> bool {
        let mut sleepers = self.sleepers();
        if sleepers.watched {
            sleepers.background = Some(waiter.clone());
            return false;
        }
        sleepers.watched = true;
        sleepers.is_background = true;
        true
    }

    /// Whether a thread is parked.
    pub fn is_anybody_parked(&self) -> bool {
        !self.sleepers().parked.is_empty()
    }

    #[cfg(test)]
    pub fn is_watched_in_background(&self) -> bool {
        self.sleepers().is_background
    }

    /// Whether a thread watches the doorbell.
    pub fn is_watched(&self) -> bool {
        self.sleepers().watched
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
        sleepers.is_background = false;
        sleepers.wake_next();
        if let Some(background) = sleepers.background.take() {
            background.tell();
        }
    }

    pub fn wake_outside(&self) {
        let parkers = std::mem::take(&mut *self.outside.lock());
        parkers.iter().for_each(|parker| parker.tell());
    }

    /// A thread sleeps, until what is returned is dropped.
    pub fn sleeping(&self) -> Sleeping<'_> {
        self.asleep.fetch_add(1, Ordering::Relaxed);
        Sleeping(self)
    }

    pub fn waiters(&self) -> u32 {
        let [waiting, asleep] = [&self.waiting, &self.asleep];
        waiting
            .load(Ordering::Relaxed)
            .max(asleep.load(Ordering::Relaxed))
    }
}

pub(crate) struct Sleeping<'a>(&'a Watch);

impl Drop for Sleeping<'_> {
    fn drop(&mut self) {
        self.0.asleep.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Default)]
struct Sleepers {
    watched: bool,
    /// Whether the watcher is the background thread.
    is_background: bool,
    /// The background thread, parked until the watcher leaves.
    background: Option<Arc<Waiter>>,
    parked: Vec<Arc<Waiter>>,
}

impl Sleepers {
    fn wake_next(&mut self) {
        if let Some(parker) = self.parked.pop() {
            parker.tell();
        }
    }
}
