//! When something happened, left by one process for another.
//!
//! It orders nothing and nothing depends on it: whoever reads it checks that it can be true. So it is no word of any protocol here.

use std::sync::atomic::{AtomicU64, Ordering};

/// Nanoseconds of the clock that all processes of a host share, but for those in time namespaces of their own (CLOCK_MONOTONIC).
pub fn now_ns() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is writable.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Such a moment, or 0 for none.
#[derive(Default)]
#[repr(transparent)]
pub struct Stamp(AtomicU64);

impl Stamp {
    pub const fn new() -> Stamp {
        Stamp(AtomicU64::new(0))
    }

    pub fn clear(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Now, unless somebody was first.
    pub fn leave(&self) {
        if self.0.load(Ordering::Relaxed) == 0 {
            self.0.store(now_ns(), Ordering::Relaxed);
        }
    }

    /// What was left, if anything was.
    pub fn left(&self) -> Option<u64> {
        Some(self.0.load(Ordering::Relaxed)).filter(|&at| at != 0)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_first_counts() {
        let (stamp, before) = (Stamp::new(), now_ns());
        assert_eq!(stamp.left(), None);
        stamp.leave();
        let first = stamp.left();
        assert!(first.is_some_and(|at| (before..=now_ns()).contains(&at)));
        stamp.leave();
        assert_eq!(stamp.left(), first);
        stamp.clear();
        assert_eq!(stamp.left(), None);
    }
}
