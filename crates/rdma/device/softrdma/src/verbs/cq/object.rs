//! The object that an application has of a completion queue.

use std::cell::UnsafeCell;
use std::sync::atomic::AtomicU32;

use weft_verbs_abi::*;

use crate::fabric::Completion;
use crate::path::completion_queue::CompletionQueue;
use crate::uar::Held;
use crate::users::{UseCount, UseGuard};
use crate::verbs::acknowledgement::Acknowledged;
use crate::verbs::context::Context;

#[repr(C)]
pub struct Cq {
    pub(super) abi: UnsafeCell<ibv_cq_ex>,
    pub context: &'static Context,
    pub inner: CompletionQueue,
    pub users: UseCount,
    /// Of the extended interface (`extended`).
    pub(super) cursor: UnsafeCell<Cursor>,
    pub(super) delivered: AtomicU32,
    pub(super) async_delivered: AtomicU32,
    pub(super) _uses: Vec<UseGuard>,
}

// SAFETY: `abi` is the application's to read and, in single fields, ours by `acknowledgement` and `extended`; `cursor` is by the
// protocol of `extended`.
unsafe impl Sync for Cq {}
// SAFETY: as above.
unsafe impl Send for Cq {}

/// The completion that is looked at.
#[derive(Default)]
pub struct Cursor {
    pub(super) held: Option<Held<'static>>,
    pub(super) completion: Completion,
}

impl Cq {
    /// # Safety
    /// `cq` is a completion queue of this device that is not destroyed while the result is used.
    #[inline]
    pub unsafe fn from_abi(cq: *mut ibv_cq) -> &'static Cq {
        // SAFETY: each begins with the public structure.
        unsafe { &*cq.cast::<Cq>() }
    }

    /// As [`Cq::from_abi`]; none for null.
    ///
    /// # Safety
    /// As of [`Cq::from_abi`], unless it is null.
    pub unsafe fn optional(cq: *mut ibv_cq) -> Option<&'static Cq> {
        // SAFETY: not null; the caller's promise.
        (!cq.is_null()).then(|| unsafe { Cq::from_abi(cq) })
    }

    pub fn as_abi(&self) -> *mut ibv_cq {
        self.abi.get().cast()
    }

    /// A polled completion of a send frees its queue pair's places up to its own.
    #[inline]
    pub fn release_send_queue(&self, completion: &Completion) {
        if u32::from(completion.opcode) & IBV_WC_RECV == 0 {
            self.context
                .adapter
                .tables
                .release_send_queue(completion.qp_num, completion.send_index);
        }
    }

    pub fn async_acknowledged(&self) -> Acknowledged<'_> {
        let abi = self.as_abi();
        // SAFETY: fields of the living object.
        unsafe {
            Acknowledged {
                mutex: &raw mut (*abi).mutex,
                cond: &raw mut (*abi).cond,
                completed: &raw mut (*abi).async_events_completed,
                delivered: &self.async_delivered,
            }
        }
    }

    pub fn acknowledged(&self) -> Acknowledged<'_> {
        let abi = self.as_abi();
        // SAFETY: as above.
        unsafe {
            Acknowledged {
                mutex: &raw mut (*abi).mutex,
                cond: &raw mut (*abi).cond,
                completed: &raw mut (*abi).comp_events_completed,
                delivered: &self.delivered,
            }
        }
    }
}
