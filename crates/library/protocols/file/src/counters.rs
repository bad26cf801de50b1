//! What this process has asked of file systems, for its performance variables.

use std::sync::atomic::{AtomicU64, Ordering};

/// A count: any thread adds, any reads; it orders nothing.
#[derive(Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[derive(Default)]
pub(crate) struct Counts {
    pub reads: Count,
    pub writes: Count,
    pub read_bytes: Count,
    pub written_bytes: Count,
}

pub(crate) static COUNTS: Counts = Counts {
    reads: Count(AtomicU64::new(0)),
    writes: Count(AtomicU64::new(0)),
    read_bytes: Count(AtomicU64::new(0)),
    written_bytes: Count(AtomicU64::new(0)),
};

/// System calls that read and wrote, and the bytes that they moved.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    pub reads: u64,
    pub writes: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
}

pub fn counters() -> Counters {
    Counters {
        reads: COUNTS.reads.read(),
        writes: COUNTS.writes.read(),
        read_bytes: COUNTS.read_bytes.read(),
        written_bytes: COUNTS.written_bytes.read(),
    }
}
