//! Completion queues (ibv_create_cq(3), ibv_create_cq_ex(3), ibv_resize_cq(3), ibv_req_notify_cq(3), ibv_modify_cq(3)).

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::sync::atomic::AtomicU32;

use weft_verbs_abi::*;

use super::extended;
use super::object::Cq;
use crate::call::{Errno, Result, code, pointer, require};
use crate::fabric::Arm;
use crate::fault::Call;
use crate::path::completion_queue::CompletionQueue;
use crate::path::event::{Element, EventSource};
use crate::users::{UseCount, UseGuard};
use crate::verbs::acknowledgement;
use crate::verbs::channel::Channel;
use crate::verbs::context::Context;
use crate::verbs::limits::MAX_CQE;

/// What a queue is made with.
struct Wish {
    capacity: u32,
    cq_context: *mut c_void,
    channel: *mut ibv_comp_channel,
    vector: u32,
    single_threaded: bool,
    fields: ibv_create_cq_wc_flags,
}

/// # Safety
/// The channel of `wish` is null or lives.
unsafe fn create(context: &'static Context, wish: &Wish) -> Result<&'static Cq> {
    let in_range = (1..=MAX_CQE).contains(&wish.capacity);
    let vectors = context.vectors();
    require(in_range && wish.vector < vectors, Errno::EINVAL)?;
    context.inject_fault(Call::CreateCq)?;
    // SAFETY: the caller's promise.
    let channel = unsafe { Channel::optional(wish.channel) };
    let own_segment = context.process.own_segment();
    let resources = context.uar.create_cq(wish.single_threaded)?;
    let number = channel.map(Channel::number);
    let id = own_segment.create_cq(wish.capacity, number)?;
    let stamped = extended::wants_time(wish.fields);
    own_segment.segment().cq_record(id.index).stamp(stamped);
    let uses = channel.map(|channel| UseGuard::new(&channel.users));
    let place = Box::leak(Box::<Cq>::new_uninit());
    let element = Element::Cq(place.as_mut_ptr().cast());
    let cq = place.write(Cq {
        abi: UnsafeCell::new(ibv_cq_ex::default()),
        context,
        inner: CompletionQueue {
            process: context.process,
            id,
            resources,
            stamped,
            events: EventSource {
                events: &context.events,
                element,
            },
        },
        users: UseCount::default(),
        cursor: UnsafeCell::default(),
        delivered: AtomicU32::new(0),
        async_delivered: AtomicU32::new(0),
        _uses: uses
            .into_iter()
            .chain([UseGuard::new(&context.users)])
            .collect(),
    });
    let abi = cq.abi.get_mut();
    abi.base.context = context.as_abi();
    abi.base.channel = wish.channel;
    abi.base.cq_context = wish.cq_context;
    abi.base.handle = u32::from(id.index);
    abi.base.cqe = wish.capacity as c_int;
    // SAFETY: where they stay, and nobody knows them yet.
    unsafe { acknowledgement::initialise(&mut abi.base.mutex, &mut abi.base.cond) };
    extended::install(abi, wish.fields);
    let cq = &*cq;
    context.adapter.tables.cqs.enter(id.index, &cq.inner);
    Ok(cq)
}

/// # Safety
/// `context` is open, `channel` null or alive.
pub unsafe extern "C" fn ibv_create_cq(
    context: *mut ibv_context,
    cqe: c_int,
    cq_context: *mut c_void,
    channel: *mut ibv_comp_channel,
    vector: c_int,
) -> *mut ibv_cq {
    let wish = Wish {
        capacity: u32::try_from(cqe).unwrap_or(0),
        cq_context,
        channel,
        vector: vector as u32,
        single_threaded: false,
        fields: IBV_WC_STANDARD_FLAGS,
    };
    // SAFETY: the caller's promise.
    let cq = unsafe { create(Context::from_abi(context), &wish) };
    pointer(cq.map(Cq::as_abi))
}

/// # Safety
/// `context` is open, `attributes` readable, the channel null or alive.
pub unsafe extern "C" fn create_cq_ex(
    context: *mut ibv_context,
    attributes: *mut ibv_cq_init_attr_ex,
) -> *mut ibv_cq_ex {
    const MASKS: u32 = IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD;
    const FLAGS: u32 = IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
    // SAFETY: the caller's promise.
    let attributes = unsafe { &*attributes };
    let has_flags = attributes.comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS != 0;
    let flags = if has_flags { attributes.flags } else { 0 };
    let known = attributes.comp_mask & !MASKS == 0
        && flags & !FLAGS == 0
        && attributes.wc_flags & !IBV_CREATE_CQ_SUP_WC_FLAGS == 0;
    let fields_known = attributes.wc_flags & !extended::KNOWN_FIELDS == 0;
    let wish = Wish {
        capacity: attributes.cqe,
        cq_context: attributes.cq_context,
        channel: attributes.channel,
        vector: attributes.comp_vector,
        single_threaded: flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED != 0,
        fields: attributes.wc_flags,
    };
    let cq = require(known, Errno::EINVAL)
        .and_then(|()| require(fields_known, Errno::EOPNOTSUPP))
        // SAFETY: the caller's promise.
        .and_then(|()| unsafe { create(Context::from_abi(context), &wish) });
    pointer(cq.map(|cq| cq.as_abi().cast()))
}

/// # Safety
/// `cq` is a completion queue of this device, destroyed once.
pub unsafe extern "C" fn ibv_destroy_cq(cq: *mut ibv_cq) -> c_int {
    // SAFETY: the caller's promise.
    let this = unsafe { Cq::from_abi(cq) };
    code(destroy(this).map(|()| {
        // SAFETY: it was leaked from a box by `create`, and nobody knows it any more.
        drop(unsafe { Box::from_raw(cq.cast::<Cq>()) });
    }))
}

fn destroy(cq: &'static Cq) -> Result {
    cq.users.require_none()?;
    let process = cq.context.process;
    process
        .own_segment()
        .destroy_cq(process.fabric.processes(), cq.inner.id)
        .map_err(|_| Errno::EBUSY)?;
    let adapter = cq.context.adapter;
    adapter.tables.cqs.leave(cq.inner.id.index);
    adapter.quiesce();
    cq.inner.events.forget();
    cq.acknowledged().wait();
    cq.async_acknowledged().wait();
    Ok(())
}

/// # Safety
/// `cq` is a completion queue of this device.
pub unsafe extern "C" fn ibv_resize_cq(cq: *mut ibv_cq, cqe: c_int) -> c_int {
    // SAFETY: the caller's promise.
    let this = unsafe { Cq::from_abi(cq) };
    let capacity = u32::try_from(cqe).unwrap_or(0);
    let resized = require((1..=MAX_CQE).contains(&capacity), Errno::EINVAL).and_then(|()| {
        let _held = this.inner.resources.enter();
        let process = this.context.process;
        let processes = process.fabric.processes();
        process
            .own_segment()
            .resize_cq(processes, this.inner.id, capacity)?;
        // SAFETY: the application does not resize from two threads at once.
        unsafe { (*cq).cqe = cqe };
        Ok(())
    });
    code(resized)
}

/// # Safety
/// `cq` is a completion queue of this device.
pub unsafe extern "C" fn req_notify_cq(cq: *mut ibv_cq, solicited_only: c_int) -> c_int {
    // SAFETY: the caller's promise.
    let this = unsafe { Cq::from_abi(cq) };
    this.inner.queue().arm(match solicited_only {
        0 => Arm::Any,
        _ => Arm::Solicited,
    });
    0
}

/// Moderation changes when events come, not whether; here they come at once.
///
/// # Safety
/// `attributes` is readable.
pub unsafe extern "C" fn modify_cq(_cq: *mut ibv_cq, attributes: *mut ibv_modify_cq_attr) -> c_int {
    // SAFETY: the caller's promise.
    let mask = unsafe { (*attributes).attr_mask };
    code(require(mask == IBV_CQ_ATTR_MODERATE, Errno::EINVAL).and(Err(Errno::EOPNOTSUPP)))
}
