//! How many operations use a communicator, and whether the program has freed it.

use std::sync::atomic::{AtomicU32, Ordering};

/// How many operations use it; the top bit once it is freed.
#[derive(Debug, Default)]
pub(super) struct References(AtomicU32);

const FREED: u32 = 1 << 31;

impl References {
    pub fn enter(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether this was the last one of a freed communicator; what the others did with the numbers is over.
    pub fn leave(&self) -> bool {
        self.0.fetch_sub(1, Ordering::AcqRel) == FREED | 1
    }

    /// The program has freed it. Whether no operation uses it.
    pub fn free(&self) -> bool {
        self.0.fetch_or(FREED, Ordering::AcqRel) == 0
    }
}
