//! What this process's threads leave for its agent, and how they wake it.
//!
//! # Protocol
//! `inbox` has the numbers of queue pairs whose backlog became non-empty; the poster adds, and writes to `wake`. `watched` has
//! peers whose deaths are to be noticed. The agent takes from both after it has heard `wake`.
//!
//! `due` is when the agent wakes by itself. Before it looks at everything it has it sets `due` to when it will look again in any case, maybe a
//! time that does not come, and when it has looked, to that or what it found, whichever is earlier. A thread that sets a time on an object,
//! under the object's lock, looks at `due` afterwards and wakes the agent if that is later ([`AgentQueue::wake_by`]). So either the agent sees the
//! time, or looks again before it, or the thread sees that the agent did not: had it read an older `due`, the agent's look, which takes the
//! object's lock, would still be to come.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::fabric::{Number, Peer};

/// A time that does not come.
const NEVER: u64 = u64::MAX;

pub struct AgentQueue {
    wake: OwnedFd,
    woken: AtomicBool,
    due: AtomicU64,
    inbox: Mutex<Vec<Number>>,
    watched: Mutex<Vec<Arc<Peer>>>,
}

impl AgentQueue {
    pub(super) fn new() -> AgentQueue {
        // SAFETY: takes numbers only; the descriptor is fresh.
        let wake = unsafe {
            let fd = libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK);
            assert!(fd >= 0, "softrdma: no descriptor for the agent");
            OwnedFd::from_raw_fd(fd)
        };
        AgentQueue {
            wake,
            woken: AtomicBool::new(false),
            due: AtomicU64::new(NEVER),
            inbox: Mutex::default(),
            watched: Mutex::default(),
        }
    }

    /// Has the agent work on the queue pair's backlog.
    pub fn attend(&self, number: Number) {
        self.inbox().push(number);
        self.wake();
    }

    /// Wakes the thread to look at everything it has.
    pub fn wake(&self) {
        if self.woken.swap(true, Ordering::SeqCst) {
            return;
        }
        let one = 1u64.to_ne_bytes();
        // SAFETY: eight readable bytes.
        unsafe { libc::write(self.wake.as_raw_fd(), one.as_ptr().cast(), one.len()) };
    }

    /// Has the thread look at everything by this time at the latest.
    pub fn wake_by(&self, time: u64) {
        if time < self.due.load(Ordering::SeqCst) {
            self.wake();
        }
    }

    /// Agent: it has looked at everything, and looks again at this time.
    pub(super) fn set_due(&self, due: Option<u64>) {
        self.due.store(due.unwrap_or(NEVER), Ordering::SeqCst);
    }

    /// Agent: takes what made the descriptor readable, before it takes the wake-up.
    pub(super) fn drain_wake(&self) {
        let mut count = [0u8; 8];
        // SAFETY: eight writable bytes; the descriptor does not block.
        unsafe {
            libc::read(
                self.wake.as_raw_fd(),
                count.as_mut_ptr().cast(),
                count.len(),
            )
        };
    }

    /// Agent: takes the wake-up; a later one wakes again. It looks at everything from here on, and again by the time that is given.
    pub(super) fn take_wake(&self, again: Option<u64>) {
        self.set_due(again);
        self.woken.store(false, Ordering::SeqCst);
    }

    /// Readable when the agent is to wake.
    pub(super) fn descriptor(&self) -> RawFd {
        self.wake.as_raw_fd()
    }

    /// Has the agent notice when the peer's process ends.
    pub fn watch(&self, peer: Arc<Peer>) {
        self.watched().push(peer);
        self.wake();
    }

    pub(super) fn inbox(&self) -> MutexGuard<'_, Vec<Number>> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn watched(&self) -> MutexGuard<'_, Vec<Arc<Peer>>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
