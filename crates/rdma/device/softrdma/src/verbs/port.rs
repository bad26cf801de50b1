//! Ports and their tables (ibv_query_port(3), ibv_query_gid(3), ibv_query_gid_ex(3), ibv_query_gid_table(3),
//! ibv_query_pkey(3), ibv_get_pkey_index(3)).

use std::ffi::c_int;

use weft_verbs_abi::*;

use super::context::Context;
use super::device::Device;
use super::limits::{ACTIVE_MTU, MAX_MESSAGE_BYTES, PORT};
use crate::call::{self, Errno, Result, require};
use crate::config::LinkLayer;
use crate::identity::{self, DEFAULT_PKEY, GIDS, PKEYS};

/// 4x of EDR: what UCX, MPI libraries and perftest take for an ordinary adapter.
const WIDTH_4X: u8 = 2;
const SPEED_EDR: u8 = 32;
const PHYSICAL_DISABLED: u8 = 3;
const PHYSICAL_LINK_UP: u8 = 5;

fn attributes(context: &Context) -> ibv_port_attr {
    let device = context.device;
    let up = context.link_is_up();
    let ethernet = device.config.link_layer == LinkLayer::Ethernet;
    let lid = identity::lid(device.config, device.index);
    ibv_port_attr {
        state: if up { IBV_PORT_ACTIVE } else { IBV_PORT_DOWN },
        max_mtu: IBV_MTU_4096,
        active_mtu: ACTIVE_MTU,
        gid_tbl_len: GIDS as c_int,
        port_cap_flags: if ethernet {
            IBV_PORT_CM_SUP | IBV_PORT_IP_BASED_GIDS
        } else {
            IBV_PORT_SYS_IMAGE_GUID_SUP
        },
        max_msg_sz: MAX_MESSAGE_BYTES,
        pkey_tbl_len: PKEYS,
        lid,
        sm_lid: lid,
        max_vl_num: 1,
        active_width: WIDTH_4X,
        active_speed: SPEED_EDR,
        active_speed_ex: u32::from(SPEED_EDR),
        phys_state: if up {
            PHYSICAL_LINK_UP
        } else {
            PHYSICAL_DISABLED
        },
        link_layer: if ethernet {
            IBV_LINK_LAYER_ETHERNET
        } else {
            IBV_LINK_LAYER_INFINIBAND
        },
        flags: if ethernet { IBV_QPF_GRH_REQUIRED } else { 0 },
        ..Default::default()
    }
}

/// The one that the inline call reaches; programs say how long their structure is.
///
/// # Safety
/// `context` is open, `port` writable for `bytes`.
pub unsafe extern "C" fn query_port(
    context: *mut ibv_context,
    number: u8,
    port: *mut ibv_port_attr,
    bytes: usize,
) -> c_int {
    call::code(require(number == PORT, Errno::EINVAL).map(|()| {
        // SAFETY: the caller's promise.
        unsafe { call::answer(port, bytes, &attributes(Context::from_abi(context))) };
    }))
}

/// The exported one, for programs of the first ABI: writes the old prefix only.
///
/// # Safety
/// `context` is open, `port` writable for [`COMPAT_PORT_ATTR_LEN`] bytes.
pub unsafe extern "C" fn ibv_query_port(
    context: *mut ibv_context,
    number: u8,
    port: *mut ibv_port_attr,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { query_port(context, number, port, COMPAT_PORT_ATTR_LEN) }
}

fn gid(device: &Device, port: u32, index: c_int) -> Result<[u8; 16]> {
    require(port == u32::from(PORT), Errno::EINVAL)?;
    let index = u32::try_from(index).map_err(|_| Errno::EINVAL)?;
    identity::gid(device.config, device.index, index).ok_or(Errno::EINVAL)
}

fn gid_type(device: &Device) -> ibv_gid_type {
    match device.config.link_layer {
        LinkLayer::Infiniband => IBV_GID_TYPE_IB,
        LinkLayer::Ethernet => IBV_GID_TYPE_ROCE_V2,
    }
}

fn gid_entry(device: &Device, port: u32, index: u32) -> Result<ibv_gid_entry> {
    let raw = gid(device, port, index as c_int)?;
    Ok(ibv_gid_entry {
        gid: ibv_gid { raw },
        gid_index: index,
        port_num: port,
        gid_type: gid_type(device),
        ndev_ifindex: 0,
    })
}

/// # Safety
/// `context` is open, `answer` writable.
pub unsafe extern "C" fn ibv_query_gid(
    context: *mut ibv_context,
    port: u8,
    index: c_int,
    answer: *mut ibv_gid,
) -> c_int {
    // SAFETY: the caller's promise.
    let device = unsafe { Context::from_abi(context) }.device;
    call::status(gid(device, u32::from(port), index).map(|raw| {
        // SAFETY: the caller's promise.
        unsafe { answer.write(ibv_gid { raw }) };
    }))
}

/// The private call of older programs: InfiniBand and RoCE version 1 are one value there.
///
/// # Safety
/// `context` is open, `answer` writable.
pub unsafe extern "C" fn ibv_query_gid_type(
    context: *mut ibv_context,
    port: u8,
    index: u32,
    answer: *mut ibv_gid_type_sysfs,
) -> c_int {
    // SAFETY: the caller's promise.
    let device = unsafe { Context::from_abi(context) }.device;
    call::status(gid_entry(device, u32::from(port), index).map(|entry| {
        let kind = match entry.gid_type {
            IBV_GID_TYPE_ROCE_V2 => IBV_GID_TYPE_SYSFS_ROCE_V2,
            _ => IBV_GID_TYPE_SYSFS_IB_ROCE_V1,
        };
        // SAFETY: the caller's promise.
        unsafe { answer.write(kind) };
    }))
}

/// # Safety
/// `context` is open, `answer` writable for `bytes`.
pub unsafe extern "C" fn _ibv_query_gid_ex(
    context: *mut ibv_context,
    port: u32,
    index: u32,
    answer: *mut ibv_gid_entry,
    flags: u32,
    bytes: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    let device = unsafe { Context::from_abi(context) }.device;
    let entry = require(flags == 0, Errno::EINVAL).and_then(|()| gid_entry(device, port, index));
    call::code(entry.map(|entry| {
        // SAFETY: the caller's promise.
        unsafe { call::answer(answer, bytes, &entry) };
    }))
}

/// The number of entries, or a negative error number.
///
/// # Safety
/// `context` is open, `entries` writable for `max_entries` of `bytes` each.
pub unsafe extern "C" fn _ibv_query_gid_table(
    context: *mut ibv_context,
    entries: *mut ibv_gid_entry,
    max_entries: usize,
    flags: u32,
    bytes: usize,
) -> isize {
    // As the kernel: all or nothing.
    if flags != 0 || max_entries < GIDS as usize {
        return -(libc::EINVAL as isize);
    }
    // SAFETY: the caller's promise.
    let device = unsafe { Context::from_abi(context) }.device;
    for index in 0..GIDS as usize {
        if let Ok(entry) = gid_entry(device, u32::from(PORT), index as u32) {
            // SAFETY: one of the caller's entries.
            unsafe {
                let at = entries.cast::<u8>().add(index * bytes);
                call::answer(at.cast::<ibv_gid_entry>(), bytes, &entry);
            }
        }
    }
    GIDS as isize
}

/// # Safety
/// `answer` is writable.
pub unsafe extern "C" fn ibv_query_pkey(
    _context: *mut ibv_context,
    port: u8,
    index: c_int,
    answer: *mut u16,
) -> c_int {
    let known = port == PORT && (0..c_int::from(PKEYS)).contains(&index);
    call::status(require(known, Errno::EINVAL).map(|()| {
        // SAFETY: the caller's promise.
        unsafe { answer.write(DEFAULT_PKEY.to_be()) };
    }))
}

/// The index of a key in network order, or -1.
pub extern "C" fn ibv_get_pkey_index(_context: *mut ibv_context, port: u8, pkey: u16) -> c_int {
    // The top bit only says whether the member is a full one.
    let same = (u16::from_be(pkey) ^ DEFAULT_PKEY) & 0x7fff == 0;
    call::status(require(port == PORT && same, Errno::EINVAL))
}
