//! Counts who stands on an object, so that it is not taken away under them.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::call::{Errno, Result, require};

/// How many objects stand on this one. Any thread that makes or destroys one changes it; all orders are relaxed, as a
/// program that destroys an object while it makes another on it has no right to either answer.
#[derive(Debug, Default)]
pub struct UseCount(AtomicU32);

impl UseCount {
    pub fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub fn remove(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    pub fn none(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }

    /// EBUSY while there are any.
    pub fn require_none(&self) -> Result {
        require(self.none(), Errno::EBUSY)
    }
}

/// Stands on an object until it is dropped.
#[derive(Debug)]
pub struct UseGuard(&'static UseCount);

impl UseGuard {
    /// The users' object lives until this is dropped: its destruction is refused before.
    pub fn new(users: &'static UseCount) -> UseGuard {
        users.add();
        UseGuard(users)
    }
}

impl Drop for UseGuard {
    fn drop(&mut self) {
        self.0.remove();
    }
}
