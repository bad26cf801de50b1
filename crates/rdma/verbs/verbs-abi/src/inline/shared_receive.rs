//! Shared receive queues (ibv_post_srq_recv(3), ibv_get_srq_num(3)).

use core::ffi::c_int;

use super::{operation, unsupported};
use crate::{ibv_ops_wr, ibv_recv_wr, ibv_srq};

/// # Safety
/// See the [module](super).
#[inline]
pub unsafe fn ibv_post_srq_recv(
    srq: *mut ibv_srq,
    wr: *mut ibv_recv_wr,
    bad_wr: *mut *mut ibv_recv_wr,
) -> c_int {
    // SAFETY: the caller's promise. Who has a shared receive queue can post to it.
    unsafe { ((*(*srq).context).ops.post_srq_recv.unwrap_unchecked())(srq, wr, bad_wr) }
}

/// # Safety
/// See the [module](super).
pub unsafe fn ibv_post_srq_ops(
    srq: *mut ibv_srq,
    op: *mut ibv_ops_wr,
    bad_op: *mut *mut ibv_ops_wr,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        match operation!((*srq).context, post_srq_ops) {
            Some(post) => post(srq, op, bad_op),
            None => {
                *bad_op = op;
                unsupported()
            }
        }
    }
}

/// The number by which senders name an XRC queue.
///
/// # Safety
/// See the [module](super).
pub unsafe fn ibv_get_srq_num(srq: *mut ibv_srq, number: *mut u32) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        match operation!((*srq).context, get_srq_num) {
            Some(get) => get(srq, number),
            None => unsupported(),
        }
    }
}
