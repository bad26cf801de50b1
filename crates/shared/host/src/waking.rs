//! Threads that sleep and are woken, or give up their core for a moment.

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::median::median;
use crate::team;

/// For so long a thread sleeps before it is woken, in microseconds: the deeper the sleep of a core, the longer it takes.
const ASLEEP_US: [u64; 4] = [5, 50, 500, 5000];
const WAKES: usize = 20;
const YIELDS: usize = 1000;

/// What it takes to wake a thread on another core, in microseconds.
#[derive(Clone, Debug)]
pub struct Wake {
    /// For so long it has slept.
    pub asleep_us: u64,
    /// From the call until it runs.
    pub median_us: f64,
    pub most_us: f64,
    /// The call itself, which its caller cannot use otherwise.
    pub call_us: f64,
}

/// Of the second of these CPUs by the first; nothing where there is one alone.
pub fn measure(cpus: &[usize]) -> Vec<Wake> {
    match cpus {
        [first, second, ..] => {
            let of = |&asleep_us| wake(&[*first, *second], asleep_us);
            ASLEEP_US.iter().map(of).collect()
        }
        _ => Vec::new(),
    }
}

fn wake(pair: &[usize], asleep_us: u64) -> Wake {
    let (word, ready) = (AtomicU32::new(0), AtomicUsize::new(0));
    let (woken_at, begin) = (AtomicU64::new(0), Instant::now());
    let now = || begin.elapsed().as_nanos() as u64;
    let found = team::run(pair, |member| {
        let mut all = Vec::new();
        for number in 1..=WAKES {
            if member.index == 1 {
                ready.store(number, Ordering::Release);
                sleep(&word, number as u32 - 1);
                woken_at.store(now(), Ordering::Release);
                member.meet();
                member.meet();
                continue;
            }
            team::await_word(&ready, number);
            thread::sleep(Duration::from_micros(asleep_us));
            let begin = now();
            word.store(number as u32, Ordering::Release);
            call_wake(&word);
            let end = now();
            member.meet();
            let until = woken_at.load(Ordering::Acquire).saturating_sub(begin);
            all.push((until as f64 / 1e3, (end - begin) as f64 / 1e3));
            member.meet();
        }
        all
    });
    let (until, call): (Vec<f64>, Vec<f64>) = found[0].iter().copied().unzip();
    Wake {
        asleep_us,
        most_us: until.iter().copied().fold(0.0, f64::max),
        median_us: median(until),
        call_us: median(call),
    }
}

/// Sleeps while the word has this value.
fn sleep(word: &AtomicU32, value: u32) {
    while word.load(Ordering::Acquire) == value {
        futex(word, libc::FUTEX_WAIT, value);
    }
}

fn call_wake(word: &AtomicU32) {
    futex(word, libc::FUTEX_WAKE, 1);
}

fn futex(word: &AtomicU32, what: libc::c_int, value: u32) {
    let forever = std::ptr::null::<libc::timespec>();
    // SAFETY: the word is there for the call, which fails otherwise alone.
    unsafe {
        let what = what | libc::FUTEX_PRIVATE_FLAG;
        libc::syscall(libc::SYS_futex, word.as_ptr(), what, value, forever)
    };
}

/// A yield on the first of these CPUs, in nanoseconds.
pub fn yield_ns(cpus: &[usize]) -> f64 {
    let times = team::run(&cpus[..1], |_| {
        let begin = Instant::now();
        (0..YIELDS).for_each(|_| thread::yield_now());
        begin.elapsed().as_nanos() as f64 / YIELDS as f64
    });
    times[0]
}
