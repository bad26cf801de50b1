//! Whether others want the core on which a thread waits.
//!
//! A job knows how many of its ranks share a host's cores. It does not know who else does: other jobs, or containers each of which
//! takes the machine for its own. A thread finds out when it yields its core: if it gets the core back late, somebody ran in
//! between. For a while its process then sleeps instead of spinning: what it waits for may be what the other thread is to send, and
//! a doorbell wakes it within microseconds where the scheduler may let the other run for milliseconds.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use weft_sync::sleep_in_place_of_yield;

/// A yield that takes so long let somebody else run; one that does not is over in a microsecond.
const LATE: Duration = Duration::from_micros(50);
/// How long that is believed.
const BELIEVED: Duration = Duration::from_millis(100);

/// What a process knows of its cores.
pub(crate) struct Crowd {
    begin: Instant,
    /// Until when the cores count as wanted by others, in microseconds after `begin`. Written by any thread that yields, read by any
    /// that waits; a value that is a little old does no harm.
    until_us: AtomicU64,
    /// Whether threads look at the clock when they yield.
    pub is_watched: bool,
}

impl Default for Crowd {
    fn default() -> Crowd {
        Crowd {
            begin: Instant::now(),
            until_us: AtomicU64::new(0),
            is_watched: false,
        }
    }
}

impl Crowd {
    /// Yields the core. True if others want it.
    pub fn yield_core(&self) -> bool {
        if sleep_in_place_of_yield() {
            return false;
        }
        if !self.is_watched {
            std::thread::yield_now();
            return false;
        }
        let before = Instant::now();
        std::thread::yield_now();
        self.note(before.elapsed())
    }

    /// Lets others have the core for as short a time as the kernel can: some 50 us.
    pub fn nap(&self) {
        std::thread::sleep(Duration::from_nanos(1));
    }

    /// Takes down how long a yield took. True if that was late.
    pub fn note(&self, took: Duration) -> bool {
        let is_late = took >= LATE;
        if is_late {
            let until = self.begin.elapsed() + BELIEVED;
            self.until_us
                .store(until.as_micros() as u64, Ordering::Relaxed);
        }
        is_late
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

    #[test]
    fn a_late_yield_is_believed_for_a_while() {
        let mut crowd = Crowd::default();
        assert!(!crowd.note(LATE / 2) && !crowd.is_there());
        assert!(crowd.note(LATE) && crowd.is_there());
        crowd.begin -= 2 * BELIEVED;
        assert!(!crowd.is_there());
    }

    #[test]
    fn nobody_looks_unless_asked_to() {
        let crowd = Crowd::default();
        (0..100).for_each(|_| assert!(!crowd.yield_core()));
        assert!(!crowd.is_there());
    }
}
