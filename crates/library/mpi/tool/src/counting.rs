//! What a handle of a performance variable counts (MPI-5.0 §15.3.7): the counts themselves never stop and are never changed.

use std::collections::BTreeMap;

use super::variables::{ALL, Reading, Variable};

/// A session's handles.
pub(super) type Handles = BTreeMap<u64, Bound>;

/// What a handle stands for.
pub(super) struct Bound {
    pub index: usize,
    /// Counted while it ran before, or written.
    pub total: u64,
    /// While it is running: the count from which it counts.
    pub since: Option<u64>,
}

impl Bound {
    pub fn variable(&self) -> &'static Variable {
        &ALL[self.index]
    }

    fn now(&self, reading: &Reading) -> u64 {
        self.variable().of(reading)
    }

    pub fn value(&self, reading: &Reading) -> u64 {
        if self.variable().is_continuous() {
            return self.now(reading);
        }
        let running = self
            .since
            .map(|since| self.now(reading).wrapping_sub(since));
        self.total.wrapping_add(running.unwrap_or(0))
    }

    pub fn start(&mut self, reading: &Reading) {
        self.since = self.since.or(Some(self.now(reading)));
    }

    pub fn stop(&mut self, reading: &Reading) {
        self.total = self.value(reading);
        self.since = None;
    }

    pub fn write(&mut self, value: u64, reading: &Reading) {
        self.total = value;
        self.since = self.since.map(|_| self.now(reading));
    }
}
