//! Threads that begin together and are told when to end.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};

use crate::pins::Placement;

/// Tells all threads of a team to end. A line of its own: they look at it between any two lists of requests.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Stop(AtomicBool);

impl Stop {
    /// Stored once by the thread that watches the clock or by a member that failed, read by all; it guards no data.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    #[inline]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Where members wait for each other, over and over, unless they are told to stop: one that failed does not come.
///
/// `arrived` counts all arrivals ever, by every member; generation g is complete at g times the members. Arriving releases what a
/// member wrote before, leaving acquires what all did.
#[derive(Debug)]
#[repr(align(128))]
pub struct Gate {
    arrived: AtomicUsize,
    members: usize,
}

impl Gate {
    pub fn new(members: usize) -> Gate {
        Gate {
            arrived: AtomicUsize::new(0),
            members,
        }
    }

    /// False where the team stops.
    pub fn pass(&self, stop: &Stop) -> bool {
        let before = self.arrived.fetch_add(1, Ordering::AcqRel);
        let complete = (before / self.members + 1) * self.members;
        while self.arrived.load(Ordering::Acquire) < complete {
            if stop.is_set() {
                return false;
            }
            thread::yield_now();
        }
        true
    }
}

/// What the members did, and the time from the first one's beginning to the last one's end.
#[derive(Debug)]
pub struct Outcome<R> {
    pub results: Vec<R>,
    pub wall: Duration,
    /// Processor time of the process meanwhile: less than the wall time of its threads where others had the processors.
    pub processor: Duration,
}

/// Of this process until now, in the program and in the kernel.
fn processor_time() -> Duration {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else {
        return Duration::ZERO;
    };
    let micros = |t: nix::sys::time::TimeVal| (t.tv_sec() * 1_000_000 + t.tv_usec()) as u64;
    Duration::from_micros(micros(usage.user_time()) + micros(usage.system_time()))
}

/// Runs `work` on a thread for each of `members`, pinned as `placement` says. After `duration`, if there is one, they are
/// told to stop; without one they end by themselves.
pub fn run<M: Send, R: Send>(
    members: Vec<M>,
    placement: &Placement,
    duration: Option<Duration>,
    work: impl Fn(usize, M, &Stop) -> R + Sync,
) -> Outcome<R> {
    let gate = Barrier::new(members.len() + 1);
    let stop = Stop::default();
    let (gate, stop, work) = (&gate, &stop, &work);
    let before = processor_time();
    let timed = thread::scope(|scope| {
        let member = |(index, member)| {
            scope.spawn(move || {
                placement.pin(index);
                gate.wait();
                let begin = Instant::now();
                let result = work(index, member, stop);
                (result, begin, Instant::now())
            })
        };
        let threads: Vec<_> = members.into_iter().enumerate().map(member).collect();
        gate.wait();
        if let Some(duration) = duration {
            let end = Instant::now() + duration;
            while !stop.is_set() && Instant::now() < end {
                thread::sleep((end - Instant::now()).min(Duration::from_millis(20)));
            }
            stop.set();
        }
        let join = |thread: thread::ScopedJoinHandle<'_, _>| match thread.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        threads.into_iter().map(join).collect::<Vec<_>>()
    });
    let processor = processor_time().saturating_sub(before);
    let begin = timed.iter().map(|t| t.1).min();
    let end = timed.iter().map(|t| t.2).max();
    Outcome {
        wall: begin.zip(end).map_or(Duration::ZERO, |(b, e)| e - b),
        processor,
        results: timed.into_iter().map(|t| t.0).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pins::processors;

    #[test]
    fn members_keep_their_order_and_are_stopped() {
        let placement = Placement::of(3, &processors());
        let short = Duration::from_millis(30);
        let outcome = run(
            vec!['a', 'b', 'c'],
            &placement,
            Some(short),
            |index, name, stop| {
                while !stop.is_set() {
                    thread::yield_now();
                }
                (index, name)
            },
        );
        assert_eq!(outcome.results, [(0, 'a'), (1, 'b'), (2, 'c')]);
        assert!(outcome.wall >= short, "{:?}", outcome.wall);
        assert!(outcome.processor > Duration::ZERO);
    }

    #[test]
    fn nobody_passes_a_gate_before_all_are_there() {
        let (gate, count) = (Gate::new(3), AtomicUsize::new(0));
        let placement = Placement::of(3, &processors());
        let outcome = run(vec![(); 3], &placement, None, |_, (), stop| {
            let mut seen = true;
            for round in 0..200 {
                count.fetch_add(1, Ordering::Relaxed);
                seen &= gate.pass(stop);
                seen &= count.load(Ordering::Relaxed) == 3 * (round + 1);
                seen &= gate.pass(stop);
            }
            seen
        });
        assert_eq!(outcome.results, [true; 3]);
    }

    #[test]
    fn one_that_fails_leaves_nobody_at_a_gate() {
        let gate = Gate::new(2);
        let placement = Placement::of(2, &processors());
        let outcome = run(vec![true, false], &placement, None, |_, fails, stop| {
            if fails {
                stop.set();
                return false;
            }
            gate.pass(stop)
        });
        assert_eq!(outcome.results, [false, false]);
    }

    #[test]
    fn one_that_fails_ends_all() {
        let placement = Placement::of(2, &processors());
        let long = Some(Duration::from_secs(600));
        let outcome = run(vec![true, false], &placement, long, |_, fails, stop| {
            if fails {
                stop.set();
            }
            while !stop.is_set() {
                thread::yield_now();
            }
        });
        assert!(outcome.wall < Duration::from_secs(300));
    }
}
