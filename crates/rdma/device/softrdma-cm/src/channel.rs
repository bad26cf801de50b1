//! Event channels (rdma_create_event_channel(3), rdma_get_cm_event(3), rdma_ack_cm_event(3)).
//!
//! The channel's descriptor is an eventfd that counts the news in its queue, so programs may poll it and make it
//! non-blocking. News become an event when the application takes them, in its own thread: new identifiers are made then,
//! and queue pairs moved.

use std::collections::VecDeque;
use std::ffi::{c_int, c_void};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use weft_kernel::Interest;

use crate::abi::*;
use crate::call::{Errno, Outcome, pointer, system};
use crate::message::{Message, PRIVATE_MAX};

/// What has happened, as the thread or a call has found it.
pub struct News {
    pub about: *mut rdma_cm_id,
    pub event: rdma_cm_event_type,
    pub status: c_int,
    /// The connection that it is about.
    pub token: u64,
    pub peer: Option<Message>,
}

// SAFETY: the identifier is only looked at by the application's calls; it takes its news out before it goes.
unsafe impl Send for News {}

#[repr(C)]
pub struct Channel {
    abi: rdma_event_channel,
    descriptor: OwnedFd,
    queue: Mutex<VecDeque<News>>,
}

/// An event with its private data. `holder` is the identifier that cannot be destroyed before the event is acknowledged.
#[repr(C)]
pub struct Event {
    pub abi: rdma_cm_event,
    pub private: [u8; PRIVATE_MAX + 1],
    pub holder: *mut rdma_cm_id,
}

impl Channel {
    pub fn create() -> Outcome<*mut Channel> {
        // SAFETY: a new descriptor.
        let descriptor = unsafe {
            let flags = libc::EFD_CLOEXEC | libc::EFD_SEMAPHORE;
            OwnedFd::from_raw_fd(system(libc::eventfd(0, flags))?)
        };
        let abi = rdma_event_channel {
            fd: descriptor.as_raw_fd(),
        };
        Ok(Box::into_raw(Box::new(Channel {
            abi,
            descriptor,
            queue: Mutex::default(),
        })))
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<News>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn push(&self, news: News) {
        let mut queue = self.lock();
        queue.push_back(news);
        let one = 1u64;
        // SAFETY: eight bytes. The count has no room for more only after 2^64 news.
        unsafe { libc::write(self.descriptor.as_raw_fd(), (&raw const one).cast(), 8) };
    }

    /// Counts one down, waiting for it if the descriptor is a blocking one.
    fn count_down(&self) -> Outcome {
        let mut one = 0u64;
        loop {
            // SAFETY: eight bytes.
            let count =
                unsafe { libc::read(self.descriptor.as_raw_fd(), (&raw mut one).cast(), 8) };
            match Errno::last() {
                _ if count == 8 => return Ok(()),
                Errno(libc::EINTR) => {}
                errno => return Err(errno),
            }
        }
    }

    pub fn take(&self) -> Outcome<News> {
        loop {
            self.count_down()?;
            if let Some(news) = self.lock().pop_front() {
                return Ok(news);
            }
        }
    }

    /// Takes out the news about an identifier, and their counts.
    pub fn take_all_about(&self, id: *mut rdma_cm_id) -> VecDeque<News> {
        let mut queue = self.lock();
        let (about, others): (VecDeque<News>, _) =
            queue.drain(..).partition(|news| news.about == id);
        *queue = others;
        for _ in &about {
            // A count that is not there was taken by a call that waits for the queue, and that will find it empty and wait on.
            if weft_kernel::is_ready(&self.descriptor, Interest::Reading, 0) {
                let _ = self.count_down();
            }
        }
        about
    }
}

pub extern "C" fn rdma_create_event_channel() -> *mut rdma_event_channel {
    pointer(Channel::create()).cast()
}

/// # Safety
/// No identifier is on the channel any more.
pub unsafe extern "C" fn rdma_destroy_event_channel(channel: *mut rdma_event_channel) {
    // SAFETY: it was leaked from a box by `create`.
    drop(unsafe { Box::from_raw(channel.cast::<Channel>()) });
}

impl Event {
    pub fn new(news: &News, holder: *mut rdma_cm_id) -> Box<Event> {
        let mut event = Box::new(Event {
            abi: rdma_cm_event {
                id: news.about.cast(),
                listen_id: std::ptr::null_mut(),
                event: news.event,
                status: news.status,
                // SAFETY: plain numbers and a pointer.
                param: unsafe { std::mem::zeroed() },
            },
            private: [0; PRIVATE_MAX + 1],
            holder,
        });
        if let Some(peer) = &news.peer {
            event.private[..peer.private.len()].copy_from_slice(&peer.private);
        }
        event
    }

    /// Where the application finds the private data of `peer`; null when there are none.
    pub fn private_data(&self, peer: &Message) -> (*const c_void, u8) {
        match peer.private.len() {
            0 => (std::ptr::null(), 0),
            length => (self.private.as_ptr().cast(), length as u8),
        }
    }
}
