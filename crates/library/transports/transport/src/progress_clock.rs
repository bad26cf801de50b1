//! What time counts against a peer: that in which this process looks at what it awaits of it.
//!
//! A process that computes outside MPI looks at nobody. What its peers say meanwhile waits in the kernel, and what it has to say itself
//! to go on with a handshake is not said. So that time is nobody's fault, however long it is. Each thing that may give up a peer once
//! it has lasted for too long has a clock of its own, which runs while somebody looks at that thing.
//!
//! # Rules
//! 1. Whoever makes progress *looks*: does what can be done now, and has the clock run on by the time since the look before, but by no
//!    more than a [`LONGEST_STEP`].
//! 2. A time between two looks that is longer than half of the limit is a *gap*. What was tried before it may have failed because
//!    nobody looked, and proves nothing.
//! 3. While the peer's host answers, and the peer itself does not, the clock stands: the peer computes.
//! 4. So a peer is given up once the clock has run for the limit, and a try has failed that began after the last gap.
//!
//! Pauses between tries, and when the next address is tried beside one that is slow, give nobody up: they go by the usual time.

use std::time::{Duration, Instant};

/// The most that a clock runs on by one look, where the limit is not so short that a quarter of it is less. A thread that waits looks
/// every 250 ms at least, its longest sleep, unless others keep it from the processor for seconds.
const LONGEST_STEP: Duration = Duration::from_secs(2);

/// How long somebody has looked at something.
#[derive(Clone, Debug, Default)]
pub struct ProgressClock {
    looked: Option<Instant>,
    time: Duration,
    /// There was a gap since the present try began.
    is_interrupted: bool,
}

impl ProgressClock {
    /// Somebody looks. True after a gap.
    pub fn look(&mut self, limit: Duration, now: Instant) -> bool {
        let looked = self.looked.replace(now).unwrap_or(now);
        let step = now.saturating_duration_since(looked);
        self.time += step.min(LONGEST_STEP).min(limit / 4);
        let is_gap = step > limit / 2;
        self.is_interrupted |= is_gap;
        is_gap
    }

    /// As [`look`](Self::look), of what is one try for as long as it lasts: it begins anew with a gap.
    pub fn look_at_one_try(&mut self, limit: Duration, now: Instant) {
        if self.look(limit, now) {
            (self.time, self.is_interrupted) = (Duration::ZERO, false);
        }
    }

    /// As [`look`](Self::look), at a try that the peer's host answers.
    pub fn look_at_answered(&mut self, limit: Duration, now: Instant) {
        let time = self.time;
        self.look(limit, now);
        self.time = time;
    }

    /// Another try begins.
    pub fn try_again(&mut self) {
        self.is_interrupted = false;
    }

    /// For how long somebody has looked.
    pub fn time(&self) -> Duration {
        self.time
    }

    /// Whether the limit has passed, and the present try counts.
    pub fn is_over(&self, limit: Duration) -> bool {
        self.time >= limit && !self.is_interrupted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const HOUR: Duration = Duration::from_secs(3600);
    const LIMIT: Duration = Duration::from_secs(30);

    /// A clock, and the time that it is told.
    struct Timed(ProgressClock, Instant);

    impl Timed {
        fn new() -> Timed {
            let (mut clock, now) = (ProgressClock::default(), Instant::now());
            clock.look(LIMIT, now);
            Timed(clock, now)
        }

        fn look_after(&mut self, pause: Duration) -> bool {
            self.1 += pause;
            self.0.look(LIMIT, self.1)
        }
    }

    #[test]
    fn who_looks_all_the_time_waits_for_the_limit() {
        for pause in [SECOND / 20, SECOND / 4, 2 * SECOND] {
            let mut timed = Timed::new();
            let begin = timed.1;
            while !timed.0.is_over(LIMIT) {
                assert!(!timed.look_after(pause));
            }
            assert!((LIMIT..=LIMIT + pause).contains(&(timed.1 - begin)));
        }
    }

    #[test]
    fn who_computes_for_hours_gives_up_nobody_without_another_try() {
        let mut timed = Timed::new();
        for _ in 0..100 {
            assert!(timed.look_after(HOUR));
            assert!(!timed.0.is_over(LIMIT));
        }
        // The limit has passed, an hour's gaps count too; but it is tried once more.
        assert!(timed.0.time() >= LIMIT);
        timed.0.try_again();
        assert!(timed.0.is_over(LIMIT));
    }

    /// It calls MPI every ten seconds: there are at least as many tries as its steps allow.
    #[test]
    fn long_pauses_count_little() {
        let mut timed = Timed::new();
        let looks = (1..).find(|_| {
            timed.look_after(10 * SECOND);
            timed.0.is_over(LIMIT)
        });
        assert_eq!(looks, Some(15));
    }

    #[test]
    fn a_host_that_answers_is_waited_for() {
        let mut timed = Timed::new();
        for _ in 0..3600 {
            timed.1 += SECOND;
            timed.0.look_at_answered(LIMIT, timed.1);
        }
        assert_eq!(timed.0.time(), Duration::ZERO);
    }

    #[test]
    fn one_try_begins_anew_with_a_gap() {
        let mut timed = Timed::new();
        timed.look_after(2 * SECOND);
        timed.1 += HOUR;
        timed.0.look_at_one_try(LIMIT, timed.1);
        assert_eq!(timed.0.time(), Duration::ZERO);
        (0..15).for_each(|_| _ = timed.look_after(2 * SECOND));
        assert!(timed.0.is_over(LIMIT));
    }
}
