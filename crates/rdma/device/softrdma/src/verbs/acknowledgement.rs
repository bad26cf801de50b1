//! Events that an application has been given and has not acknowledged keep their object alive: destroying it waits
//! (ibv_ack_cq_events(3), ibv_ack_async_event(3)). The counter of acknowledged ones, its mutex and its condition are in the
//! public structures.

use std::sync::atomic::{AtomicU32, Ordering};

use libc::{pthread_cond_t, pthread_mutex_t};

/// The public fields of an object that events are about.
///
/// # Protocol
/// `completed` is only read and written under `mutex`; `delivered` is added to by the thread that hands an event out, before
/// it does, and read by the one that destroys.
pub struct Acknowledged<'a> {
    pub mutex: *mut pthread_mutex_t,
    pub cond: *mut pthread_cond_t,
    pub completed: *mut u32,
    pub delivered: &'a AtomicU32,
}

impl Acknowledged<'_> {
    /// An event goes to the application.
    pub fn deliver(&self) {
        self.delivered.fetch_add(1, Ordering::Relaxed);
    }

    /// The application is done with `events` of them.
    pub fn acknowledge(&self, events: u32) {
        // SAFETY: initialised by `initialise`; `completed` is of the same object and under the mutex.
        unsafe {
            libc::pthread_mutex_lock(self.mutex);
            *self.completed = (*self.completed).wrapping_add(events);
            libc::pthread_cond_signal(self.cond);
            libc::pthread_mutex_unlock(self.mutex);
        }
    }

    /// Waits until all are acknowledged.
    pub fn wait(&self) {
        // SAFETY: as in `acknowledge`.
        unsafe {
            libc::pthread_mutex_lock(self.mutex);
            while *self.completed != self.delivered.load(Ordering::Relaxed) {
                libc::pthread_cond_wait(self.cond, self.mutex);
            }
            libc::pthread_mutex_unlock(self.mutex);
        }
    }
}

/// Makes the two usable; they lie where they will stay.
///
/// # Safety
/// Both are writable and not in use.
pub unsafe fn initialise(mutex: *mut pthread_mutex_t, cond: *mut pthread_cond_t) {
    // SAFETY: the caller's promise; default attributes.
    unsafe {
        libc::pthread_mutex_init(mutex, std::ptr::null());
        libc::pthread_cond_init(cond, std::ptr::null());
    }
}
