//! Polling, arming, and the extended queue's iterator (ibv_poll_cq(3), ibv_req_notify_cq(3), ibv_create_cq_ex(3)).

use core::ffi::c_int;

use super::{null, operation, unsupported};
use crate::{
    IBV_CREATE_CQ_SUP_WC_FLAGS, ibv_context, ibv_cq, ibv_cq_ex, ibv_cq_init_attr_ex,
    ibv_modify_cq_attr, ibv_poll_cq_attr, ibv_wc, ibv_wc_flags, ibv_wc_opcode, ibv_wc_tm_info,
};

/// Takes up to `count` completions; gives how many, or a negative number.
///
/// # Safety
/// See the [module](super).
#[inline]
pub unsafe fn ibv_poll_cq(cq: *mut ibv_cq, count: c_int, wc: *mut ibv_wc) -> c_int {
    // SAFETY: the caller's promise. Every device can poll.
    unsafe { ((*(*cq).context).ops.poll_cq.unwrap_unchecked())(cq, count, wc) }
}

/// Asks for one event: when the next completion comes, or the next solicited one.
///
/// # Safety
/// See the [module](super).
#[inline]
pub unsafe fn ibv_req_notify_cq(cq: *mut ibv_cq, solicited_only: c_int) -> c_int {
    // SAFETY: the caller's promise. Every device can be armed.
    unsafe { ((*(*cq).context).ops.req_notify_cq.unwrap_unchecked())(cq, solicited_only) }
}

/// Destroyed by `ibv_destroy_cq`.
///
/// # Safety
/// See the [module](super).
pub unsafe fn ibv_create_cq_ex(
    context: *mut ibv_context,
    attr: *mut ibv_cq_init_attr_ex,
) -> *mut ibv_cq_ex {
    // SAFETY: the caller's promise, here and below.
    unsafe {
        let known = (*attr).wc_flags & !IBV_CREATE_CQ_SUP_WC_FLAGS == 0;
        match operation!(context, create_cq_ex) {
            Some(create) if known => create(context, attr),
            _ => null(),
        }
    }
}

/// # Safety
/// See the [module](super).
pub unsafe fn ibv_modify_cq(cq: *mut ibv_cq, attr: *mut ibv_modify_cq_attr) -> c_int {
    // SAFETY: as above.
    unsafe {
        match operation!((*cq).context, modify_cq) {
            Some(modify) => modify(cq, attr),
            None => unsupported(),
        }
    }
}

/// The same queue as the calls of ordinary ones want it.
pub const fn ibv_cq_ex_to_cq(cq: *mut ibv_cq_ex) -> *mut ibv_cq {
    cq.cast()
}

/// Looks at the first completion: 0, or `ENOENT` when there is none, and then the iteration has not begun.
///
/// # Safety
/// See the [module](super).
#[inline]
pub unsafe fn ibv_start_poll(cq: *mut ibv_cq_ex, attr: *mut ibv_poll_cq_attr) -> c_int {
    // SAFETY: the caller's promise. Every extended queue has the iterator.
    unsafe { ((*cq).start_poll.unwrap_unchecked())(cq, attr) }
}

/// # Safety
/// See the [module](super); the iteration has begun.
#[inline]
pub unsafe fn ibv_next_poll(cq: *mut ibv_cq_ex) -> c_int {
    // SAFETY: as above.
    unsafe { ((*cq).next_poll.unwrap_unchecked())(cq) }
}

/// # Safety
/// See the [module](super); the iteration has begun.
#[inline]
pub unsafe fn ibv_end_poll(cq: *mut ibv_cq_ex) {
    // SAFETY: as above.
    unsafe { ((*cq).end_poll.unwrap_unchecked())(cq) }
}

/// A field of the completion that is looked at.
macro_rules! readers {
    ($($name:ident: $field:ident -> $type:ty,)*) => {
        $(
            /// # Safety
            /// See the [module](super); the iteration has begun, and the queue was created to tell this field.
            #[inline]
            pub unsafe fn $name(cq: *mut ibv_cq_ex) -> $type {
                // SAFETY: the caller's promise: then the pointer is filled.
                unsafe { ((*cq).$field.unwrap_unchecked())(cq) }
            }
        )*
    };
}

readers! {
    ibv_wc_read_opcode: read_opcode -> ibv_wc_opcode,
    ibv_wc_read_vendor_err: read_vendor_err -> u32,
    ibv_wc_read_byte_len: read_byte_len -> u32,
    ibv_wc_read_imm_data: read_imm_data -> u32,
    ibv_wc_read_invalidated_rkey: read_imm_data -> u32,
    ibv_wc_read_qp_num: read_qp_num -> u32,
    ibv_wc_read_src_qp: read_src_qp -> u32,
    ibv_wc_read_wc_flags: read_wc_flags -> ibv_wc_flags,
    ibv_wc_read_slid: read_slid -> u32,
    ibv_wc_read_sl: read_sl -> u8,
    ibv_wc_read_dlid_path_bits: read_dlid_path_bits -> u8,
    ibv_wc_read_completion_ts: read_completion_ts -> u64,
    ibv_wc_read_completion_wallclock_ns: read_completion_wallclock_ns -> u64,
    ibv_wc_read_cvlan: read_cvlan -> u16,
    ibv_wc_read_flow_tag: read_flow_tag -> u32,
}

/// # Safety
/// See the [module](super); the iteration has begun, and the queue was created to tell this field.
#[inline]
pub unsafe fn ibv_wc_read_tm_info(cq: *mut ibv_cq_ex, info: *mut ibv_wc_tm_info) {
    // SAFETY: the caller's promise: then the pointer is filled.
    unsafe { ((*cq).read_tm_info.unwrap_unchecked())(cq, info) }
}
