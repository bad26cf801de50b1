//! Taking events from a channel, and waiting for the one that a call has (rdma_get_cm_event(3)).

use std::ffi::c_int;

use crate::abi::*;
use crate::call::{Errno, Outcome, status};
use crate::channel::Channel;
use crate::deliver;
use crate::identifier::{Identifier, acknowledge_own};

/// The next event of the channel. News that nothing is left of are passed over.
///
/// # Safety
/// `channel` is one of ours.
pub unsafe fn next(channel: *mut rdma_event_channel) -> Outcome<*mut rdma_cm_event> {
    loop {
        // SAFETY: the caller's promise; the news are from its channel.
        let event = unsafe { deliver::deliver((*channel.cast::<Channel>()).take()?) };
        if let Some(event) = event {
            return Ok(Box::into_raw(event).cast());
        }
    }
}

/// # Safety
/// `channel` is one of ours, `event` writable.
pub unsafe extern "C" fn rdma_get_cm_event(
    channel: *mut rdma_event_channel,
    event: *mut *mut rdma_cm_event,
) -> c_int {
    // SAFETY: the caller's promise.
    status(unsafe { next(channel).map(|found| event.write(found)) })
}

/// Of an identifier without a channel: waits for the event, which stays with the identifier until its next one.
///
/// # Safety
/// `id` is one of ours.
pub unsafe fn complete(id: *mut rdma_cm_id) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        if !Identifier::inner(id).waits {
            return Ok(());
        }
        acknowledge_own(id);
        (*id).event = next((*id).channel)?;
        let event = &*(*id).event;
        match event.status {
            0 => Ok(()),
            _ if event.event == RDMA_CM_EVENT_REJECTED => Err(Errno(libc::ECONNREFUSED)),
            status => Err(Errno(status.wrapping_abs())),
        }
    }
}
