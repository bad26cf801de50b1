//! What a wake costs here: from the moment when somebody rings until the thread that slept runs.
//!
//! Some 5 us on one machine and some 300 on another, and on each more the longer the core slept. The thread that ends a sleep leaves the time; the one that
//! woke compares. What was left is another process's word: it counts only if it lies within the sleep.

use std::sync::atomic::{AtomicU64, Ordering};

/// Nanoseconds of a wake, smoothed: half of the way up at once, as one that is taken for too cheap puts threads to sleep, and an eighth of the way
/// down, so that one wake that met a core which was taken is soon forgotten.
pub(crate) fn smoothed(known_ns: Option<u64>, wake_ns: u64) -> u64 {
    match known_ns {
        None => wake_ns,
        Some(known) if wake_ns > known => known + (wake_ns - known) / 2,
        Some(known) => known - (known - wake_ns) / 8,
    }
}

/// The wake that ended a sleep, from `slept_at` on, of a thread that runs again: nanoseconds of one clock.
pub(crate) fn wake_of(slept_at: u64, rung_at: u64, now: u64) -> Option<u64> {
    (slept_at..=now).contains(&rung_at).then(|| now - rung_at)
}

/// What a process has seen.
#[derive(Default)]
pub(crate) struct WakeCost {
    /// Nanoseconds, or 0 for none yet. Written by any thread that wakes, read by any that waits; a value that is lost does no harm.
    ns: AtomicU64,
}

impl WakeCost {
    pub fn known_ns(&self) -> Option<u64> {
        Some(self.ns.load(Ordering::Relaxed)).filter(|&ns| ns > 0)
    }

    #[cold]
    pub fn note(&self, wake_ns: u64) {
        let ns = smoothed(self.known_ns(), wake_ns);
        self.ns.store(ns.max(1), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wake_is_counted_from_a_ring_within_the_sleep() {
        assert_eq!(wake_of(100, 150, 170), Some(20));
        assert_eq!(wake_of(100, 99, 170), None);
        assert_eq!(wake_of(100, 171, 170), None);
        assert_eq!(wake_of(100, 0, 170), None);
    }

    #[test]
    fn wakes_are_smoothed_and_outliers_forgotten() {
        let cost = WakeCost::default();
        assert_eq!(cost.known_ns(), None);
        cost.note(8000);
        assert_eq!(cost.known_ns(), Some(8000));
        cost.note(1_008_000);
        assert_eq!(cost.known_ns(), Some(508_000));
        (0..40).for_each(|_| cost.note(8000));
        assert!(
            cost.known_ns()
                .is_some_and(|ns| (8000..11_000).contains(&ns))
        );
    }
}
