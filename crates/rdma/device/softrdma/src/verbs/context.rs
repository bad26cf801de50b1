//! A context: a device that a program has opened.

use std::ffi::c_int;
use std::mem::offset_of;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use weft_verbs_abi::*;

use super::device::Device;
use crate::call::{Errno, Result, require};
use crate::fault::Call;
use crate::path::adapter::Adapter;
use crate::path::event::AsyncEvents;
use crate::path::process::Process;
use crate::uar;
use crate::users::UseCount;

/// Interrupt lines to spread completion channels over. They mean nothing here, but programs choose among them.
pub const COMPLETION_VECTORS: c_int = 4;

#[repr(C)]
pub struct Context {
    pub(super) abi: verbs_context,
    pub device: &'static Device,
    pub adapter: &'static Adapter,
    pub process: &'static Process,
    pub uar: uar::Context,
    pub events: Arc<AsyncEvents>,
    /// Programs duplicate the descriptor of the kernel's device; that there is none they hear from the calls that use it.
    pub(super) command: OwnedFd,
    /// Objects made in it.
    pub users: UseCount,
}

// SAFETY: the public structure is the application's to read, and never changed; all else is shareable by itself.
unsafe impl Sync for Context {}
// SAFETY: as above.
unsafe impl Send for Context {}

impl Context {
    /// # Safety
    /// `context` came from `ibv_open_device` and stays open while the result is used.
    #[inline]
    pub unsafe fn from_abi(context: *mut ibv_context) -> &'static Context {
        // SAFETY: the public context is the last field of `abi`, which is the first of `Context`.
        unsafe {
            let context = context.cast::<u8>().sub(offset_of!(verbs_context, context));
            &*context.cast::<Context>()
        }
    }

    pub fn as_abi(&'static self) -> *mut ibv_context {
        std::ptr::from_ref(&self.abi.context).cast_mut()
    }

    /// ENOMEM if the user wants this call to fail now.
    pub fn inject_fault(&self, call: Call) -> Result {
        inject_fault(self.device, call)
    }

    /// Completion vectors.
    pub fn vectors(&self) -> u32 {
        COMPLETION_VECTORS as u32
    }

    pub fn link_is_up(&self) -> bool {
        self.process.link_is_up(self.device.index)
    }
}

pub fn inject_fault(device: &Device, call: Call) -> Result {
    require(!device.config.faults.fails(call), Errno::ENOMEM)
}
