//! Asynchronous events of a context (ibv_get_async_event(3)).
//!
//! The descriptor is an event counter that takes one away at each read, and so is readable as long as the queue beside it
//! holds an event. An event is put into the queue before it is counted.

use std::collections::VecDeque;
use std::ffi::c_int;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use weft_verbs_abi::*;

use super::acknowledgement::Acknowledged;
use super::call::{Errno, Result, status};
use super::context::Context;
use super::cq::Cq;
use super::qp::Qp;
use super::srq::Srq;

/// What an event is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Element {
    Cq(*mut ibv_cq),
    Qp(*mut ibv_qp),
    Srq(*mut ibv_srq),
    Port(u8),
}

// SAFETY: the pointers are only followed by `deliver` and `ibv_ack_async_event`, and events of an object leave the queue
// before it is destroyed.
unsafe impl Send for Element {}

pub struct AsyncEvents {
    counter: OwnedFd,
    queue: Mutex<VecDeque<(ibv_event_type, Element)>>,
}

impl AsyncEvents {
    pub fn new() -> Result<AsyncEvents> {
        // SAFETY: takes numbers only.
        let counter = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_SEMAPHORE) };
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
        let mut poll = libc::pollfd {
            fd: self.counter.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        let mut count = [0u8; 8];
        // SAFETY: one pollfd, and eight writable bytes.
        unsafe {
            if libc::poll(&mut poll, 1, 0) == 1 {
                libc::read(self.counter.as_raw_fd(), count.as_mut_ptr().cast(), 8);
            }
        }
    }

    /// Waits for an event, unless the application made the descriptor non-blocking.
    fn next(&self) -> Result<(ibv_event_type, Element)> {
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
                // Under the queue's lock, so that whoever forgets the object's events sees it counted.
                acknowledged(element, |object| object.deliver());
                return Ok((kind, element));
            }
        }
    }
}

fn acknowledged(element: Element, act: impl FnOnce(Acknowledged<'_>)) {
    // SAFETY: the object lives: its event is in the queue, or with the application and not acknowledged.
    unsafe {
        match element {
            Element::Cq(cq) => act(Cq::from_abi(cq).async_acknowledged()),
            Element::Qp(qp) => act(Qp::from_abi(qp).acknowledged()),
            Element::Srq(srq) => act(Srq::from_abi(srq).acknowledged()),
            Element::Port(_) => {}
        }
    }
}

/// # Safety
/// `context` is open, `event` writable.
pub unsafe extern "C" fn ibv_get_async_event(
    context: *mut ibv_context,
    event: *mut ibv_async_event,
) -> c_int {
    // SAFETY: the caller's promise.
    let context = unsafe { Context::from_abi(context) };
    status(context.events.next().map(|(event_type, element)| {
        let element = match element {
            Element::Cq(cq) => ibv_async_event_element { cq },
            Element::Qp(qp) => ibv_async_event_element { qp },
            Element::Srq(srq) => ibv_async_event_element { srq },
            Element::Port(port) => ibv_async_event_element {
                port_num: c_int::from(port),
            },
        };
        // SAFETY: the caller's promise.
        unsafe {
            event.write(ibv_async_event {
                element,
                event_type,
            });
        }
    }))
}

/// # Safety
/// `event` came from [`ibv_get_async_event`] and is acknowledged once.
pub unsafe extern "C" fn ibv_ack_async_event(event: *mut ibv_async_event) {
    // SAFETY: the caller's promise; the type says which member of the union was set.
    let element = unsafe {
        let event = &*event;
        match event.event_type {
            IBV_EVENT_CQ_ERR => Element::Cq(event.element.cq),
            IBV_EVENT_QP_FATAL
            | IBV_EVENT_QP_REQ_ERR
            | IBV_EVENT_QP_ACCESS_ERR
            | IBV_EVENT_COMM_EST
            | IBV_EVENT_SQ_DRAINED
            | IBV_EVENT_PATH_MIG
            | IBV_EVENT_PATH_MIG_ERR
            | IBV_EVENT_QP_LAST_WQE_REACHED => Element::Qp(event.element.qp),
            IBV_EVENT_SRQ_ERR | IBV_EVENT_SRQ_LIMIT_REACHED => Element::Srq(event.element.srq),
            _ => return,
        }
    };
    acknowledged(element, |object| object.acknowledge(1));
}
