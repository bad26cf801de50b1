//! Whether a peer's host still answers.
//!
//! The kernel's own limit for that (`TCP_USER_TIMEOUT`) also ends a connection whose other end answers that it has no room, once it has
//! had none for so long: as where a process computes, or does not receive a long message yet. So the kernel is asked now and then what it
//! has no answer to, and when it last heard of the other end. Where nothing is under way, its keep-alive finds out.

use std::time::{Duration, Instant};

/// Of one connection.
#[derive(Default)]
pub struct Silence {
    /// Since when something is without an answer, and nothing was heard.
    since: Option<Instant>,
}

impl Silence {
    /// How long the other end's host has been silent by `now`. If something is without an answer, `heard` is how long ago the host was last
    /// heard of; what was sent is no older than the first call that knows of it.
    pub fn lasts(&mut self, now: Instant, heard: Option<Duration>) -> Duration {
        self.since = heard.map(|ago| {
            let heard = now.checked_sub(ago);
            let since = self.since.unwrap_or(now);
            heard.map_or(since, |heard| since.max(heard))
        });
        self.since
            .map_or(Duration::ZERO, |since| now.duration_since(since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn silence_begins_when_something_is_without_an_answer() {
        let (mut silence, begin) = (Silence::default(), Instant::now());
        // Nothing was said for an hour, as nothing was asked.
        assert_eq!(silence.lasts(begin, None), Duration::ZERO);
        let hour = Some(3600 * SECOND);
        assert_eq!(silence.lasts(begin + SECOND, hour), Duration::ZERO);
        assert_eq!(silence.lasts(begin + 4 * SECOND, hour), 3 * SECOND);
        assert_eq!(silence.lasts(begin + 5 * SECOND, None), Duration::ZERO);
        assert_eq!(silence.lasts(begin + 6 * SECOND, hour), Duration::ZERO);
    }

    #[test]
    fn an_answer_ends_it_though_more_is_asked() {
        let (mut silence, begin) = (Silence::default(), Instant::now());
        silence.lasts(begin, Some(SECOND));
        let at = |seconds: u32| begin + seconds * SECOND;
        assert_eq!(silence.lasts(at(9), Some(2 * SECOND)), 2 * SECOND);
        assert_eq!(silence.lasts(at(10), Some(3 * SECOND)), 3 * SECOND);
        assert_eq!(silence.lasts(at(11), Some(Duration::ZERO)), Duration::ZERO);
    }
}
