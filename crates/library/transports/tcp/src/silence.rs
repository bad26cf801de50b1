//! Whether a peer's host still answers.
//!
//! The kernel's own limit for that (`TCP_USER_TIMEOUT`) also ends a connection whose other end answers that it has no room, once it has
//! had none for so long: as where a process computes, or does not receive a long message yet. So the kernel is asked now and then what it
//! has no answer to, and when it last heard of the other end. Where nothing is under way, its keep-alive finds out.

use std::time::{Duration, Instant};

use weft_transport::progress_clock::ProgressClock;

/// Of one connection.
#[derive(Default)]
pub struct Silence {
    /// Since when something is without an answer, and nothing was heard.
    since: Option<Instant>,
    clock: ProgressClock,
}

impl Silence {
    /// Whether the other end's host has been silent for `limit` by `now`. If something is without an answer, `heard` is how long ago the host
    /// was last heard of; what was sent is no older than the first look that knows of it. Nobody knows what was sent and answered in
    /// a gap between two looks, so that the later one begins anew.
    pub fn lasts(&mut self, limit: Duration, now: Instant, heard: Option<Duration>) -> bool {
        if self.clock.look(limit, now) {
            self.since = None;
        }
        self.since = heard.map(|ago| {
            let heard = now.checked_sub(ago);
            let since = self.since.unwrap_or(now);
            heard.map_or(since, |heard| since.max(heard))
        });
        self.since
            .is_some_and(|since| now.duration_since(since) >= limit)
    }

    /// Whether something was without an answer when it was last looked.
    pub fn is_any(&self) -> bool {
        self.since.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const LIMIT: Duration = Duration::from_secs(4);

    /// What each look says, at so many seconds, of a host that was heard of so many seconds before if something is without an answer.
    fn looks<const N: usize>(all: [(u32, Option<u32>); N]) -> [bool; N] {
        let (mut silence, begin) = (Silence::default(), Instant::now());
        all.map(|(at, heard)| {
            let heard = heard.map(|ago| ago * SECOND);
            silence.lasts(LIMIT, begin + at * SECOND, heard)
        })
    }

    #[test]
    fn silence_begins_when_something_is_without_an_answer() {
        // Nothing was said for an hour, as nothing was asked.
        let all = [
            (0, None),
            (1, Some(3600)),
            (3, Some(3602)),
            (4, Some(3603)),
            (5, Some(3604)),
        ];
        assert_eq!(looks(all), [false, false, false, false, true]);
    }

    #[test]
    fn an_answer_ends_it_though_more_is_asked() {
        let all = [
            (0, Some(1)),
            (2, Some(1)),
            (4, Some(3)),
            (5, Some(4)),
            (6, Some(0)),
        ];
        assert_eq!(looks(all), [false, false, false, true, false]);
        let all = [
            (0, Some(1)),
            (2, Some(3)),
            (3, None),
            (4, Some(5)),
            (6, Some(7)),
        ];
        assert_eq!(looks(all), [false; 5]);
    }

    /// It asked, was answered, computed, and asked again: neither look knows of the time between them.
    #[test]
    fn a_process_that_computes_for_long_between_two_looks_takes_nobody_for_silent() {
        let all = [(0, Some(0)), (60, Some(60)), (62, Some(62)), (64, Some(64))];
        assert_eq!(looks(all), [false, false, false, true]);
    }
}
