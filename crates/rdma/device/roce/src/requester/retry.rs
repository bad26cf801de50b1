//! When to try again, and how often.
//!
//! Three clocks, of which at most two run: the pause after an RNR NAK; or, while anything is in flight, the
//! time-out of the queue pair, which costs a retry, and before it *probes*, which cost nothing: after a few round
//! trips of silence what is oldest is sent again, each time after twice as long. The end of a burst that
//! was lost, or its acknowledgement, so costs milliseconds and not the time-out.

use crate::timing::{Retries, ack_timeout_ns};

/// No acknowledgement is waited for less than this: thread wake-ups take that long, and the specification lets a
/// time-out be up to four times its nominal value or a device's own least one.
const LEAST_TIMEOUT_NS: u64 = 500_000;
const FIRST_PROBE_NS: u64 = 20_000_000;
const LEAST_PROBE_NS: u64 = 2_000_000;
const MOST_PROBE_NS: u64 = 1_000_000_000;

#[derive(Debug)]
pub(super) struct Retry {
    timeout_ns: Option<u64>,
    retry_count: u8,
    rnr_retry: u8,
    retries: Retries,
    silence: Option<Silence>,
    paused_until: Option<u64>,
    /// A position that was sent once, and when.
    sample: Option<(u64, u64)>,
    round_trip_ns: Option<u64>,
}

#[derive(Debug)]
struct Silence {
    since: u64,
    probe_at: u64,
    probe_gap: u64,
}

/// What a deadline that has passed asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Expiry {
    Nothing,
    Probe,
    Timeout,
}

impl Retry {
    pub fn new(timeout: u8, retry_count: u8, rnr_retry: u8) -> Retry {
        Retry {
            timeout_ns: ack_timeout_ns(timeout).map(|ns| ns.max(LEAST_TIMEOUT_NS)),
            retry_count,
            rnr_retry,
            retries: Retries::default(),
            silence: None,
            paused_until: None,
            sample: None,
            round_trip_ns: None,
        }
    }

    /// Something was sent; `first` if never before.
    pub fn sent(&mut self, now: u64, position: u64, first: bool) {
        if self.silence.is_none() {
            self.silence = Some(self.listen(now));
        }
        if first && self.sample.is_none() {
            self.sample = Some((position, now));
        }
    }

    /// Everything before this position is done; `waiting` if not all that was sent is.
    pub fn progress(&mut self, now: u64, acknowledged: u64, waiting: bool) {
        self.retries.progress();
        if let Some((position, sent_at)) = self.sample
            && position < acknowledged
        {
            self.sample = None;
            let measured = now.saturating_sub(sent_at);
            self.round_trip_ns = Some(match self.round_trip_ns {
                Some(smoothed) => smoothed - smoothed / 8 + measured / 8,
                None => measured,
            });
        }
        self.silence = waiting.then(|| self.listen(now));
    }

    fn listen(&self, now: u64) -> Silence {
        let probe_gap = self.round_trip_ns.map_or(FIRST_PROBE_NS, |round_trip| {
            (4 * round_trip).clamp(LEAST_PROBE_NS, MOST_PROBE_NS)
        });
        Silence {
            since: now,
            probe_at: now + probe_gap,
            probe_gap,
        }
    }

    /// What is sent again does not measure the round trip.
    pub fn forget_sample(&mut self) {
        self.sample = None;
    }

    /// Takes one retry; false if none is left.
    pub fn spend(&mut self) -> bool {
        self.retries.timed_out(self.retry_count)
    }

    /// The receiver was not ready: pauses for the time of this timer code. False if no retry is left.
    pub fn pause(&mut self, now: u64, code: u8) -> bool {
        let Some(pause) = self.retries.receiver_not_ready(self.rnr_retry, code) else {
            return false;
        };
        self.silence = None;
        self.paused_until = Some(now + pause);
        true
    }

    pub fn is_paused(&self) -> bool {
        self.paused_until.is_some()
    }

    pub fn stop(&mut self) {
        self.silence = None;
        self.paused_until = None;
    }

    pub fn deadline(&self) -> Option<u64> {
        if self.paused_until.is_some() {
            return self.paused_until;
        }
        let silence = self.silence.as_ref()?;
        let timeout = self.timeout_ns.map(|ns| silence.since + ns);
        Some(timeout.map_or(silence.probe_at, |at| at.min(silence.probe_at)))
    }

    pub fn expire(&mut self, now: u64) -> Expiry {
        if self.paused_until.is_some_and(|at| at <= now) {
            self.paused_until = None;
        }
        let since = self.silence.as_ref().map(|silence| silence.since);
        if let (Some(since), Some(timeout_ns)) = (since, self.timeout_ns)
            && since + timeout_ns <= now
        {
            self.silence = Some(self.listen(now));
            return Expiry::Timeout;
        }
        let Some(silence) = &mut self.silence else {
            return Expiry::Nothing;
        };
        if silence.probe_at <= now {
            silence.probe_gap = (silence.probe_gap * 2).min(MOST_PROBE_NS);
            silence.probe_at = now + silence.probe_gap;
            return Expiry::Probe;
        }
        Expiry::Nothing
    }
}
