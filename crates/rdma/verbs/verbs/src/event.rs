//! Asynchronous events of a context (ibv_get_async_event(3)).

use std::os::fd::RawFd;

use weft_verbs_abi::*;

use crate::error::check;
use crate::{Context, Error};

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// By number.
    QueuePair(u32),
    Port(u8),
    CompletionQueue,
    SharedReceiveQueue,
    Device,
    /// Work queues, which this crate does not make.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// `IBV_EVENT_QP_FATAL` and the like.
    pub kind: ibv_event_type,
    pub subject: Subject,
}

impl Context {
    /// Readable when there is an event; for poll(2).
    pub fn event_descriptor(&self) -> RawFd {
        // SAFETY: open; the field does not change.
        unsafe { (*self.as_abi()).async_fd }
    }

    /// Has [`wait_for_event`](Self::wait_for_event) answer at once.
    pub fn set_nonblocking_events(&self) -> Result<(), Error> {
        let descriptor = self.event_descriptor();
        // SAFETY: open; the call takes numbers.
        let answer = unsafe {
            let flags = libc::fcntl(descriptor, libc::F_GETFL);
            libc::fcntl(descriptor, libc::F_SETFL, flags | libc::O_NONBLOCK)
        };
        check("fcntl", answer.min(0), || self.name().into())
    }

    /// Waits for an event, unless the descriptor was made non-blocking.
    pub fn wait_for_event(&self) -> Result<Event, Error> {
        let mut event = ibv_async_event::default();
        // SAFETY: open, and writable.
        let answer = unsafe { (self.library().get_async_event)(self.as_abi(), &mut event) };
        check("ibv_get_async_event", answer, || self.name().into())?;
        let told = Event {
            kind: event.event_type,
            // SAFETY: just taken, and not acknowledged yet: what it is about is alive.
            subject: unsafe { subject(&event) },
        };
        // SAFETY: taken once, acknowledged once.
        unsafe { (self.library().ack_async_event)(&mut event) };
        Ok(told)
    }
}

/// # Safety
/// The event is not acknowledged yet.
unsafe fn subject(event: &ibv_async_event) -> Subject {
    match event.event_type {
        IBV_EVENT_CQ_ERR => Subject::CompletionQueue,
        IBV_EVENT_SRQ_ERR | IBV_EVENT_SRQ_LIMIT_REACHED => Subject::SharedReceiveQueue,
        IBV_EVENT_QP_FATAL
        | IBV_EVENT_QP_REQ_ERR
        | IBV_EVENT_QP_ACCESS_ERR
        | IBV_EVENT_COMM_EST
        | IBV_EVENT_SQ_DRAINED
        | IBV_EVENT_PATH_MIG
        | IBV_EVENT_PATH_MIG_ERR
        | IBV_EVENT_QP_LAST_WQE_REACHED => {
            // SAFETY: of these kinds the element is a queue pair, alive until the event is acknowledged.
            Subject::QueuePair(unsafe { (*event.element.qp).qp_num })
        }
        IBV_EVENT_DEVICE_FATAL => Subject::Device,
        IBV_EVENT_WQ_FATAL => Subject::Other,
        // SAFETY: of all other kinds the element is a port.
        _ => Subject::Port(unsafe { event.element.port_num } as u8),
    }
}
