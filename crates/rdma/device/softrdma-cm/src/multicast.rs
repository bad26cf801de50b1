//! Multicast groups (rdma_join_multicast(3)). There is no subnet manager to ask: a group is there as soon as somebody has
//! joined it. The GID of an IPv4 group is that of RoCEv2.

use std::ffi::{c_int, c_void};
use std::net::{IpAddr, SocketAddr};

use libc::sockaddr;
use weft_verbs_abi::*;

use crate::abi::*;
use crate::address;
use crate::call::{Errno, Outcome, require, status, verbs};
use crate::channel::{Channel, News};
use crate::device::{self, devices};
use crate::identifier::{Identifier, complete};
use crate::message::{Kind, Message};

/// The first multicast LID.
const MLID: u16 = 0xc000;
/// The queue pair number that means all members.
const MULTICAST_QPN: u32 = 0xff_ffff;

const ADDRESS_GIVEN: u32 = 1;

/// `struct rdma_cm_join_mc_attr_ex`.
#[repr(C)]
pub struct JoinAttributes {
    comp_mask: u32,
    join_flags: u32,
    address: *mut sockaddr,
}

fn group(address: SocketAddr) -> Outcome<[u8; 16]> {
    require(address.ip().is_multicast(), libc::EINVAL)?;
    Ok(match address.ip() {
        IpAddr::V4(ip) => {
            let mut gid = ip.to_ipv6_mapped().octets();
            gid[..2].copy_from_slice(&[0xff, 0x0e]);
            gid
        }
        IpAddr::V6(ip) => ip.octets(),
    })
}

/// # Safety
/// `id` is one of ours, `address` an address.
unsafe fn join(id: *mut rdma_cm_id, address: *const sockaddr, context: *mut c_void) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let gid = group(address::read(address)?)?;
        {
            let mut inner = Identifier::inner(id);
            require(inner.device.is_some(), libc::EINVAL)?;
            inner.groups.push((gid, context as usize));
        }
        let news = News {
            about: id.cast(),
            event: RDMA_CM_EVENT_MULTICAST_JOIN,
            status: 0,
            token: 0,
            peer: Some(Message {
                gid,
                ..Message::bare(Kind::Reply)
            }),
        };
        (*(*id).channel.cast::<Channel>()).push(news);
        complete(id)
    }
}

/// The application takes the news that it has joined: a queue pair of the identifier's becomes a member now.
///
/// # Safety
/// The news are about an identifier of ours.
pub unsafe fn joined(news: &mut News) -> Option<rdma_ud_param> {
    // SAFETY: the caller's promise.
    unsafe {
        let id: *mut rdma_cm_id = news.about.cast();
        let gid = news.peer.as_ref()?.gid;
        let inner = Identifier::inner(id);
        // None when the group was left before the news were taken.
        let (_, context) = inner.groups.iter().rev().find(|group| group.0 == gid)?;
        if let Err(errno) = member(id, &gid, |library| library.attach_mcast) {
            news.event = RDMA_CM_EVENT_MULTICAST_ERROR;
            news.status = -errno.0;
        }
        Some(rdma_ud_param {
            private_data: *context as *const c_void,
            private_data_len: 0,
            ah_attr: ibv_ah_attr {
                grh: ibv_global_route {
                    dgid: ibv_gid { raw: gid },
                    sgid_index: inner.device?.gid_index,
                    hop_limit: 64,
                    ..Default::default()
                },
                dlid: MLID,
                is_global: 1,
                port_num: device::PORT,
                ..Default::default()
            },
            qp_num: MULTICAST_QPN,
            qkey: RDMA_UDP_QKEY,
        })
    }
}

type Change = unsafe extern "C" fn(*mut ibv_qp, *const ibv_gid, u16) -> c_int;

/// Attaches or detaches the identifier's queue pair, if it has one.
///
/// # Safety
/// `id` is one of ours.
unsafe fn member(
    id: *mut rdma_cm_id,
    gid: &[u8; 16],
    change: impl Fn(&Library) -> Change,
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        if (*id).qp.is_null() {
            return Ok(());
        }
        let gid = ibv_gid { raw: *gid };
        let change = change(&devices()?.library);
        verbs(change((*id).qp, &raw const gid, MLID))
    }
}

/// # Safety
/// `id` is one of ours, `address` an address.
unsafe fn leave(id: *mut rdma_cm_id, address: *const sockaddr) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let gid = group(address::read(address)?)?;
        let mut inner = Identifier::inner(id);
        let at = inner.groups.iter().position(|group| group.0 == gid);
        inner.groups.remove(at.ok_or(Errno(libc::EADDRNOTAVAIL))?);
        member(id, &gid, |library| library.detach_mcast)
    }
}

/// # Safety
/// `id` is one of ours, `address` an address.
pub unsafe extern "C" fn rdma_join_multicast(
    id: *mut rdma_cm_id,
    address: *mut sockaddr,
    context: *mut c_void,
) -> c_int {
    // SAFETY: the caller's promise.
    status(unsafe { join(id, address, context) })
}

/// Members that only send are members like all others here.
///
/// # Safety
/// `id` is one of ours, `attributes` valid.
pub unsafe extern "C" fn rdma_join_multicast_ex(
    id: *mut rdma_cm_id,
    attributes: *const JoinAttributes,
    context: *mut c_void,
) -> c_int {
    // SAFETY: the caller's promise.
    status(unsafe {
        let given = require((*attributes).comp_mask & ADDRESS_GIVEN != 0, libc::ENOSYS);
        given.and_then(|()| join(id, (*attributes).address, context))
    })
}

/// # Safety
/// `id` is one of ours, `address` an address.
pub unsafe extern "C" fn rdma_leave_multicast(
    id: *mut rdma_cm_id,
    address: *mut sockaddr,
) -> c_int {
    // SAFETY: the caller's promise.
    status(unsafe { leave(id, address) })
}
