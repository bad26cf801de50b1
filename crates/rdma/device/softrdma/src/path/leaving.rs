//! What a process does before it ends: its agent finishes the packets that it is at for others (`between_hosts::targets`).
//!
//! exit(3) runs [`leave`] while the agent's thread is still there. A process that is killed, or calls _exit(2), leaves what it was at.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

struct Step {
    /// A child after fork(2) has a copy of its parent's steps, but neither the agent nor what that is at.
    process: u32,
    /// True once it is done; false where it has to be tried again.
    take: Box<dyn Fn() -> bool + Send>,
}

/// One of a process's agent; several in tests.
static STEPS: Mutex<Vec<Step>> = Mutex::new(Vec::new());

/// Has this done before the process ends.
pub fn before_the_end(take: impl Fn() -> bool + Send + 'static) {
    let mut steps = STEPS.lock().unwrap_or_else(PoisonError::into_inner);
    if steps.is_empty() {
        // SAFETY: the function is there for as long as this library, whose unloading runs it as well.
        unsafe { libc::atexit(leave) };
    }
    steps.push(Step {
        process: std::process::id(),
        take: Box::new(take),
    });
}

/// On a busy machine the agent may have lost its core over a packet, and is waited for; but not for ever: exit(3) may have been
/// called by a signal's handler that has interrupted the thread that has the agent's state.
extern "C" fn leave() {
    const LONGEST: Duration = Duration::from_secs(2);
    let begin = Instant::now();
    let Ok(steps) = STEPS.try_lock() else {
        return;
    };
    let process = std::process::id();
    for step in steps.iter().filter(|step| step.process == process) {
        while !(step.take)() && begin.elapsed() < LONGEST {
            std::thread::sleep(Duration::from_micros(100));
        }
    }
}
