//! The two clocks: one that counts on for timers, and the system's time for completions.

use std::time::Duration;

fn read(clock: libc::clockid_t) -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is writable. Both clocks exist on every Linux.
    unsafe { libc::clock_gettime(clock, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Does not go back.
pub fn monotonic_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// The system's time since 1970: completion timestamps, and the adapter's raw clock.
pub fn nanoseconds() -> u64 {
    read(libc::CLOCK_REALTIME)
}

/// The earlier of two times, if there are any.
pub fn earliest(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// The time-out of a queue pair: 4.096 us times a power of two, none for 0 (InfiniBand Architecture 1.6, §9.7.6.1.3).
pub fn ack_timeout(code: u8) -> Option<Duration> {
    match code & 31 {
        0 => None,
        code => Some(Duration::from_nanos(4096 << code)),
    }
}

/// How long a sender waits when the receiver was not ready (§9.7.5.2.8, table of RNR timer codes).
pub fn rnr_delay(code: u32) -> Duration {
    /// Hundredths of a millisecond.
    const CODES: [u32; 32] = [
        65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024,
        1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
    ];
    Duration::from_micros(u64::from(CODES[code as usize & 31]) * 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_the_specification() {
        assert_eq!(rnr_delay(0), Duration::from_micros(655_360));
        assert_eq!(rnr_delay(1), Duration::from_micros(10));
        assert_eq!(rnr_delay(12), Duration::from_micros(640));
        assert_eq!(rnr_delay(31), Duration::from_micros(491_520));
        assert_eq!(ack_timeout(0), None);
        assert_eq!(ack_timeout(14), Some(Duration::from_nanos(67_108_864)));
    }
}
