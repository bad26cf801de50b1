//! Shared receive queues (ibv_create_srq(3), ibv_create_srq_ex(3), ibv_modify_srq(3), ibv_post_srq_recv(3)).

use std::cell::UnsafeCell;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU32, Ordering};

use weft_verbs_abi::*;

use super::acknowledgement::{self, Acknowledged};
use super::context::Context;
use super::cq::Cq;
use super::domain::Pd;
use super::limits::{MAX_QP_WR, MAX_SGE};
use super::receive_list::post_list;
use super::xrcd::Xrcd;
use crate::call::{Errno, Result, code, pointer, require};
use crate::fabric::numbers::Number;
use crate::fabric::receive::Ring;
use crate::fault::Call;
use crate::path::event::{Element, EventSource};
use crate::uar;
use crate::users::{UseCount, UseGuard};

#[repr(C)]
pub struct Srq {
    abi: UnsafeCell<ibv_srq>,
    pub context: &'static Context,
    pub index: u16,
    pub is_xrc: bool,
    pub users: UseCount,
    max_sge: u32,
    resources: uar::SharedReceiveQueue,
    events: EventSource,
    delivered: AtomicU32,
    _uses: Vec<UseGuard>,
}

// SAFETY: `abi` is the application's to read and, in single fields, ours by `acknowledgement`.
unsafe impl Sync for Srq {}
// SAFETY: as above.
unsafe impl Send for Srq {}

/// What an XRC shared receive queue has beyond others.
struct Xrc {
    domain: &'static Xrcd,
    cq: &'static Cq,
}

impl Srq {
    /// # Safety
    /// `srq` is a shared receive queue of this device that is not destroyed while the result is used.
    #[inline]
    pub unsafe fn from_abi(srq: *mut ibv_srq) -> &'static Srq {
        // SAFETY: each begins with the public structure.
        unsafe { &*srq.cast::<Srq>() }
    }

    pub fn as_abi(&self) -> *mut ibv_srq {
        self.abi.get()
    }

    /// The number by which XRC requests name it.
    pub fn number(&self) -> Number {
        Number::new(self.context.process.fabric.me().slot(), self.index)
    }

    #[inline]
    fn ring(&self) -> Ring<'static> {
        self.context
            .process
            .own_segment()
            .segment()
            .shared_ring(self.index)
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

    /// The limit may have been set when the queue was below it already.
    fn check_limit(&self) {
        if self.ring().limit_reached() {
            // The limit is disarmed.
            self.events.raise(IBV_EVENT_SRQ_LIMIT_REACHED);
        }
    }
}

fn create(pd: &'static Pd, wish: &mut ibv_srq_init_attr, xrc: Option<Xrc>) -> Result<&'static Srq> {
    let attributes = &mut wish.attr;
    let in_range = (1..=MAX_QP_WR).contains(&attributes.max_wr) && attributes.max_sge <= MAX_SGE;
    require(in_range, Errno::EINVAL)?;
    let context = pd.context;
    context.inject_fault(Call::CreateSrq)?;
    attributes.max_sge = attributes.max_sge.max(1);
    let resources = context.uar.create_srq(pd.thread_domain())?;
    let own_segment = context.process.own_segment();
    let index = own_segment.create_srq(attributes.max_wr, attributes.max_sge, |_, record| {
        let (domain, cq) = match &xrc {
            Some(xrc) => (xrc.domain.id.word(), xrc.cq.inner.id.word()),
            None => (0, 0),
        };
        record.device.store(context.device.index, Ordering::Relaxed);
        record.pd.store(pd.key, Ordering::Relaxed);
        record.xrc_domain.store(domain, Ordering::Relaxed);
        record.cq.store(cq, Ordering::Relaxed);
        record.state.store(0, Ordering::Relaxed);
    })?;
    let mut uses = vec![UseGuard::new(&pd.users), UseGuard::new(&context.users)];
    if let Some(xrc) = &xrc {
        // A process that receives for queue pairs that others made must hear of their senders' proxied steps, and of packets that only
        // this process can execute.
        context.process.receive_from_hosts();
        uses.push(UseGuard::new(&xrc.domain.users));
        uses.push(UseGuard::new(&xrc.cq.users));
    }
    let place = Box::leak(Box::<Srq>::new_uninit());
    let element = Element::Srq(place.as_mut_ptr().cast());
    let srq = place.write(Srq {
        abi: UnsafeCell::new(ibv_srq::default()),
        context,
        index,
        is_xrc: xrc.is_some(),
        users: UseCount::default(),
        max_sge: attributes.max_sge,
        resources,
        events: EventSource {
            events: &context.events,
            element,
        },
        delivered: AtomicU32::new(0),
        _uses: uses,
    });
    let abi = srq.abi.get_mut();
    abi.context = context.as_abi();
    abi.srq_context = wish.srq_context;
    abi.pd = std::ptr::from_ref(pd).cast_mut().cast();
    abi.handle = u32::from(index);
    // SAFETY: where they stay, and nobody knows them yet.
    unsafe { acknowledgement::initialise(&mut abi.mutex, &mut abi.cond) };
    let srq = &*srq;
    context.adapter.tables.srqs.enter(index, &srq.events);
    if attributes.srq_limit != 0 {
        srq.ring().set_limit(attributes.srq_limit);
    }
    Ok(srq)
}

/// # Safety
/// `pd` is a protection domain, `attributes` readable and writable.
pub unsafe extern "C" fn ibv_create_srq(
    pd: *mut ibv_pd,
    attributes: *mut ibv_srq_init_attr,
) -> *mut ibv_srq {
    // SAFETY: the caller's promise.
    let srq = unsafe { Pd::checked(pd).and_then(|pd| create(pd, &mut *attributes, None)) };
    pointer(srq.map(Srq::as_abi))
}

/// # Safety
/// `attributes` is readable and writable, and what it names alive.
pub unsafe extern "C" fn create_srq_ex(
    _context: *mut ibv_context,
    attributes: *mut ibv_srq_init_attr_ex,
) -> *mut ibv_srq {
    // SAFETY: the caller's promise.
    let attributes = unsafe { &mut *attributes };
    // SAFETY: as above.
    pointer(unsafe { create_extended(attributes) }.map(Srq::as_abi))
}

/// # Safety
/// What `attributes` names is alive.
unsafe fn create_extended(attributes: &mut ibv_srq_init_attr_ex) -> Result<&'static Srq> {
    let has = |mask: u32| attributes.comp_mask & mask != 0;
    let known = IBV_SRQ_INIT_ATTR_TYPE
        | IBV_SRQ_INIT_ATTR_PD
        | IBV_SRQ_INIT_ATTR_XRCD
        | IBV_SRQ_INIT_ATTR_CQ
        | IBV_SRQ_INIT_ATTR_TM;
    require(attributes.comp_mask & !known == 0, Errno::EINVAL)?;
    require(has(IBV_SRQ_INIT_ATTR_PD), Errno::EINVAL)?;
    let kind = match has(IBV_SRQ_INIT_ATTR_TYPE) {
        true => attributes.srq_type,
        false => IBV_SRQT_BASIC,
    };
    // SAFETY: the caller's promise.
    let pd = unsafe { Pd::checked(attributes.pd) }?;
    let xrc = match kind {
        IBV_SRQT_BASIC => None,
        IBV_SRQT_XRC => {
            let both = has(IBV_SRQ_INIT_ATTR_XRCD) && has(IBV_SRQ_INIT_ATTR_CQ);
            require(both, Errno::EINVAL)?;
            // SAFETY: the caller's promise.
            let (domain, cq) =
                unsafe { (Xrcd::optional(attributes.xrcd), Cq::optional(attributes.cq)) };
            Some(Xrc {
                domain: domain.ok_or(Errno::EINVAL)?,
                cq: cq.ok_or(Errno::EINVAL)?,
            })
        }
        IBV_SRQT_TM => return Err(Errno::EOPNOTSUPP),
        _ => return Err(Errno::EINVAL),
    };
    let mut wish = ibv_srq_init_attr {
        srq_context: attributes.srq_context,
        attr: attributes.attr,
    };
    let srq = create(pd, &mut wish, xrc)?;
    attributes.attr = wish.attr;
    Ok(srq)
}

/// # Safety
/// `srq` is a shared receive queue of this device.
pub unsafe extern "C" fn ibv_modify_srq(
    srq: *mut ibv_srq,
    attributes: *mut ibv_srq_attr,
    mask: c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    let (this, attributes) = unsafe { (Srq::from_abi(srq), &*attributes) };
    code(modify(this, attributes, mask as u32))
}

fn modify(srq: &Srq, attributes: &ibv_srq_attr, mask: u32) -> Result {
    require(mask & !(IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT) == 0, Errno::EINVAL)?;
    require(mask & IBV_SRQ_MAX_WR == 0, Errno::EOPNOTSUPP)?;
    if mask & IBV_SRQ_LIMIT != 0 {
        require(attributes.srq_limit <= srq.ring().capacity(), Errno::EINVAL)?;
        srq.ring().set_limit(attributes.srq_limit);
        srq.check_limit();
    }
    Ok(())
}

/// # Safety
/// `srq` is a shared receive queue of this device, `attributes` writable.
pub unsafe extern "C" fn ibv_query_srq(srq: *mut ibv_srq, attributes: *mut ibv_srq_attr) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        let this = Srq::from_abi(srq);
        attributes.write(ibv_srq_attr {
            max_wr: this.ring().capacity(),
            max_sge: this.max_sge,
            srq_limit: this.ring().limit(),
        });
    }
    0
}

/// # Safety
/// `srq` is a shared receive queue of this device, `number` writable.
pub unsafe extern "C" fn get_srq_num(srq: *mut ibv_srq, number: *mut u32) -> c_int {
    // SAFETY: the caller's promise.
    let this = unsafe { Srq::from_abi(srq) };
    code(require(this.is_xrc, Errno::EINVAL).map(|()| {
        // SAFETY: the caller's promise.
        unsafe { number.write(this.number().bits()) };
    }))
}

/// # Safety
/// `srq` is a shared receive queue of this device, destroyed once.
pub unsafe extern "C" fn ibv_destroy_srq(srq: *mut ibv_srq) -> c_int {
    // SAFETY: the caller's promise.
    let this = unsafe { Srq::from_abi(srq) };
    code(destroy(this).map(|()| {
        // SAFETY: it was leaked from a box by `create`, and nobody knows it any more.
        drop(unsafe { Box::from_raw(srq.cast::<Srq>()) });
    }))
}

fn destroy(srq: &'static Srq) -> Result {
    srq.users.require_none()?;
    let process = srq.context.process;
    process
        .own_segment()
        .destroy_srq(process.fabric.processes(), srq.index)
        .map_err(|_| Errno::EBUSY)?;
    let adapter = srq.context.adapter;
    adapter.tables.srqs.leave(srq.index);
    adapter.quiesce();
    srq.events.forget();
    srq.acknowledged().wait();
    Ok(())
}

/// # Safety
/// `srq` is a shared receive queue of this device, the list readable, `bad_wr` writable.
pub unsafe extern "C" fn post_srq_recv(
    srq: *mut ibv_srq,
    wr: *mut ibv_recv_wr,
    bad_wr: *mut *mut ibv_recv_wr,
) -> c_int {
    // SAFETY: the caller's promise.
    let this = unsafe { Srq::from_abi(srq) };
    let held = this.resources.enter();
    // SAFETY: as above.
    let result = unsafe { post_list(&this.ring(), this.max_sge, wr, bad_wr) };
    drop(held);
    result.map_or_else(|errno| errno.0, |()| 0)
}
