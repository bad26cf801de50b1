//! Connecting and disconnecting (rdma_connect(3), rdma_accept(3), rdma_reject(3), rdma_disconnect(3)), and news as events.

use std::ffi::{c_int, c_void};
use std::net::{Ipv4Addr, SocketAddr};

use weft_verbs_abi::*;

use crate::abi::*;
use crate::address;
use crate::call::{Errno, Outcome, require, status};
use crate::device::Device;
use crate::event::complete;
use crate::identifier::{Identifier, Inner, bind, owner};
use crate::message::{Message, MessageKind};
use crate::queue_pair::{self, limit};
use crate::sockets::{Stage, sockets};

/// Why a connection is rejected that the application does not want, in the numbers of the InfiniBand specification.
const CONSUMER_DEFINED: u32 = 28;

/// # Safety
/// `data` is readable for `length`, or null.
unsafe fn private(data: *const c_void, length: u8) -> Vec<u8> {
    if data.is_null() {
        return Vec::new();
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(data.cast::<u8>(), usize::from(length)) }.to_vec()
}

/// A request or a reply with what this side has and wants.
///
/// # Safety
/// `id` is one of ours, `inner` its own, `param` valid.
unsafe fn tell(
    id: *mut rdma_cm_id,
    inner: &Inner,
    device: &Device,
    kind: MessageKind,
    param: &rdma_conn_param,
) -> Message {
    // SAFETY: the caller's promise.
    unsafe {
        let (qp_num, srq) = if (*id).qp.is_null() {
            (param.qp_num, param.srq != 0)
        } else {
            ((*(*id).qp).qp_num, !(*(*id).qp).srq.is_null())
        };
        Message {
            kind,
            port_space: (*id).ps as u16,
            qp_num,
            psn: inner.own.psn,
            qkey: RDMA_UDP_QKEY,
            lid: device.lid,
            mtu: device.mtu as u8,
            responder_resources: limit(param.responder_resources, u8::MAX, device),
            initiator_depth: limit(param.initiator_depth, u8::MAX, device),
            retry_count: param.retry_count,
            rnr_retry_count: param.rnr_retry_count,
            srq,
            flow_control: param.flow_control != 0,
            reason: 0,
            gid: device.gid,
            private: private(param.private_data, param.private_data_len),
        }
    }
}

/// What is meant when the application gives no parameters: all that both sides can have.
fn default_param(peer: Option<&Message>) -> rdma_conn_param {
    rdma_conn_param {
        private_data: std::ptr::null(),
        private_data_len: 0,
        responder_resources: peer.map_or(RDMA_MAX_RESP_RES, |peer| peer.initiator_depth),
        initiator_depth: peer.map_or(RDMA_MAX_RESP_RES, |peer| peer.responder_resources),
        flow_control: 1,
        retry_count: 7,
        rnr_retry_count: 7,
        srq: 0,
        qp_num: 0,
    }
}

/// # Safety
/// As for [`rdma_connect`].
unsafe fn connect(id: *mut rdma_cm_id, param: *const rdma_conn_param) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let mut inner = Identifier::inner(id);
        let device = inner.device.ok_or(Errno(libc::EINVAL))?;
        let param = param
            .as_ref()
            .copied()
            .unwrap_or_else(|| default_param(None));
        let target = address::read((&raw const (*id).route.addr.dst).cast())?;
        let socket = inner.socket.take().ok_or(Errno(libc::EINVAL))?;
        inner.own = tell(id, &inner, device, MessageKind::Request, &param);
        let request = inner.own.clone();
        inner.token = Some(sockets()?.connect(socket, target, owner(id), request)?);
    }
    Ok(())
}

/// # Safety
/// `id` is one of ours with a route, `param` null or valid.
pub unsafe extern "C" fn rdma_connect(id: *mut rdma_cm_id, param: *const rdma_conn_param) -> c_int {
    // SAFETY: the caller's promise.
    status(unsafe { connect(id, param).and_then(|()| complete(id)) })
}

/// # Safety
/// As for [`rdma_listen`].
unsafe fn listen(id: *mut rdma_cm_id, backlog: c_int) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        if Identifier::inner(id).socket.is_none() {
            bind(id, SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)))?;
        }
        let mut inner = Identifier::inner(id);
        let socket = inner.socket.take().ok_or(Errno(libc::EINVAL))?;
        inner.token = Some(sockets()?.listen(socket, backlog, owner(id))?);
    }
    Ok(())
}

/// # Safety
/// `id` is one of ours.
pub unsafe extern "C" fn rdma_listen(id: *mut rdma_cm_id, backlog: c_int) -> c_int {
    // SAFETY: the caller's promise.
    status(unsafe { listen(id, backlog) })
}

/// Whether there is something to wait for: datagrams need no connection.
///
/// # Safety
/// As for [`rdma_accept`].
unsafe fn accept(id: *mut rdma_cm_id, param: *const rdma_conn_param) -> Outcome<bool> {
    // SAFETY: the caller's promise.
    unsafe {
        let mut inner = Identifier::inner(id);
        let token = inner.token.ok_or(Errno(libc::EINVAL))?;
        let device = inner.device.ok_or(Errno(libc::EINVAL))?;
        let peer = inner.peer.as_ref().ok_or(Errno(libc::EINVAL))?;
        let mut param = param
            .as_ref()
            .copied()
            .unwrap_or_else(|| default_param(Some(peer)));
        // The asking side says how often to retry, for both.
        param.retry_count = peer.retry_count;
        if param.initiator_depth == RDMA_MAX_RESP_RES {
            param.initiator_depth = peer.responder_resources;
        }
        inner.own = tell(id, &inner, device, MessageKind::Reply, &param);
        if u32::from(inner.own.port_space) == RDMA_PS_UDP {
            sockets()?.say(token, &[Stage::Asked], &inner.own, Stage::Replied)?;
            sockets()?.forget(token);
            return Ok(false);
        }
        if !(*id).qp.is_null() {
            queue_pair::ready(id, &inner)?;
        }
        sockets()?.say(token, &[Stage::Asked], &inner.own, Stage::Replied)?;
    }
    Ok(true)
}

/// # Safety
/// `id` came with a connection request, `param` is null or valid.
pub unsafe extern "C" fn rdma_accept(id: *mut rdma_cm_id, param: *const rdma_conn_param) -> c_int {
    // SAFETY: the caller's promise.
    status(unsafe { accept(id, param).and_then(|waits| if waits { complete(id) } else { Ok(()) }) })
}

/// # Safety
/// As for [`rdma_reject`].
unsafe fn reject(id: *mut rdma_cm_id, data: *const c_void, length: u8) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let inner = Identifier::inner(id);
        let token = inner.token.ok_or(Errno(libc::EINVAL))?;
        let message = Message {
            reason: CONSUMER_DEFINED,
            private: private(data, length),
            ..Message::bare(MessageKind::Reject)
        };
        let stages = [Stage::Asked, Stage::Answered];
        sockets()?.say(token, &stages, &message, Stage::Leaving)?;
        sockets()?.forget(token);
    }
    Ok(())
}

/// # Safety
/// `id` has a request or a reply to answer, `data` is readable for `length`.
pub unsafe extern "C" fn rdma_reject(
    id: *mut rdma_cm_id,
    data: *const c_void,
    length: u8,
) -> c_int {
    // SAFETY: the caller's promise.
    status(unsafe { reject(id, data, length) })
}

/// For those who move their queue pair themselves: it is ready.
///
/// # Safety
/// `id` is one of ours.
pub unsafe extern "C" fn rdma_establish(id: *mut rdma_cm_id) -> c_int {
    // SAFETY: the caller's promise.
    status(unsafe {
        let own = require((*id).qp.is_null(), libc::EINVAL);
        let token = own.and_then(|()| Identifier::inner(id).token.ok_or(Errno(libc::EINVAL)));
        token.and_then(|token| {
            let ready = Message::bare(MessageKind::Ready);
            sockets()?.say(token, &[Stage::Answered], &ready, Stage::Established)
        })
    })
}

/// # Safety
/// As for [`rdma_disconnect`].
unsafe fn disconnect(id: *mut rdma_cm_id) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let inner = Identifier::inner(id);
        let token = inner.token.ok_or(Errno(libc::ENOTCONN))?;
        if !(*id).qp.is_null() {
            queue_pair::modify(id, &inner, IBV_QPS_ERR)?;
        }
        let stages = [Stage::Established, Stage::Answered, Stage::Replied];
        let message = Message::bare(MessageKind::Disconnect);
        match sockets()?.say(token, &stages, &message, Stage::Leaving) {
            // The other side was first.
            Err(Errno(libc::ENOTCONN | libc::ECONNRESET)) => Ok(()),
            answer => answer,
        }
    }
}

/// # Safety
/// `id` is one of ours.
pub unsafe extern "C" fn rdma_disconnect(id: *mut rdma_cm_id) -> c_int {
    // SAFETY: the caller's promise.
    status(unsafe { disconnect(id).and_then(|()| complete(id)) })
}
