//! Multicast groups (rdma_join_multicast(3)). There is no subnet manager to ask: a group is there as soon as somebody has
//! joined it. The GID of an IPv4 group is that of RoCEv2.

use std::ffi::{c_int, c_void};
use std::net::{IpAddr, SocketAddr};

use libc::sockaddr;

use crate::abi::*;
use crate::address;
use crate::call::{Errno, Outcome, require, status};
use crate::channel::{Channel, News};
use crate::event::complete;
use crate::identifier::Identifier;
use crate::membership::member;
use crate::message::{Message, MessageKind};

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
                ..Message::bare(MessageKind::Reply)
            }),
        };
        (*(*id).channel.cast::<Channel>()).push(news);
        complete(id)
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
