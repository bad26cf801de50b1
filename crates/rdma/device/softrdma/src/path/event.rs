//! Asynchronous events of a context (ibv_get_async_event(3)).
//!
//! The descriptor is an event counter that takes one away at each read, and so is readable as long as the queue beside it
//! holds an event. An event is put into the queue before it is counted.

use std::collections::VecDeque;
use std::ffi::c_int;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use weft_kernel::{Interest, above_standard};
use weft_verbs_abi::*;

use crate::call::{Errno, Result};

/// What an event is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Element {
    Cq(*mut ibv_cq),
    Qp(*mut ibv_qp),
    Srq(*mut ibv_srq),
    Port(u8),
}

// SAFETY: the pointers are only followed by calls of the application, and events of an object leave the queue
// before it is destroyed.
unsafe impl Send for Element {}

pub struct AsyncEvents {
    counter: OwnedFd,
    queue: Mutex<VecDeque<(ibv_event_type, Element)>>,
}

impl AsyncEvents {
    pub fn new() -> Result<AsyncEvents> {
        // SAFETY: takes numbers only.
        let create = || unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_SEMAPHORE) };
        let counter = above_standard(create);
        if counter < 0 {
            return Err(Errno::last());
        }
        Ok(AsyncEvents {
            // SAFETY: a fresh descriptor.
            counter: unsafe { OwnedFd::from_raw_fd(counter) },
            queue: Mutex::default(),
        })
    }

    pub fn descriptor(&self) -> c_int {
        self.counter.as_raw_fd()
    }

    fn queue(&self) -> MutexGuard<'_, VecDeque<(ibv_event_type, Element)>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn raise(&self, kind: ibv_event_type, element: Element) {
        self.queue().push_back((kind, element));
        let one = 1u64.to_ne_bytes();
        // SAFETY: eight readable bytes. The counter has room for 2^64 - 2 events.
        unsafe { libc::write(self.counter.as_raw_fd(), one.as_ptr().cast(), one.len()) };
    }

    /// Takes out all events about an object that is going away.
    pub fn forget(&self, element: Element) {
        let mut queue = self.queue();
        let before = queue.len();
        queue.retain(|(_, about)| *about != element);
        for _ in queue.len()..before {
            self.take_count_if_any();
        }
    }

    /// Counts one event less. If a reader has already counted the one that is being forgotten, it finds the queue empty and
    /// waits again.
    fn take_count_if_any(&self) {
        let mut count = [0u8; 8];
        if weft_kernel::is_ready(&self.counter, Interest::Reading, 0) {
            // SAFETY: eight writable bytes.
            unsafe { libc::read(self.counter.as_raw_fd(), count.as_mut_ptr().cast(), 8) };
        }
    }

    /// Waits for an event, unless the application made the descriptor non-blocking. `deliver` counts it under the queue's
    /// lock, so that a thread that forgets the object's events sees it counted.
    pub fn next(&self, deliver: impl Fn(Element)) -> Result<(ibv_event_type, Element)> {
        loop {
            let mut count = [0u8; 8];
            // SAFETY: eight writable bytes.
            let read = unsafe {
                libc::read(
                    self.counter.as_raw_fd(),
                    count.as_mut_ptr().cast(),
                    count.len(),
                )
            };
            if read < 0 {
                return Err(Errno::last());
            }
            let mut queue = self.queue();
            if let Some((kind, element)) = queue.pop_front() {
                deliver(element);
                return Ok((kind, element));
            }
        }
    }
}

/// An object that events can be about, and the queue of its context.
pub struct EventSource {
    pub events: &'static AsyncEvents,
    pub element: Element,
}

impl EventSource {
    pub fn raise(&self, event: ibv_event_type) {
        self.events.raise(event, self.element);
    }

    /// Takes out all events about the object, which is going away.
    pub fn forget(&self) {
        self.events.forget(self.element);
    }
}
