//! The extended completion queue: polling with a look at single fields (ibv_create_cq_ex(3)).
//!
//! # Protocol
//! `start_poll` enters the queue and keeps it entered, if there is a completion, until `end_poll`. In between the cursor, and
//! the public `status` and `wr_id`, belong to the thread that started.

use std::ffi::c_int;

use weft_verbs_abi::*;

use super::object::{Cq, Cursor};

/// # Safety
/// `cq` is an extended completion queue, between a `start_poll` that returned 0 and `end_poll`, on the same thread (or
/// that thread is starting).
unsafe fn polling(cq: *mut ibv_cq_ex) -> (&'static Cq, &'static mut Cursor) {
    // SAFETY: the caller's promise: nobody else is at the cursor.
    unsafe {
        let this = Cq::from_abi(cq.cast());
        (this, &mut *this.cursor.get())
    }
}

/// Moves to the next completion; false if there is none.
///
/// # Safety
/// As of [`polling`].
unsafe fn advance(cq: *mut ibv_cq_ex) -> bool {
    // SAFETY: the caller's promise.
    let (this, cursor) = unsafe { polling(cq) };
    let Some(completion) = this.take() else {
        return false;
    };
    cursor.completion = completion;
    // SAFETY: the public fields belong to the thread that polls.
    unsafe {
        (*cq).status = u32::from(completion.status);
        (*cq).wr_id = completion.wr_id;
    }
    true
}

unsafe extern "C" fn start_poll(cq: *mut ibv_cq_ex, attributes: *mut ibv_poll_cq_attr) -> c_int {
    // SAFETY: the attributes are readable; entering the queue makes the cursor this thread's.
    unsafe {
        if (*attributes).comp_mask != 0 {
            return libc::EINVAL;
        }
        let this = Cq::from_abi(cq.cast());
        let held = this.inner.resources.enter();
        if !advance(cq) {
            drop(held);
            this.poll_was_empty();
            return libc::ENOENT;
        }
        polling(cq).1.held = Some(held);
    }
    0
}

unsafe extern "C" fn next_poll(cq: *mut ibv_cq_ex) -> c_int {
    // SAFETY: called between start and end.
    if unsafe { advance(cq) } {
        0
    } else {
        libc::ENOENT
    }
}

unsafe extern "C" fn end_poll(cq: *mut ibv_cq_ex) {
    // SAFETY: called after a start that returned 0.
    let (_, cursor) = unsafe { polling(cq) };
    cursor.held = None;
}

/// A function that reads one field of the completion.
macro_rules! readers {
    ($($name:ident -> $type:ty = $completion:ident => $value:expr;)*) => {
        $(unsafe extern "C" fn $name(cq: *mut ibv_cq_ex) -> $type {
            // SAFETY: called between start and end.
            let $completion = unsafe { &polling(cq).1.completion };
            $value
        })*
    };
}

readers! {
    read_opcode -> ibv_wc_opcode = completion => u32::from(completion.opcode);
    read_vendor_err -> u32 = completion => completion.vendor_err;
    read_byte_len -> u32 = completion => completion.byte_len;
    read_imm_data -> u32 = completion => completion.immediate;
    read_qp_num -> u32 = completion => completion.qp_num;
    read_src_qp -> u32 = completion => completion.src_qp;
    read_wc_flags -> ibv_wc_flags = completion => completion.wc_flags;
    read_slid -> u32 = completion => u32::from(completion.slid);
    read_sl -> u8 = completion => completion.sl;
    read_dlid_path_bits -> u8 = completion => completion.dlid_path_bits;
    read_completion_ts -> u64 = completion => completion.timestamp_ns;
}

/// The fields that a queue can be made to tell. The two clocks are one: both count nanoseconds of the system's time.
pub const KNOWN_FIELDS: ibv_create_cq_wc_flags = IBV_WC_STANDARD_FLAGS
    | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP
    | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;

/// Whether completions must be stamped.
pub fn wants_time(fields: ibv_create_cq_wc_flags) -> bool {
    fields & (IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
        != 0
}

/// Fills in the functions for `fields`, and those that all need.
pub fn install(cq: &mut ibv_cq_ex, fields: ibv_create_cq_wc_flags) {
    let has = |field| fields & field != 0;
    cq.start_poll = Some(start_poll);
    cq.next_poll = Some(next_poll);
    cq.end_poll = Some(end_poll);
    cq.read_opcode = Some(read_opcode);
    cq.read_vendor_err = Some(read_vendor_err);
    cq.read_wc_flags = Some(read_wc_flags);
    cq.read_byte_len = has(IBV_WC_EX_WITH_BYTE_LEN).then_some(read_byte_len as _);
    cq.read_imm_data = has(IBV_WC_EX_WITH_IMM).then_some(read_imm_data as _);
    cq.read_qp_num = has(IBV_WC_EX_WITH_QP_NUM).then_some(read_qp_num as _);
    cq.read_src_qp = has(IBV_WC_EX_WITH_SRC_QP).then_some(read_src_qp as _);
    cq.read_slid = has(IBV_WC_EX_WITH_SLID).then_some(read_slid as _);
    cq.read_sl = has(IBV_WC_EX_WITH_SL).then_some(read_sl as _);
    cq.read_dlid_path_bits = has(IBV_WC_EX_WITH_DLID_PATH_BITS).then_some(read_dlid_path_bits as _);
    cq.read_completion_ts =
        has(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP).then_some(read_completion_ts as _);
    cq.read_completion_wallclock_ns =
        has(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK).then_some(read_completion_ts as _);
}
