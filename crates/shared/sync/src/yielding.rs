//! Giving up the core, however often.
//!
//! Linux moves a thread that yields a time slice ahead in virtual time, and some versions (6.18 among them) bring the reference
//! point of that time up to date only when a thread of the core begins or ends a sleep. Threads that yield to each other and never
//! sleep run away from it until the sums overflow, a few million yields later, and then one of them is not picked for seconds though
//! it is ready. (Mended upstream by "sched/fair: Fix zero_vruntime tracking" and its successor.) So one yield in many is a short sleep.

/// A thousandth of what it takes, and seldom enough to cost nothing.
#[cfg(not(loom))]
const YIELDS: u32 = 4096;
/// The shortest sleep there is; the kernel adds its slack of 50 us.
#[cfg(not(loom))]
const SLEEP: std::time::Duration = std::time::Duration::from_nanos(1);

/// Lets another thread have the core.
#[cfg(not(loom))]
pub fn yield_now() {
    if !sleep_in_place_of_yield() {
        std::thread::yield_now();
    }
}

/// For a caller that is about to yield and looks at how long that takes: sleeps instead if it is time to. Whether it did.
#[cfg(not(loom))]
pub fn sleep_in_place_of_yield() -> bool {
    thread_local! {
        static COUNT: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
    }
    let count = COUNT.get().wrapping_add(1);
    COUNT.set(count);
    let is_due = count.is_multiple_of(YIELDS);
    if is_due {
        std::thread::sleep(SLEEP);
    }
    is_due
}

#[cfg(loom)]
pub use loom::thread::yield_now;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// How often this thread has slept or waited for something.
    fn sleeps() -> i64 {
        // SAFETY: a structure of numbers, which the call fills.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_THREAD, &mut usage);
            usage
        };
        usage.ru_nvcsw
    }

    #[test]
    fn a_row_of_yields_has_sleeps_in_it() {
        let before = sleeps();
        (0..YIELDS * 8).for_each(|_| yield_now());
        // A sleep that is over before its thread has given up the core, which it lost just then, is not counted; some of
        // eight may be such on a busy machine.
        assert!(sleeps() - before >= 4);
        let due = (0..YIELDS * 8).filter(|_| sleep_in_place_of_yield());
        assert_eq!(due.count(), 8);
    }
}
