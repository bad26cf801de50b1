//! Completion events (ibv_get_cq_event(3)).

use std::ffi::{c_int, c_void};

use weft_verbs_abi::*;

use super::object::Cq;
use crate::call::{Result, status};
use crate::path::event::Element;
use crate::verbs::channel::Channel;

/// The next event: its queue and the queue's context.
fn next(channel: &Channel) -> Result<(*mut ibv_cq, *mut c_void)> {
    let process = channel.context.process;
    loop {
        let id = channel
            .inner
            .receive(process.own_segment(), process.fabric.sender())?;
        // An event may be older than its queue's end.
        let tables = channel.context.adapter.tables;
        let queue = tables.cqs.at(id.index).filter(|cq| cq.id == id);
        if let Some(Element::Cq(abi)) = queue.map(|cq| cq.events.element) {
            // SAFETY: the queue is in the table, so it lives.
            unsafe { Cq::from_abi(abi) }.acknowledged().deliver();
            // SAFETY: the queue lives until its events are acknowledged.
            return Ok((abi, unsafe { (*abi).cq_context }));
        }
    }
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
    status(next(this).map(|(queue, context)| {
        // SAFETY: the caller's promise.
        unsafe {
            *cq = queue;
            *cq_context = context;
        }
    }))
}

/// # Safety
/// `cq` is a completion queue whose events were got, so many of them.
pub unsafe extern "C" fn ibv_ack_cq_events(cq: *mut ibv_cq, events: u32) {
    // SAFETY: the caller's promise.
    unsafe { Cq::from_abi(cq) }
        .acknowledged()
        .acknowledge(events);
}
