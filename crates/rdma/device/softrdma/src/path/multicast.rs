//! The multicast groups of UD queue pairs on this host.
//!
//! A queue pair's groups stand in its record in shared memory, two words each; senders look through the records.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::fabric::QpRecord;

/// Groups a queue pair can be in.
pub const MAX_MULTICAST: u32 = 8;

pub fn words(gid: [u8; 16]) -> [u64; 2] {
    let half = |at: usize| u64::from_ne_bytes(std::array::from_fn(|byte| gid[at + byte]));
    [half(0), half(8)]
}

pub fn groups(record: &QpRecord) -> impl Iterator<Item = [&AtomicU64; 2]> {
    let words = record.attributes[..2 * MAX_MULTICAST as usize].chunks_exact(2);
    words.map(|pair| [&pair[0], &pair[1]])
}

pub fn holds([first, second]: [&AtomicU64; 2], gid: [u64; 2]) -> bool {
    first.load(Ordering::Acquire) == gid[0] && second.load(Ordering::Relaxed) == gid[1]
}

/// Whether the queue pair is in the group.
pub fn contains(record: &QpRecord, gid: [u8; 16]) -> bool {
    let gid = words(gid);
    groups(record).any(|group| holds(group, gid))
}

/// Leaves all groups.
pub fn clear(record: &QpRecord) {
    for [first, second] in groups(record) {
        first.store(0, Ordering::Relaxed);
        second.store(0, Ordering::Relaxed);
    }
}
