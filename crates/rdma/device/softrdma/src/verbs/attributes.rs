//! What the device can do (ibv_query_device(3), ibv_query_device_ex(3), ibv_query_rt_values_ex(3)).

use std::ffi::{c_char, c_int};

use weft_verbs_abi::*;

use super::context::Context;
use super::device::Device;
use super::limits::{
    MAX_CQ, MAX_CQE, MAX_MR, MAX_MR_BYTES, MAX_QP, MAX_QP_WR, MAX_RD_ATOMIC, MAX_SGE, MAX_SRQ,
};
use crate::call::{self, Errno, require};
use crate::identity::{self, PKEYS};
use crate::path::multicast::MAX_MULTICAST;

/// A locally administered number that no maker of adapters has.
const VENDOR_ID: u32 = 0x02_7372;
const PART_ID: u32 = 1;
const FIRMWARE: &str = concat!("softrdma-", env!("CARGO_PKG_VERSION"));

/// All page sizes from 4 KiB to 1 GiB.
const PAGE_SIZES: u64 = 0x7fff_f000;

/// Cycles of the raw clock, which counts nanoseconds.
const CLOCK_KHZ: u64 = 1_000_000;

pub fn device_attributes(device: &Device) -> ibv_device_attr {
    let mut attributes = ibv_device_attr {
        node_guid: u64::from_ne_bytes(device.guid()),
        sys_image_guid: u64::from_ne_bytes(identity::guid(device.config.ip, 0)),
        max_mr_size: MAX_MR_BYTES,
        page_size_cap: PAGE_SIZES,
        vendor_id: VENDOR_ID,
        vendor_part_id: PART_ID,
        hw_ver: 1,
        max_qp: MAX_QP as c_int,
        max_qp_wr: MAX_QP_WR as c_int,
        device_cap_flags: IBV_DEVICE_CURR_QP_STATE_MOD
            | IBV_DEVICE_PORT_ACTIVE_EVENT
            | IBV_DEVICE_SYS_IMAGE_GUID
            | IBV_DEVICE_RC_RNR_NAK_GEN
            | IBV_DEVICE_N_NOTIFY_CQ
            | IBV_DEVICE_MEM_WINDOW
            | IBV_DEVICE_MEM_WINDOW_TYPE_2B
            | IBV_DEVICE_MEM_MGT_EXTENSIONS
            | IBV_DEVICE_XRC,
        max_sge: MAX_SGE as c_int,
        max_sge_rd: MAX_SGE as c_int,
        max_cq: MAX_CQ as c_int,
        max_cqe: MAX_CQE as c_int,
        max_mr: MAX_MR as c_int,
        max_pd: 1 << 16,
        max_qp_rd_atom: c_int::from(MAX_RD_ATOMIC),
        max_res_rd_atom: MAX_QP as c_int * c_int::from(MAX_RD_ATOMIC),
        max_qp_init_rd_atom: c_int::from(MAX_RD_ATOMIC),
        atomic_cap: IBV_ATOMIC_HCA,
        max_mw: MAX_MR as c_int,
        max_mcast_grp: 1 << 13,
        max_mcast_qp_attach: MAX_MULTICAST as c_int,
        max_total_mcast_qp_attach: 1 << 16,
        max_ah: c_int::MAX,
        max_srq: MAX_SRQ as c_int,
        max_srq_wr: MAX_QP_WR as c_int,
        max_srq_sge: MAX_SGE as c_int,
        max_pkeys: PKEYS,
        local_ca_ack_delay: 15,
        phys_port_cnt: 1,
        ..Default::default()
    };
    for (to, from) in attributes.fw_ver.iter_mut().zip(FIRMWARE.bytes()) {
        *to = from as c_char;
    }
    attributes
}

fn extended_attributes(device: &Device) -> ibv_device_attr_ex {
    let orig_attr = device_attributes(device);
    ibv_device_attr_ex {
        orig_attr,
        completion_timestamp_mask: u64::MAX,
        hca_core_clock: CLOCK_KHZ,
        device_cap_flags_ex: u64::from(orig_attr.device_cap_flags),
        phys_port_cnt_ex: 1,
        ..Default::default()
    }
}

/// # Safety
/// `context` is open and `attributes` writable.
pub unsafe extern "C" fn ibv_query_device(
    context: *mut ibv_context,
    attributes: *mut ibv_device_attr,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { attributes.write(device_attributes(Context::from_abi(context).device)) };
    0
}

/// # Safety
/// `context` is open, `input` null or readable, `attributes` writable for `bytes`.
pub unsafe extern "C" fn query_device_ex(
    context: *mut ibv_context,
    input: *const ibv_query_device_ex_input,
    attributes: *mut ibv_device_attr_ex,
    bytes: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        let plain = input.is_null() || (*input).comp_mask == 0;
        let whole = bytes >= size_of::<ibv_device_attr>();
        call::code(require(plain && whole, Errno::EINVAL).map(|()| {
            let device = Context::from_abi(context).device;
            call::answer(attributes, bytes, &extended_attributes(device));
        }))
    }
}

/// # Safety
/// `values` is writable.
pub unsafe extern "C" fn query_rt_values(
    _context: *mut ibv_context,
    values: *mut ibv_values_ex,
) -> c_int {
    // SAFETY: the caller's promise.
    let values = unsafe { &mut *values };
    if values.comp_mask & IBV_VALUES_MASK_RAW_CLOCK != 0 {
        let now = crate::path::clock::nanoseconds();
        values.raw_clock.tv_sec = 0;
        values.raw_clock.tv_nsec = now as i64;
    }
    values.comp_mask &= IBV_VALUES_MASK_RAW_CLOCK;
    0
}
