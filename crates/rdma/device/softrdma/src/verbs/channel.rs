//! Completion channels (ibv_create_comp_channel(3)).

use std::ffi::c_int;
use std::os::fd::{AsFd, AsRawFd};

use weft_verbs_abi::*;

use super::context::Context;
use crate::call::{Result, code, pointer};
use crate::fabric::notify;
use crate::fault::Call;
use crate::users::{UseCount, UseGuard};

#[repr(C)]
pub struct Channel {
    abi: ibv_comp_channel,
    pub context: &'static Context,
    pub inner: notify::Channel,
    pub users: UseCount,
    _use: UseGuard,
}

impl Channel {
    /// None for null.
    ///
    /// # Safety
    /// `channel` is null or a channel of this device that is not destroyed while the result is used.
    pub unsafe fn optional(channel: *mut ibv_comp_channel) -> Option<&'static Channel> {
        // SAFETY: each begins with the public structure.
        unsafe { channel.cast::<Channel>().as_ref() }
    }

    pub fn number(&self) -> u32 {
        self.inner.number()
    }
}

fn create(context: &'static Context) -> Result<*mut ibv_comp_channel> {
    context.inject_fault(Call::CreateCompChannel)?;
    let inner = notify::Channel::create(context.process.own_segment())?;
    let channel = Channel {
        abi: ibv_comp_channel {
            context: context.as_abi(),
            fd: inner.as_fd().as_raw_fd(),
            refcnt: 0,
        },
        context,
        inner,
        users: UseCount::default(),
        _use: UseGuard::new(&context.users),
    };
    Ok(Box::into_raw(Box::new(channel)).cast())
}

/// # Safety
/// `context` is open.
pub unsafe extern "C" fn ibv_create_comp_channel(
    context: *mut ibv_context,
) -> *mut ibv_comp_channel {
    // SAFETY: the caller's promise.
    pointer(create(unsafe { Context::from_abi(context) }))
}

/// EBUSY while queues send their events to it.
///
/// # Safety
/// `channel` is a channel of this device, destroyed once.
pub unsafe extern "C" fn ibv_destroy_comp_channel(channel: *mut ibv_comp_channel) -> c_int {
    // SAFETY: the caller's promise.
    let this = unsafe { &*channel.cast::<Channel>() };
    code(this.users.require_none().map(|()| {
        // SAFETY: it was made by `create`, and no queue knows it.
        drop(unsafe { Box::from_raw(channel.cast::<Channel>()) });
    }))
}
