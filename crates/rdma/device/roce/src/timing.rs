//! The times that a queue pair's attributes stand for.

/// Times of the RNR NAK timer field in units of 10 us (IBA table 45); code 0 is the longest.
const RNR_TIMER_10US: [u32; 32] = [
    65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536,
    2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
];

/// How long a requester waits after an RNR NAK with this timer field (5 bits).
pub fn rnr_timer_ns(code: u8) -> u64 {
    u64::from(RNR_TIMER_10US[usize::from(code & 31)]) * 10_000
}

/// No acknowledgement is waited for less than this: thread wake-ups take that long, and the specification lets a
/// time-out be up to four times its nominal value or a device's own least one.
const LEAST_TIMEOUT_NS: u64 = 500_000;

/// The local ACK time-out, 4.096 us · 2^exponent; 0 waits for ever.
pub fn ack_timeout_ns(exponent: u8) -> Option<u64> {
    match exponent & 31 {
        0 => None,
        exponent => Some((4096u64 << exponent).max(LEAST_TIMEOUT_NS)),
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
        assert_eq!(ack_timeout_ns(1), Some(LEAST_TIMEOUT_NS));
        assert_eq!(ack_timeout_ns(14), Some(67_108_864));
        assert_eq!(ack_timeout_ns(31), Some(4096 << 31));
    }
}
