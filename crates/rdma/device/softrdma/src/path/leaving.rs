//! What a process does before it ends: its agent finishes the packets that it is at for others (`between_hosts::targets`).
//!
//! exit(3) runs [`leave`] while the agent's thread is still there. A process that is killed, or calls _exit(2), leaves what it was at.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// True once it is done; false where it has to be tried again.
type Step = Box<dyn Fn() -> bool + Send>;

/// One of a process's agent; several in tests.
static STEPS: Mutex<Vec<Step>> = Mutex::new(Vec::new());

/// Has this done before the process ends.
pub fn before_the_end(step: impl Fn() -> bool + Send + 'static) {
    let mut steps = STEPS.lock().unwrap_or_else(PoisonError::into_inner);
    if steps.is_empty() {
        // SAFETY: the function is there for as long as this library, whose unloading runs it as well.
        unsafe { libc::atexit(leave) };
    }
    steps.push(Box::new(step));
}

/// Waits for no lock for ever: exit(3) may have been called by a signal's handler, or in a child whose parent's threads had them.
extern "C" fn leave() {
    const LONGEST: Duration = Duration::from_millis(200);
    let begin = Instant::now();
    let Ok(steps) = STEPS.try_lock() else {
        return;
    };
    for step in steps.iter() {
        while !step() && begin.elapsed() < LONGEST {
            std::thread::sleep(Duration::from_micros(100));
        }
    }
}
