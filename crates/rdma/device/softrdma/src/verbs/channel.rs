//! Completion channels (ibv_create_comp_channel(3), ibv_get_cq_event(3)).

use std::ffi::{c_int, c_void};
use std::os::fd::{AsFd, AsRawFd};

use weft_verbs_abi::*;

use super::call::{Result, code, pointer, status};
use super::context::Context;
use super::users::{Stand, Users};
use crate::fabric::notify;
use crate::fault::Call;

#[repr(C)]
pub struct Channel {
    abi: ibv_comp_channel,
    context: &'static Context,
    inner: notify::Channel,
    pub users: Users,
    _stand: Stand,
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

    /// The next event: its queue and the queue's context.
    fn next(&self) -> Result<(*mut ibv_cq, *mut c_void)> {
        let process = self.context.process;
        loop {
            let id = self
                .inner
                .receive(process.home(), process.fabric.sender())?;
            // An event may be older than its queue's end.
            let queue = process.cqs.at(id.index).filter(|cq| cq.id == id);
            if let Some(cq) = queue {
                cq.acknowledged().deliver();
                let abi = cq.as_abi();
                // SAFETY: the queue lives until its events are acknowledged.
                return Ok((abi, unsafe { (*abi).cq_context }));
            }
        }
    }
}

fn create(context: &'static Context) -> Result<*mut ibv_comp_channel> {
    context.strike(Call::CreateCompChannel)?;
    let inner = notify::Channel::create(context.process.home())?;
    let channel = Channel {
        abi: ibv_comp_channel {
            context: context.as_abi(),
            fd: inner.as_fd().as_raw_fd(),
            refcnt: 0,
        },
        context,
        inner,
        users: Users::default(),
        _stand: Stand::on(&context.users),
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

/// # Safety
/// `channel` is a channel of this device; the others are writable.
pub unsafe extern "C" fn ibv_get_cq_event(
    channel: *mut ibv_comp_channel,
    cq: *mut *mut ibv_cq,
    cq_context: *mut *mut c_void,
) -> c_int {
    // SAFETY: the caller's promise.
    let this = unsafe { &*channel.cast::<Channel>() };
    status(this.next().map(|(queue, context)| {
        // SAFETY: the caller's promise.
        unsafe {
            *cq = queue;
            *cq_context = context;
        }
    }))
}
