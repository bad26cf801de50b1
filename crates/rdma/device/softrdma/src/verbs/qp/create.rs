//! Making and destroying queue pairs (ibv_create_qp(3), ibv_create_qp_ex(3), ibv_open_qp(3)).

use std::cell::UnsafeCell;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU32, Ordering};

use weft_verbs_abi::*;

use super::builder;
use super::object::Qp;
use crate::call::{Errno, Result, code, pointer, require};
use crate::fabric::{Number, ObjectId, QpRecord};
use crate::fault::Call;
use crate::identity;
use crate::path::between_hosts::lifecycle::{close_connection, send_last_of_target};
use crate::path::event::{Element, EventSource};
use crate::path::multicast;
use crate::path::queue_pair::{Parts, QueuePair, Resources};
use crate::path::state::QpKind;
use crate::uar::Object;
use crate::users::UseGuard;
use crate::verbs::acknowledgement;
use crate::verbs::context::Context;
use crate::verbs::cq::Cq;
use crate::verbs::domain::Pd;
use crate::verbs::limits::{MAX_INLINE, MAX_QP_WR, MAX_SGE};
use crate::verbs::srq::Srq;
use crate::verbs::xrcd::Xrcd;

/// What a queue pair is made of, after the checks.
struct Plan {
    context: &'static Context,
    kind: QpKind,
    caps: ibv_qp_cap,
    pd: Option<&'static Pd>,
    xrcd: Option<&'static Xrcd>,
    send_cq: Option<&'static Cq>,
    recv_cq: Option<&'static Cq>,
    srq: Option<&'static Srq>,
    send_operations: Option<ibv_qp_create_send_ops_flags>,
}

/// # Safety
/// What `wish` names is null or alive.
unsafe fn plan(context: &'static Context, wish: &ibv_qp_init_attr_ex) -> Result<Plan> {
    const KNOWN: u32 = IBV_QP_INIT_ATTR_PD
        | IBV_QP_INIT_ATTR_XRCD
        | IBV_QP_INIT_ATTR_CREATE_FLAGS
        | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    let has = |mask: u32| wish.comp_mask & mask != 0;
    require(wish.comp_mask & !KNOWN == 0, Errno::EOPNOTSUPP)?;
    let flags = if has(IBV_QP_INIT_ATTR_CREATE_FLAGS) {
        wish.create_flags
    } else {
        0
    };
    require(flags == 0, Errno::EOPNOTSUPP)?;
    let kind = kind(wish.qp_type)?;
    // SAFETY: the caller's promise; fields that the mask leaves out are not looked at.
    let (pd, xrcd, send_cq, recv_cq, srq) = unsafe {
        (
            has(IBV_QP_INIT_ATTR_PD)
                .then(|| Pd::checked(wish.pd))
                .transpose()?,
            if has(IBV_QP_INIT_ATTR_XRCD) {
                Xrcd::optional(wish.xrcd)
            } else {
                None
            },
            Cq::optional(wish.send_cq).filter(|_| kind.has_send_queue()),
            Cq::optional(wish.recv_cq).filter(|_| kind.has_receive_queue()),
            (kind.has_receive_queue() && !wish.srq.is_null()).then(|| Srq::from_abi(wish.srq)),
        )
    };
    let complete = match kind {
        QpKind::XrcRecv => xrcd.is_some(),
        QpKind::XrcSend => pd.is_some() && send_cq.is_some(),
        _ => pd.is_some() && send_cq.is_some() && recv_cq.is_some(),
    };
    let srq_fits = srq.is_none_or(|srq| !srq.is_xrc);
    require(complete && srq_fits, Errno::EINVAL)?;
    let send_operations = has(IBV_QP_INIT_ATTR_SEND_OPS_FLAGS).then_some(wish.send_ops_flags);
    let unknown = send_operations.unwrap_or(0) & !builder::supported(kind);
    require(unknown == 0, Errno::EOPNOTSUPP)?;
    Ok(Plan {
        context,
        kind,
        caps: caps(kind, &wish.cap, srq.is_some())?,
        pd,
        xrcd: xrcd.filter(|_| kind == QpKind::XrcRecv),
        send_cq,
        recv_cq,
        srq,
        send_operations,
    })
}

fn kind(qp_type: ibv_qp_type) -> Result<QpKind> {
    QpKind::from_abi(qp_type).ok_or(match qp_type {
        IBV_QPT_RAW_PACKET | IBV_QPT_DRIVER => Errno::EOPNOTSUPP,
        _ => Errno::EINVAL,
    })
}

/// The capabilities that are given: those asked for, and room for one element at least.
fn caps(kind: QpKind, wish: &ibv_qp_cap, has_srq: bool) -> Result<ibv_qp_cap> {
    let mut caps = ibv_qp_cap::default();
    if kind.has_send_queue() {
        let fits = wish.max_send_wr <= MAX_QP_WR
            && wish.max_send_sge <= MAX_SGE
            && wish.max_inline_data <= MAX_INLINE;
        require(fits, Errno::EINVAL)?;
        caps.max_send_wr = wish.max_send_wr;
        caps.max_send_sge = wish.max_send_sge.max(1);
        caps.max_inline_data = wish.max_inline_data;
    }
    if kind.has_receive_queue() && !has_srq {
        let fits = wish.max_recv_wr <= MAX_QP_WR && wish.max_recv_sge <= MAX_SGE;
        require(fits, Errno::EINVAL)?;
        caps.max_recv_wr = wish.max_recv_wr;
        caps.max_recv_sge = wish.max_recv_sge.max(1);
    }
    Ok(caps)
}

impl Plan {
    /// Describes the queue pair to peers.
    fn fill(&self, record: &QpRecord) {
        let name = |cq: Option<&Cq>| cq.map_or(0, |cq| ObjectId::word(cq.inner.id));
        record.state.store(IBV_QPS_RESET, Ordering::Relaxed);
        record.kind.store(self.kind as u32, Ordering::Relaxed);
        record
            .device
            .store(self.context.device.index, Ordering::Relaxed);
        record
            .pd
            .store(self.pd.map_or(0, |pd| pd.key), Ordering::Relaxed);
        let domain = self.xrcd.map_or(0, |xrcd| xrcd.id.word());
        record.xrc_domain.store(domain, Ordering::Relaxed);
        let srq = self.srq.map_or(0, |srq| srq.number().bits() + 1);
        record.srq.store(srq, Ordering::Relaxed);
        record
            .receive_cq
            .store(name(self.recv_cq), Ordering::Relaxed);
        record.send_cq.store(name(self.send_cq), Ordering::Relaxed);
        record.access.store(0, Ordering::Relaxed);
        record.dest_qpn.store(0, Ordering::Relaxed);
        record.sender.store(0, Ordering::Relaxed);
        record.qkey.store(0, Ordering::Relaxed);
        record.min_rnr_timer.store(0, Ordering::Relaxed);
        record.failure.store(0, Ordering::Relaxed);
        record.msn.store(0, Ordering::Relaxed);
        multicast::clear(record);
    }

    fn number(&self) -> Result<Number> {
        let process = self.context.process;
        if self.kind == QpKind::XrcRecv {
            let fabric = process.fabric;
            let fill = |_, record: &QpRecord| self.fill(record);
            return Ok(fabric.domains().create_qp(fabric.processes(), fill)?);
        }
        let caps = &self.caps;
        let index =
            process
                .own_segment()
                .create_qp(caps.max_recv_wr, caps.max_recv_sge, |_, record| {
                    self.fill(record);
                })?;
        Ok(Number::new(process.fabric.me().slot(), index))
    }

    fn resources(&self) -> Result<Resources> {
        let uar = &self.context.uar;
        Ok(match self.kind {
            QpKind::XrcRecv => Resources::Counted {
                _counted: uar.count(Object::XrcReceiveQueuePair),
            },
            _ => {
                let domain = self.pd.and_then(|pd| pd.thread_domain());
                Resources::QueuePair(uar.create_qp(domain)?)
            }
        })
    }

    fn uses(&self) -> Vec<UseGuard> {
        let cqs = self
            .send_cq
            .into_iter()
            .chain(self.recv_cq)
            .map(|cq| &cq.users);
        let others = self.pd.map(|pd| &pd.users).into_iter();
        let others = others.chain(self.srq.map(|srq| &srq.users));
        let others = others.chain(self.xrcd.map(|xrcd| &xrcd.users));
        cqs.chain(others)
            .chain([&self.context.users])
            .map(UseGuard::new)
            .collect()
    }

    /// Makes the object for queue pair `number`.
    fn build(
        self,
        number: Number,
        resources: Resources,
        wish: &ibv_qp_init_attr_ex,
    ) -> &'static Qp {
        let device = self.context.device;
        let place = Box::leak(Box::<Qp>::new_uninit());
        let element = Element::Qp(place.as_mut_ptr().cast());
        let qp = place.write(Qp {
            abi: UnsafeCell::new(ibv_qp_ex::default()),
            context: self.context,
            inner: QueuePair::new(Parts {
                process: self.context.process,
                device: device.index,
                kind: self.kind,
                number,
                caps: self.caps,
                signals_all: wish.sq_sig_all != 0,
                pd_key: self.pd.map_or(0, |pd| pd.key),
                lid: identity::lid(device.config, device.index),
                send_cq: self.send_cq.map(|cq| &cq.inner),
                recv_cq: self.recv_cq.map(|cq| &cq.inner),
                has_srq: self.srq.is_some(),
                events: EventSource {
                    events: &self.context.events,
                    element,
                },
                resources,
            }),
            is_extended: self.send_operations.is_some(),
            builder: UnsafeCell::default(),
            delivered: AtomicU32::new(0),
            _uses: self.uses(),
        });
        let abi = qp.abi.get_mut();
        if let Some(operations) = self.send_operations {
            builder::install(abi, operations);
        }
        let base = &mut abi.qp_base;
        base.context = self.context.as_abi();
        base.qp_context = wish.qp_context;
        base.pd = self.pd.map_or(std::ptr::null_mut(), |_| wish.pd);
        base.send_cq = self.send_cq.map_or(std::ptr::null_mut(), Cq::as_abi);
        base.recv_cq = self.recv_cq.map_or(std::ptr::null_mut(), Cq::as_abi);
        base.srq = self.srq.map_or(std::ptr::null_mut(), Srq::as_abi);
        base.handle = u32::from(number.index());
        base.qp_num = number.bits();
        base.state = IBV_QPS_RESET;
        base.qp_type = self.kind as u32;
        // SAFETY: where they stay, and nobody knows them yet.
        unsafe { acknowledgement::initialise(&mut base.mutex, &mut base.cond) };
        let qp = &*qp;
        self.context.adapter.tables.enter_queue_pair(&qp.inner);
        qp
    }
}

/// # Safety
/// As of [`plan`].
unsafe fn create(context: &'static Context, wish: &mut ibv_qp_init_attr_ex) -> Result<*mut ibv_qp> {
    // SAFETY: the caller's promise.
    let plan = unsafe { plan(context, wish) }?;
    context.inject_fault(Call::CreateQp)?;
    let resources = plan.resources()?;
    let number = plan.number()?;
    wish.cap = plan.caps;
    Ok(plan.build(number, resources, wish).as_abi())
}

/// # Safety
/// `context` is open, `attributes` readable and writable, and what it names alive.
pub unsafe extern "C" fn create_qp_ex(
    context: *mut ibv_context,
    attributes: *mut ibv_qp_init_attr_ex,
) -> *mut ibv_qp {
    // SAFETY: the caller's promise.
    pointer(unsafe { create(Context::from_abi(context), &mut *attributes) })
}

/// # Safety
/// `pd` is a protection domain, `attributes` readable and writable, and what it names alive.
pub unsafe extern "C" fn ibv_create_qp(
    pd: *mut ibv_pd,
    attributes: *mut ibv_qp_init_attr,
) -> *mut ibv_qp {
    // SAFETY: the caller's promise.
    let (attributes, parent) = unsafe { (&mut *attributes, Pd::checked(pd)) };
    let made = parent.and_then(|parent| {
        let mut wish = ibv_qp_init_attr_ex {
            qp_context: attributes.qp_context,
            send_cq: attributes.send_cq,
            recv_cq: attributes.recv_cq,
            srq: attributes.srq,
            cap: attributes.cap,
            qp_type: attributes.qp_type,
            sq_sig_all: attributes.sq_sig_all,
            comp_mask: IBV_QP_INIT_ATTR_PD,
            pd,
            ..Default::default()
        };
        // SAFETY: the caller's promise.
        let qp = unsafe { create(parent.context, &mut wish) }?;
        attributes.cap = wish.cap;
        Ok(qp)
    });
    pointer(made)
}

/// Another handle of an XRC receive queue pair that some process of the domain has made.
///
/// # Safety
/// `context` is open, `attributes` readable, and what it names alive.
pub unsafe extern "C" fn open_qp(
    context: *mut ibv_context,
    attributes: *mut ibv_qp_open_attr,
) -> *mut ibv_qp {
    // SAFETY: the caller's promise.
    pointer(unsafe { open(Context::from_abi(context), &*attributes) })
}

/// # Safety
/// What `attributes` names is alive.
unsafe fn open(context: &'static Context, attributes: &ibv_qp_open_attr) -> Result<*mut ibv_qp> {
    let needed = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
    let known = needed | IBV_QP_OPEN_ATTR_CONTEXT;
    let mask = attributes.comp_mask;
    require(mask & needed == needed && mask & !known == 0, Errno::EINVAL)?;
    require(attributes.qp_type == IBV_QPT_XRC_RECV, Errno::EINVAL)?;
    // SAFETY: the caller's promise.
    let xrcd = unsafe { Xrcd::optional(attributes.xrcd) }.ok_or(Errno::EINVAL)?;
    let number = Number::from_bits(attributes.qp_num);
    let fabric = context.process.fabric;
    fabric
        .domains()
        .open_qp(fabric.processes(), number, |record| {
            record.xrc_domain.load(Ordering::Relaxed) == xrcd.id.word()
        })?;
    let has_context = mask & IBV_QP_OPEN_ATTR_CONTEXT != 0;
    let wish = ibv_qp_init_attr_ex {
        qp_context: if has_context {
            attributes.qp_context
        } else {
            std::ptr::null_mut()
        },
        ..Default::default()
    };
    let plan = Plan {
        context,
        kind: QpKind::XrcRecv,
        caps: ibv_qp_cap::default(),
        pd: None,
        xrcd: Some(xrcd),
        send_cq: None,
        recv_cq: None,
        srq: None,
        send_operations: None,
    };
    let resources = plan.resources()?;
    // The process that made it may end before this one does.
    let process = context.process;
    process.receive_from_hosts();
    Ok(plan.build(number, resources, &wish).as_abi())
}

/// # Safety
/// `qp` is a queue pair of this device, destroyed once.
pub unsafe extern "C" fn ibv_destroy_qp(qp: *mut ibv_qp) -> c_int {
    // SAFETY: the caller's promise.
    let this = unsafe { Qp::from_abi(qp) };
    code(destroy(this).map(|()| {
        // SAFETY: it was leaked from a box by `build`, and nobody knows it any more.
        drop(unsafe { Box::from_raw(qp.cast::<Qp>()) });
    }))
}

fn destroy(object: &'static Qp) -> Result {
    let qp = &object.inner;
    let adapter = object.context.adapter;
    let process = adapter.process;
    let processes = process.fabric.processes();
    if qp.kind == QpKind::XrcRecv {
        send_last_of_target(qp);
        process
            .fabric
            .domains()
            .close_qp(processes, qp.number)
            .map_err(|_| Errno::EBUSY)?;
        adapter.tables.leave_queue_pair(qp);
    } else {
        qp.record().state.store(IBV_QPS_RESET, Ordering::Release);
        qp.drain();
        qp.clear();
        close_connection(adapter, qp);
        // A poll that has a completion of this queue pair in hand is inside the queue.
        match qp.send_cq {
            Some(cq) => cq.sweep(qp.number.bits(), || adapter.tables.leave_queue_pair(qp)),
            None => adapter.tables.leave_queue_pair(qp),
        }
        process
            .own_segment()
            .destroy_qp(processes, qp.number.index())
            .map_err(|_| Errno::EBUSY)?;
    }
    if let Some(agent) = adapter.agent_if_started() {
        agent.forget(qp);
    }
    qp.events.forget();
    object.acknowledged().wait();
    Ok(())
}
