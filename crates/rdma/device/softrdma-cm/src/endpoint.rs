//! Calls that do several steps at once (rdma_getaddrinfo(3), rdma_create_ep(3), rdma_get_request(3)), and the devices.

use std::ffi::{c_char, c_int};
use std::ptr;

use libc::sockaddr;
use weft_verbs_abi::*;

use crate::abi::*;
use crate::call::{Errno, Outcome, pointer, require, status};
use crate::device::devices;
use crate::event;
use crate::identifier::{self, Identifier, rdma_destroy_id};
use crate::queue_pair::{rdma_create_qp, rdma_destroy_qp, rdma_destroy_srq};
use crate::resolve;

/// For the steps of `rdma_create_ep`; nothing here waits for it.
const TIMEOUT_MS: c_int = 2000;

/// A copy from the C allocator's memory.
///
/// # Safety
/// `source` is readable for `length`.
unsafe fn copy(source: *const sockaddr, length: libc::socklen_t) -> *mut sockaddr {
    // SAFETY: the caller's promise; what cannot be had is null.
    unsafe {
        let target = libc::malloc(length as usize);
        if !target.is_null() {
            ptr::copy_nonoverlapping(source.cast::<u8>(), target.cast(), length as usize);
        }
        target.cast()
    }
}

/// # Safety
/// As for [`rdma_getaddrinfo`].
unsafe fn look_up(
    node: *const c_char,
    service: *const c_char,
    hints: *const rdma_addrinfo,
) -> Outcome<*mut rdma_addrinfo> {
    // SAFETY: the caller's promise; the C library's list is given back once.
    unsafe {
        let hints = hints.as_ref();
        if node.is_null() && service.is_null() {
            return from_hints(hints.ok_or(Errno(libc::EINVAL))?);
        }
        let flags = hints.map_or(0, |hints| hints.ai_flags);
        let passive = flags & RAI_PASSIVE != 0;
        let mut wanted: libc::addrinfo = std::mem::zeroed();
        if passive {
            wanted.ai_flags |= libc::AI_PASSIVE;
        }
        if flags & RAI_NUMERICHOST != 0 {
            wanted.ai_flags |= libc::AI_NUMERICHOST;
        }
        if flags & RAI_FAMILY != 0 {
            wanted.ai_family = hints.map_or(0, |hints| hints.ai_family);
        }
        wanted.ai_socktype = libc::SOCK_STREAM;
        let mut found = ptr::null_mut();
        match libc::getaddrinfo(node, service, &raw const wanted, &raw mut found) {
            0 => {}
            libc::EAI_SYSTEM => return Err(Errno::last()),
            libc::EAI_MEMORY => return Err(Errno(libc::ENOMEM)),
            _ => return Err(Errno(libc::ENODATA)),
        }
        let result = libc::calloc(1, size_of::<rdma_addrinfo>()).cast::<rdma_addrinfo>();
        if !result.is_null() {
            fill(&mut *result, hints, &*found, passive);
        }
        libc::freeaddrinfo(found);
        require(!result.is_null(), libc::ENOMEM)?;
        Ok(result)
    }
}

/// Of one who names nobody: what the hints say, addresses included.
///
/// # Safety
/// The addresses are as long as they say, or null.
unsafe fn from_hints(hints: &rdma_addrinfo) -> Outcome<*mut rdma_addrinfo> {
    // SAFETY: the caller's promise; plain numbers and pointers from the C allocator.
    unsafe {
        let result = libc::calloc(1, size_of::<rdma_addrinfo>()).cast::<rdma_addrinfo>();
        let result = result.as_mut().ok_or(Errno(libc::ENOMEM))?;
        let addresses = [hints.ai_dst_addr, hints.ai_src_addr];
        let family = match addresses.iter().find(|address| !address.is_null()) {
            Some(address) => c_int::from((**address).sa_family),
            None => hints.ai_family,
        };
        describe(result, Some(hints), family);
        copy_source(result, hints);
        if !hints.ai_dst_addr.is_null() {
            result.ai_dst_addr = copy(hints.ai_dst_addr, hints.ai_dst_len);
            result.ai_dst_len = hints.ai_dst_len;
        }
        Ok(result)
    }
}

/// Everything but the addresses.
fn describe(result: &mut rdma_addrinfo, hints: Option<&rdma_addrinfo>, family: c_int) {
    result.ai_flags = hints.map_or(0, |hints| hints.ai_flags);
    result.ai_family = family;
    result.ai_port_space = match hints.map_or(0, |hints| hints.ai_port_space) {
        0 if hints.is_some_and(|hints| hints.ai_qp_type == IBV_QPT_UD as c_int) => {
            RDMA_PS_UDP as c_int
        }
        0 => RDMA_PS_TCP as c_int,
        given => given,
    };
    result.ai_qp_type = match hints.map_or(0, |hints| hints.ai_qp_type) {
        0 if result.ai_port_space == RDMA_PS_UDP as c_int => IBV_QPT_UD as c_int,
        0 => IBV_QPT_RC as c_int,
        given => given,
    };
}

/// # Safety
/// The hints' address is as long as they say, or null.
unsafe fn copy_source(result: &mut rdma_addrinfo, hints: &rdma_addrinfo) {
    if !hints.ai_src_addr.is_null() {
        // SAFETY: the caller's promise.
        result.ai_src_addr = unsafe { copy(hints.ai_src_addr, hints.ai_src_len) };
        result.ai_src_len = hints.ai_src_len;
    }
}

/// # Safety
/// The addresses are as long as they say.
unsafe fn fill(
    result: &mut rdma_addrinfo,
    hints: Option<&rdma_addrinfo>,
    found: &libc::addrinfo,
    passive: bool,
) {
    describe(result, hints, found.ai_family);
    // SAFETY: the caller's promise.
    unsafe {
        let address = copy(found.ai_addr, found.ai_addrlen);
        if passive {
            result.ai_src_addr = address;
            result.ai_src_len = found.ai_addrlen;
            return;
        }
        result.ai_dst_addr = address;
        result.ai_dst_len = found.ai_addrlen;
        if let Some(hints) = hints {
            copy_source(result, hints);
        }
    }
}

/// # Safety
/// The texts are null or end with a zero, `hints` is null or valid, `result` is writable.
pub unsafe extern "C" fn rdma_getaddrinfo(
    node: *const c_char,
    service: *const c_char,
    hints: *const rdma_addrinfo,
    result: *mut *mut rdma_addrinfo,
) -> c_int {
    // SAFETY: the caller's promise.
    status(unsafe { look_up(node, service, hints).map(|found| result.write(found)) })
}

/// # Safety
/// `result` is null or came from [`rdma_getaddrinfo`].
pub unsafe extern "C" fn rdma_freeaddrinfo(result: *mut rdma_addrinfo) {
    let mut next = result;
    while !next.is_null() {
        // SAFETY: the caller's promise; all is from the C allocator.
        unsafe {
            let this = next;
            next = (*this).ai_next;
            libc::free((*this).ai_src_addr.cast());
            libc::free((*this).ai_dst_addr.cast());
            libc::free(this.cast());
        }
    }
}

/// # Safety
/// As for [`rdma_create_ep`].
unsafe fn open(
    id: *mut rdma_cm_id,
    info: &rdma_addrinfo,
    pd: *mut ibv_pd,
    attr: *mut ibv_qp_init_attr,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        (*id).qp_type = info.ai_qp_type as ibv_qp_type;
        if info.ai_flags & RAI_PASSIVE != 0 {
            let bound = identifier::rdma_bind_addr(id, info.ai_src_addr);
            if bound == 0 && !attr.is_null() {
                Identifier::inner(id).template = Some((pd, *attr));
            }
            return bound;
        }
        let (source, target) = (info.ai_src_addr, info.ai_dst_addr);
        if resolve::rdma_resolve_addr(id, source, target, TIMEOUT_MS) != 0
            || resolve::rdma_resolve_route(id, TIMEOUT_MS) != 0
        {
            return -1;
        }
        if attr.is_null() {
            (*id).pd = pd;
            return 0;
        }
        (*attr).qp_type = (*id).qp_type;
        rdma_create_qp(id, pd, attr)
    }
}

/// # Safety
/// `id` is writable, `info` came from [`rdma_getaddrinfo`], `pd` and `attr` are null or valid.
pub unsafe extern "C" fn rdma_create_ep(
    id: *mut *mut rdma_cm_id,
    info: *mut rdma_addrinfo,
    pd: *mut ibv_pd,
    attr: *mut ibv_qp_init_attr,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        let mut made = ptr::null_mut();
        let ps = (*info).ai_port_space as rdma_port_space;
        if identifier::rdma_create_id(ptr::null_mut(), &raw mut made, ptr::null_mut(), ps) != 0 {
            return -1;
        }
        if open(made, &*info, pd, attr) != 0 {
            let errno = Errno::last();
            rdma_destroy_ep(made);
            return status(Err(errno));
        }
        id.write(made);
        0
    }
}

/// # Safety
/// `id` is one of ours and not used again.
pub unsafe extern "C" fn rdma_destroy_ep(id: *mut rdma_cm_id) {
    // SAFETY: the caller's promise.
    unsafe {
        rdma_destroy_qp(id);
        rdma_destroy_srq(id);
        rdma_destroy_id(id);
    }
}

/// # Safety
/// As for [`rdma_get_request`].
unsafe fn request(listener: *mut rdma_cm_id) -> Outcome<*mut rdma_cm_id> {
    // SAFETY: the caller's promise.
    unsafe {
        let (waits, template) = {
            let inner = Identifier::inner(listener);
            (inner.waits, inner.template)
        };
        require(waits, libc::EINVAL)?;
        let event = event::next((*listener).channel)?;
        let id = (*event).id;
        if (*event).event != RDMA_CM_EVENT_CONNECT_REQUEST {
            identifier::rdma_ack_cm_event(event);
            return Err(Errno(libc::EINVAL));
        }
        let taken = identifier::migrate(id, ptr::null_mut()).and_then(|()| match template {
            Some((pd, mut attr)) => {
                attr.qp_type = (*listener).qp_type;
                require(rdma_create_qp(id, pd, &raw mut attr) == 0, Errno::last().0)
            }
            None => Ok(()),
        });
        if let Err(errno) = taken {
            identifier::rdma_ack_cm_event(event);
            rdma_destroy_ep(id);
            return Err(errno);
        }
        (*id).event = event;
        Ok(id)
    }
}

/// # Safety
/// `listener` listens and has no channel of the application's, `id` is writable.
pub unsafe extern "C" fn rdma_get_request(
    listener: *mut rdma_cm_id,
    id: *mut *mut rdma_cm_id,
) -> c_int {
    // SAFETY: the caller's promise.
    status(unsafe { request(listener).map(|found| id.write(found)) })
}

/// The contexts of all devices, ending with a null pointer.
///
/// # Safety
/// `count` is null or writable.
pub unsafe extern "C" fn rdma_get_devices(count: *mut c_int) -> *mut *mut ibv_context {
    let list = devices().and_then(|found| {
        let devices = &found.devices;
        // SAFETY: one place more than there are devices, all zero.
        unsafe {
            let bytes = size_of::<*mut ibv_context>();
            let list = libc::calloc(devices.len() + 1, bytes).cast::<*mut ibv_context>();
            require(!list.is_null(), libc::ENOMEM)?;
            for (at, device) in devices.iter().enumerate() {
                list.add(at).write(device.context);
            }
            if !count.is_null() {
                count.write(devices.len() as c_int);
            }
            Ok(list)
        }
    });
    pointer(list)
}

/// # Safety
/// `list` is null or came from [`rdma_get_devices`].
pub unsafe extern "C" fn rdma_free_devices(list: *mut *mut ibv_context) {
    // SAFETY: the caller's promise.
    unsafe { libc::free(list.cast()) };
}
