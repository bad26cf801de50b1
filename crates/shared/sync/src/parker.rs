//! One thread sleeps, others wake it.

use crate::primitive::{Ordering, SleepWord};
use std::time::Duration;

const EMPTY: u32 = 0;
const NOTIFIED: u32 = 1;
const PARKED: u32 = u32::MAX;

/// A place where one thread at a time sleeps until another calls [`unpark`](Parker::unpark). A token is
/// kept: an `unpark` before the `park` makes that `park` return at once.
///
/// The word is EMPTY, NOTIFIED (a token waits) or PARKED (the owner sleeps or is about to). The owner steps
/// down by one on its way in and takes the token on its way out; wakers write NOTIFIED, and the one that
/// finds PARKED wakes.
pub struct Parker {
    word: SleepWord,
}

impl Parker {
    pub fn new() -> Parker {
        Parker {
            word: SleepWord::new(EMPTY),
        }
    }

    /// Sleeps until a token is there and takes it. False if `timeout` passed without one.
    pub fn park(&self, timeout: Option<Duration>) -> bool {
        // From NOTIFIED to EMPTY, or from EMPTY to PARKED.
        if self.word.fetch_sub(1, Ordering::AcqRel) == NOTIFIED {
            return true;
        }
        loop {
            let in_time = self.word.wait(PARKED, timeout);
            if !in_time {
                return self.word.swap(EMPTY, Ordering::AcqRel) == NOTIFIED;
            }
            if self
                .word
                .compare_exchange(NOTIFIED, EMPTY, Ordering::AcqRel, Ordering::Acquire)
                .is_ok()
            {
                return true;
            }
        }
    }

    /// Leaves a token and wakes the sleeper.
    pub fn unpark(&self) {
        if self.word.swap(NOTIFIED, Ordering::AcqRel) == PARKED {
            self.word.wake();
        }
    }
}

impl Default for Parker {
    fn default() -> Parker {
        Parker::new()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn token_is_kept_once() {
        let parker = Parker::new();
        parker.unpark();
        parker.unpark();
        assert!(parker.park(None));
        assert!(!parker.park(Some(Duration::from_millis(1))));
    }

    #[test]
    fn wakes_the_sleeper() {
        let parker = Parker::new();
        std::thread::scope(|scope| {
            scope.spawn(|| assert!(parker.park(None)));
            std::thread::sleep(Duration::from_millis(5));
            parker.unpark();
        });
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::primitive::AtomicU32;
    use loom::sync::Arc;

    #[test]
    fn no_wakeup_is_lost() {
        loom::model(|| {
            let shared = Arc::new((Parker::new(), AtomicU32::new(0)));
            let waker = {
                let shared = shared.clone();
                loom::thread::spawn(move || {
                    shared.1.store(1, Ordering::Relaxed);
                    shared.0.unpark();
                })
            };
            assert!(shared.0.park(None));
            assert_eq!(shared.1.load(Ordering::Relaxed), 1);
            waker.join().unwrap();
        });
    }
}
