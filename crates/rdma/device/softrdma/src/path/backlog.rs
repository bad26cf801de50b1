//! The send requests of a queue pair that could not be executed at once, in order.
//!
//! # Protocol
//! 1. The poster holds the queue pair's send lock (or has promised to be alone), so there is one. The agent thread is the one
//!    executor of what waits.
//! 2. `waiting` counts requests put in and not yet ended. The poster adds to it after the request is in; the agent
//!    subtracts after the request's completion is pushed and the request is out.
//! 3. While `waiting` is 0 (acquire), the poster executes, and the agent does not look at the queue pair's sending side; while it
//!    is not, the agent executes and the poster only adds. So the sending side (`Sending`) has one user at a time.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use weft_roce::timing::Retries;
use weft_verbs_abi::*;

use super::proxied_step::ProxiedStep;
use super::request::{Payload, Request};
use crate::call::readable;

/// A request that waits.
pub struct Waiting {
    pub request: Request,
    payload: OwnedPayload,
    /// Bytes that were moved.
    pub done: u64,
    /// Status and bytes, when only the completion is missing.
    pub ended: Option<(ibv_wc_status, u64)>,
    pub(super) retries: Retries,
    /// The last try was not answered; it has until `due_ns`.
    pub(super) awaits_answer: bool,
    /// What the target's agent was asked for.
    pub proxied: ProxiedStep,
    /// When to try next, on the monotonic clock; 0 for now.
    pub due_ns: u64,
}

enum OwnedPayload {
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
                OwnedPayload::Inline(bytes.into())
            }
            Payload::Elements(elements) => OwnedPayload::Elements(elements.into()),
            Payload::Inline(bytes) => OwnedPayload::Inline(bytes.into()),
        };
        Waiting {
            request: *request,
            payload,
            done: 0,
            ended: None,
            retries: Retries::default(),
            awaits_answer: false,
            proxied: ProxiedStep::default(),
            due_ns: 0,
        }
    }

    pub fn payload(&self) -> Payload<'_> {
        match &self.payload {
            OwnedPayload::Elements(elements) => Payload::Elements(elements),
            OwnedPayload::Inline(bytes) => Payload::Inline(bytes),
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
            && oldest.proxied.is_answered()
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
