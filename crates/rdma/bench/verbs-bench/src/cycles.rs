//! The processor's time-stamp counter, as the papers read it.

/// Now, by `rdtscp`: it waits until what was before it has been executed, as a measurement of one call needs. Where there is
/// no such counter, nanoseconds.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn now() -> u64 {
    let mut processor = 0;
    // SAFETY: the instruction reads a counter, and its result is stored in a variable of this function. Every x86-64
    // processor that runs Linux with the papers' adapters has it.
    unsafe { core::arch::x86_64::__rdtscp(&raw mut processor) }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub fn now() -> u64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    BEGIN.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// What [`now`] counts.
pub const UNIT: &str = if cfg!(target_arch = "x86_64") {
    "cycles"
} else {
    "ns"
};

/// What reading the counter twice in a row shows, at least: it is taken off every measured call.
pub fn overhead() -> u64 {
    let read = |_| {
        let begin = now();
        now() - begin
    };
    (0..1000).map(read).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counter_goes_on() {
        let begin = now();
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert!(now() - begin > 1_000_000, "2 ms are more than that");
        assert!(overhead() < 100_000);
    }
}
