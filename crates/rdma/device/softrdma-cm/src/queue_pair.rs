//! Queue pairs on identifiers, and the attributes of their transitions (rdma_create_qp(3), rdma_init_qp_attr(3)).

use std::ffi::c_int;
use std::ptr;

use weft_verbs_abi::*;

use crate::abi::*;
use crate::call::{Errno, Outcome, object, require, status, verbs};
use crate::device::{self, devices};
use crate::identifier::{Identifier, Inner};

/// 4.096 us * 2^16: a quarter of a second to the first retry.
const ACK_TIMEOUT: u8 = 16;
/// 0.64 ms before a message is tried again that found no receive.
const MIN_RNR_TIMER: u8 = 12;

/// Reads that may be under way: as told, and never more than the device or the other side can have.
pub fn limit(told: u8, other: u8, device: &device::Device) -> u8 {
    told.min(other).min(device.max_rd_atomic)
}

/// The way to the other side.
pub fn address_vector(inner: &Inner) -> Outcome<ibv_ah_attr> {
    let device = inner.device.ok_or(Errno(libc::EINVAL))?;
    let peer = inner.peer.as_ref().ok_or(Errno(libc::ENOTCONN))?;
    Ok(ibv_ah_attr {
        grh: ibv_global_route {
            dgid: ibv_gid { raw: peer.gid },
            sgid_index: device.gid_index,
            hop_limit: 64,
            ..Default::default()
        },
        dlid: peer.lid,
        is_global: 1,
        port_num: device::PORT,
        ..Default::default()
    })
}

fn to_init(datagrams: bool) -> (ibv_qp_attr, c_int) {
    let attributes = ibv_qp_attr {
        qp_state: IBV_QPS_INIT,
        port_num: device::PORT,
        qp_access_flags: IBV_ACCESS_REMOTE_WRITE
            | IBV_ACCESS_REMOTE_READ
            | IBV_ACCESS_REMOTE_ATOMIC,
        qkey: RDMA_UDP_QKEY,
        ..Default::default()
    };
    let what = if datagrams {
        IBV_QP_QKEY
    } else {
        IBV_QP_ACCESS_FLAGS
    };
    (
        attributes,
        IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | what,
    )
}

fn to_receive(inner: &Inner) -> Outcome<(ibv_qp_attr, c_int)> {
    let device = inner.device.ok_or(Errno(libc::EINVAL))?;
    let peer = inner.peer.as_ref().ok_or(Errno(libc::ENOTCONN))?;
    let mtu = match u32::from(peer.mtu) {
        0 => device.mtu,
        mtu => device.mtu.min(mtu),
    };
    let attributes = ibv_qp_attr {
        qp_state: IBV_QPS_RTR,
        ah_attr: address_vector(inner)?,
        path_mtu: mtu,
        dest_qp_num: peer.qp_num,
        rq_psn: peer.psn,
        max_dest_rd_atomic: limit(inner.own.responder_resources, u8::MAX, device),
        min_rnr_timer: MIN_RNR_TIMER,
        ..Default::default()
    };
    let mask = IBV_QP_STATE
        | IBV_QP_AV
        | IBV_QP_PATH_MTU
        | IBV_QP_DEST_QPN
        | IBV_QP_RQ_PSN
        | IBV_QP_MAX_DEST_RD_ATOMIC
        | IBV_QP_MIN_RNR_TIMER;
    Ok((attributes, mask))
}

fn to_send(inner: &Inner) -> Outcome<(ibv_qp_attr, c_int)> {
    let device = inner.device.ok_or(Errno(libc::EINVAL))?;
    let peer = inner.peer.as_ref().ok_or(Errno(libc::ENOTCONN))?;
    let attributes = ibv_qp_attr {
        qp_state: IBV_QPS_RTS,
        timeout: inner.ack_timeout.unwrap_or(ACK_TIMEOUT),
        retry_cnt: inner.own.retry_count.min(7),
        rnr_retry: peer.rnr_retry_count.min(7),
        sq_psn: inner.own.psn,
        max_rd_atomic: limit(inner.own.initiator_depth, peer.responder_resources, device),
        ..Default::default()
    };
    let mask = IBV_QP_STATE
        | IBV_QP_TIMEOUT
        | IBV_QP_RETRY_CNT
        | IBV_QP_RNR_RETRY
        | IBV_QP_SQ_PSN
        | IBV_QP_MAX_QP_RD_ATOMIC;
    Ok((attributes, mask))
}

/// What a queue pair of the identifier is moved to `state` with.
fn transition(
    inner: &Inner,
    datagrams: bool,
    state: ibv_qp_state,
) -> Outcome<(ibv_qp_attr, c_int)> {
    match state {
        IBV_QPS_INIT => Ok(to_init(datagrams)),
        IBV_QPS_RTR if datagrams => Ok((
            ibv_qp_attr {
                qp_state: state,
                ..Default::default()
            },
            IBV_QP_STATE,
        )),
        IBV_QPS_RTS if datagrams => Ok((
            ibv_qp_attr {
                qp_state: state,
                ..Default::default()
            },
            IBV_QP_STATE | IBV_QP_SQ_PSN,
        )),
        IBV_QPS_RTR => to_receive(inner),
        IBV_QPS_RTS => to_send(inner),
        _ => Err(Errno(libc::EINVAL)),
    }
}

/// # Safety
/// `id` is one of ours with a queue pair, `inner` its own.
pub unsafe fn modify(id: *mut rdma_cm_id, inner: &Inner, state: ibv_qp_state) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let (mut attributes, mask) = if state == IBV_QPS_ERR {
            let attributes = ibv_qp_attr {
                qp_state: state,
                ..Default::default()
            };
            (attributes, IBV_QP_STATE)
        } else {
            transition(inner, (*id).qp_type == IBV_QPT_UD, state)?
        };
        let modify = devices()?.library.modify_qp;
        verbs(modify((*id).qp, &raw mut attributes, mask))
    }
}

/// To where it can receive and send.
///
/// # Safety
/// As for [`modify`].
pub unsafe fn ready(id: *mut rdma_cm_id, inner: &Inner) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        modify(id, inner, IBV_QPS_RTR)?;
        modify(id, inner, IBV_QPS_RTS)
    }
}

/// The state to go to stands in `attributes`.
///
/// # Safety
/// `id` is one of ours, `attributes` and `mask` are writable.
pub unsafe extern "C" fn rdma_init_qp_attr(
    id: *mut rdma_cm_id,
    attributes: *mut ibv_qp_attr,
    mask: *mut c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        let inner = Identifier::inner(id);
        let datagrams = (*id).qp_type == IBV_QPT_UD;
        let found = transition(&inner, datagrams, (*attributes).qp_state);
        status(found.map(|found| {
            attributes.write(found.0);
            mask.write(found.1);
        }))
    }
}

/// Completion queues for those who brought none, as the calls of `rdma/rdma_verbs.h` want them.
///
/// # Safety
/// `id` is one of ours with a device.
unsafe fn create_cqs(id: *mut rdma_cm_id, attr: &mut ibv_qp_init_attr) -> Outcome {
    let library = &devices()?.library;
    // SAFETY: the caller's promise.
    unsafe {
        let context = (*id).verbs;
        let user = id.cast();
        let make = move |size: u32| -> Outcome<(*mut ibv_comp_channel, *mut ibv_cq)> {
            let channel = object((library.create_comp_channel)(context))?;
            let cq = (library.create_cq)(context, size as c_int, user, channel, 0);
            let cq = object(cq).inspect_err(|_| {
                (library.destroy_comp_channel)(channel);
            })?;
            Ok((channel, cq))
        };
        if attr.recv_cq.is_null() && (*id).recv_cq.is_null() && attr.cap.max_recv_wr > 0 {
            ((*id).recv_cq_channel, (*id).recv_cq) = make(attr.cap.max_recv_wr)?;
        }
        if attr.send_cq.is_null() && (*id).send_cq.is_null() && attr.cap.max_send_wr > 0 {
            ((*id).send_cq_channel, (*id).send_cq) = make(attr.cap.max_send_wr)?;
        }
        if attr.recv_cq.is_null() {
            attr.recv_cq = (*id).recv_cq;
        }
        if attr.send_cq.is_null() {
            attr.send_cq = (*id).send_cq;
        }
    }
    Ok(())
}

/// # Safety
/// `id` is one of ours.
unsafe fn destroy_cqs(id: *mut rdma_cm_id) {
    let Ok(devices) = devices() else { return };
    // SAFETY: the caller's promise; they were made by `create_cqs`.
    unsafe {
        let library = &devices.library;
        for cq in [&raw mut (*id).recv_cq, &raw mut (*id).send_cq] {
            if !(*cq).is_null() {
                (library.destroy_cq)(*cq);
                *cq = ptr::null_mut();
            }
        }
        for channel in [
            &raw mut (*id).recv_cq_channel,
            &raw mut (*id).send_cq_channel,
        ] {
            if !(*channel).is_null() {
                (library.destroy_comp_channel)(*channel);
                *channel = ptr::null_mut();
            }
        }
    }
}

/// The domain that is given, else the identifier's.
///
/// # Safety
/// `id` is one of ours, `pd` null or live.
unsafe fn domain(id: *mut rdma_cm_id, pd: *mut ibv_pd) -> Outcome<*mut ibv_pd> {
    // SAFETY: the caller's promise.
    unsafe {
        let pd = if pd.is_null() { (*id).pd } else { pd };
        require(!pd.is_null() && (*pd).context == (*id).verbs, libc::EINVAL)?;
        Ok(pd)
    }
}

/// Makes a queue pair by `make` and moves it to where receives can be posted; one for datagrams to where it can send.
///
/// # Safety
/// `id` is one of ours, the domain its device's.
unsafe fn create(
    id: *mut rdma_cm_id,
    pd: *mut ibv_pd,
    attr: &mut ibv_qp_init_attr,
    make: impl FnOnce(&Library, &mut ibv_qp_init_attr) -> *mut ibv_qp,
) -> Outcome {
    let library = &devices()?.library;
    // SAFETY: the caller's promise.
    unsafe {
        require((*id).qp.is_null(), libc::EINVAL)?;
        create_cqs(id, attr)?;
        if attr.srq.is_null() {
            attr.srq = (*id).srq;
        }
        let qp = object(make(library, attr)).inspect_err(|_| destroy_cqs(id))?;
        (*id).qp = qp;
        (*id).pd = pd;
        (*id).qp_type = attr.qp_type;
        let moved = {
            let inner = Identifier::inner(id);
            let first = modify(id, &inner, IBV_QPS_INIT);
            match attr.qp_type {
                IBV_QPT_UD => first.and_then(|()| ready(id, &inner)),
                _ => first,
            }
        };
        moved.inspect_err(|_| rdma_destroy_qp(id))
    }
}

/// # Safety
/// `id` is one of ours, `pd` null or live, `attr` valid; the capacities are told back in it.
pub unsafe extern "C" fn rdma_create_qp(
    id: *mut rdma_cm_id,
    pd: *mut ibv_pd,
    attr: *mut ibv_qp_init_attr,
) -> c_int {
    // SAFETY: the caller's promise.
    status(unsafe {
        domain(id, pd).and_then(|pd| {
            create(id, pd, &mut *attr, |library, attr| {
                (library.create_qp)(pd, attr)
            })
        })
    })
}

/// # Safety
/// `id` is one of ours, `attr` valid; the capacities are told back in it.
pub unsafe extern "C" fn rdma_create_qp_ex(
    id: *mut rdma_cm_id,
    attr: *mut ibv_qp_init_attr_ex,
) -> c_int {
    // SAFETY: the caller's promise. The extended attributes begin with the ordinary ones.
    status(unsafe {
        let given = (*attr).comp_mask & IBV_QP_INIT_ATTR_PD != 0;
        let pd = if given { (*attr).pd } else { ptr::null_mut() };
        domain(id, pd).and_then(|pd| {
            (*attr).comp_mask |= IBV_QP_INIT_ATTR_PD;
            (*attr).pd = pd;
            let context = (*id).verbs;
            let plain = &mut *attr.cast::<ibv_qp_init_attr>();
            create(id, pd, plain, |library, plain| {
                library.create_qp_ex(context, ptr::from_mut(plain).cast())
            })
        })
    })
}

/// # Safety
/// `id` is one of ours.
pub unsafe extern "C" fn rdma_destroy_qp(id: *mut rdma_cm_id) {
    let Ok(devices) = devices() else { return };
    // SAFETY: the caller's promise.
    unsafe {
        if !(*id).qp.is_null() {
            (devices.library.destroy_qp)((*id).qp);
            (*id).qp = ptr::null_mut();
        }
        destroy_cqs(id);
    }
}

/// # Safety
/// `id` is one of ours with a device, `pd` null or live, `attr` valid.
pub unsafe extern "C" fn rdma_create_srq(
    id: *mut rdma_cm_id,
    pd: *mut ibv_pd,
    attr: *mut ibv_srq_init_attr,
) -> c_int {
    // SAFETY: the caller's promise.
    status(unsafe {
        domain(id, pd).and_then(|pd| {
            (*id).srq = object((devices()?.library.create_srq)(pd, attr))?;
            (*id).pd = pd;
            Ok(())
        })
    })
}

/// # Safety
/// `id` is one of ours.
pub unsafe extern "C" fn rdma_destroy_srq(id: *mut rdma_cm_id) {
    let Ok(devices) = devices() else { return };
    // SAFETY: the caller's promise.
    unsafe {
        if !(*id).srq.is_null() {
            (devices.library.destroy_srq)((*id).srq);
            (*id).srq = ptr::null_mut();
        }
    }
}
