//! The times that a queue pair's attributes stand for, and how often a request is tried: for the protocol between hosts, and for
//! requests that their poster executes.

/// Times of the RNR NAK timer field in units of 10 us (IBA table 45); code 0 is the longest.
const RNR_TIMER_10US: [u32; 32] = [
    65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536,
    2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
];

/// How long a requester waits after an RNR NAK with this timer field (5 bits).
pub fn rnr_timer_ns(code: u8) -> u64 {
    u64::from(RNR_TIMER_10US[usize::from(code & 31)]) * 10_000
}

/// The local ACK time-out, 4.096 us · 2^exponent (IBA 9.7.6.1.3); 0 waits for ever.
pub fn ack_timeout_ns(exponent: u8) -> Option<u64> {
    match exponent & 31 {
        0 => None,
        exponent => Some(4096 << exponent),
    }
}

/// `rnr_retry` with this value has no end.
const ENDLESS: u8 = 7;

/// How often a request was tried in vain since it last made progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retries {
    /// Tries that nobody answered in time.
    timeouts: u8,
    /// Tries that found the receiver not ready.
    not_ready: u8,
}

impl Retries {
    /// The request made progress: both counts begin anew.
    pub fn progress(&mut self) {
        *self = Retries::default();
    }

    /// A try was not answered in time, or was lost: whether `retry_cnt` allows another (IBA 9.7.6.1).
    pub fn timed_out(&mut self, retry_count: u8) -> bool {
        let may = self.timeouts < retry_count;
        self.timeouts += u8::from(may);
        may
    }

    /// The receiver was not ready: how long to pause for this timer code, none if `rnr_retry` allows no further try (IBA
    /// 9.7.5.2.8). The request arrived, so the count of those that did not begins anew.
    pub fn receiver_not_ready(&mut self, rnr_retry: u8, timer: u8) -> Option<u64> {
        self.timeouts = 0;
        if rnr_retry != ENDLESS {
            if self.not_ready >= rnr_retry {
                return None;
            }
            self.not_ready += 1;
        }
        Some(rnr_timer_ns(timer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attribute_times() {
        assert_eq!(rnr_timer_ns(0), 655_360_000);
        assert_eq!(rnr_timer_ns(1), 10_000);
        assert_eq!(rnr_timer_ns(12), 640_000);
        assert_eq!(rnr_timer_ns(31), 491_520_000);
        assert_eq!(ack_timeout_ns(0), None);
        assert_eq!(ack_timeout_ns(1), Some(8192));
        assert_eq!(ack_timeout_ns(14), Some(67_108_864));
        assert_eq!(ack_timeout_ns(31), Some(4096 << 31));
    }

    #[test]
    fn tries_are_counted_apart_until_there_is_progress() {
        let mut retries = Retries::default();
        assert_eq!(
            [(); 4].map(|()| retries.timed_out(3)),
            [true, true, true, false]
        );
        // A receiver that answers at all begins the count of time-outs anew.
        assert_eq!(retries.receiver_not_ready(2, 1), Some(10_000));
        assert!(retries.timed_out(1) && !retries.timed_out(1));
        assert_eq!(retries.receiver_not_ready(2, 12), Some(640_000));
        assert_eq!(retries.receiver_not_ready(2, 12), None);
        retries.progress();
        assert_eq!(retries.receiver_not_ready(2, 1), Some(10_000));
        assert!(!Retries::default().timed_out(0));
        assert_eq!(Retries::default().receiver_not_ready(0, 1), None);
    }

    #[test]
    fn seven_tries_of_a_receiver_that_is_not_ready_are_endless() {
        let mut retries = Retries::default();
        for _ in 0..1000 {
            assert_eq!(retries.receiver_not_ready(7, 31), Some(491_520_000));
        }
    }
}
