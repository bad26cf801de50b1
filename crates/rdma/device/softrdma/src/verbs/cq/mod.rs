//! Completion queues (ibv_create_cq(3), ibv_create_cq_ex(3), ibv_resize_cq(3), ibv_req_notify_cq(3), ibv_modify_cq(3)).

mod extended;
mod poll;

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::sync::atomic::AtomicU32;

use weft_verbs_abi::*;

use self::extended::Cursor;
use super::acknowledgement::{self, Acknowledged};
use super::async_event::Element;
use super::attributes::MAX_CQE;
use super::call::{Errno, Result, code, pointer, require};
use super::channel::Channel;
use super::context::Context;
use super::users::{Stand, Users};
use crate::fabric::completion::{self, Arm, Completion};
use crate::fabric::segment::ObjectId;
use crate::fault::Call;
use crate::uar;

pub use poll::poll_cq;

#[repr(C)]
pub struct Cq {
    abi: UnsafeCell<ibv_cq_ex>,
    pub context: &'static Context,
    pub id: ObjectId,
    pub users: Users,
    pub resources: uar::CompletionQueue,
    pub stamped: bool,
    channel: Option<&'static Channel>,
    /// Of the extended interface (`extended`).
    cursor: UnsafeCell<Cursor>,
    delivered: AtomicU32,
    async_delivered: AtomicU32,
    _stands: Vec<Stand>,
}

// SAFETY: `abi` is the application's to read and, in single fields, ours by `acknowledgement` and `extended`; `cursor` is by the
// protocol of `extended`.
unsafe impl Sync for Cq {}
// SAFETY: as above.
unsafe impl Send for Cq {}

/// What a queue is made with.
struct Wish {
    capacity: u32,
    cq_context: *mut c_void,
    channel: *mut ibv_comp_channel,
    vector: u32,
    single_threaded: bool,
    fields: ibv_create_cq_wc_flags,
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

    /// The queue in shared memory.
    #[inline]
    pub fn queue(&self) -> completion::Cq<'static> {
        self.context.process.home().segment().cq(self.id)
    }

    /// A polled completion of a send frees its queue pair's places up to its own.
    #[inline]
    pub fn release_send_queue(&self, completion: &Completion) {
        if u32::from(completion.opcode) & IBV_WC_RECV == 0 {
            self.context
                .process
                .release_send_queue(completion.qp_num, completion.send_index);
        }
    }

    /// Drops the completions of a queue pair that is destroyed or reset, and does what must not meet a poll.
    pub fn sweep(&self, qpn: u32, meanwhile: impl FnOnce()) {
        let _held = self.resources.enter();
        let processes = self.context.process.fabric.processes();
        // One that cannot be locked in seconds is held by a process that was stopped; its completions stay.
        let _ = self
            .queue()
            .sweep(processes, |completion| completion.qp_num == qpn);
        meanwhile();
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

/// # Safety
/// The channel of `wish` is null or lives.
unsafe fn create(context: &'static Context, wish: &Wish) -> Result<&'static Cq> {
    let in_range = (1..=MAX_CQE).contains(&wish.capacity);
    let vectors = context.vectors();
    require(in_range && wish.vector < vectors, Errno::EINVAL)?;
    context.strike(Call::CreateCq)?;
    // SAFETY: the caller's promise.
    let channel = unsafe { Channel::optional(wish.channel) };
    let home = context.process.home();
    let resources = context.uar.create_cq(wish.single_threaded)?;
    let number = channel.map(Channel::number);
    let id = home.create_cq(wish.capacity, number)?;
    let stamped = extended::wants_time(wish.fields);
    home.segment().cq_record(id.index).stamp(stamped);
    let stands = channel.map(|channel| Stand::on(&channel.users));
    let cq = Box::leak(Box::new(Cq {
        abi: UnsafeCell::new(ibv_cq_ex::default()),
        context,
        id,
        users: Users::default(),
        resources,
        stamped,
        channel,
        cursor: UnsafeCell::default(),
        delivered: AtomicU32::new(0),
        async_delivered: AtomicU32::new(0),
        _stands: stands
            .into_iter()
            .chain([Stand::on(&context.users)])
            .collect(),
    }));
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
    context.process.cqs.enter(id.index, cq);
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
        .home()
        .destroy_cq(process.fabric.processes(), cq.id)
        .map_err(|_| Errno::EBUSY)?;
    process.cqs.leave(cq.id.index);
    process.settle();
    cq.context.events.forget(Element::Cq(cq.as_abi()));
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
        let _held = this.resources.enter();
        let process = this.context.process;
        let processes = process.fabric.processes();
        process.home().resize_cq(processes, this.id, capacity)?;
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
    this.queue().arm(match solicited_only {
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

/// # Safety
/// `cq` is a completion queue whose events were got, so many of them.
pub unsafe extern "C" fn ibv_ack_cq_events(cq: *mut ibv_cq, events: u32) {
    // SAFETY: the caller's promise.
    unsafe { Cq::from_abi(cq) }
        .acknowledged()
        .acknowledge(events);
}

impl Cq {
    /// The channel that its events go to.
    pub fn channel(&self) -> Option<&'static Channel> {
        self.channel
    }
}
