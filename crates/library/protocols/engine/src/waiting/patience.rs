//! How long one that waits for a message waits before it asks, and between two times that it asks (`enquiring.rs`).
//!
//! By a clock that runs while the process makes progress ([`ProgressClock`]): of a time in which the program
//! computed, it counts no more than a pause.

use std::time::{Duration, Instant};

use weft_transport::LONGEST_SLEEP_MS;
use weft_transport::progress_clock::ProgressClock;

/// Between two looks at what has been waited for, whether it still comes: as often as a thread that sleeps looks at
/// anything.
pub const LOOK_EVERY: Duration = Duration::from_millis(LONGEST_SLEEP_MS as u64);
/// The longest time between two.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// When a thread that waits asks next.
pub struct Patience {
    clock: ProgressClock,
    pause: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            clock: ProgressClock::default(),
            pause: LOOK_EVERY,
        }
    }
}

impl Patience {
    /// The thread looks. Whether it is to ask now; the time is counted from the first look.
    pub fn is_over(&mut self, now: Instant) -> bool {
        // The clock takes a quarter of its limit for the longest step.
        self.clock.look(4 * self.pause, now);
        if self.clock.time() < self.pause {
            return false;
        }
        self.pause = LONGEST_PAUSE.min(2 * self.pause);
        self.clock = ProgressClock::default();
        self.clock.look(4 * self.pause, now);
        true
    }

    /// How long the thread may sleep before it looks again.
    pub(crate) fn pause(&self) -> Duration {
        self.pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The times of the looks, `every` apart, in which it asked.
    fn asks(patience: &mut Patience, begin: Instant, every: Duration, looks: u32) -> Vec<Duration> {
        let times = (0..looks).map(|look| look * every);
        times
            .filter(|&time| patience.is_over(begin + time))
            .collect()
    }

    #[test]
    fn one_that_looks_all_the_time_asks_after_twice_as_long_each_time() {
        let every = LOOK_EVERY / 10;
        let asked = asks(&mut Patience::default(), Instant::now(), every, 1000);
        let pauses = asked.windows(2).map(|pair| pair[1] - pair[0]);
        assert_eq!(asked[0], LOOK_EVERY);
        assert!(pauses.eq((1..asked.len() as u32).map(|times| LOOK_EVERY * 2u32.pow(times))));
        assert!(asked.len() > 5);
    }

    #[test]
    fn the_pauses_have_a_limit() {
        let asked = asks(&mut Patience::default(), Instant::now(), LOOK_EVERY, 10_000);
        let last = &asked[asked.len() - 2..];
        assert_eq!(last[1] - last[0], LONGEST_PAUSE);
    }

    /// It is not asked for each hour that the program computed.
    #[test]
    fn time_outside_counts_for_no_more_than_a_pause() {
        let (mut patience, begin) = (Patience::default(), Instant::now());
        assert!(!patience.is_over(begin));
        assert!(!patience.is_over(begin + LOOK_EVERY / 2));
        let hour = Duration::from_secs(3600);
        assert!(patience.is_over(begin + hour));
        assert!(!patience.is_over(begin + hour + LOOK_EVERY));
        assert!(patience.is_over(begin + 2 * hour));
        // The fourth pause is 2 s, which is more than a clock runs on by one look.
        assert!(patience.is_over(begin + 3 * hour));
        assert_eq!(asks(&mut patience, begin + 4 * hour, hour, 12).len(), 3);
    }
}
