//! Whether a process that waits for descriptors has to be rung: Dekker's protocol.
//!
//! The sleeper stores `is_asleep`, then reads `wakes` and looks at what may have come; whoever has something for it leaves that, adds to
//! `wakes`, then reads `is_asleep`, and rings if that is set. All in one total order.

use crate::primitive::{AtomicU32, Ordering, latest};

/// How a process sleeps and is woken. The bell is its user's.
pub struct Slumber {
    is_asleep: AtomicU32,
    wakes: AtomicU32,
}

impl Slumber {
    pub fn new() -> Slumber {
        Slumber {
            is_asleep: AtomicU32::new(0),
            wakes: AtomicU32::new(0),
        }
    }

    /// Before a look at what may have come, after which the caller may sleep: a ticket for that.
    pub fn prepare(&self) -> u32 {
        self.is_asleep.swap(1, Ordering::SeqCst);
        latest(&self.wakes)
    }

    /// Whether nobody has woken the process since the ticket.
    pub fn may_sleep(&self, ticket: u32) -> bool {
        latest(&self.wakes) == ticket
    }

    /// From here on nobody needs to ring.
    pub fn end(&self) {
        self.is_asleep.store(0, Ordering::SeqCst);
    }

    /// There is something for the process. Whether the caller has to ring.
    #[must_use]
    pub fn wake(&self) -> bool {
        self.wakes.fetch_add(1, Ordering::SeqCst);
        latest(&self.is_asleep) != 0
    }
}

impl Default for Slumber {
    fn default() -> Slumber {
        Slumber::new()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn who_sleeps_is_rung_and_a_late_sleep_is_none() {
        let slumber = Slumber::new();
        assert!(!slumber.wake());
        let ticket = slumber.prepare();
        assert!(slumber.may_sleep(ticket));
        assert!(slumber.wake() && !slumber.may_sleep(ticket));
        slumber.end();
        assert!(!slumber.wake());
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::primitive::{Pipe, bounded};
    use std::time::Duration;

    /// A missed ring is a deadlock.
    #[test]
    fn nothing_is_slept_through() {
        bounded(|| {
            let shared = loom::sync::Arc::new((Slumber::new(), AtomicU32::new(0), Pipe::default()));
            let of_waker = shared.clone();
            let waker = loom::thread::spawn(move || {
                let (slumber, left, bell) = &*of_waker;
                left.swap(1, Ordering::SeqCst);
                if slumber.wake() {
                    bell.ring();
                }
            });
            let (slumber, left, bell) = &*shared;
            let ticket = slumber.prepare();
            if latest(left) == 0 && slumber.may_sleep(ticket) {
                bell.wait(Duration::MAX, &[]);
            }
            slumber.end();
            assert_eq!(latest(left), 1, "awake, with nothing to do");
            waker.join().unwrap();
        });
    }
}
