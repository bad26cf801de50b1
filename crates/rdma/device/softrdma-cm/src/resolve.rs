//! Resolving addresses and routes (rdma_resolve_addr(3), rdma_resolve_route(3)).

use std::ffi::c_int;
use std::net::{Ipv4Addr, SocketAddr};

use libc::sockaddr;

use crate::abi::*;
use crate::address;
use crate::call::{Errno, Outcome, status};
use crate::channel::{Channel, News};
use crate::device::devices;
use crate::event::complete;
use crate::identifier::{Identifier, attach, bind, set_route};
use crate::message::{Message, MessageKind};

/// The call's event, which the application takes from the channel, or which is waited for here.
///
/// # Safety
/// `id` is one of ours.
unsafe fn done(id: *mut rdma_cm_id, event: rdma_cm_event_type) -> Outcome {
    let news = News {
        about: id.cast(),
        event,
        status: 0,
        token: 0,
        peer: None,
    };
    // SAFETY: the caller's promise.
    unsafe {
        (*(*id).channel.cast::<Channel>()).push(news);
        complete(id)
    }
}

/// The address to come from: the one that is given, and where that is any, the one that the route says.
fn source(given: Option<SocketAddr>, target: SocketAddr) -> Outcome<SocketAddr> {
    let given = given.unwrap_or(SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)));
    if given.ip().is_unspecified() {
        return Ok(SocketAddr::new(address::source_of(target)?, given.port()));
    }
    Ok(given)
}

/// # Safety
/// As for [`rdma_resolve_addr`].
unsafe fn resolve(id: *mut rdma_cm_id, given: Option<SocketAddr>, target: SocketAddr) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        if Identifier::inner(id).socket.is_none() {
            bind(id, source(given, target)?)?;
        }
        let mut inner = Identifier::inner(id);
        let devices = devices()?;
        if inner.device.is_none() {
            let device = devices.towards(address::source_of(target)?)?;
            attach(id, &mut inner, device)?;
        }
        let device = inner.device.ok_or(Errno(libc::ENODEV))?;
        let gid = match target {
            _ if address::is_own(target.ip()) => devices.towards(target.ip())?.gid,
            SocketAddr::V4(target) => target.ip().to_ipv6_mapped().octets(),
            SocketAddr::V6(target) => target.ip().octets(),
        };
        inner.peer = Some(Message {
            gid,
            lid: device.lid,
            mtu: device.mtu as u8,
            ..Message::bare(MessageKind::Reply)
        });
        (*id).route.addr.dst = address::write(target).0;
        (*id).route.addr.ib.dgid.raw = gid;
    }
    Ok(())
}

/// # Safety
/// `id` is one of ours, `source` null or an address, `target` an address.
pub unsafe extern "C" fn rdma_resolve_addr(
    id: *mut rdma_cm_id,
    source: *mut sockaddr,
    target: *mut sockaddr,
    _timeout_ms: c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    status(unsafe {
        let given = match source.is_null() {
            true => Ok(None),
            false => address::read(source).map(Some),
        };
        given
            .and_then(|given| resolve(id, given, address::read(target)?))
            .and_then(|()| done(id, RDMA_CM_EVENT_ADDR_RESOLVED))
    })
}

/// The route is what the address said.
///
/// # Safety
/// `id` is one of ours.
pub unsafe extern "C" fn rdma_resolve_route(id: *mut rdma_cm_id, _timeout_ms: c_int) -> c_int {
    // SAFETY: the caller's promise.
    status(unsafe { set_route(id).and_then(|()| done(id, RDMA_CM_EVENT_ROUTE_RESOLVED)) })
}
