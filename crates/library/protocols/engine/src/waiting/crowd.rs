//! Whether others want the core on which a thread waits.
//!
//! A job knows how many of its ranks share a host's cores. It does not know who else does: other jobs, or containers each of which
//! takes the machine for its own. A thread finds out when it yields its core: if it gets the core back late, somebody ran in
//! between. Once may be the kernel, or a hypervisor; where it happens again soon, the process sleeps for a while instead of spinning:
//! what it waits for may be what the other thread is to send, and a doorbell wakes it within microseconds where the scheduler may
//! let the other run for milliseconds. The library's own background thread is nobody else.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use weft_sync::sleep_in_place_of_yield;

/// A yield that takes so long let somebody else run; one that does not is over in a microsecond.
const LATE: Duration = Duration::from_micros(50);
/// So soon after a late yield another one is believed.
const AGAIN: Duration = Duration::from_millis(250);
/// For how long.
const BELIEVED: Duration = Duration::from_millis(100);

/// What a process knows of its cores.
pub(crate) struct Crowd {
    begin: Instant,
    /// When a yield was late last, and until when the cores count as wanted by others, in microseconds after `begin`; 0 for never.
    /// Written by any thread that yields, read by any that waits; a value that is a little old does no harm.
    late_us: AtomicU64,
    until_us: AtomicU64,
    /// Whether threads look at the clock when they yield.
    pub is_watched: bool,
}

impl Default for Crowd {
    fn default() -> Crowd {
        Crowd {
            begin: Instant::now(),
            late_us: AtomicU64::new(0),
            until_us: AtomicU64::new(0),
            is_watched: false,
        }
    }
}

impl Crowd {
    /// Yields the core. True if somebody else had it meanwhile. `own` counts the background thread's wakes.
    pub fn yield_core(&self, own: &AtomicU64) -> bool {
        if sleep_in_place_of_yield() {
            return false;
        }
        if !self.is_watched {
            std::thread::yield_now();
            return false;
        }
        let own_wakes = own.load(Ordering::Relaxed);
        let before = Instant::now();
        std::thread::yield_now();
        let is_late = before.elapsed() >= LATE && own.load(Ordering::Relaxed) == own_wakes;
        if is_late {
            self.note();
        }
        is_late
    }

    /// Lets others have the core for as short a time as the kernel can: some 50 us.
    pub fn nap(&self) {
        std::thread::sleep(Duration::from_nanos(1));
    }

    /// A yield was late.
    pub fn note(&self) {
        let now = self.begin.elapsed();
        let now_us = now.as_micros() as u64;
        let last_us = self.late_us.swap(now_us, Ordering::Relaxed);
        if last_us != 0 && now_us.saturating_sub(last_us) < AGAIN.as_micros() as u64 {
            let until_us = (now + BELIEVED).as_micros() as u64;
            self.until_us.store(until_us, Ordering::Relaxed);
        }
    }

    /// Whether others wanted the cores a moment ago.
    pub fn is_there(&self) -> bool {
        let until_us = self.until_us.load(Ordering::Relaxed);
        until_us != 0 && (self.begin.elapsed().as_micros() as u64) < until_us
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A crowd that began so long ago.
    fn begun(ago: Duration) -> Crowd {
        let mut crowd = Crowd::default();
        crowd.begin -= ago;
        crowd
    }

    #[test]
    fn a_late_yield_that_is_not_the_first_is_believed_for_a_while() {
        let mut crowd = begun(AGAIN);
        crowd.note();
        assert!(!crowd.is_there());
        crowd.note();
        assert!(crowd.is_there());
        crowd.begin -= BELIEVED;
        assert!(!crowd.is_there());
        crowd.note();
        assert!(crowd.is_there());
    }

    #[test]
    fn late_yields_that_are_far_apart_are_not_believed() {
        let mut crowd = begun(AGAIN);
        for _ in 0..4 {
            crowd.note();
            assert!(!crowd.is_there());
            crowd.begin -= AGAIN;
        }
    }

    #[test]
    fn nobody_looks_unless_asked_to() {
        let crowd = Crowd::default();
        (0..100).for_each(|_| assert!(!crowd.yield_core(&AtomicU64::new(0))));
        assert!(!crowd.is_there());
    }
}
