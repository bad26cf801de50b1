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
    accesses: Count,
    two_phase_accesses: Count,
    aggregated_bytes: Count,
}

const fn none() -> Count {
    Count(AtomicU64::new(0))
}

pub(crate) static COUNTS: Counts = Counts {
    reads: none(),
    writes: none(),
    read_bytes: none(),
    written_bytes: none(),
    accesses: none(),
    two_phase_accesses: none(),
    aggregated_bytes: none(),
};

/// What this process did with files.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// System calls that read and wrote, and the bytes that they moved.
    pub reads: u64,
    pub writes: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
    /// Accesses that the program made, and those of them that went by two phases.
    pub accesses: u64,
    pub two_phase_accesses: u64,
    /// Bytes that this process read or wrote for others.
    pub aggregated_bytes: u64,
}

pub fn counters() -> Counters {
    Counters {
        reads: COUNTS.reads.read(),
        writes: COUNTS.writes.read(),
        read_bytes: COUNTS.read_bytes.read(),
        written_bytes: COUNTS.written_bytes.read(),
        accesses: COUNTS.accesses.read(),
        two_phase_accesses: COUNTS.two_phase_accesses.read(),
        aggregated_bytes: COUNTS.aggregated_bytes.read(),
    }
}

/// The program makes an access.
pub fn count_access() {
    COUNTS.accesses.add(1);
}

/// An access goes by two phases.
pub fn count_two_phase_access() {
    COUNTS.two_phase_accesses.add(1);
}

/// This process moves bytes for others.
pub fn count_aggregated(bytes: u64) {
    COUNTS.aggregated_bytes.add(bytes);
}
