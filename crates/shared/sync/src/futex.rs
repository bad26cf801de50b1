//! Sleeping on a word, within a process or across a shared mapping (futex(2)).

use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Woken, or for no reason at all: look at the word again.
    Woken,
    /// The word was not the expected one; there was no sleep.
    Changed,
    TimedOut,
}

/// Sleeps while `*word == expected`, at most `timeout`. Signals do not end the sleep. The waker is a thread
/// of this process.
pub fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) -> Wait {
    wait_with(libc::FUTEX_PRIVATE_FLAG, word, expected, timeout)
}

/// As [`wait`], with the word in a shared mapping and the waker in any process.
pub fn wait_shared(word: &AtomicU32, expected: u32, timeout: Option<Duration>) -> Wait {
    wait_with(0, word, expected, timeout)
}

/// Wakes up to `sleepers` threads of this process that sleep in [`wait`].
pub fn wake(word: &AtomicU32, sleepers: u32) {
    wake_with(libc::FUTEX_PRIVATE_FLAG, word, sleepers);
}

/// Wakes up to `sleepers` threads of any process that sleep in [`wait_shared`].
pub fn wake_shared(word: &AtomicU32, sleepers: u32) {
    wake_with(0, word, sleepers);
}

fn wait_with(
    flags: libc::c_int,
    word: &AtomicU32,
    expected: u32,
    timeout: Option<Duration>,
) -> Wait {
    let deadline = timeout.map(deadline);
    let time = deadline
        .as_ref()
        .map_or(std::ptr::null(), std::ptr::from_ref);
    loop {
        // SAFETY: the word and the time live through the call. FUTEX_WAIT_BITSET takes an absolute
        // CLOCK_MONOTONIC time, so that a signal does not lengthen the sleep.
        let result = unsafe {
            libc::syscall(
                libc::SYS_futex,
                word.as_ptr(),
                libc::FUTEX_WAIT_BITSET | flags,
                expected,
                time,
                std::ptr::null::<u32>(),
                libc::FUTEX_BITSET_MATCH_ANY,
            )
        };
        if result == 0 {
            return Wait::Woken;
        }
        match std::io::Error::last_os_error().raw_os_error() {
            Some(libc::EINTR) => continue,
            Some(libc::EAGAIN) => return Wait::Changed,
            Some(libc::ETIMEDOUT) => return Wait::TimedOut,
            error => panic!("futex wait failed: error {error:?}"),
        }
    }
}

fn deadline(timeout: Duration) -> libc::timespec {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is writable.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    let nanoseconds = now.tv_nsec + i64::from(timeout.subsec_nanos());
    let seconds = timeout.as_secs().min(u64::from(u32::MAX)) as i64;
    libc::timespec {
        tv_sec: now.tv_sec + seconds + nanoseconds / 1_000_000_000,
        tv_nsec: nanoseconds % 1_000_000_000,
    }
}

fn wake_with(flags: libc::c_int, word: &AtomicU32, sleepers: u32) {
    // SAFETY: the kernel does not touch the word in FUTEX_WAKE, it only names the queue.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAKE | flags,
            sleepers.min(i32::MAX as u32),
        )
    };
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;
    use std::time::Instant;

    #[test]
    fn changed_word_does_not_sleep() {
        assert_eq!(wait(&AtomicU32::new(1), 0, None), Wait::Changed);
    }

    #[test]
    fn time_is_kept() {
        let begin = Instant::now();
        let word = AtomicU32::new(0);
        assert_eq!(
            wait_shared(&word, 0, Some(Duration::from_millis(20))),
            Wait::TimedOut
        );
        assert!(begin.elapsed() >= Duration::from_millis(20));
    }

    #[test]
    fn wake_ends_sleep() {
        let word = AtomicU32::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while word.load(Ordering::Acquire) == 0 {
                    wait(&word, 0, None);
                }
            });
            std::thread::sleep(Duration::from_millis(5));
            word.store(1, Ordering::Release);
            wake(&word, 1);
        });
    }
}
