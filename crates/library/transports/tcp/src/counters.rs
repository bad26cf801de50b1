//! What a process's lanes count. Each count is written by the holder of its lane alone, and read by anybody.

use std::sync::atomic::{AtomicU64, Ordering};

/// What a process has had to do with the network until now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Connections that stand.
    pub links: u64,
    pub sent_bytes: u64,
    pub received_bytes: u64,
    /// System calls that have sent something.
    pub sends: u64,
    /// System calls that have received something.
    pub receives: u64,
    /// System calls that have looked for something in vain.
    pub idle_calls: u64,
}

/// One lane's.
#[derive(Default)]
pub struct Counts {
    pub links: Count,
    pub sent_bytes: Count,
    pub received_bytes: Count,
    pub sends: Count,
    pub receives: Count,
    pub idle_calls: Count,
}

#[derive(Default)]
pub struct Count(AtomicU64);

impl Count {
    /// By the lane's holder.
    #[inline]
    pub fn add(&self, more: u64) {
        let value = self.0.load(Ordering::Relaxed).wrapping_add(more);
        self.0.store(value, Ordering::Relaxed);
    }

    /// By the lane's holder.
    pub fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    pub fn value(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Counters {
    pub fn add(&mut self, counts: &Counts) {
        self.links += counts.links.value();
        self.sent_bytes += counts.sent_bytes.value();
        self.received_bytes += counts.received_bytes.value();
        self.sends += counts.sends.value();
        self.receives += counts.receives.value();
        self.idle_calls += counts.idle_calls.value();
    }
}
