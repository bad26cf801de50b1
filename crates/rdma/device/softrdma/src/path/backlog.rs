//! The send requests of a queue pair that could not be executed at once, in order.
//!
//! # Protocol
//! 1. Who posts holds the queue pair's send lock (or has promised to be alone), so there is one poster. The agent thread is
//!    the one executor.
//! 2. `waiting` counts requests put in and not yet ended. The poster adds to it after the request is in; the agent
//!    subtracts after the request's completion is pushed and the request is out.
//! 3. While `waiting` is 0 (acquire), the poster executes, and the agent does not look at the queue pair's sending side; while it
//!    is not, the agent executes and the poster only adds. So the sending side (`Sending`) has one user at a time.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use std::time::Duration;

use weft_verbs_abi::*;

use super::clock;
use super::errand::Errand;
use super::execute::Outcome;
use super::post::Payload;
use super::request::Request;
use crate::verbs::{Qp, readable};

/// A request that waits.
pub struct Waiting {
    pub request: Request,
    payload: Kept,
    /// Bytes that were moved.
    pub done: u64,
    /// Status and bytes, when only the completion is missing.
    pub ended: Option<(ibv_wc_status, u64)>,
    /// Times in a row that nobody answered, and that the receiver was not ready.
    silent: u32,
    not_ready: u32,
    /// What the target's agent was asked for.
    pub errand: Errand,
    /// When to try next, on the monotonic clock; 0 for now.
    pub due_ns: u64,
}

/// How soon to try again what somebody else was in the way of.
const AGAIN_NS: u64 = 20_000;

/// How soon to look after what the target's agent was asked for, which says when it is done.
const ASKED_NS: u64 = 50_000_000;

enum Kept {
    Elements(Box<[ibv_sge]>),
    Inline(Box<[u8]>),
}

impl Waiting {
    /// Keeps what the poster may change as soon as the call returns.
    ///
    /// # Safety
    /// Inline elements name readable memory.
    pub unsafe fn new(request: &Request, payload: Payload<'_>) -> Waiting {
        let payload = match payload {
            Payload::Elements(elements) if request.has(IBV_SEND_INLINE) => {
                let mut bytes = Vec::new();
                for element in elements {
                    // SAFETY: the caller's promise.
                    bytes.extend_from_slice(unsafe {
                        readable(element.addr as *const u8, element.length as usize)
                    });
                }
                Kept::Inline(bytes.into())
            }
            Payload::Elements(elements) => Kept::Elements(elements.into()),
            Payload::Inline(bytes) => Kept::Inline(bytes.into()),
        };
        Waiting {
            request: *request,
            payload,
            done: 0,
            ended: None,
            silent: 0,
            not_ready: 0,
            errand: Errand::default(),
            due_ns: 0,
        }
    }

    /// What follows from an attempt: it ended, or it is tried again in a while (InfiniBand Architecture 1.6, §9.7.6.1 for
    /// answers that do not come, §9.7.5.2.8 for receivers that are not ready).
    pub fn consider(&mut self, qp: &Qp, outcome: Outcome) {
        match outcome {
            Outcome::Done(bytes) => self.ended = Some((IBV_WC_SUCCESS, bytes)),
            Outcome::Failed(status) => self.ended = Some((status, 0)),
            Outcome::Left => {}
            Outcome::Partly(done) => {
                self.done = done;
                (self.silent, self.not_ready, self.due_ns) = (0, 0, 0);
            }
            Outcome::ByAgent => self.due_ns = 0,
            Outcome::Asked => self.due_ns = clock::monotonic_ns() + ASKED_NS,
            Outcome::Again => self.due_ns = clock::monotonic_ns() + AGAIN_NS,
            Outcome::NotReady { timer } => self.wait_for_receiver(qp, timer),
            Outcome::Silent => self.wait_for_answer(qp),
        }
    }

    fn wait_for_receiver(&mut self, qp: &Qp, timer: u32) {
        /// Means for ever.
        const ENDLESS: u8 = 7;
        self.silent = 0;
        let limit = qp.attributes().rnr_retry;
        if limit != ENDLESS && self.not_ready >= u32::from(limit) {
            self.ended = Some((IBV_WC_RNR_RETRY_EXC_ERR, 0));
            return;
        }
        self.not_ready += 1;
        self.due_ns = clock::monotonic_ns() + clock::rnr_delay(timer).as_nanos() as u64;
    }

    fn wait_for_answer(&mut self, qp: &Qp) {
        let (limit, timeout) = {
            let attributes = qp.attributes();
            (attributes.retry_cnt, clock::ack_timeout(attributes.timeout))
        };
        if self.silent > u32::from(limit) || qp.peer_is_dead() {
            self.ended = Some((IBV_WC_RETRY_EXC_ERR, 0));
            return;
        }
        // Without a time-out the adapter asks for ever; that its peer has come is found out by looking.
        let wait = timeout.unwrap_or(Duration::from_millis(10));
        self.silent += u32::from(timeout.is_some());
        self.due_ns = clock::monotonic_ns() + wait.as_nanos() as u64;
    }

    pub fn payload(&self) -> Payload<'_> {
        match &self.payload {
            Kept::Elements(elements) => Payload::Elements(elements),
            Kept::Inline(bytes) => Payload::Inline(bytes),
        }
    }
}

#[derive(Default)]
pub struct Backlog {
    waiting: AtomicU32,
    queue: Mutex<VecDeque<Waiting>>,
}

impl Backlog {
    /// Whether the poster executes.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.waiting.load(Ordering::Acquire) == 0
    }

    fn queue(&self) -> MutexGuard<'_, VecDeque<Waiting>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Poster: true if the agent must be told, as there was nothing before.
    pub fn push(&self, waiting: Waiting) -> bool {
        self.queue().push_back(waiting);
        self.waiting.fetch_add(1, Ordering::AcqRel) == 0
    }

    /// Agent: works on the oldest, which leaves if `work` says that it ended.
    pub fn with_oldest(&self, work: impl FnOnce(&mut Waiting) -> bool) {
        // Not in the queue while it is worked on, so that the poster can add.
        let Some(mut oldest) = self.queue().pop_front() else {
            return;
        };
        if work(&mut oldest) {
            self.waiting.fetch_sub(1, Ordering::AcqRel);
        } else {
            self.queue().push_front(oldest);
        }
    }

    /// Agent: when the oldest wants to be tried; none if there is none.
    pub fn due_ns(&self) -> Option<u64> {
        self.queue().front().map(|oldest| oldest.due_ns)
    }

    /// Has the oldest looked at, if the target's agent has answered.
    pub fn hurry_answered(&self) {
        if let Some(oldest) = self.queue().front_mut()
            && oldest.errand.is_answered()
        {
            oldest.due_ns = 0;
        }
    }

    /// Has the oldest tried at once: something changed.
    pub fn hurry(&self) {
        if let Some(oldest) = self.queue().front_mut() {
            oldest.due_ns = 0;
        }
    }
}
