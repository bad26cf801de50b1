//! The object that an application has of a queue pair.

use std::cell::UnsafeCell;
use std::sync::atomic::AtomicU32;

use weft_verbs_abi::*;

use crate::call::Errno;
use crate::path::queue_pair::QueuePair;
use crate::path::request::Request;
use crate::uar::Sending;
use crate::users::UseGuard;
use crate::verbs::acknowledgement::Acknowledged;
use crate::verbs::context::Context;

#[repr(C)]
pub struct Qp {
    pub(super) abi: UnsafeCell<ibv_qp_ex>,
    pub context: &'static Context,
    pub inner: QueuePair,
    pub is_extended: bool,
    /// Between `wr_start` and `wr_complete` (`builder`).
    pub(super) builder: UnsafeCell<Builder>,
    pub(super) delivered: AtomicU32,
    pub(super) _uses: Vec<UseGuard>,
}

/// What has been built since `wr_start`.
#[derive(Default)]
pub struct Builder {
    pub(super) sending: Option<Sending<'static>>,
    pub(super) items: Vec<Item>,
    pub(super) sges: Vec<ibv_sge>,
    pub(super) bytes: Vec<u8>,
    pub(super) error: Option<Errno>,
}

pub struct Item {
    pub(super) request: Request,
    pub(super) payload: Range,
}

/// A range of the builder's elements or bytes.
#[derive(Clone, Copy)]
pub enum Range {
    Elements { first: usize, count: usize },
    Inline { first: usize, count: usize },
}

// SAFETY: `abi` is the application's to read and, in single fields, ours by `acknowledgement` and `modify`; `builder` is by the
// protocol of the module of that name.
unsafe impl Sync for Qp {}
// SAFETY: as above.
unsafe impl Send for Qp {}

impl Qp {
    /// # Safety
    /// `qp` is a queue pair of this device that is not destroyed while the result is used.
    #[inline]
    pub unsafe fn from_abi(qp: *mut ibv_qp) -> &'static Qp {
        // SAFETY: each begins with the public structure.
        unsafe { &*qp.cast::<Qp>() }
    }

    pub fn as_abi(&self) -> *mut ibv_qp {
        self.abi.get().cast()
    }

    pub fn acknowledged(&self) -> Acknowledged<'_> {
        let abi = self.as_abi();
        // SAFETY: fields of the living object.
        unsafe {
            Acknowledged {
                mutex: &raw mut (*abi).mutex,
                cond: &raw mut (*abi).cond,
                completed: &raw mut (*abi).events_completed,
                delivered: &self.delivered,
            }
        }
    }
}
